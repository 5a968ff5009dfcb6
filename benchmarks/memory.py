"""Memory: of training with 8,192 games, and of 100,000 games in one `SelfPlayVectorEnv`.

    python -m benchmarks.memory [--games 8192] [--env-games 100000] [--json PATH]

Training's figure is the peak of resident memory of a process that makes a few updates. The env's is what its process
grows by, besides the arrays that `step` hands out or offers: observations, masks, final observations and states,
rewards, flags and deals.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tyro

from benchmarks.progress import in_turn
from benchmarks.report import console, machine_facts, machine_line, new_table, write_json

GAMES = ("four_point", "schmier")
TRAINING_LIMIT, ENV_LIMIT = 3 * 2**30, 200e6
"""Bytes promised."""
_UPDATES = 2
_STATUS = Path("/proc/self/status")


@dataclass(frozen=True)
class Options:
    """What to measure."""

    games: int = 8192
    """Games played at once in training."""
    env_games: int = 100_000
    """Games of the env."""
    json: str = ""
    """Also write everything to this file."""


def training_peak(rules: str, games: int) -> int:
    """Peak of resident memory, bytes, of training with so many games."""
    from smear_env import configs_folder
    from training.config import load_config
    from training.metrics import DealCounts
    from training.trainer import Trainer

    default = load_config(configs_folder() / f"{rules}.toml")
    trainer = Trainer(type(default)(**{**asdict(default), "games": games}))
    for _ in range(_UPDATES):
        trainer.iterate(DealCounts(rules, trainer.free))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def env_growth(rules: str, games: int) -> int:
    """Resident memory, bytes, that an env adds to its process, besides the arrays that it hands out."""
    import smear_env

    small = smear_env.SelfPlayVectorEnv(2, rules, seed=0)
    small.step(small.reset().mask.argmax(axis=1))
    before = _resident()
    env = smear_env.SelfPlayVectorEnv(games, rules, seed=0)
    view = env.reset()
    handed_out = (*env._out,)
    for array in handed_out:
        array.fill(0)  # so that all of it is resident, and can be told from the rest
    view = env.reset()
    env.step(view.mask.argmax(axis=1))
    return _resident() - before - sum(array.nbytes for array in handed_out)


def _resident() -> int:
    """Resident memory of this process, bytes (Linux)."""
    lines = _STATUS.read_text(encoding="ascii").splitlines()
    (line,) = (line for line in lines if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024


def run(options: Options) -> dict[str, Any]:
    """Measure each in a fresh process, print, and return everything as plain values."""
    facts = machine_facts()
    rows: list[dict[str, Any]] = []
    measures = (
        ("training, peak", training_peak, options.games, TRAINING_LIMIT),
        ("SelfPlayVectorEnv, besides its arrays", env_growth, options.env_games, ENV_LIMIT),
    )
    for what, measure, games, limit in in_turn(measures, "measures"):
        for rules in GAMES:
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                found = pool.apply(measure, (rules, games))
            rows.append({"what": what, "rules": rules, "games": games, "bytes": found, "limit": limit})
    table = new_table("resident memory", "what", "game", "games", "MB", "limit MB", "verdict", left=2)
    for row in rows:
        verdict = "met" if row["bytes"] < row["limit"] else "missed"
        table.add_row(
            row["what"],
            row["rules"],
            f"{row['games']:,}",
            f"{row['bytes'] / 1e6:,.0f}",
            f"{row['limit'] / 1e6:,.0f}",
            verdict,
        )
    out = console()
    out.print(machine_line(facts))
    out.print(table)
    return {"machine": facts, "rows": rows}


def main(arguments: list[str]) -> None:
    """Measure by flags, print, and write the JSON that they ask for."""
    options = tyro.cli(Options, prog="python -m benchmarks.memory", args=arguments)
    write_json(options.json, run(options))


if __name__ == "__main__":
    main(sys.argv[1:])
