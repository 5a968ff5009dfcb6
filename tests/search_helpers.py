"""What the tests of searching players share: random decisions of a game, and a world's view written by the engine."""

from __future__ import annotations

import random

import numpy as np

from smear_env._typing import Int8Array, RecordArray
from smear_env.agents.seen import kernel_tables
from smear_env.engine.legal import is_legal
from smear_env.engine.state import PHASE_NAMES
from smear_env.engine.step import step
from smear_env.flags import address
from smear_env.layout import observation_layout, pieces, vector_size
from smear_env.observation import write_observation
from smear_env.rules import Rules
from smear_env.vector import SelfPlayVectorEnv


def view(state: RecordArray, rules: Rules) -> Int8Array:
    """What seat 0 of one world sees, [d] int8."""
    tables, starts = kernel_tables(rules)
    row = np.empty(vector_size(observation_layout(rules)), np.int8)
    write_observation(tables[0], state, 0, starts[0], address(row))
    return row


def random_decisions(
    rules: Rules, seed: int, deals: int, passing: float = 0.5
) -> list[tuple[Int8Array, Int8Array]]:
    """Observation and mask of every decision of some deals played at random, passing more often than the rest."""
    rng = random.Random(seed)
    env = SelfPlayVectorEnv(deals, rules, episode="deal", seed=seed, copy=True)
    shown = env.reset()
    going = np.ones(deals, bool)
    passes = rules.action_names.index("pass")
    found = []
    while going.any():
        actions = np.full(deals, -1, np.int64)
        for slot in np.flatnonzero(going):
            found.append((shown.observation[slot], shown.mask[slot]))
            legal = np.flatnonzero(shown.mask[slot])
            may_pass = shown.mask[slot, passes] and rng.random() < passing
            actions[slot] = passes if may_pass else rng.choice(legal.tolist())
        shown = env.step_some(actions)
        going &= ~(shown.terminated | shown.truncated)
    return found


def phase_of(observation: Int8Array, rules: Rules) -> str:
    """Name of the phase of a decision."""
    return PHASE_NAMES[int(pieces(observation, observation_layout(rules))["phase"].argmax())]


def legal_throughout(state: RecordArray, actions: list[int], rules: Rules) -> bool:
    """Whether every action is legal in turn from a state on, which is stepped."""
    tables, _ = kernel_tables(rules)
    for action in actions:
        if not is_legal(tables[0], state, action):
            return False
        step(tables[0], state, action)
    return True
