"""Exact analysis of two-seat games small enough to be enumerated: values, best responses, exploitability, equilibria.

`build_tree` enumerates a game once; everything else is passes over its arrays (docs/exact.md). NumPy alone, but for the
linear programme of `solve_game`, which is SciPy's.
"""

from training.exact.equilibrium import solve_game
from training.exact.policies import of_agent, uniform
from training.exact.regrets import RegretMatching
from training.exact.responses import Exploitability, best_response, combined, exploitability, value
from training.exact.tree import Tree, build_tree

__all__ = [
    "Exploitability",
    "RegretMatching",
    "Tree",
    "best_response",
    "build_tree",
    "combined",
    "exploitability",
    "of_agent",
    "solve_game",
    "uniform",
    "value",
]
