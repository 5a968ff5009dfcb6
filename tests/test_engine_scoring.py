"""Corners of points, scores and the end of a match, one tiny test each, in the engine and the reference side by side.

Two deals serve most tests. In both seat 0 bids first, holds the six highest trumps and takes every trick:

- `four_point` without stock: High, Jack and Game to team 0, Low to team 1, whose seat 1 holds the seven.
- `schmier` without stock or exchange: all to team 0 but Low, to team 1, whose seat 1 holds the two.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine_match import Pair, dealt
from tests.reference.cards import card_points

FOUR = "four_point"
SIX = "schmier"
STRAIGHT: dict[str, dict[str, Any]] = {
    FOUR: {"stock_to_bidder": 0},
    SIX: {"exchange": 0, "dealer_takes_stock": False},
}
HANDS = {FOUR: ["AS KS QS JS TS 9S", "7S"], SIX: ["AH KH QH JH JD TH", "2H", "JK"]}
TRUMP = {FOUR: "", SIX: " trump:H"}


def sweep(
    game: str, bid: int, hands: list[str] | None = None, scores: list[int] | None = None, **options: Any
) -> Pair:
    """Seat 0 bids, nobody bids more, and the deal is played to its end with everybody's first legal card."""
    last = 3 if game == FOUR else 5
    pair = dealt(game, hands or HANDS[game], dealer=last, scores=scores, **{**STRAIGHT[game], **options})
    pair.act(str(bid))
    while pair.reference.phase == "bid":
        pair.act("pass")
    return pair.play(TRUMP[game]).finish_deal()


# ---------------------------------------------------------------- points


@pytest.mark.parametrize(
    ("game", "points"),
    [
        (FOUR, {"high": 0, "low": 1, "jack": 0, "game": 0}),
        (SIX, {"high": 0, "low": 1, "right": 0, "left": 0, "joker": 0, "game": 0}),
    ],
)
def test_points__go_to_who_played_or_won_them(game: str, points: dict[str, int]) -> None:
    assert sweep(game, 3).result["points"] == points


@pytest.mark.parametrize("game", [FOUR, SIX])
@pytest.mark.parametrize(("low_to", "team"), [("holder", 1), ("winner", 0)])
def test_low__goes_to_its_holder_or_its_winner(game: str, low_to: str, team: int) -> None:
    assert sweep(game, 3, low_to=low_to).result["points"]["low"] == team


@pytest.mark.parametrize(
    ("game", "hands", "point"),
    [
        (FOUR, ["KS QS JS TS 9S 8S", "7S"], "high"),
        (FOUR, ["AS KS QS JS TS 9S", "8S"], "low"),
        (SIX, ["KH QH JH JD TH 9H", "2H", "JK"], "high"),
        (SIX, ["AH KH QH JH JD TH", "3H", "JK"], "low"),
    ],
)
@pytest.mark.parametrize("high_low", ["void", "in_play"])
def test_high_low__of_cards_not_played(game: str, hands: list[str], point: str, high_low: str) -> None:
    # The ace, or the lowest trump, lies in the stock.
    pair = sweep(game, 3, with_stock(game, hands), high_low=high_low)
    team = {"high": 0, "low": 1}[point]
    assert pair.result["points"][point] == (team if high_low == "in_play" else None)


def with_stock(game: str, hands: list[str]) -> list[str]:
    """The hands filled with side cards, so that no trump comes into play but those given."""
    seats, ranks, suits = (4, "789TJQKA", "CDH") if game == FOUR else (6, "23456789TJQKA", "CDS")
    given = [hand.split() for hand in hands] + [[] for _ in range(seats - len(hands))]
    taken = {card for hand in given for card in hand} | ({"JD"} if game == SIX else set())
    filler = [rank + suit for suit in suits for rank in ranks if rank + suit not in taken]
    for hand in given:
        missing = 6 - len(hand)
        hand.extend(filler[:missing])
        del filler[:missing]
    return [" ".join(hand) for hand in given]


@pytest.mark.parametrize("high_low", ["void", "in_play"])
def test_low__is_never_the_joker(high_low: str) -> None:
    # The only trumps in play are the ace and the joker: the ace is the lowest that can be Low.
    hands = with_stock(SIX, ["AH AC KC QC TC 9C", "JK"])
    pair = dealt(SIX, hands, dealer=5, high_low=high_low, **STRAIGHT[SIX])
    points = pair.play("3" + " pass" * 5 + " trump:H AH JK").finish_deal().result["points"]
    assert points["high"] == points["joker"] == 0
    assert points["low"] == (0 if high_low == "in_play" else None)


