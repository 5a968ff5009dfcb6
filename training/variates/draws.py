"""What a finished deal tells of its draw from the stock, and the draws that were as likely.

Everything is read from the full state at the end of a deal (`SelfPlayVectorEnv.final_state`), which still tells who
drew, threw and played what. Whoever discards after drawing (the bidder who takes stock cards, the dealer who takes what
is left) is given back his discards, so that hands are those just after the draw: nothing that was decided with a card
of the stock in sight enters.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import combinations
from math import comb

import numpy as np

from smear_env import Rules, pieces, state_layout
from training.arrays import BoolArray, Int8Array, Int64Array

MOST_ENUMERATED = 100
"""Draws are enumerated where one seat alone draws and there are no more than so many; sampled otherwise."""


@dataclass(frozen=True)
class Draws:
    """N deals that were played, from just before the draw; seats are absolute."""

    kept: BoolArray  # [N, seats, cards] hands after the draw without the cards drawn
    drawn: BoolArray  # [N, seats, cards] cards drawn by each seat
    pool: BoolArray  # [N, cards] the stock after the deal
    bidder: Int64Array  # [N] seat
    bid: Int64Array  # [N] index of the bid, 0 the lowest
    dealer: Int64Array  # [N] seat
    trump: Int64Array  # [N] suit named before the draw; -1 where the first lead shows it

    def of(self, rows: Int64Array) -> Draws:
        """Those of some deals."""
        return Draws(**{one.name: getattr(self, one.name)[rows] for one in fields(self)})


def read_draws(states: Int8Array, rules: Rules) -> Draws:
    """The draws of deals that were not passed out, from states [N, s] int8 after the draw, with absolute seats."""
    seen = pieces(states, state_layout(rules))
    seats, rows = rules.players, np.arange(len(states))
    bidder, dealer = seen["bidder"].argmax(axis=1), seen["dealer"].argmax(axis=1)
    drawn = seen["taken"] != 0
    after = (seen["hand"] | seen["trick"] | seen["played"]) != 0
    # Other seats throw before they draw, and what they threw is gone before the draw.
    late = np.zeros((len(states), seats), bool)
    if rules.stock_to_bidder:
        late[rows, bidder] = True
    if rules.dealer_takes_stock:
        late[rows, dealer] = True
    after |= (seen["discarded"] != 0) & late[:, :, None]
    trump = seen["trump"].argmax(axis=1) if rules.trump_named else np.full(len(states), -1)
    return Draws(
        kept=after & ~drawn,
        drawn=drawn,
        pool=drawn.any(axis=1) | (seen["stock"] != 0),
        bidder=bidder,
        bid=seen["bid"].argmax(axis=1),
        dealer=dealer,
        trump=trump,
    )


def other_draws(draws: Draws, samples: int, generator: np.random.Generator) -> tuple[BoolArray, bool]:
    """Draws that were as likely, [N, M, seats, cards] bool, and whether they are all there are.

    All draws, the one that happened among them, where one seat draws the same few cards in every deal; else `samples`
    of them at random for each deal, independent of the one that happened.
    """
    counts = draws.drawn.sum(axis=2)
    size, total = int(draws.pool[0].sum()), int(counts[0].sum())
    alone = bool(np.all(counts.max(axis=1) == total))
    if alone and comb(size, total) <= MOST_ENUMERATED:
        return _every_draw(draws, size, total), True
    return _sampled_draws(draws, counts, samples, generator), False


def _every_draw(draws: Draws, size: int, total: int) -> BoolArray:
    deals, seats, cards = draws.drawn.shape
    sets = np.array(list(combinations(range(size), total)), np.int64).reshape(-1, total)
    pool = np.nonzero(draws.pool)[1].reshape(deals, size)
    flags = np.zeros((deals, len(sets), cards), bool)
    np.put_along_axis(flags, pool[:, sets], values=True, axis=2)
    drawer = draws.drawn.any(axis=2).argmax(axis=1)
    return flags[:, :, None, :] & (np.arange(seats) == drawer[:, None])[:, None, :, None]


def _sampled_draws(
    draws: Draws, counts: Int64Array, samples: int, generator: np.random.Generator
) -> BoolArray:
    deals, _, cards = draws.drawn.shape
    # Cards of the stock in a random order; the first go to the first seat, and so on.
    keys = np.where(draws.pool[:, None], generator.random((deals, samples, cards), np.float32), 2)
    place = np.empty((deals, samples, cards), np.int64)
    np.put_along_axis(place, keys.argsort(axis=2), np.arange(cards), axis=2)
    stop = counts.cumsum(axis=1)[:, None, :, None]
    start = stop - counts[:, None, :, None]
    return (place[:, :, None] >= start) & (place[:, :, None] < stop)
