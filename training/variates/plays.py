"""Deals played once by a lineup of agents, their actions and ends kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from smear_env import Agent, Rules, SelfPlayVectorEnv, VectorStep
from training.arrays import Float64Array, Int8Array


@dataclass(frozen=True)
class Record:
    """Plays of one deal each."""

    points: Float64Array  # [plays, teams] own score change less the others' mean
    actions: Int8Array  # [plays, moves] actions that were not forced, in order; -1 behind the end
    states: Int8Array  # [plays, s] full state at the end, absolute seats


def begin(rules: Rules, seed: int, first: int, count: int) -> tuple[SelfPlayVectorEnv, VectorStep]:
    """Games `first` to `first + count` of a seed, one deal each, and what they show."""
    env = SelfPlayVectorEnv(
        count, rules, seed=seed, first_game=first, episode="deal", reward="points", skip_forced=True
    )
    return env, env.reset()


def record(lineup: Sequence[Agent], rules: Rules, seed: int, first: int, count: int) -> Record:
    """Play the deals once, an agent for each team, and keep what happened; agents are reset before."""
    env, shown = begin(rules, seed, first, count)
    agents = list(dict.fromkeys(lineup))
    for number, agent in enumerate(agents):
        agent.reset(rules, -1, (seed + first) * len(agents) + number)
    of_team = np.array([agents.index(agent) for agent in lineup])
    points = np.zeros((count, rules.teams))
    states = np.empty_like(env.final_state)
    going = np.ones(count, bool)
    moves = []
    while going.any():
        chosen = np.full(count, -1, np.int64)
        asked = of_team[shown.seat % rules.teams]
        for number, agent in enumerate(agents):
            rows = np.flatnonzero(going & (asked == number))
            if len(rows):
                chosen[rows] = agent.act_batch(shown.observation[rows], shown.mask[rows])
        moves.append(chosen.astype(np.int8))
        shown = env.step_some(chosen)
        points += shown.reward
        states[shown.terminated] = env.final_state[shown.terminated]
        going &= ~shown.terminated
    table = np.stack(moves, axis=1)
    order = (table < 0).argsort(axis=1, kind="stable")
    return Record(points, np.take_along_axis(table, order, axis=1), states)