def test_high__is_the_joker_where_no_other_trump_is_played() -> None:
    hands = with_stock(SIX, ["JK AC KC QC TC 9C"])
    pair = dealt(SIX, hands, dealer=5, high_low="in_play", **STRAIGHT[SIX])
    points = pair.play("3" + " pass" * 5 + " trump:H").finish_deal().result["points"]
    assert (points["high"], points["low"]) == (0, None)


def test_game__counts_the_discards_of_the_bidder() -> None:
    hands = ["7S 8H 9H TH JH QH", "AS KS QS JS TS 9S"]
    pair = dealt(FOUR, hands, stock="TC TD KH", dealer=3).play("2 pass pass pass TC TD KH 7S").finish_deal()
    played = [card for _, trick, _ in pair.reference.tricks for _, card in trick]
    assert pair.result["card_points"] == [23, sum(map(card_points, played))]
    assert pair.result["points"]["game"] == 1
    assert len(played) == 24


def test_game__schmier_discards_count_for_nobody() -> None:
    pair = dealt(SIX, dealer=5).play("3" + " pass" * 5 + " trump:H").finish_deal()
    played = [card for _, trick, _ in pair.reference.tricks for _, card in trick]
    assert sum(pair.result["card_points"]) == sum(map(card_points, played)) < 81


TIED = {
    "two teams, 35 each": (
        FOUR,
        ["QD QH JH TC 8S KS", "KC 8C AH AS AD 7H", "JS TD 9C JC KD TH", "QS 7C 9S TS 7D 8H"],
        "2 pass pass pass KC JC 7C TC AS 9C 9S 8S KD 7D QD AD 8C JS TS JH 7H TH 8H QH KS AH TD QS",
    ),
    "the bidder's team and another": (
        SIX,
        [
            *("JS 5D 4S 7S JK 2D", "2H 6H 4D 4H 9D 4C", "6S 9C 5C QH QC 9S"),
            *("5S AH 7D 7H AC 5H", "TH JH 8S TC KC TS", "AD 7C 2S 2C AS 6D"),
        ],
        (
            "6 trump:C 6H QH 5H JH 7C 5D AD 2D 9D 9S 7D TC KC 2C JS 4C 5C AC 7H TH 2S 7S 2H QC "
            "9C AH 8S AS JK 4H 6S 5S TS 6D 4S 4D"
        ),
    ),
    "two teams, neither the bidder's": (
        SIX,
        [
            *("TD 2H 6D 8D 6S KH", "6C 8S 9S 8H 4H KS", "5S AS QD 9H 8C 9C"),
            *("QS JH 4C 9D 2C 5D", "3H TS 3S AD JS 2D", "3C KD 2S AC JD JC"),
        ],
        (
            "3 pass pass pass pass pass trump:H KS 5S QS JS 2S 6S 8S AS JH TS 3C 8D 2C AD AC TD 6C 8C "
            "JC KH 9S 9C 4C 3H 6D 4H QD 9D 2D KD 8H 9H 5D 3S JD 2H"
        ),
    ),
}


@pytest.mark.parametrize(
    ("tie", "option", "team"),
    [
        ("two teams, 35 each", "nobody", None),
        ("two teams, 35 each", "bidder", 1),
        ("two teams, 35 each", "non_bidder", 0),
        ("the bidder's team and another", "nobody", None),
        ("the bidder's team and another", "bidder", 1),
        ("two teams, neither the bidder's", "nobody", None),
        ("two teams, neither the bidder's", "bidder", None),
    ],
)
def test_game__tie(tie: str, option: str, team: int | None) -> None:
    game, hands, actions = TIED[tie]
    pair = dealt(game, hands, dealer=0, game_tie=option, **STRAIGHT[game]).play(actions)
    assert pair.result["bidder"] % pair.rules.teams == 1
    assert pair.result["points"]["game"] == team


# ---------------------------------------------------------------- scores and the end


@pytest.mark.parametrize(
    ("game", "bid", "options", "delta"),
    [
        (FOUR, 3, {}, [3, 1]),
        (FOUR, 4, {}, [-4, 1]),
        (FOUR, 4, {"failed_bid": "points"}, [-3, 1]),
        (FOUR, 4, {"low_to": "winner"}, [4, 0]),
        (SIX, 5, {}, [5, 1, 0]),
        (SIX, 6, {}, [-6, 1, 0]),
        (SIX, 6, {"failed_bid": "points"}, [-5, 1, 0]),
        (SIX, 6, {"teams": 2}, [-6, 1]),
    ],
)
def test_score__a_bid_made_or_failed(game: str, bid: int, options: dict[str, Any], delta: list[int]) -> None:
    pair = sweep(game, bid, **options)
    assert pair.result["delta"] == pair.result["scores"] == delta
    assert pair.result["made"] == (delta[0] > 0)


