"""`smear evaluate`: `python -m training.evaluate` by a shorter name."""

from __future__ import annotations

from training.evaluate import EvaluateOptions as Options
from training.evaluate import main

__all__ = ["Options", "pass_on"]


def pass_on(words: list[str], prog: str) -> int:
    """Run it by its own flags; SystemExit with a message where it fails."""
    main(words, prog)
    return 0
