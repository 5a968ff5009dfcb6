"""What is shown while something lasts: a live line on a terminal, plain lines now and then where output is piped."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Self, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

QUIET_SECONDS = 2.0
"""What takes no longer shows nothing."""
PLAIN_SECONDS = 15.0
"""Seconds between lines where nobody watches a terminal."""


_T = TypeVar("_T")
_SHOWN_ON: ContextVar[Console | None] = ContextVar("shown_on", default=None)


def show_progress(console: Console | None = None) -> None:
    """Let `counted` show how far it is from now on, on stderr unless told otherwise: what a command says first."""
    _SHOWN_ON.set(console or Console(stderr=True))


def steps(total: int, unit: str, doing: str = "", *, slow: bool = False) -> StepProgress:
    """Progress of what is no loop over items, shown where a command has asked for it."""
    return StepProgress(_SHOWN_ON.get(), total, unit, doing=doing, slow=slow)


def counted(
    items: Iterable[_T], total: int, unit: str, doing: str = "", *, slow: bool = False
) -> Iterator[_T]:
    """The items, and how many of them are done, where a command has asked for it; functions show nothing by themselves.

    slow: an item may last longer than `QUIET_SECONDS`, so that the live line stands from the first on.
    """
    with steps(total, unit, doing, slow=slow) as progress:
        for item in items:
            yield item
            progress.add()


@contextmanager
def waiting(doing: str) -> Iterator[None]:
    """Say what is being done, where a command has asked for it and nothing can tell how long it takes."""
    console = _SHOWN_ON.get()
    if console is None:
        yield
    elif console.is_terminal:
        with console.status(doing):
            yield
    else:
        console.print(f"{doing}, for as long as it takes", highlight=False, soft_wrap=True)
        yield


class StepProgress:
    """Steps done of all, with the time left; a context manager. Times left count what is done now, not what was found.

    Args:
        console: where to show it, on stderr as a rule; None to show nothing.
        total: steps in all.
        unit: what is counted, as `plays`.
        found: of them there from before.
        doing: what is done, for the live line.
        slow: the live line stands from the first moment on.
    """

    def __init__(
        self,
        console: Console | None,
        total: int,
        unit: str,
        *,
        found: int = 0,
        doing: str = "",
        slow: bool = False,
    ) -> None:
        self._console = console
        self._total, self._found, self._done = total, found, 0
        self._unit, self._doing = unit, doing or unit
        self._quiet = 0.0 if slow else QUIET_SECONDS
        self._started = time.monotonic()
        self._last_line = self._started
        self._live: Progress | None = None

    def __enter__(self) -> Self:
        if self._console and self._console.is_terminal and not self._quiet:
            self._show_live(0.0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def show(self, done: int, total: int | None = None) -> None:
        """So many steps are done, those found included; of so many, where that is known only now."""
        self._total = self._total if total is None else total
        self.add(done - self._found - self._done)

    def add(self, steps: int = 1) -> None:
        """Count steps that are done."""
        self._done += steps
        if self._console is None:
            return
        now = time.monotonic()
        elapsed = now - self._started
        if self._console.is_terminal:
            self._show_live(elapsed)
        elif now - self._last_line >= PLAIN_SECONDS and self._found + self._done < self._total:
            self._last_line = now
            done = self._found + self._done
            left = (self._total - done) * elapsed / max(1, self._done)
            self._console.print(
                f"{done / self._total:4.0%} {done:,} of {self._total:,} {self._unit}, {elapsed / 60:.1f} min, about "
                f"{left / 60:.1f} min left",
                highlight=False,
                soft_wrap=True,
            )

    def _show_live(self, elapsed: float) -> None:
        if self._live is None:
            if elapsed < self._quiet:
                return
            self._live = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn(f"{{task.completed:,}} of {{task.total:,}} {self._unit}"),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(elapsed_when_finished=True),
                console=self._console,
                transient=True,
            )
            self._task = self._live.add_task(self._doing, total=self._total, completed=self._found)
            self._live.start()
        self._live.update(self._task, completed=self._found + self._done, total=self._total)


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
