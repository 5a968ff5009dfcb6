"""What a deal brings: counts of score changes, bidder and bid made, for each combination of bins of scores."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from smear_env import Rules, SelfPlayVectorEnv
from training.arrays import BoolArray, Float64Array, Int64Array
from training.equity.grid import Grid
from training.equity.selfplay import Chooser, play_on
from training.progress import steps

NOBODY = -1
_SPAN = 128
"""Score changes of a deal lie within half of it either way: a bid is at most 30, and points are 8."""


@dataclass(frozen=True)
class Outcomes:
    """Counted deals, one row for each outcome that occurred in a combination of bins; K rows sorted by it.

    Teams are counted clockwise from the dealer's.
    """

    grid: Grid
    coarse: Int64Array
    """[K] combination of bins."""
    delta: Int64Array
    """[K, teams] what each team scored, before any cap."""
    bidding_team: Int64Array
    """[K] team of the bidder, -1 passed out."""
    made: BoolArray
    """[K] the bid was made."""
    count: Float64Array
    """[K] deals."""

    @property
    def starts(self) -> Int64Array:
        """[coarse cells + 1] first row of each combination, and the end."""
        return np.searchsorted(self.coarse, np.arange(self.grid.coarse_cells + 1))

    @property
    def probability(self) -> Float64Array:
        """[K] of each outcome within its combination."""
        total = np.bincount(self.coarse, self.count, minlength=self.grid.coarse_cells)
        return self.count / total[self.coarse]

    def resampled(self, generator: np.random.Generator) -> Outcomes:
        """The counts that another such sample might have brought (Poisson bootstrap); combinations stay filled."""
        drawn = generator.poisson(self.count).astype(np.float64)
        total = np.bincount(self.coarse, drawn, minlength=self.grid.coarse_cells)
        return replace(self, count=np.where(total[self.coarse] > 0, drawn, self.count))

    def merged(self, index: int) -> Outcomes:
        """As if bins `index` and `index + 1` were one, in every team's scores: each gets the outcomes of both."""
        grid = self.grid
        bins = (*grid.bins[: index + 1], *grid.bins[index + 2 :])
        coarser = replace(grid, bins=bins)
        old = np.stack(np.unravel_index(self.coarse, (len(grid.bins),) * grid.teams), axis=-1)
        lowest = np.array(grid.bins)[old]
        # A bin of two scores and one of one score are mixed as they occur among scores, not half and half.
        width = np.array([high - low + 1 for low, high in map(grid.bin_range, range(len(grid.bins)))])
        weight = np.prod(width[old], axis=-1)
        return gathered(coarser, coarser.coarse_cell(lowest), self, self.count * weight)


def gathered(grid: Grid, coarse: Int64Array, given: Outcomes, count: Float64Array) -> Outcomes:
    """Rows of other outcomes under new combinations, equal ones added up."""
    keys = _keys(coarse, given.bidding_team, given.made, given.delta)
    return _from_keys(grid, keys, count)


def collect_outcomes(
    choose: Chooser,
    rules: Rules,
    grid: Grid,
    deals: int,
    seed: int,
    *,
    games: int = 4096,
) -> Outcomes:
    """Play about `deals` deals from every combination of bins, whole shares to each start, and count what they bring.

    A game plays all its deals from one standing, drawn within its bins, and from one dealer; the same number of deals
    from every start, whether short or long. Raises ValueError for fewer than one deal.
    """
    if deals < 1:
        raise ValueError(f"deals={deals} must be at least 1 for each combination of bins")
    generator = np.random.default_rng(seed)
    starts = max(1, min(deals, -(-games // grid.coarse_cells)), min(deals, _bin_starts(grid)))
    share = -(-deals // starts)
    coarse = np.repeat(np.arange(grid.coarse_cells), starts)
    keys: list[Int64Array] = []
    with steps(len(coarse) * share, "deals", "playing", slow=True) as progress:
        for cells in np.array_split(coarse, -(-len(coarse) // games)):
            keys.append(_played(choose, rules, grid, cells, share, generator))
            progress.add(len(cells) * share)
    counted, count = np.unique(np.concatenate(keys), return_counts=True)
    return _from_keys(grid, counted, count.astype(np.float64))


def _bin_starts(grid: Grid) -> int:
    """Standings to start from in a combination, so that wide bins are met at many of their scores."""
    return 8 if grid.coarse_cells < grid.size**grid.teams else 1


def _played(
    choose: Chooser,
    rules: Rules,
    grid: Grid,
    coarse: Int64Array,
    share: int,
    generator: np.random.Generator,
) -> Int64Array:
    """Keys of all deals of some games, which begin in the combinations [N]."""
    teams, count = rules.teams, len(coarse)
    dealers = generator.integers(rules.players, size=count)
    relative = grid.draw_scores(coarse, generator)
    from_dealer = (np.arange(teams) - dealers[:, None]) % teams
    env = SelfPlayVectorEnv(
        count,
        rules,
        seed=int(generator.integers(2**63)),
        episode="deal",
        skip_forced=True,
        start_scores=np.take_along_axis(relative, from_dealer, axis=1),
        dealers=dealers,
    )
    order = (dealers[:, None] + np.arange(teams)) % teams
    keys = []
    for ended in play_on(env, choose, share):
        rows = np.flatnonzero(ended)
        if len(rows):
            deals = env.deals[rows]
            delta = np.take_along_axis(deals.delta[:, :teams].astype(np.int64), order[rows], axis=1)
            bidder = (deals.bidder.astype(np.int64) - deals.dealer) % teams
            bidder = np.where(deals.bidder < 0, NOBODY, bidder)
            keys.append(_keys(coarse[rows], bidder, deals.made != 0, delta))
    return np.concatenate(keys)


def _keys(coarse: Int64Array, bidding_team: Int64Array, made: BoolArray, delta: Int64Array) -> Int64Array:
    """One number for each outcome, rising with the combination."""
    teams = delta.shape[1]
    key = (coarse * (teams + 1) + bidding_team + 1) * 2 + made
    for team in range(teams):
        key = key * _SPAN + delta[:, team] + _SPAN // 2
    return key


def _from_keys(grid: Grid, keys: Int64Array, count: Float64Array) -> Outcomes:
    unique, place = np.unique(keys, return_inverse=True)
    total: Float64Array = np.bincount(place, count).astype(np.float64)
    rest, delta = unique, np.empty((len(unique), grid.teams), np.int64)
    for team in range(grid.teams - 1, -1, -1):
        rest, digit = np.divmod(rest, _SPAN)
        delta[:, team] = digit - _SPAN // 2
    rest, made = np.divmod(rest, 2)
    coarse, bidder = np.divmod(rest, grid.teams + 1)
    return Outcomes(grid, coarse, delta, bidder - 1, made != 0, total)
