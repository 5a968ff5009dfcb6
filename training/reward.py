"""What a deal pays in training by a function of the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from smear_env import RewardFunction, reward_named

POINTS = "points"


def training_reward(name: str) -> str | RewardFunction:
    """The reward of the games: `points`, or a registered function, less its mean over the teams.

    The critic's values sum to zero over the teams, and what all teams are paid alike no decision can change. ValueError
    for another name.
    """
    reward = reward_named(name)
    if reward == POINTS:
        return POINTS
    if not callable(reward):
        raise ValueError(
            f"reward={name!r} must be {POINTS!r} or registered: training plays deals, not matches"
        )
    function = reward

    def paid(before: Any, after: Any, dealer: int) -> Sequence[float]:
        values = function(before, after, dealer)
        try:
            centred: list[float] = (np.asarray(values, np.float64) - np.mean(values)).tolist()
        except (TypeError, ValueError):
            return values  # what it is instead of numbers is told where it is paid
        return centred

    return paid
