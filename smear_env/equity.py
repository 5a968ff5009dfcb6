"""Match equity read: how likely each team is to win the match from every standing, as a table beside a checkpoint.

A table is a JSON that says where it comes from and names the file of numbers beside it, as a checkpoint is. There is
one for each set of rule options: `equity-stock_to_bidder=3.json` in `four_point`, `equity.json` where all are the
preset's. `python -m training.equity` makes them; whoever advises or learns by them reads them here.

Only scores relative to the dealer's team matter, since seats rotate: a standing is the scores of the dealer's team and
of the others clockwise from it. What a deal brings is counted by bins of scores, as a player's ways change slowly with
them; what a standing is worth is reckoned for every score.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors

from smear_env._typing import Float32Array, Float64Array, Int64Array
from smear_env.rules import Rules, make_rules
from smear_env.standing import standings

FORMAT = "smear-equity/1"
NORMAL = 1.96
"""Half a 95 % interval in standard errors."""


class EquityError(ValueError):
    """A table that is missing, damaged or of other rules; the message names file and field."""


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


@dataclass(frozen=True)
class MatchEquity:
    """How likely each team is to win the match from every standing, when one player sits in every seat."""

    rules: Rules
    grid: Grid
    table: Float32Array
    """[cells, teams] probability by team from the dealer's, standings as `Grid.cell` numbers them."""
    standard_error: Float32Array
    """[cells, teams] of sampling."""
    scale: float
    """Points that a probability is worth in rewards, so that both have the same root mean square over deals."""
    description: Mapping[str, Any] = field(default_factory=dict)
    """Where the table comes from and what its checks gave."""

    def values(self, scores: Any, dealers: Any) -> Float32Array:
        """[N, teams] float32: each team's probability at scores [N, teams] with the seats [N] to deal.

        Scores outside the table count as its lowest or highest.
        """
        return self._by_team(self.table, scores, dealers)

    def intervals(self, scores: Any, dealers: Any) -> Float64Array:
        """[N, teams, 2]: 95 % intervals of `values` as far as sampling goes, within 0 and 1."""
        values = self.values(scores, dealers).astype(np.float64)[..., None]
        errors = self._by_team(self.standard_error, scores, dealers)[..., None]
        return np.clip(values + NORMAL * errors * np.array([-1, 1]), 0, 1)

    @property
    def redeal_passes(self) -> bool:
        """Whether after a deal passed out the next seat deals."""
        nothing = np.zeros((1, self.rules.teams), np.int64)
        return bool(standings(self.rules, nothing, nothing, [-1], [False]).deal_passes[0])

    def _by_team(self, table: Float32Array, scores: Any, dealers: Any) -> Float32Array:
        teams = self.rules.teams
        given, team = np.asarray(scores), np.asarray(dealers) % teams
        relative = np.take_along_axis(given, relative_order(team, teams), axis=-1)
        places = (np.arange(teams) - team[..., None]) % teams
        return np.take_along_axis(table[self.grid.cell(relative)], places, axis=-1)


def table_name(rules: Rules) -> str:
    """File name of the table for these rules, without its ending: options that are always given or not the preset's."""
    return "-".join(["equity", *(f"{name}={value}" for name, value in rules.options().items())])


def load_equity(folder: Path | str, rules: Rules) -> MatchEquity:
    """The table for these rules in a folder; EquityError (a ValueError) names what is missing or damaged.

    A dealer who may not pass (`all_pass="dealer_bids"`, half of the games in training) finds the table of the
    preset's auction, where there is none of his own: scores are worth the same.
    """
    wanted = [rules]
    if rules.all_pass == "dealer_bids":
        wanted.append(dataclasses.replace(rules, all_pass=make_rules(rules.name).all_pass))
    paths = [Path(folder) / f"{table_name(one)}.json" for one in wanted]
    path = next((one for one in paths if one.is_file()), paths[0])
    return read_equity(path)


def read_equity(path: Path) -> MatchEquity:
    """The table of a JSON; EquityError names the file and the field."""
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise EquityError(
            f"{path}: no match equity to read: {error}; make it with python -m training.equity"
        ) from error
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise EquityError(f"{path}: field 'format' is not {FORMAT!r}")
    try:
        rules = make_rules(description["preset"], **description["options"])
        grid = Grid(**(description["grid"] | {"bins": tuple(description["grid"]["bins"])}))
        scale = float(description["scale"])
        tensors, digest = description["tensors"], description["tensors_sha256"]
    except (KeyError, TypeError, ValueError) as error:
        raise EquityError(f"{path}: fields preset, options, grid, scale or tensors: {error}") from error
    numbers = path.parent / Path(tensors).name
    try:
        content = numbers.read_bytes()
        arrays = load_tensors(content)
        table, errors = arrays["values"], arrays["standard_error"].astype(np.float32)
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise EquityError(f"{numbers}, field 'tensors' of {path.name}: not readable: {error}") from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise EquityError(
            f"{numbers}: differs from field 'tensors_sha256' of {path.name}: the file is damaged"
        )
    if table.shape != (grid.cells, grid.teams) or table.dtype != np.float32 or errors.shape != table.shape:
        raise EquityError(
            f"{numbers}: values are {table.dtype} {table.shape}, expected float32 {grid.cells, grid.teams}"
        )
    return MatchEquity(rules, grid, table, errors, scale, description)


def relative_order(dealer_team: Any, teams: int) -> Int64Array:
    """[..., teams] the teams clockwise from the dealer's, for dealers' teams [...]."""
    return (np.asarray(dealer_team)[..., None] + np.arange(teams)) % teams


def _number(places: Any, base: int) -> Int64Array:
    teams = places.shape[-1]
    return places @ (base ** np.arange(teams - 1, -1, -1))
