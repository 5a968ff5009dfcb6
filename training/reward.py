"""What a deal pays in training by a function of the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import update_wrapper
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
            found = np.asarray(values, np.float64)
        except (TypeError, ValueError):
            return values
        # What is not a number for each team is left as it is, since the refusal shows it.
        fit = found.shape == np.shape(before) and np.all(np.isfinite(found))
        return (found - found.mean()).tolist() if fit else values

    # The refusal names the function that was written, not this one.
    return update_wrapper(paid, function)
