"""The policy that searches: names, chance, play-outs against the plain loop, choice, and better probabilities."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from smear_env._data import checkpoints_folder
from smear_env._typing import Float64Array
from smear_env.agents import ANY_SEAT, make_agent
from smear_env.agents.policy import load_policy
from smear_env.agents.search.network_play import Net, values_by_network
from smear_env.agents.search.playout import deal_value
from smear_env.agents.search.policy_search import PolicySearchAgent, Trial
from smear_env.agents.search.worlds import sample_worlds
from smear_env.agents.seen import kernel_tables
from smear_env.engine.step import step
from smear_env.rules import Rules, make_rules
from tests.search_helpers import random_decisions
from tests.test_agents import sampled_rules
from tests.test_search_players import seen_by_turn

GAMES = ("four_point", "schmier")


def started(rules: Rules, worlds: int = 3, seed: int = 0, **options: float) -> PolicySearchAgent:
    agent = PolicySearchAgent(load_policy(rules.name), worlds, **options)  # type: ignore[arg-type]
    agent.reset(rules, ANY_SEAT, seed)
    return agent


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.filterwarnings("ignore:policy .* was not trained on")
def test_policy_search__is_legal_in_every_phase_under_every_option(game: str) -> None:
    for seed, rules in enumerate([make_rules(game), *sampled_rules(game, 2, 5)]):
        agent = started(rules)
        for observation, mask in random_decisions(rules, seed, 1, 0.3):
            assert mask[agent.act(observation, mask)]
            better = agent.improved(observation[None], mask[None])[0]
            assert better.sum() == pytest.approx(1, abs=1e-5)
            assert (better[mask == 0] == 0).all()


@pytest.mark.parametrize("game", GAMES)
def test_policy_search__decides_alike_in_any_order_of_calls(game: str) -> None:
    rules = make_rules(game)
    rows, masks = (np.array(part) for part in zip(*random_decisions(rules, 3, 1, 0.3), strict=True))
    agent = started(rules, seed=4, doubt=0.0)
    actions = agent.act_batch(rows, masks)
    assert agent.act_batch(rows[::-1], masks[::-1]).tolist() == actions[::-1].tolist()
    assert [agent.act(row, mask) for row, mask in zip(rows, masks, strict=True)] == actions.tolist()
    chances = agent.probabilities(rows, masks)
    assert chances.argmax(axis=1).tolist() == actions.tolist()
    assert np.array_equal(chances.sum(axis=1), np.ones(len(rows)))
    assert np.array_equal(agent.improved(rows[:9], masks[:9]), agent.improved(rows[:9], masks[:9]))
    assert started(rules, seed=4, doubt=0.0).act_batch(rows, masks).tolist() == actions.tolist()
    # The same action may be best in the worlds that another seed draws, but not every time.
    rows, masks = (np.array(part) for part in zip(*random_decisions(rules, 3, 6, 0.3), strict=True))
    first, other = (started(rules, seed=seed, doubt=0.0).improved(rows, masks) for seed in (4, 5))
    assert not np.array_equal(first, other)


def test_policy_search__that_doubts_everything_is_the_policy_but_where_all_worlds_agree() -> None:
    rules = make_rules("four_point")
    rows, masks = (np.array(part) for part in zip(*random_decisions(rules, 3, 2, 0.3), strict=True))
    policy = load_policy("four_point")
    policy.reset(rules, ANY_SEAT, 0)
    search, own = started(rules, doubt=1e6), policy.act_batch(rows, masks)
    found = search.act_batch(rows, masks)
    assert (found == own).mean() > 0.9
    for index in np.flatnonzero(found != own):
        trial = search.try_actions(rows[index], masks[index])
        mean, error = (of[trial.actions == found[index]].item() for of in trial.gains())
        assert mean > 0
        assert error == 0


@pytest.mark.parametrize("game", GAMES)
def test_playout__is_what_the_policy_makes_of_the_deal(game: str) -> None:
    rules = make_rules(game)
    policy = load_policy(game)
    policy.reset(rules, ANY_SEAT, 0)
    net = Net(*kernel_tables(rules), *policy.network)
    for number, (observation, mask) in enumerate(random_decisions(rules, 7, 1, 0.3)[::3]):
        worlds = sample_worlds(observation, rules, 40, number).states
        actions = np.flatnonzero(mask)
        values = np.empty((40, len(actions)))
        values_by_network(net, worlds.view(np.ndarray), actions, values)
        for world in (0, 39):
            for i in (0, len(actions) - 1):
                state = worlds[world : world + 1].copy()
                step(net.tables[0], state[0], actions[i])
                while state[0].turn >= 0:
                    step(net.tables[0], state[0], policy.act(*seen_by_turn(state, rules)))
                expected = deal_value(net.tables[0], state[0], 0) / (rules.teams - 1)
                assert values[world, i] == expected


def test_choice__is_the_policys_unless_another_is_surely_better(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = started(make_rules("four_point"), doubt=2.0)

    def chosen(values: Float64Array) -> int:
        size = len(values)
        trial = Trial(np.array([4, 7, 9]), np.array([0.2, 0.7, 0.1]), values, np.full(size, 1 / size), size)
        monkeypatch.setattr(agent, "try_actions", lambda row, mask: trial)
        return agent.decide(np.zeros(1, np.int8), np.zeros(1, np.int8))

    assert chosen(np.array([[1.0, 1.0, 1.0]] * 5)) == 7
    assert chosen(np.array([[1.0, 0.0, 0.5]] * 5)) == 4
    # A gain so small may not be worth what the policy thinks of it.
    assert chosen(np.array([[0.02, 0.0, 0.0]] * 5)) == 7
    assert chosen(np.array([[0.05, 0.0, 0.05]] * 5)) == 4
    # Better by 0.4 in the mean, with a standard error of 0.81.
    assert chosen(np.array([[3.0, 0, 0], [-1, 0, 0], [1, 0, 0], [-1, 0, 0], [0, 0, 0]])) == 7
    assert chosen(np.array([[3.0, 0, 0.2], [-1, 0, 0.3], [1, 0, 0.2], [-1, 0, 0.2], [0, 0, 0.1]])) == 9


def test_improved__raises_what_gains_and_keeps_what_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = make_rules("four_point")
    agent = started(rules)
    observation, mask = random_decisions(rules, 1, 1)[0]
    actions = np.flatnonzero(mask)[:3]

    def better(values: list[list[float]]) -> list[float]:
        weights = np.full(len(values), 1 / len(values))
        trial = Trial(actions, np.array([0.5, 0.25, 0.25]), np.array(values), weights, len(values))
        monkeypatch.setattr(agent, "try_actions", lambda row, mask: trial)
        return agent.improved(observation[None], mask[None], temperature=0.5)[0][actions].tolist()

    assert better([[0, 0, 0]] * 4) == pytest.approx([0.5, 0.25, 0.25])
    # A gain of 0.5 ln 2 doubles the odds; one that chance may have made is none.
    sure, noisy = 0.5 * float(np.log(2)), [9.0, -9.0, 9.0, -8.0]
    assert better([[0, sure, n] for n in noisy]) == pytest.approx([0.4, 0.4, 0.2])


@pytest.mark.parametrize("number", ["", "-", "-0", "-x", "-1.5", "--3", "-10001", " 3", "-" + 5000 * "9"])
def test_name__without_a_sensible_number_is_refused_with_the_remedy(number: str) -> None:
    with pytest.raises(
        ValueError, match=r"whole number of worlds from 1 to 10000, as in four_point\+search-100"
    ):
        make_agent(f"four_point+search{number}")


def test_name__is_of_any_checkpoint() -> None:
    folder = checkpoints_folder() / "four_point"
    for name in ("four_point+search-7", f"{folder}+search-7", f"{folder}/+search-007"):
        agent = make_agent(name)
        assert isinstance(agent, PolicySearchAgent)
        assert (agent.worlds, agent.policy.name) == (7, "four_point")
    for missing in ("", "nobody", "expert", str(Path("no") / "folder")):
        with pytest.raises(
            ValueError, match=r"before \+search comes the policy .* shipped name: no checkpoint"
        ):
            make_agent(f"{missing}+search-7")
    with pytest.raises(ValueError, match=r"CHECKPOINT\+search-N"):
        make_agent("four_pont")


def test_policy_search__of_another_game_is_refused() -> None:
    agent = make_agent("schmier+search-7")
    with pytest.raises(ValueError, match="plays schmier"):
        agent.reset(make_rules("four_point"), ANY_SEAT, 0)


@pytest.mark.parametrize(("option", "value"), [("worlds", 0), ("pool", -1), ("floor", 1.5), ("doubt", -1.0)])
def test_policy_search__refuses_settings_without_sense(option: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{option}="):
        PolicySearchAgent(load_policy("four_point"), **{"worlds": 3, option: value})  # type: ignore[arg-type]
