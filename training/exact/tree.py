"""The whole tree of a two-seat game as arrays, built once: nodes, information sets, chances.

A game is one deal from level scores, seat 1 the dealer: the other dealer's game is this one with the seats
exchanged, since a seat sees everything counted from itself. Nodes stand in levels by the number of actions before
them, forced ones included, so that an information set lies within one level: a seat knows how many there were.

An information set is an observation. Perfect recall is checked while building: all nodes of one observation must have
been reached by the same last action from the same observation of that seat. That an observation says no more and no
less than the history its seat has seen is held by the tests, to the histories of the slow reference.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import numpy as np

from smear_env import Rules, SelfPlayVectorEnv, make_rules
from training.arrays import BoolArray, Float64Array, Int8Array, Int64Array

DEALER = 1
"""The dealer's seat; the other, eldest hand, is seat 0."""
MOST_DEALS = 20_000
"""Deals of a game that is still enumerated: some 200 nodes each, of a hundred bytes."""
CHUNK = 4096
"""Games stepped at once while building."""
NONE = -1


@dataclass(frozen=True)
class Level:
    """Nodes after so many actions, N of them, and their E actions; edges stand node by node, each node's by action."""

    information_set: Int64Array  # [N]
    first_edge: Int64Array  # [N] every node has at least one
    parent: Int64Array  # [E] node of this level
    sequence: Int64Array  # [E]
    inner: Int64Array  # [nodes of the next level] the edge that leads there
    leaf: Int64Array  # [leaves] edges that end the deal
    payoff: Float64Array  # [leaves] points to seat 0: own score change less the other's
    seat: Int64Array  # [N] to act


@dataclass(frozen=True)
class Tree:
    """I information sets, each with its actions as sequences, S in all; a strategy is [S] float64.

    A strategy holds the probability of each sequence's action at its information set, for both seats; functions that
    want one seat's take the rest from it unused. Sequences stand by information set and there by action.
    """

    rules: Rules
    levels: tuple[Level, ...]
    deals: int
    """Equally likely, the nodes of the first level."""
    observation: Int8Array  # [I, d]
    mask: Int8Array  # [I, n]
    seat: Int64Array  # [I] that decides there
    before: Int64Array  # [I] the seat's own last sequence, NONE if it has not acted
    first_sequence: Int64Array  # [I]
    information_set: Int64Array  # [S]
    action: Int64Array  # [S]

    @property
    def sequences(self) -> int:
        """S, actions at information sets."""
        return len(self.action)

    @property
    def owner(self) -> Int64Array:
        """Seat that each sequence belongs to, [S]."""
        return self.seat[self.information_set]

    @property
    def nodes(self) -> int:
        """Positions with an action to take, forced ones included."""
        return sum(len(level.information_set) for level in self.levels)

    @property
    def leaves(self) -> int:
        """Ways in which a deal can go."""
        return sum(len(level.leaf) for level in self.levels)


def deals_of(rules: Rules) -> Iterator[list[int]]:
    """Every deal that differs to anybody, as an order of the deck: hands by seat, then the stock from its top.

    All are equally likely. Of the stock only the cards drawn matter, in order only where several seats draw.
    """
    deck, size = range(len(rules.card_names)), rules.hand_size
    for first in combinations(deck, size):
        others = [card for card in deck if card not in first]
        for second in combinations(others, size):
            stock = [card for card in others if card not in second]
            if rules.exchange or rules.dealer_takes_stock:
                tops: Iterator[tuple[int, ...]] = permutations(stock)
            else:
                tops = combinations(stock, rules.stock_to_bidder)
            for top in tops:
                yield [*first, *second, *top, *(card for card in stock if card not in top)]


def count_deals(rules: Rules) -> int:
    """How many `deals_of` gives."""
    cards, size, stock = len(rules.card_names), rules.hand_size, rules.stock_size
    ordered = rules.exchange or rules.dealer_takes_stock
    tops = math.factorial(stock) if ordered else math.comb(stock, rules.stock_to_bidder)
    return math.comb(cards, size) * math.comb(cards - size, size) * tops


def build_tree(rules: str | Rules = "mini") -> Tree:
    """Enumerate a game of two seats; ValueError for other games, and for one of more than MOST_DEALS deals."""
    game = make_rules(rules)
    if game.players != 2:
        raise ValueError(f"rules: players={game.players} of {game.name}, exact analysis needs 2: use mini")
    if count_deals(game) > MOST_DEALS:
        raise ValueError(
            f"rules: {count_deals(game):,} deals of {game.name} with {game.options()}, at most {MOST_DEALS:,} are "
            "enumerated: use mini with fewer cards"
        )
    return _Builder(game).build()


