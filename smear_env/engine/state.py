"""One match as one NumPy record: every field with its shape, unit and sentinel.

A record is allocated as a row of a record array, so that kernels take `states[i]` by reference and the same
code runs uncompiled.
"""

from __future__ import annotations

import numpy as np

from smear_env._typing import RecordArray
from smear_env.cards import MAX_CARDS
from smear_env.rules import MAX_POINTS, MAX_SEATS

# Phases. DISCARD is down to `hand_size`, by the bidder (trump unknown) or the dealer (trump named).
BID, DISCARD, NAME, EXCHANGE, PLAY, OVER = range(6)
PHASE_NAMES = ("bid", "discard", "name", "exchange", "play", "over")

# How the last finished deal ended.
NO_DEAL, PASSED_OUT, SCORED = range(3)

SEATS = MAX_SEATS
TEAMS = MAX_SEATS

STATE_DTYPE = np.dtype(
    [
        # Cards. A set is a uint64, bit c = card c.
        ("hand", np.uint64, (SEATS,)),
        ("taken", np.uint64, (SEATS,)),  # drawn from the stock by a seat, also if discarded again
        ("discarded", np.uint64, (SEATS,)),  # thrown by a seat
        ("trick", np.uint64, (SEATS,)),  # the seat's card on the table, one bit or none
        ("played", np.uint64, (SEATS,)),  # the seat's cards in finished tricks
        ("won", np.uint64, (TEAMS,)),  # in tricks won by a team
        ("stock", np.int8, (MAX_CARDS,)),  # card ids in the order they are drawn
        ("stock_size", np.int8),  # cards the stock held after the deal
        ("stock_drawn", np.int8),  # how many of them are drawn
        ("trick_of", np.int8, (MAX_CARDS,)),  # trick in which a card was played, from 1; 0 not played
        ("discard_order", np.int8, (MAX_CARDS,)),  # a discarded card's place among its seat's, from 1; 0 none
        # Auction and exchange.
        ("said", np.uint64),  # bit `seat * calls + call`: call 0 is pass, then the bids rising
        ("bid", np.int8),  # highest bid in points, 0 none
        ("bidder", np.int8),  # seat, -1 none
        ("trump", np.int8),  # suit, -1 not shown or named
        ("exchanged", np.int8, (SEATS,)),  # cards thrown in the exchange, or taken by bidder or dealer
        # Play.
        ("phase", np.int8),
        ("turn", np.int8),  # seat to act, -1 when over
        ("dealer", np.int8),
        ("leader", np.int8),  # seat that leads the trick, -1 before play
        ("trick_number", np.int8),  # finished tricks
        ("in_trick", np.int8),  # cards on the table
        ("led_suit", np.int8),  # suit of the lead under trump, -1 none
        ("best_card", np.int8),  # card that wins the trick so far, -1 none
        ("best_seat", np.int8),  # who played it, -1 none
        ("voids", np.uint64),  # bit `seat * suits + suit`: the seat has shown that it holds none of the suit
        (
            "captured",
            np.uint64,
        ),  # bit `team * scoring + point`: scoring trumps taken, in the order of the points
        ("card_points", np.int16, (TEAMS,)),  # taken in tricks by a team
        # Match.
        ("scores", np.int32, (TEAMS,)),  # points
        ("deals", np.int32),  # finished deals, those passed out included
        ("max_deals", np.int32),  # the match is cut off after so many
        ("one_deal", np.int8),  # 1: the episode is one deal
        ("truncated", np.int8),  # 1: cut off by max_deals
        ("winner", np.int8),  # team, -1 none
        # Where the deals come from: deal k of game g depends on (seed, g, k) alone.
        ("seed", np.uint64),
        ("game", np.int64),
        # The last finished deal; `ended` says how, NO_DEAL before the first.
        ("ended", np.int8),
        ("last_dealer", np.int8),
        ("last_bid", np.int8),
        ("last_bidder", np.int8),
        ("last_trump", np.int8),
        ("last_made", np.int8),  # 1: the bidder's team earned at least its bid
        ("last_points", np.int8, (MAX_POINTS,)),  # team for each kind of point, -1 nobody
        ("last_card_points", np.int16, (TEAMS,)),  # the bidder's discards included where they count
        ("last_delta", np.int16, (TEAMS,)),  # scored in the deal, before any cap
        ("last_scores", np.int32, (TEAMS,)),  # scores before the deal
    ],
    align=True,
)


def new_states(count: int) -> RecordArray:
    """`count` zeroed matches as a record array of shape [count]; start each with `deal.start_match`."""
    states = np.recarray(count, dtype=STATE_DTYPE)
    states.view(np.uint8)[:] = 0
    return states
