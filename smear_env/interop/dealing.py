"""A deal as a sequence of single chance events with known probabilities, for libraries that want chance explicit.

First the dealer, unless he is given; then each seat's hand, from its lowest card id up; then the cards of the stock
that can be drawn. A hand is a set, so that dealing it in rising order leaves one sequence for each: in mini 1,680 deals
instead of 40,320 orders of the deck. The next card of a hand is `c` with the share of hands whose next one it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from smear_env.rules import Rules

DRAWN = -1
"""In place of a dealer's seat: drawn at random."""


@lru_cache(maxsize=4096)
def next_of_set(cards: tuple[int, ...], wanted: int) -> tuple[tuple[int, float], ...]:
    """(card, probability) of the lowest card of a random set of `wanted` out of `cards`, which rise."""
    total, size = math.comb(len(cards), wanted), len(cards)
    return tuple(
        (card, math.comb(size - place - 1, wanted - 1) / total)
        for place, card in enumerate(cards[: size - wanted + 1])
    )


class Dealing:
    """Which chance event comes next, from those before it; the same object for every deal of a game.

    Args:
        rules: of the game.
        dealer: his seat, or DRAWN.
    """

    def __init__(self, rules: Rules, dealer: int = DRAWN) -> None:
        self.rules = rules
        self.dealer = dealer
        self._ordered = bool(rules.exchange or rules.dealer_takes_stock)
        """Several seats draw from the stock, so that it matters in which order its cards lie."""
        self._drawn = rules.stock_size if self._ordered else rules.stock_to_bidder
        self.first_card = 1 if dealer == DRAWN else 0
        """Place of the first card among the events; before it, the dealer's seat."""
        self.length = self.first_card + rules.players * rules.hand_size + self._drawn

    def outcomes(self, events: Sequence[int]) -> list[tuple[int, float]]:
        """Each next event with its probability, rising; `events` are those so far, fewer than `length`."""
        rules = self.rules
        if len(events) < self.first_card:
            return [(seat, 1 / rules.players) for seat in range(rules.players)]
        dealt = list(events[self.first_card :])
        hands = rules.players * rules.hand_size
        held, in_order = len(dealt) < hands, self._ordered
        place = len(dealt) % rules.hand_size if held else len(dealt) - hands
        wanted = (rules.hand_size if held else self._drawn) - place
        before = dealt[len(dealt) - place :] if held or not in_order else []
        lowest = before[-1] + 1 if before else 0
        gone = set(dealt)
        left = tuple(card for card in range(lowest, len(rules.card_names)) if card not in gone)
        if held or not in_order:
            return list(next_of_set(left, wanted))
        return [(card, 1 / len(left)) for card in left]

    def who(self, place: int) -> str:
        """For what the event at a place is: `dealer`, `seat 0` ..., or `stock`."""
        if place < self.first_card:
            return "dealer"
        seat = (place - self.first_card) // self.rules.hand_size
        return f"seat {seat}" if seat < self.rules.players else "stock"

    def dealer_of(self, events: Sequence[int]) -> int | None:
        """The dealer's seat, None before he is drawn."""
        if self.dealer != DRAWN:
            return self.dealer
        return events[0] if events else None

    def hand(self, events: Sequence[int], seat: int) -> list[int]:
        """Card ids that a seat has been dealt so far, rising."""
        start = self.first_card + seat * self.rules.hand_size
        return list(events[start : min(start + self.rules.hand_size, len(events))])

    def order(self, events: Sequence[int]) -> list[int]:
        """The deck as dealt: the hands by seat, then the stock, of which what nobody draws comes last, rising."""
        dealt = list(events[self.first_card :])
        return dealt + sorted(set(range(len(self.rules.card_names))) - set(dealt))

    def events(self, order: Sequence[int], *, first_seat: int, dealer: int) -> list[int]:
        """The events that deal a deck: its hands from `first_seat` on, then the stock from its top."""
        rules = self.rules
        size, players = rules.hand_size, rules.players
        hands = [sorted(order[place * size : (place + 1) * size]) for place in range(players)]
        dealt = [card for seat in range(players) for card in hands[(seat - first_seat) % players]]
        drawn = list(order[players * size :][: self._drawn])
        return [dealer] * self.first_card + dealt + (drawn if self._ordered else sorted(drawn))


__all__ = ["DRAWN", "Dealing", "next_of_set"]
