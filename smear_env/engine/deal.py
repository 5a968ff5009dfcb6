"""Dealing: a counter-based generator, so that deal `k` of game `g` depends on (seed, g, k) alone.

The generator is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014),
its state a hash of the counters; bounded draws reject as in Lemire, "Fast random integer generation in an
interval" (2019), so that every order of the deck is equally likely.
"""

from __future__ import annotations

import numpy as np

from smear_env._jit import inline_kernel, kernel
from smear_env._typing import Int8Array, Int64Array, RecordArray, as_int
from smear_env.cards import MAX_CARDS, bit, count
from smear_env.engine.seats import seat_after
from smear_env.engine.state import BID, SEATS

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_LOW_32 = np.uint64(0xFFFFFFFF)
_EMPTY = np.uint64(0)

MATCH_COUNTER = -1
"""In place of a deal's number: the stream that draws first dealer and start scores."""

DRAWN = -1
"""Sentinel of a start dealer that is drawn at random."""


@inline_kernel
def mix(value: np.uint64) -> np.uint64:
    """SplitMix64's output function: a bijection of 64 bits that scatters them."""
    z = (value ^ (value >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))


@inline_kernel
def stream(seed: np.uint64, game: int, deal: int) -> np.uint64:
    """Start state of the generator for one deal of one game."""
    key = mix(seed + _GOLDEN)
    key = mix(key ^ (np.uint64(as_int(game)) * _GOLDEN))
    return mix(key + np.uint64(as_int(deal)) * _MIX_1 + _GOLDEN)


@inline_kernel
def draw_below(generator: np.uint64, bound: int) -> tuple[np.uint64, int]:
    """The next state and an integer in 0..bound-1, each equally likely."""
    limit = np.uint64(bound)
    while True:
        generator = generator + _GOLDEN
        product = (mix(generator) >> np.uint64(32)) * limit
        rest = product & _LOW_32
        # The second comparison alone decides; the first spares its division nearly always.
        if rest >= limit or rest >= ((_LOW_32 + np.uint64(1)) - limit) % limit:
            return generator, as_int(product >> np.uint64(32))


@kernel
def start_match(
    t: RecordArray,
    s: RecordArray,
    seed: np.uint64,
    game: int,
    dealer: int,
    scores: Int64Array,
    draw_scores: bool,
) -> None:
    """Begin game `game` of `seed` and deal; `dealer` may be DRAWN, scores given or drawn.

    Drawn scores are uniform between minus half the target and one below it, each team apart.
    """
    s.seed = seed
    s.game = game
    generator, drawn_dealer = draw_below(stream(seed, game, MATCH_COUNTER), t.players)
    s.dealer = drawn_dealer if dealer == DRAWN else dealer
    low = -(t.target // 2)
    for team in range(SEATS):
        generator, drawn = draw_below(generator, t.target - low)
        s.scores[team] = 0
        if team < t.teams:
            s.scores[team] = low + drawn if draw_scores else scores[team]
    s.deals = 0
    s.winner = -1
    s.truncated = 0
    s.ended = 0
    deal_cards(t, s)


@kernel
def deal_cards(t: RecordArray, s: RecordArray) -> None:
    """Shuffle the deck for deal number `s.deals` of the match and begin the auction."""
    order = np.empty(MAX_CARDS, np.int8)
    for card in range(t.cards):
        order[card] = card
    generator = stream(s.seed, s.game, s.deals)
    dealt = t.players * t.hand_size
    # The last card shuffled is drawn first, so a partial Fisher-Yates would save nothing: the stock matters.
    for last in range(t.cards - 1, 0, -1):
        generator, chosen = draw_below(generator, last + 1)
        order[last], order[chosen] = order[chosen], order[last]
    clear_deal(t, s)
    for position in range(dealt):
        seat = position // t.hand_size
        s.hand[seat] |= bit(order[position])
    for position in range(dealt, t.cards):
        s.stock[position - dealt] = order[position]


@kernel
def set_cards(t: RecordArray, s: RecordArray, order: Int8Array) -> None:
    """Begin a deal with given cards: `hand_size` for each seat in turn, then the stock from its top.

    order: [cards] int8, a permutation of the card ids.
    """
    clear_deal(t, s)
    dealt = t.players * t.hand_size
    for position in range(t.cards):
        if position < dealt:
            s.hand[position // t.hand_size] |= bit(order[position])
        else:
            s.stock[position - dealt] = order[position]


@inline_kernel
def clear_deal(t: RecordArray, s: RecordArray) -> None:
    """Forget the deal before: no cards anywhere, the seat left of the dealer to bid."""
    for seat in range(SEATS):
        s.hand[seat] = _EMPTY
        s.taken[seat] = _EMPTY
        s.discarded[seat] = _EMPTY
        s.trick[seat] = _EMPTY
        s.played[seat] = _EMPTY
        s.won[seat] = _EMPTY
        s.exchanged[seat] = 0
        s.card_points[seat] = 0
    for card in range(MAX_CARDS):
        s.trick_of[card] = 0
        s.discard_order[card] = 0
    s.stock_size = t.cards - t.players * t.hand_size
    s.stock_drawn = 0
    s.said = _EMPTY
    s.voids = _EMPTY
    s.captured = _EMPTY
    s.bid = 0
    s.bidder = -1
    s.trump = -1
    s.leader = -1
    s.trick_number = 0
    s.in_trick = 0
    s.led_suit = -1
    s.best_card = -1
    s.best_seat = -1
    s.phase = BID
    s.turn = seat_after(t, s.dealer, 1)


@inline_kernel
def draw_from_stock(s: RecordArray, seat: int, wanted: int) -> None:
    """Move the top `wanted` cards of the stock into a seat's hand."""
    for _ in range(wanted):
        card = bit(s.stock[s.stock_drawn])
        s.stock_drawn += 1
        s.hand[seat] |= card
        s.taken[seat] |= card


@inline_kernel
def held_before_discarding(s: RecordArray, seat: int, cards: np.uint64) -> int:
    """How many of `cards` a seat held before it began to discard to the hand size."""
    return count((s.hand[seat] | s.discarded[seat]) & cards)
