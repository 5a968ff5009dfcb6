"""Ratings from many tables: one number for each player, in points per deal, with standard errors.

The model: a side's points per deal, its own score change less the mean of the others', are in the mean its player's
rating less the mean rating of the other sides' players. Ratings are least squares over all lineups, each alike, and sum
to 0. They are linear in the points, so each deal has ratings of its own, whose bootstrap over deals gives the errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import bootstrap

from training.arrays import Float64Array
from training.evaluation import figures


class Ratings(NamedTuple):
    """Of each player, in the order given."""

    mean: Float64Array
    """[players] points per deal, summing to 0."""
    error: Float64Array
    """[players] standard errors."""
    low: Float64Array
    """[players] lower end of the 95 % interval."""
    high: Float64Array
    """[players] upper end."""
    by_deal: Float64Array
    """[deals, players] what each deal alone would say."""


def rate(points: Mapping[tuple[Any, ...], Float64Array], players: Sequence[Any], seed: int) -> Ratings:
    """Ratings from the points of lineups, [deals, teams] each, on the same deals.

    A lineup names the player of each team. ValueError if some players never met, even by way of others.
    """
    rows, columns = [], []
    for lineup, earned in points.items():
        numbers = [players.index(player) for player in lineup]
        for team, own in enumerate(numbers):
            row = np.zeros(len(players))
            row[own] += 1
            for other in numbers[:team] + numbers[team + 1 :]:
                row[other] -= 1 / (len(numbers) - 1)
            rows.append(row)
            columns.append(earned[:, team])
    design = np.array(rows)
    if np.linalg.matrix_rank(design) < len(players) - 1:
        raise ValueError(
            "some agents have met no others, even by way of third ones: they cannot be rated together"
        )
    # The least of all least-squares solutions is the one that sums to 0.
    by_deal = np.stack(columns, axis=1) @ np.linalg.pinv(design).T
    drawn = bootstrap(
        (by_deal,),
        np.mean,
        axis=0,
        n_resamples=figures.RESAMPLES,
        batch=50,
        confidence_level=figures.CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(seed),
    )
    ends = drawn.confidence_interval
    return Ratings(by_deal.mean(axis=0), drawn.standard_error, ends.low, ends.high, by_deal)
