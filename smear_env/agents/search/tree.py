"""The tree of `ismcts-N`: one of the viewer's information sets and what may follow, each iteration in another world.

A node stands for the actions that lead to it. In each iteration only what is legal in that world can be chosen,
so a node counts how often it was available as well as how often it was visited (Cowling, Powley and Whitehouse,
"Information Set Monte Carlo Tree Search", 2012; one observer).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from smear_env._jit import kernel
from smear_env._typing import Float64Array, Int8Array, Int64Array, RecordArray, as_int
from smear_env.agents.expert import play_out
from smear_env.agents.search.playout import deal_value
from smear_env.agents.seen import Whole
from smear_env.cards import bit, count, drop_lowest, lowest
from smear_env.engine.deal import draw_below, stream
from smear_env.engine.legal import legal_sets
from smear_env.engine.state import OVER
from smear_env.engine.step import step

_NONE = np.uint64(0)
MAX_DEPTH = 128


class Tree(NamedTuple):
    """Nodes as rows; node 0 is the root."""

    first_child: Int64Array  # [nodes] -1 none
    sibling: Int64Array  # [nodes] next child of the same parent, -1 none
    action: Int64Array  # [nodes] that led here
    visits: Int64Array
    available: Int64Array  # iterations in which the node could have been chosen
    total: Float64Array  # sum of values for the team that chose the node


def new_tree(iterations: int) -> Tree:
    """An empty tree with room for a node an iteration."""
    size = iterations + 1
    return Tree(
        np.full(size, -1, np.int64),
        np.full(size, -1, np.int64),
        np.full(size, -1, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size),
    )


@kernel
def grow(
    tables: RecordArray,
    starts: RecordArray,
    states: RecordArray,
    books: RecordArray,
    style: Whole,
    seed: np.uint64,
    exploration: float,
    tree: Tree,
    row: Int8Array,
    mask: Int8Array,
) -> None:
    """One iteration in each world [N], whose state is played to the end of its deal."""
    t, at = tables[0], starts[0]
    path, teams = np.empty(MAX_DEPTH, np.int64), np.empty(MAX_DEPTH, np.int64)
    nodes = 1
    generator = stream(seed, 0, 1)
    for world in range(len(states)):
        s = states[world]
        node, depth = np.int64(0), 0
        grown = False
        while s.phase != OVER and not grown and depth < MAX_DEPTH:
            cards, calls = legal_sets(t, s)
            choices = count(cards) + count(calls)
            if choices == 1:
                action = as_int(lowest(cards)) if calls == _NONE else as_int(t.cards) + lowest(calls)
                step(t, s, action)
                continue
            team = np.int64(t.team_of[s.turn])
            node, untried_cards, untried_calls = best_child(t, tree, node, cards, calls, exploration)
            untried = count(untried_cards) + count(untried_calls)
            if untried > 0:
                generator, chosen = draw_below(generator, untried)
                parent = node
                node, nodes, grown = np.int64(nodes), nodes + 1, True
                tree.action[node] = nth_action(t, untried_cards, untried_calls, chosen)
                tree.sibling[node] = tree.first_child[parent]
                tree.first_child[parent] = node
                tree.available[node] = 1
            path[depth], teams[depth] = node, team
            depth += 1
            step(t, s, as_int(tree.action[node]))
        play_out(t, at, s, books[0], style, row, mask)
        for i in range(depth):
            tree.visits[path[i]] += 1
            tree.total[path[i]] += deal_value(t, s, teams[i])


@kernel
def best_child(
    t: RecordArray, tree: Tree, node: Whole, cards: np.uint64, calls: np.uint64, exploration: float
) -> tuple[Whole, np.uint64, np.uint64]:
    """The child to follow among the legal actions, and no untried ones; or the node itself and those not tried."""
    deck = as_int(t.cards)
    untried_cards, untried_calls = cards, calls
    best, most = node, -np.inf
    child = tree.first_child[node]
    while child >= 0:
        action = as_int(tree.action[child])
        tried_card = bit(action) if action < deck else _NONE
        tried_call = bit(action - deck) if action >= deck else _NONE
        if tried_card & cards != _NONE or tried_call & calls != _NONE:
            untried_cards &= ~tried_card
            untried_calls &= ~tried_call
            tree.available[child] += 1
            spread = np.sqrt(np.log(np.float64(tree.available[child])) / tree.visits[child])
            score = tree.total[child] / tree.visits[child] + exploration * spread
            if score > most:
                best, most = child, score
        child = tree.sibling[child]
    if untried_cards != _NONE or untried_calls != _NONE:
        return node, untried_cards, untried_calls
    return best, _NONE, _NONE


@kernel
def nth_action(t: RecordArray, cards: np.uint64, calls: np.uint64, number: Whole) -> Whole:
    """The action id of number `number`, from 0, among cards and calls."""
    for _ in range(number):
        if cards != _NONE:
            cards = drop_lowest(cards)
        else:
            calls = drop_lowest(calls)
    return np.int64(lowest(cards)) if cards != _NONE else np.int64(t.cards) + lowest(calls)
