"""`smear tournament`: `python -m training.tournament` by a shorter name."""

from __future__ import annotations

from training.tournament import TournamentOptions as Options
from training.tournament import main

__all__ = ["Options", "pass_on"]


def pass_on(words: list[str], prog: str) -> int:
    """Run it by its own flags; SystemExit with a message where it fails."""
    main(words, prog)
    return 0
