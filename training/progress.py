"""What a run shows while it trains: one live line on a terminal, plain lines now and then where output is piped."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

PLAIN_SECONDS = 15.0
"""Seconds between lines where nobody watches a terminal."""


class RunProgress:
    """Decisions done of all, time left and the figures of the last update; a context manager."""

    def __init__(self, console: Console, total: int, done: int) -> None:
        self._console = console
        self._total = total
        self._start, self._started = done, time.monotonic()
        self._last_line = float("-inf")
        self._live: Progress | None = None
        if console.is_terminal:
            self._live = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.percentage:>3.0f}%"),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                console=console,
            )
            self._task = self._live.add_task("training", total=total, completed=done)

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def show(self, done: int, figures: dict[str, float]) -> None:
        """Report `done` decisions and the figures of the last update, each as `name value`."""
        text = "  ".join(f"{name} {value:.3g}" for name, value in figures.items())
        if self._live:
            self._live.update(self._task, completed=done, description=text)
            return
        now = time.monotonic()
        if now - self._last_line >= PLAIN_SECONDS or done >= self._total:
            self._last_line = now
            elapsed = now - self._started
            rate = (done - self._start) / elapsed if elapsed > 0 else 0
            left = (self._total - done) / rate / 60 if rate else float("nan")
            line = f"{done / self._total:4.0%} {done / 1e6:7.2f} M decisions, {left:4.1f} min left  {text}"
            self._console.print(line, highlight=False, soft_wrap=True)
