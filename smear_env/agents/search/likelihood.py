"""How likely a policy makes what the other seats did in each world: optional weights of worlds."""

from __future__ import annotations

import numpy as np

from smear_env._jit import kernel
from smear_env._typing import Float64Array, Int8Array, Int64Array, RecordArray
from smear_env.agents.base import Agent
from smear_env.agents.search.worlds import NO_ACTION, Worlds
from smear_env.agents.seen import Whole, kernel_tables
from smear_env.cards import count
from smear_env.engine.deal import set_cards
from smear_env.engine.legal import legal_sets
from smear_env.engine.state import SEATS, new_states
from smear_env.engine.step import step
from smear_env.flags import address
from smear_env.layout import observation_layout, vector_size
from smear_env.observation import write_mask, write_observation
from smear_env.rules import Rules

LEAST = 0.01
"""A probability is taken for at least this: people and players do what a policy would not."""


def likelihoods(worlds: Worlds, rules: Rules, policy: Agent) -> Float64Array:
    """Weight of each world, [N], summing to 1: the product of the policy's probabilities of all the others did.

    At each past decision of another seat the policy is asked with the observation that the seat had in that world.
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
    for column in range(worlds.actions.shape[1]):
        actions = worlds.actions[:, column]
        if actions[0] == NO_ACTION:
            break
        # What is open to view is the same in every world: whose turn it is, and how many actions there were.
        if show_all(tables, starts, states, rows, masks):
            chances = policy.probabilities(rows, masks)[np.arange(len(states)), actions]
            logs += np.log(np.maximum(chances, LEAST))
        step_all(tables, states, actions)
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


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
    """Write what the seats to act see and may do; False, unfinished, where it is the viewer's turn or no choice."""
    t = tables[0]
    for world in range(len(states)):
        s = states[world]
        if s.turn == 0:
            return False
        cards, calls = legal_sets(t, s)
        write_observation(t, s, s.turn, starts[0], address(rows[world]))
        write_mask(t, cards, calls, masks.shape[1], address(masks[world]))
    return True
