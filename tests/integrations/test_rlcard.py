"""RLCard's DQN learns in its own interface and plays in our evaluation; tests/test_rlcard.py has the rest."""

from __future__ import annotations

import pytest

pytest.importorskip("rlcard")

import smear_env
from smear_env.interop.rlcard import RLCardAgent
from tests.integrations.helpers import BOTH, Record, beats_passer, example, plays_legally, run_snippet

pytestmark = pytest.mark.integration


def test_dqn__beats_passer(record_property: Record) -> None:
    rules = smear_env.make_rules("mini")
    player = example("rlcard_agents").train(rules, deals=5000)
    beats_passer(record_property, "DQN, all seats", RLCardAgent(player), rules)


@BOTH
def test_dqn__learns_by_other_rules_as_well(rules: str) -> None:
    game = smear_env.make_rules(rules)
    agent = RLCardAgent(example("rlcard_agents").train(game, deals=60))
    plays_legally(agent, game)


@BOTH
def test_snippet__learns_from_its_own_seat(rules: str) -> None:
    found, game = run_snippet("rlcard", rules), smear_env.make_rules(rules)
    learner = found["learner"]
    assert learner.total_t > learner.train_t > 100
    # What was kept are decisions of whole deals, the last of each with what the deal paid.
    ends = [one for one in learner.memory.memory if one.done]
    assert 90 < len(ends) <= 100
    assert any(one.reward for one in ends)
    assert not any(one.reward for one in learner.memory.memory if not one.done)
    plays_legally(RLCardAgent(learner), game)
