"""Strategies of agents: what they would do at every information set."""

from __future__ import annotations

import numpy as np

from smear_env import Agent
from training.arrays import Float64Array, Int64Array
from training.exact.tree import Tree

ROWS = 8192
"""Positions asked of an agent at once."""


def uniform(tree: Tree) -> Float64Array:
    """Every legal action equally likely, [S]."""
    counts = tree.mask.sum(axis=1, dtype=np.int64)
    return 1 / counts[tree.information_set]


def of_agent(tree: Tree, agent: Agent, *, greedy: bool = False) -> Float64Array:
    """The strategy [S] of an agent in both seats, by its `probabilities`, of which rows are scaled to sum to 1 exactly.

    greedy: its most probable action alone, the first of several, as `PolicyAgent` plays unless asked to sample. One
    whose probabilities are one for an action, as scripted players' are, is the same in both. Raises ValueError where
    probabilities are negative, not finite, on illegal actions or not a distribution.
    """
    agent.reset(tree.rules, -1, 0)
    strategy = np.ones(tree.sequences)
    choices = np.flatnonzero(tree.mask.sum(axis=1, dtype=np.int64) > 1)
    table = tree.mask.astype(np.float64)
    for start in range(0, len(choices), ROWS):
        rows = choices[start : start + ROWS]
        given = np.asarray(agent.probabilities(tree.observation[rows], tree.mask[rows]), np.float64)
        _check(given, tree, rows)
        table[rows] = given
    strategy = table[tree.information_set, tree.action]
    if greedy:
        table = np.where(tree.mask > 0, table, -1.0)
        return (table.argmax(axis=1)[tree.information_set] == tree.action).astype(np.float64)
    return strategy / table.sum(axis=1)[tree.information_set]


def _check(given: Float64Array, tree: Tree, rows: Int64Array) -> None:
    wrong = (
        ~np.isfinite(given).all(axis=1)
        | (given < 0).any(axis=1)
        | (np.abs(given.sum(axis=1) - 1) > 1e-4)
        | ((given > 0) & (tree.mask[rows] == 0)).any(axis=1)
    )
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"probabilities of the agent at information set {rows[row]} are {given[row].tolist()}: they must be a "
            "distribution over its legal actions"
        )


__all__ = ["of_agent", "uniform"]
