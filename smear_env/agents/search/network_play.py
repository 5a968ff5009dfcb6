"""Play-outs by a policy network in all seats, many states at once, and its critic's value of states.

All states of a call go one decision at a time, forced moves in between; the network sees those that have a choice as
one batch. Nothing is drawn: every seat takes the network's most probable action.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from smear_env._jit import kernel
from smear_env._typing import Float32Array, Int8Array, Int64Array, RecordArray
from smear_env.agents.decision import choose, evaluate, forward
from smear_env.agents.search.playout import deal_value
from smear_env.agents.seen import Whole
from smear_env.cards import count, lowest
from smear_env.engine.legal import legal_sets
from smear_env.engine.state import OVER
from smear_env.engine.step import step
from smear_env.flags import address
from smear_env.observation import write_mask, write_observation, write_state
from smear_env.suits import SUITS, Bytes, find_orders, rename_rows

_NONE = np.uint64(0)
BLOCK = 64
"""States that go together, so that what they see stays in the cache."""


class Net(NamedTuple):
    """A network as kernels take it, and its game's tables."""

    tables: RecordArray  # [1]
    starts: RecordArray  # [1] offsets of the observation
    suits: Bytes
    widths: Int64Array
    weights: Float32Array


@kernel
def skip_forced(t: RecordArray, s: RecordArray) -> tuple[np.uint64, np.uint64]:
    """Step a state through what is forced; the sets of what its seat to act may choose, empty when the deal is over."""
    while s.phase != OVER:
        cards, calls = legal_sets(t, s)
        if count(cards) + count(calls) > 1:
            return cards, calls
        step(t, s, lowest(cards) if cards != _NONE else t.cards + lowest(calls))
    return _NONE, _NONE


@kernel
def show(
    net: Net, states: RecordArray, going: Int64Array, size: Whole, cards_left: Whole, rows: Int8Array, masks: Int8Array
) -> Whole:
    """Write what the seats to act see of the `size` states that `going` names, and drop from it those that are done.

    Done is a deal that is over, or in which no seat holds more than `cards_left` cards in play. Returns how many go on.
    """
    t, at = net.tables[0], net.starts[0]
    kept = 0
    for i in range(size):
        s = states[going[i]]
        cards, calls = skip_forced(t, s)
        if s.phase == OVER:
            continue
        going[kept] = going[i]
        write_observation(t, s, s.turn, at, address(rows[kept]))
        write_mask(t, cards, calls, masks.shape[1], address(masks[kept]))
        kept += 1
    return kept


@kernel
def play_by_network(net: Net, states: RecordArray) -> None:
    """Let the network finish all deals, [S]; their matches must end with them."""
    t = net.tables[0]
    d, n = net.widths[0], net.widths[-1]
    rows, masks = np.empty((BLOCK, d), np.int8), np.empty((BLOCK, n), np.int8)
    logits, actions = np.empty((BLOCK, n), np.float32), np.empty(BLOCK, np.int64)
    no_draws = np.empty((BLOCK, 0), np.float32)
    for first in range(0, len(states), BLOCK):
        size = min(BLOCK, len(states) - first)
        going = np.arange(first, first + size)
        size = show(net, states, going, size, 0, rows, masks)
        while size > 0:
            evaluate(net.suits, rows[:size], masks[:size], net.widths, net.weights, logits[:size])
            choose(logits[:size], no_draws[:size], actions[:size])
            for i in range(size):
                step(t, states[going[i]], actions[i])
            size = show(net, states, going, size, 0, rows, masks)


class Critic(NamedTuple):
    """A checkpoint's critic as kernels take it."""

    full: RecordArray  # [1] offsets of the state vector
    widths: Int64Array
    weights: Float32Array
    stock: Whole  # where the stock begins in the state vector


@kernel
def critic_values(net: Net, critic: Critic, states: RecordArray, values: Float32Array) -> None:
    """Write what the deal brings team 0 by the critic, [S], own score change less the others' mean; forced moves are
    stepped.
    """
    t, at, full = net.tables[0], net.starts[0], critic.full[0]
    u = net.suits.view(SUITS)[0]
    d, size = net.widths[0], critic.widths[0] - t.cards
    row, whole, renamed = np.empty((1, d), np.int8), np.empty((1, size), np.int8), np.empty((1, size), np.int8)
    order = np.empty((1, u.suits), np.int64)
    inputs = np.empty(size + t.cards, np.int8)
    for i in range(len(states)):
        s = states[i]
        skip_forced(t, s)
        if s.phase == OVER:
            values[i] = deal_value(t, s, 0) / (t.teams - 1)
            continue
        write_observation(t, s, s.turn, at, address(row))
        find_orders(u, row, order)
        write_state(t, s, s.turn, full, address(whole))
        rename_rows(u, u.state, whole, order, renamed)
        for k in range(size):
            inputs[k] = renamed[0, k]
        for card in range(t.cards):
            inputs[size + card] = 1 if renamed[0, critic.stock + card] > 0 else 0
        outputs = forward(inputs, critic.widths, critic.weights)
        mean = np.float32(0)
        for team in range(t.teams):
            mean += outputs[team] / t.teams
        # Own team first, of the seat to act: team 0 stands so many places further on.
        values[i] = outputs[(t.teams - t.team_of[s.turn]) % t.teams] - mean


@kernel
def values_by_network(net: Net, states: RecordArray, actions: Int64Array, values: Float32Array) -> None:
    """Write what each of some actions brings team 0 in each world, [W, n], played out by the network in all seats: own
    score change less the others' mean.
    """
    t = net.tables[0]
    # A part at a time: thousands of states would take megabytes.
    part = np.empty(BLOCK, states.dtype)
    each = BLOCK // len(actions)
    for first in range(0, len(states), each):
        last = min(first + each, len(states))
        k = 0
        for world in range(first, last):
            for action in actions:
                part[k] = states[world]
                step(t, part[k], action)
                k += 1
        play_by_network(net, part[:k])
        k = 0
        for world in range(first, last):
            for action in actions:
                values[world, action] = deal_value(t, part[k], 0) / (t.teams - 1)
                k += 1
