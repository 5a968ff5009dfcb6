"""From `state(relative=True)`, the vector that shows everything, back to an engine's state.

The deal is read off the vector and replayed by the engine, as worlds are: the seats are counted from the seat
to act, and the match ends with the deal.
"""

from __future__ import annotations

import numpy as np

from smear_env._jit import kernel
from smear_env._typing import Int8Array, Int64Array, RecordArray, as_int
from smear_env.agents.search.known import (
    PILES,
    THROWN,
    Known,
    read_cards_at,
    read_said,
    read_shown,
)
from smear_env.agents.search.worlds import replay, set_match
from smear_env.agents.seen import first_of, flags_at
from smear_env.cards import count, drop_lowest, has, lowest
from smear_env.engine.deal import set_cards
from smear_env.engine.seats import seat_after
from smear_env.engine.state import SEATS
from smear_env.flags import address

_NONE = np.uint64(0)


@kernel
def reveal(
    tables: RecordArray, full: RecordArray, row: Int8Array, actions: Int64Array, states: RecordArray
) -> None:
    """Write the state of one vector [s], seat 0 to act, into states[0], and the deal's actions into `actions` [A]."""
    t, at, s = tables[0], full[0], states[0]
    cards, players = as_int(t.cards), as_int(t.players)
    start = address(row)
    shown = read_shown(t, at, row)
    throws, draws = np.zeros(SEATS, np.int64), np.zeros(SEATS, np.int64)
    size, allowed = np.zeros(PILES, np.int64), np.zeros(PILES, np.int64)
    piles = np.zeros((PILES, cards), np.int64)
    order = np.empty(cards, np.int8)
    place = 0
    for seat in range(players):
        shown[seat] |= flags_at(start + at.hand + seat * cards, cards)
        discarded = flags_at(start + at.discarded + seat * cards, cards)
        taken = flags_at(start + at.taken + seat * cards, cards)
        throws[seat], draws[seat] = count(discarded), count(taken)
        dealt = (shown[seat] | discarded) & ~taken
        while dealt != _NONE:
            order[place] = lowest(dealt)
            dealt = drop_lowest(dealt)
            place += 1
        for card in range(cards):
            if has(discarded, card):
                piles[THROWN + seat, row[at.discard_order + card] - 1] = card
    dealer = first_of(start + at.dealer, players)
    for turn in range(1, players + 1):
        seat = seat_after(t, dealer, as_int(turn % players))
        taken = flags_at(start + at.taken + seat * cards, cards)
        while taken != _NONE:
            order[place] = lowest(taken)
            taken = drop_lowest(taken)
            place += 1
    for card in range(cards):
        if row[at.stock + card] > 0:
            order[place + row[at.stock + card] - 1] = card
    known = Known(
        _NONE,
        first_of(start + at.phase, 6),
        first_of(start + at.trump, as_int(t.suits)),
        dealer,
        first_of(start + at.bidder, players),
        read_said(t, at, row),
        shown,
        _NONE,
        draws,
        throws,
        piles[THROWN].copy(),
        read_cards_at(t, at, row),
        size,
        allowed,
        as_int(-1),
        False,
    )
    set_match(t, at, row, known, s)
    set_cards(t, s, order)
    replay(t, known, piles, actions, s)
