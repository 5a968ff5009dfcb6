"""Sheets over the table: something to read with a few things to choose, a line to type, and a cover between people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.widgets import Input, Static

from smear_table.terminal.panels import Line, content
from smear_table.terminal.tray import Item, Tray


@dataclass(frozen=True)
class Choice:
    """A button of a sheet: what it gives, its key and its text."""

    action: str
    key: str
    text: str


CLOSE = Choice("", "escape", "Close")


def buttons(choices: Sequence[Choice]) -> list[Item]:
    """Buttons for a tray, the key in front."""
    items = []
    for choice in choices:
        key = "Esc" if choice.key == "escape" else choice.key.upper()
        text = f"{key} {choice.text}"
        items.append(Item(choice.action, (f"[ {text} ]",), (f"[>{text}<]",), "bold"))
    return items


class Sheet(ModalScreen[str]):
    """A title, lines, and choices; gives the action chosen, an empty one for closing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll(-1)", show=False),
        Binding("down", "scroll(1)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
        Binding("pagedown", "scroll(10)", show=False),
    ]

    def __init__(
        self,
        title: str,
        draw: Callable[[int], list[Line]],
        choices: Sequence[Choice] = (CLOSE,),
        width: int = 76,
    ) -> None:
        super().__init__()
        self._title, self._draw, self._choices, self._width = title, draw, choices, width

    def compose(self) -> ComposeResult:
        """The sheet."""
        with Vertical(id="sheet"):
            yield Static(self._title, id="sheet-title", markup=False)
            with VerticalScroll(id="sheet-scroll", can_focus=False):
                yield Static(id="sheet-body")
            yield Tray(gap=2, id="sheet-choices")

    def on_mount(self) -> None:
        """Draw it, and put the cursor on the first choice."""
        self.query_one("#sheet-choices", Tray).show(buttons(self._choices))
        self.query_one("#sheet-choices").focus()
        self._lay()

    def on_resize(self) -> None:
        """Draw it for another width."""
        self._lay()

    def _lay(self) -> None:
        width = min(self._width, self.app.size.width - 4)
        self.query_one("#sheet").styles.width = width
        # What is left beside border, title and choices.
        self.query_one("#sheet-scroll").styles.max_height = max(3, self.app.size.height - 8)
        self.query_one("#sheet-body", Static).update(content(self._draw(width - 6)))

    def action_scroll(self, lines: int) -> None:
        """Scroll what is long."""
        self.query_one("#sheet-scroll").scroll_relative(y=lines, animate=False)

    def on_key(self, event: events.Key) -> None:
        """A choice by its key."""
        for choice in self._choices:
            if event.key == choice.key:
                event.stop()
                self.dismiss(choice.action)
                return
        if event.key == "escape":
            event.stop()
            self.dismiss("")

    def on_tray_chosen(self, chosen: Tray.Chosen) -> None:
        """A choice by the cursor or the mouse."""
        self.dismiss(chosen.action)


class Ask(ModalScreen[str]):
    """A line to type; gives it, an empty one for none."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def __init__(self, question: str, text: str = "") -> None:
        super().__init__()
        self._question, self._text = question, text

    def compose(self) -> ComposeResult:
        """The question and its line."""
        with Vertical(id="sheet"):
            yield Static(self._question, id="sheet-title", markup=False)
            yield Input(self._text, id="typed")
            yield Static("Enter to go on, Esc to leave it.", classes="quiet")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Give what was typed."""
        self.dismiss(event.value.strip())

    def action_leave(self) -> None:
        """Give nothing."""
        self.dismiss("")


class Cover(Screen[None]):
    """Hides the table while the screen is handed to another person."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "ready", "Ready")]

    def __init__(self, name: str) -> None:
        super().__init__()
        self._person = name

    def compose(self) -> ComposeResult:
        """Who is to look now."""
        with Vertical(id="cover"):
            yield Static(f"Hand over to {self._person}.", markup=False)
            yield Static("Press Enter when nobody else looks.", classes="quiet")

    def on_click(self) -> None:
        """As Enter."""
        self.action_ready()

    def action_ready(self) -> None:
        """Show the table."""
        self.dismiss()
