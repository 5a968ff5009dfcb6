"""Endings: what actions would have brought in given worlds, one player in every seat to the end of the deal.

What advises people, what draws bid calibration and what values a bid take their play-outs from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from smear_env._typing import BoolArray, Float64Array, Int64Array, RecordArray
from smear_env.agents.base import Agent
from smear_env.batch import DEAL_DTYPE, HOLD
from smear_env.engine.state import SCORED
from smear_env.rules import Rules
from smear_env.vector import SelfPlayVectorEnv


@dataclass(frozen=True)
class Endings:
    """How deals went, [P], for seat 0."""

    points: Float64Array
    """Own score change less the mean of the others'."""
    deals: RecordArray
    """[P] of `SelfPlayVectorEnv.deals`, the deals as they ended."""

    @property
    def stands(self) -> BoolArray:
        """[P] seat 0 became the bidder."""
        return (self.deals.bidder == 0) & (self.deals.ended == SCORED)

    @property
    def made(self) -> BoolArray:
        """[P] seat 0 became the bidder, and its team made the bid."""
        return self.stands & (self.deals.made == 1)


def play_to_end(states: Any, actions: Int64Array, rules: Rules, agent: Agent) -> Endings:
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
    deals = np.zeros(count, np.dtype((np.record, DEAL_DTYPE))).view(np.recarray)
    while running.any():
        shown = env.step_some(np.where(running, chosen, HOLD))
        ended = running & (shown.terminated | shown.truncated)
        if ended.any():
            points[ended] = shown.reward[ended, 0]
            deals[ended] = env.deals[ended]
            running &= ~ended
        left = np.flatnonzero(running)
        if len(left):
            chosen[left] = agent.act_batch(shown.observation[left], shown.mask[left])
    return Endings(points, deals)
