"""Generalised advantage estimation over consecutive decisions of all seats, one value per team.

Consecutive decisions of a game belong to different seats, so the value that follows a decision is taken for the same
*team*, never for the same seat or for "the player": bootstrapping from another player's value is the classic fault
of turn-based code. At lambda 1 the result equals each seat's own return; below it, the estimate runs over the
decisions of the others too.
"""

from __future__ import annotations

import numpy as np

from training.arrays import BoolArray, Float32Array, Int64Array


def team_values(values: Float32Array, seats: Int64Array, teams: int) -> Float32Array:
    """Values by team [.., teams] from values seen from a seat (own team first) and the seats [..]."""
    slots = (np.arange(teams) - seats[..., None]) % teams
    return np.take_along_axis(values, slots, axis=-1)


def own_first(values: Float32Array, seats: Int64Array, teams: int) -> Float32Array:
    """The inverse of `team_values`: the team of each seat first, then clockwise."""
    slots = (np.arange(teams) + seats[..., None]) % teams
    return np.take_along_axis(values, slots, axis=-1)


def advantages(
    rewards: Float32Array,
    values: Float32Array,
    last_values: Float32Array,
    ended: BoolArray,
    gae_lambda: float,
) -> Float32Array:
    """Advantages by team, [T, N, teams], with gamma 1.

    rewards: [T, N, teams] earned after each decision and before the next; values: [T, N, teams] before each decision;
    last_values: [N, teams] after the last; ended: [T, N] the episode ended with this decision, so nothing after it
    counts.
    """
    result = np.empty_like(rewards)
    after, running = last_values, np.zeros_like(last_values)
    for step in range(len(rewards) - 1, -1, -1):
        goes_on = ~ended[step][:, None]
        delta = rewards[step] + after * goes_on - values[step]
        running = delta + gae_lambda * running * goes_on
        result[step] = running
        after = values[step]
    return result
