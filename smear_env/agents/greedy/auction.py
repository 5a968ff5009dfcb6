"""What greedy bids, names, exchanges and throws away."""

from __future__ import annotations

import numpy as np

from smear_env._jit import kernel
from smear_env._typing import Int8Array, RecordArray
from smear_env.agents.greedy.hold import best_suit, keep_value, least_kept, promising_suit
from smear_env.agents.seen import Seen, Whole

_NONE = np.uint64(0)

MARGIN_TWO_TEAMS = -0.45
MARGIN_MORE_TEAMS = 0.05
"""Points that must be expected beyond a bid. With two teams it may be fewer, since passing leaves the bid to the other;
with more, what passing loses is shared."""
PARTNER_MARGIN = 0.5
"""As much more before the partner's bid is raised."""


@kernel
def choose_bid(t: RecordArray, seen: Seen, mask: Int8Array) -> Whole:
    """The lowest bid that the hand is worth, else pass; the lowest bid if it may not pass. An action id."""
    cards = np.int64(t.cards)
    next_bid = cards + 1
    while next_bid < len(mask) and mask[next_bid] == 0:
        next_bid += 1
    bid = next_bid - cards - 1 + t.min_bid
    if bid > t.max_bid:
        return cards
    if mask[cards] == 0:
        return next_bid
    _, points = best_suit(t, seen.hand, seen.dealer == 0)
    margin = MARGIN_TWO_TEAMS if t.teams == 2 else MARGIN_MORE_TEAMS
    if seen.bidder >= 0 and seen.bidder % t.teams == 0:
        margin += PARTNER_MARGIN
    return next_bid if points >= bid + margin else cards


@kernel
def choose_trump(t: RecordArray, seen: Seen) -> Whole:
    """Name the suit that promises most, as an action id."""
    suit, _ = best_suit(t, seen.hand, seen.dealer == 0)
    return np.int64(t.cards) + 2 + (np.int64(t.max_bid) - t.min_bid) + suit


@kernel
def choose_exchange(t: RecordArray, seen: Seen, mask: Int8Array) -> Whole:
    """Throw what is worth less than an unknown card, the least first; else pass."""
    card = least_kept(t, seen.hand, seen.unseen, seen.legal, seen.trump, 0.0)
    may_pass = mask[t.cards] != 0
    if card < 0 or (may_pass and keep_value(t, seen.hand, seen.unseen, seen.trump, card) > 2.0):
        return np.int64(t.cards)
    return card


@kernel
def choose_discard(t: RecordArray, seen: Seen) -> Whole:
    """Throw the card least worth keeping; tens first where the bidder's discards count for his Game."""
    suit = seen.trump
    if suit < 0:
        suit = promising_suit(t, seen.hand, seen.hand)
    counts = 1.0 if t.stock_to_bidder > 0 else 0.0
    legal = seen.legal & ~t.suit_mask[suit, suit]
    if legal == _NONE:
        legal = seen.legal
    return least_kept(t, seen.hand, seen.unseen, legal, suit, counts)
