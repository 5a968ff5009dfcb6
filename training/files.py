"""Files that a kill leaves whole, and what says which source made them."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import smear_env

SOURCE = Path(__file__).parent
READS_PLAYS = ("figures.py", "progress.py", "ratings.py", "tables.py")
"""Of the evaluation, what comes after the plays, or shows them: a change of it leaves finished plays as they are."""


@cache
def commit() -> str:
    """The commit of the source, `+` behind it where files differ from it; "unknown" outside a checkout.

    It is asked for once, when a run starts: what is committed meanwhile is not what runs.
    """
    command = ["git", "describe", "--always", "--abbrev=40", "--dirty=+", "--exclude=*"]
    try:
        done = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return done.stdout.strip()


@cache
def source_hash() -> str:
    """SHA-256 of what decides how a deal goes: the environment with its agents and their tables, and who plays it."""
    digest = hashlib.sha256()
    for folder in (Path(smear_env.__file__).parent, SOURCE / "evaluation"):
        for path in sorted(folder.rglob("*")):
            # Other files of Python and Numba are made from these; what ships with a wheel has hashes of its own.
            if (
                path.is_file()
                and not (folder.name == "evaluation" and path.name in READS_PLAYS)
                and path.suffix not in (".pyc", ".nbi", ".nbc")
                and "_shipped" not in path.parts
            ):
                digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def write_json(path: Path, result: Mapping[str, Any]) -> None:
    """Write a result as plain JSON, which knows no NaN."""
    write_atomically(path, json.dumps(result, indent=1, allow_nan=False).encode() + b"\n")


def write_figure(path: Path, figure: Any, dpi: int) -> None:
    """Write a matplotlib figure as the path's ending says, the same bytes for the same picture."""
    file, kind = io.BytesIO(), path.suffix.removeprefix(".")
    undated = {"Date": None} if kind == "svg" else {"Software": None}
    figure.savefig(file, format=kind, dpi=dpi, metadata=undated)
    write_atomically(path, file.getvalue())


def report_json(path: Path | None, result: Mapping[str, Any]) -> bool:
    """Write a result where `--json` says; whether that was `-`, standard output, which is to hold nothing else."""
    if path == Path("-"):
        print(json.dumps(result, indent=1, allow_nan=False))
        return True
    if path:
        write_json(path, result)
    return False


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a reader finds the old content or the new, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    with partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
