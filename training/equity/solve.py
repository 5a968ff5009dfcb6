"""Value iteration: the probability of winning the match from every standing, and its sampling error.

With `V(s)` the probabilities of the teams in standing `s`, the dealer's first, and outcomes `k` of a deal with
probability `p_k`, `V(s) = sum_k p_k W(s, k)`, where `W` is 1 for the team that has won the match after the
outcome and 0 for the others, or else `V` of the standing that follows, seen from the team that deals then. The sweeps
replace values as they go (Gauss-Seidel), high scores first, since scores mostly rise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from smear_env import Rules, standings
from training.arrays import BoolArray, Float64Array, Int64Array
from training.equity.grid import Grid
from training.equity.outcomes import Outcomes
from training.progress import counted

RESIDUAL = 1e-4
"""A table whose values differ more from what they should be by their successors is refused."""
TOLERANCE = 1e-7
"""Sweeps go on until no value changes by more."""
MOST_SWEEPS = 5000
_CELLS = 8192
"""Standings whose successors are found at once."""


class ConvergenceError(RuntimeError):
    """Values that do not settle: the player's matches hardly end."""


@dataclass(frozen=True)
class Successors:
    """Where every outcome leads from every standing; M of them in all."""

    coarse: Int64Array
    """[cells] combination of bins of each standing."""
    first: Int64Array
    """[cells] where its successors begin, one for each outcome of its combination."""
    after: Int64Array
    """[M] int32: the standing that follows, counted from the next dealer's team; -1 - team if that team has won."""
    starts: Int64Array
    """[coarse cells + 1] first outcome of each combination."""
    passes: BoolArray
    """[K] the next seat deals after this outcome."""
    order: Int64Array
    """[cells] standings, those with most points first."""


@dataclass(frozen=True)
class Solution:
    """Values and how well they are known."""

    values: Float64Array
    """[cells, teams] probability of winning, by team from the dealer's."""
    residual: float
    """Largest difference between a value and what its successors make it."""
    sweeps: int
    gap: float
    """Largest difference to the values reached from another start: where matches need not end, they would differ."""


def find_successors(rules: Rules, outcomes: Outcomes) -> Successors:
    """Apply every outcome to every standing of its bins, by the engine's rule of the match's end."""
    grid, teams = outcomes.grid, rules.teams
    scores, starts = grid.scores(), outcomes.starts
    coarse = grid.coarse_cell(scores)
    counts = np.diff(starts)[coarse]
    first = np.concatenate([[0], np.cumsum(counts)])
    after = np.empty(first[-1], np.int32)
    passes = np.empty(len(outcomes.coarse), np.bool_)
    for low in range(0, len(scores), _CELLS):
        part = slice(low, min(low + _CELLS, len(scores)))
        cell = np.repeat(np.arange(part.start, part.stop), counts[part])
        rows = starts[coarse[cell]] + np.arange(len(cell)) + first[low] - first[cell]
        stand = standings(
            rules, scores[cell], outcomes.delta[rows], outcomes.bidding_team[rows], outcomes.made[rows]
        )
        turned = np.where(
            stand.deal_passes[:, None], stand.scores[:, (np.arange(teams) + 1) % teams], stand.scores
        )
        following = grid.cell(turned)
        after[first[part.start] : first[part.stop]] = np.where(stand.winner < 0, following, -1 - stand.winner)
        passes[rows] = stand.deal_passes
    order = np.argsort(-scores.sum(axis=1), kind="stable")
    return Successors(coarse, first[:-1], after, starts, passes, order)


