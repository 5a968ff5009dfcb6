"""One action: auction, stock, naming trump, exchange, discard and play, a function per phase.

The action must be legal (`legal.is_legal`); a step never checks it again.
"""

from __future__ import annotations

import numpy as np

from smear_env._jit import inline_kernel, kernel
from smear_env._typing import RecordArray
from smear_env.cards import bit, count
from smear_env.engine.deal import draw_from_stock
from smear_env.engine.scoring import finish_deal, pass_out, points_in, scoring_trumps
from smear_env.engine.seats import calls, seat_after
from smear_env.engine.state import BID, DISCARD, EXCHANGE, NAME, PLAY

_NONE = np.uint64(0)


@kernel
def step(t: RecordArray, s: RecordArray, action: int) -> None:
    """Apply a legal action id of the seat to act; deals again or ends the match where a deal ends."""
    if s.phase == PLAY:
        play_card(t, s, action)
    elif s.phase == BID:
        call_bid(t, s, action - t.cards)
    elif s.phase == DISCARD:
        discard(t, s, action)
    elif s.phase == EXCHANGE:
        exchange(t, s, action)
    elif s.phase == NAME:
        name_trump(t, s, action - t.cards - 2 - (t.max_bid - t.min_bid))


@inline_kernel
def call_bid(t: RecordArray, s: RecordArray, call: int) -> None:
    """A pass (call 0) or a bid; the auction ends at the dealer or on the highest bid."""
    seat = s.turn
    s.said |= bit(seat * calls(t) + call)
    if call > 0:
        s.bid = t.min_bid + call - 1
        s.bidder = seat
    if seat != s.dealer and s.bid < t.max_bid:
        s.turn = seat_after(t, seat, 1)
    elif s.bid == 0:
        pass_out(t, s)
    elif t.trump_named:
        s.phase = NAME
        s.turn = s.bidder
    else:
        take_stock(s, s.bidder, t.stock_to_bidder)


@inline_kernel
def name_trump(t: RecordArray, s: RecordArray, suit: int) -> None:
    """The bidder names trump; the exchange begins at the dealer's left."""
    s.trump = suit
    if t.exchange > 0:
        s.phase = EXCHANGE
        s.turn = seat_after(t, s.dealer, 1)
    else:
        end_exchange(t, s)


@inline_kernel
def exchange(t: RecordArray, s: RecordArray, action: int) -> None:
    """Throw a card, or pass to stop; who has stopped or thrown all he may draws as many."""
    seat = s.turn
    if action < t.cards:
        throw(s, seat, action)
        s.exchanged[seat] += 1
        if s.exchanged[seat] < t.exchange:
            return
    draw_from_stock(s, seat, s.exchanged[seat])
    s.turn = seat_after(t, seat, 1)
    if s.turn == s.dealer:
        end_exchange(t, s)


@inline_kernel
def end_exchange(t: RecordArray, s: RecordArray) -> None:
    """The dealer takes what is left of the stock, where the game has it so."""
    wanted = s.stock_size - s.stock_drawn if t.dealer_takes_stock else 0
    take_stock(s, s.dealer, wanted)


@inline_kernel
def take_stock(s: RecordArray, seat: int, wanted: int) -> None:
    """Bidder or dealer takes cards and discards as many, or play begins at once."""
    draw_from_stock(s, seat, wanted)
    if wanted > 0:
        s.exchanged[seat] = wanted
        s.phase = DISCARD
        s.turn = seat
    else:
        begin_play(s)


@inline_kernel
def discard(t: RecordArray, s: RecordArray, card: int) -> None:
    """Throw one card; play begins when the hand is down to its size."""
    throw(s, s.turn, card)
    if count(s.hand[s.turn]) == t.hand_size:
        begin_play(s)


@inline_kernel
def throw(s: RecordArray, seat: int, card: int) -> None:
    """Move a card from a hand to the seat's discards."""
    s.hand[seat] &= ~bit(card)
    s.discarded[seat] |= bit(card)
    s.discard_order[card] = count(s.discarded[seat])


@inline_kernel
def begin_play(s: RecordArray) -> None:
    """The bidder leads."""
    s.phase = PLAY
    s.leader = s.bidder
    s.turn = s.bidder


@inline_kernel
def play_card(t: RecordArray, s: RecordArray, card: int) -> None:
    """Play a card to the trick; the first card of the deal shows trump where it was not named."""
    seat = s.turn
    if s.in_trick == 0:
        if s.trump < 0:
            s.trump = t.suit_of[-1, card]
        s.led_suit = t.suit_of[s.trump, card]
        s.best_card = -1
    suit = t.suit_of[s.trump, card]
    s.hand[seat] &= ~bit(card)
    s.trick[seat] = bit(card)
    s.trick_of[card] = s.trick_number + 1
    s.in_trick += 1
    if suit != s.led_suit and not (t.may_trump and suit == s.trump):
        # With `may_trump` a trump on a side suit shows nothing: who follows may trump as well.
        s.voids |= bit(seat * t.suits + s.led_suit)
    if suit == s.led_suit or suit == s.trump:
        if s.best_card < 0 or t.claim[s.trump, card] > t.strength[s.trump, s.best_card]:
            s.best_card = card
            s.best_seat = seat
    if s.in_trick == t.players:
        finish_trick(t, s)
    else:
        s.turn = seat_after(t, seat, 1)


@inline_kernel
def finish_trick(t: RecordArray, s: RecordArray) -> None:
    """The best card takes the trick and leads; after the last trick the deal is scored."""
    team = t.team_of[s.best_seat]
    cards = _NONE
    for seat in range(t.players):
        cards |= s.trick[seat]
        s.played[seat] |= s.trick[seat]
        s.trick[seat] = _NONE
    s.won[team] |= cards
    s.captured |= scoring_trumps(t, s.trump, cards) << np.uint64(team * (t.points - 1))
    s.card_points[team] += points_in(t, cards)
    s.leader = s.best_seat
    s.turn = s.best_seat
    s.in_trick = 0
    s.led_suit = -1
    s.trick_number += 1
    if s.trick_number == t.hand_size:
        finish_deal(t, s)
