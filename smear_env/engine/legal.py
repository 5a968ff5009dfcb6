"""Legal actions, one function per phase, as two bit sets: cards, and calls (pass, bids, naming trump).

Action ids: a card's id, then `cards` for pass, then the bids rising, then the suits as trump. In the set of
calls bit 0 is pass and bit `b` the action id `cards + b`.
"""

from __future__ import annotations

import numpy as np

from smear_env._jit import inline_kernel, kernel
from smear_env._typing import RecordArray, as_int
from smear_env.cards import bit, count, has
from smear_env.engine.deal import held_before_discarding
from smear_env.engine.state import BID, DISCARD, EXCHANGE, NAME, PLAY
from smear_env.engine.tables import DEALER_BIDS

_NONE = np.uint64(0)
_PASS = np.uint64(1)


@inline_kernel
def bid_call(t: RecordArray, bid: int) -> int:
    """Bit of a bid among the calls."""
    return 1 + bid - t.min_bid


@inline_kernel
def trump_call(t: RecordArray, suit: int) -> int:
    """Bit of naming a suit among the calls."""
    return 2 + t.max_bid - t.min_bid + suit


@kernel
def legal_sets(t: RecordArray, s: RecordArray) -> tuple[np.uint64, np.uint64]:
    """Cards and calls that the seat to act may choose; both empty when the match is over."""
    if s.phase == PLAY:
        return legal_plays(t, s), _NONE
    if s.phase == BID:
        return _NONE, legal_bids(t, s)
    if s.phase == DISCARD:
        return legal_discards(t, s), _NONE
    if s.phase == EXCHANGE:
        return legal_exchange(t, s)
    if s.phase == NAME:
        return _NONE, legal_trumps(t)
    return _NONE, _NONE


@kernel
def is_legal(t: RecordArray, s: RecordArray, action: int) -> bool:
    """Whether an action id, of any value, may be chosen now."""
    cards, calls = legal_sets(t, s)
    return contains(cards, calls, as_int(t.cards), action)


@inline_kernel
def contains(cards: np.uint64, calls: np.uint64, deck: int, action: int) -> bool:
    """Whether an action id, of any value, is in the two sets; `deck` is the number of cards."""
    if 0 <= action < deck:
        return has(cards, action)
    call = action - deck
    return 0 <= call < 64 and has(calls, call)


@inline_kernel
def legal_bids(t: RecordArray, s: RecordArray) -> np.uint64:
    """Every bid above the highest so far, and pass unless the dealer must bid."""
    must_bid = t.all_pass == DEALER_BIDS and s.turn == s.dealer and s.bid == 0
    calls = _NONE if must_bid else _PASS
    for bid in range(max(t.min_bid, s.bid + 1), t.max_bid + 1):
        calls |= bit(bid_call(t, bid))
    return calls


@inline_kernel
def legal_trumps(t: RecordArray) -> np.uint64:
    """Every suit, held or not."""
    calls = _NONE
    for suit in range(t.suits):
        calls |= bit(trump_call(t, suit))
    return calls


@inline_kernel
def legal_exchange(t: RecordArray, s: RecordArray) -> tuple[np.uint64, np.uint64]:
    """Cards that are not trump, and pass to stop; with `exchange_exactly` all or none."""
    others = s.hand[s.turn] & ~t.suit_mask[s.trump, s.trump]
    thrown = s.exchanged[s.turn]
    if t.exchange_exactly:
        if thrown > 0:
            return others, _NONE
        if count(others) < t.exchange:
            return _NONE, _PASS
    return others, _PASS


@kernel
def legal_discards(t: RecordArray, s: RecordArray) -> np.uint64:
    """Discards to the hand size: no trump that need not go (RULES, "One deal", 4)."""
    hand = s.hand[s.turn]
    if s.trump >= 0:
        return discards_that_allow(t, s, s.trump)
    legal = _NONE
    for suit in range(t.suits):
        if may_become_trump(t, s, suit):
            legal |= discards_that_allow(t, s, suit)
    return legal & hand


@inline_kernel
def discards_that_allow(t: RecordArray, s: RecordArray, trump: int) -> np.uint64:
    """Discards that break no rule if `trump` is trump: its other suits, and trumps beyond the hand size."""
    hand = s.hand[s.turn]
    trumps = t.suit_mask[trump, trump]
    spare = held_before_discarding(s, s.turn, trumps) - t.hand_size
    if count(s.discarded[s.turn] & trumps) < spare:
        return hand & ~t.protected[trump]
    return hand & ~trumps


@inline_kernel
def may_become_trump(t: RecordArray, s: RecordArray, suit: int) -> bool:
    """Whether a suit that the seat to act held can still be trump after its discards so far.

    The first lead must show it, which a joker cannot: a card that is of the suit without a trump has to be held.
    """
    if (s.hand[s.turn] | s.discarded[s.turn]) & t.suit_mask[-1, suit] == _NONE:
        return False
    trumps = t.suit_mask[suit, suit]
    thrown = s.discarded[s.turn] & trumps
    held = held_before_discarding(s, s.turn, trumps)
    return thrown & t.protected[suit] == _NONE and count(thrown) <= max(0, held - t.hand_size)


@inline_kernel
def legal_plays(t: RecordArray, s: RecordArray) -> np.uint64:
    """Leads and follows: the suit led if held, trump too with `may_trump`; void, anything."""
    hand = s.hand[s.turn]
    if s.in_trick == 0:
        return legal_leads(t, s)
    follow = hand & t.suit_mask[s.trump, s.led_suit]
    if follow == _NONE:
        return hand
    if t.may_trump:
        return follow | (hand & t.suit_mask[s.trump, s.trump])
    return follow


@kernel
def legal_leads(t: RecordArray, s: RecordArray) -> np.uint64:
    """Any card; the first lead is of a suit that can be trump, or a trump with `lead_trump_first`."""
    hand = s.hand[s.turn]
    if s.trick_number > 0:
        return hand
    if s.trump < 0:
        leads = _NONE
        for suit in range(t.suits):
            if may_become_trump(t, s, suit):
                leads |= hand & t.suit_mask[-1, suit]
        return leads
    trumps = hand & t.suit_mask[s.trump, s.trump]
    if t.lead_trump_first and trumps != _NONE:
        return trumps
    return hand
