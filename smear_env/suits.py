"""Suits are interchangeable: one order of them for all positions that differ by a renaming of suits.

The trump suit comes first once it is known, otherwise the suit in which the own hand is best; the others follow by the
own hand. Where there are bowers the second suit is the first one's colour, and the last two the other colour, since a
renaming must keep colours together. A network that sees positions in this order learns each once, and finds trump
always in the same place.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from smear_env._jit import announce_compilation, kernel
from smear_env._typing import Int8Array, Int64Array, as_int
from smear_env.engine.tables import SAME_COLOUR
from smear_env.flags import address, copy_block
from smear_env.layout import observation_layout, state_layout, vector_size
from smear_env.rules import MAX_SUITS, Rules

_CARD_PIECES = (
    *("hand", "taken", "unseen", "discarded", "trick", "played"),
    *("discard_order", "stock", "trick_of"),
)
_SUIT_PIECES = ("trump", "voids")
# Held cards count first, then the ranks held, then those unseen; all within 60 bits.
_COUNT_WEIGHT = 1 << 40
_HAND_WEIGHT = 1 << 20


class _Groups(NamedTuple):
    """Where a vector is arranged by suit: a group is one block of entries for each suit, in suit order."""

    starts: Int64Array  # [groups]
    block: Int64Array  # [groups] entries for each suit


class InOrder(NamedTuple):
    """Observations and masks with their suits in order."""

    observation: Int8Array
    """[B, d] int8."""
    mask: Int8Array
    """[B, n] int8."""
    order: Int64Array
    """[B, suits] int64: the suit that stands in each place."""


def order_suits(observations: Int8Array, masks: Int8Array, rules: Rules) -> InOrder:
    """The same positions with suits renamed to their order, [B, d] and [B, n] int8; fresh arrays.

    Raises ValueError for arrays of another type or shape.
    """
    announce_compilation()
    _check("observations", observations, vector_size(observation_layout(rules)))
    _check("masks", masks, len(rules.action_names))
    observation, mask = np.empty_like(observations, order="C"), np.empty_like(masks, order="C")
    order = np.empty((len(observations), len(rules.suits)), np.int64)
    in_observation, in_mask = _vector_groups(rules, full=False), _action_groups(rules)
    layout = observation_layout(rules)
    ranks, mates = len(rules.ranks), _mates(rules)
    starts = (layout["trump"].start, layout["hand"].start, layout["unseen"].start)
    _find_orders(np.ascontiguousarray(observations), *starts, ranks, mates, order)
    _rearrange(
        np.ascontiguousarray(observations), in_observation.starts, in_observation.block, order, observation
    )
    _rearrange(np.ascontiguousarray(masks), in_mask.starts, in_mask.block, order, mask)
    return InOrder(observation, mask, order)


def rename_suits(states: Int8Array, order: Int64Array, rules: Rules) -> Int8Array:
    """State vectors [B, s] int8 with their suits in a given order [B, suits]; a fresh array.

    Raises ValueError for arrays of another type or shape.
    """
    _check("states", states, vector_size(state_layout(rules)))
    result = np.empty_like(states, order="C")
    groups = _vector_groups(rules, full=True)
    _rearrange(np.ascontiguousarray(states), groups.starts, groups.block, order, result)
    return result


def _check(name: str, vectors: Int8Array, width: int) -> None:
    # The kernels move bytes: entries of another size would be torn.
    if vectors.dtype != np.int8 or vectors.ndim != 2 or vectors.shape[1] != width:
        raise ValueError(
            f"{name} of shape {vectors.shape} and type {vectors.dtype}, expected [B, {width}] int8"
        )


def original_actions(actions: Int64Array, order: Int64Array, rules: Rules) -> Int64Array:
    """Action ids [B] chosen among suits in `order` [B, suits], as ids of the positions as they were."""
    renamed = np.take_along_axis(_action_table(rules)[:, actions].T, order, axis=1)
    place = _action_place(rules)[actions]
    return np.where(
        place < 0, actions, np.take_along_axis(renamed, np.maximum(place, 0)[:, None], axis=1)[:, 0]
    )


def original_columns(values: np.ndarray, order: Int64Array, rules: Rules) -> np.ndarray:
    """Values of actions [B, n] with suits in `order`, as columns of the positions as they were; a fresh array."""
    columns = np.arange(len(rules.action_names))
    result = np.empty_like(values)
    rows = np.broadcast_to(np.arange(len(values))[:, None], values.shape)
    targets = original_actions(np.tile(columns, len(values)), np.repeat(order, len(columns), axis=0), rules)
    result[rows, targets.reshape(values.shape)] = values
    return result


@lru_cache(maxsize=64)
def _mates(rules: Rules) -> Int64Array:
    """[suits] the suit that a suit's left bower comes from; empty without bowers."""
    letters = (SAME_COLOUR[suit] for suit in rules.suits) if rules.bowers else ()
    return np.array([rules.suits.index(letter) for letter in letters], np.int64)


