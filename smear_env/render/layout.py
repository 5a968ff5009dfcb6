"""Where cards lie in the picture: numbers only, so that tests can check it without drawing.

Everything is laid out in a frame of 960 x 720 and then scaled, keeping its shape, to the picture asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, radians, sin

__all__ = ["CARD", "FRAME", "Box", "card_zoom", "fit", "hand_boxes", "seat_point", "trick_boxes"]

Box = tuple[float, float, float, float]
"""left, top, right, bottom in pixels."""

FRAME = (960, 720)
CARD = (58, 82)  # before `card_zoom`
EDGE = 42  # from the frame's top or bottom to the nearest cards: room for a name plate
NARROWEST_STEP = 16  # room for the rank in a card's corner: tighter than this, a second row is begun
ROW_STEP = 34

# Degrees clockwise from the right. Five seats leave the top of the six free instead of spreading evenly:
# the corners of the frame hold the panels.
ANGLES = {
    2: (90, 270),
    3: (90, 210, 330),
    4: (90, 180, 270, 0),
    5: (90, 150, 210, 330, 30),
    6: (90, 150, 210, 270, 330, 30),
}


def fit(width: int, height: int) -> tuple[float, float, float]:
    """Scale and left, top margin that put the frame in the middle of a `width` x `height` picture."""
    scale = min(width / FRAME[0], height / FRAME[1])
    return scale, (width - FRAME[0] * scale) / 2, (height - FRAME[1] * scale) / 2


def card_zoom(players: int) -> float:
    """How much larger than `CARD` cards are: up to four seats leave room for bigger ones."""
    return 1.24 if players <= 4 else 1.0


def seat_point(players: int, seat: int) -> tuple[float, float]:
    """Middle of the hand of `seat` in the frame: on an ellipse, seat 0 at the bottom, clockwise."""
    angle = radians(ANGLES[players][seat])
    x, y = 480 + 375 * cos(angle), 360 + (360 - EDGE - CARD[1] * card_zoom(players) / 2) * sin(angle)
    return min(max(x, 157), 803), y


def hand_boxes(
    players: int, counts: Sequence[int], width: int = FRAME[0], height: int = FRAME[1]
) -> tuple[tuple[Box, ...], ...]:
    """Boxes of the cards in hand: [players][counts[seat]], each card over the one before it."""
    return tuple(
        tuple(_scaled(box, width, height) for box in _hand(players, seat, counts[seat]))
        for seat in range(players)
    )


def trick_boxes(players: int, width: int = FRAME[0], height: int = FRAME[1]) -> tuple[Box, ...]:
    """Boxes of the cards on the table: [players], each in front of its seat."""
    zoom = card_zoom(players)
    across, down = (140, 113) if zoom > 1 else (128, 100)
    boxes = []
    for degrees in ANGLES[players]:
        x, y = 480 + across * cos(radians(degrees)), 360 + down * sin(radians(degrees))
        boxes.append(_scaled(_around(x, y, zoom), width, height))
    return tuple(boxes)


def _hand(players: int, seat: int, count: int) -> list[Box]:
    x, y = seat_point(players, seat)
    zoom = card_zoom(players)
    room = (270 if zoom > 1 else 250) - CARD[0] * zoom
    rows = 1 if count <= room // (NARROWEST_STEP * zoom) + 1 else 2
    in_row = -(-count // rows)
    step = min(CARD[0] * zoom * 0.66, room / max(in_row - 1, 1))
    # At the top and bottom a second row grows towards the middle: the name plate is at the edge.
    first = {90: 1 - rows, 270: 0}.get(ANGLES[players][seat], (1 - rows) / 2)
    boxes = []
    for index in range(count):
        row, column = divmod(index, in_row)
        length = min(in_row, count - row * in_row)
        across, down = (column - (length - 1) / 2) * step, (first + row) * ROW_STEP * zoom
        boxes.append(_around(x + across, y + down, zoom))
    return boxes


def _around(x: float, y: float, zoom: float) -> Box:
    half_width, half_height = CARD[0] * zoom / 2, CARD[1] * zoom / 2
    return x - half_width, y - half_height, x + half_width, y + half_height


def _scaled(box: Box, width: int, height: int) -> Box:
    scale, left, top = fit(width, height)
    return left + box[0] * scale, top + box[1] * scale, left + box[2] * scale, top + box[3] * scale
