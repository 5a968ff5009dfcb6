"""The auction in words: who said what, and who must have dealt."""

from __future__ import annotations

from collections.abc import Sequence

from smear_env import Rules
from smear_table.told.words import Told

SIGNS = str.maketrans({"♠": "S", "♥": "H", "♦": "D", "♣": "C", ",": " ", ";": " ", "/": " ", "|": " "})
"""Signs of suits as letters, and what may stand between words."""


def auction_of(told: Told, rules: Rules) -> tuple[tuple[tuple[int, str], ...], int]:
    """(seat, word) of the auction and the dealer, seats counted from the viewer."""
    words = [_call(rules, word) for word in told.bids.translate(SIGNS).split()]
    dealer = _dealer(told, rules, words)
    said: list[tuple[int, str]] = []
    high = 0
    for place, (given, word) in enumerate(words):
        speaker = (dealer + 1 + place) % rules.players
        if place >= rules.players or high == rules.max_bid:
            raise ValueError(
                f"bids={told.bids!r} goes on after its end: each seat speaks once, and nobody after {rules.max_bid}"
            )
        if given is not None and given != speaker:
            raise ValueError(
                f"bids={told.bids!r}: seat {given} is given {word}, but seat {speaker} speaks then, as seat {dealer} "
                "has dealt; correct bids or dealer"
            )
        if word == "pass" and place == rules.players - 1 and not high:
            raise ValueError(f"bids={told.bids!r}: everybody passed, so {_passed_out(rules)}")
        if word != "pass":
            if int(word) <= high:
                raise ValueError(f"bids={told.bids!r}: {word} is not higher than {high}, bid before it")
            high = int(word)
        said.append(((speaker - told.seat) % rules.players, word))
    return tuple(said), (dealer - told.seat) % rules.players


def _passed_out(rules: Rules) -> str:
    if rules.all_pass == "dealer_bids":
        return "the dealer must bid: he cannot pass"
    return "the cards are thrown in and there is nothing to decide"


def _call(rules: Rules, word: str) -> tuple[int | None, str]:
    """`2:pass` or `pass` as the seat, if it is given, and what it says."""
    seat, _, said = word.rpartition(":")
    call = "pass" if said.lower() in ("p", "pass") else said
    calls = ("pass", *map(str, range(rules.min_bid, rules.max_bid + 1)))
    if call not in calls or not (seat == "" or (seat.isdigit() and int(seat) < rules.players)):
        raise ValueError(
            f"bids: {word!r} is no call: say {', '.join(calls[:-1])} or {calls[-1]}, with a seat from 0 to "
            f"{rules.players - 1} and a colon in front if you like"
        )
    return (int(seat) if seat else None), call


def _dealer(told: Told, rules: Rules, words: Sequence[tuple[int | None, str]]) -> int:
    """The dealer's seat as told, or as it follows from who has spoken or is to speak."""
    if told.dealer is not None:
        if not 0 <= told.dealer < rules.players:
            raise ValueError(f"dealer={told.dealer} is not at the table: seats are 0 to {rules.players - 1}")
        return told.dealer
    for place, (seat, _) in enumerate(words):
        if seat is not None:
            return (seat - place - 1) % rules.players
    if len(words) >= rules.players or any(word == str(rules.max_bid) for _, word in words):
        raise ValueError("dealer: say who dealt; after the auction the bids alone do not tell")
    return (told.seat - len(words) - 1) % rules.players
