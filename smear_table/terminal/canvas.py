"""Cells of a terminal that are written anywhere and read as lines: what tables and cards are drawn on."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len, get_character_cell_size
from textual.content import Content

Part = tuple[str, str]
"""A text and its style, as Textual's content has it."""


class Canvas:
    """`height` lines of `width` cells; what lies outside is cut off."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = max(width, 0), max(height, 0)
        self._cells: list[list[Part]] = [[(" ", "")] * self.width for _ in range(self.height)]

    def put(self, x: int, y: int, text: str, style: str = "") -> None:
        """Write from a cell to the right."""
        if not 0 <= y < self.height:
            return
        for character in text:
            size = get_character_cell_size(character)
            if size and x >= 0 and x + size <= self.width:
                self._cells[y][x] = (character, style)
                for beyond in range(x + 1, x + size):
                    # The second half of a wide character is its own cell.
                    self._cells[y][beyond] = ("", style)
            x += size

    def parts(self, x: int, y: int, parts: list[Part]) -> None:
        """Write several texts one after the other."""
        for text, style in parts:
            self.put(x, y, text, style)
            x += cell_len(text)

    def lines(self) -> Iterator[list[Part]]:
        """Each line as runs of one style."""
        for row in self._cells:
            runs: list[Part] = []
            for character, style in row:
                if runs and runs[-1][1] == style:
                    runs[-1] = (runs[-1][0] + character, style)
                else:
                    runs.append((character, style))
            yield runs

    def content(self) -> Content:
        """All of it."""
        return Content("\n").join(Content.assemble(*line) for line in self.lines())


def width_of(parts: list[Part]) -> int:
    """Cells that texts take."""
    return sum(cell_len(text) for text, _ in parts)


def cut(text: str, width: int) -> str:
    """A text in at most `width` cells: of a longer one the beginning, a dot, and a number at its end."""
    if cell_len(text) <= width:
        return text
    last = text.rpartition(" ")[2]
    end = "…" + (last if last.isdecimal() and len(last) < width - 1 else "")
    kept = ""
    for character in text:
        if cell_len(kept + character) > width - len(end):
            break
        kept += character
    return (kept.rstrip() + end) if width > 0 else ""
