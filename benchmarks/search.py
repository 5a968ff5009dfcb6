"""How long players that search take for a whole set of duplicate deals, one core.

    python -m benchmarks.search [--agents pimc-20 pimc-100] [--against expert] [--rules four_point] [--sets 40]

Seconds of a set: a fresh deal once for every side, the agent in all seats of one team, `against` in the others.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tyro

from benchmarks.progress import in_turn
from benchmarks.report import console, machine_facts, machine_line, new_table, three_digits, write_json
from smear_env import make_agent, make_rules
from training.evaluate import compare

PROMISED, LIMIT = ("pimc-100", "four_point"), 6.0
"""Who promises to take less than so many seconds a pair in the mean."""
_AT_ONCE = 2


@dataclass(frozen=True)
class Options:
    """Measure seconds of sets of duplicate deals; print means and percentiles.

    Raises `ValueError` naming the field where a value makes no sense.
    """

    agents: tuple[str, ...] = ("expert", "pimc-20", "pimc-100", "ismcts-500", "clairvoyant")
    """Players to measure."""
    against: str = "expert"
    """Their opponent; its time counts too."""
    rules: str = "four_point"
    """Preset to play."""
    sets: int = 40
    """Sets of deals for each agent, the same ones for all: pairs with two teams, triples with three."""
    seed: int = 1
    """Of the deals."""
    json: str = ""
    """Also write everything to this file."""

    def __post_init__(self) -> None:
        if self.sets < _AT_ONCE or self.sets % _AT_ONCE:
            raise ValueError(f"sets={self.sets} must be an even number from {_AT_ONCE} on")


def seconds_of(name: str, options: Options) -> list[float]:
    """Seconds of each set, means over two at a time."""
    agent, against, rules = make_agent(name), make_agent(options.against), make_rules(options.rules)
    compare(agent, against, rules, _AT_ONCE, options.seed)  # compiles what is not yet
    found = []
    for number in range(options.sets // _AT_ONCE):
        began = time.perf_counter()
        compare(agent, against, rules, _AT_ONCE, options.seed + 1 + number)
        found.append((time.perf_counter() - began) / _AT_ONCE)
    return found


def verdict(name: str, options: Options, mean: float) -> str:
    """Whether a promise is kept, "" where nothing is promised."""
    if (name, options.rules) != PROMISED:
        return ""
    return f"{'met' if mean < LIMIT else 'missed'} (below {LIMIT:g})"


def run(options: Options) -> dict[str, Any]:
    """Measure, print the table, and return everything as plain values."""
    facts = machine_facts(["smear-env"])
    out = console()
    out.print(machine_line(facts))
    table = new_table(
        f"seconds of a set of duplicate deals, {options.rules}, against {options.against}",
        *("agent", "mean", "median", "95 %", "target"),
        left=1,
    )
    rows = []
    for name in in_turn(options.agents, "agents"):
        seconds = seconds_of(name, options)
        figures = {
            "mean": float(np.mean(seconds)),
            "median": float(np.median(seconds)),
            "high": float(np.quantile(seconds, 0.95)),
        }
        table.add_row(name, *map(three_digits, figures.values()), verdict(name, options, figures["mean"]))
        rows.append({"agent": name, "seconds": seconds, **figures})
    out.print(table)
    return {"machine": facts, "rules": options.rules, "against": options.against, "rows": rows}


def main(arguments: Sequence[str]) -> None:
    """Measure by flags, print, and write the JSON that they ask for."""
    options = tyro.cli(Options, prog="python -m benchmarks.search", args=list(arguments))
    write_json(options.json, run(options))


if __name__ == "__main__":
    main(sys.argv[1:])
