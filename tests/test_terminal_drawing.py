"""What the full screen is drawn from: felt, cards, tray, hints as lines of text of a given size."""

from __future__ import annotations

import pytest

pytest.importorskip("textual")

from smear_table.advice import Advice
from smear_table.terminal.canvas import Canvas, cut
from smear_table.terminal.cards import LARGE, MEDIUM, SMALL, face
from smear_table.terminal.felt import draw_felt, place, size_of
from smear_table.terminal.panels import hint_block
from smear_table.terminal.tray import Item, Tray
from tests.terminal_screens import new_match


def test_hint__shows_the_columns_that_there_is_room_for() -> None:
    bids = [
        ("3", Advice(0, 1.0, -12.3, 0.1, 0.82, 0.5, 0.031)),
        ("pass", Advice(1, 0.0, 0.0, 0.1, None, 0.4, -0.02)),
    ]
    cards = [("TS", Advice(0, 1.0, -1.3, 0.1, None, 0.5, 0.031))]
    shown = {
        (len(rows), width): [
            "".join(text for text, _ in line) for line in hint_block({"rows": rows}, width, 9)
        ]
        for rows in (bids, cards)
        for width in (23, 37)
    }
    assert shown[2, 23][1].split() == ["*bid", "3", "100%", "-12.3", "82%"]
    assert all(len(line) == width for (_, width), lines in shown.items() for line in lines)
    assert "match" not in shown[2, 23][0]
    assert shown[2, 37][1].split() == ["*bid", "3", "100%", "-12.3", "82%", "+3.1"]
    assert shown[1, 23][1].split() == ["*10♠", "100%", "-1.3", "+3.1"]


@pytest.mark.parametrize("players", [2, 3, 4, 6])
def test_felt__has_a_place_for_every_seat_clockwise_from_the_bottom(players: int) -> None:
    places = [place(seat, 0, players) for seat in range(players)]
    assert places[0] == (0, 1)
    assert len(set(places)) == players
    assert all(x <= 0 for x, _ in places[1 : players // 2])


@pytest.mark.parametrize("game", ["four_point", "schmier"])
@pytest.mark.parametrize(("width", "height"), [(50, 11), (52, 15), (89, 31), (158, 40)])
def test_felt__shows_every_card_of_a_full_trick_and_no_card_over_a_plate(
    game: str, width: int, height: int
) -> None:
    match = new_match(game)
    view = match.view()
    players = match.facts["players"]
    cards = ["AS", "TH", "9C", "KD", "QS", "JH"][:players]
    view |= {
        "phase": "play",
        "trump": "S",
        "bidder": 1,
        "bid": 4,
        "dealer": 3,
        "turn": 2,
        "trick": [[seat, card] for seat, card in enumerate(cards)],
    }
    drawn = draw_felt(match.facts, view, 0, width, height).plain
    assert len(drawn.splitlines()) <= height
    for card in cards:
        sign = {"S": "♠", "H": "♥", "C": "♣", "D": "♦"}[card[1]]
        size = size_of(width, height)
        if size != LARGE:
            assert f"{'10' if card[0] == 'T' else card[0]}{sign}" in drawn
    if size_of(width, height) != SMALL:
        assert drawn.count("╭") == drawn.count("╯") == players
    for name in (seat["name"] for seat in match.facts["seats"][1:]):
        assert name in drawn
    assert "bid 4" in drawn
    assert "♠ trump" in drawn


def test_face__is_of_its_size_and_carries_its_mark() -> None:
    for size in (SMALL, MEDIUM, LARGE):
        for card in ("AS", "TH", "JK", "LJ"):
            for frame in ("line", "double", "none"):
                lines = face(card, size, frame, "*")
                assert len(lines) == size.height
                assert {len(line) for line in lines} == {size.width}
                assert "*" in lines[-1]


def test_canvas__cuts_what_lies_outside_and_knows_wide_characters() -> None:
    canvas = Canvas(6, 1)
    canvas.put(-1, 0, "abc")
    canvas.put(3, 0, "王xyz")
    canvas.put(0, 3, "never")
    assert canvas.content().plain == "bc 王x"
    assert cut("Greedy 3", 6) == "Gree…3"
    assert cut("Wilhelmina", 5) == "Wilh…"
    assert cut("Ada", 5) == "Ada"


def test_tray__keeps_rows_of_one_size_even() -> None:
    tray = Tray()
    tray.items = [Item(str(index), ("[   ]",), (">   <",)) for index in range(14)]
    places = tray._places(77)
    assert [y for _, y in places] == [0] * 7 + [1] * 7
    assert tray._places(200)[-1] == (13 * 6, 0)
