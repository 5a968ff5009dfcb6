"""What a finished deal pays: by the kernels, or by a callable of the user's, which may be registered by a name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from smear_env import batch
from smear_env._typing import Float32Array, Int64Array
from smear_env.plugins import REMEDY, is_again, load_plugins

RewardFunction = Callable[[Int64Array, Int64Array, int], Sequence[float]]
"""Scores by team before and after a deal, and its dealer; returns one value for each team."""
Reward = str | RewardFunction
"""`match`, `points`, the name of a registered function, or a function."""

_REWARD_MODES = {"match": batch.REWARD_MATCH, "points": batch.REWARD_POINTS}
_FUNCTIONS: dict[str, RewardFunction] = {}


def register_reward(name: str, function: RewardFunction) -> None:
    """Make `function` known as `name`, or anew (`plugins.is_again`); ValueError if the name is another's."""
    if name in _REWARD_MODES or (name in _FUNCTIONS and not is_again(_FUNCTIONS[name], function)):
        raise ValueError(f"reward {name!r} is registered already: choose another name")
    _FUNCTIONS[name] = function


def reward_named(reward: Reward) -> Reward:
    """The function of a registered name; `match`, `points` and a function as they are. ValueError for another name."""
    if callable(reward) or reward in tuple(_REWARD_MODES):
        return reward
    name = str(reward)
    if name not in _FUNCTIONS:
        load_plugins()
    if name not in _FUNCTIONS:
        known = ", ".join(map(repr, (*_REWARD_MODES, *_FUNCTIONS)))
        raise ValueError(f"reward={reward!r} must be one of {known} or a callable; {REMEDY}")
    return _FUNCTIONS[name]


def reward_mode(reward: Reward) -> int:
    """The kernels' number of a reward that `reward_named` gave; a callable is computed outside them."""
    if callable(reward):
        return batch.REWARD_NONE
    return _REWARD_MODES[reward]


def call_reward(reward: RewardFunction, before: Any, after: Any, dealer: int, teams: int) -> Float32Array:
    """What a callable pays each team for a deal, [teams] float32; ValueError if it is not one value a team."""
    values = reward(np.array(before[:teams], np.int64), np.array(after[:teams], np.int64), int(dealer))
    try:
        paid = np.asarray(values, np.float32)
    except (TypeError, ValueError):
        paid = np.empty(0, np.float32)
    if paid.shape != (teams,) or not np.all(np.isfinite(paid)):
        name = getattr(reward, "__qualname__", type(reward).__qualname__)
        raise ValueError(
            f"the reward callable {name!r} returned {values!r}, not one finite value for each of {teams} teams, "
            f"for scores of {[*map(int, before[:teams])]} before the deal and {[*map(int, after[:teams])]} after it"
        )
    return paid
