"""What screens are made of: things to choose from by keyboard and mouse, and pictures that know their size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size as Space
from textual.message import Message
from textual.widget import Widget

from smear_table.terminal.canvas import Canvas


@dataclass(frozen=True)
class Item:
    """One thing to choose: its picture without and with the cursor on it."""

    action: str
    lines: tuple[str, ...]
    under: tuple[str, ...]
    """Its lines where the cursor is."""
    style: str = ""
    allowed: bool = True


class Tray(Widget, can_focus=True):
    """Items in rows, one of them under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move(-1)", show=False),
        Binding("right", "move(1)", show=False),
        Binding("up", "row(-1)", show=False),
        Binding("down", "row(1)", show=False),
        Binding("enter", "choose", show=False),
    ]

    class Chosen(Message):
        """An item was chosen."""

        def __init__(self, tray: Tray, action: str) -> None:
            super().__init__()
            self.tray, self.action = tray, action

    class Pointed(Message):
        """The cursor has come to an item."""

        def __init__(self, tray: Tray, action: str) -> None:
            super().__init__()
            self.tray, self.action = tray, action

    def __init__(self, gap: int = 1, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.items: list[Item] = []
        self.cursor = 0
        self._gap = gap

    def show(self, items: Sequence[Item]) -> None:
        """Other items; the cursor stays on the same action, or on the first that is allowed."""
        before = self.items[self.cursor].action if self.cursor < len(self.items) else None
        asked = [item.allowed for item in self.items] != [item.allowed for item in items]
        self.items = list(items)
        actions = [item.action for item in items]
        allowed = [index for index, item in enumerate(items) if item.allowed]
        kept = actions.index(before) if before in actions else None
        if kept is not None and (items[kept].allowed or not asked):
            self.cursor = kept
        else:
            self.cursor = allowed[0] if allowed else 0
        self.refresh(layout=True)

    def point(self, index: int) -> None:
        """Put the cursor on an item."""
        if 0 <= index < len(self.items):
            self.cursor = index
            self.refresh()
            self.post_message(self.Pointed(self, self.items[index].action))

    def action_move(self, step: int) -> None:
        """The cursor goes to the next item, around the ends."""
        if self.items:
            self.point((self.cursor + step) % len(self.items))

    def action_row(self, step: int) -> None:
        """The cursor goes a row up or down."""
        places = self._places(self.size.width)
        if not places:
            return
        x, y = places[self.cursor]
        rows = sorted({place[1] for place in places})
        at = rows.index(y) + step
        if 0 <= at < len(rows):
            inside = [index for index, place in enumerate(places) if place[1] == rows[at]]
            self.point(min(inside, key=lambda index: abs(places[index][0] - x)))

    def action_choose(self) -> None:
        """What is under the cursor is chosen."""
        if self.items:
            self.post_message(self.Chosen(self, self.items[self.cursor].action))

    def item_at(self, x: int, y: int) -> int | None:
        """The item in a cell."""
        for index, (left, top) in enumerate(self._places(self.size.width)):
            lines = self.items[index].lines
            if left <= x < left + cell_len(lines[0]) and top <= y < top + len(lines):
                return index
        return None

    def on_click(self, event: events.Click) -> None:
        """A click chooses."""
        index = self.item_at(event.x, event.y)
        if index is not None:
            self.cursor = index
            self.refresh()
            self.action_choose()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """The cursor follows the mouse."""
        index = self.item_at(event.x, event.y)
        if index is not None and index != self.cursor:
            self.point(index)

    def on_focus(self) -> None:
        """The cursor is drawn."""
        self.refresh()

    def on_blur(self) -> None:
        """The cursor is not drawn."""
        self.refresh()

    def render(self) -> Content:
        """The items."""
        width = self.size.width
        places = self._places(width)
        canvas = Canvas(width, self.get_content_height(self.size, self.size, width))
        for index, (left, top) in enumerate(places):
            item = self.items[index]
            pointed = index == self.cursor and self.has_focus
            for row, line in enumerate(item.under if pointed else item.lines):
                canvas.put(left, top + row, line, f"{item.style} reverse".strip() if pointed else item.style)
        return canvas.content()

    def get_content_width(self, container: Space, viewport: Space) -> int:  # noqa: ARG002 - Textual's signature
        """Cells that one row takes."""
        return sum(cell_len(item.lines[0]) + self._gap for item in self.items)

    def get_content_height(self, container: Space, viewport: Space, width: int) -> int:  # noqa: ARG002 - as above
        """Lines that all rows take."""
        places = self._places(width)
        if not places:
            return 0
        return max(top + len(item.lines) for (_, top), item in zip(places, self.items, strict=True))

    def _places(self, width: int) -> list[tuple[int, int]]:
        """The cell in which each item begins; rows of items of one size are as even as they can be."""
        if not self.items or width <= 0:
            return []
        sizes = [cell_len(item.lines[0]) + self._gap for item in self.items]
        rows, x = 1, 0
        for size in sizes:
            if x and x + size - self._gap > width:
                rows, x = rows + 1, 0
            x += size
        in_row = -(-len(self.items) // rows) if len(set(sizes)) == 1 else 0
        places, x, y = [], 0, 0
        for index, size in enumerate(sizes):
            if (index % in_row == 0 and index > 0) if in_row else (x and x + size - self._gap > width):
                x, y = 0, y + len(self.items[0].lines)
            places.append((x, y))
            x += size
        return places


class Picture(Widget):
    """Drawn anew for whatever size it has."""

    def __init__(self, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._draw: Callable[[int, int], Content] = lambda _width, _height: Content("")

    def show(self, draw: Callable[[int, int], Content]) -> None:
        """Show something else: a function of columns and lines."""
        self._draw = draw
        self.refresh()

    def render(self) -> Content:
        """What is shown."""
        return self._draw(self.size.width, self.size.height)
