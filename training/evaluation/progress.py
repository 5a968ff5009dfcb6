"""How far an evaluation is: a live bar on a terminal, plain lines now and then where output is piped; on stderr."""

from __future__ import annotations

from typing import Self

from rich.console import Console

from training.progress import StepProgress


class PlayProgress(StepProgress):
    """Deals played of all; a context manager. Times left count what is played now, not what was found."""

    def __init__(self, console: Console | None, total: int, found: int) -> None:
        super().__init__(console, total, "plays", found=found, doing="playing")

    def __enter__(self) -> Self:
        if self._found and self._console:
            left = self._total - self._found
            self._console.print(
                f"{self._found:,} of {self._total:,} plays were there from before, {left:,} to go",
                highlight=False,
            )
        return self
