"""Worlds by what the others did: how likely a policy network makes it, and hidden discards drawn again by it.

Worlds are drawn evenly over histories (`worlds`). Each is replayed, and the network asked with what every other seat
saw in it. The weight of a world is the product of the probabilities of what was done: by Bayes the chance of the
world, were all seats to play by the network.

Most even throws of a hidden hand are absurd, so that nearly all worlds would weigh nothing. What another seat threw
is therefore drawn again, by the network, among all that its hand allowed: of `n` ways in which the cards that it held
could be thrown (with what it has shown since) one is taken with probability `q`, where an even draw takes it with
1 / n; so its own probability `p` enters the weight as p / (n q).
"""

from __future__ import annotations

import numpy as np

from smear_env._jit import kernel
from smear_env._typing import Float32Array, Float64Array, Int8Array, Int64Array, RecordArray, as_int
from smear_env.agents.decision import evaluate
from smear_env.agents.search.known import THROWN, Known, class_of, read_known
from smear_env.agents.search.network_play import BLOCK, Net
from smear_env.agents.search.worlds import NO_ACTION
from smear_env.agents.seen import Whole
from smear_env.cards import bit, count, drop_lowest, lowest
from smear_env.engine.deal import draw_below, stream
from smear_env.engine.legal import legal_sets
from smear_env.engine.state import DISCARD, EXCHANGE
from smear_env.engine.step import step
from smear_env.flags import address
from smear_env.observation import write_mask, write_observation
from smear_env.suits import SUITS

_NONE = np.uint64(0)
_FINE = 1 << 30
"""Steps of a draw between 0 and 1."""


@kernel
def weigh(
    net: Net,
    row: Int8Array,
    seed: np.uint64,
    redraw: bool,
    floor: float,
    actions: Int64Array,
    states: RecordArray,
    logs: Float64Array,
) -> None:
    """Write the logarithm of each world's weight, [W].

    row: [d] the observation that the worlds fit. seed: of the discards that are drawn again, if `redraw`; else they
    stay and weigh by their probability. floor: share of each probability that is spread evenly over all legal actions.
    actions: [W, A] of the worlds; discards drawn again are written over. states: [W] dealt, and stepped to now. Forced
    moves weigh nothing.
    """
    t, at = net.tables[0], net.starts[0]
    known = read_known(t, at, row)
    d, n = net.suits.view(SUITS)[0].observation.width, net.widths[-1]
    rows, masks = np.empty((BLOCK, d), np.int8), np.empty((BLOCK, n), np.int8)
    logits, asked = np.empty((BLOCK, n), np.float32), np.empty(BLOCK, np.int64)
    for first in range(0, len(states), BLOCK):
        last = min(first + BLOCK, len(states))
        logs[first:last] = 0.0
        for column in range(actions.shape[1]):
            size = 0
            for world in range(first, last):
                s = states[world]
                cards, calls = legal_sets(t, s)
                throws = s.phase == DISCARD or s.phase == EXCHANGE
                # The last card that can be thrown, too, is another one where those before were drawn again.
                chooses = throws or count(cards) + count(calls) > 1
                if actions[world, column] != NO_ACTION and s.turn != 0 and chooses:
                    write_observation(t, s, s.turn, at, address(rows[size]))
                    write_mask(t, cards, calls, n, address(masks[size]))
                    asked[size] = world
                    size += 1
            evaluate(net.suits, rows[:size], masks[:size], net.widths, net.weights, logits[:size])
            for i in range(size):
                world = asked[i]
                to_chances(logits[i], masks[i], floor)
                s = states[world]
                throws = s.phase == DISCARD or s.phase == EXCHANGE
                if redraw and throws and actions[world, column] < t.cards and may_redraw(t, s, known):
                    generator = stream(seed, as_int(world), as_int(column))
                    action, weight = draw_throw(t, s, known, logits[i], generator)
                    actions[world, column] = action
                    logs[world] += weight
                else:
                    logs[world] += np.log(logits[i, actions[world, column]])
            for world in range(first, last):
                if actions[world, column] != NO_ACTION:
                    step(t, states[world], actions[world, column])


