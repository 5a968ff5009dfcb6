"""Legal actions, turns and results of the AEC environment against the slow reference."""

from __future__ import annotations

import copy
from random import Random

import numpy as np
import pytest

from smear_env.errors import IllegalActionError
from smear_env.rules import Rules, make_rules
from tests.aec_helpers import (
    beside_reference,
    every_game,
    every_phase,
    in_play,
    legal_ids,
    names,
    near_target,
    phase_of,
    position,
    random_action,
    started,
)


@every_game
def test_mask__is_the_reference_legal_set(rules: Rules) -> None:
    for seed in range(5):
        for env, match in beside_reference(rules, Random(seed)):
            assert names(env, legal_ids(env)) == match.legal()
            assert phase_of(env) == match.phase
            if match.turn is not None:
                assert env.agent_selection == f"seat_{match.turn}"


@every_phase
def test_mask__is_what_step_accepts(rules: Rules, phase: str) -> None:
    rng = Random(phase)
    for _ in range(3):
        env = position(rules, phase, rng, illegal="raise")
        if phase == "over":
            assert legal_ids(env) == []
            continue
        accepted = []
        for action in range(-2, len(env.action_names) + 2):
            trial = copy.deepcopy(env)
            try:
                trial.step(action)
            except IllegalActionError:
                continue
            accepted.append(action)
        assert accepted == legal_ids(env)


@every_game
def test_mask__zero_but_for_the_seat_to_act(rules: Rules) -> None:
    rng = Random(4)
    env = started(rules, 4, max_deals=2)
    while in_play(env):
        for agent in env.possible_agents:
            assert env.observe(agent)["action_mask"].any() == (agent == env.agent_selection)
        env.step(random_action(env, rng))
    while env.agents:
        assert not any(env.observe(agent)["action_mask"].any() for agent in env.possible_agents)
        env.step(None)
    assert not any(env.observe(agent)["action_mask"].any() for agent in env.possible_agents)


@every_phase
def test_mask__int8_array_each_time(rules: Rules, phase: str) -> None:
    env = position(rules, phase, Random(6))
    for agent in env.possible_agents:
        for array in env.observe(agent).values():
            assert type(array) is np.ndarray
            assert array.dtype == np.int8
            assert array.ndim == 1


@every_phase
def test_observation__never_overwritten_later(rules: Rules, phase: str) -> None:
    rng = Random(7)
    env = position(rules, phase, rng)
    kept = [*(array for agent in env.possible_agents for array in env.observe(agent).values()), env.state()]
    before = [array.copy() for array in kept]
    for _ in range(10):
        if in_play(env):
            env.step(random_action(env, rng))
        for agent in env.possible_agents:
            env.observe(agent)
        env.state()
    env.reset()
    assert all(np.array_equal(*pair) for pair in zip(kept, before, strict=True))


def test_observation__is_the_callers_to_change() -> None:
    env = started("four_point")
    first = env.observe("seat_0")
    first["observation"][:] = 99
    first["action_mask"][:] = 1
    again = env.observe("seat_0")
    assert not np.array_equal(first["observation"], again["observation"])


@pytest.mark.parametrize("game", ["four_point", "schmier"])
def test_turn__same_seat_several_times_with_a_fresh_mask(game: str) -> None:
    env = position(make_rules(game), "discard", Random(8))
    while phase_of(env) == "discard":
        agent, before = env.agent_selection, legal_ids(env)
        thrown = before[0]
        env.step(thrown)
        if phase_of(env) == "discard":
            assert env.agent_selection == agent
            assert thrown not in legal_ids(env)
            assert len(legal_ids(env)) > 0


@every_game
def test_deal_result__is_the_reference_result(rules: Rules) -> None:
    deals = 0
    for seed in range(6):
        for env, match in beside_reference(rules, Random(100 + seed), max_deals=4):
            result = env.deal_result()
            assert (result is None) == (not match.results)
            if result is not None:
                dealer = result.pop("dealer")
                assert 0 <= dealer < rules.players
                assert result == match.results[-1]
                deals += 1
            assert env.scores == match.scores
    assert deals > 0


@every_game
def test_match__ends_as_in_the_reference(rules: Rules) -> None:
    ended = 0
    for seed in range(12):
        for env, match in beside_reference(rules, Random(seed), 6, near_target(rules)):
            assert env.winner == match.winner
            assert all(env.terminations.values()) == (match.winner is not None)
            assert all(env.truncations.values()) == match.truncated
            ended += match.winner is not None
    assert ended > 0
