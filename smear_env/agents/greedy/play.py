"""What greedy plays: the card with the best balance of the trick's points, its chance to win, and its later use."""

from __future__ import annotations

import numpy as np

from smear_env._jit import kernel
from smear_env._typing import Int8Array, RecordArray
from smear_env.agents.greedy.hold import card_value, keep_value, promising_suit, trumps_of
from smear_env.agents.seen import Seen, Whole, is_void, none_of, on_table
from smear_env.cards import bit, count, drop_lowest, lowest

_NONE = np.uint64(0)

RUFF_CHANCE = 0.5
"""How likely a seat that could trump a trick does."""


@kernel
def choose_card(t: RecordArray, at: RecordArray, row: Int8Array, seen: Seen) -> Whole:
    """The legal card of the highest worth."""
    trump = seen.trump
    legal = seen.legal
    if trump < 0:
        # The bidder's first lead shows trump.
        trump = promising_suit(t, seen.hand, legal)
        legal &= t.suit_mask[trump, trump]
    lead = seen.leader == 0
    best_seat, best_card, led, table = trick_so_far(t, at, row, seen)
    best = np.int64(-1)
    most = 0.0
    while legal != _NONE:
        card = np.int64(lowest(legal))
        legal = drop_lowest(legal)
        suit = led if not lead else np.int64(t.suit_of[trump, card])
        winner, top = best_seat, best_card
        if lead or beats(t, trump, suit, card, best_card):
            winner, top = np.int64(0), card
        chance = winning_chance(t, at, row, seen, trump, suit, winner, top)
        worth = (2 * chance - 1) * (table + card_value(t, trump, card))
        worth -= keep_value(t, seen.hand, seen.unseen, trump, card)
        if lead:
            worth += lead_bonus(t, at, row, seen, trump, card, chance)
        if best < 0 or worth > most:
            best = card
            most = worth
    return best


@kernel
def trick_so_far(
    t: RecordArray, at: RecordArray, row: Int8Array, seen: Seen
) -> tuple[Whole, Whole, Whole, float]:
    """Seat and card that win so far (-1 none), the suit led, and what the trick will hold for its winner."""
    players = np.int64(t.players)
    best_seat = np.int64(-1)
    best_card = np.int64(-1)
    led = np.int64(-1)
    table = 0.0
    waiting = players - 1
    if seen.leader > 0:
        waiting = seen.leader - 1
        for seat in range(seen.leader, players):
            card = on_table(t, at, row, seat)
            if seat == seen.leader:
                led = np.int64(t.suit_of[seen.trump, card])
            if seat == seen.leader or beats(t, seen.trump, led, card, best_card):
                best_seat = np.int64(seat)
                best_card = card
            table += card_value(t, seen.trump, card)
    return best_seat, best_card, led, table + waiting


@kernel
def beats(t: RecordArray, trump: Whole, led: Whole, card: Whole, best_card: Whole) -> bool:
    """Whether a card takes the trick from the best card so far."""
    suit = t.suit_of[trump, card]
    return (suit == led or suit == trump) and t.claim[trump, card] > t.strength[trump, best_card]


@kernel
def winning_chance(
    t: RecordArray,
    at: RecordArray,
    row: Int8Array,
    seen: Seen,
    trump: Whole,
    led: Whole,
    winner: Whole,
    top: Whole,
) -> float:
    """How likely our team wins the trick when `winner` holds it with `top` and those waiting still play."""
    waiting = seen.leader if seen.leader > 0 else np.int64(t.players)
    mine_holds = 1.0
    partner_fails = 1.0
    for seat in range(1, waiting):
        beaten = beating_chance(t, at, row, seen, trump, led, top, seat)
        if seat % t.teams == 0:
            partner_fails *= 1 - beaten
        else:
            mine_holds *= 1 - beaten
    if winner % t.teams == 0:
        return mine_holds
    return (1 - partner_fails) * 0.75 * (0.5 + 0.5 * mine_holds)


@kernel
def beating_chance(
    t: RecordArray,
    at: RecordArray,
    row: Int8Array,
    seen: Seen,
    trump: Whole,
    led: Whole,
    top: Whole,
    seat: Whole,
) -> float:
    """How likely a waiting seat beats `top`: with a higher card of the suit led, or by trumping."""
    hidden = np.float64(max(1, count(seen.unseen)))
    cards_each = np.float64(t.hand_size) - seen.tricks_done
    share = min(1.0, cards_each / hidden)
    trump_share = share
    if t.dealer_takes_stock:
        # No trump lies among the discards, so those unseen are all in the other hands.
        trump_share = min(1.0, 1.0 / (t.players - 1))
    trump_beats = t.suit_of[trump, top] == trump
    rivals = _NONE
    if not is_void(t, at, row, seat, trump):
        rivals = trumps_of(t, seen.unseen, trump)
        if trump_beats:
            rivals = above(t, rivals, trump, top)
    ruffs = 1.0 - none_of(trump_share, count(rivals))
    if led == trump:
        return ruffs
    void = (
        1.0
        if is_void(t, at, row, seat, led)
        else none_of(share, count(seen.unseen & t.suit_mask[trump, led]))
    )
    follows = 0.0
    if not trump_beats and not is_void(t, at, row, seat, led):
        follows = 1.0 - none_of(share, count(above(t, seen.unseen & t.suit_mask[trump, led], trump, top)))
    if not t.may_trump:
        ruffs *= void
    return 1.0 - (1.0 - follows) * (1.0 - RUFF_CHANCE * ruffs)


@kernel
def above(t: RecordArray, cards: np.uint64, trump: Whole, card: Whole) -> np.uint64:
    """Those of `cards`, all of one suit, that are stronger than `card`."""
    stronger = _NONE
    while cards != _NONE:
        other = lowest(cards)
        cards = drop_lowest(cards)
        if t.strength[trump, other] > t.strength[trump, card]:
            stronger |= bit(other)
    return stronger


@kernel
def lead_bonus(
    t: RecordArray, at: RecordArray, row: Int8Array, seen: Seen, trump: Whole, card: Whole, chance: float
) -> float:
    """What a lead does beyond its trick: the bidder's side draws trumps from the top."""
    if t.suit_of[trump, card] != trump:
        return 0.0
    ours = seen.bidder % t.teams == 0
    if not ours or trumps_of(t, seen.unseen, trump) == _NONE:
        return -3.0
    others = 0
    for seat in range(1, t.players):
        if seat % t.teams != 0 and not is_void(t, at, row, seat, trump):
            others += 1
    if others == 0:
        return -3.0
    # Of trumps equally sure to win, the highest.
    return 6.0 * chance + 0.02 * t.strength[trump, card]
