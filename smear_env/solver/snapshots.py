"""The solver on snapshots of `SelfPlayVectorEnv`, for code that knows no state records."""

from __future__ import annotations

from typing import Any

import numpy as np

from smear_env._typing import Int16Array
from smear_env.engine.state import STATE_DTYPE
from smear_env.rules import Rules
from smear_env.solver.solve import solve, solve_cards


def play_values(games: Any, rules: Rules) -> Int16Array:
    """Value of each game for the team of the seat to act, [N] int16, as `solver.solve`.

    games: [N, bytes] uint8, rows of `SelfPlayVectorEnv.snapshot()["states"]`, each in phase PLAY. A value is
    (teams - 1) times the own score change less the sum of the others'. Raises ValueError for other arrays and phases.
    """
    return solve(_records(games), rules)


def card_values(games: Any, rules: Rules) -> Int16Array:
    """Value of each card, [N, cards] int16, the least int16 where it may not be played; otherwise as `play_values`."""
    return solve_cards(_records(games), rules)


def _records(games: Any) -> Any:
    if (
        not isinstance(games, np.ndarray)
        or games.dtype != np.uint8
        or games.shape[1:] != (STATE_DTYPE.itemsize,)
    ):
        raise ValueError(f"games must be rows of a snapshot, uint8 [N, {STATE_DTYPE.itemsize}]")
    return np.ascontiguousarray(games).reshape(-1).view(STATE_DTYPE)
