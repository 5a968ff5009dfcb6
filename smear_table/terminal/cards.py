"""Card faces in characters. A frame says what can be done with a card, so that nothing rests on colour."""

from __future__ import annotations

from dataclasses import dataclass

from smear_table.terminal.canvas import Part

SIGNS = {"S": "♠", "H": "♥", "C": "♣", "D": "♦"}
_JOKERS = {"JK": "★", "BJ": "★", "LJ": "☆"}
_FRAMES = {
    # corners clockwise from the upper left, then horizontal and vertical
    "line": ("╭", "╮", "╯", "╰", "─", "│"),
    "double": ("╔", "╗", "╝", "╚", "═", "║"),
    "none": (" ", " ", " ", " ", " ", " "),
}
_ENDS = {"line": "[]", "double": "»«", "none": "  "}


@dataclass(frozen=True)
class Size:
    """Cells of a face."""

    width: int
    height: int


SMALL, MEDIUM, LARGE = Size(5, 1), Size(5, 3), Size(7, 5)


def card_sign(card: str) -> str:
    """`TS` as `10♠`; a joker as its name."""
    if card in _JOKERS:
        return card
    return ("10" if card[0] == "T" else card[0]) + SIGNS[card[1]]


def suit_style(suit: str) -> str:
    """The colour of a suit's sign."""
    return "$suit-red" if suit in "HD" else "$suit-black"


def card_style(card: str) -> str:
    """The colour of a card."""
    return "$suit-joker" if card in _JOKERS else suit_style(card[1])


def small(card: str, more: str = "") -> Part:
    """A card in a line of text."""
    return card_sign(card), f"{card_style(card)} {more}".strip()


def face(card: str, size: Size, frame: str = "line", mark: str = "") -> list[str]:
    """A face as lines; `mark`, one character, stands on its lower edge, or after a small card."""
    sign = card_sign(card)
    if size.height == 1:
        left, right = _ENDS[frame][0], _ENDS[frame][1]
        return [f"{left}{sign.center(3) if len(sign) < 3 else sign}{mark or right}"]
    upper_left, upper_right, lower_right, lower_left, flat, upright = _FRAMES[frame]
    inside = size.width - 2
    edge = mark.center(inside, flat) if mark else flat * inside
    if size.height == 3:
        middle = [sign.center(inside)]
    else:
        pip = _JOKERS.get(card) or SIGNS[card[1]]
        rank = card if card in _JOKERS else sign[:-1]
        middle = [f" {rank}".ljust(inside), pip.center(inside), f"{rank} ".rjust(inside)]
    return [
        upper_left + flat * inside + upper_right,
        *(upright + line + upright for line in middle),
        lower_left + edge + lower_right,
    ]


def action_sign(action: str) -> list[Part]:
    """An action as people write it: a small card, a bid, `pass`, or a suit as trump."""
    if action.startswith("trump:"):
        return [(SIGNS[action[6]], suit_style(action[6])), (" trump", "")]
    if action == "pass" or action.isdigit():
        return [("pass" if action == "pass" else f"bid {action}", "")]
    return [small(action)]
