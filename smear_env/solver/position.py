"""A position of play as the search sees it: the cards in play numbered anew, and what the points are worth.

Only cards that are still held matter, and the one that wins the trick on the table. They are numbered suit by suit,
trump first, the strongest of a suit first; so of two cards that can beat each other the one with the lower number
wins. Two jokers that are equal until they are played are the exception: `claim` says which card beats which then.
All hands are known and cards only leave them, so the set of cards left says all about the hands.

*Own* is the team whose value is sought, the others are numbered from 1; with three teams the bidder's comes first.
High is decided from the start, since who holds the card plays it; so is Low, unless its winner scores it. What is
open is who takes the other scoring trumps (here: *captures*), and Game.
"""

from __future__ import annotations

import numpy as np

from smear_env._jit import inline_kernel, kernel
from smear_env._typing import RecordArray, as_int
from smear_env.cards import bit, count, drop_lowest, has, lowest
from smear_env.engine.scoring import points_in
from smear_env.engine.tables import MAX_CAPTURES
from smear_env.rules import MAX_SEATS, MAX_SUITS

_NONE = np.uint64(0)
_ONE = np.uint64(1)

MAX_OPEN = MAX_CAPTURES + 1
"""Points that can be open beside Game: the captures, and Low where its winner scores it."""
COUNTS = MAX_OPEN + 1
OUTCOMES = COUNTS * COUNTS
"""Captures taken by own team, times those taken by the bidder's where that is another."""
BOUNDS = OUTCOMES * COUNTS
"""The same, times the captures still open."""
PLANES = 4
"""Binary digits of a card's points, ten at most."""
TABLE_BITS = 18

WORK_DTYPE = np.dtype(
    [
        # The position. A set is a uint64, bit c = the card with number c here.
        ("hand", np.uint64, (MAX_SEATS,)),  # at the root; `hand & cards` is what is left of it
        ("own_cards", np.uint64),  # held by own team at the root
        ("suit", np.uint64, (MAX_SUITS,)),  # trump first
        ("capture", np.uint64),  # cards that are worth a point to whoever takes them
        (
            "double",
            np.uint64,
        ),  # those worth two: the jack, where it is the lowest trump played and Low is won
        ("plane", np.uint64, (PLANES,)),  # cards whose points have this binary digit
        ("suit_of", np.int8, (64,)),
        ("points", np.int8, (64,)),
        ("card", np.int8, (64,)),  # the engine's id
        ("claim", np.int8, (64,)),  # a card takes the trick from one of a higher number than this
        ("tied", np.uint64),  # of two jokers that are equal until played the lower number; no sure winner
        ("side", np.int8, (MAX_SEATS,)),  # 0 own team, 1 or 2 another
        ("cards", np.uint64),  # in all hands
        ("seat", np.int8),  # to act
        ("on_table", np.int8),  # cards in the trick
        ("led", np.int8),  # suit, 0 is trump
        ("best", np.int8),  # card that wins the trick so far
        ("holder", np.int8),  # who played it
        ("gained", np.int16),  # card points on the table
        ("caught", np.int8),  # captures on the table
        ("left", np.int16),  # card points in hands and on the table
        ("lead", np.int16),  # own card points less those of side 1
        ("gap", np.int16),  # card points of side 1 less those of side 2
        # Rules and what is decided.
        ("players", np.int8),
        ("teams", np.int8),
        ("may_trump", np.int8),
        ("bid", np.int8),
        ("own_bids", np.int8),  # 1: own team is the bidder's
        ("own_sure", np.int8),  # points that own team has whatever comes
        ("bid_sure", np.int8),  # those of the bidder's team, where that is another
        ("sure", np.int8),  # those of all teams, open captures included: they will be earned
        ("side_sure", np.int8, (3,)),  # points that each side has whatever comes
        ("next_side", np.int8, (3,)),  # the side whose team comes next clockwise
        ("failed_costs_points", np.int8),
        ("game_tie", np.int8),
        ("may_tie", np.int8),  # 1: card points may come out level
        ("exact", np.int8),  # 1: more card points may be worse, so that no threshold tells the outcome
        # The question asked: is the value at least so much? See `outcome`.
        ("asked", np.int16),
        ("threshold", np.int16, (OUTCOMES, 3)),
        ("upper", np.int16, (BOUNDS,)),
        ("lower", np.int16, (BOUNDS,)),
        ("shapes", np.uint64, (BOUNDS,)),
        # What the search keeps.
        ("salt", np.uint64),  # another for each position, so that nothing need be cleared
        ("table_bits", np.int64),
        ("nodes", np.int64),  # cards played by the search, since the workspace was made
        ("table", np.uint64, (2 << TABLE_BITS,)),
    ],
    align=True,
)


