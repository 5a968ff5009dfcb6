"""Scores as cells of a table: every score from a floor to a ceiling, and coarser bins of them.

Only scores relative to the dealer's team matter, since seats rotate: a standing is the scores of the dealer's team and
of the others clockwise from it. What a deal brings is counted by bins of scores, as a player's ways change slowly with
them; what a standing is worth is reckoned for every score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from smear_env import MINI, Rules
from training.arrays import Int64Array

COARSE_BINS = {
    2: (-100, -6, -3, 0, 2, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14),
    3: (-100, 0, 7, 12, 15, 17, 18, 19, 20),
}
"""Lowest score of each bin by number of teams, for targets of 15 and 21: single scores where a deal can win."""


@dataclass(frozen=True)
class Grid:
    """Which scores a table holds, and how they are binned; teams counted clockwise from the dealer's.

    Raises ValueError for bins that do not rise or lie outside the scores.
    """

    teams: int
    floor: int
    """Lower scores count as this one."""
    ceiling: int
    """Higher scores, which only a match that goes on beyond the target has, count as this one."""
    bins: tuple[int, ...]
    """Lowest score of each bin, rising, the first being the floor; the last bin ends at `last`."""
    last: int
    """Highest score that a deal is started from, one below the target; those above are binned as this one."""

    def __post_init__(self) -> None:
        if not self.bins or self.bins[0] != self.floor or list(self.bins) != sorted(set(self.bins)):
            raise ValueError(f"bins={self.bins} must rise from floor={self.floor}")
        if not self.floor <= self.bins[-1] <= self.last <= self.ceiling:
            raise ValueError(
                f"bins={self.bins}, last={self.last} and ceiling={self.ceiling} must rise: choose bins below the target"
            )

    @property
    def size(self) -> int:
        """Scores of one team."""
        return self.ceiling - self.floor + 1

    @property
    def cells(self) -> int:
        """Standings in the table."""
        return self.size**self.teams

    @property
    def coarse_cells(self) -> int:
        """Combinations of bins."""
        return len(self.bins) ** self.teams

    @property
    def shape(self) -> tuple[int, ...]:
        """Of a table of values: a score for each team from the dealer's, and the values by team."""
        return (self.size,) * self.teams + (self.teams,)

    def cell(self, scores: Any) -> Int64Array:
        """Number of each standing, scores [..., teams] from the dealer's team on to [...]."""
        return _number(np.clip(scores, self.floor, self.ceiling) - self.floor, self.size)

    def coarse_cell(self, scores: Any) -> Int64Array:
        """Number of its combination of bins, [..., teams] to [...]."""
        clamped = np.clip(scores, self.floor, self.last)
        return _number(np.searchsorted(self.bins, clamped, side="right") - 1, len(self.bins))

    def scores(self) -> Int64Array:
        """[cells, teams] the scores of every standing, in the order of `cell`."""
        grids = np.indices((self.size,) * self.teams)
        return grids.reshape(self.teams, -1).T + self.floor

    def bin_range(self, index: int) -> tuple[int, int]:
        """Lowest and highest score of a bin."""
        above = (*self.bins[1:], self.last + 1)
        return self.bins[index], above[index] - 1

    def draw_scores(self, coarse: Int64Array, generator: np.random.Generator) -> Int64Array:
        """A standing within each combination of bins [n], every score of a bin equally likely: [n, teams]."""
        places = np.stack(np.unravel_index(coarse, (len(self.bins),) * self.teams), axis=-1)
        lowest = np.array(self.bins)
        above = np.array([*self.bins[1:], self.last + 1])
        return generator.integers(lowest[places], above[places])


def make_grid(rules: Rules, *, floor: int | None = None, bins: tuple[int, ...] | None = None) -> Grid:
    """The table of a game: from minus the target on unless another floor is given, bins as measured (docs/equity.md).

    Raises ValueError for `mini`, which is one deal, and for bins that make no sense.
    """
    if rules.name == MINI.name:
        raise ValueError("rules='mini' is a game of one deal, no match: choose four_point or schmier")
    lowest = -rules.target if floor is None else floor
    if not -1000 <= lowest <= 0:
        raise ValueError(f"floor={floor} must lie in -1000..0")
    chosen = bins or _default_bins(rules)
    chosen = (lowest, *(edge for edge in chosen if edge > lowest))
    # A match that goes on beyond the target is one with a tie there, or one that waits for a bid to be made.
    waits = rules.ending in ("made_deal", "made_bid")
    beyond = len(rules.point_names) * (3 if waits else 1)
    return Grid(rules.teams, lowest, rules.target + beyond, chosen, rules.target - 1)


def _default_bins(rules: Rules) -> tuple[int, ...]:
    usual = {2: 15, 3: 21}.get(rules.teams)
    if usual is None or usual != rules.target:
        # Single scores within one deal of the target, and steps of three below.
        near = rules.target - len(rules.point_names)
        return (*range(-rules.target, near, 3), *range(near, rules.target))
    return COARSE_BINS[rules.teams]


def relative_order(dealer_team: Any, teams: int) -> Int64Array:
    """[..., teams] the teams clockwise from the dealer's, for dealers' teams [...]."""
    return (np.asarray(dealer_team)[..., None] + np.arange(teams)) % teams


def _number(places: Any, base: int) -> Int64Array:
    teams = places.shape[-1]
    return places @ (base ** np.arange(teams - 1, -1, -1))
