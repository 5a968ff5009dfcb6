"""Generalised advantage estimation over consecutive decisions of all seats, one value per team.

Consecutive decisions of a game belong to different seats, so the value that follows a decision is taken for the same
*team*, never for the same seat or for "the player": bootstrapping from another player's value is the classic fault
of turn-based code. At lambda 1 the result equals each seat's own return; below it, the estimate runs over the
decisions of the others too.
"""

from __future__ import annotations

import numba
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
    _advantages(rewards, values, last_values, ended, np.float32(gae_lambda), result)
    return result


@numba.njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _advantages(
    rewards: Float32Array,
    values: Float32Array,
    last_values: Float32Array,
    ended: BoolArray,
    gae_lambda: np.float32,
    result: Float32Array,
) -> None:
    steps, games, teams = rewards.shape
    nothing = np.float32(0)
    for step in range(steps - 1, -1, -1):
        for game in range(games):
            over = ended[step, game]
            for team in range(teams):
                after, running = nothing, nothing
                if not over:
                    if step + 1 < steps:
                        after, running = values[step + 1, game, team], result[step + 1, game, team]
                    else:
                        after = last_values[game, team]
                delta = rewards[step, game, team] + after - values[step, game, team]
                result[step, game, team] = delta + gae_lambda * running
