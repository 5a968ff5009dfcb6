"""A table of match-winning probabilities: on disk, looked up, and as files beside a checkpoint.

A table is a JSON that says where it comes from and names the file of numbers beside it, as a checkpoint is. There is
one for each set of rule options: `equity-stock_to_bidder=3.json` in `four_point`, `equity.json` where all are the
preset's.
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
from safetensors.numpy import save as save_tensors

from smear_env import Rules, make_rules, standings
from training.arrays import Float32Array, Float64Array
from training.equity.grid import Grid, relative_order
from training.files import write_atomically, write_json

FORMAT = "smear-equity/1"
NORMAL = 1.96
"""Half a 95 % interval in standard errors."""


class EquityError(ValueError):
    """A table that is missing, damaged or of other rules; the message names file and field."""


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


def save_equity(folder: Path, equity: MatchEquity) -> Path:
    """Write a table into a folder, in place of the one for the same rules; returns the path of its JSON."""
    name = table_name(equity.rules)
    content = save_tensors(
        {"values": equity.table, "standard_error": equity.standard_error.astype(np.float16)}
    )
    write_atomically(folder / f"{name}.safetensors", content)
    grid = dataclasses.asdict(equity.grid) | {"bins": list(equity.grid.bins)}
    described = {
        **equity.description,
        "format": FORMAT,
        "preset": equity.rules.name,
        "options": equity.rules.options(),
        "grid": grid,
        "scale": equity.scale,
        "tensors": f"{name}.safetensors",
        "tensors_sha256": hashlib.sha256(content).hexdigest(),
    }
    write_json(folder / f"{name}.json", described)
    return folder / f"{name}.json"


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


def as_blocks(values: Any, grid: Grid) -> Any:
    """A table [cells, ...] with an axis for the score of each team, from the dealer's on."""
    return values.reshape((grid.size,) * grid.teams + values.shape[1:])
