"""Play-outs by a policy network in all seats, many states at once.

All states of a call go one decision at a time, forced moves in between; the network sees those that have a choice as
one batch. Nothing is drawn: every seat takes the network's most probable action.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from smear_env._jit import kernel
from smear_env._typing import Float32Array, Float64Array, Int8Array, Int64Array, RecordArray
from smear_env.agents.decision import choose, evaluate
from smear_env.agents.search.playout import deal_value
from smear_env.agents.seen import Whole
from smear_env.cards import count, lowest
from smear_env.engine.legal import legal_sets
from smear_env.engine.state import OVER
from smear_env.engine.step import step
from smear_env.flags import address
from smear_env.observation import write_mask, write_observation
from smear_env.suits import SUITS, Bytes

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
    net: Net, states: RecordArray, going: Int64Array, size: Whole, rows: Int8Array, masks: Int8Array
) -> Whole:
    """Write what the seats to act see and may do in the `size` states that `going` names, whose forced moves are made,
    and drop from it those whose deals are over. Returns how many go on.
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
    d, n = net.suits.view(SUITS)[0].observation.width, net.widths[-1]
    rows, masks = np.empty((BLOCK, d), np.int8), np.empty((BLOCK, n), np.int8)
    logits, actions = np.empty((BLOCK, n), np.float32), np.empty(BLOCK, np.int64)
    no_draws = np.empty((BLOCK, 0), np.float32)
    for first in range(0, len(states), BLOCK):
        size = min(BLOCK, len(states) - first)
        going = np.arange(first, first + size)
        size = show(net, states, going, size, rows, masks)
        while size > 0:
            evaluate(net.suits, rows[:size], masks[:size], net.widths, net.weights, logits[:size])
            choose(logits[:size], no_draws[:size], actions[:size])
            for i in range(size):
                step(t, states[going[i]], actions[i])
            size = show(net, states, going, size, rows, masks)


@kernel
def values_by_network(net: Net, states: RecordArray, actions: Int64Array, values: Float64Array) -> None:
    """Write what each of some actions [A] brings team 0 in each world, [W, A], if the network plays on in all seats:
    own score change less the others' mean.
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
            for i in range(len(actions)):
                values[world, i] = deal_value(t, part[k], 0) / (t.teams - 1)
                k += 1
