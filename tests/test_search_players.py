"""Searching players: the protocol, names, choice, play-outs, weights, and the true state read back."""

from __future__ import annotations

import numpy as np
import pytest

from smear_env._typing import Int8Array
from smear_env.agents import ANY_SEAT, Agent, make_agent
from smear_env.agents.expert import ExpertAgent
from smear_env.agents.search.choice import choose
from smear_env.agents.search.clairvoyant import ClairvoyantAgent
from smear_env.agents.search.likelihood import likelihoods, resample
from smear_env.agents.search.pimc import PimcAgent
from smear_env.agents.search.playout import deal_value, values_by_play
from smear_env.agents.search.reveal import reveal
from smear_env.agents.search.worlds import most_actions, sample_worlds
from smear_env.agents.seen import kernel_tables
from smear_env.engine.state import new_states
from smear_env.engine.step import step
from smear_env.layout import offsets
from smear_env.rules import PRESETS, Rules, make_rules
from smear_env.vector import SelfPlayVectorEnv
from tests.search_helpers import phase_of, random_decisions, view
from tests.test_agents import sampled_rules

GAMES = tuple(PRESETS)
NAMES = ("pimc-2", "pimc-2:expert", "ismcts-20")


def started(name: str, rules: Rules, seed: int = 0) -> Agent:
    agent = make_agent(name)
    agent.reset(rules, ANY_SEAT, seed)
    return agent


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", NAMES)
def test_search__is_legal_in_every_phase_under_every_option(name: str, game: str) -> None:
    for seed, rules in enumerate([make_rules(game), *sampled_rules(game, 5, 5)]):
        agent = started(name, rules)
        for observation, mask in random_decisions(rules, seed, 1, 0.3):
            assert mask[agent.act(observation, mask)]


@pytest.mark.parametrize("name", NAMES)
def test_search__decides_alike_in_any_order_of_calls(name: str) -> None:
    rules = make_rules("four_point")
    shown = random_decisions(rules, 3, 4, 0.3)
    rows, masks = (np.array(part) for part in zip(*shown, strict=True))
    agent = started(name, rules, 4)
    actions = agent.act_batch(rows, masks)
    assert agent.act_batch(rows[::-1], masks[::-1]).tolist() == actions[::-1].tolist()
    assert agent.probabilities(rows, masks).argmax(axis=1).tolist() == actions.tolist()
    assert [agent.act(row, mask) for row, mask in shown] == actions.tolist()
    again, other = started(name, rules, 4), started(name, rules, 5)
    assert again.act_batch(rows, masks).tolist() == actions.tolist()
    assert other.act_batch(rows, masks).tolist() != actions.tolist()


def test_search__in_parts_decides_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = make_rules("four_point")
    rows, masks = (np.array(part) for part in zip(*random_decisions(rules, 4, 2, 0.3), strict=True))
    whole = started("pimc-3", rules).act_batch(rows, masks).tolist()
    monkeypatch.setattr("smear_env.agents.search.pimc.PART", 2)
    assert started("pimc-3", rules).act_batch(rows, masks).tolist() == whole


@pytest.mark.parametrize("name", NAMES)
def test_search__refuses_what_every_agent_refuses(name: str) -> None:
    rules = make_rules("four_point")
    observation, mask = random_decisions(rules, 3, 1)[0]
    agent = started(name, rules)
    with pytest.raises(ValueError, match="no legal action"):
        agent.act(observation, np.zeros_like(mask))
    with pytest.raises(ValueError, match="no mask"):
        agent.act(observation, None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="shape"):
        agent.act(observation[:-1], mask)
    with pytest.raises(RuntimeError, match="reset"):
        make_agent(name).act(observation, mask)


@pytest.mark.parametrize(
    "name",
    [
        "pimc",
        "pimc-",
        "pimc-0",
        "pimc-100001",
        "pimc-1001:expert",
        pytest.param("pimc-" + 5000 * "9", id="pimc-9..."),
        "pimc-x",
        "pimc-1.5",
        "pimc--3",
        "ismcts-0",
        "ismcts-two",
    ],
)
def test_name__without_a_sensible_number_is_refused_with_the_remedy(name: str) -> None:
    with pytest.raises(ValueError, match=r"whole number .* as in (pimc-20|ismcts-500)"):
        make_agent(name)


