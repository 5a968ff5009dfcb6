"""`smear`: one command for everything that a person does with this package.

Each subcommand is a module that is imported when it is asked for, so that `smear --help` answers at once and needs
no torch. `play` and `web` are the tables, `watch` and `show` are for looking, `advise` answers what to do in a
position, `record`, `evaluate`, `tournament` and `train` are the work.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit status: 0, 1 where it failed, 2 for flags that make no sense, 130 when stopped."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        from smear_table.cli.commands import run
    except ModuleNotFoundError as missing:
        if missing.name not in ("tyro", "rich"):
            raise
        print(f"smear needs {missing.name}: pip install 'smear-env[play]'", file=sys.stderr)
        return 1
    return run(words)
