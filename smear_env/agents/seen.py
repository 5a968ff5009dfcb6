"""What scripted agents read from an observation: bit sets of cards and the numbers of the deal.

Seats are counted from the one that looks, as in the observation: 0 is itself, and seat `r` is of its own team where
`r % teams == 0`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from smear_env._jit import kernel
from smear_env._typing import Int8Array, RecordArray
from smear_env.engine.tables import compile_tables
from smear_env.layout import offsets
from smear_env.rules import Rules

Whole = Any
"""An integer inside a kernel, Python's or NumPy's."""

_NONE = np.uint64(0)
_ONE = np.uint64(1)


class Seen(NamedTuple):
    """One decision as its seat sees it."""

    hand: np.uint64
    unseen: np.uint64  # neither in hand nor seen played or thrown by this seat
    legal: np.uint64  # cards that may be played or thrown
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


@kernel
def flag_set(row: Int8Array, start: Whole, size: Whole) -> np.uint64:
    """The flags `start` to `start + size` of an observation as a bit set."""
    bits = _NONE
    for i in range(size):
        if row[start + i] != 0:
            bits |= _ONE << np.uint64(i)
    return bits


@kernel
def first_flag(row: Int8Array, start: Whole, size: Whole) -> Whole:
    """Index of the first flag that is set, -1 if none is."""
    for i in range(size):
        if row[start + i] != 0:
            return np.int64(i)
    return np.int64(-1)


@kernel
def look(t: RecordArray, at: RecordArray, row: Int8Array, mask: Int8Array) -> Seen:
    """Read one observation, [d] int8, and its mask, [n] int8."""
    cards = np.int64(t.cards)
    players = np.int64(t.players)
    bid = first_flag(row, at.bid, np.int64(t.max_bid) - t.min_bid + 1)
    return Seen(
        flag_set(row, at.hand, cards),
        flag_set(row, at.unseen, cards),
        flag_set(mask, 0, cards),
        first_flag(row, at.phase, 6),
        first_flag(row, at.trump, np.int64(t.suits)),
        bid + t.min_bid if bid >= 0 else np.int64(0),
        first_flag(row, at.bidder, players),
        first_flag(row, at.dealer, players),
        first_flag(row, at.leader, players),
        np.int64(row[at.tricks_done]),
    )


@kernel
def is_void(t: RecordArray, at: RecordArray, row: Int8Array, seat: Whole, suit: Whole) -> bool:
    """Whether a seat has shown that it holds none of a suit."""
    return row[at.voids + seat * np.int64(t.suits) + suit] != 0


@kernel
def on_table(t: RecordArray, at: RecordArray, row: Int8Array, seat: Whole) -> Whole:
    """The card a seat has in the trick on the table, -1 none."""
    return first_flag(row, at.trick + seat * np.int64(t.cards), np.int64(t.cards))


@kernel
def none_of(share: float, cards: Whole) -> float:
    """How likely a seat that holds a `share` of the hidden cards has none of so many of them."""
    chance = 1.0
    for _ in range(cards):
        chance *= 1.0 - share
    return chance
