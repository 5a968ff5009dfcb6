"""Making a table: deals counted, values iterated, errors resampled, and the result checked against play."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from smear_env import Rules, make_agent
from training.arrays import Float64Array
from training.equity.check import check_against_play
from training.equity.grid import Grid
from training.equity.outcomes import Outcomes, collect_outcomes
from training.equity.selfplay import make_chooser
from training.equity.solve import Successors, bin_losses, find_successors, solve, standard_errors
from training.equity.table import MatchEquity
from training.evaluation.players import Player
from training.files import commit

REPLICATES = 20
"""Resampled tables behind a standard error, which they give to a sixth of itself."""


def build_equity(
    name: str,
    rules: Rules,
    grid: Grid,
    *,
    deals: int,
    seed: int = 1,
    sampled: bool = False,
    replicates: int = REPLICATES,
    check: int = 0,
    measure_bins: bool = False,
    command: str = "",
) -> MatchEquity:
    """The table of a player (registered name or checkpoint) who sits in every seat.

    Args:
        name: of the player.
        rules: of the matches.
        grid: scores and bins.
        deals: to play from each combination of bins.
        seed: of deals, start scores, sampled play and resampling.
        sampled: a checkpoint draws by its probabilities.
        replicates: resampled tables for the standard errors, at least 2.
        check: matches to compare with, 0 for none; of another seed than the deals.
        measure_bins: say what each boundary of bins is worth.
        command: kept in the description.

    Raises ValueError for arguments that make no sense, and ConvergenceError for a player whose matches hardly end.
    """
    if replicates < 2:
        raise ValueError(f"replicates={replicates} must be at least 2 for a standard error")
    if check < 0:
        raise ValueError(f"check={check} must not be negative")
    choose = make_chooser(name, rules, sampled=sampled, seed=seed)
    outcomes = collect_outcomes(choose, rules, grid, deals, seed)
    successors = find_successors(rules, outcomes)
    solution = solve(outcomes, successors)
    errors = standard_errors(outcomes, successors, solution.values, replicates, seed)
    sizes = typical_sizes(rules, outcomes, successors, solution.values)
    below = (grid.scores() <= grid.last).all(axis=1)
    played = int(outcomes.count.sum())
    description: dict[str, Any] = {
        "player": Player(name, sampled).describe(make_agent(name)),
        "play": "sampled" if sampled else "greedy",
        "deals": played,
        "deals_per_bin": played / grid.coarse_cells,
        "seed": seed,
        "commit": commit(),
        "command": command,
        "residual": solution.residual,
        "sweeps": solution.sweeps,
        "start_gap": solution.gap,
        "replicates": replicates,
        "standard_error_mean": float(errors[below].mean()),
        "standard_error_largest": float(errors[below].max()),
        "deal_points": sizes[0],
        "deal_probability": sizes[1],
    }
    if measure_bins:
        description["bin_losses"] = bin_losses(rules, outcomes, solution.values)
    equity = MatchEquity(
        rules,
        grid,
        solution.values.astype(np.float32),
        errors.astype(np.float32),
        sizes[0] / sizes[1],
        description,
    )
    if check:
        description["check"] = check_against_play(equity, choose, check, seed)
    return dataclasses.replace(equity, description=description)


def typical_sizes(
    rules: Rules, outcomes: Outcomes, successors: Successors, values: Float64Array
) -> tuple[float, float]:
    """Root mean square of a deal's reward in points and in probability, over deals from scores as training draws them.

    Both are own less the mean of the others'; scores uniform between minus half the target and one below it.
    """
    grid, teams = outcomes.grid, rules.teams
    scores = grid.scores()
    drawn = ((scores >= -(rules.target // 2)) & (scores <= grid.last)).all(axis=1)
    probability, starts = outcomes.probability, outcomes.starts
    points = _centred(outcomes.delta.astype(np.float64))
    size_points = size_chances = 0.0
    for cell in np.flatnonzero(drawn):
        rows = slice(starts[successors.coarse[cell]], starts[successors.coarse[cell] + 1])
        first = successors.first[cell]
        following = successors.after[first : first + rows.stop - rows.start]
        turned = np.where(successors.passes[rows], 1, 0)[:, None]
        chances = np.take_along_axis(
            values[np.maximum(following, 0)], (np.arange(teams) - turned) % teams, axis=1
        )
        won = np.arange(teams) == (-1 - following)[:, None]
        change = _centred(np.where((following < 0)[:, None], won, chances) - values[cell])
        size_points += probability[rows] @ (points[rows] ** 2).mean(axis=1)
        size_chances += probability[rows] @ (change**2).mean(axis=1)
    return float(np.sqrt(size_points / drawn.sum())), float(np.sqrt(size_chances / drawn.sum()))


def _centred(values: Float64Array) -> Float64Array:
    """Each team's value less the mean of the others', [..., teams]."""
    teams = values.shape[-1]
    return values - (values.sum(axis=-1, keepdims=True) - values) / (teams - 1)
