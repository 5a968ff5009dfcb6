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
    learns: BoolArray | None = None,
    known: BoolArray | None = None,
) -> Float32Array:
    """Advantages by team, [T, N, teams], with gamma 1.

    rewards: [T, N, teams] earned after each decision and before the next; values: [T, N, teams] before each decision;
    last_values: [N, teams] after the last; ended: [T, N] the episode ended with this decision, so nothing after it
    counts; learns: [T, N] the decision is the learner's, all if None: those of others are part of what follows the
    learner's, and have no value or advantage. known: [N] last_values can be trusted, all if None; where they cannot,
    since another is to act, the last decision of the learner teaches nothing: what follows it is not seen yet.
    """
    result = np.empty_like(rewards)
    learns = np.ones_like(ended) if learns is None else learns
    known = np.ones(len(last_values), np.bool_) if known is None else known
    _advantages(rewards, values, last_values, ended, learns, known, np.float32(gae_lambda), result)
    return result


@numba.njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _advantages(
    rewards: Float32Array,
    values: Float32Array,
    last_values: Float32Array,
    ended: BoolArray,
    learns: BoolArray,
    known: BoolArray,
    gae_lambda: np.float32,
    result: Float32Array,
) -> None:
    steps, games, teams = rewards.shape
    after, sure = last_values.copy(), known.copy()  # value of what follows, and whether it is known
    running = np.zeros((games, teams), np.float32)
    earned = np.zeros((games, teams), np.float32)  # since the learner's decision before
    for step in range(steps - 1, -1, -1):
        for game in range(games):
            if ended[step, game]:
                sure[game] = True
                for team in range(teams):
                    after[game, team] = running[game, team] = earned[game, team] = 0
            for team in range(teams):
                earned[game, team] += rewards[step, game, team]
                result[step, game, team] = 0
                if learns[step, game]:
                    value = values[step, game, team]
                    if sure[game]:
                        delta = earned[game, team] + after[game, team] - value
                        running[game, team] = delta + gae_lambda * running[game, team]
                        result[step, game, team] = running[game, team]
                    after[game, team], earned[game, team] = value, 0
            sure[game] |= learns[step, game]
