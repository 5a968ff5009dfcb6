"""Exact values of positions with all hands known; see docs/solver.md.

`solve` and `solve_cards` take states, `solve_state` and `solve_state_cards` are kernels for other kernels,
`solve_discards` values the bidder's discards, `max_n` gives each of several teams its own value near the end of a deal.
"""

from smear_env.solver.discards import solve_discards, solve_state_discards
from smear_env.solver.max_n import MAX_N_TRICKS, max_n
from smear_env.solver.position import new_work
from smear_env.solver.root import NOT_LEGAL, solve_state, solve_state_cards
from smear_env.solver.solve import solve, solve_cards

__all__ = [
    "MAX_N_TRICKS",
    "NOT_LEGAL",
    "max_n",
    "new_work",
    "solve",
    "solve_cards",
    "solve_discards",
    "solve_state",
    "solve_state_cards",
    "solve_state_discards",
]
