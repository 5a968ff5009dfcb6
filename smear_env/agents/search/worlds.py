"""Complete worlds that fit what one seat has seen, each equally likely.

A world is a whole history: the cards dealt to every seat, the order of the stock, and every action so far, with
the other seats' hidden discards filled in. The measure: every history that the rules allow and that shows the
viewer exactly its observation counts once. Histories that end in the same places (hands now, what each seat
threw, what is left of the stock) are equally many for all of them, as a seat's drawn cards may be any of those
it held, in any order, and so may the order in which it threw; so that the places of the unseen cards are
uniform too, over all that the rules allow (`known` says which).

Worlds are drawn by counting (`ways`): no rejection, no weights. Every world is replayed by the engine's own
kernels, from the deal, so that it cannot be inconsistent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smear_env._jit import announce_part, kernel
from smear_env._typing import Int8Array, Int64Array, RecordArray, as_int
from smear_env.agents.search.known import (
    CLASSES,
    PILES,
    STOCK,
    THROWN,
    Known,
    class_of,
    is_in_exchange,
    read_known,
    trump_classes,
)
from smear_env.agents.search.sound import cards_are_sound, numbers_are_sound, shows
from smear_env.agents.search.ways import Ways, count_ways, draw_way
from smear_env.agents.seen import Whole, kernel_tables
from smear_env.cards import bit, count, drop_lowest, lowest
from smear_env.engine.deal import draw_below, set_cards, stream
from smear_env.engine.seats import seat_after
from smear_env.engine.state import BID, DISCARD, EXCHANGE, NAME, SEATS, new_states
from smear_env.engine.step import step
from smear_env.layout import SATURATED, observation_layout, vector_size
from smear_env.rules import MAX_SUITS, Rules

_NONE = np.uint64(0)
_MAX_DEALS = 100

ANNOUNCED = ("the players that search", "about a minute")
"""What is said when kernels of searching are compiled."""
NO_ACTION = -1
"""After the last action of a history."""


@dataclass(frozen=True)
class Worlds:
    """Worlds that fit one observation; seats are counted from its seat."""

    orders: Int8Array
    """[N, cards] cards dealt: `hand_size` for each seat in turn, then the stock from its top."""
    actions: Int64Array
    """[N, A] every action so far, NO_ACTION after the last."""
    states: RecordArray
    """[N] STATE_DTYPE, the table now: each ends with the deal (`one_deal`), the viewer is seat 0 and is to act."""


def sample_worlds(observation: Int8Array, rules: Rules, worlds: int, seed: int, *, first: int = 0) -> Worlds:
    """Draw `worlds` worlds that fit the observation [d] int8 of the seat to act, each equally likely.

    The same arguments give the same worlds, and the first of more are those of fewer; `first` is how many to leave
    out before them, so that many can be drawn a part at a time. Raises ValueError for
    another shape, for the view of a seat that is not to act, and for one that no deal can show.
    """
    row = np.ascontiguousarray(observation, np.int8)
    expected = vector_size(observation_layout(rules))
    if row.shape != (expected,):
        raise ValueError(f"observation of shape {row.shape}, expected ({expected},) for {rules.name}")
    if worlds < 1:
        raise ValueError(f"worlds={worlds} must be at least 1")
    turn = observation_layout(rules)["turn"].start
    if row[turn] == 0:
        raise ValueError(
            "the observation is of a seat that is not to act: worlds are drawn for its decisions"
        )
    tables, starts = kernel_tables(rules)
    orders = np.empty((worlds, len(rules.card_names)), np.int8)
    actions = np.empty((worlds, most_actions(rules)), np.int64)
    states = new_states(worlds)
    announce_part(*ANNOUNCED, fill_worlds)
    if not fill_worlds(tables, starts, row, np.uint64(seed), first, orders, actions, states):
        raise ValueError(
            "no deal shows this observation: it was not written under these rules, or is damaged"
        )
    return Worlds(orders, actions, states)


def most_actions(rules: Rules) -> int:
    """More actions than one deal can have."""
    return rules.players * (3 + rules.exchange + rules.hand_size) + len(rules.card_names)


@kernel
def fill_worlds(
    tables: RecordArray,
    starts: RecordArray,
    row: Int8Array,
    seed: np.uint64,
    first: int,
    orders: Int8Array,
    actions: Int64Array,
    states: RecordArray,
) -> bool:
    """Write worlds [N] that fit an observation [d]; False if there is none."""
    t, at = tables[0], starts[0]
    if not numbers_are_sound(t, at, row):
        return False
    known = read_known(t, at, row)
    if not cards_are_sound(t, known):
        return False
    class_size = np.zeros(CLASSES, np.int64)
    left = known.unseen
    while left != _NONE:
        class_size[class_of(t, known.trump, lowest(left))] += 1
        left = drop_lowest(left)
    plain = count_ways(class_size, known.size, known.allowed, -1, -1)
    spare = spare_ways(known, class_size) if known.spare_trumps else plain
    spare_total = spare.total if known.spare_trumps else 0.0
    if not plain.total + spare_total > 0.0:
        return False
    cards = np.int64(t.cards)
    piles = np.zeros((PILES, cards), np.int64)
    for world in range(len(states)):
        generator = stream(seed, first + world, 0)
        ways = plain
        if known.spare_trumps:
            # A draw of 53 bits: which of the two cases, each as often as it has ways.
            generator, high = draw_below(generator, 1 << 26)
            generator, low = draw_below(generator, 1 << 27)
            share = (high * (1 << 27) + low) / (1 << 53)
            if share * (plain.total + spare_total) >= plain.total:
                ways = spare
        generator = fill_piles(t, known, ways, generator, piles)
        generator = choose_deal(t, known, generator, piles, orders[world])
        set_match(t, at, row, known, states[world])
        set_cards(t, states[world], orders[world])
        replay(t, known, piles, actions[world], states[world])
    # What is known is the same in all of them, so that one stands for all.
    return shows(t, at, states[0], row)


@kernel
def spare_ways(known: Known, class_size: Int64Array) -> Ways:
    """The ways in which trumps were discarded, so that the hand kept is all trump."""
    size, allowed = known.size.copy(), known.allowed.copy()
    trumps = trump_classes(known.trump)
    allowed[known.discarder - THROWN] &= trumps
    allowed[known.discarder] |= np.int64(1 << known.trump)
    return count_ways(class_size, size, allowed, known.discarder, known.trump)


@kernel
def fill_piles(
    t: RecordArray, known: Known, ways: Ways, generator: np.uint64, piles: Int64Array
) -> np.uint64:
    """Write the cards of every pile, [PILES, cards], in random order; returns the generator's next state."""
    cards = np.int64(t.cards)
    taken = np.zeros((CLASSES, PILES), np.int64)
    generator = draw_way(ways, generator, taken)
    # Each group's cards, class by class, the classes shuffled.
    grouped = np.zeros((PILES, cards), np.int64)
    filled = np.zeros(PILES, np.int64)
    members = np.empty((CLASSES, cards), np.int64)
    sizes = np.zeros(CLASSES, np.int64)
    left = known.unseen
    while left != _NONE:
        card = lowest(left)
        left = drop_lowest(left)
        c = class_of(t, known.trump, card)
        members[c, sizes[c]] = card
        sizes[c] += 1
    for c in range(CLASSES):
        generator = shuffle(members[c], sizes[c], generator)
        place = 0
        for group in range(ways.groups):
            for _ in range(taken[c, group]):
                grouped[group, filled[group]] = members[c, place]
                filled[group] += 1
                place += 1
    for group in range(ways.groups):
        generator = shuffle(grouped[group], filled[group], generator)
        place = 0
        for pile in range(PILES):
            if ways.group_of[pile] == group:
                for i in range(known.size[pile]):
                    piles[pile, i] = grouped[group, place]
                    place += 1
    return generator


