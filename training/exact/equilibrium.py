"""An equilibrium of a `Tree` by linear programming over sequences, and with it the value of the game.

Koller, Megiddo and von Stengel, "Efficient computation of equilibria for extensive two-person games" (1996): with x
seat 0's probabilities of its own sequences, q a value for each information set of seat 1, E and F the constraints that
make x and y plans, and A the expected payoffs of pairs of sequences,

    maximise q of the start, where F'q <= A'x, Ex = e, x >= 0;

seat 1's plan y is the dual solution. Forced moves are no sequences of their own here.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array, hstack

from training.arrays import Float64Array, Int64Array
from training.exact.regrets import normalised
from training.exact.tree import NONE, Tree


def solve_game(tree: Tree) -> tuple[float, Float64Array]:
    """The value of the game to seat 0 in points per deal, and an equilibrium [S] for both seats.

    RuntimeError where the solver gives up.
    """
    plans = [_Plan(tree, seat) for seat in (0, 1)]
    eldest, dealer = plans
    payoffs = _payoffs(tree, eldest, dealer)
    x, q = eldest.size, len(dealer.sets) + 1
    cost = np.zeros(x + q)
    cost[x] = -1  # the first of q belongs to the empty sequence
    solved = linprog(
        cost,
        A_ub=hstack([-payoffs.T, dealer.constraints().T]).tocsr(),
        b_ub=np.zeros(dealer.size),
        A_eq=hstack([eldest.constraints(), csr_array((len(eldest.sets) + 1, q))]).tocsr(),
        b_eq=np.eye(1, len(eldest.sets) + 1)[0],
        bounds=[(0, None)] * x + [(None, None)] * q,
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if solved.status != 0:
        raise RuntimeError(f"the linear programme of {tree.rules.name} was not solved: {solved.message}")
    weights = np.zeros(tree.sequences)
    for plan, found in ((eldest, solved.x[:x]), (dealer, -solved.ineqlin.marginals)):
        weights[plan.own] = np.maximum(found, 0)[plan.number[plan.own]]
    return -float(solved.fun), normalised(tree, weights)


class _Plan:
    """One seat's sequences with a choice, numbered from 1; 0 is the empty one."""

    def __init__(self, tree: Tree, seat: int) -> None:
        counts = np.bincount(tree.information_set, minlength=len(tree.seat))
        self.own: Int64Array = np.flatnonzero(tree.owner == seat)
        self.sets: Int64Array = np.flatnonzero((tree.seat == seat) & (counts > 1))
        self.number: Int64Array = np.zeros(tree.sequences, np.int64)
        """[S] what stands for each of the seat's sequences: for a forced one, what came before it."""
        chosen = self.own[counts[tree.information_set[self.own]] > 1]
        self.number[chosen] = np.arange(1, len(chosen) + 1)
        self.size = len(chosen) + 1
        forced = self.own[counts[tree.information_set[self.own]] == 1]
        for sequence in forced:  # in the order of levels
            before = tree.before[tree.information_set[sequence]]
            self.number[sequence] = 0 if before == NONE else self.number[before]
        before = tree.before[self.sets]
        self.parent: Int64Array = np.where(before == NONE, 0, self.number[before])
        row = np.full(len(tree.seat), NONE)
        row[self.sets] = np.arange(1, len(self.sets) + 1)
        self.row: Int64Array = row[tree.information_set[chosen]]

    def constraints(self) -> csr_array:
        """Each information set's sequences add up to what leads to it; the empty sequence is 1. [sets + 1, size]"""
        rows = np.concatenate([[0], self.row, np.arange(1, len(self.sets) + 1)])
        columns = np.concatenate([[0], np.arange(1, self.size), self.parent])
        signs = np.concatenate([np.ones(self.size), -np.ones(len(self.sets))])
        return coo_array((signs, (rows, columns)), shape=(len(self.sets) + 1, self.size)).tocsr()


def _payoffs(tree: Tree, eldest: _Plan, dealer: _Plan) -> csr_array:
    """Expected payoff to seat 0 of each pair of sequences, [eldest.size, dealer.size]."""
    rows, columns, worth = [], [], []
    last = np.zeros((tree.deals, 2), np.int64)  # [N, seats] number of each seat's last sequence
    for level in tree.levels:
        after = last[level.parent]
        for seat, plan in enumerate((eldest, dealer)):
            acts = level.seat[level.parent] == seat
            after[acts, seat] = plan.number[level.sequence[acts]]
        rows.append(after[level.leaf, 0])
        columns.append(after[level.leaf, 1])
        worth.append(level.payoff / tree.deals)
        last = after[level.inner]
    entries = (np.concatenate(worth), (np.concatenate(rows), np.concatenate(columns)))
    return coo_array(entries, shape=(eldest.size, dealer.size)).tocsr()


__all__ = ["solve_game"]
