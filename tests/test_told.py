"""Positions in words: made into exactly what the engine shows, and refused with a remedy where they cannot be."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from smear_env import decode, encode, make_rules
from smear_table.told.reading import read_told, told_of
from smear_table.told.words import Told
from tests.told_positions import GOLDEN, golden_positions

FILES = sorted(path.name for path in GOLDEN.glob("*.jsonl"))
FOUR = Told(hand="AS KS TS 9S 7D 8C", bids="pass 2", scores="9,12")


@pytest.mark.parametrize("file", FILES)
def test_position_in_words__is_what_the_engine_shows(file: str) -> None:
    for shown in golden_positions(file, 10, seed=2):
        seen = decode(shown.observation, shown.rules)
        assert np.array_equal(encode(seen, shown.rules), shown.observation)
        told = told_of(seen, shown.rules, shown.position.seat)
        observation, mask = read_told(told, shown.rules)
        assert np.array_equal(observation, shown.observation), told
        assert np.array_equal(mask, shown.mask), told


def test_auction__says_who_dealt() -> None:
    rules = make_rules("four_point")
    assert decode(read_told(FOUR, rules)[0], rules).dealer == 1
    seated = replace(FOUR, seat=3, bids="1:pass 2:2", scores="12,9")
    assert np.array_equal(read_told(seated, rules)[0], read_told(FOUR, rules)[0])


def test_cards__are_read_as_people_write_them() -> None:
    rules = make_rules("four_point")
    spoken = replace(FOUR, hand="a♠, k♠, 10♠, 9s / 7d 8C", bids="p 2", scores="9:12")
    assert np.array_equal(read_told(spoken, rules)[0], read_told(FOUR, rules)[0])


PLAYED = Told(
    hand="9S KH",
    seat=1,
    dealer=0,
    bids="2 pass pass pass",
    took="KS TS 9S",
    discards="7C 8C 9C",
    played="AS 7S 8S QS / KS JS 7D 9D / TS KD 8H 9H / AD JD TD QD",
)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hand": "AS KS TS 9S 7D 6C"}, "hand: '6C' is no card of four_point"),
        ({"hand": "AS KS TS 9S 7D"}, "hand: 5 cards, expected 6"),
        ({"hand": "AS KS TS 9S 7D 7D"}, "7D is given 2 times, in hand"),
        ({"hand": "AS KS TS 9S 7D 8C 9C"}, "hand: 7 cards, expected 6"),
        ({"bids": "pass 7"}, "bids: '7' is no call: say pass, 2, 3 or 4"),
        ({"bids": "3 2"}, "2 is not higher than 3"),
        ({"bids": "pass pass pass pass", "dealer": 0}, "everybody passed"),
        ({"bids": "pass 2", "dealer": 0}, "it is not your turn: seat 3 is to act"),
        ({"bids": "2:pass 1:2"}, "seat 1 is given 2, but seat 3 speaks then"),
        ({"bids": "2 3 4 pass pass", "dealer": 0}, "goes on after its end"),
        ({"bids": "2 pass 3 pass"}, "dealer: say who dealt"),
        ({"seat": 4}, "seat=4 is not at the table: four_point has seats 0 to 3"),
        ({"dealer": 7}, "dealer=7 is not at the table"),
        ({"scores": "9"}, "scores='9' must be 2 whole numbers"),
        ({"scores": "16,3"}, "the match is over"),
        ({"trump": "X"}, "trump='X' must be one of"),
        ({"trump": "S"}, "the first card led shows trump"),
        ({"exchanged": "2"}, "nobody exchanges"),
        ({"took": "AS"}, "took: 1 cards, but you drew 0"),
        ({"discards": "AC"}, "discards: 1 cards, but you threw 0"),
        ({"trick": "AH"}, "the auction is not over"),
    ],
)
def test_bad_words__are_refused_with_the_remedy(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        read_told(replace(FOUR, **changes), make_rules("four_point"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"played": PLAYED.played + " TC", "trick": "JC"}, "are no whole tricks"),
        ({"trick": "KC"}, "it is not your turn: seat 2 is to act (play)"),
        ({"took": ""}, "took: 0 cards, but you drew 3 from the stock: name them all"),
        ({"took": "KS TS AC"}, "took: AC is neither in hand nor among discards nor played by you"),
        ({"discards": "7C 8C"}, "cards are played already, so something is missing. discards"),
        ({"hand": "KH AS"}, "AS is given 2 times, in hand and played"),
        ({"hand": "9S"}, "hand: 1 cards, expected 2 (6 dealt, 3 drawn, less 3 thrown, less 4 played)"),
        ({"played": PLAYED.played + " / 8D KC QC JC / 7H TH QH AH"}, "nothing to decide"),
        (
            {"hand": "AC KH", "took": "KS TS AC", "played": PLAYED.played.replace("TD QD", "TD 9S")},
            "9 of spades comes from a seat that showed before that it held no spades",
        ),
    ],
)
def test_bad_play__is_refused_with_the_remedy(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        read_told(replace(PLAYED, **changes), make_rules("four_point"))


def test_schmier__asks_for_what_is_missing() -> None:
    rules = make_rules("schmier")
    told = Told(hand="AS KS QS JS TS 9S", dealer=5, bids="3 pass pass pass pass pass")
    assert decode(read_told(told, rules)[0], rules).phase == "name"
    assert decode(read_told(replace(told, trump="spades"), rules)[0], rules).phase == "exchange"
    with pytest.raises(ValueError, match="it is not your turn: seat 1 is to act"):
        read_told(replace(told, trump="S", exchanged="0"), rules)
    with pytest.raises(ValueError, match="exchanged='4' must be numbers from 0 to 3"):
        read_told(replace(told, trump="S", exchanged="4"), rules)


def test_own_revoke__is_refused() -> None:
    rules = make_rules("four_point", stock_to_bidder=0)
    told = Told(
        hand="AH 9D TD KD QD", dealer=0, bids="2 pass pass pass", played="QH 7H 8H 8C", trick="KH 9H JH"
    )
    with pytest.raises(
        ValueError, match="hand: you hold the ace of hearts, but have shown that you held no hearts"
    ):
        read_told(told, rules)


def test_throw_that_the_rules_forbid__is_refused() -> None:
    rules = make_rules("schmier")
    told = Told(hand="KS QS TS 9S 2H", dealer=5, bids="3 pass pass pass pass pass", trump="S", discards="AS")
    with pytest.raises(ValueError, match="AS by seat 0 is not allowed"):
        read_told(told, rules)
