"""Pens, suit symbols and card faces. Needs Pillow: only `picture` imports it.

Suit symbols are shapes, not glyphs, so that a picture looks the same whatever fonts a machine has.
"""

from __future__ import annotations

from functools import lru_cache
from math import cos, pi, sin

from PIL import Image, ImageDraw, ImageFont

from smear_env.render.layout import CARD, Box

__all__ = ["BLACK", "RED", "Pen", "card_face"]

Colour = tuple[int, int, int] | tuple[int, int, int, int]

BLACK: Colour = (28, 30, 36)
RED: Colour = (200, 32, 44)
PURPLE: Colour = (112, 56, 150)
IVORY: Colour = (253, 252, 247)
EDGE: Colour = (150, 152, 150)
GOLD: Colour = (226, 176, 56)
BACK: Colour = (38, 70, 132)
BACK_LINE: Colour = (116, 148, 206)

JOKERS = ("JK", "LJ", "BJ")
"""One joker, or the little and the big one."""


class Pen:
    """Draws on an image in frame units, with alpha blending."""

    def __init__(self, image: Image.Image, scale: float, left: float = 0, top: float = 0) -> None:
        self.image = image
        self.scale = scale
        self.left = left
        self.top = top
        # "RGBA" on an RGB image blends; on an RGBA one it would replace, which sprites want.
        self.draw = ImageDraw.Draw(image, "RGBA")

    def point(self, x: float, y: float) -> tuple[float, float]:
        """A point of the frame in pixels."""
        return self.left + x * self.scale, self.top + y * self.scale

    def box(
        self,
        box: Box,
        radius: float = 0,
        fill: Colour | None = None,
        line: Colour | None = None,
        width: float = 1,
    ) -> None:
        """A rectangle with round corners."""
        pixels = (*self.point(box[0], box[1]), *self.point(box[2], box[3]))
        self.draw.rounded_rectangle(pixels, radius * self.scale, fill, line, self.thick(width))

    def disc(
        self, x: float, y: float, radius: float, fill: Colour, line: Colour | None = None, width: float = 1
    ) -> None:
        """A filled circle."""
        pixels = (*self.point(x - radius, y - radius), *self.point(x + radius, y + radius))
        self.draw.ellipse(pixels, fill, line, self.thick(width))

    def polygon(self, points: list[tuple[float, float]], fill: Colour) -> None:
        """A filled polygon."""
        self.draw.polygon([self.point(x, y) for x, y in points], fill)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float,
        fill: Colour,
        anchor: str = "mm",
        bold: bool = False,
    ) -> None:
        """One line of text; `anchor` as in Pillow, the middle by default."""
        self.draw.text(
            self.point(x, y),
            words,
            fill,
            _font(max(round(size * self.scale), 1)),
            anchor=anchor,
            stroke_width=0.25 * self.scale if bold else 0,
        )

    def suit(self, suit: str, x: float, y: float, size: float, fill: Colour) -> None:
        """A suit symbol `size` high around x, y."""
        half = size / 2

        def at(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
            return [(x + px * half, y + py * half) for px, py in points]

        if suit == "D":
            self.polygon(at(_DIAMOND), fill)
        elif suit == "H":
            self.polygon(at(_HEART), fill)
        elif suit == "S":
            self.polygon(at([(px, -0.82 * py - 0.15) for px, py in _HEART]), fill)
            self.polygon(at(_STEM), fill)
        else:
            for px, py in ((0, -0.52), (-0.5, 0.2), (0.5, 0.2)):
                self.disc(x + px * half, y + py * half, 0.44 * half, fill)
            self.disc(x, y, 0.25 * half, fill)
            self.polygon(at(_STEM), fill)

    def thick(self, width: float) -> int:
        """A line's width in pixels, at least one."""
        return max(round(width * self.scale), 1)


def _heart() -> list[tuple[float, float]]:
    points = []
    for step in range(48):
        t = 2 * pi * step / 48
        height = 13 * cos(t) - 5 * cos(2 * t) - 2 * cos(3 * t) - cos(4 * t)
        points.append((sin(t) ** 3 * 0.98, -(height + 2.5) / 14.5))
    return points


def _diamond() -> list[tuple[float, float]]:
    # Sides bent in a little, as on printed cards.
    corners = [(0.0, -1.0), (0.76, 0.0), (0.0, 1.0), (-0.76, 0.0)]
    points = []
    for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1], strict=True):
        points += [(ax, ay), ((ax + bx) * 0.46, (ay + by) * 0.46)]
    return points


_HEART = _heart()
_DIAMOND = _diamond()
_STEM = [(-0.06, 0.1), (0.06, 0.1), (0.12, 0.6), (0.4, 1.0), (-0.4, 1.0), (-0.12, 0.6)]


