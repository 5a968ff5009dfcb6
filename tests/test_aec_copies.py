"""Deep copies and pickles of an environment keep the whole state in every phase."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from random import Random

import pytest

from smear_env.aec import SmearEnv
from smear_env.aec import env as make_env
from smear_env.rules import FOUR_POINT, Rules
from tests.aec_helpers import every_phase, in_play, position, random_action, same_moment, started

COPIERS = {
    "deepcopy": copy.deepcopy,
    **{
        f"pickle{p}": lambda env, p=p: pickle.loads(pickle.dumps(env, p))
        for p in (2, pickle.HIGHEST_PROTOCOL)
    },
}
every_copier = pytest.mark.parametrize("copier", COPIERS.values(), ids=COPIERS)
Copier = Callable[[SmearEnv], SmearEnv]


def step_alike(one: SmearEnv, other: SmearEnv, rng: Random) -> None:
    action = random_action(one, rng) if in_play(one) else None
    one.step(action)
    other.step(action)


@every_copier
@every_phase
def test_copy__goes_on_identically(rules: Rules, phase: str, copier: Copier) -> None:
    rng = Random(phase)
    env = position(rules, phase, rng, reward="points")
    if phase == "over":
        env.step(None)
    other = copier(env)
    while env.agents:
        assert same_moment(env, other)
        step_alike(env, other, rng)
    assert not other.agents
    for _ in range(2):
        env.reset()
        other.reset()
        assert env.match_id == other.match_id
        assert same_moment(env, other)


@every_copier
@every_phase
def test_copy__does_not_move_the_original(rules: Rules, phase: str, copier: Copier) -> None:
    rng = Random(phase)
    env = position(rules, phase, rng)
    untouched, other = copier(env), copier(env)
    for _ in range(8):
        if other.agents:
            other.step(random_action(other, rng) if in_play(other) else None)
    other.reset()
    assert same_moment(env, untouched)


@every_copier
def test_copy__keeps_pending_rewards_and_the_match(copier: Copier) -> None:
    """Cumulative rewards of seats that have not moved since a deal ended, several deals into a match."""
    env, rng = started(FOUR_POINT, 5, reward="points"), Random(5)
    while not any(env._cumulative_rewards.values()):
        env.step(random_action(env, rng))
    other = copier(env)
    assert any(other._cumulative_rewards.values())
    for _ in range(100):
        assert same_moment(env, other)
        assert env.deal_result() == other.deal_result()
        step_alike(env, other, rng)


@every_copier
def test_copy__keeps_the_spaces_generators(copier: Copier) -> None:
    env = started(FOUR_POINT)
    for seat, agent in enumerate(env.agents):
        env.action_space(agent).seed(seat)
        env.observation_space(agent).seed(seat)
        env.action_space(agent).sample()
    other = copier(env)
    for agent in env.agents:
        assert env.action_space(agent).sample() == other.action_space(agent).sample()
        mine, theirs = env.observation_space(agent).sample(), other.observation_space(agent).sample()
        assert all((mine[key] == theirs[key]).all() for key in mine)


@every_copier
def test_copy__before_reset_and_wrapped(copier: Copier) -> None:
    fresh = copier(SmearEnv("schmier"))
    fresh.reset(seed=2)
    assert same_moment(fresh, started("schmier", 2))
    env = make_env("schmier")
    env.reset(seed=2)
    other = copier(env)
    rng = Random(2)
    for _ in range(60):
        step_alike(env, other, rng)
        assert same_moment(env.unwrapped, other.unwrapped)
