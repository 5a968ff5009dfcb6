"""Values, best responses and equilibria, against the slow reference and against what any strategy must satisfy."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from smear_env import make_agent
from tests.engine_match import options_of
from tests.exact_games import BIDS_ALONE, NO_STOCK, SMALL, TWO_CARDS, small_rules, tree_of
from tests.reference import exact as reference
from training.exact import (
    RegretMatching,
    Tree,
    best_response,
    combined,
    exploitability,
    of_agent,
    solve_game,
    uniform,
    value,
)
from training.exact.regrets import normalised


def random_strategy(tree: Tree, seed: int, power: float = 1.0) -> Any:
    return normalised(tree, np.random.default_rng(seed).random(tree.sequences) ** power)


@pytest.mark.parametrize("options", SMALL.values(), ids=SMALL)
def test_best_response__to_uniform_play_is_worth_what_the_slow_reference_finds(
    options: dict[str, Any],
) -> None:
    tree = tree_of(**options)
    nodes = reference.roots(options_of(small_rules(options)))
    found = exploitability(tree, uniform(tree))
    played = reference.value(nodes, (reference.uniform, reference.uniform))
    assert found.value == pytest.approx(played, abs=1e-12)
    for seat in (0, 1):
        best, _ = best_response(tree, uniform(tree), seat)
        assert best == pytest.approx(reference.best_value(nodes, seat, reference.uniform), abs=1e-12)
    gains = [
        reference.best_value(nodes, seat, reference.uniform) - (1 - 2 * seat) * played for seat in (0, 1)
    ]
    assert found.nash_conv == pytest.approx(sum(gains), abs=1e-12)
    assert found.mean == pytest.approx(sum(gains) / 2, abs=1e-12)


def test_value__is_the_same_with_the_other_dealer_and_the_seats_exchanged() -> None:
    nodes = reference.roots(options_of(small_rules(NO_STOCK)), dealer=0)
    other = reference.value(nodes, (reference.uniform, reference.uniform))
    assert value(tree_of(**NO_STOCK), uniform(tree_of(**NO_STOCK))) == pytest.approx(-other, abs=1e-12)


@pytest.mark.parametrize("seat", [0, 1])
def test_best_response__is_the_best_of_all_pure_strategies(seat: int) -> None:
    tree = tree_of(**BIDS_ALONE)
    against = random_strategy(tree, seed=3)
    sets = [np.flatnonzero(tree.information_set == s) for s in np.flatnonzero(tree.seat == seat)]
    values = []
    for chosen in product(*sets):
        played = against.copy()
        played[tree.owner == seat] = 0
        played[list(chosen)] = 1
        values.append((1 - 2 * seat) * value(tree, played))
    assert len(values) > 20
    assert len(set(values)) > 1
    assert best_response(tree, against, seat)[0] == pytest.approx(max(values), abs=1e-12)


@pytest.mark.parametrize("seat", [0, 1])
def test_best_response__is_worth_what_it_says_and_no_strategy_is_worth_more(seat: int) -> None:
    tree = tree_of(**TWO_CARDS)
    against = random_strategy(tree, seed=5)
    best, response = best_response(tree, against, seat)
    sign = 1 - 2 * seat
    assert sign * value(tree, response) == pytest.approx(best, abs=1e-12)
    assert np.array_equal(response[tree.owner != seat], against[tree.owner != seat])
    for seed in range(20):
        own = random_strategy(tree, seed=seed, power=8.0)
        pair = combined(tree, own, against) if seat == 0 else combined(tree, against, own)
        assert sign * value(tree, pair) < best


def test_best_response__a_seat_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="seat=2"):
        best_response(tree_of(**NO_STOCK), uniform(tree_of(**NO_STOCK)), 2)


@pytest.mark.parametrize("options", [NO_STOCK, TWO_CARDS], ids=["no stock", "two cards"])
def test_solve_game__nobody_gains_from_an_equilibrium(options: dict[str, Any]) -> None:
    tree = tree_of(**options)
    game_value, strategy = solve_game(tree)
    found = exploitability(tree, strategy)
    assert found.mean < 1e-6
    assert found.value == pytest.approx(game_value, abs=1e-6)
    sums = np.bincount(tree.information_set, strategy)
    assert np.allclose(sums, 1, atol=1e-12)


def test_solve_game__value_lies_between_what_best_responses_to_anything_leave() -> None:
    tree = tree_of(**TWO_CARDS)
    game_value, _ = solve_game(tree)
    for seed in range(5):
        strategy = random_strategy(tree, seed)
        assert -best_response(tree, strategy, 1)[0] < game_value < best_response(tree, strategy, 0)[0]


@pytest.mark.parametrize("plus", [True, False])
def test_regret_matching__average_comes_close_to_the_equilibrium(plus: bool) -> None:
    tree = tree_of(**NO_STOCK)
    matching = RegretMatching(tree, plus=plus)
    matching.run(20)
    early = exploitability(tree, matching.average()).mean
    matching.run(480)
    late = exploitability(tree, matching.average()).mean
    assert late < early
    assert late < (1e-3 if plus else 2e-2)
    assert value(tree, matching.average()) == pytest.approx(solve_game(tree)[0], abs=2 * late + 1e-9)


class Told:
    """An agent with one preference, whatever it sees."""

    def __init__(self, weights: Any) -> None:
        self.weights = weights

    def reset(self, rules: Any, seat: int, seed: int) -> None:
        pass

    def probabilities(self, observations: Any, masks: Any) -> Any:
        return np.broadcast_to(self.weights, masks.shape)


class TowardsFirst(Told):
    """Three quarters on the first legal action."""

    def probabilities(self, observations: Any, masks: Any) -> Any:
        first = np.cumsum(masks, axis=1) == 1
        rest = masks / np.maximum(masks.sum(axis=1, keepdims=True), 1)
        return (0.75 * (first & (masks > 0)) + 0.25 * rest).astype(np.float32)


def test_of_agent__sampled_play_is_its_probabilities_and_greedy_play_the_most_probable() -> None:
    tree = tree_of(**NO_STOCK)
    agent: Any = TowardsFirst(None)
    sampled, greedy = of_agent(tree, agent), of_agent(tree, agent, greedy=True)
    counts = tree.mask.sum(axis=1)[tree.information_set]
    first = np.arange(tree.sequences) == tree.first_sequence[tree.information_set]
    assert np.allclose(sampled, np.where(counts == 1, 1, 0.75 * first + 0.25 / counts), atol=1e-6)
    assert greedy.tolist() == first.astype(float).tolist()
    assert np.allclose(np.bincount(tree.information_set, sampled), 1, atol=1e-12)


def test_of_agent__random_is_uniform() -> None:
    tree = tree_of(**NO_STOCK)
    assert np.allclose(of_agent(tree, make_agent("random")), uniform(tree), atol=1e-6)


def test_of_agent__weights_on_what_is_not_legal_are_refused() -> None:
    tree = tree_of(**NO_STOCK)
    told: Any = Told(np.full(tree.mask.shape[1], 1 / tree.mask.shape[1], np.float32))
    with pytest.raises(ValueError, match="distribution over its legal actions"):
        of_agent(tree, told)
