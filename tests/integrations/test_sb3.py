"""sb3-contrib's MaskablePPO on the Gymnasium environments, single and vector; its policies as checkpoints of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.env_checker import check_env

import smear_env
from smear_env.interop.ordered import OrderedSuits
from smear_env.interop.sb3 import SmearVecEnv, save_policy
from smear_env.single import SmearSingleEnv
from tests.integrations.helpers import Record, beats_passer, example, run_snippet

pytestmark = pytest.mark.integration

BOTH = pytest.mark.parametrize("rules", ["four_point", "schmier"])


@BOTH
def test_vectorised__beats_passer_and_travels(rules: str, tmp_path: Path, record_property: Record) -> None:
    train = example("sb3_maskable_ppo").train
    model = train(rules, steps=60_000, opponents="passer", partner="passer", folder=tmp_path)
    policy = smear_env.load_policy(tmp_path)
    beats_passer(record_property, "MaskablePPO, 64 games at once", policy, rules)
    assert_same_probabilities(model, policy, rules)


def test_single__beats_passer_after_games_with_a_checkpoint(tmp_path: Path, record_property: Record) -> None:
    """What one learner has written plays in the other seats of the next."""
    train = example("sb3_maskable_ppo").train
    first, second = tmp_path / "first", tmp_path / "second"
    train("four_point", steps=4096, folder=first)
    train("four_point", games=1, steps=30_000, opponents=first, partner="passer", folder=second)
    policy = smear_env.load_policy(second)
    beats_passer(record_property, "MaskablePPO, one game, a checkpoint as opponent", policy, "four_point")


def test_library_play__agrees_with_ours(tmp_path: Path) -> None:
    """The mean of the library's loop is that of the same deals in our vector environment."""
    module = example("sb3_maskable_ppo")
    model = module.train("four_point", steps=4096, folder=tmp_path)
    told = module.play(model, "four_point", deals=20, opponents="passer", partner="greedy", seat=0)
    policy = smear_env.load_policy(tmp_path)
    env = SmearSingleEnv(
        "four_point", opponents="passer", partner="greedy", seat=0, episode="deal", reward="points"
    )
    policy.reset(env.rules, 0, 0)
    total = 0.0
    for deal in range(20):
        observation, info = env.reset(seed=deal)
        ended = False
        while not ended:
            observation, reward, ended, _, info = env.step(policy.act(observation, info["action_mask"]))
            total += reward
    assert told == pytest.approx(total / 20)


def test_vector_env__is_the_single_one_many_times() -> None:
    given: dict[str, Any] = {
        "opponents": "greedy",
        "partner": "greedy",
        "episode": "deal",
        "reward": "points",
    }
    many, one = (
        SmearVecEnv(1, "four_point", **given),
        OrderedSuits(SmearSingleEnv("four_point", **given)),
    )
    many.seed(3)
    shown, (expected, info) = many.reset(), one.reset(seed=3)
    ends = 0
    while ends < 3:
        assert is_masking_supported(many)
        np.testing.assert_array_equal(shown[0], expected)
        np.testing.assert_array_equal(get_action_masks(many)[0], info["action_mask"])
        action = int(np.flatnonzero(info["action_mask"])[0])
        shown, reward, done, infos = many.step(np.array([action]))
        expected, due, terminated, _, info = one.step(action)
        assert (float(reward[0]), bool(done[0])) == (due, terminated)
        if terminated:
            ends += 1
            np.testing.assert_array_equal(infos[0]["terminal_observation"], expected)
            expected, info = one.reset()


def test_truncated_match__is_told_as_such() -> None:
    env = SmearVecEnv(4, "four_point", opponents="passer", partner="passer", max_deals=1)
    env.seed(1)
    env.reset()
    ended: list[dict[str, Any]] = []
    while len(ended) < 4:
        masks = get_action_masks(env)
        _, _, done, infos = env.step(masks.argmax(axis=1))
        ended += [info for info, over in zip(infos, done, strict=True) if over]
    assert all(info["TimeLimit.truncated"] for info in ended)


def test_single_env__passes_the_checker_of_the_library() -> None:
    check_env(OrderedSuits(SmearSingleEnv("schmier")), warn=False)


def test_network_with_another_activation__is_refused(tmp_path: Path) -> None:
    from sb3_contrib import MaskablePPO

    model = MaskablePPO("MlpPolicy", SmearVecEnv(2, "mini"), device="cpu")
    with pytest.raises(ValueError, match="Tanh"):
        save_policy(tmp_path, model, "mini")


def test_snippet__runs() -> None:
    assert run_snippet("sb3")["policy"].description["preset"] == "four_point"


def assert_same_probabilities(model: Any, policy: Any, rules: str) -> None:
    env = SmearVecEnv(64, rules, opponents="random", partner="random", episode="deal")
    env.seed(7)
    env.reset()
    policy.reset(env.rules, -1, 1)
    for _ in range(12):
        masks = get_action_masks(env)
        shown = env.games._shown
        inputs = torch.as_tensor(env._seen.inputs)
        with torch.no_grad():
            in_order = model.policy.get_distribution(inputs, action_masks=masks).distribution.probs.numpy()
        theirs = smear_env.original_columns(in_order, env._seen.order, env.rules)
        np.testing.assert_allclose(policy.probabilities(shown.observation, shown.mask), theirs, atol=1e-5)
        env.step(np.array([np.random.default_rng(1).choice(np.flatnonzero(mask)) for mask in masks]))
