"""What the commands share when they report: medians and their spread, ratios, machine facts, tables and JSON."""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.contestants import Contestant, version
from benchmarks.workers import Results, allowed_cores

_PACKAGES = ("smear-env", "numpy", "numba", "torch")
_WIDTH = 160
"""Characters of a table that goes into a file or a pipe."""


@dataclass(frozen=True)
class Spread:
    """Median and range of repeated measurements, in their unit."""

    median: float
    low: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    """Median, smallest and largest; ValueError if there are none."""
    if not values:
        raise ValueError("no measurement to take a median of")
    return Spread(statistics.median(values), min(values), max(values))


@dataclass(frozen=True)
class Promise:
    """What the project promises of a row's figures: at least `target` times another row's, repetition by repetition."""

    above: str
    below: str = ""
    """Row to divide by; empty for a promise about the figures themselves."""
    target: float | None = None
    """None where the ratio is only of interest."""
    aim: bool = False
    """Wished for, not promised."""


@dataclass(frozen=True)
class Verdict:
    """A promise beside what was measured."""

    promise: Promise
    ratio: Spread | None
    """None where a row is missing."""
    verdict: str
    """met, missed, not measured; empty where there is no target."""


def judge(promise: Promise, rates: Mapping[str, Sequence[float]]) -> Verdict:
    """Compare row by row, the figures of one repetition with each other; the median of the ratios decides."""
    above = rates.get(promise.above, ())
    below = rates.get(promise.below, ()) if promise.below else [1.0] * len(above)
    if not above or not below:
        return Verdict(promise, None, "not measured")
    ratio = spread([a / b for a, b in zip(above, below, strict=True)])
    if promise.target is None:
        return Verdict(promise, ratio, "")
    return Verdict(promise, ratio, "met" if ratio.median >= promise.target else "missed")


def machine_facts(packages: Sequence[str] = ()) -> dict[str, Any]:
    """Processor, cores, systems and versions, of the packages those that are installed."""
    known = {name: version(name) for name in dict.fromkeys((*_PACKAGES, *packages))}
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: number for name, number in known.items() if number},
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _processor() -> str:
    """The processor's model as the system calls it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or "unknown"


def machine_line(facts: Mapping[str, Any]) -> str:
    """The facts on one line."""
    versions = ", ".join(f"{name} {number}" for name, number in facts["versions"].items())
    load = "" if facts["load"] is None else f", load {facts['load']:.2f}"
    return (
        f"{facts['processor']}, {facts['cores']} cores{load}; {facts['system']}; Python {facts['python']}; "
        f"{versions}; {facts['time']}"
    )


def console() -> Console:
    """Where tables are printed: as wide as the terminal, or wide enough where there is none."""
    return Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False)


def new_table(title: str, *columns: str, left: int) -> Table:
    """A table whose first `left` columns and last one are text, and the others numbers."""
    table = Table(title=title, title_justify="left")
    for index, column in enumerate(columns):
        text = index < left or index == len(columns) - 1
        table.add_column(column, justify="left" if text else "right", no_wrap=not text)
    return table


def rate(value: float) -> str:
    """A rate in three digits with its thousands or millions: 27.3 M, 141 k, 812."""
    for size, unit in ((1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{three_digits(value / size)}{unit}"
    return three_digits(value)


def three_digits(value: float) -> str:
    """A positive number to three digits without exponent: 0.357, 1.84, 27.3, 181, 1204."""
    decimals = 3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{decimals}f}"


def rates_table(
    title: str, contestants: Sequence[Contestant], results: Results, rates: Mapping[str, Sequence[float]]
) -> Table:
    """Every row with its median rate and range, or why it has none."""
    table = new_table(title, "", "game", "way", "median", "min..max", "remark", left=3)
    before = ""
    for one in contestants:
        for way, row in zip(one.ways, one.rows, strict=True):
            if one.who != before:
                table.add_section()
            measured = spread(rates[row]) if row in rates else None
            table.add_row(
                "" if one.who == before else f"{one.who} {version(one.package)}".rstrip(),
                one.game,
                way,
                "-" if measured is None else rate(measured.median),
                "-" if measured is None else f"{rate(measured.low)}..{rate(measured.high)}",
                remark(one, results),
            )
            before = one.who
    return table


def remark(contestant: Contestant, results: Results) -> str:
    """Why a contestant has no figures, and what else is to be said of them."""
    cores = len(allowed_cores())
    crowded = f"on {cores} core only" if contestant.cores > cores else ""
    return "; ".join(filter(None, (results.failures.get(contestant, ""), crowded, contestant.remark)))


def ratio_table(verdicts: Sequence[Verdict]) -> Table:
    """Each promise with its median ratio, range, target and whether it is met."""
    table = new_table(
        "ratios within a repetition", "row", "divided by", "median", "min..max", "target", "verdict", left=2
    )
    for one in verdicts:
        shown = three_digits if one.promise.below else rate
        measured = one.ratio
        table.add_row(
            one.promise.above,
            one.promise.below or "-",
            "-" if measured is None else shown(measured.median),
            "-" if measured is None else f"{shown(measured.low)}..{shown(measured.high)}",
            _target(one.promise, shown(one.promise.target) if one.promise.target is not None else ""),
            one.verdict,
        )
    return table


def _target(promise: Promise, shown: str) -> str:
    return f"aim {shown}" if promise.aim else shown or "-"


def row_record(contestant: Contestant, row: str, unit: str, remark: str) -> dict[str, Any]:
    """What a row is, as plain values; its figures come beside it."""
    return {
        "row": row,
        "package": contestant.package,
        "version": version(contestant.package),
        "cores": contestant.cores,
        "unit": unit,
        "remark": remark,
    }


def write_json(path: str, document: Mapping[str, Any]) -> None:
    """Write the document as JSON; nothing is done for an empty path."""
    if path:
        Path(path).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
