"""sb3-contrib's MaskablePPO on the Gymnasium environments, single and vector; its policies as checkpoints of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3 import DQN
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.torch_layers import FlattenExtractor
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

import smear_env
from smear_env.interop.ordered import OrderedSuits
from smear_env.interop.sb3 import SmearVecEnv, save_policy
from smear_env.interop.scaled import ScaledObservation
from smear_env.single import SmearSingleEnv
from tests.integrations.helpers import BOTH, Record, beats_passer, example, run_snippet

pytestmark = pytest.mark.integration


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


RELU = {"net_arch": [16], "activation_fn": torch.nn.ReLU}


@BOTH
@pytest.mark.parametrize("wrap", [lambda env: env, ScaledObservation, OrderedSuits])
def test_policy_of_every_view__travels(wrap: Any, rules: str, tmp_path: Path) -> None:
    """What the environment shows as it is goes into the network unscaled; a checkpoint scales."""
    env = wrap(gymnasium.make("smear_env/SmearSingle-v0", rules=rules, episode="deal"))
    model = MaskablePPO("MlpPolicy", env, policy_kwargs=RELU, n_steps=16, batch_size=16, device="cpu")
    model.learn(16)
    plain = SmearSingleEnv(rules, episode="deal")
    policy = smear_env.load_policy(save_policy(tmp_path, model, rules))
    policy.reset(plain.rules, -1, 1)
    for seed in range(5):
        (seen, _), (shown, info) = plain.reset(seed=seed), env.reset(seed=seed)
        with torch.no_grad():
            masked = model.policy.get_distribution(
                torch.as_tensor(shown[None]), action_masks=info["action_mask"][None]
            )
        theirs = masked.distribution.probs.numpy()
        if wrap is OrderedSuits:
            theirs = smear_env.original_columns(theirs, env._seen.order, plain.rules)
        mask = plain.action_masks()[None]
        np.testing.assert_allclose(policy.probabilities(seen[None], mask), theirs, atol=1e-5)


@pytest.mark.parametrize(
    ("algorithm", "kwargs", "message"),
    [
        (MaskablePPO, {}, "Tanh"),
        (MaskablePPO, {"net_arch": []}, "1 layers"),
        (MaskablePPO, {**RELU, "features_extractor_class": type("Own", (FlattenExtractor,), {})}, "Own"),
        (DQN, {}, "model=DQN"),
    ],
)
def test_network_of_another_kind__is_refused(
    algorithm: Any, kwargs: dict[str, Any], message: str, tmp_path: Path
) -> None:
    model = algorithm("MlpPolicy", SmearVecEnv(2, "mini"), policy_kwargs=kwargs, device="cpu")
    with pytest.raises(ValueError, match=message):
        save_policy(tmp_path, model, "mini")


def test_normalised_observations__are_refused(tmp_path: Path) -> None:
    env = VecNormalize(SmearVecEnv(2, "mini"))
    model = MaskablePPO("MlpPolicy", env, policy_kwargs=RELU, device="cpu")
    with pytest.raises(ValueError, match="VecNormalize"):
        save_policy(tmp_path, model, "mini")


def test_librarys_own_means__evaluate_save_and_load(tmp_path: Path) -> None:
    env = VecMonitor(SmearVecEnv(4, "schmier", opponents="passer", episode="deal", reward="points"))
    model = MaskablePPO("MlpPolicy", env, policy_kwargs=RELU, n_steps=16, batch_size=16, device="cpu")
    watched = MaskableEvalCallback(env, eval_freq=8, n_eval_episodes=4, verbose=0)
    model.learn(64, callback=watched)
    model.save(tmp_path / "model.zip")
    again = MaskablePPO.load(tmp_path / "model.zip", env=env, device="cpu")
    again.learn(64)
    assert np.isfinite(watched.last_mean_reward)


@BOTH
def test_snippet__runs(rules: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_snippet("sb3", rules)["policy"].description["preset"] == rules


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
