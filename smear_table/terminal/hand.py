"""What the viewer can do, as items of trays: the cards of his hand, and what can be called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smear_table.terminal.cards import LARGE, MEDIUM, SIGNS, SMALL, Size, card_sign, card_style, face
from smear_table.terminal.tray import Item
from smear_table.words import Facts, View

_OF_CARDS = ("play", "discard", "exchange")


def hand_size(count: int, width: int, height: int) -> Size:
    """How large the cards of a hand can be."""
    if height >= 40 and count * (LARGE.width + 1) <= width:
        return LARGE
    rows = -(-count * (MEDIUM.width + 1) // max(width, 1))
    return MEDIUM if height >= 22 and rows <= (2 if height >= 30 else 1) else SMALL


def hand_items(view: View, size: Size, advised: str | None) -> list[Item]:
    """The hand: a frame around what is allowed, none around what is not, a plus on what was drawn, a star on advice."""
    if view["fresh"]:
        return []
    asked = bool(view["legal"]) and view["phase"] in _OF_CARDS
    items = []
    for card in view["hand"]:
        allowed = card in view["legal"]
        mark = "*" if card == advised else "+" if card in view["taken"] and view["phase"] == "discard" else ""
        frame = "line" if allowed or not asked else "none"
        style = f"{card_style(card)} {'' if frame == 'none' else 'bold'}".strip()
        lines = tuple(face(card, size, frame, mark))
        items.append(Item(card, lines, _under(card, size, mark, lines), style, allowed or not asked))
    return items


def _under(card: str, size: Size, mark: str, lines: tuple[str, ...]) -> tuple[str, ...]:
    """The face where the cursor is."""
    if size == SMALL:
        return (
            f">{card_sign(card).center(3) if len(card_sign(card)) < 3 else card_sign(card)}{mark or '<'}",
        )
    return tuple(face(card, size, "double", mark)) or lines


def call_items(facts: Facts, view: View, advised: str | None) -> list[Item]:
    """Bids, suits to name, or the end of an exchange; what is not allowed has no brackets."""
    if not view["legal"] or view["fresh"]:
        return []
    if view["phase"] == "bid":
        calls = [("pass", "P Pass"), *((str(bid), str(bid)) for bid in facts["bids"])]
    elif view["phase"] == "name":
        calls = [(f"trump:{suit}", f"{suit} {SIGNS[suit]}") for suit in "SHCD" if suit in facts["suits"]]
    elif view["phase"] == "exchange" and "pass" in view["legal"]:
        calls = [("pass", "P Done" if view["thrown"] else "P Keep all")]
    else:
        return []
    items = []
    for action, text in calls:
        allowed = action in view["legal"]
        star = "*" if action == advised else " "
        plain = f"[{star}{text} ]" if allowed else f" {star}{text}  "
        style = ("bold" if allowed else "$quiet") + (" $suit-red" if "♥" in text or "♦" in text else "")
        items.append(Item(action, (plain,), (f">{star}{text} <",), style, allowed))
    return items


def advised_by(hint: Mapping[str, Any] | None) -> str | None:
    """The action that a hint puts first."""
    return hint["rows"][0][0] if hint else None
