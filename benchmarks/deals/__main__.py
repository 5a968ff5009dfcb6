"""Make the fixed deals: `python -m benchmarks.deals make` writes what is committed, byte for byte.

    python -m benchmarks.deals make [--folder FOLDER]

The order of a deal is the order of its numbers from PCG64, whose raw stream NumPy keeps from release to
release.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import tyro

from smear_env import make_rules
from smear_env._typing import Int8Array
from training.evaluation.deals import write_deals

SETS = {"four_point": (10_000, 20_261_130), "schmier": (2_000, 20_261_131), "mini": (500, 20_261_132)}
"""Deals and seed of each committed set."""


def shuffled(rules_name: str, count: int, seed: int) -> Int8Array:
    """Dealers and orders, int8 [count, 1 + cards], every one equally likely."""
    rules = make_rules(rules_name)
    cards = len(rules.card_names)
    numbers = np.random.PCG64(seed).random_raw(count * (1 + cards)).reshape(count, 1 + cards)
    dealers = numbers[:, :1] % np.uint64(rules.players)
    orders = numbers[:, 1:].argsort(axis=1, kind="stable")
    return np.concatenate([dealers, orders], axis=1, dtype=np.int8, casting="unsafe")


@dataclass(frozen=True)
class Options:
    """Write the committed sets of deals."""

    what: tyro.conf.Positional[Literal["make"]]
    """`make`: draw the deals."""
    folder: Path = Path(__file__).parent
    """Where to write them."""


def main(arguments: Sequence[str]) -> None:
    """Write each set and say what it is."""
    options = tyro.cli(Options, prog="python -m benchmarks.deals", args=arguments)
    for name, (count, seed) in SETS.items():
        described = write_deals(
            options.folder,
            name,
            shuffled(name, count, seed),
            seed=seed,
            command="python -m benchmarks.deals make",
        )
        print(f"{options.folder / name}.npy: {count} deals, sha256 {described['sha256']}")


if __name__ == "__main__":
    main(sys.argv[1:])
