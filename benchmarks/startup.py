"""How long `import smear_env` and a first `reset` take, with compiled kernels at hand and without.

    python -m benchmarks.startup [--cold] [--json PATH]

Each figure is of a fresh interpreter; `--cold` adds a first ever start, with an empty cache (about half a minute).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import tyro

from benchmarks.progress import in_turn
from benchmarks.report import console, machine_facts, machine_line, new_table, spread, write_json

PROGRAM = """
import time
began = time.perf_counter()
import smear_env
imported = time.perf_counter()
env = smear_env.env(rules={rules!r})
env.reset(seed=1)
env.last()
print(imported - began, time.perf_counter() - began)
"""
GAMES = ("four_point", "schmier")
PARTS = ("import", "with the first reset")


@dataclass(frozen=True)
class Options:
    """Measure seconds of fresh interpreters; print medians and ranges.

    Raises `ValueError` naming the field where a value makes no sense.
    """

    repetitions: int = 5
    """Starts of each game; medians are taken over them."""
    cold: bool = False
    """Also start once with an empty kernel cache."""
    json: str = ""
    """Also write everything to this file."""

    def __post_init__(self) -> None:
        if self.repetitions < 1:
            raise ValueError(f"repetitions={self.repetitions} must be at least 1")


def start(rules: str, cache: str | None = None) -> tuple[float, float]:
    """Seconds to the end of the import and to the end of the first reset."""
    environment = dict(os.environ)
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(rules=rules)],
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    imported, ready = map(float, done.stdout.split())
    return imported, ready


def measure(options: Options) -> dict[str, list[tuple[float, float]]]:
    """Seconds of every start, the games in turn."""
    for rules in GAMES:
        start(rules)
    starts: dict[str, list[tuple[float, float]]] = {f"{rules}, warm": [] for rules in GAMES}
    for _ in in_turn(range(options.repetitions), "rounds"):
        for rules in GAMES:
            starts[f"{rules}, warm"].append(start(rules))
    if options.cold:
        with tempfile.TemporaryDirectory() as cache:
            starts[f"{GAMES[0]}, empty cache"] = [start(GAMES[0], cache)]
    return starts


def rows(starts: dict[str, list[tuple[float, float]]]) -> list[dict[str, Any]]:
    """A record for each kind of start and part of it, in seconds."""
    return [
        {"row": f"{kind}: {part}", "unit": "seconds", "figures": list(figures), **asdict(spread(figures))}
        for kind, pairs in starts.items()
        for part, figures in zip(PARTS, zip(*pairs, strict=True), strict=True)
    ]


def main(arguments: Sequence[str]) -> None:
    """Measure by flags, print, and write the JSON that they ask for."""
    options = tyro.cli(Options, prog="python -m benchmarks.startup", args=arguments)
    records = rows(measure(options))
    facts = machine_facts()
    table = new_table("seconds of a fresh interpreter", "start", "median", "min..max", "starts", left=1)
    for record in records:
        low, high = record["low"], record["high"]
        count = str(len(record["figures"]))
        table.add_row(record["row"], f"{record['median']:.2f}", f"{low:.2f}..{high:.2f}", count)
    out = console()
    out.print(machine_line(facts))
    out.print(table)
    write_json(options.json, {"machine": facts, "options": asdict(options), "rows": records})


if __name__ == "__main__":
    main(sys.argv[1:])
