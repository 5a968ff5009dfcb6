"""What a deal pays in training: the change of each team's probability to win the match, in points.

It is called at every step of thousands of games, few of which have finished a deal, so that it is one kernel over the
rows of `SelfPlayVectorEnv.deals`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numba
import numpy as np

from smear_env import Rules
from training.arrays import BoolArray, Float32Array, Float64Array, Int64Array
from training.equity.table import MatchEquity, load_equity

PASSED_OUT = 1
"""`ended` of a deal that nobody bid in (`SelfPlayVectorEnv.deals`)."""


class EquityRewards:
    """Rewards of finished deals by tables of match equity, one table for each game.

    Args:
        tables: of one preset and one grid, for the rules that occur.
        which: [N] the table of each game; a single table needs none.

    Raises ValueError for tables that do not go together, and for no such table.
    """

    def __init__(self, tables: Sequence[MatchEquity], which: Any = None) -> None:
        if not tables:
            raise ValueError("tables=[] holds no match equity")
        # Bins do not matter once values are known.
        grids = {dataclasses.replace(one.grid, bins=(one.grid.floor,)) for one in tables}
        if len(grids) > 1 or len({one.rules.name for one in tables}) > 1:
            raise ValueError("tables of several presets, floors or ceilings: make them with the same --floor")
        self._grid = tables[0].grid
        self._which = None if which is None else np.ascontiguousarray(which, np.int64)
        if which is None and len(tables) > 1:
            raise ValueError(f"which=None does not say which of {len(tables)} tables a game goes by")
        if self._which is not None and not np.all((self._which >= 0) & (self._which < len(tables))):
            raise ValueError(f"which={which!r} must be 0..{len(tables) - 1}, the table of each game")
        self._values = np.stack([one.table for one in tables])
        self._scales = np.array([one.scale for one in tables])
        self._passes = np.array([one.redeal_passes for one in tables])
        self._paid: Float32Array = np.empty((0, self._grid.teams), np.float32)

    @classmethod
    def for_games(cls, folder: Path | str, rules: Sequence[Rules]) -> EquityRewards:
        """The tables in a folder for games by these rules, one `Rules` for each game; each table is read once."""
        distinct = list(dict.fromkeys(rules))
        row = {one: index for index, one in enumerate(distinct)}
        return cls([load_equity(folder, one) for one in distinct], [row[one] for one in rules])

    def paid(self, deals: Any, ended: BoolArray) -> Float32Array:
        """Rewards [N, teams] float32 of the games whose deal has ended [N], 0 for others; reused by the next call.

        deals: [N] records of `SelfPlayVectorEnv.deals`. A reward is `scale` times the change of the own probability
        less the mean of the others' changes, and sums to 0 over the teams. After the match it is counted as won or
        lost. A deal passed out changes nothing, unless the next seat deals.
        """
        if len(self._paid) != len(ended):
            self._paid = np.zeros((len(ended), self._grid.teams), np.float32)
            if self._which is None:
                self._which = np.zeros(len(ended), np.int64)
        if self._which is None or len(self._which) != len(ended):
            raise ValueError(f"{len(ended)} games, but which= names the tables of others: give one for each")
        grid = self._grid
        _pay(
            deals.view(np.ndarray),
            ended,
            self._which,
            self._values,
            self._scales,
            self._passes,
            grid.floor,
            grid.size,
            self._paid,
        )
        return self._paid


@numba.njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _place(score: int, floor: int, size: int) -> int:
    """A score's index in the table, the nearest if it is outside."""
    index = int(score) - floor
    if index < 0:
        return 0
    return index if index < size else size - 1


@numba.njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _pay(
    deals: Any,
    ended: BoolArray,
    which: Int64Array,
    values: Float32Array,
    scales: Float64Array,
    passes: BoolArray,
    floor: int,
    size: int,
    paid: Float32Array,
) -> None:
    teams = paid.shape[1]
    for i in range(len(ended)):
        for team in range(teams):
            paid[i, team] = 0
        if not ended[i]:
            continue
        deal, table = deals[i], which[i]
        if deal.ended == PASSED_OUT and not passes[table]:
            continue
        dealer = np.int64(deal.dealer) % teams
        following = (dealer + 1) % teams
        before, after = 0, 0
        for place in range(teams):
            before = before * size + _place(deal.scores_before[(dealer + place) % teams], floor, size)
            after = after * size + _place(deal.scores[(following + place) % teams], floor, size)
        total = np.float32(0)
        for team in range(teams):
            if deal.winner >= 0:
                change = np.float32(deal.winner == team)
            else:
                change = values[table, after, (team - following) % teams]
            change -= values[table, before, (team - dealer) % teams]
            paid[i, team] = change
            total += change
        for team in range(teams):
            own = paid[i, team]
            paid[i, team] = (own - (total - own) / (teams - 1)) * scales[table]
