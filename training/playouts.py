"""Play-outs: what actions would have brought in given worlds, one player in every seat to the end of the deal.

It needs neither torch nor a screen, and is shared by what advises people and by what draws bid calibration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from smear_env import Agent, Rules, SelfPlayVectorEnv
from training.arrays import BoolArray, Float64Array, Int64Array

HOLD = -1
"""The action of a game that waits."""


@dataclass(frozen=True)
class PlayOuts:
    """How deals went, [P], for seat 0."""

    points: Float64Array
    """Own score change less the mean of the others'"""
    stands: BoolArray
    """Seat 0 became the bidder"""
    made: BoolArray
    """And its team made the bid"""


def play_out(states: Any, actions: Int64Array, rules: Rules, agent: Agent) -> PlayOuts:
    """Take actions [P] in worlds [P] and play their deals to the end.

    states: records of tables, or rows of a snapshot, in which seat 0 is to act and that end with the deal
    (`smear_env.agents.search` makes such worlds). agent: has been reset for any seat, and plays its most probable
    actions where it is a policy.
    """
    count = len(states)
    env = SelfPlayVectorEnv(count, rules, seed=0, episode="deal", reward="points", dealers=0)
    rows = np.ascontiguousarray(states).view(np.uint8).reshape(count, -1)
    shown = env.restore({"states": rows, "seed": np.zeros(1, np.uint64)})
    chosen = np.array(actions, np.int64)
    running = np.ones(count, np.bool_)
    points = np.zeros(count)
    stands, made = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    while running.any():
        shown = env.step_some(np.where(running, chosen, HOLD))
        ended = running & (shown.terminated | shown.truncated)
        if ended.any():
            deals = env.deals
            own = (deals.bidder == 0) & (deals.ended == 2)
            points[ended] = shown.reward[ended, 0]
            stands[ended] = own[ended]
            made[ended] = (own & (deals.made == 1))[ended]
            running &= ~ended
        left = np.flatnonzero(running)
        if len(left):
            chosen[left] = agent.act_batch(shown.observation[left], shown.mask[left])
    return PlayOuts(points, stands, made)
