"""The full screen: an application of screens for the lobby, a table and a replay."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from typing import ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widgets import Static

from smear_table.replay import read_matches
from smear_table.store import Store
from smear_table.terminal.arguments import Play, asked_setup, replay_content
from smear_table.terminal.lobby import LobbyScreen
from smear_table.terminal.match import Match, unfinished
from smear_table.terminal.replay import ReplayScreen
from smear_table.terminal.table import TableScreen
from smear_table.terminal.themes import DARK, LIGHT
from smear_table.terminal.thinking import still_thinking

LEAST = (50, 20)
"""Columns and lines below which a table cannot be read."""


class SmearApp(App[int]):
    """Everything on the full screen; begins as the command asks, at a table, in a replay or in the lobby."""

    CSS_PATH = "app.tcss"
    TITLE = "Smear"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c,ctrl+q", "quit", show=False, priority=True),
        Binding("t", "theme", show=False),
    ]

    def __init__(self, chosen: Play, store: Store, match: Match | None = None) -> None:
        super().__init__()
        self.store = store
        self._chosen, self._match = chosen, match
        self._content = replay_content(chosen.replay) if chosen.replay else None
        if self._content is not None:
            read_matches(self._content)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our own colours, for style sheets that are read before a theme is."""
        return DARK.variables

    def on_mount(self) -> None:
        """Open the first screen."""
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = f"smear-{self._chosen.theme}"
        self._leave_on_signals()
        self.push_screen(LobbyScreen(self._chosen.speed, self._chosen.name))
        if self._content is not None:
            self.open_replay(self._content)
        elif self._match is not None:
            self.sit_down(self._match)

    def on_resize(self, event: events.Resize) -> None:
        """A terminal that is too small says so."""
        if too_small(event.size) and not any(isinstance(screen, TooSmall) for screen in self.screen_stack):
            self.push_screen(TooSmall())

    def sit_down(self, match: Match) -> None:
        """Show a match."""
        self.push_screen(TableScreen(match))

    def open_replay(self, content: bytes, deal: int = 0) -> None:
        """Show a transcript; RefusedError where it is none."""
        self.push_screen(ReplayScreen(read_matches(content), deal=deal))

    def action_theme(self) -> None:
        """Dark or light."""
        self.theme = "smear-light" if self.theme == "smear-dark" else "smear-dark"

    def _leave_on_signals(self) -> None:
        """A terminal is left as it was found, whoever ends the program."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(signal.SIGTERM, lambda: self.exit(128 + signal.SIGTERM))
            # The terminal itself is gone: Textual would read its end for ever, and what was done is in the store.
            loop.add_signal_handler(signal.SIGHUP, lambda: os._exit(128 + signal.SIGHUP))


class TooSmall(ModalScreen[None]):
    """Shown while the terminal is too small."""

    def compose(self) -> ComposeResult:
        """The message."""
        with Vertical(id="cover"):
            yield Static(f"The terminal is too small: {LEAST[0]} columns and {LEAST[1]} lines at least.")
            yield Static("Make it larger, or leave with Ctrl-C and use --plain.", classes="quiet")

    def on_resize(self, event: events.Resize) -> None:
        """Gone when there is room again."""
        self._leave(event.size)

    def on_screen_resume(self) -> None:
        """What was opened over it is closed, and there may be room by now."""
        self._leave(self.app.size)

    def _leave(self, size: Size) -> None:
        if not too_small(size) and self.is_current:
            self.dismiss()


def too_small(size: Size) -> bool:
    """Whether a table cannot be read in so many columns and lines."""
    return size.width < LEAST[0] or size.height < LEAST[1]


def run(chosen: Play, store: Store) -> tuple[int, bool]:
    """Play on the full screen; the exit status, and whether a thread still thinks. ValueError for bad choices."""
    match = None
    if chosen.resume:
        kept = unfinished(store)
        if not kept:
            raise ValueError(f"resume: {chosen.tables} holds no match that can go on")
        match = Match.kept(store, kept[0][0])
    elif chosen.rules:
        match = Match.new(store, *asked_setup(chosen))
    status = SmearApp(chosen, store, match).run()
    return status or 0, still_thinking()
