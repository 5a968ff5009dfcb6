"""The table as text and as a picture."""

from __future__ import annotations

import ast
import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import smear_env.render
from smear_env.render import TableView, to_image, to_text
from smear_env.render.layout import Box, hand_boxes, trick_boxes

DECK = (*(rank + suit for suit in "CDHS" for rank in "23456789TJQKA"), "JK")
SIZES = ((960, 720), (480, 400), (400, 600))


def table(players: int = 4, teams: int = 2, cards: int = 6) -> TableView:
    """A table in the auction, every hand shown."""
    hands = tuple(DECK[seat * cards : (seat + 1) * cards] for seat in range(players))
    return TableView(
        game="four_point",
        players=players,
        teams=teams,
        dealer=0,
        turn=1,
        phase="bid",
        hands=hands,
        stock=8,
        bids=(),
        bidder=None,
        bid=None,
        trump=None,
        trick=(),
        last_trick=(),
        last_winner=None,
        tricks_won=(0,) * teams,
        card_points=(0,) * teams,
        exchanged=(0,) * players,
        scores=(0,) * teams,
        target=15,
        deal=1,
        winner=None,
    )


def inside(box: Box, width: int, height: int) -> bool:
    return 0 <= box[0] < box[2] <= width and 0 <= box[1] < box[3] <= height


def apart(one: Box, two: Box) -> bool:
    return one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] or two[3] <= one[1]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("players", range(2, 7))
def test_card_boxes__inside_the_picture_for_every_hand_size(players: int, size: tuple[int, int]) -> None:
    for count in range(24):
        hands = hand_boxes(players, [count] * players, *size)
        assert [len(hand) for hand in hands] == [count] * players
        assert all(inside(box, *size) for hand in hands for box in hand)
    assert all(inside(box, *size) for box in trick_boxes(players, *size))


@pytest.mark.parametrize("players", range(2, 7))
def test_card_boxes__seats_and_trick_do_not_overlap(players: int) -> None:
    trick = trick_boxes(players)
    assert all(apart(one, two) for one, two in combinations(trick, 2))
    # All that a seat covers with any number of cards, so that mixed counts are included.
    reach = []
    for seat in range(players):
        counts = range(1, 24)
        boxes = np.array([box for count in counts for box in hand_boxes(players, [count] * players)[seat]])
        left, top = boxes[:, :2].min(axis=0)
        right, bottom = boxes[:, 2:].max(axis=0)
        reach.append((float(left), float(top), float(right), float(bottom)))
    assert all(apart(one, two) for one, two in combinations(reach, 2))
    assert all(apart(hand, card) for hand in reach for card in trick)


@pytest.mark.parametrize("players", range(2, 7))
def test_card_boxes__every_card_of_a_fan_shows_its_corner(players: int) -> None:
    for count in range(2, 24):
        for hand in hand_boxes(players, [count] * players):
            for index, box in enumerate(hand):
                corner = (box[0], box[1], box[0] + 16, box[1] + 30)
                assert all(apart(corner, later) for later in hand[index + 1 :]), (count, index)


@pytest.mark.parametrize("players", [4, 6])
def test_card_boxes__seats_run_clockwise_from_the_bottom(players: int) -> None:
    middles = [
        ((hand[0][0] + hand[0][2]) / 2, (hand[0][1] + hand[0][3]) / 2)
        for hand in hand_boxes(players, [1] * players)
    ]
    assert middles[0] == (480, max(y for _, y in middles))
    # The y axis points down: clockwise is a growing angle.
    angles = np.unwrap([np.arctan2(y - 360, x - 480) for x, y in middles])
    assert np.all(np.diff(angles) > 0)


@pytest.mark.parametrize(("players", "teams"), [(2, 2), (3, 3), (4, 2), (5, 5), (6, 3), (6, 2), (6, 6)])
def test_picture__has_the_size_asked_for_and_is_not_blank(players: int, teams: int) -> None:
    pytest.importorskip("PIL")
    for width, height in SIZES:
        picture = to_image(table(players, teams), width, height)
        assert picture.shape == (height, width, 3)
        assert picture.dtype == np.uint8
        packed = picture.astype(np.uint32) @ np.array([1, 256, 65536], dtype=np.uint32)
        assert len(np.unique(packed)) > 100


def test_picture__draws_every_card_of_the_deck() -> None:
    pytest.importorskip("PIL")
    pictures = {to_image(replace(table(), hands=((card,), (), (), ())), 480, 360).tobytes() for card in DECK}
    assert len(pictures) == len(DECK)


