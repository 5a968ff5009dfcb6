"""The solver from Python: arguments checked, many states at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from smear_env._jit import announce_part, kernel
from smear_env._typing import Int16Array, RecordArray
from smear_env.engine.state import PHASE_NAMES, PLAY, STATE_DTYPE
from smear_env.engine.tables import compile_tables
from smear_env.rules import Rules
from smear_env.solver.position import new_work
from smear_env.solver.root import solve_state, solve_state_cards

MOST_TEAMS = 3
ANNOUNCED = ("the solver", "about half a minute")
"""What is said when its kernels are compiled."""


def solve(states: RecordArray, rules: Rules) -> Int16Array:
    """Value of each state, [N] int16, for the team of the seat to act.

    states: [N] of `STATE_DTYPE`, in phase PLAY. The value is (teams - 1) * own score change - sum of the other teams',
    in points; with three teams all others play to lower it. Raises `ValueError` for other states, or more teams.
    """
    states = checked_states(states, rules)
    announce_part(*ANNOUNCED, solve_all)
    values = np.empty(len(states), np.int16)
    solve_all(compile_tables(rules), states, new_work().view(np.ndarray), values)
    return values


def solve_cards(states: RecordArray, rules: Rules) -> Int16Array:
    """Value of each card, [N, cards] int16, NOT_LEGAL where it may not be played; otherwise as `solve`."""
    states = checked_states(states, rules)
    announce_part(*ANNOUNCED, solve_all_cards)
    values = np.empty((len(states), len(rules.card_names)), np.int16)
    solve_all_cards(compile_tables(rules), states, new_work().view(np.ndarray), values)
    return values


def checked_states(states: Any, rules: Rules, phase: int = PLAY) -> RecordArray:
    """States that can be solved, as a plain array; ValueError otherwise."""
    if rules.teams > MOST_TEAMS:
        raise ValueError(f"rules have teams={rules.teams}; the solver knows two and three teams")
    if not isinstance(states, np.ndarray) or states.dtype != STATE_DTYPE or states.ndim != 1:
        raise ValueError("states must be a one-dimensional record array of STATE_DTYPE")
    for index in np.flatnonzero(states["phase"] != phase):
        other = PHASE_NAMES[states["phase"][index]]
        raise ValueError(
            f"states[{index}] is in phase {other!r}; give states in phase {PHASE_NAMES[phase]!r}"
        )
    return states.view(np.ndarray)


@kernel
def solve_all(tables: RecordArray, states: RecordArray, work: RecordArray, values: Int16Array) -> None:
    """Solve states one after the other."""
    for i in range(len(states)):
        values[i] = solve_state(tables[0], states[i], work)


@kernel
def solve_all_cards(tables: RecordArray, states: RecordArray, work: RecordArray, values: Int16Array) -> None:
    """Values of all cards, state by state."""
    for i in range(len(states)):
        solve_state_cards(tables[0], states[i], work, values[i])
