"""How far an evaluation is: a live bar on a terminal, plain lines now and then where output is piped; on stderr."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

QUIET_SECONDS = 2.0
"""What takes no longer shows nothing."""
PLAIN_SECONDS = 15.0
"""Seconds between lines where nobody watches a terminal."""


class PlayProgress:
    """Deals played of all; a context manager. Times left count what is played now, not what was found."""

    def __init__(self, console: Console | None, total: int, found: int) -> None:
        self._console = console
        self._total, self._found, self._played = total, found, 0
        self._started = time.monotonic()
        self._last_line = self._started
        self._live: Progress | None = None

    def __enter__(self) -> Self:
        if self._found and self._console:
            left = self._total - self._found
            self._console.print(
                f"{self._found:,} of {self._total:,} plays were there from before, {left:,} to go",
                highlight=False,
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def add(self, plays: int) -> None:
        """Count plays that are done."""
        self._played += plays
        if self._console is None:
            return
        now = time.monotonic()
        elapsed = now - self._started
        if self._console.is_terminal:
            self._show_live(elapsed)
        elif now - self._last_line >= PLAIN_SECONDS:
            self._last_line = now
            done, left = self._found + self._played, self._total - self._found - self._played
            rate = self._played / elapsed
            self._console.print(
                f"{done / self._total:4.0%} {done:,} of {self._total:,} plays, {elapsed / 60:.1f} min, about "
                f"{left / rate / 60:.1f} min left",
                highlight=False,
                soft_wrap=True,
            )

    def _show_live(self, elapsed: float) -> None:
        if self._live is None:
            if elapsed < QUIET_SECONDS:
                return
            self._live = Progress(
                TextColumn("playing"),
                BarColumn(),
                TextColumn("{task.completed:,} of {task.total:,} plays"),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(elapsed_when_finished=True),
                console=self._console,
            )
            self._task = self._live.add_task("playing", total=self._total, completed=self._found)
            self._live.start()
        self._live.update(self._task, completed=self._found + self._played)
