"""How people order and name cards: which are trumps, which is high, how a hand is held.

The engine has tables for this, on card ids; these few lines work on names, for views and explanations, and a test holds
them to the engine.
"""

from __future__ import annotations

from functools import lru_cache

from smear_env import Rules

SUIT_NAMES = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}
RANK_NAMES = {"A": "ace", "K": "king", "Q": "queen", "J": "jack", "T": "ten"}
JOKER_TEXTS = {"JK": "joker", "BJ": "big joker", "LJ": "little joker"}
POINT_NAMES = {
    "high": "High",
    "low": "Low",
    "jack": "Jack",
    "right": "Right",
    "left": "Left",
    "joker": "Joker",
    "big_joker": "Big joker",
    "little_joker": "Little joker",
    "game": "Game",
}
_SAME_COLOUR = {"C": "S", "S": "C", "D": "H", "H": "D"}
_HELD = "SHCD"
"""Suits from left to right in a hand: colours alternate."""


def card_text(card: str) -> str:
    """`AS` as `ace of spades`."""
    if card in JOKER_TEXTS:
        return JOKER_TEXTS[card]
    return f"{RANK_NAMES.get(card[0], card[0])} of {SUIT_NAMES[card[1]]}"


@lru_cache(maxsize=256)
def trumps(rules: Rules, trump: str) -> tuple[str, ...]:
    """The trumps from high to low, bowers and jokers included."""
    cards: list[str] = []
    for rank in reversed(rules.ranks):
        cards.append(rank + trump)
        if rank == "J" and rules.bowers:
            cards.append("J" + _SAME_COLOUR[trump])
    return (*cards, *reversed(rules.joker_names))


def suit_of(rules: Rules, card: str, trump: str | None) -> str | None:
    """The suit that a card follows under a trump; None for a joker before trump is known."""
    if trump is not None and card in trumps(rules, trump):
        return trump
    return None if card in rules.joker_names else card[1]


def scoring(rules: Rules, trump: str) -> tuple[str, ...]:
    """The trumps that score: ace, lowest, jack or bowers, jokers."""
    bowers = ("J" + _SAME_COLOUR[trump],) if rules.bowers else ()
    return ("A" + trump, rules.ranks[0] + trump, "J" + trump, *bowers, *rules.joker_names)


def held(rules: Rules, hand: tuple[str, ...], trump: str | None) -> list[str]:
    """A hand as people hold it: trumps first, then suits of alternating colours, high cards first."""
    first = trumps(rules, trump) if trump else ()
    rest = [suit for suit in _HELD if suit in rules.suits]

    def place(card: str) -> tuple[int, int]:
        if card in first:
            return 0, first.index(card)
        if card in rules.joker_names:
            return 9, 0
        return 1 + rest.index(card[1]), -rules.ranks.index(card[0])

    return sorted(hand, key=place)
