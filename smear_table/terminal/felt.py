"""The felt: seats around it, what each has said, and the trick in the middle. For four, for six, and any between."""

from __future__ import annotations

import math
from typing import Any

from rich.cells import cell_len
from textual.content import Content

from smear_table.terminal.canvas import Canvas, Part, cut, width_of
from smear_table.terminal.cards import LARGE, MEDIUM, SIGNS, SMALL, Size, card_style, face, suit_style
from smear_table.words import TEAMS, Facts, View, who

MOST_WIDE, MOST_HIGH = 104, 33
PLATE = 2
"""Lines of a seat's plate."""
_MOST_BACKS = 6


def place(seat: int, bottom: int, players: int) -> tuple[float, float]:
    """Where a seat sits, clockwise from the one at the bottom: x to the right and y down, each -1 to 1."""
    angle = math.pi / 2 + 2 * math.pi * ((seat - bottom) % players) / players
    return round(math.cos(angle), 6), round(math.sin(angle), 6)


def draw_felt(facts: Facts, view: View, viewer: int, width: int, height: int) -> Content:
    """The table in `width` by `height` cells. The viewer sits at the bottom; with -1 nobody looks, seat 0 is there."""
    # People at a larger table would sit too far apart to be taken in at a glance.
    wide, high = min(width, MOST_WIDE), min(height, MOST_HIGH)
    canvas = Canvas(wide, high)
    most = min(26, wide // 3 + 1)
    bottom = max(viewer, 0)
    beside = 0
    for seat in range(facts["players"]):
        rows = _plate_rows(facts, view, viewer, seat, most)
        x, y = place(seat, bottom, facts["players"])
        if abs(x) > 0.1:
            beside = max(beside, *map(width_of, rows))
        top = round((high - PLATE) / 2 * (1 + y))
        for index, parts in enumerate(rows):
            size = width_of(parts)
            left = 1 if x < -0.1 else wide - size - 1 if x > 0.1 else (wide - size) // 2
            canvas.parts(left, top + index, parts)
    _trick(canvas, facts, view, bottom, beside)
    _centre(canvas, view)
    margin = " " * ((width - wide) // 2)
    lines = [Content.assemble(margin, *line) for line in canvas.lines()]
    return Content("\n").join([Content("")] * ((height - high) // 2) + lines)


def size_of(width: int, height: int) -> Size:
    """How large cards of a trick can be."""
    if height >= 19 and width >= 66:
        return LARGE
    return MEDIUM if height >= 13 and width >= 50 else SMALL


def _plate_rows(facts: Facts, view: View, viewer: int, seat: int, most: int) -> list[list[Part]]:
    """Two lines: team, name, partner and dealer; then cards held and what was said or taken."""
    team = seat % facts["teams"]
    turn = view["turn"] == seat
    notes = "▶" if turn else ""
    dealer = " (D)" if view["dealer"] == seat else ""
    mate = " =" if viewer >= 0 and seat != viewer and team == viewer % facts["teams"] else ""
    name = cut(who(facts, seat, viewer), most - 2 - cell_len(notes + dealer + mate))
    style = "$turn bold" if turn else "bold" if seat == viewer else ""
    first = [
        (notes, "$turn bold"),
        (f"{TEAMS[team]} ", f"$team-{team} bold"),
        (name, style),
        (mate, "$quiet"),
    ]
    count = view["counts"][seat]
    backs = "▮" * count if count <= _MOST_BACKS else f"▮ x{count}"
    said = _said(view, seat)
    second: list[Part] = []
    if seat != viewer and backs:
        second.append((backs, "$backs"))
    if said:
        second.append(((" " if second else "") + said, "bold" if said != "passed" else "$quiet"))
    return [[*first, (dealer, "$quiet")], second]


def _said(view: View, seat: int) -> str:
    """What a seat has last said; after the auction only the bid that stands."""
    if shown_trick(view)[1] == seat:
        return "takes it"
    if view["bidder"] == seat and view["bid"]:
        return f"bid {view['bid']}"
    words = [word for who_said, word in view["bids"] if who_said == seat]
    if not words or view["phase"] != "bid":
        return ""
    return "passed" if words[-1] == "pass" else f"bid {words[-1]}"


def shown_trick(view: View) -> tuple[list[Any], int | None]:
    """The cards that lie in the middle, and who took them: until the next lead, the trick before."""
    if not view["trick"] and view["last"] and view["phase"] in ("play", "over"):
        return view["last"]["cards"], view["last"]["winner"]
    return view["trick"], None


def _trick(canvas: Canvas, facts: Facts, view: View, bottom: int, beside: int) -> None:
    cards, winner = shown_trick(view)
    size = size_of(canvas.width, canvas.height)
    reach_y = min((canvas.height - 2 * PLATE - size.height) / 2, 2 * size.height)
    reach_x = min(canvas.width / 2 - beside - 2 - size.width / 2, 2.4 * size.width)
    for seat, card in cards:
        x, y = place(seat, bottom, facts["players"])
        left = round(canvas.width / 2 + x * reach_x - size.width / 2)
        top = round((canvas.height - size.height) / 2 + y * reach_y)
        won = seat == winner
        style = f"{card_style(card)} bold" if winner is None or won else card_style(card)
        for index, line in enumerate(face(card, size, "double" if won else "line")):
            canvas.put(left, top + index, line, style)


def _centre(canvas: Canvas, view: View) -> None:
    """Trump; and before the first card what goes on, with the stock."""
    rows: list[list[Part]] = []
    cards, _ = shown_trick(view)
    if not cards:
        names = {
            "bid": "The auction",
            "exchange": "The exchange",
            "discard": "Discarding",
            "name": "Naming trump",
        }
        rows.append([(names.get(view["phase"], ""), "$quiet")])
    if view["trump"]:
        trump: list[Part] = [(SIGNS[view["trump"]], f"{suit_style(view['trump'])} bold"), (" trump", "")]
        if cards and size_of(canvas.width, canvas.height) == SMALL:
            # There is no room between the cards.
            canvas.parts(1, 0, trump)
        else:
            rows.append(trump)
    if not cards and view["phase"] not in ("play", "over") and view["stock"] > 0:
        rows.append([(f"{view['stock']} in the stock", "$quiet")])
    top = round((canvas.height - len(rows)) / 2)
    for index, parts in enumerate(rows):
        canvas.parts((canvas.width - width_of(parts)) // 2, top + index, parts)
