"""What commands show while they last: only where a command has asked for it, plain lines on no terminal."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

pytest.importorskip("rich")

from rich.console import Console

from benchmarks import progress as measured
from smear_env import _progress as plain
from training import progress


@pytest.fixture(autouse=True)
def nobody_asks() -> Iterator[None]:
    """A command that another test has run in this process would go on being asked for."""
    token = progress._SHOWN_ON.set(None)
    yield
    progress._SHOWN_ON.reset(token)


class Clock:
    """Ten seconds pass whenever it is looked at."""

    now = 0.0

    def monotonic(self) -> float:
        self.now += 10
        return self.now


def shown(monkeypatch: pytest.MonkeyPatch, *, terminal: bool, slow: bool = False) -> str:
    file = io.StringIO()
    monkeypatch.setattr(progress, "time", Clock())
    token = progress._SHOWN_ON.set(Console(file=file, width=100, force_terminal=terminal))
    try:
        assert list(progress.counted(range(5), 5, "tables", "solving", slow=slow)) == list(range(5))
    finally:
        progress._SHOWN_ON.reset(token)
    return file.getvalue()


def test_counted__shows_nothing_unless_a_command_asks(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(progress.counted(range(5), 5, "tables")) == list(range(5))
    assert capsys.readouterr() == ("", "")


def test_counted__has_plain_lines_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(monkeypatch, terminal=False).splitlines()
    assert lines == [
        " 40% 2 of 5 tables, 0.3 min, about 0.5 min left",
        " 80% 4 of 5 tables, 0.7 min, about 0.2 min left",
    ]


def test_counted__has_a_live_line_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, terminal=True, slow=True)
    assert "0 of 5 tables" in text
    assert "5 of 5 tables" in text


@pytest.mark.parametrize("module", [plain, measured])
def test_plain_lines__say_what_is_left(
    module: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "time", Clock())
    items = (
        plain.counted(range(4), 4, "matches") if module is plain else measured.in_turn(range(4), "matches")
    )
    assert list(items) == list(range(4))
    out, err = capsys.readouterr()
    assert out == ""
    assert "2 of 4 matches" in err
    assert "min left" in err
    assert "4 of 4" not in err


@pytest.mark.parametrize("terminal", [False, True])
def test_waiting__says_what_is_done_where_a_command_asks(
    terminal: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress.waiting("solving"):
        pass
    assert capsys.readouterr() == ("", "")
    file = io.StringIO()
    token = progress._SHOWN_ON.set(Console(file=file, width=100, force_terminal=terminal))
    try:
        with progress.waiting("solving"):
            pass
    finally:
        progress._SHOWN_ON.reset(token)
    assert "solving" in file.getvalue()
    assert terminal == ("\x1b" in file.getvalue())