@pytest.mark.parametrize(
    ("bid", "before", "options", "after", "winner"),
    [
        pytest.param(3, [12, 13], {}, [15, 14], 0, id="bidder alone"),
        pytest.param(3, [0, 14], {}, [3, 15], 1, id="another alone"),
        pytest.param(4, [14, 14], {}, [10, 15], 1, id="another, on a failed bid"),
        pytest.param(3, [12, 15], {}, [15, 16], 1, id="both, the higher"),
        pytest.param(3, [12, 14], {}, [15, 15], 0, id="both level, the bidder"),
        pytest.param(3, [12, 15], {"both_out": "bidder"}, [15, 16], 0, id="both, the bidder first"),
        pytest.param(
            4, [19, 15], {"both_out": "bidder"}, [15, 16], 0, id="both, the bidder first though he failed"
        ),
        pytest.param(4, [14, 14], {"ending": "made_deal"}, [10, 15], None, id="made_deal, failed"),
        pytest.param(3, [0, 14], {"ending": "made_deal"}, [3, 15], 1, id="made_deal, another wins"),
        pytest.param(3, [0, 14], {"ending": "made_bid"}, [3, 15], None, id="made_bid, another alone"),
        pytest.param(3, [12, 18], {"ending": "made_bid"}, [15, 19], 0, id="made_bid, another higher"),
        pytest.param(4, [19, 0], {"ending": "made_bid"}, [15, 1], None, id="made_bid, failed though above"),
        pytest.param(3, [0, 15], {"ending": "cap"}, [3, 15], 1, id="cap, at the target already"),
        pytest.param(3, [14, 15], {"ending": "cap"}, [17, 15], 0, id="cap, not for the bidder"),
    ],
)
def test_match__four_point_ends(
    bid: int, before: list[int], options: dict[str, Any], after: list[int], winner: int | None
) -> None:
    pair = sweep(FOUR, bid, scores=before, **options)
    assert (pair.result["scores"], pair.engine.winner) == (after, winner)
    assert pair.engine.over == (winner is not None)


@pytest.mark.parametrize(
    ("bid", "before", "options", "after", "winner"),
    [
        pytest.param(5, [16, 0, 0], {}, [21, 1, 0], 0, id="bidder alone"),
        pytest.param(5, [16, 21, 0], {}, [21, 22, 0], 1, id="two, the higher"),
        pytest.param(5, [16, 20, 21], {}, [21, 21, 21], 0, id="three level, the bidder"),
        pytest.param(5, [0, 20, 21], {}, [5, 21, 21], None, id="two others level, another deal"),
        pytest.param(5, [16, 21, 22], {}, [21, 22, 22], None, id="two others level above the bidder"),
        pytest.param(5, [16, 21, 22], {"both_out": "bidder"}, [21, 22, 22], 0, id="the bidder first"),
        pytest.param(5, [0, 20, 21], {"both_out": "bidder"}, [5, 21, 21], None, id="the bidder is not out"),
        pytest.param(6, [20, 20, 0], {"ending": "made_deal"}, [14, 21, 0], None, id="made_deal, failed"),
        pytest.param(5, [0, 20, 0], {"ending": "made_deal"}, [5, 21, 0], 1, id="made_deal, another wins"),
        pytest.param(5, [16, 24, 0], {"ending": "made_bid"}, [21, 25, 0], 0, id="made_bid, another higher"),
        pytest.param(5, [0, 20, 0], {"ending": "made_bid"}, [5, 21, 0], None, id="made_bid, another alone"),
        pytest.param(5, [0, 21, 0], {"ending": "cap"}, [5, 21, 0], 1, id="cap"),
    ],
)
def test_match__schmier_ends(
    bid: int, before: list[int], options: dict[str, Any], after: list[int], winner: int | None
) -> None:
    pair = sweep(SIX, bid, scores=before, **options)
    assert (pair.result["scores"], pair.engine.winner) == (after, winner)
    assert pair.engine.over == (winner is not None)


@pytest.mark.parametrize(("ending", "score"), [("any", 16), ("cap", 15)])
def test_cap__what_a_non_bidding_team_scores_beyond_the_target(ending: str, score: int) -> None:
    # Seat 0 leads the seven to seat 1's six high trumps: three points to team 1 from 13.
    hands = with_stock(FOUR, ["7S", "AS KS QS JS TS 9S"])
    pair = dealt(FOUR, hands, dealer=3, scores=[0, 13], stock_to_bidder=0, ending=ending)
    pair.play("2 pass pass pass 7S").finish_deal()
    assert pair.result["delta"] == [-2, 3]
    assert pair.result["scores"] == [-2, score]
    assert pair.engine.winner == 1


@pytest.mark.parametrize(("game", "seats"), [(FOUR, 4), (SIX, 6)])
def test_deal__passes_left_after_a_scored_deal(game: str, seats: int) -> None:
    assert sweep(game, 3).engine.dealer == 0
