"""Corners of auction, stock, discards and play, one tiny test each.

Each position is played in the engine and in the reference side by side (`engine_match.dealt`), so that besides what a
test states, everything that both show is compared. Hands that a test does not give are filled in the deck's order.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine_match import Pair, dealt

FOUR = "four_point"
SIX = "schmier"


# ---------------------------------------------------------------- auction


@pytest.mark.parametrize(("game", "highest"), [(FOUR, "4"), (SIX, "6")])
def test_auction__ends_at_once_on_the_highest_bid(game: str, highest: str) -> None:
    pair = dealt(game, dealer=2).play(highest)
    assert pair.reference.bidder == 3
    assert pair.reference.phase != "bid"


@pytest.mark.parametrize(("game", "bids", "left"), [(FOUR, "3", "4 pass"), (SIX, "4 pass", "5 6 pass")])
def test_auction__only_higher_bids_are_legal(game: str, bids: str, left: str) -> None:
    assert " ".join(dealt(game).play(bids).legal) == left


@pytest.mark.parametrize(
    ("game", "bids", "partner"), [(FOUR, "2 pass 3 pass", 3), (SIX, "3 pass pass 4 pass pass", 4)]
)
def test_auction__a_bidder_is_outbid_by_his_partner(game: str, bids: str, partner: int) -> None:
    pair = dealt(game, dealer=0).play(bids)
    assert pair.reference.turn == pair.reference.bidder == partner


@pytest.mark.parametrize(("all_pass", "dealer"), [("same_dealer", 1), ("next_dealer", 3)])
@pytest.mark.parametrize(("game", "seats"), [(FOUR, 4), (SIX, 6)])
def test_auction__all_pass_twice(game: str, seats: int, all_pass: str, dealer: int) -> None:
    pair = dealt(game, dealer=1, all_pass=all_pass)
    hands, stock = pair.reference.hands, pair.reference.stock
    pair.play("pass " * seats)
    pair.deal(hands, stock)
    pair.play("pass " * seats)
    assert pair.result == {"redeal": True}
    assert pair.engine.dealer == dealer
    assert pair.reference.scores == [0] * pair.rules.teams


@pytest.mark.parametrize(("game", "seats", "legal"), [(FOUR, 4, "2 3 4"), (SIX, 6, "3 4 5 6")])
def test_auction__dealer_bids_when_all_others_pass(game: str, seats: int, legal: str) -> None:
    pair = dealt(game, dealer=1, all_pass="dealer_bids").play("pass " * (seats - 1))
    assert pair.reference.turn == 1
    assert " ".join(pair.legal) == legal


@pytest.mark.parametrize(("game", "seats"), [(FOUR, 4), (SIX, 6)])
def test_auction__dealer_may_pass_after_a_bid(game: str, seats: int) -> None:
    pair = dealt(game, all_pass="dealer_bids").play("3" + " pass" * (seats - 2))
    assert "pass" in pair.legal


@pytest.mark.parametrize(("game", "seats"), [(FOUR, 4), (SIX, 6)])
def test_match__deals_thrown_in_count_towards_the_limit(game: str, seats: int) -> None:
    pair = dealt(game, max_deals=1).play("pass " * seats)
    assert pair.engine.over
    assert bool(pair.engine.fields["truncated"][0])
    assert pair.engine.winner is None


# ---------------------------------------------------------------- stock and discards


def test_stock__the_bidder_who_deals_takes_the_top_cards() -> None:
    pair = dealt(FOUR, ["AS KS QS JS TS 9S"], stock="7H 8H 9H", dealer=0).play("pass pass pass 2")
    assert pair.reference.turn == 0
    assert pair.reference.taken[0] == ["7H", "8H", "9H"]
    assert pair.play("7H 8H 9H").reference.turn == 0


def test_stock__the_bidder_who_deals_names_trump_takes_the_rest_and_leads() -> None:
    pair = dealt(SIX, dealer=0).play("pass pass pass pass pass 3 trump:H" + " pass" * 5)
    assert pair.reference.phase == "discard"
    assert len(pair.reference.hands[0]) == 6 + 17
    while pair.reference.phase == "discard":
        pair.act(pair.legal[0])
    assert pair.reference.turn == 0


def test_discard__seven_trumps_one_may_go() -> None:
    pair = seven_spades()
    pair.play("7S")
    assert " ".join(pair.legal) == "7H 8D 8S AS JS KS QS TS"
    assert set(pair.play("7H 8D").legal) == {"AS", "KS", "QS", "JS", "TS", "8S"}


def test_discard__seven_trumps_a_second_one_rules_the_suit_out() -> None:
    pair = seven_spades().play("7S 8S 7H")
    assert pair.legal == ["8D"]


def seven_spades() -> Pair:
    """Seat 1 bids with seven spades in its nine cards, to be six."""
    return dealt(FOUR, ["", "AS KS QS JS TS 7S"], stock="8S 7H 8D").play("4")


def test_discard__eight_trumps_two_must_go() -> None:
    pair = dealt(FOUR, ["", "AS KS QS JS TS 7S"], stock="8S 9S 7H").play("4")
    assert "7H" in pair.legal
    pair.play("7H 7S")
    assert len(pair.legal) == 7
    pair.play("8S")
    assert all(card.endswith("S") for card in pair.legal)


def test_discard__one_suit_at_least_stays_possible() -> None:
    # Without the ace, spades cannot be trump any more; so hearts must be.
    pair = dealt(FOUR, ["", "AS KS QS AH KH QH"], stock="JS JH TH").play("4 AS")
    assert pair.legal == ["JS", "KS", "QS"]


def test_discard__a_dealer_takes_seventeen_cards() -> None:
    pair = dealt(SIX, dealer=3).play("3" + " pass" * 5 + " trump:D" + " pass" * 5)
    assert len(pair.reference.taken[3]) == 17
    assert int(pair.engine.fields["exchanged"][0, 3]) == 17
    for _ in range(17):
        assert pair.reference.turn == 3
        pair.act(pair.legal[0])
    assert pair.reference.phase == "play"


def test_discard__the_dealer_keeps_the_scoring_trumps() -> None:
    pair = dealt(SIX, ["AD JD JH 2D JK KD"], stock="QD TD 9D 8D", dealer=0)
    pair.play("3" + " pass" * 5 + " trump:D" + " pass" * 5)
    thrown = []
    while pair.reference.phase == "discard":
        assert not {"AD", "JD", "JH", "2D", "JK"} & set(pair.legal)
        thrown.append(pair.legal[-1])
        pair.act(thrown[-1])
    assert {"AD", "JD", "JH", "2D", "JK"} < set(pair.reference.hands[0])


def test_discard__a_scoring_trump_may_go_unprotected() -> None:
    pair = dealt(SIX, ["AD JD JH 2D JK KD"], stock="QD TD 9D 8D", dealer=0, protect_scoring=False)
    pair.play("3" + " pass" * 5 + " trump:D" + " pass" * 5)
    assert {"AD", "JK"} <= set(pair.legal)


def test_exchange__draws_as_many_from_the_top() -> None:
    pair = dealt(SIX, ["", "2C 3C 4C 5C 6C 7C"], stock="AD KD QD").play(
        "3" + " pass" * 5 + " trump:H 2C 3C pass"
    )
    assert set(pair.reference.hands[1]) == {"4C", "5C", "6C", "7C", "AD", "KD"}


def test_exchange__stops_by_itself_after_three() -> None:
    pair = dealt(SIX, ["", "2C 3C 4C 5C 6C 7C"]).play("3" + " pass" * 5 + " trump:H 2C 3C 4C")
    assert pair.reference.turn == 2


def test_exchange__with_trumps_only_passing_is_all() -> None:
    pair = dealt(SIX, ["", "AH KH QH JH JD JK"]).play("3" + " pass" * 5 + " trump:H")
    assert pair.legal == ["pass"]


def test_exchange_exactly__with_two_cards_that_are_not_trump_passing_is_all() -> None:
    pair = dealt(SIX, ["", "AH KH QH JH 2C 3C"], exchange_exactly=True)
    assert pair.play("3" + " pass" * 5 + " trump:H").legal == ["pass"]


def test_exchange_exactly__no_stopping_in_between() -> None:
    pair = dealt(SIX, ["", "AH KH QH 2C 3C 4C"], exchange_exactly=True)
    assert pair.play("3" + " pass" * 5 + " trump:H").legal == ["2C", "3C", "4C", "pass"]
    assert pair.play("2C").legal == ["3C", "4C"]


# ---------------------------------------------------------------- play


def straight(hands: list[str], **options: Any) -> Pair:
    """Schmier without the stock: seat 0 bids 3 and names hearts."""
    pair = dealt(SIX, hands, dealer=5, exchange=0, dealer_takes_stock=False, **options)
    return pair.play("3" + " pass" * 5 + " trump:H")


def test_lead__the_left_bower_asks_for_trump() -> None:
    pair = straight(["JD AC KC QC TC 9C", "2H AD KD 2C 3C 4C", "QD TD 9D 5C 6C 7C"]).play("JD")
    assert pair.legal == ["2H"]
    assert len(pair.play("2H").legal) == 6


def test_follow__the_left_bower_is_no_diamond() -> None:
    pair = straight(["AD AC KC QC TC 9C", "JD 2D 2C 3C 4C 5C"])
    assert pair.play("AD").legal == ["2D"]


def test_follow__a_lone_left_bower_must_follow_trump() -> None:
    pair = straight(["AH AC KC QC TC 9C", "JD AD KD 2C 3C 4C"]).play("AH")
    assert pair.legal == ["JD"]


def test_follow__the_joker_alone_must_follow_trump() -> None:
    pair = straight(["AH AC KC QC TC 9C", "JK AD KD 2C 3C 4C"]).play("AH")
    assert pair.legal == ["JK"]


def test_follow__trump_instead_only_with_may_trump() -> None:
    hands = ["AC KC QC TC 9C AH", "2C KH QH 2S 3S 4S"]
    assert straight(hands).play("AC").legal == ["2C"]
    assert straight(hands, may_trump=True).play("AC").legal == ["2C", "KH", "QH"]


@pytest.mark.parametrize(("may_trump", "legal"), [(True, ["9S", "AC"]), (False, ["AC"])])
def test_four_point__may_trump_although_able_to_follow(may_trump: bool, legal: list[str]) -> None:
    hands = ["", "AS KC QC TC 9C 8C", "7S 9S AC 7H 8H 9H", "8S 7C"]
    pair = dealt(FOUR, hands, stock_to_bidder=0, may_trump=may_trump).play("4 AS 7S 8S")
    pair.act(pair.legal[0])
    assert pair.play("KC").legal == legal


def test_lead__first_lead_is_a_trump_with_lead_trump_first() -> None:
    hands = ["JD KH AC KC QC TC"]
    assert straight(hands, lead_trump_first=True).legal == ["JD", "KH"]
    assert len(straight(hands).legal) == 6
    assert len(straight(["AS KS AC KC QC TC"], lead_trump_first=True).legal) == 6


def test_trick__the_right_bower_beats_the_left_and_both_the_ten() -> None:
    pair = straight(["TH AC KC QC TC 9C", "JD 2C 3C 4C 5C 6C", "JH 7C 8C 2S 3S 4S"]).play("TH JD JH")
    assert pair.engine.fields["best_seat"][0] == 2


def test_trick__a_queen_of_trump_beats_the_right_bower() -> None:
    pair = straight(["JH AC KC QC TC 9C", "QH 2C 3C 4C 5C 6C"]).play("JH QH")
    assert pair.engine.fields["best_seat"][0] == 1


def test_trick__the_joker_is_the_lowest_trump() -> None:
    pair = straight(["AC KC QC TC 9C 8C", "JK 2S 3S 4S 5S 6S", "2H 7S 8S 9S TS QS"]).play("AC JK 2H")
    assert pair.engine.fields["best_seat"][0] == 2


def test_four_point__the_first_lead_is_trump() -> None:
    pair = dealt(FOUR, ["", "7D AS KS QS JS TS"], stock_to_bidder=0).play("2 pass pass pass")
    assert pair.engine.fields["trump"][0] == -1
    pair.act("7D")
    assert pair.rules.suits[pair.engine.fields["trump"][0]] == "D"


def test_void__a_discard_on_a_side_suit_shows_it() -> None:
    pair = straight(["AC KC QC TC 9C AH", "2S 3S 4S 5S 6S 7S"]).play("AC 2S")
    assert pair.voids(1) == {"C"}


def test_void__a_side_card_on_a_trump_lead_shows_no_trump() -> None:
    pair = straight(["AH KC QC TC 9C 8C", "2S 3S 4S 5S 6S 7S"]).play("AH 2S")
    assert pair.voids(1) == {"H"}
