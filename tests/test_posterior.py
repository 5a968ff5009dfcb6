"""Weights of worlds by a network: against a slow plain computation, and against exact posteriors of tiny games."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from random import Random

import numpy as np
import pytest

from smear_env._typing import Float64Array, Int64Array, RecordArray
from smear_env.agents import make_agent
from smear_env.agents.decision import evaluate, flatten
from smear_env.agents.search.likelihood import begin_all
from smear_env.agents.search.network_play import Net
from smear_env.agents.search.policy_search import PolicySearchAgent
from smear_env.agents.search.posterior import effective, tempered, weigh
from smear_env.agents.search.worlds import NO_ACTION, sample_worlds
from smear_env.agents.seen import kernel_tables
from smear_env.engine.deal import set_cards
from smear_env.engine.legal import legal_sets
from smear_env.engine.state import new_states
from smear_env.engine.step import step
from smear_env.flags import address
from smear_env.layout import observation_layout, vector_size
from smear_env.observation import write_mask, write_observation
from smear_env.rules import Rules, make_rules
from smear_env.suits import suits_of
from tests.search_helpers import legal_throughout, random_decisions, view
from tests.test_agents import sampled_rules
from tests.test_search_worlds import TINY, all_histories, random_history

FLOOR = 0.05


def random_net(rules: Rules, seed: int, hidden: int = 8) -> Net:
    """A network of random weights that has opinions."""
    rng = np.random.default_rng(seed)
    widths = (vector_size(observation_layout(rules)), hidden, len(rules.action_names))
    layers = [
        (rng.normal(0, 0.5, shape).astype(np.float32), rng.normal(0, 1, shape[1]).astype(np.float32))
        for shape in pairwise(widths)
    ]
    return Net(*kernel_tables(rules), suits_of(rules).table, *flatten(layers))


def chances(net: Net, state: RecordArray) -> tuple[Float64Array, int]:
    """Probabilities [n] of the seat to act in one state, and how many actions it has."""
    t = net.tables[0]
    row = np.empty((1, net.widths[0]), np.int8)
    mask = np.empty((1, net.widths[-1]), np.int8)
    write_observation(t, state, int(state.turn), net.starts[0], address(row))
    write_mask(t, *legal_sets(t, state), mask.shape[1], address(mask))
    logits = np.empty(mask.shape, np.float32)
    evaluate(net.suits, row, mask, net.widths, net.weights, logits)
    odds = np.exp(logits[0].astype(np.float64) - logits.max())
    return odds / odds.sum(), int(mask.sum())


def begun(net: Net, orders: np.ndarray, like: RecordArray) -> RecordArray:
    """States dealt from orders [W, cards], of the match of another state."""
    states = new_states(len(orders))
    for field in ("dealer", "one_deal", "max_deals", "scores", "winner"):
        states[field] = like[field]
    plain = states.view(np.ndarray)
    begin_all(net.tables, orders, plain)
    return plain


def slow_log(net: Net, order: np.ndarray, actions: Int64Array, like: RecordArray) -> float:
    """The logarithm of how likely all that the others did is in one world, action by action."""
    state = new_states(1)
    for field in ("dealer", "one_deal", "max_deals", "scores", "winner"):
        state[field] = like[field]
    set_cards(net.tables[0], state[0], order)
    total = 0.0
    for action in actions[actions != NO_ACTION]:
        if state[0].turn != 0:
            odds, legal = chances(net, state[0])
            total += np.log((1 - FLOOR) * odds[action] + FLOOR / legal)
        step(net.tables[0], state[0], int(action))
    return total


@pytest.mark.parametrize("game", ["mini", "four_point", "schmier"])
def test_weight__is_the_product_of_the_probabilities_of_what_the_others_did(game: str) -> None:
    for seed, rules in enumerate([make_rules(game), *sampled_rules(game, 3, 21)]):
        net = random_net(rules, seed)
        for observation, _ in random_decisions(rules, seed, 1, 0.3)[::4]:
            worlds = sample_worlds(observation, rules, 3, seed)
            states = begun(net, worlds.orders, worlds.states[0])
            logs, actions = np.empty(3), worlds.actions.copy()
            weigh(net, observation, np.uint64(0), False, FLOOR, actions, states, logs)
            assert (states == worlds.states.view(np.ndarray)).all()
            assert np.array_equal(actions, worlds.actions)
            expected = [
                slow_log(net, order, chosen, worlds.states[0])
                for order, chosen in zip(worlds.orders, worlds.actions, strict=True)
            ]
            assert logs == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("game", ["mini", "four_point", "schmier"])
def test_world__with_discards_drawn_again_is_legal_and_shows_what_was_seen(game: str) -> None:
    changed = 0
    for seed, rules in enumerate([make_rules(game), *sampled_rules(game, 5, 22)]):
        net = random_net(rules, seed)
        for observation, _ in random_decisions(rules, seed, 1, 0.3):
            worlds = sample_worlds(observation, rules, 4, seed)
            states = begun(net, worlds.orders, worlds.states[0])
            begin, actions = states.copy().view(np.recarray), worlds.actions.copy()
            weigh(net, observation, np.uint64(seed), True, FLOOR, actions, states, np.empty(4))
            for world, state in enumerate(states.view(np.recarray)):
                chosen = actions[world][actions[world] != NO_ACTION].tolist()
                assert legal_throughout(begin[world], chosen, rules)
                assert np.array_equal(view(state, rules), observation)
            changed += int((actions != worlds.actions).any(axis=1).sum())
    assert changed > 10 or game == "mini"


@pytest.mark.parametrize("redraw", [False, True])
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name == "three cards" else name for name in TINY],
)
def test_worlds__by_weight_are_the_exact_posterior(name: str, redraw: bool) -> None:
    rules = TINY[name]
    net = random_net(rules, 5)
    compared = uneven = 0
    for seed in range(400):
        truth = random_history(rules, Random(f"{name} {seed}"))
        if truth is None:
            continue
        match, observation = truth
        hides = rules.stock_to_bidder > 0 or rules.trump_named
        if hides and not any(match.discards[1:]):
            continue
        histories = np.array(sorted(set(all_histories(match, rules))))
        if not 8 <= len(histories) <= 200:
            continue
        cards, left = len(rules.card_names), len(rules.card_names) - len(match.stock)
        like = sample_worlds(observation, rules, 1, 0).states[0]
        orders = np.ascontiguousarray(histories[:, :cards], np.int8)
        exact = np.array([slow_log(net, o, h[cards:], like) for o, h in zip(orders, histories, strict=True)])
        posterior = dict(zip(map(tuple, histories), tempered(exact, 0.0), strict=True))
        worlds = sample_worlds(observation, rules, 200 * len(histories), seed)
        states, logs = begun(net, worlds.orders, like), np.empty(len(worlds.states))
        weigh(net, observation, np.uint64(seed), redraw, FLOOR, worlds.actions, states, logs)
        weights = tempered(logs, 0.0)
        found: dict[tuple[int, ...], float] = defaultdict(float)
        sorted_stock = np.sort(worlds.orders[:, left:], axis=1)
        rows = np.concatenate([worlds.orders[:, :left], sorted_stock, worlds.actions], axis=1)
        for row, weight in zip(rows, weights, strict=True):
            found[tuple(row[row != NO_ACTION].tolist())] += weight
        assert set(found) <= set(posterior)
        # The error of shares drawn by weights, summed over histories, is near this.
        expected = sum(p**0.5 for p in posterior.values()) * (0.64 / effective(weights)) ** 0.5
        distance = sum(abs(found[history] - p) for history, p in posterior.items())
        assert distance < 1.5 * expected
        even = sum(abs(1 / len(posterior) - p) for p in posterior.values())
        uneven += even > 3 * expected
        compared += 1
        # Without a stock nothing is thrown, and hardly anything can be chosen.
        if compared >= 3 and (uneven >= 2 or not hides):
            return
    raise AssertionError("too few deals to compare")


def test_weights__are_made_even_until_enough_worlds_remain() -> None:
    logs = np.array([0.0, -1.0, -5.0, -20.0])
    assert tempered(logs, 0.0) == pytest.approx(np.exp(logs) / np.exp(logs).sum())
    assert effective(tempered(logs, 3.0)) == pytest.approx(3.0, abs=1e-3)
    assert tempered(logs, 4.0) == pytest.approx(0.25, abs=1e-3)


def test_draw__of_a_policy_that_knows_nothing_is_even_in_the_auction() -> None:
    agent = make_agent("four_point+search-5")
    assert isinstance(agent, PolicySearchAgent)
    rules = make_rules("four_point")
    agent.reset(rules, -1, 3)
    first = random_decisions(rules, 1, 1)[0][0]
    worlds = sample_worlds(first, rules, 20, agent.seed_of(first))
    states, logs = agent.weighed(first, worlds, 1)
    assert (states == worlds.states.view(np.ndarray)).all()
    assert np.ptp(logs) == 0
