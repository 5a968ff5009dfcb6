"""What expert plays and throws: the card whose features weigh most, once what is out and who may win is counted."""

from __future__ import annotations

import numpy as np

from smear_env._jit import inline_kernel, kernel
from smear_env._typing import Float32Array, Int8Array, RecordArray, as_int
from smear_env.agents.expert.book import (
    BIDDER_DISCARDS,
    DEALER_DISCARDS,
    EXCHANGES,
    FEATURES,
    FOLLOW,
    LAST,
    LEAD,
)
from smear_env.agents.expert.features import Table, follow_features, lead_features, throw_features
from smear_env.agents.expert.hand import chosen_trump
from smear_env.agents.seen import Seen, Whole, first_of, is_void, none_of
from smear_env.cards import count, drop_lowest, has, lowest
from smear_env.engine.state import DISCARD
from smear_env.flags import address

_NONE = np.uint64(0)

LOW = 1
"""Place of Low among the points of a deal."""
RUFF_CHANCE = 0.5
"""How likely a seat that could trump a trick does."""
PARTNER_TAKES = 0.75
"""How likely a partner who could take the trick does."""
BIDDER_LENGTH = 1.5
"""How much likelier an unseen trump is with the bidder than with another seat."""


@kernel
def choose_card(t: RecordArray, at: RecordArray, row: Int8Array, b: RecordArray, v: Seen) -> Whole:
    """The legal card of the highest worth."""
    out = np.empty(FEATURES, np.float32)
    trump, legal = trump_to_play(t, b, v)
    a = table_of(t, at, row, b, v, trump)
    context = context_of(t, v, a)
    best = as_int(-1)
    most = 0.0
    stays = -1.0
    while legal != _NONE:
        card = as_int(lowest(legal))
        legal = drop_lowest(legal)
        stays = card_features(t, at, row, b, v, a, card, stays, out)
        worth = weighed(b, context, out)
        if best < 0 or worth > most:
            best = card
            most = worth
    return best


@inline_kernel
def weighed(b: RecordArray, context: Whole, out: Float32Array) -> float:
    """Worth of features in a role."""
    total = 0.0
    for i in range(FEATURES):
        total += b.weights[context, i] * out[i]
    return total


@inline_kernel
def trump_to_play(t: RecordArray, b: RecordArray, v: Seen) -> tuple[Whole, np.uint64]:
    """Trump, and the legal cards; before the first lead of an unnamed trump, the suit to be shown and its cards."""
    if v.trump >= 0:
        return v.trump, v.legal
    trump = chosen_trump(t, b, v.hand | v.thrown, v.legal, v.bid)
    return trump, v.legal & t.suit_mask[trump, trump]


@inline_kernel
def context_of(t: RecordArray, v: Seen, a: Table) -> Whole:
    """The role in which a card is played: leading, following, or last, as bidder, partner or defender."""
    side = as_int(0)
    if v.bidder > 0:
        side = as_int(1) if v.bidder % t.teams == 0 else as_int(2)
    if a.led < 0:
        return LEAD + side
    return (FOLLOW if a.waiting > 0 else LAST) + side


@kernel
def card_features(
    t: RecordArray,
    at: RecordArray,
    row: Int8Array,
    b: RecordArray,
    v: Seen,
    a: Table,
    card: Whole,
    stays: float,
    out: Float32Array,
) -> float:
    """Write the features of playing a card; `stays` is the chance of one that does not take, -1 unknown, given back."""
    if a.led < 0:
        suit = as_int(t.suit_of[a.trump, card])
        lead_features(t, b, v, a, card, winning_chance(t, at, row, b, v, a, suit, as_int(0), card), out)
        return stays
    takes = beats(t, a, card)
    if takes:
        chance = winning_chance(t, at, row, b, v, a, a.led, as_int(0), card)
    else:
        if stays < 0:
            stays = winning_chance(t, at, row, b, v, a, a.led, a.best_seat, a.best_card)
        chance = stays
    follow_features(t, b, v, a, card, takes, chance, out)
    return stays


@inline_kernel
def beats(t: RecordArray, a: Table, card: Whole) -> bool:
    """Whether a card takes the trick from the best card so far."""
    suit = t.suit_of[a.trump, card]
    return (suit == a.led or suit == a.trump) and t.claim[a.trump, card] > t.strength[a.trump, a.best_card]


@kernel
def table_of(t: RecordArray, at: RecordArray, row: Int8Array, b: RecordArray, v: Seen, trump: Whole) -> Table:
    """The table as the seat to act sees it."""
    players = as_int(t.players)
    cards = as_int(t.cards)
    start = address(row)
    led = as_int(-1)
    best_seat = as_int(-1)
    best_card = as_int(-1)
    points = 0.0
    scoring = 0.0
    waiting = players - 1
    if v.leader > 0:
        waiting = v.leader - 1
        for seat in range(v.leader, players):
            card = first_of(start + at.trick + seat * cards, cards)
            suit = as_int(t.suit_of[trump, card])
            if seat == v.leader:
                led = suit
            if best_card < 0 or (
                (suit == led or suit == trump) and t.claim[trump, card] > t.strength[trump, best_card]
            ):
                best_seat = as_int(seat)
                best_card = card
            points += t.card_points[card]
            if has(b.scores[trump], card):
                scoring += 1.0
    partner_voids = as_int(0)
    opponent_voids = as_int(0)
    for seat in range(1, players):
        for suit in range(t.suits):
            if is_void(t, at, row, seat, suit):
                if seat % t.teams == 0:
                    partner_voids |= 1 << suit
                else:
                    opponent_voids |= 1 << suit
    live, critical = stakes(t, at, row, v, trump, points)
    return Table(
        trump,
        led,
        best_seat,
        best_card,
        points + waiting,
        scoring,
        waiting,
        live,
        critical,
        v.unseen & t.suit_mask[trump, trump],
        partner_voids,
        opponent_voids,
        np.float64(v.tricks_done) / t.hand_size,
    )


