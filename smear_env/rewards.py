"""What a finished deal pays: by the kernels, or by a callable of the user's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from smear_env import batch
from smear_env._typing import Float32Array, Int64Array

RewardFunction = Callable[[Int64Array, Int64Array, int], Sequence[float]]
"""Scores by team before and after a deal, and its dealer; returns one value for each team."""
Reward = Literal["match", "points"] | RewardFunction

_REWARD_MODES = {"match": batch.REWARD_MATCH, "points": batch.REWARD_POINTS}


def reward_mode(reward: Reward) -> int:
    """The kernels' number of a reward; a callable is computed outside them. ValueError otherwise."""
    if callable(reward):
        return batch.REWARD_NONE
    for name, mode in _REWARD_MODES.items():
        if reward == name:
            return mode
    raise ValueError(f"reward={reward!r} must be 'match', 'points' or a callable")


def call_reward(reward: RewardFunction, before: Any, after: Any, dealer: int, teams: int) -> Float32Array:
    """What a callable pays each team for a deal, [teams] float32; ValueError if it is not one value a team."""
    values = reward(np.array(before[:teams], np.int64), np.array(after[:teams], np.int64), int(dealer))
    try:
        paid = np.asarray(values, np.float32)
    except (TypeError, ValueError):
        paid = np.empty(0, np.float32)
    if paid.shape != (teams,) or not np.all(np.isfinite(paid)):
        raise ValueError(
            f"the reward callable returned {values!r}, not one finite value for each of {teams} teams"
        )
    return paid
