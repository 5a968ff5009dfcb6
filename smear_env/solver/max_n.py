"""Max-n: every team plays for itself. Only for the last tricks of a deal, since nothing can be cut off.

Each seat maximises its own team's value, (teams - 1) * own score change - sum of the others'; where several cards
give the same, it takes what is best for the next team clockwise, then for the one after, then what scores more for
all together. So the result depends on no order of cards. It is one equilibrium; with indifferent players there may
be others.
"""

from __future__ import annotations

import numpy as np

from smear_env._jit import announce_part, inline_kernel, kernel
from smear_env._typing import Int16Array, RecordArray, as_int
from smear_env.cards import bit, drop_lowest, lowest
from smear_env.engine.deal import mix
from smear_env.engine.legal import legal_plays
from smear_env.engine.tables import GAME_TIE_BIDDER, GAME_TIE_NON_BIDDER, compile_tables
from smear_env.rules import Rules
from smear_env.solver.position import captures, new_work, set_position
from smear_env.solver.root import allowed_numbers, leads_of
from smear_env.solver.search import distinct, legal_cards, put_card
from smear_env.solver.solve import ANNOUNCED, checked_states

MAX_N_TRICKS = 4
"""Most cards a seat may hold."""

_NONE = np.uint64(0)
_NO_CARD = 64
_BIAS = 64
_BYTE = 255
# Three numbers below 256 in one, side 0 lowest: captures taken and card points won, or score changes plus _BIAS.


def max_n(states: RecordArray, rules: Rules) -> Int16Array:
    """Score changes of each team, [N, teams] int16 in points, when every team plays for itself from each state on.

    states: as for `solve`, nobody holding more than MAX_N_TRICKS cards; ValueError otherwise.
    """
    checked = checked_states(states, rules)
    for seat in range(rules.players):
        for index in np.flatnonzero(np.bitwise_count(checked["hand"][:, seat]) > MAX_N_TRICKS):
            raise ValueError(
                f"states[{index}]: seat {seat} holds more than {MAX_N_TRICKS} cards; max_n is for the last tricks"
            )
    announce_part(*ANNOUNCED, max_n_all)
    deltas = np.empty((len(checked), rules.teams), np.int16)
    max_n_all(compile_tables(rules), checked, new_work().view(np.ndarray), deltas)
    return deltas


@kernel
def max_n_all(tables: RecordArray, states: RecordArray, work: RecordArray, deltas: Int16Array) -> None:
    """Max-n of states one after the other."""
    for i in range(len(states)):
        max_n_state(tables[0], states[i], work, deltas[i])


@kernel
def max_n_state(t: RecordArray, s: RecordArray, work: RecordArray, out: Int16Array) -> None:
    """Score changes under max-n into `out`, [teams]."""
    w = work[0]
    legal = legal_plays(t, s)
    found = as_int(-1)
    for suit in range(t.suits):
        cards = leads_of(t, s, legal, suit)
        if cards == _NONE:
            continue
        set_position(t, s, suit, as_int(t.team_of[s.turn]), w)
        rest = allowed_numbers(w, cards)
        while rest != _NONE:
            card = lowest(rest)
            rest = drop_lowest(rest)
            result = root_card(t, s, w, card)
            if found < 0 or preference(w, result, as_int(0)) > preference(w, found, as_int(0)):
                found = result
    for seat in range(t.players):
        out[t.team_of[seat]] = ((found >> (8 * w.side[seat])) & _BYTE) - _BIAS


@inline_kernel
def root_card(t: RecordArray, s: RecordArray, w: RecordArray, card: int) -> int:
    """The packed score changes once the seat to act has played a card."""
    points = as_int(0)
    for seat in range(t.teams):
        points |= as_int(s.card_points[t.team_of[seat]]) << (8 * w.side[seat])
    if t.stock_to_bidder > 0:
        discards = s.discarded[s.bidder]
        while discards != _NONE:
            points += as_int(t.card_points[lowest(discards)]) << (8 * w.side[s.bidder])
            discards = drop_lowest(discards)
    return walk(
        w,
        w.cards,
        as_int(w.seat),
        as_int(w.on_table),
        as_int(w.led),
        as_int(w.best),
        as_int(w.holder),
        as_int(w.gained),
        as_int(w.caught),
        as_int(0),
        points,
        card,
    )


