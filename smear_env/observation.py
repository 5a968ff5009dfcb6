"""The writers of what a seat sees, what the whole table is, and what may be done, as `layout` lays them out.

A row is given by its address (`flags` says why). Fields of tables and offsets are read into variables first: behind
a store the compiler has to read them again.
"""

from __future__ import annotations

import numpy as np

from smear_env._jit import inline_kernel, kernel
from smear_env._typing import RecordArray, as_int
from smear_env.engine.seats import calls, seat_after, steps_to, team_after, turned
from smear_env.engine.state import SEATS, TEAMS
from smear_env.flags import (
    address,
    clear_block,
    copy_block,
    pick_entries,
    put,
    read_word,
    write_bytes,
    write_flags,
)
from smear_env.layout import SATURATED

_NONE = np.uint64(0)

# Loops over a few seats or teams run over a constant and break: the compiler unrolls them, where it would make vectors
# of rounds that it does not know to be four.


@kernel
def write_observation(t: RecordArray, s: RecordArray, seat: int, at: RecordArray, to: int) -> None:
    """Write the view of `seat` over the [d] entries from address `to` on.

    `at` are the rules' `layout.offsets`.
    """
    cards = as_int(t.cards)
    seen = s.hand[seat] | s.taken[seat] | s.discarded[seat]
    for other in range(SEATS):
        seen |= s.played[other] | s.trick[other]
    write_flags(s.hand[seat], cards, to + at.hand)
    write_flags(s.taken[seat], cards, to + at.taken)
    write_flags(t.deck & ~seen, cards, to + at.unseen)
    write_public(t, s, seat, at, to)
    pick_entries(s.discarded[seat], address(s.discard_order), cards, to + at.discard_order)


@kernel
def write_state(t: RecordArray, s: RecordArray, seat: int, at: RecordArray, to: int) -> None:
    """Write the full information over the [s] entries from address `to` on, seats counted from `seat`."""
    cards = as_int(t.cards)
    players = as_int(t.players)
    for relative in range(players):
        other = seat_after(t, seat, relative)
        write_flags(s.hand[other], cards, to + at.hand + relative * cards)
        write_flags(s.taken[other], cards, to + at.taken + relative * cards)
        write_flags(s.discarded[other], cards, to + at.discarded + relative * cards)
    write_public(t, s, seat, at, to)
    copy_block(address(s.discard_order), cards, to + at.discard_order)
    stock = to + at.stock
    clear_block(cards, stock)
    for position in range(s.stock_drawn, s.stock_size):
        put(position - s.stock_drawn + 1, stock + s.stock[position])


@inline_kernel
def write_public(t: RecordArray, s: RecordArray, seat: int, at: RecordArray, to: int) -> None:
    """Write what every seat knows, seats and teams counted from `seat`."""
    cards = as_int(t.cards)
    trick = to + at.trick
    played = to + at.played
    for relative in range(t.players):
        other = seat_after(t, seat, relative)
        write_flags(s.trick[other], cards, trick + relative * cards)
        write_flags(s.played[other], cards, played + relative * cards)
    # What follows is three runs of short pieces, each run within one word (`layout` sees to it).
    said = turned(s.said, calls(t), as_int(t.players), seat)
    write_flags(said, at.bid - at.bids, to + at.bids)
    write_flags(moment(t, s, seat, at), at.voids - at.bid, to + at.bid)
    write_flags(shown(t, s, seat, at), at.flag_count - at.voids, to + at.voids)
    copy_block(address(s.trick_of), cards, to + at.trick_of)
    write_counts(t, s, seat, at, to)
    copy_block(address(at.option_row), at.option_count, to + at.options)


@inline_kernel
def moment(t: RecordArray, s: RecordArray, seat: int, at: RecordArray) -> np.uint64:
    """Highest bid, bidder, dealer, turn, leader, trump and phase, as the pieces from `bid` on."""
    start = at.bid
    return (
        flag(s.bid > 0, s.bid - as_int(t.min_bid))
        | flag(s.bidder >= 0, at.bidder - start + steps_to(t, seat, s.bidder))
        | flag(True, at.dealer - start + steps_to(t, seat, s.dealer))
        | flag(s.turn >= 0, at.turn - start + steps_to(t, seat, s.turn))
        | flag(s.leader >= 0, at.leader - start + steps_to(t, seat, s.leader))
        | flag(s.trump >= 0, at.trump - start + s.trump)
        | flag(True, at.phase - start + s.phase)
    )


@inline_kernel
def shown(t: RecordArray, s: RecordArray, seat: int, at: RecordArray) -> np.uint64:
    """Shown voids and scoring trumps taken, as the pieces `voids` and `captured`."""
    voids = turned(s.voids, as_int(t.suits), as_int(t.players), seat)
    captured = turned(s.captured, as_int(t.points) - 1, as_int(t.teams), as_int(t.team_of[seat]))
    return voids | captured << np.uint64(at.captured - at.voids)


@inline_kernel
def flag(is_set: bool, place: int) -> np.uint64:
    """Bit `place` if it is set; otherwise none, whatever the place."""
    return np.uint64(is_set) << (np.uint64(place) & np.uint64(63))


@inline_kernel
def write_counts(t: RecordArray, s: RecordArray, seat: int, at: RecordArray, to: int) -> None:
    """Write the numbers by seat and by team, slots of absent teams 0."""
    players = as_int(t.players)
    exchanged = turned(read_word(address(s.exchanged)), 8, players, seat)
    write_bytes(exchanged, players, to + at.exchanged)
    put(s.trick_number, to + at.tricks_done)
    target = as_int(t.target)
    teams = as_int(t.teams)
    slots = at.team_slots
    numbers = to + at.card_points
    for slot in range(TEAMS):
        if slot == slots:
            break
        there = slot < teams
        team = team_after(t, seat, slot) if there else as_int(0)
        put(saturate(s.card_points[team]) if there else 0, numbers + slot)
        put(saturate(s.scores[team]) if there else 0, numbers + slots + slot)
        put(saturate(target - s.scores[team]) if there else 0, numbers + 2 * slots + slot)


@inline_kernel
def write_mask(t: RecordArray, cards: np.uint64, calls: np.uint64, size: int, to: int) -> None:
    """Write `legal.legal_sets` over the `size` = [n] entries from address `to` on."""
    deck = as_int(t.cards)
    if size <= 64:
        write_flags(cards | (calls << np.uint64(deck)), size, to)
    else:
        write_flags(cards, deck, to)
        write_flags(calls, size - deck, to + deck)


@inline_kernel
def saturate(value: int) -> int:
    """The number held to -100..100."""
    return max(-SATURATED, min(SATURATED, value))
