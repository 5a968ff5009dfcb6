"""A hand under a trump suit as one cell of the fitted tables, and the points that its cell promises.

A cell is told by which of the key trumps are held (the strongest, the lowest, the jokers), how many other trumps,
and how many aces and tens of other suits.
"""

from __future__ import annotations

import numpy as np

from smear_env._jit import inline_kernel, kernel
from smear_env._typing import RecordArray, as_int
from smear_env.agents.expert.book import KEYS, MAX_MADE, OTHER_TRUMPS, SEEN_STOCK, SIDE_CARDS
from smear_env.agents.seen import Whole
from smear_env.cards import count, has

_NONE = np.uint64(0)


@inline_kernel
def cell_of(t: RecordArray, b: RecordArray, hand: np.uint64, suit: Whole) -> Whole:
    """The cell of a hand with `suit` as trump."""
    trumps = hand & t.suit_mask[suit, suit]
    cell = as_int(0)
    keys = as_int(0)
    for place in range(KEYS):
        card = as_int(b.key[suit, place])
        if card >= 0 and has(hand, card):
            cell |= 1 << place
            keys += 1
    others = min(as_int(count(trumps)) - keys, OTHER_TRUMPS - 1)
    side = min(as_int(count(hand & ~trumps & b.side_value)), SIDE_CARDS - 1)
    return cell | (others + OTHER_TRUMPS * side) << KEYS


@inline_kernel
def promised(b: RecordArray, role: Whole, cell: Whole) -> float:
    """Points that the bidder's team makes on average from a cell."""
    total = 0.0
    for made in range(MAX_MADE):
        total += b.makes[role, cell, made]
    return total


@kernel
def strongest_suit(
    t: RecordArray, b: RecordArray, hand: np.uint64, among: np.uint64, role: Whole
) -> tuple[Whole, Whole, float]:
    """Of the suits with a card in `among`, the one that promises most: suit, its cell, and the points."""
    best = as_int(-1)
    best_cell = as_int(0)
    most = -1.0
    for suit in range(t.suits):
        if among & t.suit_mask[suit, suit] != _NONE:
            cell = cell_of(t, b, hand, suit)
            points = promised(b, role, cell)
            if points > most:
                best = as_int(suit)
                best_cell = cell
                most = points
    return best, best_cell, most


@kernel
def chosen_trump(t: RecordArray, b: RecordArray, hand: np.uint64, among: np.uint64, bid: Whole) -> Whole:
    """Once the stock is seen: the suit, shown by a card of `among`, whose points are worth most against the bid."""
    best = as_int(0)
    most = -100.0
    for suit in range(t.suits):
        if among & t.suit_mask[-1, suit] != _NONE:
            worth = standing(t, b, SEEN_STOCK, cell_of(t, b, hand, suit), bid)
            if worth > most:
                best = as_int(suit)
                most = worth
    return best


@inline_kernel
def standing(t: RecordArray, b: RecordArray, role: Whole, cell: Whole, bid: Whole) -> float:
    """Own score less the others' mean that the bidder's team may expect from a cell with this bid."""
    total = 0.0
    for made in range(MAX_MADE + 1):
        total += chance_of(b, role, cell, made) * (scored(t, made, bid) - b.others[made])
    return total


@inline_kernel
def chance_of(b: RecordArray, role: Whole, cell: Whole, made: Whole) -> float:
    """How likely exactly so many points are made."""
    at_least = 1.0 if made == 0 else np.float64(b.makes[role, cell, made - 1])
    more = 0.0 if made == MAX_MADE else np.float64(b.makes[role, cell, made])
    return max(0.0, at_least - more)


@inline_kernel
def scored(t: RecordArray, made: Whole, bid: Whole) -> float:
    """What the bidder's team scores with `made` points."""
    if made >= bid:
        return np.float64(made)
    return -np.float64(made) if t.failed_costs_points else -np.float64(bid)
