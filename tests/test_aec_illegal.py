"""Illegal actions: the end of the episode with a penalty for the team, or an error and nothing changed."""

from __future__ import annotations

import copy
from random import Random

import numpy as np
import pytest

from smear_env.aec import env as make_env
from smear_env.errors import IllegalActionError
from smear_env.rules import Rules, make_rules
from tests.aec_helpers import (
    each_game,
    every_phase_to_act_in,
    legal_ids,
    phase_of,
    play_out,
    position,
    same_moment,
    started,
)

NO_ACTIONS = [-1, 10_000, 2**70, 1.0, "pass", None, True, np.array([1, 2])]


def illegal_id(env) -> int:
    return next(action for action in range(len(env.action_names)) if action not in legal_ids(env))


@every_phase_to_act_in
def test_terminate__the_offenders_team_pays(rules: Rules, phase: str) -> None:
    for reward in ("match", "points"):
        env = position(rules, phase, Random(1), reward=reward)
        offender = env.possible_agents.index(env.agent_selection)
        env.step(illegal_id(env))
        assert all(env.terminations.values())
        assert not any(env.truncations.values())
        for seat, agent in enumerate(env.possible_agents):
            same_team = seat % rules.teams == offender % rules.teams
            assert env.rewards[agent] == (-1.0 if same_team else 1 / (rules.teams - 1))
        assert sum(env.rewards.values()) == pytest.approx(0)


@pytest.mark.parametrize("teams", [2, 3])
def test_terminate__partners_and_opponents_for_two_and_three_teams(teams: int) -> None:
    env = started(make_rules("schmier", teams=teams), 1, {"dealer": 5})
    assert env.agent_selection == "seat_0"
    env.step(illegal_id(env))
    total = play_out(env, Random(0))
    partners = [f"seat_{seat}" for seat in range(0, 6, teams)]
    assert {agent for agent, paid in total.items() if paid == -1.0} == set(partners)
    assert {paid for agent, paid in total.items() if agent not in partners} == {1 / (teams - 1)}


@each_game
def test_terminate__shows_the_end_and_says_why(rules: Rules) -> None:
    env = started(rules, 1)
    offender = env.agent_selection
    env.step(illegal_id(env))
    assert phase_of(env) == "over"
    assert not any(env.observe(agent)["action_mask"].any() for agent in env.possible_agents)
    assert "not legal" in env.infos[offender]["illegal_action"]
    assert env.winner is None
    env.reset(seed=1)
    assert phase_of(env) == "bid"
    assert env.agent_selection == offender


@pytest.mark.parametrize("action", NO_ACTIONS, ids=repr)
def test_illegal__what_is_no_action_counts_as_illegal(action: object) -> None:
    env = started(make_rules("four_point"), 1)
    env.step(action)
    assert sorted(env.rewards.values()) == [-1.0, -1.0, 1.0, 1.0]
    env = started(make_rules("four_point"), 1, illegal="raise")
    with pytest.raises(IllegalActionError, match="not legal"):
        env.step(action)


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.array, int])
def test_legal__any_integer_type_is_taken(kind: type) -> None:
    env = started(make_rules("four_point"), 1)
    env.step(kind(env.action_names.index("pass")))
    assert not any(env.terminations.values())


@every_phase_to_act_in
def test_raise__nothing_changes(rules: Rules, phase: str) -> None:
    env = position(rules, phase, Random(2), illegal="raise", reward="points")
    before = copy.deepcopy(env)
    for action in (illegal_id(env), -1, "7C"):
        with pytest.raises(IllegalActionError):
            env.step(action)
        assert same_moment(env, before)


def test_raise__names_seat_action_and_legal_set() -> None:
    env = make_env("four_point", illegal="raise")
    env.reset(seed=1, options={"dealer": 0})
    env.step(env.unwrapped.action_names.index("3"))
    with pytest.raises(IllegalActionError, match=r"seat_2: action 33 \(2\) is not legal; legal: pass 4$"):
        env.step(33)
    assert isinstance(IllegalActionError("x"), ValueError)
