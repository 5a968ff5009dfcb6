"""A command that measures rates: rounds over all contestants in alternation, then tables, ratios and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.contestants import Contestant, selected
from benchmarks.report import (
    Promise,
    console,
    judge,
    machine_facts,
    machine_line,
    rates_table,
    ratio_table,
    remark,
    row_record,
    spread,
)
from benchmarks.workers import alternate

_WARM_UP = 0.2
"""Share of a measurement's seconds that the round before the first takes."""


@dataclass(frozen=True)
class Rounds:
    """Raises `ValueError` naming the field where a value makes no sense."""

    repetitions: int = 5
    """Rounds over all contestants; medians are taken over them."""
    seconds: float = 1.0
    """Wall time of one measurement; what has begun is finished."""
    only: tuple[str, ...] = ()
    """Measure only rows whose name holds one of these substrings, such as `four_point: step` or `OpenSpiel`."""
    json: str = ""
    """Also write everything to this file."""

    def __post_init__(self) -> None:
        if self.repetitions < 1:
            raise ValueError(f"repetitions={self.repetitions} must be at least 1")
        if self.seconds <= 0:
            raise ValueError(f"seconds={self.seconds} must be positive")


def measure_rates(
    options: Rounds,
    everything: Sequence[Contestant],
    promises: Sequence[Promise],
    title: str,
    unit: str = "decisions/s",
) -> dict[str, Any]:
    """Measure the contestants that are asked for, print the tables, and return everything as plain values."""
    contestants = selected(everything, options.only)
    facts = machine_facts([one.package for one in contestants])
    results = alternate(contestants, options.repetitions, options.seconds, options.seconds * _WARM_UP)
    rates = results.by_row()
    rows = {row for one in contestants for row in one.rows}
    verdicts = [judge(promise, rates) for promise in promises if promise.above in rows]
    out = console()
    out.print(machine_line(facts))
    out.print(rates_table(title, contestants, results, rates))
    if verdicts:
        out.print(ratio_table(verdicts))
    return {
        "machine": facts,
        "options": asdict(options),
        "rows": [
            row_record(one, row, unit, remark(one, results))
            | ({"figures": rates[row]} | asdict(spread(rates[row])) if row in rates else {})
            for one in contestants
            for row in one.rows
        ],
        "ratios": [asdict(verdict) for verdict in verdicts],
    }
