"""What one observation says of where the unseen cards can lie: piles, their sizes, and what each may hold.

Seats are counted from the viewer, who is seat 0 and is to act. A pile is a hand of another seat, what another
seat has thrown, or the stock. Cards are put in classes, those of one suit under trump, within which no rule
tells one from another:

- a hand holds no card of a suit in which its seat has shown void; nor a trump, where `lead_trump_first` asks
  the bidder for one and he led another suit;
- what is thrown in an exchange is not trump;
- what is discarded down to the hand size is not trump either, unless the hand that was kept is all trump; and
  never one of the scoring trumps that `protect_scoring` keeps (docs/rules.md, "One deal", 4). The protected
  trumps are a class of their own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from smear_env._jit import kernel
from smear_env._typing import Int8Array, Int64Array, RecordArray, UInt64Array, as_int
from smear_env.agents.seen import Whole, first_of, flags_at
from smear_env.cards import count, drop_lowest, has, lowest
from smear_env.engine.state import EXCHANGE, SEATS
from smear_env.flags import address
from smear_env.rules import MAX_SUITS, MAX_TRICKS

_NONE = np.uint64(0)

THROWN = SEATS
"""Pile of what seat `i` has thrown: THROWN + i; the hand of seat `i` is pile `i`."""
STOCK = 2 * SEATS
PILES = STOCK + 1
CLASSES = MAX_SUITS + 1


class Known(NamedTuple):
    """One observation, read for a sampler of worlds; seats and teams from the viewer."""

    unseen: np.uint64
    phase: Whole
    trump: Whole  # suit, -1 unknown
    dealer: Whole
    bidder: Whole  # -1 none
    said: Int64Array  # [SEATS] call of each seat, 0 pass, then the bids rising; -1 none yet
    shown: UInt64Array  # [SEATS] cards a seat has held after all it threw and that are known
    taken: np.uint64  # cards the viewer drew
    draws: Int64Array  # [SEATS] cards each seat has drawn from the stock
    throws: Int64Array  # [SEATS] cards each seat has thrown
    thrown: Int64Array  # [cards] those of the viewer in their order, the first `throws[0]` entries
    card_at: Int64Array  # [SEATS, MAX_TRICKS + 1] the card a seat played in a trick, -1 none yet
    size: Int64Array  # [PILES] unseen cards in each pile
    allowed: Int64Array  # [PILES] bit c: the pile may hold cards of class c
    discarder: Whole  # pile of another seat's discards to the hand size, -1 none
    spare_trumps: bool  # those discards may hold trumps, if the hand kept is all trump


@kernel
def read_known(t: RecordArray, at: RecordArray, row: Int8Array) -> Known:
    """Read one observation, [d] int8, of the seat to act."""
    cards, players = as_int(t.cards), as_int(t.players)
    start = address(row)
    trump = first_of(start + at.trump, as_int(t.suits))
    phase = first_of(start + at.phase, 6)
    dealer, bidder = first_of(start + at.dealer, players), first_of(start + at.bidder, players)
    unseen = flags_at(start + at.unseen, cards)
    taken = flags_at(start + at.taken, cards)
    said, shown, card_at = read_said(t, at, row), read_shown(t, at, row), read_cards_at(t, at, row)
    draws, throws = np.zeros(SEATS, np.int64), np.zeros(SEATS, np.int64)
    thrown = np.zeros(cards, np.int64)
    for seat in range(players):
        draws[seat] = throws[seat] = row[at.exchanged + seat]
    shown[0] |= flags_at(start + at.hand, cards)
    draws[0] = count(taken)
    throws[0] = 0
    for card in range(cards):
        if row[at.discard_order + card] > 0:
            thrown[row[at.discard_order + card] - 1] = card
            throws[0] += 1
    size, allowed = np.zeros(PILES, np.int64), np.zeros(PILES, np.int64)
    hands(t, at, row, trump, bidder, shown, card_at, size, allowed)
    discarder = as_int(-1)
    everything = (1 << CLASSES) - 1
    trumps = trump_classes(trump)
    size[STOCK] = cards - players * t.hand_size - draws[0]
    allowed[STOCK] = everything
    for seat in range(1, players):
        size[THROWN + seat] = throws[seat]
        allowed[THROWN + seat] = everything & ~trumps
        size[STOCK] -= draws[seat]
        to_hand_size = seat == dealer if t.trump_named else seat == bidder
        if to_hand_size and throws[seat] > 0:
            discarder = as_int(THROWN + seat)
    spare_trumps = False
    if discarder >= 0:
        kept = shown[discarder - THROWN] & ~t.suit_mask[trump, trump]
        spare_trumps = kept == _NONE and allowed[discarder - THROWN] & trumps != 0
    return Known(
        unseen,
        phase,
        trump,
        dealer,
        bidder,
        said,
        shown,
        taken,
        draws,
        throws,
        thrown,
        card_at,
        size,
        allowed,
        discarder,
        spare_trumps,
    )


@kernel
def read_said(t: RecordArray, at: RecordArray, row: Int8Array) -> Int64Array:
    """What each seat said, [SEATS]: 0 pass, then the bids rising; -1 nothing yet."""
    said = np.full(SEATS, -1, np.int64)
    calls = as_int(t.max_bid) - t.min_bid + 2
    for seat in range(t.players):
        said[seat] = first_of(address(row) + at.bids + seat * calls, calls)
    return said


@kernel
def read_shown(t: RecordArray, at: RecordArray, row: Int8Array) -> UInt64Array:
    """The cards each seat has played, those on the table included, [SEATS]."""
    shown = np.zeros(SEATS, np.uint64)
    cards = as_int(t.cards)
    for seat in range(t.players):
        shown[seat] = flags_at(address(row) + at.played + seat * cards, cards)
        shown[seat] |= flags_at(address(row) + at.trick + seat * cards, cards)
    return shown


@kernel
def read_cards_at(t: RecordArray, at: RecordArray, row: Int8Array) -> Int64Array:
    """The card each seat played in each trick, [SEATS, MAX_TRICKS + 1], -1 none yet."""
    card_at = np.full((SEATS, MAX_TRICKS + 1), -1, np.int64)
    shown = read_shown(t, at, row)
    for seat in range(t.players):
        while shown[seat] != _NONE:
            card = lowest(shown[seat])
            shown[seat] = drop_lowest(shown[seat])
            card_at[seat, row[at.trick_of + card]] = card
    return card_at


@kernel
def hands(
    t: RecordArray,
    at: RecordArray,
    row: Int8Array,
    trump: Whole,
    bidder: Whole,
    shown: UInt64Array,
    card_at: Int64Array,
    size: Int64Array,
    allowed: Int64Array,
) -> None:
    """Write size and allowed classes of the other seats' hands."""
    suits = as_int(t.suits)
    for seat in range(1, t.players):
        size[seat] = t.hand_size - count(shown[seat])
        allowed[seat] = (1 << CLASSES) - 1
        if trump >= 0:
            for suit in range(suits):
                if row[at.voids + seat * suits + suit] != 0:
                    allowed[seat] &= ~(trump_classes(trump) if suit == trump else as_int(1 << suit))
        if t.lead_trump_first and seat == bidder and card_at[seat, 1] >= 0:
            if t.suit_of[trump, card_at[seat, 1]] != trump:
                allowed[seat] &= ~trump_classes(trump)


@kernel
def trump_classes(trump: Whole) -> Whole:
    """The two classes of trumps, those that may be discarded and those that may not, as bits."""
    if trump < 0:
        return as_int(0)
    return as_int(1 << trump | 1 << MAX_SUITS)


@kernel
def class_of(t: RecordArray, trump: Whole, card: Whole) -> Whole:
    """The class of a card: its suit under trump, a protected trump MAX_SUITS; all one class until trump is known."""
    if trump < 0:
        return as_int(0)
    if has(t.protected[trump], card):
        return as_int(MAX_SUITS)
    return as_int(t.suit_of[trump, card])


@kernel
def is_in_exchange(known: Known, seat: Whole) -> bool:
    """Whether a seat is exchanging now, so that it has not drawn what it has thrown."""
    return known.phase == EXCHANGE and seat == 0