def solve(outcomes: Outcomes, successors: Successors) -> Solution:
    """Values of the counted outcomes, from even chances on, compared with those from none at all.

    Raises ConvergenceError where they differ, or the residual stays, above `RESIDUAL`.
    """
    grid, probability = outcomes.grid, outcomes.probability
    even = np.full((grid.cells, grid.teams), 1 / grid.teams)
    sweeps = iterate(even, probability, successors)
    other = np.zeros_like(even)
    iterate(other, probability, successors)
    residual = bellman_residual(even, probability, successors)
    gap = float(np.abs(even - other).max())
    if max(residual, gap) >= RESIDUAL:
        raise ConvergenceError(
            f"after {sweeps} sweeps values differ by {residual:.2g} from those of their successors and by {gap:.2g} "
            f"from those reached from another start, not both below {RESIDUAL}: this player's matches hardly end"
        )
    return Solution(even, residual, sweeps, gap)


def iterate(values: Float64Array, probability: Float64Array, successors: Successors) -> int:
    """Sweep values [cells, teams] in place until they settle; returns how often."""
    s = successors
    for sweep in range(1, MOST_SWEEPS + 1):
        moved = _sweep(values, probability, s.order, s.coarse, s.first, s.after, s.starts, s.passes, True)
        if moved < TOLERANCE:
            return sweep
    return MOST_SWEEPS


def bellman_residual(values: Float64Array, probability: Float64Array, successors: Successors) -> float:
    """The largest difference between a value and the mean of its successors' values."""
    s = successors
    return float(_sweep(values, probability, s.order, s.coarse, s.first, s.after, s.starts, s.passes, False))


def standard_errors(
    outcomes: Outcomes, successors: Successors, values: Float64Array, replicates: int, seed: int
) -> Float64Array:
    """Standard error of every value, [cells, teams], from so many resampled sets of counts solved again."""
    generator = np.random.default_rng([seed, 1])
    total, squares = np.zeros_like(values), np.zeros_like(values)
    for _ in counted(range(replicates), replicates, "resampled tables", "sampling errors"):
        again = values.copy()
        iterate(again, outcomes.resampled(generator).probability, successors)
        total += again - values
        squares += (again - values) ** 2
    return np.sqrt(np.maximum(squares - total**2 / replicates, 0) / (replicates - 1))


def bin_losses(rules: Rules, outcomes: Outcomes, values: Float64Array) -> list[dict[str, float]]:
    """What the table would lose if two neighbouring bins were one, for each pair of neighbours.

    The loss is the mean and largest difference of the values below the target, sampling error included, since fewer
    bins also share more deals; so it bounds from above what that boundary is worth.
    """
    grid: Grid = outcomes.grid
    below = (grid.scores() <= grid.last).all(axis=1)
    losses = []
    boundaries = range(len(grid.bins) - 1)
    for index in counted(boundaries, len(boundaries), "boundaries of bins", "what they are worth"):
        coarser = outcomes.merged(index)
        again = values.copy()
        iterate(again, coarser.probability, find_successors(rules, coarser))
        change = np.abs(again - values)[below]
        losses.append(
            {"boundary": grid.bins[index + 1], "mean": float(change.mean()), "largest": float(change.max())}
        )
    return losses


@numba.njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _sweep(
    values: Float64Array,
    probability: Float64Array,
    order: Int64Array,
    coarse: Int64Array,
    first: Int64Array,
    after: Int64Array,
    starts: Int64Array,
    passes: BoolArray,
    write: bool,
) -> float:
    """The largest difference between a value and its successors' mean; `write`: each is replaced at once."""
    teams = values.shape[1]
    mean = np.empty(teams)
    largest = 0.0
    for cell in order:
        mean[:] = 0.0
        begin, end = starts[coarse[cell]], starts[coarse[cell] + 1]
        for k in range(begin, end):
            p = probability[k]
            following = after[first[cell] + k - begin]
            if following < 0:
                mean[-1 - following] += p
            elif passes[k]:
                # The next dealer's team is the one after this dealer's.
                for team in range(1, teams):
                    mean[team] += p * values[following, team - 1]
                mean[0] += p * values[following, teams - 1]
            else:
                for team in range(teams):
                    mean[team] += p * values[following, team]
        for team in range(teams):
            largest = max(largest, abs(mean[team] - values[cell, team]))
            if write:
                values[cell, team] = mean[team]
    return largest
