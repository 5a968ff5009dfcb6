"""Which scores a table of a game holds and how they are binned, as measured (docs/equity.md)."""

from __future__ import annotations

from smear_env import MINI, Rules, relative_order
from smear_env import ScoreGrid as Grid

COARSE_BINS = {
    2: (-100, -6, -3, 0, 2, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14),
    3: (-100, 0, 7, 12, 15, 17, 18, 19, 20),
}
"""Lowest score of each bin by number of teams, for targets of 15 and 21: single scores where a deal can win."""


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


__all__ = ["COARSE_BINS", "Grid", "make_grid", "relative_order"]
