"""Agents in training: a scripted player, a checkpoint or one of the user's own plays seats beside the learner.

The trainer's networks see suits in order; an agent is shown the position as it is, and what it chooses is renamed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from smear_env import (
    Agent,
    InOrder,
    PolicyAgent,
    Rules,
    VectorStep,
    chosen_by,
    load_policy,
    make_agent,
    original_columns,
)
from training.arrays import Int64Array


class Opponent:
    """An agent, by name, that decides in games by several rules: one of it for each of them.

    Args:
        name: a registered agent, or a checkpoint, whose actions are drawn by its probabilities.
        rules: of each game.

    Raises ValueError for a name that is none, for one that plays another game, and for one who sees all.
    """

    def __init__(self, name: str, rules: Sequence[Rules]) -> None:
        distinct = list(dict.fromkeys(rules))
        row = {one: index for index, one in enumerate(distinct)}
        self.name = name
        self._rules = distinct
        self._which = np.array([row[one] for one in rules])
        self._agents = [_made(name) for _ in distinct]
        self.reset(0)

    def reset(self, *seed: int) -> None:
        """Let its draws begin as these numbers say, each 0 or more, so that a run can be gone on with."""
        for index, (agent, rules) in enumerate(zip(self._agents, self._rules, strict=True)):
            drawn = np.random.SeedSequence([*seed, index]).generate_state(1, np.uint64)[0]
            agent.reset(rules, -1, int(drawn) >> 1)

    def act(self, shown: VectorStep, seen: InOrder, rows: Int64Array) -> Int64Array:
        """Actions [rows], as suits are in `seen`, in games that show what `shown` says."""
        chosen = np.empty(len(rows), np.int64)
        which = self._which[rows]
        for index, agent in enumerate(self._agents):
            asked = np.flatnonzero(which == index)
            if len(asked):
                games = rows[asked]
                masks = shown.mask[games]
                chosen[asked] = chosen_by(self.name, agent.act_batch(shown.observation[games], masks), masks)
        return _in_order(chosen, seen.order[rows], self._rules[0], shown.mask.shape[1])


def _made(name: str) -> Agent:
    agent = make_agent(name)
    if getattr(agent, "clairvoyant", False):
        raise ValueError(f"opponents: {name!r} sees all hands, which no player of a game does")
    return load_policy(name, sample=True) if isinstance(agent, PolicyAgent) else agent


def _in_order(actions: Int64Array, order: Int64Array, rules: Rules, count: int) -> Int64Array:
    """The inverse of `smear_env.original_actions`, of `count` actions."""
    numbers = np.broadcast_to(np.arange(count, dtype=np.float32), (len(actions), count))
    return original_columns(numbers, order, rules)[np.arange(len(actions)), actions].astype(np.int64)
