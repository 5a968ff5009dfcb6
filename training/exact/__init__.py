"""Exact analysis of two-seat games small enough to be enumerated: values, best responses, exploitability, equilibria.

`build_tree` enumerates a game once; everything else is passes over its arrays (docs/exact.md). NumPy alone, but for the
"""

from training.exact.policies import of_agent, uniform
from training.exact.responses import Exploitability, best_response, exploitability, value
from training.exact.tree import Tree, build_tree

__all__ = [
    "Exploitability",
    "Tree",
    "best_response",
    "build_tree",
    "exploitability",
    "of_agent",
    "uniform",
    "value",
]