@lru_cache(maxsize=64)
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size=size)


@lru_cache(maxsize=256)
def card_face(card: str | None, scale: float) -> Image.Image:
    """A card as an RGBA sprite of `CARD` times `scale` pixels; None is a back."""
    size = (round(CARD[0] * scale), round(CARD[1] * scale))
    sprite = Image.new("RGBA", size, (0, 0, 0, 0))
    pen = Pen(sprite, scale)
    width, height = CARD
    # A pixel short: Pillow's right and bottom edges are inclusive.
    edge = (0, 0, width - 1 / scale, height - 1 / scale)
    if card is None:
        pen.box(edge, 6, IVORY, EDGE)
        pen.box((4, 4, width - 4, height - 4), 3, BACK)
        for row in range(8):
            for column in range(5):
                x, y = 9.0 + column * 10, 9.25 + row * 9.1
                pen.polygon([(x, y - 3.6), (x + 4, y), (x, y + 3.6), (x - 4, y)], BACK_LINE)
                pen.disc(x, y, 1.2, BACK)
        return sprite
    if card in JOKERS:
        corner = _corner(sprite.size, card, None, PURPLE, scale)
    else:
        ink = RED if card[1] in "DH" else BLACK
        corner = _corner(sprite.size, "10" if card[0] == "T" else card[0], card[1], ink, scale)
    pen.box(edge, 6, IVORY, EDGE)
    sprite.alpha_composite(corner)
    sprite.alpha_composite(corner.transpose(Image.Transpose.ROTATE_180))
    if card in JOKERS:
        _jester(pen, width / 2, height / 2 + 1)
    elif card[0] in "JQK":
        box = (17, 14, width - 17, height - 14)
        pen.box(box, 2, (250, 240, 208), GOLD)
        _crown(pen, width / 2, 27, card[0])
        pen.suit(card[1], width / 2, height / 2 + 9, 23, ink)
    else:
        pen.suit(card[1], width / 2 + 1, height / 2, 36 if card[0] == "A" else 26, ink)
    return sprite


def _corner(size: tuple[int, int], rank: str, suit: str | None, ink: Colour, scale: float) -> Image.Image:
    # Inside the narrowest step of a fan, so that a covered card can still be read.
    layer = Image.new("RGBA", size, (0, 0, 0, 0))
    pen = Pen(layer, scale)
    pen.text(8.5, 10.5, rank, {"10": 12.5, **dict.fromkeys(JOKERS, 10.5)}.get(rank, 17), ink, bold=True)
    if suit is None:
        pen.polygon(_star(8.5, 24, 5.5), ink)
    else:
        pen.suit(suit, 8.5, 24, 11, ink)
    return layer


def _star(x: float, y: float, radius: float) -> list[tuple[float, float]]:
    return [
        (x + length * sin(pi * step / 5), y - length * cos(pi * step / 5))
        for step in range(10)
        for length in (radius if step % 2 == 0 else radius * 0.42,)
    ]


def _crown(pen: Pen, x: float, y: float, rank: str) -> None:
    # King a crown of three points, queen of five with pearls, jack a flat cap with a feather.
    if rank == "J":
        pen.polygon([(x - 8, y + 5), (x - 8, y), (x - 3, y - 4), (x + 7, y - 2), (x + 8, y + 5)], GOLD)
        pen.polygon([(x + 3, y - 1), (x + 11, y - 9), (x + 8, y + 1)], RED)
        return
    tips = (-8, 0, 8) if rank == "K" else (-9, -4.5, 0, 4.5, 9)
    half = (tips[1] - tips[0]) / 2
    points = [(x - 8.0, y + 6.0)]
    for tip in tips:
        points.append((x + tip, y - 5 - (1.5 if tip == 0 else 0)))
        if tip != tips[-1]:
            points.append((x + tip + half, y + 1))
    points.append((x + 8.0, y + 6.0))
    pen.polygon(points, GOLD)
    for tip in tips:
        pen.disc(x + tip, y - 5.5 - (1.5 if tip == 0 else 0), 1.6 if rank == "K" else 1.3, RED)


def _jester(pen: Pen, x: float, y: float) -> None:
    colours = ((PURPLE, -1), (GOLD, 1))
    for colour, side in colours:
        pen.polygon(
            [(x, y + 8), (x + side * 11, y + 8), (x + side * 16, y - 8), (x + side * 7, y - 5), (x, y - 4)],
            colour,
        )
    pen.polygon([(x - 7, y), (x, y - 20), (x + 7, y), (x, y + 5)], RED)
    for px, py in ((-16, -9), (0, -20), (16, -9)):
        pen.disc(x + px, y + py, 2.8, GOLD, BLACK, 0.6)
    pen.box((x - 12, y + 7, x + 12, y + 12), 2, BLACK)
