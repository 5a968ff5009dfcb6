"""What SelfPlayVectorEnv refuses: illegal actions and arguments that make no sense, with nothing changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from smear_env.errors import IllegalActionError
from smear_env.layout import observation_layout, pieces, state_layout
from smear_env.rules import Rules, make_rules
from smear_env.vector import SelfPlayVectorEnv
from tests.test_vector import FULL, assert_same, choose, copied


@pytest.mark.parametrize("game", FULL)
def test_illegal_action__is_refused_and_changes_nothing(game: str) -> None:
    env = SelfPlayVectorEnv(3, game, seed=5)
    shown = env.reset()
    rng = np.random.default_rng(1)
    for _ in range(30):
        shown = env.step(choose(shown.mask, rng))
    before, state = copied(shown), env._states.copy()
    for bad in (int(np.flatnonzero(shown.mask[1] == 0)[0]), -1, env.num_actions, 2**40, -(2**40)):
        actions = choose(shown.mask, rng)
        actions[1] = bad
        with pytest.raises(
            IllegalActionError, match=f"game 1, seat {shown.seat[1]}: action {bad} is not legal"
        ):
            env.step(actions)
        assert (env._states == state).all()
        assert_same(before, shown)


def test_step_some__lets_games_wait() -> None:
    env = SelfPlayVectorEnv(3, seed=5, copy=True)
    shown = env.reset()
    actions = choose(shown.mask, np.random.default_rng(0))
    actions[1] = -1
    after = env.step_some(actions)
    changed = (after.observation != shown.observation).any(axis=1)
    assert changed.tolist() == [True, False, True]


def test_step__needs_reset_and_one_action_a_game() -> None:
    env = SelfPlayVectorEnv(3, seed=5)
    with pytest.raises(RuntimeError, match="reset"):
        env.step([32, 32, 32])
    env.reset()
    with pytest.raises(ValueError, match=r"\(3,\)"):
        env.step([32, 32])


@pytest.mark.parametrize("bad", [[32.0] * 3, [True] * 3, ["pass"] * 3, [32, 2.5, 32], [None] * 3])
@pytest.mark.parametrize("name", ["step", "step_some"])
def test_step__takes_integers_only_and_changes_nothing(name: str, bad: list[Any]) -> None:
    env = SelfPlayVectorEnv(3, seed=5)
    shown = env.reset()
    before, state = copied(shown), env._states.copy()
    with pytest.raises(ValueError, match=r"actions=.* must be integers"):
        getattr(env, name)(bad)
    assert (env._states == state).all()
    assert_same(before, shown)
    for kind in (np.int8, np.uint8, np.int32, np.int64):
        getattr(env, name)(np.full(3, env.rules.action_names.index("pass"), kind))
        env.reset(seed=5)


@pytest.mark.parametrize(
    "seats", [-2, 4, [0, 1], [0, 1, 4], [0, 1, -2], 1.0, [0.0, 1.0, 2.0], True, "drawn", []]
)
def test_set_viewers__refuses_what_is_no_seat_and_keeps_the_viewers(seats: Any) -> None:
    env = SelfPlayVectorEnv(3, seed=5)
    env.set_viewers([2, -1, 0])
    with pytest.raises(ValueError, match="seats="):
        env.set_viewers(seats)
    np.testing.assert_array_equal(env._setups.viewer, [2, -1, 0])


@pytest.mark.parametrize("game", FULL)
def test_set_viewers__final_observations_are_seen_from_these_seats(game: str) -> None:
    env = SelfPlayVectorEnv(4, game, seed=1, episode="deal")
    last = env.rules.players - 1
    env.set_viewers([0, 1, last, -1])
    shown = env.reset()
    rng = np.random.default_rng(1)
    ended = np.zeros(4, int)
    for _ in range(300):
        mover = shown.seat.copy()
        shown = env.step(choose(shown.mask, rng))
        for slot in np.flatnonzero(shown.terminated):
            viewer = [0, 1, last, mover[slot]][slot]
            view = pieces(env.final_observation[slot], observation_layout(env.rules))
            full = pieces(env.final_state[slot], state_layout(env.rules))
            np.testing.assert_array_equal(view["played"], np.roll(full["played"], -viewer, axis=0))
            ended[slot] += 1
    assert ended.min() > 0
    env.set_viewers(1)
    np.testing.assert_array_equal(env._setups.viewer, [1] * 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_games": 0}, "num_games=0"),
        ({"num_games": 2.5}, "num_games=2.5"),
        ({"num_games": 2.0}, "num_games=2.0"),
        ({"num_games": True}, "num_games=True"),
        ({"num_games": "2"}, "num_games='2'"),
        ({"num_games": 2**31}, "num_games=2147483648"),
        ({"rules": "whist"}, "whist"),
        ({"rules": ["four_point", "whist"]}, "whist"),
        ({"rules": ["four_point", "schmier"]}, "different observations"),
        ({"rules": [make_rules("four_point")]}, "1 rules for 2 games"),
        ({"rules": [make_rules("four_point"), make_rules("schmier")]}, "different observations"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 2**64}, "seed="),
        ({"seed": 1.5}, "seed=1.5"),
        ({"seed": True}, "seed=True"),
        ({"episode": "game"}, "episode='game'"),
        ({"reward": "score"}, "reward='score'"),
        ({"max_deals": 0}, "max_deals=0"),
        ({"max_deals": 2**40}, "max_deals=1099511627776"),
        ({"max_deals": 2.0}, "max_deals=2.0"),
        ({"threads": 0}, "threads=0"),
        ({"threads": 1.5}, "threads=1.5"),
        ({"start_scores": "random"}, "start_scores='random'"),
        ({"start_scores": [1, 2, 3]}, "start_scores"),
        ({"start_scores": [15, 0]}, "target=15"),
        ({"start_scores": [-10_001, 0]}, "above -10000"),
        ({"start_scores": [2**70, 0]}, "start_scores="),
        ({"start_scores": [float("nan"), 0]}, r"start_scores=\[nan, 0\] must be integers"),
        ({"start_scores": [1.5, 0]}, r"start_scores=\[1.5, 0\] must be integers"),
        ({"start_scores": 3}, "start_scores"),
        ({"dealers": "left"}, "dealers='left'"),
        ({"dealers": 4}, "dealers=4"),
        ({"dealers": [0, 1, 2]}, "dealers="),
        ({"dealers": -1}, "dealers=-1"),
        ({"dealers": [0, 4]}, "dealers="),
        ({"dealers": 1.7}, "dealers=1.7 must be integers"),
        ({"dealers": [0, 1.0]}, r"dealers=\[0, 1.0\] must be integers"),
        ({"dealers": True}, "dealers=True must be integers"),
    ],
)
def test_arguments__are_refused_by_name(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SelfPlayVectorEnv(**{"num_games": 2, "seed": 1, **arguments})


def test_arguments__largest_values_are_taken() -> None:
    env = SelfPlayVectorEnv(
        2, seed=2**64 - 1, max_deals=2**31 - 1, start_scores=[14, -10_000], dealers=[0, 3]
    )
    env.reset()
    assert env._setups.max_deals.tolist() == [2**31 - 1] * 2
    assert SelfPlayVectorEnv(np.int64(2), seed=np.uint64(7), max_deals=np.int32(3)).num_games == 2


def test_rules__given_by_name_for_each_game() -> None:
    named = SelfPlayVectorEnv(2, ["schmier", make_rules("schmier", teams=2)], seed=1)
    made = SelfPlayVectorEnv(2, [make_rules("schmier"), make_rules("schmier", teams=2)], seed=1)
    assert_same(named.reset(), made.reset())
    assert named.rules == made.rules
    same = SelfPlayVectorEnv(3, ["four_point"] * 3, seed=1)
    assert_same(same.reset(), SelfPlayVectorEnv(3, "four_point", seed=1).reset())


def test_rules__given_as_an_instance() -> None:
    rules: Rules = make_rules("four_point", stock_to_bidder=1)
    assert SelfPlayVectorEnv(2, rules, seed=1).rules == rules


def test_step__is_not_fooled_by_a_mask_that_the_caller_wrote_to() -> None:
    env = SelfPlayVectorEnv(2, "four_point", seed=2)
    shown = env.reset()
    shown.mask[:] = 1
    with pytest.raises(IllegalActionError, match="game 0"):
        env.step([0, 0])
