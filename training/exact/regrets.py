"""CFR+ on a `Tree`: an equilibrium approached by regret matching, checked against exploitability at any time.

Tammelin, "Solving large imperfect information games using CFR+" (2014): regrets are cut at zero, the seats take turns,
and iteration t counts t in the average. Zinkevich et al. (2007) for counterfactual regret itself.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from training.arrays import BoolArray, Float64Array
from training.exact.policies import uniform
from training.exact.responses import edge_values, reaches
from training.exact.tree import NONE, Tree


class RegretMatching:
    """CFR+ from uniform play; `run` it on, then take `average`.

    Args:
        tree: the game.
        plus: cut regrets at zero, let the seats take turns and weigh later iterations more. Without it this is plain
            CFR, both seats at once and all iterations alike.
    """

    def __init__(self, tree: Tree, *, plus: bool = True) -> None:
        self.tree = tree
        self.plus = plus
        self.iterations = 0
        self.regret = np.zeros(tree.sequences)
        self.total = np.zeros(tree.sequences)
        """Of each sequence's own probability over the iterations, weighted."""
        self._owner = tree.owner

    def run(self, iterations: int) -> None:
        """So many iterations more."""
        for _ in range(iterations):
            self.iterations += 1
            if self.plus:
                for seat in (0, 1):
                    self._update(self.strategy(), self._owner == seat)
            else:
                self._update(self.strategy(), np.ones(self.tree.sequences, np.bool_))

    def strategy(self) -> Float64Array:
        """What both seats play next, [S]: positive regrets in proportion."""
        return normalised(self.tree, np.maximum(self.regret, 0))

    def average(self) -> Float64Array:
        """The average strategy [S], which approaches an equilibrium."""
        return normalised(self.tree, self.total)

    def _update(self, strategy: Float64Array, seats: BoolArray) -> None:
        tree = self.tree
        weight = self.iterations if self.plus else 1
        self.total[seats] += weight * realisation(tree, strategy)[seats]
        worth = counterfactual_values(tree, strategy)
        mean = np.bincount(tree.information_set, worth * strategy, minlength=len(tree.seat))
        regret = self.regret + worth - mean[tree.information_set]
        self.regret[seats] = (np.maximum(regret, 0) if self.plus else regret)[seats]


def normalised(tree: Tree, weights: Float64Array) -> Float64Array:
    """Weights [S], none negative, in proportion at each information set; uniform where they are all 0."""
    totals = np.bincount(tree.information_set, weights, minlength=len(tree.seat))[tree.information_set]
    shares = np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0)
    return np.where(totals > 0, shares, uniform(tree))


def realisation(tree: Tree, strategy: Float64Array) -> Float64Array:
    """Probability [S] that the own choices up to and with each sequence bring it about."""
    own = strategy.copy()
    starts = [int(level.sequence.min()) for level in tree.levels] + [tree.sequences]
    for start, stop in pairwise(starts):
        before = tree.before[tree.information_set[start:stop]]
        own[start:stop] *= np.where(before == NONE, 1.0, own[before])
    return own


def counterfactual_values(tree: Tree, strategy: Float64Array) -> Float64Array:
    """Value [S] of each sequence's action to its own seat, weighted by the chance that the others lead there."""
    worth = np.zeros(tree.sequences)
    signs = 1.0 - 2.0 * tree.owner
    by_seat = [reaches(tree, np.where(tree.owner == seat, 1.0, strategy)) for seat in (0, 1)]
    later: Float64Array = np.empty(0)
    for depth in range(len(tree.levels) - 1, -1, -1):
        level = tree.levels[depth]
        values = edge_values(level, later)
        weight = np.where(level.seat == 0, by_seat[0][depth], by_seat[1][depth])
        first, last = int(level.sequence.min()), int(level.sequence.max())
        worth[first : last + 1] = np.bincount(
            level.sequence - first, values * weight[level.parent], minlength=last - first + 1
        )
        later = np.add.reduceat(values * strategy[level.sequence], level.first_edge)
    return signs * worth


__all__ = ["RegretMatching", "counterfactual_values", "normalised", "realisation"]
