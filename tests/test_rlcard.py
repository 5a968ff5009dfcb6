"""The games in RLCard: its interface on ours, and players of either side on the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rlcard")

import rlcard
from rlcard.agents.random_agent import RandomAgent
from rlcard.utils import reorganize, tournament

from smear_env import make_agent, make_rules
from smear_env.interop.rlcard import AgentForRLCard, RLCardAgent, agents_at
from training.evaluate import compare, summarize


def make(rules: Any = "four_point", **config: Any) -> Any:
    return rlcard.make("smear", {"rules": rules, "seed": 3, **config})


@pytest.mark.parametrize("rules", ["mini", "four_point", "schmier"])
def test_env__pays_each_player_at_its_last_decision_and_nothing_to_all_together(rules: str) -> None:
    env = make(rules)
    env.set_agents([RandomAgent(env.num_actions)] * env.num_players)
    paid = 0.0
    for _ in range(20):
        trajectories, payoffs = env.run(is_training=True)
        assert sum(payoffs) == pytest.approx(0, abs=1e-5)
        for player, transitions in enumerate(reorganize(trajectories, payoffs)):
            for state, action, reward, _, done in transitions:
                assert action in state["legal_actions"]
                assert reward == (payoffs[player] if done else 0)
            assert [one[4] for one in transitions] == [False] * (len(transitions) - 1) + [True] * bool(
                transitions
            )
        paid += abs(payoffs[0])
    assert paid > 0


def test_env__same_seed_same_deals() -> None:
    first, second, other = make(), make(), make(seed=4)
    seen = [[env.reset()[0]["raw_obs"].tobytes() for _ in range(5)] for env in (first, second, other)]
    assert seen[0] == seen[1] != seen[2]
    assert len(set(seen[0])) == 5


def test_env__says_nothing_of_cards_that_others_threw() -> None:
    env = make("four_point")
    state, seat = env.reset()
    names = env.rules.action_names
    state, seat = env.step(names.index("4"))
    thrown = state["raw_legal_actions"][0]
    state, seat = env.step(names.index(thrown))
    assert env.get_state(seat)["action_record"] == [(seat, "4"), (seat, thrown)]
    assert env.get_state((seat + 1) % 4)["action_record"] == [(seat, "4"), (seat, "?")]


def test_env__steps_back_to_the_very_state() -> None:
    env = make("schmier", allow_step_back=True)
    generator = np.random.default_rng(1)
    state, seat = env.reset()
    assert not env.step_back()
    passed = [(state, seat)]
    while not env.is_over():
        passed.append(env.step(int(generator.choice(list(passed[-1][0]["legal_actions"])))))
    passed.pop()  # after the last card nobody is to act
    for before, who in reversed(passed):
        again, seat = env.step_back()
        assert seat == who
        assert np.array_equal(again["raw_obs"], before["raw_obs"])
        assert again["action_record"] == before["action_record"]
        assert again["legal_actions"] == before["legal_actions"]
    assert not env.step_back()


def test_env__an_illegal_action_is_refused_and_changes_nothing() -> None:
    env = make()
    state, seat = env.reset()
    (card,) = (name for name in env.rules.action_names[:1])
    with pytest.raises(ValueError, match=card):
        env.step(card, raw_action=True)
    assert np.array_equal(env.get_state(seat)["raw_obs"], state["raw_obs"])


def test_agent_for_rlcard__plays_as_it_does_here() -> None:
    env = make()
    players = agents_at(env, "expert")
    expert = make_agent("expert")
    expert.reset(env.rules, -1, 0)
    state, seat = env.reset()
    while not env.is_over():
        mask = np.zeros(env.num_actions, np.int8)
        mask[list(state["legal_actions"])] = 1
        action, info = players[seat].eval_step(state)
        assert action == players[seat].step(state) == expert.act(state["raw_obs"], mask)
        assert info["probs"][env.rules.action_names[action]] == 1
        state, seat = env.step(action)


def test_agent_for_rlcard__wins_rlcards_tournament() -> None:
    env = make()
    experts, passers = agents_at(env, "expert"), agents_at(env, "passer")
    env.set_agents([experts[0], passers[1], experts[2], passers[3]])
    payoffs = tournament(env, 100)
    assert payoffs[0] == payoffs[2] == -payoffs[1] > 0.5


def test_rlcard_agent__an_agent_of_ours_through_both_adapters_is_itself() -> None:
    rules = make_rules("four_point")
    there = AgentForRLCard(make_agent("expert"), rules)
    back = RLCardAgent(there)
    result = summarize(compare(back, make_agent("expert"), rules, 20, 1), 1)
    assert result["points_per_deal"] == 0
    assert not np.any(result["interval"])


def test_rlcard_agent__gives_the_probabilities_that_the_player_states() -> None:
    rules = make_rules("mini")
    here, there = make_agent("random"), RLCardAgent(AgentForRLCard(make_agent("random"), rules))
    env = make(rules)
    state, _ = env.reset()
    mask = np.zeros((1, env.num_actions), np.int8)
    mask[0, list(state["legal_actions"])] = 1
    for agent in (here, there):
        agent.reset(rules, -1, 0)
    expected = here.probabilities(state["raw_obs"][None], mask)
    assert there.probabilities(state["raw_obs"][None], mask) == pytest.approx(expected)
    assert mask.sum() > 1


def test_rlcard_agent__an_illegal_choice_is_named() -> None:
    class Stubborn:
        use_raw = True

        def eval_step(self, state: Any) -> tuple[str, dict[str, Any]]:
            return "7C", {}

    agent = RLCardAgent(Stubborn())
    with pytest.raises(ValueError, match="'7C', legal are"):
        compare(agent, agent, make_rules("four_point"), 2, 1)