@kernel
def shuffle(cards: Int64Array, size: Whole, generator: np.uint64) -> np.uint64:
    """Put the first `size` cards in random order (Fisher and Yates); returns the generator's next state."""
    for last in range(size - 1, 0, -1):
        generator, chosen = draw_below(generator, last + 1)
        cards[last], cards[chosen] = cards[chosen], cards[last]
    return generator


@kernel
def choose_deal(
    t: RecordArray, known: Known, generator: np.uint64, piles: Int64Array, order: Int8Array
) -> np.uint64:
    """Write the order of the deck that leads to these piles: which cards were dealt and which drawn is open.

    Returns the generator's next state.
    """
    players, hand_size = np.int64(t.players), np.int64(t.hand_size)
    drawn = np.zeros((SEATS, t.cards), np.int64)
    held = np.empty(t.cards, np.int64)
    for seat in range(players):
        final = known.shown[seat]
        for i in range(known.size[seat]):
            final |= bit(piles[seat, i])
        # Who exchanges draws after he has thrown; who discards to the hand size has drawn before, so that he
        # may have thrown what he drew.
        throws_dealt = seat != known.dealer if t.trump_named else False
        thrown = _NONE
        for i in range(known.throws[seat]):
            thrown |= bit(known.thrown[i] if seat == 0 else piles[THROWN + seat, i])
        among = final if throws_dealt else final | thrown
        if seat == 0:
            among = known.taken
        size = 0
        left = among
        while left != _NONE:
            held[size] = lowest(left)
            left = drop_lowest(left)
            size += 1
        generator = shuffle(held, size, generator)
        dealt = final | thrown
        for i in range(known.draws[seat]):
            drawn[seat, i] = held[i]
            dealt &= ~bit(held[i])
        place = seat * hand_size
        while dealt != _NONE:
            order[place] = lowest(dealt)
            dealt = drop_lowest(dealt)
            place += 1
    place = players * hand_size
    for turn in range(1, players + 1):
        # From the dealer's left, himself last; where the bidder alone draws the order is no matter.
        seat = seat_after(t, known.dealer, as_int(turn % players))
        for i in range(known.draws[seat]):
            order[place] = drawn[seat, i]
            place += 1
    for i in range(known.size[STOCK]):
        order[place] = piles[STOCK, i]
        place += 1
    return generator


