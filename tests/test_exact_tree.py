"""The enumerated game: its deals, positions, payoffs and information sets are those of the slow reference."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from tests.engine_match import options_of
from tests.exact_games import NO_STOCK, ONE_CARD, SMALL, TWO_CARDS, small_rules, tree_of
from tests.reference.exact import roots
from training.exact import build_tree
from training.exact.tree import NONE, count_deals, deals_of, distinct_rows


def compare_with_reference(options: dict[str, Any]) -> None:
    rules, tree = small_rules(options), tree_of(**options)
    ids = {name: action for action, name in enumerate(rules.action_names)}
    nodes = roots(options_of(rules))
    assert len(nodes) == tree.deals
    for level in tree.levels:
        assert [node.match.turn for node in nodes] == level.seat.tolist()
        # Alike to the seat to act by its own history, just where it is alike by observation.
        views = [node.view(node.match.turn) for node in nodes]
        pairs = set(zip(views, level.information_set.tolist(), strict=True))
        assert len(pairs) == len(set(views)) == len(set(level.information_set.tolist()))
        children, actions = [], []
        for node in nodes:
            for name in sorted(node.match.legal(), key=ids.__getitem__):
                children.append(node.after(name))
                actions.append(ids[name])
        assert tree.action[level.sequence].tolist() == actions
        assert [child.payoff for child in children if child.over] == level.payoff.tolist()
        nodes = [child for child in children if not child.over]
    assert not nodes


@pytest.mark.parametrize("options", SMALL.values(), ids=SMALL)
def test_tree__positions_payoffs_and_information_sets_are_the_references(options: dict[str, Any]) -> None:
    compare_with_reference(options)


@pytest.mark.slow
def test_tree__positions_payoffs_and_information_sets_are_the_references_with_two_cards_and_a_stock() -> None:
    compare_with_reference(TWO_CARDS)


def test_tree__deals_are_what_differs_among_all_orders_of_the_deck_each_as_often() -> None:
    rules = small_rules({**ONE_CARD, "suits": "C"})  # three cards, one drawn
    seen = Counter((order[0], order[1], order[2]) for order in permutations(range(3)))
    given = [tuple(order) for order in deals_of(rules)]
    assert sorted(given) == sorted(seen)
    assert count_deals(rules) == len(given)


def test_tree__deals_of_mini_number_1680() -> None:
    orders = list(deals_of(small_rules({})))
    assert len(orders) == count_deals(small_rules({})) == 28 * 15 * 4
    assert len({(frozenset(o[:2]), frozenset(o[2:4]), o[4]) for o in orders}) == len(orders)
    assert all(sorted(order) == list(range(8)) for order in orders)


def test_tree__own_last_sequence_belongs_to_the_same_seat_and_an_earlier_set() -> None:
    tree = tree_of(**NO_STOCK)
    later = np.flatnonzero(tree.before != NONE)
    earlier = tree.information_set[tree.before[later]]
    assert len(later)
    assert (tree.seat[earlier] == tree.seat[later]).all()
    assert (earlier < later).all()


def test_tree__more_than_two_seats_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="players=4 of four_point"):
        build_tree("four_point")


def test_tree__too_many_deals_are_refused_with_their_number() -> None:
    with pytest.raises(ValueError, match=r"at most 20,000"):
        build_tree(small_rules({"ranks": "789TJQKA", "hand_size": 4}))


def test_distinct_rows__names_the_first_of_each_in_order() -> None:
    rows = np.array([[1, 2], [0, 0], [1, 2], [-1, 5], [0, 0]], np.int8)
    first, which = distinct_rows(rows)
    assert first.tolist() == [0, 1, 3]
    assert which.tolist() == [0, 1, 0, 2, 1]
