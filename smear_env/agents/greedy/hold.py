"""How good a hand is: points to expect with a suit as trump, and what each card is worth keeping for."""

from __future__ import annotations

import numpy as np

from smear_env._jit import kernel
from smear_env._typing import RecordArray
from smear_env.agents.seen import Whole
from smear_env.cards import count, drop_lowest, has, lowest

_NONE = np.uint64(0)

CAPTURE_VALUE = 16.0
"""A point that goes to whoever wins a card, in card points."""

BASE = 0.25
"""Points that the estimate lacks on average, as self-play with a random bidder showed."""
BEST_OF_STOCK = 0.13
"""As much more for each stock card, since the suit is chosen when they are seen."""


@kernel
def clamp(value: float) -> float:
    """Held to 0..1."""
    return max(0.0, min(1.0, value))


@kernel
def trumps_of(t: RecordArray, hand: np.uint64, suit: Whole) -> np.uint64:
    """The cards of a hand that are trump if `suit` is."""
    return hand & t.suit_mask[suit, suit]


@kernel
def stronger_than(t: RecordArray, cards: np.uint64, trump: Whole, card: Whole) -> Whole:
    """How many of `cards` outrank `card` within its suit under `trump`."""
    suit = t.suit_of[trump, card]
    rivals = cards & t.suit_mask[trump, suit]
    stronger = 0
    while rivals != _NONE:
        if t.strength[trump, lowest(rivals)] > t.strength[trump, card]:
            stronger += 1
        rivals = drop_lowest(rivals)
    return stronger


@kernel
def card_value(t: RecordArray, trump: Whole, card: Whole) -> float:
    """What a card brings to whoever wins it: its card points, and the deal's point if it scores for its winner."""
    value = np.float64(t.card_points[card])
    if trump >= 0:
        for index in range(t.captures):
            if t.capture[trump, index] == card:
                value += CAPTURE_VALUE
        if t.low_to_winner and t.low_card[trump] == card:
            value += CAPTURE_VALUE
    return value


@kernel
def later_chance(t: RecordArray, hand: np.uint64, unseen: np.uint64, trump: Whole, card: Whole) -> float:
    """Roughly, how likely our team wins the trick in which a card is played later."""
    above = stronger_than(t, unseen, trump, card)
    if t.suit_of[trump, card] == trump:
        chance = 1.0
        for _ in range(above):
            chance *= 0.86
        own = count(trumps_of(t, hand, trump))
        return clamp(max(chance, 0.3) + 0.03 * (own - 2))
    if above == 0:
        return 0.62
    return 0.45


@kernel
def keep_value(t: RecordArray, hand: np.uint64, unseen: np.uint64, trump: Whole, card: Whole) -> float:
    """What a card in hand is worth for later tricks, in card points."""
    chance = later_chance(t, hand, unseen, trump, card)
    kept = card_value(t, trump, card) * (2 * chance - 1)
    if t.suit_of[trump, card] == trump:
        return kept + 3.0 + 9.0 * (chance - 0.3)
    strength = np.float64(t.strength[trump, card])
    return kept + 0.05 * strength + (3.0 if chance > 0.5 else 0.0)


@kernel
def least_kept(
    t: RecordArray, hand: np.uint64, unseen: np.uint64, legal: np.uint64, trump: Whole, points: float
) -> Whole:
    """The legal card that is best thrown away, -1 if none is legal; `points` is what a thrown card point counts."""
    best = np.int64(-1)
    lowest_value = 0.0
    while legal != _NONE:
        card = np.int64(lowest(legal))
        legal = drop_lowest(legal)
        value = keep_value(t, hand, unseen, trump, card) - points * t.card_points[card]
        if card == t.low_card[trump]:
            value += CAPTURE_VALUE
        if best < 0 or value < lowest_value:
            best = card
            lowest_value = value
    return best


@kernel
def stock_draws(t: RecordArray, hand: np.uint64, suit: Whole, dealer: bool) -> float:
    """Cards a seat expects to draw if it is the bidder with `suit` as trump."""
    if t.dealer_takes_stock and dealer:
        return 4.0
    others = np.float64(t.hand_size) - count(trumps_of(t, hand, suit))
    return np.float64(t.stock_to_bidder) + max(0.0, min(np.float64(t.exchange), others))


