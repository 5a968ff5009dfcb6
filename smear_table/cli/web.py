"""`smear web`: the web table, which is a package of its own."""

from __future__ import annotations

from smear_table.web.server import Web as Options
from smear_table.web.server import main

__all__ = ["Options", "pass_on"]


def pass_on(words: list[str], prog: str) -> int:
    """Serve by the flags of `python -m smear_table.web`."""
    return main(words, prog)