@kernel
def to_chances(logits: Float32Array, mask: Int8Array, floor: float) -> None:
    """Write probabilities over logits [n], a share `floor` of them spread evenly over the legal actions."""
    top, total, legal = np.float32(-np.inf), 0.0, 0
    for action in range(len(logits)):
        top = max(top, logits[action])
        legal += mask[action] != 0
    for action in range(len(logits)):
        total += np.exp(logits[action] - top)
    for action in range(len(logits)):
        even = floor / legal if mask[action] != 0 else 0.0
        logits[action] = (1.0 - floor) * np.exp(logits[action] - top) / total + even


@kernel
def may_redraw(t: RecordArray, s: RecordArray, known: Known) -> bool:
    """Whether what the seat to act throws can be drawn again: not if it held more trumps than it could keep."""
    held = s.hand[s.turn] | s.discarded[s.turn]
    return known.trump >= 0 and count(held & t.suit_mask[known.trump, known.trump]) <= t.hand_size


@kernel
def draw_throw(
    t: RecordArray, s: RecordArray, known: Known, chances: Float32Array, generator: np.uint64
) -> tuple[Whole, float]:
    """The next card that the seat to act throws, by `chances` [n] among those that it can have thrown, and the
    logarithm of what that adds to the weight of the world.
    """
    seat = as_int(s.turn)
    forced, free = throwable(t, s.hand[seat], seat, known)
    left = known.throws[seat] - count(s.discarded[seat])
    weight = 0.0
    if s.discarded[seat] == _NONE:
        # How many sequences of throws there were: the even draw's probability.
        chosen = left - count(forced)
        for k in range(left):
            weight -= np.log(k + 1.0)
        for k in range(chosen):
            weight += np.log(k + 1.0) - np.log(float(count(free) - k))
    among = forced if count(forced) == left else forced | free
    total = 0.0
    rest = among
    while rest != _NONE:
        total += chances[lowest(rest)]
        rest = drop_lowest(rest)
    _, drawn = draw_below(generator, _FINE)
    point = total * drawn / _FINE
    action = lowest(among)
    rest = among
    while rest != _NONE:
        action = lowest(rest)
        rest = drop_lowest(rest)
        point -= chances[action]
        if point < 0.0:
            break
    return as_int(action), weight + np.log(total)


@kernel
def throwable(t: RecordArray, hand: np.uint64, seat: Whole, known: Known) -> tuple[np.uint64, np.uint64]:
    """Of a hand, the cards that its seat must have thrown, since it has shown that it keeps none of their suit; and
    those that it may have.
    """
    forced, free = _NONE, _NONE
    rest = hand & ~np.uint64(known.shown[seat])
    while rest != _NONE:
        card = lowest(rest)
        rest = drop_lowest(rest)
        c = class_of(t, known.trump, card)
        if known.allowed[THROWN + seat] >> c & 1 != 0:
            if known.allowed[seat] >> c & 1 == 0:
                forced |= bit(card)
            else:
                free |= bit(card)
    return forced, free


def effective(weights: Float64Array) -> float:
    """The effective number of worlds of weights that sum to 1: 1 over the sum of their squares."""
    return float(1.0 / (weights**2).sum())


def tempered(logs: Float64Array, least: float) -> Float64Array:
    """Weights [W], summing to 1, of logarithms [W]: to a power, at most 1, that leaves `least` worlds in effect."""

    def of(power: float) -> Float64Array:
        weights = np.exp(power * (logs - logs.max()))
        return weights / weights.sum()

    if effective(of(1.0)) >= least:
        return of(1.0)
    low, high = 0.0, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if effective(of(middle)) >= least else (low, middle)
    return of(low)