def new_work() -> RecordArray:
    """A workspace for the solver's kernels, of shape [1] (4 MiB); each thread needs its own."""
    return np.zeros(1, WORK_DTYPE).view(np.recarray)


@inline_kernel
def card_points(w: RecordArray, cards: np.uint64) -> int:
    """Card points of a set."""
    total = count(cards & w.plane[0])
    total += 2 * count(cards & w.plane[1])
    total += 4 * count(cards & w.plane[2])
    return total + 8 * count(cards & w.plane[3])


@inline_kernel
def captures(w: RecordArray, cards: np.uint64) -> int:
    """Points, Game apart, that a set of cards is worth to whoever takes them."""
    return count(cards & w.capture) + count(cards & w.double)


@kernel
def set_position(t: RecordArray, s: RecordArray, trump: int, own: int, w: RecordArray) -> None:
    """Fill the position from a state in phase PLAY, with `trump` as trump and `own` as own team."""
    w.salt += np.uint64(0x9E3779B97F4A7C15)
    w.players = t.players
    w.teams = t.teams
    w.may_trump = t.may_trump
    w.bid = s.bid
    w.failed_costs_points = t.failed_costs_points
    w.game_tie = t.game_tie
    bidding_team = as_int(t.team_of[s.bidder])
    w.own_bids = own == bidding_team
    first = bidding_team if own != bidding_team else (0 if own > 0 else 1)
    for seat in range(t.players):
        team = as_int(t.team_of[seat])
        w.side[seat] = 0 if team == own else (1 if team == first else 2)
    for seat in range(t.players):
        w.next_side[w.side[seat]] = w.side[seat + 1 if seat + 1 < t.players else 0]
    number_cards(t, s, trump, w)
    set_trick(t, s, trump, w)
    set_points(t, s, trump, own, w)
    set_card_points(t, s, own, first, w)
    bits = 2 * count(w.cards) // 3
    w.table_bits = min(TABLE_BITS, max(8, bits))


@inline_kernel
def number_cards(t: RecordArray, s: RecordArray, trump: int, w: RecordArray) -> None:
    """Number what is held, and the best card on the table: trump first, the strongest of each suit first."""
    held = _NONE
    for seat in range(t.players):
        w.hand[seat] = _NONE
        held |= s.hand[seat]
    in_play = held
    if s.in_trick > 0:
        in_play |= bit(s.best_card)
    for plane in range(PLANES):
        w.plane[plane] = _NONE
    w.cards = _NONE
    w.own_cards = _NONE
    w.capture = _NONE
    w.double = _NONE
    w.tied = _NONE
    for suit in range(MAX_SUITS):
        w.suit[suit] = _NONE
    number = 0
    place = 1
    for turn in range(-1, t.suits):
        if turn == trump:
            continue
        suit = trump if turn < 0 else turn
        index = 0 if turn < 0 else place
        if turn >= 0:
            place += 1
        rest = in_play & t.suit_mask[trump, suit]
        while rest != _NONE:
            card = strongest(t, trump, rest)
            rest &= ~bit(card)
            add_card(t, s, w, card, number, index)
            if index == 0 and number > 0 and t.strength[trump, card] == t.strength[trump, w.card[number - 1]]:
                set_tie(w, number, t.claim[trump, card] > t.strength[trump, card])
            number += 1


@inline_kernel
def strongest(t: RecordArray, trump: int, cards: np.uint64) -> int:
    """The strongest of some cards of one suit."""
    best = lowest(cards)
    rest = drop_lowest(cards)
    while rest != _NONE:
        card = lowest(rest)
        rest = drop_lowest(rest)
        if t.strength[trump, card] > t.strength[trump, best]:
            best = card
    return best


@inline_kernel
def add_card(t: RecordArray, s: RecordArray, w: RecordArray, card: int, number: int, suit: int) -> None:
    """Give a card its number."""
    w.card[number] = card
    w.claim[number] = number
    w.suit_of[number] = suit
    w.suit[suit] |= bit(number)
    points = as_int(t.card_points[card])
    w.points[number] = points
    for plane in range(PLANES):
        if (points >> plane) & 1:
            w.plane[plane] |= bit(number)
    for seat in range(t.players):
        if has(s.hand[seat], card):
            w.hand[seat] |= bit(number)
            w.cards |= bit(number)
            if w.side[seat] == 0:
                w.own_cards |= bit(number)


@inline_kernel
def set_tie(w: RecordArray, number: int, second_wins: bool) -> None:
    """Two jokers of one strength, `number` the second of them: whichever is played first, or second, wins."""
    w.tied = bit(number - 1)
    if second_wins:
        w.claim[number] = number - 2
    else:
        w.claim[number - 1] = number


