"""`smear train`: `python -m training.ppo` by a shorter name."""

from __future__ import annotations

from dataclasses import dataclass

from training.cli import Files
from training.config import TrainConfig


@dataclass(frozen=True)
class Options(Files, TrainConfig):
    """Train a policy by self-play PPO; for the shell's completion, which asks for flags and no values."""


def pass_on(words: list[str], prog: str) -> int:
    """Run it by its own flags; SystemExit with a message where it fails."""
    from training.ppo import main

    main(words, prog)
    return 0