@kernel
def stakes(
    t: RecordArray, at: RecordArray, row: Int8Array, v: Seen, trump: Whole, on_table: float
) -> tuple[float, float]:
    """How open Game is (0 decided, 1 level), and whether every open point decides the bid (1 or 0)."""
    own = np.float64(row[at.card_points]) + points_of(t, v.thrown)
    most = -1.0
    for team in range(1, t.teams):
        most = max(most, np.float64(row[at.card_points + team]))
    to_come = on_table + points_of(t, v.hand | v.unseen)
    ahead = (own - most) / max(1.0, to_come)
    live = max(0.0, 1.0 - ahead * ahead)
    side = v.bidder % t.teams
    scoring = as_int(t.points) - 1
    secured = as_int(0)
    lost = as_int(0)
    for team in range(t.teams):
        for point in range(scoring):
            decided = row[at.captured + team * scoring + point] != 0
            if point == LOW and not t.low_to_winner:
                decided = False
                for seat in range(team, t.players, t.teams):
                    if row[at.played + seat * as_int(t.cards) + t.low_card[trump]] != 0:
                        decided = True
            if decided:
                if team == side:
                    secured += 1
                else:
                    lost += 1
    if live == 0.0:
        if (own > most) == (side == 0):
            secured += 1
        else:
            lost += 1
    still = as_int(t.points) - secured - lost
    short = v.bid - secured
    return live, 1.0 if short > 0 and short == still else 0.0


@kernel
def winning_chance(
    t: RecordArray,
    at: RecordArray,
    row: Int8Array,
    b: RecordArray,
    v: Seen,
    a: Table,
    led: Whole,
    winner: Whole,
    top: Whole,
) -> float:
    """How likely our team wins the trick when `winner` holds it with `top` and those waiting still play."""
    ours_holds = 1.0
    partner_fails = 1.0
    for seat in range(1, a.waiting + 1):
        beaten = beating_chance(t, at, row, b, v, a, led, top, as_int(seat))
        if seat % t.teams == 0:
            partner_fails *= 1 - beaten
        else:
            ours_holds *= 1 - beaten
    if winner % t.teams == 0:
        return ours_holds
    return (1 - partner_fails) * PARTNER_TAKES * (0.5 + 0.5 * ours_holds)


@kernel
def beating_chance(
    t: RecordArray,
    at: RecordArray,
    row: Int8Array,
    b: RecordArray,
    v: Seen,
    a: Table,
    led: Whole,
    top: Whole,
    seat: Whole,
) -> float:
    """How likely a waiting seat beats `top`: with a higher card of the suit led, or by trumping."""
    hidden = np.float64(max(1, count(v.unseen)))
    share = min(1.0, (np.float64(t.hand_size) - v.tricks_done) / hidden)
    # Where the dealer takes the stock no trump lies among the discards: those unseen are all in the other hands.
    trump_share = 1.0 / (t.players - 1) if t.dealer_takes_stock else share
    if seat == v.bidder:
        trump_share = min(1.0, BIDDER_LENGTH * trump_share)
    trump_on_top = t.suit_of[a.trump, top] == a.trump
    ruffs = 0.0
    if not is_void(t, at, row, seat, a.trump):
        rivals = a.trumps_out
        if trump_on_top:
            rivals &= b.stronger[a.trump, top]
        ruffs = 1.0 - none_of(trump_share, count(rivals))
    if led == a.trump:
        return ruffs
    follows = 0.0
    void = 1.0
    if not is_void(t, at, row, seat, led):
        suit = v.unseen & t.suit_mask[a.trump, led]
        void = none_of(share, count(suit))
        if not trump_on_top:
            follows = 1.0 - none_of(share, count(suit & b.stronger[a.trump, top]))
    if not t.may_trump:
        ruffs *= void
    return 1.0 - (1.0 - follows) * (1.0 - RUFF_CHANCE * ruffs)


@kernel
def choose_throw(t: RecordArray, b: RecordArray, v: Seen, mask: Int8Array) -> Whole:
    """The card to throw in the exchange or down to the hand size, or pass, as an action id."""
    out = np.empty(FEATURES, np.float32)
    trump, context, legal = throw_context(t, b, v)
    best = as_int(-1)
    most = 0.0
    if mask[t.cards] != 0:
        best = as_int(t.cards)
    while legal != _NONE:
        card = as_int(lowest(legal))
        legal = drop_lowest(legal)
        throw_features(t, b, v, trump, card, out)
        worth = weighed(b, context, out)
        if best < 0 or worth > most:
            best = card
            most = worth
    return best


@inline_kernel
def throw_context(t: RecordArray, b: RecordArray, v: Seen) -> tuple[Whole, Whole, np.uint64]:
    """Trump, the role in which cards are thrown, and which may be: none of the suit that shall be trump."""
    context = as_int(EXCHANGES)
    if v.phase == DISCARD:
        context = as_int(BIDDER_DISCARDS) if t.stock_to_bidder > 0 else as_int(DEALER_DISCARDS)
    if v.trump >= 0:
        return v.trump, context, v.legal
    hand = v.hand | v.thrown
    trump = chosen_trump(t, b, hand, hand, v.bid)
    others = v.legal & ~t.suit_mask[trump, trump]
    return trump, context, others if others != _NONE else v.legal


@inline_kernel
def points_of(t: RecordArray, cards: np.uint64) -> Whole:
    """Card points of a set of cards."""
    total = as_int(0)
    while cards != _NONE:
        total += t.card_points[lowest(cards)]
        cards = drop_lowest(cards)
    return total