CHANGES: dict[str, dict[str, object]] = {
    "dealer": {"dealer": 2},
    "turn": {"turn": 2},
    "phase": {"phase": "discard"},
    "hidden": {"hands": (6, 6, 6, 6)},
    "fewer cards": {"hands": (DECK[:5], *table().hands[1:])},
    "stock": {"stock": 5},
    "pass": {"bids": ((1, "pass"),)},
    "bid": {"bids": ((1, "3"),), "bidder": 1, "bid": 3},
    "trump": {"trump": "H"},
    "other trump": {"trump": "D"},
    "trick": {"trick": ((1, "AS"),)},
    "trick of another seat": {"trick": ((2, "AS"),)},
    "last trick": {"last_trick": ((0, "AS"), (1, "KS"), (2, "7S"), (3, "8S")), "last_winner": 0},
    "tricks won": {"tricks_won": (1, 0)},
    "card points": {"card_points": (10, 0)},
    "exchanged": {"exchanged": (0, 3, 0, 0)},
    "scores": {"scores": (0, -3)},
    "target": {"target": 21},
    "deal": {"deal": 2},
    "cut off": {"phase": "over", "turn": None},
    "won": {"phase": "over", "turn": None, "winner": 1},
    "game": {"game": "mini"},
}


@pytest.mark.parametrize("draw", [to_image, to_text])
def test_drawing__different_views_differ(draw: object) -> None:
    if draw is to_image:
        pytest.importorskip("PIL")
    views = [table(), *(replace(table(), **change) for change in CHANGES.values())]  # type: ignore[arg-type]
    drawn = [to_image(view).tobytes() if draw is to_image else to_text(view) for view in views]
    assert len(set(drawn)) == len(drawn)


def test_picture__does_not_change_what_was_drawn_before() -> None:
    pytest.importorskip("PIL")
    first = to_image(table())
    kept = first.copy()
    to_image(replace(table(), **CHANGES["won"]))  # type: ignore[arg-type]
    assert np.array_equal(first, kept)
    assert np.array_equal(to_image(table()), kept)


def test_picture__same_in_another_process_without_display_or_tk() -> None:
    pytest.importorskip("PIL")
    program = (
        "import sys; sys.modules['tkinter'] = None; sys.path.insert(0, sys.argv[1])\n"
        "from test_render_view import table\n"
        "from smear_env.render import to_image\n"
        "import hashlib; print(hashlib.sha256(to_image(table()).tobytes()).hexdigest())"
    )
    environment = {key: value for key, value in os.environ.items() if "DISPLAY" not in key}
    root = Path(smear_env.render.__file__).parents[2]
    environment["PYTHONPATH"] = os.pathsep.join([str(root), environment.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", program, str(Path(__file__).parent)],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == hashlib.sha256(to_image(table()).tobytes()).hexdigest()


def test_picture__without_pillow_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    for module in ("picture", "faces"):
        monkeypatch.delitem(sys.modules, f"smear_env.render.{module}", raising=False)
    with pytest.raises(ImportError, match=r'pip install "smear-env\[render\]"'):
        to_image(table())
    assert "Seat 0" in to_text(table())


def test_render__imports_no_environment_and_no_engine() -> None:
    allowed = {"numpy", "PIL", "smear_env.render", *sys.stdlib_module_names}
    for path in Path(smear_env.render.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                own = name.startswith("smear_env.render.")
                assert own or name in allowed or name.partition(".")[0] in allowed, (path.name, name)


@pytest.mark.parametrize(
    ("players", "teams", "cards"), [(2, 2, 2), (4, 2, 6), (5, 5, 6), (6, 3, 6), (2, 2, 23)]
)
def test_text__names_every_card_of_a_shown_hand(players: int, teams: int, cards: int) -> None:
    view = table(players, teams, cards)
    words = to_text(view).split()
    for hand in view.hands:
        assert not isinstance(hand, int)
        assert all(words.count(card) == 1 for card in hand)


def test_text__names_no_card_of_a_hidden_hand() -> None:
    view = table()
    hidden = view.hands[2]
    assert not isinstance(hidden, int)
    text = to_text(replace(view, hands=(*view.hands[:2], len(hidden), view.hands[3])))
    assert not set(hidden) & set(text.split())
    assert "(6 cards)" in text


def test_text__is_ascii_of_fixed_width_and_marks_the_seat_to_act() -> None:
    for view in (table(), table(6, 3), replace(table(6, 3), hands=(23, 6, DECK[:23], 6, DECK[23:46], 6))):
        text = to_text(view)
        assert text.isascii()
        assert max(map(len, text.splitlines())) <= 84
        assert text.count("> Seat") == 1
        assert f"> Seat {view.turn} " in text


def test_text__shows_trick_contract_and_outcome() -> None:
    view = replace(
        table(), phase="over", turn=None, bidder=1, bid=3, trump="S", trick=((1, "AS"), (2, "TD")),
        last_trick=((0, "7S"),), last_winner=0, scores=(16, -3), winner=0,
    )  # fmt: skip
    text = to_text(view)
    for words in (
        "bid 3 by seat 1",
        "trump spades",
        "AS*",
        "TD",
        "0:7S",
        "taken by seat 0",
        "Team 0 wins with 16",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"players": 7}, "players=7"),
        ({"phase": "deal"}, "phase='deal'"),
        ({"trump": "X"}, "trump='X'"),
        ({"hands": (6, 6)}, "hands has 2 entries, expected 4"),
        ({"scores": (1,)}, "scores has 1 entries, expected 2"),
    ],
)
def test_view__refuses_what_cannot_be_drawn(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(table(), **change)  # type: ignore[arg-type]
