"""The table as a picture. Needs Pillow; `smear_env.render.to_image` imports it when first called."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from smear_env.render.faces import BLACK, RED, Colour, Pen, card_face
from smear_env.render.layout import CARD, FRAME, Box, card_zoom, fit, hand_boxes, seat_point, trick_boxes
from smear_env.render.view import PHASES, SUITS, TableView, title

__all__ = ["draw"]

SUPERSAMPLING = 2
TEAMS: tuple[Colour, ...] = (
    (64, 132, 214),
    (222, 112, 48),
    (160, 100, 200),
    (40, 160, 150),
    (200, 80, 120),
    (130, 140, 60),
)
WHITE: Colour = (244, 246, 242)
FAINT: Colour = (176, 190, 182)
PANEL: Colour = (16, 24, 28, 225)
GOLD: Colour = (255, 206, 72)
SHADOW: Colour = (0, 0, 0, 60)


def draw(view: TableView, width: int, height: int) -> NDArray[np.uint8]:
    """The table as RGB: uint8 [height, width, 3]."""
    wide, high = width * SUPERSAMPLING, height * SUPERSAMPLING
    image = _table(wide, high).copy()
    scale, left, top = fit(wide, high)
    pen = Pen(image, scale, left, top)
    hands = hand_boxes(view.players, [view.count(seat) for seat in range(view.players)])
    if view.phase == "over":
        _banner(pen, view)
    else:
        _middle(pen, view)
    for seat in range(view.players):
        _seat(pen, view, seat, hands[seat])
    _score_panel(pen, view)
    _deal_panel(pen, view)
    _last_trick(pen, view)
    return np.asarray(image.reduce(SUPERSAMPLING), dtype=np.uint8)


@lru_cache(maxsize=4)
def _table(width: int, height: int) -> Image.Image:
    # The only part with shading, and the same in every frame: computed once per size.
    scale, left, top = fit(width, height)
    x = ((np.arange(width) - left) / scale - FRAME[0] / 2)[None, :] / 470
    y = ((np.arange(height) - top) / scale - FRAME[1] / 2)[:, None] / 352
    radius = np.sqrt(x * x + y * y)[..., None]
    felt = np.array([44, 134, 84]) * (1.0 - 0.42 * np.minimum(radius, 1.0) ** 2)
    rim = np.array([112, 70, 38]) * (1.0 - 6.0 * np.abs(radius - 0.985))
    room = np.array([42, 48, 54]) * (1.0 - 0.25 * np.clip(radius - 1.0, 0.0, 1.0))
    pixels = np.where(radius < 0.965, felt, np.where(radius < 1.0, rim, room))
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def _card(pen: Pen, card: str | None, box: Box) -> None:
    pen.box((box[0] + 1.5, box[1] + 2, box[2] + 1.5, box[3] + 2), 6, SHADOW)
    # Rounded, or the noise of the subtraction would make every position a sprite of its own.
    sprite = card_face(card, round(pen.scale * (box[2] - box[0]) / CARD[0], 4))
    x, y = pen.point(box[0], box[1])
    pen.image.paste(sprite, (round(x), round(y)), sprite)


def _seat(pen: Pen, view: TableView, seat: int, boxes: tuple[Box, ...]) -> None:
    x, y = seat_point(view.players, seat)
    zoom = card_zoom(view.players)
    empty = (x - CARD[0] * zoom / 2, y - CARD[1] * zoom / 2, x + CARD[0] * zoom / 2, y + CARD[1] * zoom / 2)
    shown = boxes or (empty,)
    left, top = min(box[0] for box in shown), min(box[1] for box in shown)
    right, bottom = max(box[2] for box in shown), max(box[3] for box in shown)
    # The top seat's plate is above its cards, where nothing else is.
    plate = top - 19 if top < 50 else bottom + 19
    acts = seat == view.turn
    if acts:
        pen.box((left - 6, top - 6, right + 6, bottom + 6), 10, (255, 206, 72, 70), GOLD, 2)
    hand = view.hands[seat]
    names: list[str | None] = [None] * hand if isinstance(hand, int) else list(hand)
    for name, box in zip(names, boxes, strict=True):
        _card(pen, name, box)
    if not boxes:
        pen.box(empty, 6, None, (255, 255, 255, 50))
    team = seat % view.teams
    pen.box((x - 64, plate - 12, x + 64, plate + 12), 12, GOLD if acts else PANEL, TEAMS[team], 2.5)
    pen.text(x, plate, f"Seat {seat} \u00b7 team {team}", 14, BLACK if acts else WHITE, bold=acts)
    aside = x - 68.0
    if seat == view.dealer:
        pen.disc(aside - 12, plate, 12, WHITE, (120, 120, 110), 1.5)
        pen.text(aside - 12, plate, "D", 15, BLACK, bold=True)
        aside -= 27
    if view.exchanged[seat]:
        pen.text(aside - 2, plate, f"drew {view.exchanged[seat]}", 12, WHITE, "rm")
    _bubble(pen, view, seat, x + 72, plate)


def _bubble(pen: Pen, view: TableView, seat: int, x: float, y: float) -> None:
    spoken = view.spoken(seat)
    if spoken is None:
        return
    highest = seat == view.bidder
    words = spoken if spoken == "pass" else f"bid {spoken}"
    fill: Colour = GOLD if highest else WHITE if spoken != "pass" else (214, 220, 216)
    pen.polygon([(x - 5, y), (x + 6, y - 6), (x + 6, y + 6)], fill)
    pen.box((x + 2, y - 11, x + 50, y + 11), 9, fill)
    pen.text(x + 26, y, words, 13, BLACK, bold=highest)


def _middle(pen: Pen, view: TableView) -> None:
    spots = trick_boxes(view.players)
    for box in spots:
        pen.box(box, 6, None, (255, 255, 255, 28))
    for index, (seat, card) in enumerate(view.trick):
        box = spots[seat]
        _card(pen, card, box)
        if index == 0:
            x = (box[0] + box[2]) / 2
            pen.box((x - 14, box[3] - 8, x + 14, box[3] + 6), 7, BLACK)
            pen.text(x, box[3] - 1, "led", 11, WHITE)
    x, y = FRAME[0] / 2, FRAME[1] / 2
    if view.stock:
        left = x - 33 if view.trump else x
        for depth in range(min(view.stock, 4), 0, -1):
            _small_card(pen, None, left - 17 + depth * 1.2, y - 34 + depth * 1.2, 36)
        pen.box((left - 11, y - 20, left + 17, y + 2), 8, BLACK)
        pen.text(left + 3, y - 9, str(view.stock), 15, WHITE, bold=True)
        pen.text(left + 2, y + 33, "stock", 12, WHITE)
    if view.trump:
        right = x + 33 if view.stock else x
        pen.disc(right, y - 8, 25, WHITE, GOLD, 3)
        pen.suit(view.trump, right, y - 8, 29, RED if view.trump in "DH" else BLACK)
        pen.text(right, y + 33, "trump", 12, WHITE)


def _small_card(pen: Pen, card: str | None, x: float, y: float, width: float) -> None:
    _card(pen, card, (x, y, x + width, y + width * CARD[1] / CARD[0]))


def _score_panel(pen: Pen, view: TableView) -> None:
    row = 22 if view.teams <= 4 else 18
    pen.box((12, 12, 238, 44 + row * view.teams), 10, PANEL)
    for column, words in ((124, "score"), (168, "tricks"), (228, "card pts")):
        pen.text(column, 28, words, 12, FAINT, "rm")
    pen.text(25, 28, f"To {view.target}", 13, FAINT, "lm")
    for team in range(view.teams):
        y = 50 + row * team
        won = team == view.winner
        pen.disc(31, y, 6, TEAMS[team])
        pen.text(43, y, f"Team {team}", 14, GOLD if won else WHITE, "lm", bold=won)
        pen.text(124, y, str(view.scores[team]), 17, GOLD if won else WHITE, "rm", bold=True)
        pen.text(168, y, str(view.tricks_won[team]), 14, WHITE, "rm")
        pen.text(226, y, str(view.card_points[team]), 14, WHITE, "rm")


def _deal_panel(pen: Pen, view: TableView) -> None:
    pen.box((722, 12, 948, 110), 10, PANEL)
    pen.text(736, 29, title(view.game), 14, WHITE, "lm", bold=True)
    pen.text(936, 29, f"Deal {view.deal}", 13, FAINT, "rm")
    pen.text(736, 52, PHASES[view.phase], 14, GOLD, "lm")
    if view.turn is not None:
        pen.text(936, 52, f"seat {view.turn} to act", 13, WHITE, "rm")
    if view.bidder is None or view.bid is None:
        pen.text(736, 74, "No bid yet", 14, FAINT, "lm")
    else:
        pen.text(736, 74, f"Bid {view.bid} by seat {view.bidder}", 14, WHITE, "lm")
    if view.trump is None:
        pen.text(736, 96, "Trump not known", 14, FAINT, "lm")
    else:
        pen.text(736, 96, f"Trump {SUITS[view.trump]}", 14, WHITE, "lm")


def _last_trick(pen: Pen, view: TableView) -> None:
    if not view.last_trick:
        return
    step = 36
    left = 948 - 20 - step * len(view.last_trick)
    pen.box((min(left, 778), 618, 948, 708), 10, PANEL)
    taker = "" if view.last_winner is None else f": seat {view.last_winner}"
    pen.text(936, 632, f"Last trick{taker}", 13, FAINT, "rm")
    for index, (seat, card) in enumerate(view.last_trick):
        x = left + 11 + index * step
        _small_card(pen, card, x, 643, 33)
        pen.text(x + 16.5, 699, str(seat), 12, GOLD if seat == view.last_winner else WHITE)


def _banner(pen: Pen, view: TableView) -> None:
    x, y = FRAME[0] / 2, FRAME[1] / 2
    colour = TEAMS[view.winner] if view.winner is not None else FAINT
    for side in (-1, 1):
        tail = ((130, -16), (206, -16), (188, 10), (206, 36), (130, 36))
        pen.polygon([(x + side * reach, y + drop) for reach, drop in tail], (150, 110, 20))
    pen.box((x - 170, y - 32, x + 170, y + 28), 6, GOLD, colour, 4)
    pen.text(x, y - 2, view.outcome(), 26, BLACK, bold=True)
