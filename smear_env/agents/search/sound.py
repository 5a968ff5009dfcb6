"""Whether an observation can be one at all: kernels index by its entries, so a damaged one must be refused first."""

from __future__ import annotations

import numpy as np

from smear_env._jit import kernel
from smear_env._typing import Int8Array, RecordArray, as_int
from smear_env.agents.search.known import PILES, Known
from smear_env.cards import bit, count
from smear_env.flags import address
from smear_env.observation import write_observation

_NONE = np.uint64(0)


@kernel
def numbers_are_sound(t: RecordArray, at: RecordArray, row: Int8Array) -> bool:
    """Whether the options are those of the rules and the numbers by card and seat within their ranges."""
    sound = True
    for i in range(at.option_count):
        sound &= row[at.options + i] == at.option_row[i]
    for card in range(t.cards):
        sound &= 0 <= row[at.trick_of + card] <= t.hand_size
        sound &= 0 <= row[at.discard_order + card] <= t.cards
    for seat in range(t.players):
        sound &= 0 <= row[at.exchanged + seat] <= t.cards
    return sound


@kernel
def cards_are_sound(t: RecordArray, known: Known) -> bool:
    """Whether every card is in one place and every pile can be as large as it is said to be."""
    places = known.unseen
    total = count(known.unseen)
    thrown = _NONE
    for i in range(known.throws[0]):
        thrown |= bit(known.thrown[i])
    for seat in range(t.players):
        mine = known.shown[seat] | (thrown if seat == 0 else _NONE)
        places |= mine
        total += count(mine)
        drawn_from = as_int(t.hand_size) + (
            0 if t.trump_named and seat != known.dealer else known.throws[seat]
        )
        # The viewer's own, which he may hold beyond his hand while he discards, are known by name: below.
        if seat > 0 and known.draws[seat] > drawn_from:
            return False
    if places != t.deck or total != t.cards or known.dealer < 0:
        return False
    held = known.shown[0] | thrown
    if known.taken & ~held != _NONE or count(held & ~known.taken) != t.hand_size:
        return False
    room = np.int64(0)
    for pile in range(PILES):
        if known.size[pile] < 0:
            return False
        room += known.size[pile]
    return room == count(known.unseen)


@kernel
def shows(t: RecordArray, at: RecordArray, s: RecordArray, row: Int8Array) -> bool:
    """Whether a world's viewer sees an observation [d], entry by entry."""
    view = np.empty_like(row)
    write_observation(t, s, 0, at, address(view))
    same = True
    for i in range(len(row)):
        same &= view[i] == row[i]
    return same
