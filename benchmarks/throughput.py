"""Decisions per second: the kernels, the environments and their peers in one run, in alternation.

    python -m benchmarks.throughput [--repetitions 5] [--seconds 1] [--only SUBSTRING ...] [--json PATH]

A decision is one player's, with its observation and legal mask (the rules alone and whole deals of peers excepted, as
their names say). Rates are decisions per second of wall time, pinned to as many cores as the row has threads.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import tyro

from benchmarks import ours, peers
from benchmarks.contestants import row_name
from benchmarks.report import Promise, write_json
from benchmarks.rounds import Rounds, measure_rates

TITLE = (
    "decisions per second of wall time, with observation and mask; `rules alone` and `whole deals` without them,\n"
    "`step` inside the call alone, `step and choice` with NumPy choosing, learners' decisions alone for Gymnasium"
)


@dataclass(frozen=True)
class Options(Rounds):
    """Measure decisions per second in alternation; print medians, ranges and the promised ratios.

    Raises `ValueError` naming the field where a value makes no sense.
    """

    threads: tuple[int, ...] = (1, 2)
    """Numbers of threads to measure `SelfPlayVectorEnv` with."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.threads or min(self.threads) < 1:
            raise ValueError(f"threads={self.threads} must be numbers from 1 on")


def promises() -> list[Promise]:
    """What the project says of its speed."""

    def row(way: str, rules: str = "four_point") -> str:
        return row_name(ours.WHO, rules, way)

    def both(way: str, below: str, target: float | None) -> list[Promise]:
        return [Promise(row(way, rules), row(below, rules) if below else "", target) for rules in ours.GAMES]

    step, largest = ours.step_way(ours.BATCH, 1), ours.BATCHES[-1]
    euchre = {way: row_name(peers.SPIEL, "euchre", way) for way in (peers.BUFFER, peers.PLAIN)}
    connect_four = row_name(peers.ZOO, "connect_four_v3", peers.ENV)
    tictactoe = row_name(peers.ZOO, "tictactoe_v3", peers.RAW_ENV)
    belote = row_name(peers.COLVER, "belote", peers.COLVER_DEALS)
    return [
        *both(ours.OBSERVED, ours.BATCH_ORDER, 0.35),
        *both(ours.OBSERVED, ours.WHOLE_GAMES, None),
        *both(step, ours.OBSERVED, 0.6),
        *both(ours.step_way(largest, 2), ours.step_way(largest, 1), 1.7),
        *both(ours.WHOLE_GAMES, "", 20e6),
        *(Promise(row(ours.WHOLE_GAMES, rules), target=27e6, aim=True) for rules in ours.GAMES),
        *(Promise(row(ours.WHOLE_GAMES, rules), belote) for rules in ours.GAMES),
        Promise(row(step), euchre[peers.BUFFER], 30),
        Promise(row(step), euchre[peers.PLAIN], 180),
        Promise(row(step), row_name(peers.RLCARD, "bridge", peers.RLCARD_WAY), 180),
        Promise(row(step), row_name(peers.PGX, "bridge_bidding", peers.PGX_WAY), 25),
        *(Promise(row(ours.ENV, rules), connect_four, 1.5) for rules in ours.GAMES),
        *(Promise(row(ours.RAW_ENV, rules), tictactoe, 1.0) for rules in ours.GAMES),
    ]


def run(options: Options) -> dict[str, Any]:
    """Measure, print the tables, and return everything as plain values."""
    contestants = [*ours.contestants(options.threads), *peers.contestants()]
    return measure_rates(options, contestants, promises(), TITLE)


def main(arguments: list[str]) -> None:
    """Measure by flags, print, and write the JSON that they ask for."""
    options = tyro.cli(Options, prog="python -m benchmarks.throughput", args=arguments)
    write_json(options.json, run(options))


if __name__ == "__main__":
    main(sys.argv[1:])