class _Builder:
    """What has been found so far, level by level."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        orders = np.array(list(deals_of(rules)), np.int8)
        self.deals = len(orders)
        self.chunk = min(CHUNK, self.deals)
        self.env = SelfPlayVectorEnv(
            self.chunk, rules, seed=0, episode="deal", reward="points", dealers=DEALER, copy=True
        )
        self.positions = self._deal(orders)
        self.own_last = np.full((self.deals, 2), NONE)  # [N, seats] each seat's last sequence
        self.levels: list[Level] = []
        self.found: list[dict[str, Any]] = []
        self.sets = self.sequences = 0

    def build(self) -> Tree:
        while len(self.positions["seat"]):
            self._add_level()
        whole = {name: np.concatenate([one[name] for one in self.found]) for name in self.found[0]}
        return Tree(self.rules, tuple(self.levels), self.deals, **whole)

    def _deal(self, orders: Int8Array) -> dict[str, Any]:
        parts = []
        for rows in _chunks(len(orders), self.chunk):
            shown = self.env.reset(deals=(orders[rows], np.full(len(rows), DEALER, np.int8)))
            parts.append(self._shown(shown))
        return _joined(parts, len(orders))

    def _shown(self, shown: Any) -> dict[str, Any]:
        states = self.env.snapshot()["states"]
        return {
            "states": states,
            "observation": shown.observation,
            "mask": shown.mask,
            "seat": shown.seat,
            "reward": shown.reward[:, 0].astype(np.float64),
            "ended": shown.terminated | shown.truncated,
        }

    def _add_level(self) -> None:
        """Name the information sets of the present positions, then take every action in each."""
        at = self.positions
        first, set_of = distinct_rows(at["observation"])
        mask, seat = at["mask"][first], at["seat"][first]
        before = self.own_last[np.arange(len(set_of)), at["seat"]]
        self._check_recall(at, first, set_of, before)
        sequence_set, action = np.nonzero(mask)
        counts = mask.sum(axis=1, dtype=np.int64)
        first_sequence = np.cumsum(counts) - counts
        node_counts = counts[set_of]
        parent = np.repeat(np.arange(len(set_of)), node_counts)
        first_edge = np.cumsum(node_counts) - node_counts
        nth = np.arange(len(parent)) - first_edge[parent]
        sequence = first_sequence[set_of[parent]] + nth
        after = self._act(parent, action[sequence])
        ended = after["ended"]
        self.levels.append(
            Level(
                information_set=self.sets + set_of,
                first_edge=first_edge,
                parent=parent,
                sequence=self.sequences + sequence,
                inner=np.flatnonzero(~ended),
                leaf=np.flatnonzero(ended),
                payoff=after["reward"][ended],
                seat=at["seat"],
            )
        )
        self.found.append(
            {
                "observation": at["observation"][first],
                "mask": mask,
                "seat": seat,
                "before": before[first],
                "first_sequence": self.sequences + first_sequence,
                "information_set": self.sets + sequence_set,
                "action": action,
            }
        )
        own_last = self.own_last[parent]
        own_last[np.arange(len(parent)), at["seat"][parent]] = self.sequences + sequence
        self.own_last = own_last[~ended]
        self.positions = {name: array[~ended] for name, array in after.items()}
        self.sets += len(first)
        self.sequences += len(action)

    def _act(self, parent: Int64Array, action: Int64Array) -> dict[str, Any]:
        parts = []
        for rows in _chunks(len(parent), self.chunk):
            states = self.positions["states"][parent[rows]]
            self.env.restore({"states": states, "seed": np.zeros(1, np.uint64)})
            parts.append(self._shown(self.env.step(action[rows])))
        return _joined(parts, len(parent))

    def _check_recall(
        self, at: dict[str, Any], first: Int64Array, set_of: Int64Array, before: Int64Array
    ) -> None:
        """Who sees the same must have the same moves and have done the same to come here."""
        alike: BoolArray = (
            (at["mask"] == at["mask"][first][set_of]).all(axis=1)
            & (at["seat"] == at["seat"][first][set_of])
            & (before == before[first][set_of])
        )
        if not alike.all():
            node = int(np.argmin(alike))
            raise AssertionError(
                f"level {len(self.levels)}: node {node} shows seat {at['seat'][node]} what another node shows that "
                "it reached by other actions: the observation lacks recall"
            )


def distinct_rows(rows: Int8Array) -> tuple[Int64Array, Int64Array]:
    """The first of each distinct row, and for each row which of these it is: [I] and [N].

    By a hash of 64 bits, since sorting whole rows takes ten times as long; equal hashes of unequal rows are refused.
    """
    factors = np.random.default_rng(0).integers(1, 2**63, rows.shape[1], np.uint64) | np.uint64(1)
    hashes = np.zeros(len(rows), np.uint64)
    for column in range(rows.shape[1]):
        hashes += rows[:, column].astype(np.uint64) * factors[column]
    _, first, which = np.unique(hashes, return_index=True, return_inverse=True)
    # In the order of the nodes, not of the hashes.
    order = np.argsort(first)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    first, which = first[order], place[which]
    if not np.array_equal(rows, rows[first][which]):
        raise AssertionError("two observations have one hash: choose other factors")
    return first, which


def _chunks(count: int, size: int) -> Iterator[Int64Array]:
    """Row numbers 0 to `count`, `size` at a time; the last rows are repeated to fill the last chunk."""
    for start in range(0, count, size):
        yield np.minimum(np.arange(start, start + size), count - 1)


def _joined(parts: list[dict[str, Any]], count: int) -> dict[str, Any]:
    return {name: np.concatenate([part[name] for part in parts])[:count] for name in parts[0]}


__all__ = ["DEALER", "Level", "Tree", "build_tree", "count_deals", "deals_of", "distinct_rows"]
