"""How long the solver takes for one position, and how many cards it plays in its search; one core.

    python -m benchmarks.solver [--deals 1000] [--seed 1] [--only SUBSTRING ...] [--cold] [--json PATH]

Positions are of deals that `greedy` bids, discards and plays against itself. Milliseconds of single calls from Python,
a few microseconds of which are the call.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import tyro

import smear_env
from benchmarks.progress import in_turn
from benchmarks.report import console, machine_facts, machine_line, new_table, three_digits, write_json
from smear_env.agents import ANY_SEAT
from smear_env.engine.state import PLAY
from smear_env.engine.tables import compile_tables
from smear_env.solver import new_work
from smear_env.solver.discards import solve_all_discards
from smear_env.solver.max_n import max_n_all
from smear_env.solver.solve import solve_all, solve_all_cards

COLD = """
import time
from smear_env.engine.state import new_states
from smear_env.rules import make_rules
from smear_env.solver import solve, solve_cards, solve_discards, max_n
rules = make_rules("four_point")
began = time.perf_counter()
for call in (solve, solve_cards, solve_discards, max_n):
    call(new_states(0), rules)
print(time.perf_counter() - began)
"""
_GAMES_AT_ONCE = 256


@dataclass(frozen=True)
class Options:
    """Measure milliseconds and searched cards of single positions; print means and percentiles.

    Raises `ValueError` naming the field where a value makes no sense.
    """

    deals: int = 1000
    """Positions of each row; a fifth of them where one takes long (`schmier` from the first lead, max-n, discards)."""
    seed: int = 1
    """Of the deals."""
    only: tuple[str, ...] = ()
    """Measure only rows whose name holds one of these substrings."""
    cold: bool = False
    """Also measure the compilation, with an empty kernel cache."""
    json: str = ""
    """Also write everything to this file."""

    def __post_init__(self) -> None:
        if self.deals < 20:
            raise ValueError(f"deals={self.deals} must be at least 20: the 95th percentile is wanted")


@dataclass(frozen=True)
class Row:
    """One kind of position and one thing asked of it."""

    game: str
    tricks: int
    """Tricks played before, -1 for the bidder's first discard."""
    asked: str
    """value, cards, max-n or discards."""
    target: float = 0.0
    """Milliseconds that the mean is to stay below; 0 none."""
    target_95: float = 0.0
    """The same of the 95th percentile."""
    share: int = 1
    """Of how many positions one is measured."""

    @property
    def name(self) -> str:
        """How the row is called."""
        rules = smear_env.make_rules(self.game)
        cards = rules.players * (rules.hand_size - max(0, self.tricks))
        kind = {"value": "value", "cards": "all cards", "max-n": "max-n", "discards": "discards"}[self.asked]
        return f"{self.game}, {cards} cards: {kind}"


ROWS = (
    Row("four_point", 0, "value", 3.0, 12.0),
    Row("four_point", 0, "cards"),
    Row("four_point", 1, "value", 0.3),
    Row("four_point", 2, "value"),
    Row("four_point", -1, "discards", share=5),
    Row("schmier", 0, "value", 60.0, share=5),
    Row("schmier", 0, "cards", share=5),
    Row("schmier", 1, "value"),
    Row("schmier", 2, "value"),
    Row("schmier", 2, "max-n", share=5),
)


@dataclass(frozen=True)
class Figures:
    """Milliseconds and searched cards of a row's positions."""

    positions: int
    mean: float
    median: float
    ninety_fifth: float
    nodes: float
    nodes_95: float


def positions(row: Row, count: int, seed: int) -> Any:
    """So many states, [count], of the row's kind, at the beginning of a trick."""
    env = smear_env.SelfPlayVectorEnv(_GAMES_AT_ONCE, row.game, seed=seed)
    agent = smear_env.make_agent("greedy")
    agent.reset(env.rules, ANY_SEAT, 0)
    view = env.reset()
    found: list[Any] = []
    while sum(map(len, found)) < count:
        states = env._states
        wanted = (states.phase == PLAY) & (states.trick_number == row.tricks) & (states.in_trick == 0)
        if row.tricks < 0:
            bidder_hand = states.hand[np.arange(len(states)), states.turn]
            most = env.rules.hand_size + env.rules.stock_to_bidder
            wanted = (states.phase != PLAY) & (np.bitwise_count(bidder_hand) == most)
        found.append(states.view(np.ndarray)[wanted])
        view = env.step(agent.act_batch(view.observation, view.mask))
    return np.concatenate(found)[:count]


