"""How likely the others' actions were in each world: optional weights of worlds.

All that another seat did, bids, cards and hidden discards, is held against a policy, which is asked with the
observation that the seat had in that world. Many worlds are weighed and as many as are wanted drawn by their
weights.
"""

from __future__ import annotations

import numpy as np

from smear_env._jit import kernel
from smear_env._typing import Float64Array, Int8Array, Int64Array, RecordArray
from smear_env.agents.base import Agent
from smear_env.agents.expert import PLAIN, ExpertAgent, expert_action, expert_step, load_book
from smear_env.agents.search.worlds import NO_ACTION, Worlds
from smear_env.agents.seen import Whole, kernel_tables
from smear_env.cards import count
from smear_env.engine.deal import set_cards
from smear_env.engine.legal import legal_sets
from smear_env.engine.state import DISCARD, EXCHANGE, PLAY, new_states
from smear_env.engine.step import step
from smear_env.flags import address
from smear_env.layout import observation_layout, vector_size
from smear_env.observation import write_mask, write_observation
from smear_env.rules import Rules

_NONE = np.uint64(0)

LEAST = 0.01
"""A probability is taken for at least this: others do what a policy would not."""
DIFFERS_BID, DIFFERS_THROW, DIFFERS_PLAY = 0.1, 0.2, 0.3
"""How likely another seat does not do what `expert` would, in the auction, discarding or exchanging, and playing."""


def likelihoods(worlds: Worlds, rules: Rules, policy: Agent) -> Float64Array:
    """Weight of each world, [N], summing to 1: the product of the policy's probabilities of all that the others did.

    Of `expert`, which is sure of itself, the probabilities are those of `DIFFERS_BID` and the like.
    """
    tables, starts = kernel_tables(rules)
    states = new_states(len(worlds.states))
    for field in ("dealer", "one_deal", "max_deals", "scores"):
        states[field] = worlds.states[field]
    states["winner"] = -1
    begin_all(tables, worlds.orders, states)
    rows = np.empty((len(states), vector_size(observation_layout(rules))), np.int8)
    masks = np.empty((len(states), len(rules.action_names)), np.int8)
    logs = np.zeros(len(states))
    if isinstance(policy, ExpertAgent):
        expert_logs(
            *(tables, starts, worlds.actions, worlds.states, states, new_states(1), load_book(rules), PLAIN),
            *(np.log([DIFFERS_BID, DIFFERS_THROW, DIFFERS_PLAY]), rows[0], masks[0], logs),
        )
    else:
        policy_logs(tables, starts, worlds.actions, states, policy, rows, masks, logs)
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def policy_logs(
    tables: RecordArray,
    starts: RecordArray,
    actions: Int64Array,
    states: RecordArray,
    policy: Agent,
    rows: Int8Array,
    masks: Int8Array,
    logs: Float64Array,
) -> None:
    """Add to `logs` [N] the logarithms of a policy's probabilities; the worlds, dealt, are stepped to now."""
    for column in range(actions.shape[1]):
        if actions[0, column] == NO_ACTION:
            break
        # What is open to view is the same in every world: whose turn it is, and how many actions there were.
        if show_all(tables, starts, states, rows, masks):
            chances = policy.probabilities(rows, masks)[np.arange(len(states)), actions[:, column]]
            logs += np.log(np.maximum(chances, LEAST))
        step_all(tables, states, np.ascontiguousarray(actions[:, column]))


def resample(weights: Float64Array, count: int, seed: int) -> Int64Array:
    """Indices [count] of worlds drawn by weights [N], evenly spread (systematic resampling)."""
    points = (np.arange(count) + np.random.default_rng(seed).random()) / count
    return np.minimum(np.searchsorted(np.cumsum(weights), points), len(weights) - 1)


@kernel
def begin_all(tables: RecordArray, orders: Int8Array, states: RecordArray) -> None:
    """Deal every world."""
    for world in range(len(states)):
        set_cards(tables[0], states[world], orders[world])


@kernel
def step_all(tables: RecordArray, states: RecordArray, actions: Int64Array) -> None:
    """One action in every world."""
    for world in range(len(states)):
        step(tables[0], states[world], actions[world])


@kernel
def show_all(
    tables: RecordArray, starts: RecordArray, states: RecordArray, rows: Int8Array, masks: Int8Array
) -> bool:
    """Write what the seats to act see and may do; False, unfinished, where it is the viewer's turn."""
    t = tables[0]
    for world in range(len(states)):
        s = states[world]
        if s.turn == 0:
            return False
        cards, calls = legal_sets(t, s)
        write_observation(t, s, s.turn, starts[0], address(rows[world]))
        write_mask(t, cards, calls, masks.shape[1], address(masks[world]))
    return True


@kernel
def expert_logs(
    tables: RecordArray,
    starts: RecordArray,
    actions: Int64Array,
    ends: RecordArray,
    states: RecordArray,
    scratch: RecordArray,
    books: RecordArray,
    style: Whole,
    differs: Float64Array,
    row: Int8Array,
    mask: Int8Array,
    logs: Float64Array,
) -> None:
    """Add to `logs` [N] what each action costs that `expert` would not have taken; the worlds, dealt, are
    stepped to now.

    ends: [N] the worlds now. differs: [3] logarithms of how likely that is in the auction, throwing and
    playing. What is thrown counts as a set, as its order says nothing.
    """
    t, at = tables[0], starts[0]
    for world in range(len(states)):
        s = states[world]
        for action in actions[world]:
            if action == NO_ACTION:
                break
            cards, calls = legal_sets(t, s)
            throws = s.phase == DISCARD or s.phase == EXCHANGE
            if s.turn != 0 and throws and s.discarded[s.turn] == _NONE:
                scratch[0] = states[world]
                other = thrown_by_expert(t, at, scratch[0], books[0], style, row, mask)
                logs[world] += differs[1] * count(ends[world].discarded[s.turn] & ~other)
            elif s.turn != 0 and not throws and count(cards) + count(calls) > 1:
                write_observation(t, s, s.turn, at, address(row))
                write_mask(t, cards, calls, len(mask), address(mask))
                if expert_action(t, at, row, mask, books[0], style) != action:
                    logs[world] += differs[2 if s.phase == PLAY else 0]
            step(t, s, action)


@kernel
def thrown_by_expert(
    t: RecordArray,
    at: RecordArray,
    s: RecordArray,
    book: RecordArray,
    style: Whole,
    row: Int8Array,
    mask: Int8Array,
) -> np.uint64:
    """What `expert` throws for the seat to act; the state is stepped."""
    seat, phase = np.int64(s.turn), np.int64(s.phase)
    while s.turn == seat and s.phase == phase:
        expert_step(t, at, s, book, style, row, mask)
    return s.discarded[seat]