@inline_kernel
def preference(w: RecordArray, deltas: int, side: int) -> int:
    """What a side likes more is higher: its own value, the next team's, the one's after that, more for all."""
    teams = as_int(w.teams)
    total = as_int(0)
    for other in range(teams):
        total += ((deltas >> (8 * other)) & _BYTE) - _BIAS
    liked = as_int(0)
    for _ in range(teams):
        own = ((deltas >> (8 * side)) & _BYTE) - _BIAS
        # The value, shifted to be positive.
        liked = liked * 1024 + teams * own - total + 512
        side = as_int(w.next_side[side])
    return liked * 1024 + total + 512


@kernel
def walk(
    w: RecordArray,
    cards: np.uint64,
    seat: int,
    on_table: int,
    led: int,
    best: int,
    holder: int,
    gained: int,
    caught: int,
    taken: int,
    points: int,
    card: int,
) -> int:
    """Packed score changes after a seat has played a card; arguments as in `search.search`.

    taken, points: captures taken and card points won by each side, packed.
    """
    w.nodes += 1
    led, best, holder = put_card(w, seat, on_table, led, best, holder, card)
    gained += w.points[card]
    caught += captures(w, bit(card))
    cards &= ~bit(card)
    on_table += 1
    seat += 1
    if seat == w.players:
        seat = as_int(0)
    key = _NONE
    slot = 0
    if on_table == w.players:
        taken += caught << (8 * w.side[holder])
        points += gained << (8 * w.side[holder])
        if cards == _NONE:
            return end_deltas(w, taken, points)
        seat = holder
        on_table = as_int(0)
        gained = as_int(0)
        caught = as_int(0)
        key = mix(mix(w.salt + np.uint64(taken | (points << 24) | (seat << 56))) + cards)
        slot = 2 * as_int(key >> np.uint64(64 - w.table_bits))
        if w.table[slot] == key:
            return as_int(w.table[slot + 1])
    hand = w.hand[seat] & cards
    todo = legal_cards(w, hand, on_table, led)
    todo = distinct(w, todo, hand, cards, best if on_table > 0 else as_int(_NO_CARD))
    side = as_int(w.side[seat])
    result = as_int(-1)
    liked = as_int(-1)
    while todo != _NONE:
        trial = lowest(todo)
        todo = drop_lowest(todo)
        found = walk(w, cards, seat, on_table, led, best, holder, gained, caught, taken, points, trial)
        how_much = preference(w, found, side)
        if how_much > liked:
            liked = how_much
            result = found
    if on_table == 0:
        w.table[slot] = key
        w.table[slot + 1] = np.uint64(result)
    return result


@inline_kernel
def end_deltas(w: RecordArray, taken: int, points: int) -> int:
    """Packed score changes at the end of a deal."""
    game = game_side(w, points)
    bidding = 0 if w.own_bids else 1
    deltas = as_int(0)
    for side in range(w.teams):
        earned = as_int(w.side_sure[side]) + ((taken >> (8 * side)) & _BYTE) + (1 if game == side else 0)
        if side == bidding and earned < w.bid:
            earned = -earned if w.failed_costs_points else -as_int(w.bid)
        deltas |= (earned + _BIAS) << (8 * side)
    return deltas


@inline_kernel
def game_side(w: RecordArray, points: int) -> int:
    """The side with most card points; a tie by `game_tie`, -1 nobody."""
    best = as_int(0)
    tied = False
    for side in range(1, w.teams):
        here = (points >> (8 * side)) & _BYTE
        most = (points >> (8 * best)) & _BYTE
        if here > most:
            best = side
            tied = False
        elif here == most:
            tied = True
    if not tied:
        return best
    bidding = 0 if w.own_bids else 1
    if w.game_tie == GAME_TIE_BIDDER and (points >> (8 * bidding)) & _BYTE == (points >> (8 * best)) & _BYTE:
        return as_int(bidding)
    if w.game_tie == GAME_TIE_NON_BIDDER:
        return as_int(1 - bidding)
    return as_int(-1)