@inline_kernel
def set_trick(t: RecordArray, s: RecordArray, trump: int, w: RecordArray) -> None:
    """What lies on the table."""
    w.seat = s.turn
    w.on_table = s.in_trick
    w.led = 0
    w.best = 63
    w.holder = s.turn
    table = _NONE
    if s.in_trick > 0:
        for seat in range(t.players):
            table |= s.trick[seat]
        led = as_int(s.led_suit)
        w.led = 0 if led == trump else (led + 1 if led < trump else led)
        w.holder = s.best_seat
        for number in range(64):
            if w.card[number] == s.best_card and has(w.suit[0] | w.suit[w.led], number):
                w.best = number
                break
    w.gained = points_in(t, table)
    w.left = w.gained + card_points(w, w.cards)


@inline_kernel
def set_points(t: RecordArray, s: RecordArray, trump: int, own: int, w: RecordArray) -> None:
    """Points that are decided, and the captures that are open."""
    for side in range(3):
        w.side_sure[side] = 0
    w.own_sure = 0
    w.bid_sure = 0
    w.sure = 0
    w.caught = 0
    high, low = high_and_low(t, s, trump)
    count_sure(t, s, w, own, player_of(t, s, high))
    if t.low_to_winner:
        set_capture(t, s, w, own, low)
    else:
        count_sure(t, s, w, own, player_of(t, s, low))
    for index in range(t.captures):
        set_capture(t, s, w, own, as_int(t.capture[trump, index]))


@inline_kernel
def high_and_low(t: RecordArray, s: RecordArray, trump: int) -> tuple[int, int]:
    """The cards that score High and Low, -1 where none: every card held will be played."""
    high = as_int(t.high_card[trump])
    low = as_int(t.low_card[trump])
    if t.high_low_in_play:
        high = as_int(-1)
        low = as_int(-1)
        trumps = _NONE
        for seat in range(t.players):
            trumps |= s.hand[seat] | s.trick[seat] | s.played[seat]
        trumps &= t.suit_mask[trump, trump]
        while trumps != _NONE:
            card = lowest(trumps)
            trumps = drop_lowest(trumps)
            top = t.strength[trump, high]
            if high < 0 or t.strength[trump, card] > top or (t.strength[trump, card] == top and card > high):
                high = card
            # A joker belongs to no suit of the deck, and is never Low.
            if t.suit_of[-1, card] >= 0 and (low < 0 or t.strength[trump, card] < t.strength[trump, low]):
                low = card
    return high, low


@inline_kernel
def player_of(t: RecordArray, s: RecordArray, card: int) -> int:
    """The team of the seat that has played a card or holds it, -1 if none."""
    if card >= 0:
        for seat in range(t.players):
            if has(s.hand[seat] | s.trick[seat] | s.played[seat], card):
                return as_int(t.team_of[seat])
    return as_int(-1)


@inline_kernel
def count_sure(t: RecordArray, s: RecordArray, w: RecordArray, own: int, team: int) -> None:
    """Count a point that a team, -1 none, has for certain."""
    if team >= 0:
        w.sure += 1
        for seat in range(t.players):
            if t.team_of[seat] == team:
                w.side_sure[w.side[seat]] += 1
                break
        if team == own:
            w.own_sure += 1
        elif team == t.team_of[s.bidder]:
            w.bid_sure += 1


@inline_kernel
def set_capture(t: RecordArray, s: RecordArray, w: RecordArray, own: int, card: int) -> None:
    """A card, -1 none, that scores for whoever takes it: taken, on the table, held, or out of play."""
    if card < 0:
        return
    for team in range(t.teams):
        if has(s.won[team], card):
            count_sure(t, s, w, own, team)
            return
    for seat in range(t.players):
        if has(s.trick[seat], card):
            w.caught += 1
            w.sure += 1
            return
    for number in range(count(w.suit[0])):
        if w.card[number] == card and has(w.cards, number):
            if has(w.capture, number):
                w.double |= bit(number)
            w.capture |= bit(number)
            w.sure += 1
            return


@inline_kernel
def set_card_points(t: RecordArray, s: RecordArray, own: int, first: int, w: RecordArray) -> None:
    """Card points so far, the bidder's discards included where they count."""
    bidding_team = as_int(t.team_of[s.bidder])
    extra = points_in(t, s.discarded[s.bidder]) if t.stock_to_bidder > 0 else 0
    mine = as_int(s.card_points[own]) + (extra if own == bidding_team else 0)
    other = as_int(s.card_points[first]) + (extra if first == bidding_team else 0)
    w.lead = mine - other
    w.gap = 0
    if t.teams == 3:
        third = 3 - own - first
        w.gap = other - s.card_points[third] - (extra if third == bidding_team else 0)
