"""The command: which way to play, and a remedy where a part is missing."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from smear_table.store import Store, StoreError
from smear_table.terminal.arguments import Play, check


def play(chosen: Play = Play()) -> int:  # noqa: B008 - frozen
    """Play until the person leaves; the exit status."""
    try:
        store = Store(":memory:" if chosen.tables == Path(":memory:") else chosen.tables)
    except (StoreError, OSError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    try:
        check(chosen)
        return _play(chosen, store)
    except ValueError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    finally:
        store.close()


def _play(chosen: Play, store: Store) -> int:
    if chosen.plain or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return _plainly(chosen, store)
    try:
        from smear_table.terminal.app import run
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] not in ("textual", "rich"):
            raise
        print(
            f"the full screen needs {missing.name}: pip install 'smear-env[play]', or use --plain",
            file=sys.stderr,
        )
        return 1
    status, thinking = run(chosen, store)
    if thinking:
        # A search in compiled code cannot be interrupted, and whatever was done is on disk.
        store.close()
        sys.stdout.flush()
        os._exit(status)
    return status


def _plainly(chosen: Play, store: Store) -> int:
    from smear_table.terminal.plain import Plain

    if isinstance(sys.stdin, io.TextIOWrapper):
        # Bytes that are no text are no choice, which is then said.
        sys.stdin.reconfigure(errors="replace")
    try:
        return Plain(store, sys.stdin, sys.stdout).run(chosen)
    except BrokenPipeError:
        # Nobody listens any more; nor shall the interpreter complain when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1


def main(arguments: Sequence[str] | None = None) -> int:
    """`python -m smear_table.terminal`."""
    try:
        import tyro
    except ModuleNotFoundError:
        print("the command needs tyro: pip install 'smear-env[play]'", file=sys.stderr)
        return 1
    return play(tyro.cli(Play, prog="python -m smear_table.terminal", args=arguments))