@kernel
def set_match(t: RecordArray, at: RecordArray, row: Int8Array, known: Known, s: RecordArray) -> None:
    """Make a state that of a match with the scores seen, which ends with this deal."""
    s.dealer = known.dealer
    s.one_deal = 1
    s.max_deals = _MAX_DEALS
    s.deals = 0
    s.winner = -1
    s.truncated = 0
    s.ended = 0
    for team in range(SEATS):
        score = as_int(row[at.scores + team]) if team < t.teams else 0
        if score >= SATURATED:
            # Where it stood at the limit, what is short of the target, below 0 here, tells more.
            score = as_int(t.target) - row[at.scores + at.team_slots + team]
        s.scores[team] = score


@kernel
def replay(t: RecordArray, known: Known, piles: Int64Array, actions: Int64Array, s: RecordArray) -> None:
    """Step a world from its deal to now, writing the actions."""
    length = 0
    action = next_action(t, known, piles, s)
    # A damaged observation may tell of more than a deal has.
    while action != NO_ACTION and length < len(actions):
        actions[length] = action
        length += 1
        step(t, s, action)
        action = next_action(t, known, piles, s)
    for i in range(length, len(actions)):
        actions[i] = NO_ACTION


@kernel
def next_action(t: RecordArray, known: Known, piles: Int64Array, s: RecordArray) -> Whole:
    """What the seat to act did at this point of a world, NO_ACTION where it is the viewer's decision now."""
    seat = np.int64(s.turn)
    cards = np.int64(t.cards)
    if s.phase == BID:
        return cards + known.said[seat] if known.said[seat] >= 0 else np.int64(NO_ACTION)
    if s.phase == NAME:
        if known.trump < 0:
            return np.int64(NO_ACTION)
        return cards + 2 + np.int64(t.max_bid) - t.min_bid + known.trump
    if s.phase == EXCHANGE or s.phase == DISCARD:
        done = count(s.discarded[seat])
        if done < known.throws[seat]:
            return known.thrown[done] if seat == 0 else piles[THROWN + seat, done]
        if s.phase == DISCARD or is_in_exchange(known, seat):
            return np.int64(NO_ACTION)
        return cards
    return known.card_at[seat, s.trick_number + 1]


assert MAX_SUITS < CLASSES, "room for the protected trumps"
