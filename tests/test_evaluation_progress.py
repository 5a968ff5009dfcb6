"""What an evaluation says while it lasts: nothing of what is over at once, and in a pipe plain lines that are true."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

pytest.importorskip("scipy")

from rich.console import Console

from training import progress
from training.evaluation.progress import PlayProgress


class Clock:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def shown(clock: Clock, seconds: float, *, terminal: bool, found: int = 0) -> str:
    """What 100 plays, 10 at a time, `seconds` in all, leave on a console."""
    file = io.StringIO()
    console: Any = Console(file=file, width=100, force_terminal=terminal)
    with PlayProgress(console, 100 + found, found) as bar:
        for _ in range(10):
            clock.now += seconds / 10
            bar.add(10)
    return file.getvalue()


def test_short_run__shows_nothing(clock: Clock) -> None:
    assert shown(clock, 1.9, terminal=True) == ""
    assert shown(clock, 10, terminal=False) == ""


def test_long_run__has_a_bar_on_a_terminal(clock: Clock) -> None:
    text = shown(clock, 60, terminal=True)
    assert "100 of 100 plays" in text
    assert "\x1b[" in text


def test_long_run__has_true_lines_in_a_pipe(clock: Clock) -> None:
    text = shown(clock, 60, terminal=False, found=100)
    assert "\x1b" not in text
    lines = text.splitlines()
    assert lines[0] == "100 of 200 plays were there from before, 100 to go"
    assert len(lines) == 1 + 3  # not more than one in 15 seconds
    # After 18 of 60 seconds 30 of the 100 plays to go are done; those found earlier are no measure of speed.
    first = re.match(r"\s*(\d+)% (\d+) of 200 plays, ([\d.]+) min, about ([\d.]+) min left", lines[1])
    assert first is not None
    assert first.groups() == ("65", "130", "0.3", "0.7")
