"""Values at the root: which cards may be played, and the questions whose answers pin each value down."""

from __future__ import annotations

import numpy as np

from smear_env._jit import inline_kernel, kernel
from smear_env._typing import Int16Array, Int64Array, RecordArray, as_int
from smear_env.cards import bit, drop_lowest, has, lowest
from smear_env.engine.legal import legal_plays
from smear_env.solver.outcome import GAME_NOBODY, ask, deal_value, has_thresholds, may_tie
from smear_env.solver.position import captures, set_position
from smear_env.solver.search import search

_NONE = np.uint64(0)

NOT_LEGAL = -32768
"""In place of a value, of a card that may not be played."""
MAX_VALUES = 128


@kernel
def card_reaches(w: RecordArray, card: int) -> bool:
    """Whether the question is answered yes once the seat to act has played a card, by its number."""
    zero = as_int(0)
    found = search(
        w,
        w.cards,
        as_int(w.seat),
        as_int(w.on_table),
        as_int(w.led),
        as_int(w.best),
        as_int(w.holder),
        as_int(w.gained),
        as_int(w.caught),
        as_int(w.left),
        zero,
        zero,
        as_int(w.lead),
        as_int(w.gap),
        card,
    )
    return found <= w.lead


@kernel
def possible_values(w: RecordArray, values: Int64Array) -> int:
    """Write every value that the deal may end with, rising; returns how many."""
    opened = as_int(w.caught) + captures(w, w.cards)
    total = 0
    for own in range(opened + 1):
        for bidder in range(opened + 1 - own):
            for game in range(GAME_NOBODY + 1):
                if (
                    (w.own_bids and game == 1)
                    or (w.own_bids and bidder > 0)
                    or (w.teams == 2 and game == 2 and not w.own_bids)
                ):
                    continue
                value = deal_value(w, own, bidder, game)
                at = total
                while at > 0 and values[at - 1] > value:
                    at -= 1
                if at > 0 and values[at - 1] == value:
                    continue
                for later in range(total, at, -1):
                    values[later] = values[later - 1]
                values[at] = value
                total += 1
    return total


@kernel
def any_reaches(w: RecordArray, allowed: np.uint64, values: Int64Array, index: int) -> bool:
    """Whether the seat to act reaches a value, or holds own team below it: with the right card of `allowed`."""
    mine = w.side[w.seat] == 0
    ask(w, values[index])
    rest = allowed
    while rest != _NONE:
        card = lowest(rest)
        rest = drop_lowest(rest)
        if card_reaches(w, card) == mine:
            return mine
    return not mine


@kernel
def best_value(w: RecordArray, allowed: np.uint64, values: Int64Array, low: int, high: int) -> int:
    """Index of the value, known to be in low..high, with the best of some cards for the side to act."""
    while low < high:
        middle = (low + high + 1) // 2
        if any_reaches(w, allowed, values, middle):
            low = middle
        else:
            high = middle - 1
    return low


@kernel
def allowed_numbers(w: RecordArray, legal: np.uint64) -> np.uint64:
    """A set of the engine's cards by their numbers here."""
    found = _NONE
    rest = w.hand[w.seat]
    while rest != _NONE:
        number = lowest(rest)
        rest = drop_lowest(rest)
        if has(legal, w.card[number]):
            found |= bit(number)
    return found


@kernel
def own_team(t: RecordArray, s: RecordArray) -> int:
    """Whose value is searched for: of two teams the bidder's, of three that of the seat to act."""
    return as_int(t.team_of[s.bidder]) if t.teams == 2 else as_int(t.team_of[s.turn])


@kernel
def prepare(t: RecordArray, s: RecordArray, trump: int, w: RecordArray) -> None:
    """Set the position under a trump."""
    set_position(t, s, trump, own_team(t, s), w)
    w.may_tie = may_tie(w)
    w.exact = 0 if has_thresholds(w) else 1


@kernel
def value_above(t: RecordArray, s: RecordArray, work: RecordArray, floor: int) -> int:
    """Own team's value of a state in phase PLAY if that is above `floor`; otherwise some number not above it."""
    w = work[0]
    values = np.empty(MAX_VALUES, np.int64)
    legal = legal_plays(t, s)
    found = as_int(floor)
    for suit in range(t.suits):
        cards = leads_of(t, s, legal, suit)
        if cards == _NONE:
            continue
        prepare(t, s, suit, w)
        total = possible_values(w, values)
        low = 0
        # Where the lead names trump, only a suit that is better than those before matters.
        while low < total and values[low] <= found:
            low += 1
        allowed = allowed_numbers(w, cards)
        if found > NOT_LEGAL and (low == total or not any_reaches(w, allowed, values, low)):
            continue
        found = max(found, values[best_value(w, allowed, values, low, total - 1)])
    return found


@inline_kernel
def leads_of(t: RecordArray, s: RecordArray, legal: np.uint64, suit: int) -> np.uint64:
    """The legal cards with which `suit` is trump: all if it is already, or those that show it."""
    if s.trump < 0:
        return legal & t.suit_mask[suit, suit]
    return legal if suit == s.trump else _NONE


@kernel
def solve_state(t: RecordArray, s: RecordArray, work: RecordArray) -> int:
    """Value for the team of the seat to act, of a state in phase PLAY with all hands known.

    work: as `new_work` makes it. The state is unchanged.
    """
    value = value_above(t, s, work, as_int(NOT_LEGAL))
    return -value if own_team(t, s) != t.team_of[s.turn] else value


@kernel
def solve_state_cards(t: RecordArray, s: RecordArray, work: RecordArray, out: Int16Array) -> None:
    """Value of each legal card into `out`, [cards] int16, for the team of the seat to act; NOT_LEGAL elsewhere."""
    w = work[0]
    values = np.empty(MAX_VALUES, np.int64)
    legal = legal_plays(t, s)
    out[:] = NOT_LEGAL
    mine = own_team(t, s) == t.team_of[s.turn]
    for suit in range(t.suits):
        cards = leads_of(t, s, legal, suit)
        if cards == _NONE:
            continue
        prepare(t, s, suit, w)
        last = possible_values(w, values) - 1
        rest = allowed_numbers(w, cards)
        best = best_value(w, rest, values, 0, last)
        while rest != _NONE:
            card = lowest(rest)
            rest = drop_lowest(rest)
            index = card_value(w, bit(card), values, best, mine, last)
            out[w.card[card]] = values[index] if mine else -values[index]


@kernel
def card_value(w: RecordArray, card: np.uint64, values: Int64Array, best: int, mine: bool, last: int) -> int:
    """Index of a card's value, given that of the best card: most cards are as good."""
    if mine:
        if best == 0 or any_reaches(w, card, values, best):
            return best
        return best_value(w, card, values, 0, best - 1)
    if best == last or not any_reaches(w, card, values, best + 1):
        return best
    return best_value(w, card, values, best + 1, last)