def test_name__of_weights_is_a_checkpoint_or_expert() -> None:
    weighed = make_agent("pimc-3:four_point")
    assert isinstance(weighed, PimcAgent)
    assert weighed.weights is not None
    assert isinstance(make_agent("pimc-3:expert").weights, ExpertAgent)  # type: ignore[attr-defined]
    with pytest.raises(
        ValueError, match=r"agent 'pimc-3:nobody': .* expert or a checkpoint: no checkpoint 'nobody'"
    ):
        make_agent("pimc-3:nobody")
    with pytest.raises(ValueError, match="only pimc-N takes a checkpoint"):
        make_agent("ismcts-3:four_point")
    with pytest.raises(ValueError, match=r"pimc-N, .*ismcts-N, .*clairvoyant"):
        make_agent("pimk-3")


def test_choice__is_the_best_mean_unless_the_preferred_may_be_as_good() -> None:
    legal = np.array([1, 0, 1, 1], np.int8)
    sure = np.array([[0, 9, 2, 1]] * 5, np.float32)
    assert choose(sure, legal, preferred=0, doubt=2.0) == 2
    assert choose(np.zeros((5, 4), np.float32), legal, preferred=3, doubt=0.0) == 3
    # Better by 0.2 in the mean, with a standard error of about 0.97.
    noisy = np.array([[0, 9, 3, 0], [0, 9, -2, 0], [0, 9, -2, 0], [0, 9, 2, 0], [0, 9, 0, 0]], np.float32)
    assert choose(noisy, legal, preferred=0, doubt=0.5) == 0
    assert choose(noisy, legal, preferred=0, doubt=0.1) == 2


@pytest.mark.parametrize("game", GAMES)
def test_playout__is_what_expert_makes_of_the_deal(game: str) -> None:
    rules = make_rules(game)
    tables, starts = kernel_tables(rules)
    expert = started("expert", rules)
    for number, (observation, mask) in enumerate(random_decisions(rules, 7, 2, 0.3)):
        states = sample_worlds(observation, rules, 1, number).states
        values = np.zeros((1, len(mask)), np.float32)
        agent = started("pimc-1", rules)
        books, scratch, row = agent.tools()[2:]  # type: ignore[attr-defined]
        values_by_play(tables, starts, states, mask, books, 0, scratch, row, values)
        action = int(np.flatnonzero(mask)[-1])
        step(tables[0], states[0], action)
        while states[0].turn >= 0:
            step(tables[0], states[0], expert.act(*seen_by_turn(states, rules)))
        assert values[0, action] == deal_value(tables[0], states[0], 0)


def seen_by_turn(states: np.recarray, rules: Rules) -> tuple[Int8Array, Int8Array]:  # type: ignore[type-arg]
    """Observation and mask of the seat to act."""
    from smear_env.engine.legal import legal_sets
    from smear_env.flags import address
    from smear_env.observation import write_mask, write_observation

    tables, starts = kernel_tables(rules)
    row, mask = view(states[0], rules), np.zeros(len(rules.action_names), np.int8)
    write_observation(tables[0], states[0], int(states[0].turn), starts[0], address(row))
    write_mask(tables[0], *legal_sets(tables[0], states[0]), len(mask), address(mask))
    return row, mask


@pytest.mark.parametrize("game", GAMES)
def test_reveal__gives_back_the_table_that_the_state_shows(game: str) -> None:
    for seed, rules in enumerate([make_rules(game), *sampled_rules(game, 4, 12)]):
        tables, _ = kernel_tables(rules)
        full = np.array(offsets(rules, full=True).view(np.ndarray))
        env = SelfPlayVectorEnv(4, rules, episode="deal", seed=seed, copy=True)
        shown = env.reset()
        agent = started("random", rules, seed)
        for _ in range(40):
            for row, whole in zip(shown.observation, env.state(relative=True), strict=True):
                state = new_states(1)
                reveal(tables, full, whole, np.empty(most_actions(rules), np.int64), state)
                assert np.array_equal(view(state[0], rules), row)
                assert np.array_equal(everything(state, rules), whole)
            shown = env.step(agent.act_batch(shown.observation, shown.mask))


def everything(states: np.recarray, rules: Rules) -> Int8Array:  # type: ignore[type-arg]
    """The full information of one state, from seat 0."""
    from smear_env.flags import address
    from smear_env.layout import state_layout, vector_size
    from smear_env.observation import write_state

    tables, _ = kernel_tables(rules)
    row = np.empty(vector_size(state_layout(rules)), np.int8)
    write_state(tables[0], states[0], 0, offsets(rules, full=True)[0], address(row))
    return row


