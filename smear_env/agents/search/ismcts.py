"""`ismcts-N`: information-set Monte Carlo tree search, N iterations, each in a world of its own."""

from __future__ import annotations

import numpy as np

from smear_env._typing import Int8Array
from smear_env.agents.expert import PLAIN
from smear_env.agents.search.base import SearchAgent
from smear_env.agents.search.tree import grow, new_tree
from smear_env.agents.search.worlds import fill_worlds, sample_worlds

EXPLORATION = 2.0
"""Points by which UCB1 explores, for each other team."""


class IsmctsAgent(SearchAgent):
    """Grows a tree of `iterations` iterations at every decision and takes the action visited most."""

    kernels = (fill_worlds, grow)

    def __init__(self, iterations: int, *, exploration: float = EXPLORATION) -> None:
        super().__init__()
        if iterations < 1:
            raise ValueError(f"iterations={iterations} must be at least 1")
        self.iterations = iterations
        self.exploration = exploration

    def decide(self, row: Int8Array, mask: Int8Array) -> int:
        """The action visited most, of equals the one of the better mean."""
        seed = self.seed_of(row)
        worlds = sample_worlds(row, self.rules, self.iterations, seed)
        tables, starts, books, _, shown = self.tools()
        tree = new_tree(self.iterations)
        scale = self.exploration * (self.rules.teams - 1)
        grow(
            *(tables, starts, worlds.states, books, PLAIN),
            *(np.uint64(seed), scale, tree, shown, np.empty(len(mask), np.int8)),
        )
        children = []
        child = int(tree.first_child[0])
        while child >= 0:
            children.append(child)
            child = int(tree.sibling[child])
        best = max(children, key=lambda c: (tree.visits[c], tree.total[c]))
        return int(tree.action[best])
