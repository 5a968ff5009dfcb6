"""Values of strategies and best responses to them, by passes over the levels of a `Tree`.

A best response is found from the last level to the first: at each of a seat's information sets, the action that is best
on the average over its nodes, each weighted by the chance that deal and opponent lead there (Zinkevich et al., "Regret
minimization in games with incomplete information", 2007: counterfactual values). Sequences that the opponent never
allows are answered by the first legal action.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from training.arrays import Float64Array, Int64Array
from training.exact.tree import Level, Tree


@dataclass(frozen=True)
class Exploitability:
    """How much a strategy gives away, in points per deal; both seats play it, seat 1 deals."""

    value: float
    """Of seat 0, eldest hand, where both seats play the strategy."""
    gain_eldest: float
    """What a best response in seat 0 gains over playing the strategy there."""
    gain_dealer: float
    """Likewise in seat 1."""

    @property
    def nash_conv(self) -> float:
        """Sum of both gains; 0 in equilibrium."""
        return self.gain_eldest + self.gain_dealer

    @property
    def mean(self) -> float:
        """Exploitability: half of NashConv, what a best response wins per deal where the deal alternates."""
        return self.nash_conv / 2


def value(tree: Tree, strategy: Float64Array) -> float:
    """Points per deal that seat 0 can expect of a strategy [S]; seat 1 can expect minus that."""
    return float(node_values(tree, strategy)[0].mean())


def combined(tree: Tree, eldest: Float64Array, dealer: Float64Array) -> Float64Array:
    """The strategy [S] of two players, one in each seat."""
    return np.where(tree.owner == 0, eldest, dealer)


def reaches(tree: Tree, strategy: Float64Array) -> list[Float64Array]:
    """For each level the probability [N] of coming to its nodes, of deal and strategy [S] together.

    A seat whose probabilities are set to 1 is left out: the reach is then counterfactual.
    """
    reach = [np.full(tree.deals, 1 / tree.deals)]
    for level in tree.levels[:-1]:
        edges = level.inner
        reach.append(reach[-1][level.parent[edges]] * strategy[level.sequence[edges]])
    return reach


def edge_values(level: Level, later: Float64Array) -> Float64Array:
    """Value of each edge [E] to seat 0, from the values `later` of the next level's nodes."""
    values = np.empty(len(level.sequence))
    values[level.inner] = later
    values[level.leaf] = level.payoff
    return values


def node_values(tree: Tree, strategy: Float64Array) -> list[Float64Array]:
    """For each level the value [N] of its nodes to seat 0."""
    values: list[Float64Array] = [np.empty(0)]
    for level in reversed(tree.levels):
        worth = edge_values(level, values[0]) * strategy[level.sequence]
        values.insert(0, np.add.reduceat(worth, level.first_edge))
    return values[:-1]


def best_response(tree: Tree, strategy: Float64Array, seat: int) -> tuple[float, Float64Array]:
    """Value to `seat` of the best it can do against a strategy [S], and the strategy that does it.

    The second has the seat's own best actions and the opponent's probabilities. ValueError for no such seat.
    """
    if seat not in (0, 1):
        raise ValueError(f"seat={seat} is not 0 (eldest hand) or 1 (the dealer)")
    own, sign = tree.owner == seat, 1 - 2 * seat
    reach = reaches(tree, np.where(own, 1.0, strategy))
    played = np.where(own, 0.0, strategy)
    later: Float64Array = np.empty(0)
    for level, weight in zip(reversed(tree.levels), reversed(reach), strict=True):
        values = edge_values(level, later)
        first, last = int(level.sequence.min()), int(level.sequence.max())
        totals = np.bincount(
            level.sequence - first, sign * values * weight[level.parent], minlength=last - first + 1
        )
        here = slice(first, last + 1)
        best = first_best(totals.astype(np.float64), tree.information_set[here])
        played[here] = np.where(own[here], best, played[here])
        later = np.add.reduceat(values * played[level.sequence], level.first_edge)
    return sign * float(later.mean()), played


def first_best(totals: Float64Array, groups: Int64Array) -> Float64Array:
    """1 at the first largest entry of each run of equal `groups`, else 0; [S] both."""
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    lengths = np.diff(starts, append=len(groups))
    largest = np.repeat(np.maximum.reduceat(totals, starts), lengths)
    candidates = np.where(totals == largest, np.arange(len(totals)), len(totals))
    chosen = np.zeros(len(totals))
    chosen[np.minimum.reduceat(candidates, starts)] = 1
    return chosen


def exploitability(tree: Tree, strategy: Float64Array) -> Exploitability:
    """What best responses gain against a strategy [S] that both seats play."""
    played = value(tree, strategy)
    eldest, _ = best_response(tree, strategy, 0)
    dealer, _ = best_response(tree, strategy, 1)
    return Exploitability(played, eldest - played, dealer + played)


__all__ = [
    "Exploitability",
    "best_response",
    "combined",
    "edge_values",
    "exploitability",
    "node_values",
    "reaches",
    "value",
]