def measure(row: Row, options: Options) -> Figures:
    """Time each position alone."""
    rules = smear_env.make_rules(row.game)
    states = positions(row, max(20, options.deals // row.share), options.seed)
    kernels = {
        "value": solve_all,
        "cards": solve_all_cards,
        "max-n": max_n_all,
        "discards": solve_all_discards,
    }
    width = rules.teams if row.asked == "max-n" else len(rules.card_names)
    out = np.zeros(1 if row.asked == "value" else (1, width), np.int16)
    kernel, tables, work = kernels[row.asked], compile_tables(rules), new_work().view(np.ndarray)
    kernel(tables, states[:1], work, out)
    times, nodes = [], []
    for index in range(len(states)):
        one = states[index : index + 1]
        before = int(work["nodes"][0])
        began = time.perf_counter_ns()
        kernel(tables, one, work, out)
        times.append((time.perf_counter_ns() - began) / 1e6)
        nodes.append(int(work["nodes"][0]) - before)
    return Figures(
        len(states),
        statistics.fmean(times),
        statistics.median(times),
        float(np.percentile(times, 95)),
        statistics.fmean(nodes),
        float(np.percentile(nodes, 95)),
    )


def verdict(row: Row, found: Figures) -> str:
    """Whether the targets are met; empty where there are none."""
    if not row.target:
        return ""
    met = found.mean < row.target and (not row.target_95 or found.ninety_fifth < row.target_95)
    aims = f"below {row.target:g}" + (f", 95 % {row.target_95:g}" if row.target_95 else "")
    return f"{'met' if met else 'missed'} ({aims})"


def cards_by_value(measured: dict[Row, Figures]) -> dict[str, float]:
    """How many times the mean of one value those of all cards take, by the row of the value."""
    means = {(row.game, row.tricks, row.asked): found.mean for row, found in measured.items()}
    return {
        row.name: means[row.game, row.tricks, "cards"] / found.mean
        for row, found in measured.items()
        if row.asked == "value" and (row.game, row.tricks, "cards") in means
    }


def compilation() -> float:
    """Seconds that all of the solver's kernels take to compile."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        done = subprocess.run(
            [sys.executable, "-c", COLD], env=environment, check=True, stdout=subprocess.PIPE, text=True
        )
    return float(done.stdout)


def run(options: Options) -> dict[str, Any]:
    """Measure, print the table, and return everything as plain values."""
    entered = [
        row for row in ROWS if not options.only or any(part.lower() in row.name for part in options.only)
    ]
    facts = machine_facts()
    columns = ("position", "positions", "mean", "median", "95 %", "cards searched", "95 %", "target")
    table = new_table("milliseconds per position", *columns, left=1)
    measured = {row: measure(row, options) for row in in_turn(entered, "rows")}
    for row, found in measured.items():
        times = map(three_digits, (found.mean, found.median, found.ninety_fifth))
        nodes = (f"{found.nodes:,.0f}", f"{found.nodes_95:,.0f}")
        table.add_row(row.name, str(found.positions), *times, *nodes, verdict(row, found))
    out = console()
    out.print(machine_line(facts))
    out.print(table)
    ratios = cards_by_value(measured)
    for name, ratio in ratios.items():
        out.print(f"{name}: all cards take {ratio:.2f} times the value alone")
    cold = compilation() if options.cold else None
    if cold is not None:
        out.print(f"compilation of all kernels of the solver: {cold:.1f} s")
    return {
        "machine": facts,
        "options": asdict(options),
        "compilation": cold,
        "cards_by_value": ratios,
        "rows": [
            {"name": row.name, "verdict": verdict(row, found), **asdict(found)}
            for row, found in measured.items()
        ],
    }


def main(arguments: list[str]) -> None:
    """Measure by flags, print, and write the JSON that they ask for."""
    options = tyro.cli(Options, prog="python -m benchmarks.solver", args=arguments)
    write_json(options.json, run(options))


if __name__ == "__main__":
    main(sys.argv[1:])