@kernel
def expected_points(t: RecordArray, hand: np.uint64, suit: Whole, dealer: bool) -> float:
    """Points the bidder's team may expect with `suit` as trump, judged from one hand before the stock."""
    deck = np.uint64(t.deck)
    unseen = deck & ~hand
    hidden = np.float64(count(unseen))
    draws = stock_draws(t, hand, suit, dealer)
    partners = np.float64(t.players) / t.teams - 1
    on_draw = draws / hidden
    exchanged = np.float64(t.exchange) * 0.8
    on_partner = min(0.5, partners * (t.hand_size + exchanged) / hidden)
    on_others = min(1.0 - on_partner, (t.players - 1 - partners) * (t.hand_size + exchanged) / hidden)
    ours = on_draw + (1 - on_draw) * on_partner
    trumps = trumps_of(t, hand, suit)
    every = t.suit_mask[suit, suit]
    length = count(trumps) + draws * count(every & unseen) / hidden
    fair = np.float64(count(every)) / t.players
    power = control(t, trumps, suit) + 0.5 * (length - fair)
    total = BASE + BEST_OF_STOCK * t.stock_to_bidder
    total += 1.0 if has(hand, t.high_card[suit]) else ours
    low: Whole = np.int64(t.low_card[suit])
    if has(hand, low):
        total += clamp(0.4 + 0.12 * power) if t.low_to_winner else 1.0
    else:
        total += ours + (clamp(0.1 + 0.1 * power) * on_others if t.low_to_winner else 0.0)
    for index in range(t.captures):
        card: Whole = np.int64(t.capture[suit, index])
        if has(hand, card):
            total += clamp(0.5 + 0.12 * power)
        else:
            total += ours * clamp(0.5 + 0.08 * power) + on_others * clamp(0.1 + 0.1 * power)
    game = 0.2 + 0.12 * power + 0.05 * side_strength(t, hand & ~trumps, suit) + 0.02 * most_points(t, trumps)
    return total + clamp(game)


@kernel
def most_points(t: RecordArray, cards: np.uint64) -> Whole:
    """The card points of the richest card, that is ten if a ten is among them."""
    most = np.int64(0)
    while cards != _NONE:
        most = max(most, np.int64(t.card_points[lowest(cards)]))
        cards = drop_lowest(cards)
    return most


@kernel
def control(t: RecordArray, trumps: np.uint64, suit: Whole) -> float:
    """How far the trumps held rule the suit: 1 for the top one, less for each that follows."""
    total = 0.0
    missing = t.suit_mask[suit, suit] & ~trumps
    while trumps != _NONE:
        above = stronger_than(t, missing, suit, lowest(trumps))
        total += max(0.0, 1.0 - 0.3 * above)
        trumps = drop_lowest(trumps)
    return total


@kernel
def side_strength(t: RecordArray, cards: np.uint64, suit: Whole) -> float:
    """Top cards of the other suits, 1 each."""
    total = 0.0
    while cards != _NONE:
        card = lowest(cards)
        cards = drop_lowest(cards)
        if stronger_than(t, np.uint64(t.deck), suit, card) == 0:
            total += 1.0
    return total


@kernel
def best_suit(t: RecordArray, hand: np.uint64, dealer: bool) -> tuple[Whole, float]:
    """The suit that promises most as trump, and the points it promises."""
    best = np.int64(0)
    most = -1.0
    for suit in range(t.suits):
        points = expected_points(t, hand, suit, dealer)
        if points > most:
            best = np.int64(suit)
            most = points
    return best, most


@kernel
def promising_suit(t: RecordArray, hand: np.uint64, among: np.uint64) -> Whole:
    """The suit of `among` that promises most as trump once the stock is in hand; a joker alone shows no suit."""
    best = np.int64(0)
    most = -1.0
    for suit in range(t.suits):
        if among & t.suit_mask[-1, suit] != _NONE:
            points = expected_points(t, hand, suit, False) + 0.2 * count(trumps_of(t, hand, suit))
            if points > most:
                best = np.int64(suit)
                most = points
    return best
