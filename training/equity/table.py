"""A table of match equity written beside a checkpoint; `smear_env` reads it."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save as save_tensors

from smear_env import EQUITY_FORMAT, EquityError, MatchEquity, load_equity, read_equity
from smear_env import equity_name as table_name
from training.equity.grid import Grid
from training.files import write_atomically, write_json

NORMAL = 1.96
"""Half a 95 % interval in standard errors."""


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
        "format": EQUITY_FORMAT,
        "preset": equity.rules.name,
        "options": equity.rules.options(),
        "grid": grid,
        "scale": equity.scale,
        "tensors": f"{name}.safetensors",
        "tensors_sha256": hashlib.sha256(content).hexdigest(),
    }
    write_json(folder / f"{name}.json", described)
    return folder / f"{name}.json"


def as_blocks(values: Any, grid: Grid) -> Any:
    """A table [cells, ...] with an axis for the score of each team, from the dealer's on."""
    return values.reshape((grid.size,) * grid.teams + values.shape[1:])


__all__ = [
    "NORMAL",
    "EquityError",
    "MatchEquity",
    "as_blocks",
    "load_equity",
    "read_equity",
    "save_equity",
    "table_name",
]