@lru_cache(maxsize=64)
def _vector_groups(rules: Rules, *, full: bool) -> _Groups:
    """Groups of an observation, or (`full`) of a state vector."""
    layout = state_layout(rules) if full else observation_layout(rules)
    widths = dict.fromkeys(_CARD_PIECES, (len(rules.card_names), len(rules.ranks)))
    widths |= dict.fromkeys(_SUIT_PIECES, (len(rules.suits), 1))
    return _as_groups(
        (start, block)
        for name, (width, block) in widths.items()
        if name in layout
        for start in _rows(layout[name].start, layout[name].size, width)
    )


@lru_cache(maxsize=64)
def _action_groups(rules: Rules) -> _Groups:
    """Groups of a mask."""
    named = [(rules.action_names.index(f"trump:{rules.suits[0]}"), 1)] if rules.trump_named else []
    return _as_groups([(0, len(rules.ranks)), *named])


def _as_groups(pairs: Iterable[tuple[int, int]]) -> _Groups:
    starts, block = zip(*pairs, strict=True)
    return _Groups(np.array(starts, np.int64), np.array(block, np.int64))


def _rows(start: int, size: int, width: int) -> range:
    return range(start, start + size, width)


@lru_cache(maxsize=64)
def _action_place(rules: Rules) -> Int64Array:
    """[n] the place among suits that an action belongs to, -1 for pass, bids and the joker."""
    place = np.full(len(rules.action_names), -1)
    for start, block in zip(*_action_groups(rules), strict=True):
        place[start : start + block * len(rules.suits)] = np.repeat(np.arange(len(rules.suits)), block)
    return place


@lru_cache(maxsize=64)
def _action_table(rules: Rules) -> Int64Array:
    """[suits, n] the id of the same rank, or call, in each suit; an action of no suit stands for itself."""
    table = np.tile(np.arange(len(rules.action_names)), (len(rules.suits), 1))
    for start, block in zip(*_action_groups(rules), strict=True):
        for suit in range(len(rules.suits)):
            same = start + suit * block + np.arange(block)
            table[suit, start : start + block * len(rules.suits)] = np.tile(same, len(rules.suits))
    return table


@kernel
def _find_orders(
    observations: Int8Array,
    trump: int,
    hand: int,
    unseen: int,
    ranks: int,
    mates: Int64Array,
    order: Int64Array,
) -> None:
    """Write the order of suits of each row, [B, suits]."""
    suits = order.shape[1]
    keys = np.empty(MAX_SUITS, np.int64)
    for i in range(len(observations)):
        row = observations[i]
        for suit in range(suits):
            key = 0
            for rank in range(ranks):
                at = suit * ranks + rank
                held, hidden = as_int(row[hand + at]), as_int(row[unseen + at])
                key += held * (_COUNT_WEIGHT + (_HAND_WEIGHT << rank)) + (hidden << rank)
            keys[suit] = key + (_COUNT_WEIGHT << 10) * as_int(row[trump + suit])
        for place in range(suits):
            order[i, place] = place
        # Insertion sort, best first; equal keys keep their order.
        for place in range(1, suits):
            suit = order[i, place]
            at = place
            while at > 0 and keys[suit] > keys[order[i, at - 1]]:
                order[i, at] = order[i, at - 1]
                at -= 1
            order[i, at] = suit
        if len(mates) > 0:
            mate = mates[order[i, 0]]
            at = 1
            while order[i, at] != mate:
                at += 1
            while at > 1:
                order[i, at] = order[i, at - 1]
                at -= 1
            order[i, 1] = mate


@kernel
def _rearrange(
    source: Int8Array, starts: Int64Array, block: Int64Array, order: Int64Array, out: Int8Array
) -> None:
    """Copy rows, each group's blocks in the order of the row's suits."""
    rows, width = source.shape
    suits = order.shape[1]
    for i in range(rows):
        row = address(source) + i * width
        to = address(out) + i * width
        copy_block(row, width, to)
        for group in range(len(starts)):
            size = block[group]
            start = starts[group]
            for place in range(suits):
                copy_block(row + start + order[i, place] * size, size, to + start + place * size)
