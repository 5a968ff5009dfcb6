"""What adapters show of positions, and networks of other libraries as checkpoints: no library is needed for either."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import smear_env
from smear_env.interop.checkpoint import save_layers
from smear_env.interop.ordered import OrderedSuits, OrderedVectorEnv, OrderedView
from smear_env.interop.scaled import ScaledObservation
from smear_env.single import SmearSingleEnv

GAMES = pytest.mark.parametrize("rules", ["four_point", "schmier", "mini"])


def drawn_layers(inputs: int, actions: int) -> list[tuple[Any, Any]]:
    rng = np.random.default_rng(5)
    widths = (inputs, 12, 7, actions)
    return [(rng.normal(size=(after, before)), rng.normal(size=after)) for before, after in pairwise(widths)]


def by_hand(layers: list[tuple[Any, Any]], inputs: Any, mask: Any) -> Any:
    for weight, bias in layers[:-1]:
        inputs = np.maximum(inputs @ weight.T + bias, 0)
    logits = np.where(mask != 0, inputs @ layers[-1][0].T + layers[-1][1], -np.inf)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def positions(rules: str) -> Any:
    env = smear_env.SelfPlayVectorEnv(64, rules, seed=2, copy=True)
    view = env.reset()
    for _ in range(9):
        view = env.step(view.mask.argmax(axis=1))
    return env.rules, view


@GAMES
@pytest.mark.parametrize("scaled", [True, False])
def test_plain_layers__play_as_the_network_did(rules: str, scaled: bool, tmp_path: Path) -> None:
    game, view = positions(rules)
    scale = smear_env.observation_scale(game)
    layers = drawn_layers(len(scale), len(game.action_names))
    policy = smear_env.load_policy(save_layers(tmp_path, game, layers, scaled=scaled))
    policy.reset(game, -1, 1)
    expected = by_hand(layers, view.observation * (scale if scaled else 1.0), view.mask)
    np.testing.assert_allclose(policy.probabilities(view.observation, view.mask), expected, atol=1e-4)


@GAMES
def test_ordered_layers__play_as_the_network_did(rules: str, tmp_path: Path) -> None:
    game, view = positions(rules)
    shown = OrderedView(game)
    layers = drawn_layers(len(shown.scale), len(game.action_names))
    policy = smear_env.load_policy(save_layers(tmp_path, game, layers))
    policy.reset(game, -1, 1)
    seen = shown.see(view.observation, view.mask)
    expected = smear_env.original_columns(by_hand(layers, seen.inputs, seen.mask), seen.order, game)
    np.testing.assert_allclose(policy.probabilities(view.observation, view.mask), expected, atol=1e-4)


def test_checkpoint__is_replaced_and_says_what_it_was_trained_on(tmp_path: Path) -> None:
    size, actions = len(smear_env.observation_scale(smear_env.MINI)), len(smear_env.MINI.action_names)
    layers = drawn_layers(size, actions)
    save_layers(tmp_path, "mini", layers, decisions=1)
    two = [smear_env.MINI, smear_env.make_rules("mini", stock_to_bidder=0)]
    save_layers(tmp_path, two, layers, decisions=2, seed=3, training={"library": "some"})
    assert len(list(tmp_path.iterdir())) == 2
    found = smear_env.read_policy(tmp_path)
    assert (found["decisions"], found["seed"], found["training"]) == (2, 3, {"library": "some"})
    assert found["options"]["stock_to_bidder"] == [0, 1]


def test_layers_that_do_not_fit__are_refused(tmp_path: Path) -> None:
    size, actions = len(smear_env.observation_scale(smear_env.MINI)), len(smear_env.MINI.action_names)
    good = drawn_layers(size, actions)
    broken = [(good[0][0] * np.nan, good[0][1]), *good[1:]]
    for layers, message in (
        (good[:1], "1 layers"),
        (drawn_layers(size + 1, actions), rf"layers\[0\] takes {size + 1} inputs"),
        ([good[0], *good[2:]], r"layers\[1\] takes 7 inputs, but 12"),
        (drawn_layers(size, actions + 1), f"gives {actions + 1} numbers"),
        ([(good[0][0], good[0][1][:-1]), *good[1:]], r"layers\[0\]: weight of shape"),
        (broken, r"layers\[0\] holds numbers that are not finite"),
    ):
        with pytest.raises(ValueError, match=message):
            save_layers(tmp_path, "mini", layers)
    with pytest.raises(ValueError, match="four_point, schmier have different"):
        save_layers(tmp_path, ["four_point", "schmier"], good)
    assert not list(tmp_path.iterdir())


@GAMES
def test_gymnasium_wrappers__pass_its_checker_and_keep_to_their_spaces(rules: str) -> None:
    for wrap in (ScaledObservation, OrderedSuits):
        check_env(wrap(SmearSingleEnv(rules)), skip_render_check=True)


@GAMES
def test_ordered_vector__shows_each_game_as_the_single_environment_does(rules: str) -> None:
    given: dict[str, Any] = {"opponents": "greedy", "episode": "deal", "reward": "points"}
    many, one = OrderedVectorEnv(1, rules, **given), OrderedSuits(SmearSingleEnv(rules, **given))
    inputs, info = many.reset(seed=4)
    expected, told = one.reset(seed=4)
    ends = 0
    for _ in range(60):
        assert inputs.dtype == many.observation_space.dtype
        np.testing.assert_array_equal(inputs[0], expected)
        np.testing.assert_array_equal(info["action_mask"][0], told["action_mask"])
        np.testing.assert_array_equal(many.action_masks()[0], told["action_mask"])
        action = int(np.flatnonzero(told["action_mask"])[-1])
        inputs, reward, ended, _, info = many.step(np.array([action]))
        expected, paid, over, _, told = one.step(action)
        assert (reward[0], ended[0]) == (paid, over)
        if over:
            np.testing.assert_array_equal(info["final_obs"][0], expected)
            ends += 1
            expected, told = one.reset()
    assert ends > 2


def test_ordered_vector__asks_for_reset_first() -> None:
    games = OrderedVectorEnv(2, "mini")
    for use in (games.action_masks, lambda: games.step(np.zeros(2, np.int64))):
        with pytest.raises(RuntimeError, match=r"reset\(\)"):
            use()


@GAMES
def test_ordered_suits__plays_the_same_deal(rules: str) -> None:
    """Chosen in order, an action is that of the position as it was: rewards and ends are those of the plain one."""
    given: dict[str, Any] = {
        "episode": "deal",
        "reward": "points",
        "opponents": "greedy",
        "partner": "greedy",
    }
    plain, ordered = SmearSingleEnv(rules, **given), OrderedSuits(SmearSingleEnv(rules, **given))
    rng, renamed = np.random.default_rng(1), False
    for seed in range(20):
        observation, info = plain.reset(seed=seed)
        _, told = ordered.reset(seed=seed)
        ended = False
        while not ended:
            order = smear_env.order_suits(observation[None], info["action_mask"][None], plain.rules).order
            action = int(rng.choice(np.flatnonzero(told["action_mask"])))
            (original,) = smear_env.original_actions(np.array([action]), order, plain.rules)
            renamed |= original != action
            observation, reward, ended, _, info = plain.step(int(original))
            inputs, *rest, told = ordered.step(action)
            assert rest == [reward, ended, False]
            assert ordered.observation_space.contains(inputs)
            assert told["seat"] == info["seat"]
            assert told["action_mask"].sum() == info["action_mask"].sum()
    assert renamed
