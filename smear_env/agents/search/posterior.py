"""Weights of worlds by a policy network: how likely it makes all that the other seats did in them."""

from __future__ import annotations

import numpy as np

from smear_env._jit import kernel
from smear_env._typing import Float64Array, Int64Array, RecordArray
from smear_env.agents.decision import evaluate
from smear_env.agents.search.network_play import BLOCK, Net
from smear_env.agents.search.worlds import NO_ACTION
from smear_env.cards import count
from smear_env.engine.legal import legal_sets
from smear_env.engine.state import DISCARD, EXCHANGE, PLAY
from smear_env.engine.step import step
from smear_env.flags import address
from smear_env.observation import write_mask, write_observation

BIDDING, THROWING, PLAYING = range(3)
PARTS = 3
"""The auction with naming trump, throwing cards, and playing them: likelihoods are kept apart."""


@kernel
def log_likelihoods(
    net: Net, actions: Int64Array, states: RecordArray, floor: float, logs: Float64Array
) -> None:
    """Add to `logs` [W, PARTS] the logarithm of the network's probability of each action that another seat took.

    actions: [W, A] of worlds. states: [W], dealt, stepped to now. A share `floor` of each probability is
    spread over all legal actions evenly. Forced moves count nothing.
    """
    t, at = net.tables[0], net.starts[0]
    d, n = net.widths[0], net.widths[-1]
    rows, masks = np.empty((BLOCK, d), np.int8), np.empty((BLOCK, n), np.int8)
    logits = np.empty((BLOCK, n), np.float32)
    asked, parts, sizes = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    for first in range(0, len(states), BLOCK):
        last = min(first + BLOCK, len(states))
        for column in range(actions.shape[1]):
            found = 0
            for world in range(first, last):
                if actions[world, column] == NO_ACTION:
                    continue
                s = states[world]
                cards, calls = legal_sets(t, s)
                size = count(cards) + count(calls)
                if s.turn != 0 and size > 1:
                    write_observation(t, s, s.turn, at, address(rows[found]))
                    write_mask(t, cards, calls, n, address(masks[found]))
                    throws = s.phase == DISCARD or s.phase == EXCHANGE
                    parts[found] = PLAYING if s.phase == PLAY else THROWING if throws else BIDDING
                    asked[found], sizes[found] = world, size
                    found += 1
                step(t, s, actions[world, column])
            evaluate(net.suits, rows[:found], masks[:found], net.widths, net.weights, logits[:found])
            for i in range(found):
                top, total = -np.inf, 0.0
                for action in range(n):
                    top = max(top, logits[i, action])
                for action in range(n):
                    total += np.exp(logits[i, action] - top)
                chance = np.exp(logits[i, actions[asked[i], column]] - top) / total
                logs[asked[i], parts[i]] += np.log((1.0 - floor) * chance + floor / sizes[i])


def effective(weights: Float64Array) -> float:
    """The effective number of worlds of weights that sum to 1: 1 over the sum of their squares."""
    return float(1.0 / (weights**2).sum())


def tempered(logs: Float64Array, least: float) -> Float64Array:
    """Weights [W], summing to 1, of logarithms [W]: to a power of at most 1, so that `least` worlds remain in effect."""

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
