"""How long one decision of a policy takes: on NumPy as it is shipped, and on torch, one thread each.

    python -m benchmarks.latency [--calls 2000] [--rounds 10] [--only SUBSTRING ...] [--json PATH]

Microseconds per decision, suits ordered and the choice made, on positions of games that `greedy` plays; for a batch,
the time of a call divided by its rows. A matrix-vector product on the same core stands beside them for scale.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, cycle, product
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from rich.table import Table

import smear_env
from benchmarks.contestants import Contestant, Measure, selected
from benchmarks.report import (
    console,
    machine_facts,
    machine_line,
    new_table,
    row_record,
    three_digits,
    write_json,
)
from benchmarks.workers import Results, alternate
from smear_env.agents import ANY_SEAT

UNIT = "microseconds/decision"
GAMES = ("four_point", "schmier")
FRESH = ((256,), (256, 256), (256, 256, 256))
"""Hidden layers of the policies with random weights."""
BATCHES = (1, 256)
TARGET = 60.0
"""Microseconds that the median of a single decision on NumPy is to stay below."""
PRODUCT = "product of 256 x 256 with a vector, float32"

_WARM_UP = 20
"""Calls of each row in the round before the first."""
_BATCHES_OF_POSITIONS = 8
_BETWEEN = 5
"""Decisions of each game from one batch of positions to the next: another seat, in the end another phase."""

Position = tuple[Any, Any]
"""Observation and mask, [d] and [n] int8, or [B, d] and [B, n]."""


@dataclass(frozen=True)
class Options:
    """Measure microseconds per decision of policies; print medians and percentiles.

    Raises `ValueError` naming the field where a value makes no sense.
    """

    calls: int = 2000
    """Timed calls of each row in all."""
    rounds: int = 10
    """The calls are made in so many rounds over all rows."""
    only: tuple[str, ...] = ()
    """Measure only rows whose name holds one of these substrings, such as `NumPy four_point` or `batch 1`."""
    json: str = ""
    """Also write everything to this file."""

    def __post_init__(self) -> None:
        if not 1 <= self.rounds <= self.calls:
            raise ValueError(f"rounds={self.rounds} must be in 1..{self.calls}, the number of calls")


def contestants() -> list[Contestant]:
    """Shipped and fresh policies of both games, single and batched, on NumPy and on torch."""
    ways = {"NumPy": numpy_policy, "torch": torch_policy}
    return [
        *(
            Contestant(
                who,
                rules,
                (f"{_shown(hidden)}, batch {batch}",),
                partial(make, rules, hidden, batch),
                package,
            )
            for (who, make), package in zip(ways.items(), ("numpy", "torch"), strict=True)
            for rules, hidden, batch in product(GAMES, ((), *FRESH), BATCHES)
        ),
        Contestant("NumPy", "alone", (PRODUCT,), numpy_product, "numpy"),
    ]


def _shown(hidden: tuple[int, ...]) -> str:
    return f"fresh {' x '.join(map(str, hidden))}" if hidden else "shipped"


def play_positions(rules: str, batch: int) -> list[Position]:
    """Positions of games that `greedy` plays against itself, in batches of `batch`; single for 1, without that axis."""
    env = smear_env.SelfPlayVectorEnv(max(BATCHES), rules, seed=1, copy=True)
    agent = smear_env.make_agent("greedy")
    agent.reset(env.rules, ANY_SEAT, 0)
    view = env.reset()
    taken = []
    for _ in range(_BATCHES_OF_POSITIONS):
        for _ in range(_BETWEEN):
            view = env.step(agent.act_batch(view.observation, view.mask))
        taken.append((view.observation, view.mask))
    if batch == 1:
        return list(chain.from_iterable(zip(*pair, strict=True) for pair in taken))
    return [(observation[:batch], mask[:batch]) for observation, mask in taken]


def timed(call: Callable[[Any, Any], Any], positions: Sequence[Position], decisions: int) -> Measure:
    """Microseconds per decision of each of a number of calls, which go on through the positions."""
    upcoming = cycle(positions)

    def measure(calls: float) -> list[float]:
        taken = []
        for _ in range(round(calls)):
            observation, mask = next(upcoming)
            began = time.perf_counter_ns()
            call(observation, mask)
            taken.append((time.perf_counter_ns() - began) / 1e3 / decisions)
        return taken

    return measure


def numpy_policy(rules: str, hidden: tuple[int, ...], batch: int) -> Measure:
    """`PolicyAgent.act`, or `act_batch`, of the shipped policy or of a fresh one with these hidden layers."""
    with tempfile.TemporaryDirectory() as folder:
        policy = smear_env.load_policy(fresh_policy(Path(folder), rules, hidden) if hidden else rules)
    policy.reset(smear_env.make_rules(rules), ANY_SEAT, 0)
    call = policy.act if batch == 1 else policy.act_batch
    return timed(call, play_positions(rules, batch), batch)


def torch_policy(rules: str, hidden: tuple[int, ...], batch: int) -> Measure:
    """The same decision by the trainer's network on one thread."""
    import torch

    from training.network import load_network

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        shipped = smear_env.checkpoints_folder() / rules
        network = load_network(fresh_policy(Path(folder), rules, hidden) if hidden else shipped)
    played = smear_env.make_rules(rules)

    @torch.inference_mode()
    def act(observation: Any, mask: Any) -> Any:
        seen = smear_env.order_suits(np.atleast_2d(observation), np.atleast_2d(mask), played)
        chances = network(torch.from_numpy(seen.observation), torch.from_numpy(seen.mask))
        return smear_env.original_actions(chances.argmax(dim=-1).numpy(), seen.order, played)

    return timed(act, play_positions(rules, batch), batch)


