"""Values of the bidder's discards where trump is not named yet: every set of them, each with the best first lead.

Only the set matters, not the order: a set is legal if some suit may still be trump after it, and then so is every
part of it. The other exchange, of `schmier`, is not covered: cards are drawn in it that nobody has seen.
"""

from __future__ import annotations

import numpy as np

from smear_env._jit import announce_part, inline_kernel, kernel
from smear_env._typing import Int16Array, RecordArray, as_int
from smear_env.cards import bit, count, drop_lowest, lowest
from smear_env.engine.legal import legal_plays
from smear_env.engine.state import DISCARD
from smear_env.engine.tables import compile_tables
from smear_env.rules import Rules
from smear_env.solver.position import new_work
from smear_env.solver.root import NOT_LEGAL, value_above
from smear_env.solver.solve import ANNOUNCED, checked_states

_NONE = np.uint64(0)
_ONE = np.uint64(1)


def solve_discards(states: RecordArray, rules: Rules) -> Int16Array:
    """Value of each discard, [N, cards] int16, for the bidder's team, with the best others and play; NOT_LEGAL else.

    states: [N] of `STATE_DTYPE` in phase DISCARD, trump not known. Raises `ValueError` for others, and where trump is
    named: there the dealer discards, and what he discards counts for nobody.
    """
    if rules.trump_named:
        raise ValueError("rules have trump_named=True; only discards before trump is known can be solved")
    checked = checked_states(states, rules, DISCARD).copy()
    announce_part(*ANNOUNCED, solve_all_discards)
    values = np.empty((len(checked), len(rules.card_names)), np.int16)
    solve_all_discards(compile_tables(rules), checked, new_work().view(np.ndarray), values)
    return values


@kernel
def solve_all_discards(
    tables: RecordArray, states: RecordArray, work: RecordArray, values: Int16Array
) -> None:
    """Values of all discards, state by state."""
    for i in range(len(states)):
        solve_state_discards(tables[0], states[i], work, values[i])


@kernel
def solve_state_discards(t: RecordArray, s: RecordArray, work: RecordArray, out: Int16Array) -> None:
    """Value of each discard into `out`, [cards] int16: the best of the sets that hold it.

    The state's hand and discards change during the call and are put back.
    """
    out[:] = NOT_LEGAL
    hand = s.hand[s.turn]
    thrown = s.discarded[s.turn]
    spare = count(hand) - t.hand_size
    chosen = (_ONE << np.uint64(spare)) - _ONE
    end = _ONE << np.uint64(count(hand))
    while chosen < end:
        cards = picked(hand, chosen)
        s.hand[s.turn] = hand & ~cards
        s.discarded[s.turn] = thrown | cards
        if legal_plays(t, s) != _NONE:
            write_set(t, s, work, cards, out)
        # The next number with as many bits set.
        low = chosen & (~chosen + _ONE)
        high = chosen + low
        chosen = high | (((chosen ^ high) // low) >> np.uint64(2))
    s.hand[s.turn] = hand
    s.discarded[s.turn] = thrown


@inline_kernel
def picked(hand: np.uint64, places: np.uint64) -> np.uint64:
    """The cards of a hand whose places in it, counted from the lowest card, are set."""
    cards = _NONE
    while places != _NONE:
        card = lowest(hand)
        hand = drop_lowest(hand)
        if places & _ONE != _NONE:
            cards |= bit(card)
        places >>= _ONE
    return cards


@inline_kernel
def write_set(t: RecordArray, s: RecordArray, work: RecordArray, cards: np.uint64, out: Int16Array) -> None:
    """Raise the values of some discards to that of their set, if it is higher."""
    floor = as_int(-NOT_LEGAL)
    rest = cards
    while rest != _NONE:
        floor = min(floor, as_int(out[lowest(rest)]))
        rest = drop_lowest(rest)
    value = value_above(t, s, work, floor)
    rest = cards
    while rest != _NONE:
        card = lowest(rest)
        rest = drop_lowest(rest)
        out[card] = max(as_int(out[card]), value)
