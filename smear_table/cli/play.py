"""`smear play`: the terminal table, which is a package of its own."""

from __future__ import annotations

from smear_table.terminal import Play as Options
from smear_table.terminal import play as run

__all__ = ["Options", "run"]
