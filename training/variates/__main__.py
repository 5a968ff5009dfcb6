"""Fit a value for control variates: `python -m training.variates --rules four_point --agents greedy four_point`."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import torch
import tyro

from smear_env import make_rules
from training.files import commit
from training.progress import show_progress
from training.variates.fit import fit_value, played_deals
from training.variates.value import save_value

FOLDER = Path("benchmarks/variates")


@dataclass(frozen=True)
class Fit:
    """Fit the value of hands after the draw on deals of its own, and freeze it."""

    rules: str = "four_point"
    """Preset."""
    agents: tuple[str, ...] = ("greedy",)
    """Who plays the deals: every ordered pair of them an equal share."""
    deals: int = 2_000_000
    """Deals to play."""
    epochs: int = 6
    """Times that each deal is learnt from."""
    seed: int = 4_000_000_007
    """Of deals and network; no evaluation may use it."""
    out: Path | None = None
    """Files to write, without their endings; by default benchmarks/variates/RULES."""


def fit(given: Fit) -> None:
    """Fit and write a value; says how much of the deals' variance it explains."""
    torch.set_num_threads(1)  # threads of a busy machine wait for each other
    rules = make_rules(given.rules)
    inputs, targets = played_deals(given.agents, rules, given.deals, given.seed)
    layers, explained = fit_value(inputs, targets, rules, given.epochs, given.seed)
    stem = given.out or FOLDER / given.rules
    description = {
        "preset": given.rules,
        "command": "python -m training.variates " + shlex.join(sys.argv[1:]),
        "agents": list(given.agents),
        "deals": len(inputs),
        "seed": given.seed,
        "commit": commit(),
        "explained": round(explained, 4),
    }
    digest = save_value(stem, layers, description)
    print(f"{stem}.safetensors: explains {explained:.1%} of the variance of deals held out, sha256 {digest}")


def main() -> None:
    """`python -m training.variates`."""
    show_progress()
    try:
        fit(tyro.cli(Fit, prog="python -m training.variates"))
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