@pytest.mark.parametrize("game", GAMES)
def test_clairvoyant__acts_on_the_states_alone(game: str) -> None:
    rules = make_rules(game)
    agent = started("clairvoyant", rules)
    assert isinstance(agent, ClairvoyantAgent)
    assert agent.clairvoyant
    env = SelfPlayVectorEnv(3, rules, episode="deal", seed=2)
    shown = env.reset()
    with pytest.raises(RuntimeError, match="must be shown the state"):
        agent.act_batch(shown.observation, shown.mask)
    with pytest.raises(ValueError, match="states of shape"):
        agent.act_batch_seeing(shown.observation, shown.mask, env.state()[:, :-1])
    for _ in range(20):
        actions = agent.act_batch_seeing(shown.observation, shown.mask, env.state(relative=True))
        shown = env.step(actions)  # raises if illegal


def test_clairvoyant__earns_more_than_can_be_had_without_seeing() -> None:
    rules = make_rules("four_point", stock_to_bidder=0)
    agent, blind = started("clairvoyant", rules), started("expert", rules)
    gained = {"clairvoyant": 0.0, "expert": 0.0}
    for name, player in (("clairvoyant", agent), ("expert", blind)):
        env = SelfPlayVectorEnv(60, rules, episode="deal", reward="points", seed=4)
        shown = env.reset()
        going, total = np.ones(60, bool), np.zeros((60, 2))
        while going.any():
            actions = np.full(60, -1, np.int64)
            for slot in np.flatnonzero(going):
                row, mask = shown.observation[slot : slot + 1], shown.mask[slot : slot + 1]
                ours = shown.seat[slot] % 2 == 0
                if ours and name == "clairvoyant":
                    whole = env.state(relative=True)[slot : slot + 1]
                    actions[slot] = player.act_batch_seeing(row, mask, whole)[0]  # type: ignore[attr-defined]
                else:
                    actions[slot] = blind.act_batch(row, mask)[0]
            shown = env.step_some(actions)
            total += shown.reward
            going &= ~(shown.terminated | shown.truncated)
        gained[name] = float(total[:, 0].mean())
    assert gained["clairvoyant"] > gained["expert"] + 0.5


def test_weights__favour_worlds_in_which_expert_does_what_was_done() -> None:
    rules = make_rules("four_point")
    expert = started("expert", rules)
    env = SelfPlayVectorEnv(20, rules, episode="deal", seed=6, copy=True)
    shown = env.reset()
    for _ in range(8):
        shown = env.step(expert.act_batch(shown.observation, shown.mask))
    truer = []
    for row, whole in zip(shown.observation, env.state(relative=True), strict=True):
        if phase_of(row, rules) != "play":
            continue
        worlds = sample_worlds(row, rules, 400, 1)
        weights = likelihoods(worlds, rules, expert)
        assert weights.sum() == pytest.approx(1)
        true = whole[: 4 * 32].reshape(4, 32)[1:]
        held = np.array(
            [[[h >> c & 1 for c in range(32)] for h in map(int, s.hand[1:4])] for s in worlds.states]
        )
        agreeing = (held & true).sum(axis=(1, 2))
        truer.append(float(weights @ agreeing - agreeing.mean()))
    assert len(truer) > 5
    assert np.mean(truer) > 0.1


def test_weights__of_a_policy_follow_its_probabilities() -> None:
    rules = make_rules("four_point")
    row = [row for row, _ in random_decisions(rules, 1, 6, 0.2) if phase_of(row, rules) == "play"][-1]
    worlds = sample_worlds(row, rules, 50, 1)
    uniform = started("random", rules)
    # Uniform play is as likely in all worlds but for the number of choices of hidden discards and cards.
    assert np.ptp(np.log(likelihoods(worlds, rules, uniform))) < 5
    weighed = likelihoods(worlds, rules, started("four_point", rules))
    assert np.ptp(np.log(weighed)) > 0.5


def test_resample__draws_each_as_often_as_its_weight_says() -> None:
    weights = np.array([0.1, 0.0, 0.65, 0.25])
    counts = np.bincount(resample(weights, 20, 3), minlength=4)
    assert (np.abs(counts - 20 * weights) < 1).all()