def fresh_policy(folder: Path, rules: str, hidden: tuple[int, ...]) -> Path:
    """A checkpoint with random weights; returns its folder."""
    from training.checkpoint import save_policy
    from training.config import TrainConfig
    from training.network import Network

    config = TrainConfig(rules=rules, hidden=hidden)
    network = Network(rules, hidden, config.critic_hidden, smear_env.make_rules(rules).teams)
    save_policy(folder, network, config, 0, [])
    return folder


def numpy_product() -> Measure:
    """A 256 x 256 matrix times a vector, a new one at each call."""
    generator = np.random.default_rng(0)
    matrix = generator.standard_normal((256, 256), np.float32)
    vectors = generator.standard_normal((64, 256), np.float32)
    return timed(lambda vector, _: matrix @ vector, [(vector, None) for vector in vectors], 1)


@dataclass(frozen=True)
class Latency:
    """Microseconds per decision over the calls of a row."""

    median: float
    fifth: float
    ninety_fifth: float


def latency(times: Sequence[float]) -> Latency:
    """Median, 5th and 95th percentile of at least two times."""
    twentieths = statistics.quantiles(times, n=20, method="inclusive")
    return Latency(statistics.median(times), twentieths[0], twentieths[-1])


def verdict(contestant: Contestant, measured: Latency | None) -> str:
    """Whether a single decision on NumPy stays below the target; empty for rows that promise nothing."""
    if contestant.who != "NumPy" or not contestant.ways[0].endswith("batch 1"):
        return ""
    if measured is None:
        return "not measured"
    return f"{'met' if measured.median < TARGET else 'missed'} (below {TARGET:.0f})"


def times_table(measured: dict[Contestant, Latency | None], results: Results) -> Table:
    """Every row with its median and percentiles, or why it has none."""
    columns = ("", "game", "policy", "median", "5 %", "95 %", "target")
    table = new_table("microseconds per decision", *columns, left=3)
    for one, found in measured.items():
        figures = (found.median, found.fifth, found.ninety_fifth) if found else ()
        shown = [three_digits(figure) for figure in figures] or ["-"] * 3
        remark = results.failures.get(one) or verdict(one, found)
        table.add_row(one.who, one.game, one.ways[0], *shown, remark)
    return table


def run(options: Options) -> dict[str, Any]:
    """Measure, print the table, and return everything as plain values."""
    entered = selected(contestants(), options.only)
    calls = -(-options.calls // options.rounds)
    facts = machine_facts(["safetensors"])
    results = alternate(entered, options.rounds, calls, warm_up=min(calls, _WARM_UP))
    times = {one: list(chain.from_iterable(results.figures.get(one, ()))) for one in entered}
    measured = {one: latency(times[one]) if times[one] else None for one in entered}
    out = console()
    out.print(machine_line(facts))
    out.print(times_table(measured, results))
    return {
        "machine": facts,
        "options": asdict(options),
        "rows": [
            row_record(one, one.rows[0], UNIT, results.failures.get(one, ""))
            | {"calls": len(times[one]), "verdict": verdict(one, found)}
            | (asdict(found) if found else {})
            for one, found in measured.items()
        ],
    }


def main(arguments: list[str]) -> None:
    """Measure by flags, print, and write the JSON that they ask for."""
    options = tyro.cli(Options, prog="python -m benchmarks.latency", args=arguments)
    write_json(options.json, run(options))


if __name__ == "__main__":
    main(sys.argv[1:])
