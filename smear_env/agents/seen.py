"""What scripted agents read from an observation, eight flags at a time: bit sets of cards and the numbers of the deal.

Seats are counted from the one that looks, as in the observation: 0 is itself, and seat `r` is of its own team where
`r % teams == 0`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from smear_env._jit import inline_kernel, kernel
from smear_env._typing import Int8Array, RecordArray, as_int
from smear_env.cards import bit, lowest
from smear_env.engine.state import PLAY
from smear_env.engine.tables import compile_tables
from smear_env.flags import address, read_word
from smear_env.layout import offsets
from smear_env.rules import Rules

Whole = Any
"""An integer inside a kernel, Python's or NumPy's."""

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_GATHER = np.uint64(0x0102040810204080)
_TOP_BYTE = np.uint64(56)
_LOW_BITS = np.uint64(0x0101010101010101)


class Seen(NamedTuple):
    """One decision as its seat sees it."""

    hand: np.uint64
    unseen: np.uint64  # neither in hand nor seen played or thrown by this seat
    legal: np.uint64  # cards that may be played or thrown
    thrown: np.uint64  # own discards down to the hand size
    phase: Whole
    trump: Whole  # suit, -1 unknown
    bid: Whole  # highest bid in points, 0 none
    bidder: Whole  # seat, -1 none
    dealer: Whole  # seat
    leader: Whole  # seat that leads the trick, -1 before play
    tricks_done: Whole


@lru_cache(maxsize=256)
def kernel_tables(rules: Rules) -> tuple[Any, Any]:
    """Tables and observation offsets, [1] each, as kernels take them fastest: plain arrays, not records."""
    return np.array(compile_tables(rules).view(np.ndarray)), np.array(offsets(rules).view(np.ndarray))


@inline_kernel
def packed(word: np.uint64) -> np.uint64:
    """Eight entries, each 0 or more than 0 in its lowest bit, as eight bits."""
    return ((word & _LOW_BITS) * _GATHER) >> _TOP_BYTE


@inline_kernel
def flags_at(start: int, size: int) -> np.uint64:
    """The `size` flags, at most 64, from address `start` on as a bit set."""
    if size < 8:
        # Vectors and masks are longer than a word.
        return packed(read_word(start)) & ((_ONE << np.uint64(size)) - _ONE)
    bits = _NONE
    for first in range(0, size - 7, 8):
        bits |= packed(read_word(start + first)) << np.uint64(first)
    # The last word overlaps the one before, so that nothing beyond the flags is read.
    return bits | packed(read_word(start + size - 8)) << np.uint64(size - 8)


@inline_kernel
def first_of(start: int, size: int) -> Whole:
    """Index of the first of `size` flags from address `start` on that is set, -1 if none is."""
    found = as_int(-1)
    for first in range(0, size, 8):
        bits = packed(read_word(start + first))
        if size - first < 8:
            bits &= (_ONE << np.uint64(size - first)) - _ONE
        if bits != _NONE:
            return as_int(first + lowest(bits))
    return found


@kernel
def look(t: RecordArray, at: RecordArray, row: Int8Array, mask: Int8Array) -> Seen:
    """Read one observation, [d] int8, and its mask, [n] int8."""
    cards = as_int(t.cards)
    players = as_int(t.players)
    start = address(row)
    phase = first_of(start + at.phase, 6)
    bid = first_of(start + at.bid, as_int(t.max_bid) - t.min_bid + 1)
    bidder = first_of(start + at.bidder, players)
    thrown = _NONE
    if t.stock_to_bidder > 0 and bidder == 0 and phase != 0:
        for card in range(cards):
            if row[at.discard_order + card] != 0:
                thrown |= bit(card)
    return Seen(
        flags_at(start + at.hand, cards),
        flags_at(start + at.unseen, cards),
        flags_at(address(mask), cards),
        thrown,
        phase,
        first_of(start + at.trump, as_int(t.suits)),
        bid + t.min_bid if bid >= 0 else as_int(0),
        bidder,
        first_of(start + at.dealer, players),
        first_of(start + at.leader, players) if phase == PLAY else as_int(-1),
        as_int(row[at.tricks_done]),
    )


@kernel
def is_void(t: RecordArray, at: RecordArray, row: Int8Array, seat: Whole, suit: Whole) -> bool:
    """Whether a seat has shown that it holds none of a suit."""
    return row[at.voids + seat * np.int64(t.suits) + suit] != 0


@kernel
def on_table(t: RecordArray, at: RecordArray, row: Int8Array, seat: Whole) -> Whole:
    """The card a seat has in the trick on the table, -1 none."""
    return first_of(address(row) + at.trick + seat * as_int(t.cards), as_int(t.cards))


@kernel
def none_of(share: float, cards: Whole) -> float:
    """How likely a seat that holds a `share` of the hidden cards has none of so many of them."""
    chance = 1.0
    for _ in range(cards):
        chance *= 1.0 - share
    return chance
