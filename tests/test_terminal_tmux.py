"""The command in a real terminal, tmux: a whole deal of each game by keys, left cleanly, gone on with."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("textual")
pytest.importorskip("tyro")

pytestmark = pytest.mark.integration

SECONDS = 180.0
"""A first start compiles kernels."""


class Terminal:
    """A tmux server of its own with one window, in which a shell runs the command and says its status."""

    def __init__(self, tmux: str, folder: Path, columns: int = 80, lines: int = 24) -> None:
        self._tmux = [tmux, "-S", str(folder / "socket"), "-f", "/dev/null"]
        self._folder = folder
        self._run("new-session", "-d", "-x", str(columns), "-y", str(lines), "sh")

    def _run(self, *words: str) -> str:
        environment = {**os.environ, "PS1": "$ ", "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            [*self._tmux, *words], capture_output=True, text=True, check=True, timeout=30, env=environment
        )
        return done.stdout

    def start(self, *words: str) -> None:
        """Type the command."""
        tables = self._folder / "tables.sqlite"
        command = (
            f"{sys.executable} -m smear_table.terminal --tables {tables} {' '.join(words)}; echo left $?"
        )
        self.keys(command, "Enter")

    def keys(self, *keys: str) -> None:
        self._run("send-keys", *keys)

    def text(self) -> str:
        return self._run("capture-pane", "-p")

    def asks(self, what: str) -> str:
        return self._run("display-message", "-p", what).strip()

    def until(self, ready: Callable[[str], bool]) -> str:
        ends = time.monotonic() + SECONDS
        while time.monotonic() < ends:
            text = self.text()
            if ready(text):
                return text
            time.sleep(0.05)
        raise AssertionError(f"waited in vain; on the screen:\n{self.text()}")

    def hang_up(self) -> None:
        """Close the window, as one closes a terminal."""
        self._run("kill-pane")

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, check=False)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    tmux = shutil.which("tmux")
    if tmux is None:
        pytest.fail("no tmux: install Debian's tmux")
    found = Terminal(tmux, tmp_path)
    yield found
    found.close()


def awaited(text: str) -> str | None:
    """What the person is asked for, None while others act."""
    asked = re.search(r"▶ (Your bid|Name trump|Exchange|Discard|Your card|You lead)", text)
    return asked[1] if asked else None


def runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("game", ["four_point", "schmier"])
def test_command__plays_a_whole_deal_by_keys_in_a_terminal(game: str, terminal: Terminal) -> None:
    terminal.start("--rules", game, "--agents", "greedy", "--seed", "3", "--speed", "instant")
    asked = set()
    terminal.until(lambda text: awaited(text) is not None)
    assert terminal.asks("#{alternate_on}") == "1"
    text = terminal.text()
    # The footer names the key too: the sheet's button has brackets.
    while "N Next deal<]" not in text:
        what = awaited(text)
        if what is not None:
            asked.add(what)
            highest = re.findall(r"\[ (\d) \]", text)
            terminal.keys({"Your bid": highest[-1] if highest else "p", "Name trump": "s"}.get(what, "Enter"))
        text = terminal.until(lambda now, before=text: now != before)
    assert "Your card" in asked or "You lead" in asked
    text = terminal.text()
    assert re.search(r"(made|set)", text)
    terminal.keys("n")
    terminal.until(lambda text: "deal 2" in text)
    terminal.keys("C-c")
    text = terminal.until(lambda text: "left 0" in text)
    assert terminal.asks("#{alternate_on}") == "0"
    assert terminal.asks("#{cursor_flag}") == "1"
    terminal.start("--resume")
    terminal.until(lambda text: "deal 2" in text and "You" in text)
    terminal.keys("q")
    terminal.until(lambda text: "Go on with" in text)
    terminal.keys("q")
    terminal.until(lambda text: text.count("left 0") >= 1 and terminal.asks("#{alternate_on}") == "0")


def test_command__that_is_ended_from_outside_restores_the_terminal(terminal: Terminal) -> None:
    terminal.start("--rules", "four_point", "--agents", "greedy", "--seed", "3")
    terminal.until(lambda text: awaited(text) is not None)
    children = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", terminal.asks("#{pane_pid}")],
        capture_output=True,
        text=True,
        check=True,
    )
    subprocess.run(["kill", "-TERM", children.stdout.split()[0]], check=True)
    terminal.until(lambda text: "left 143" in text)
    assert terminal.asks("#{alternate_on}") == "0"


def test_command__ends_with_its_terminal(terminal: Terminal) -> None:
    terminal.start("--rules", "four_point", "--agents", "greedy", "--seed", "3")
    terminal.until(lambda text: awaited(text) is not None)
    shell = terminal.asks("#{pane_pid}")
    listed = ["ps", "-o", "pid=", "--ppid", shell]
    child = int(subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split()[0])
    terminal.hang_up()
    ends = time.monotonic() + 20
    while runs(child):
        assert time.monotonic() < ends, "it goes on without a terminal"
        time.sleep(0.05)


def test_command__is_plain_when_asked_and_gives_a_hint(terminal: Terminal) -> None:
    terminal.start("--plain", "--rules", "four_point", "--agents", "greedy", "--seed", "3")
    terminal.until(lambda text: "Your bid." in text)
    terminal.keys("hint", "Enter")
    terminal.until(lambda text: "points, made" in text)
    terminal.keys("C-d")
    terminal.until(lambda text: "left 0" in text)
