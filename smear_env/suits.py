"""Suits are interchangeable: one order of them for all positions that differ by a renaming of suits.

The trump suit comes first once it is known, otherwise the suit in which the own hand is best; the others follow by the
own hand. Where there are bowers the second suit is the first one's colour, and the last two the other colour, since a
renaming must keep colours together. A network that sees positions in this order learns each once, and finds trump
always in the same place.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from smear_env._jit import announce_compilation, kernel
from smear_env._typing import Int8Array, Int64Array, RecordArray, as_int
from smear_env.cards import MAX_CARDS, count
from smear_env.engine.tables import SAME_COLOUR
from smear_env.flags import address, copy_block
from smear_env.layout import Piece, observation_layout, state_layout, vector_size
from smear_env.rules import MAX_POINTS, MAX_SEATS, MAX_SUITS, Rules

Bytes = npt.NDArray[np.uint8]

_CARD_PIECES = (
    *("hand", "taken", "unseen", "discarded", "trick", "played"),
    *("discard_order", "stock", "trick_of"),
)
_SUIT_PIECES = ("trump", "voids")
_MAX_ACTIONS = MAX_CARDS + 1 + MAX_POINTS + MAX_SUITS

# Of two suits the trump comes first, then the one of more own cards, of higher own cards, of higher unseen cards.
_TRUMP_SHIFT, _COUNT_SHIFT, _HAND_SHIFT = 50, 40, 20
_WORD = 8

_ROWS = np.dtype(
    [
        # Rows of one entry for each card, and rows of one for each suit, that a vector is arranged by suit in.
        ("width", np.int64),  # entries of the vector
        ("card_rows", np.int64),  # how many
        ("suit_rows", np.int64),
        ("cards", np.int64, (5 * MAX_SEATS + 4,)),  # where each begins
        ("suits", np.int64, (1 + MAX_SEATS,)),
    ]
)
_SUITS = np.dtype(
    [
        ("suits", np.int64),
        ("ranks", np.int64),
        ("trump", np.int64),  # where the piece begins in an observation, as the next two
        ("hand", np.int64),
        ("unseen", np.int64),
        ("bowers", np.int64),  # 1: the second suit is the first one's mate
        ("ordered", np.int64),  # 0: suits stay as they were dealt
        ("mate", np.int64, (MAX_SUITS,)),  # the suit of a suit's left bower
        ("observation", _ROWS),
        ("state", _ROWS),
        ("mask", _ROWS),
        ("place", np.int64, (_MAX_ACTIONS,)),  # place of an action's suit; 0 for an action of no suit
        ("named", np.int64, (MAX_SUITS, _MAX_ACTIONS)),  # the action in each suit; itself, if of none
    ]
)
SUITS = np.dtype((np.record, _SUITS))
"""The suits of a game in its vectors: what kernels make of their bytes."""


class GameSuits(NamedTuple):
    """The suits of a game, for kernels, and the widths of its vectors."""

    table: Bytes  # a SUITS
    suits: int
    observation: int
    state: int
    actions: int


class InOrder(NamedTuple):
    """Observations and masks with their suits in order."""

    observation: Int8Array
    """[B, d] int8."""
    mask: Int8Array
    """[B, n] int8."""
    order: Int64Array
    """[B, suits] int64: the suit that stands in each place."""


def order_suits(
    observations: Int8Array,
    masks: Int8Array,
    rules: Rules,
    *,
    out: tuple[Int8Array, Int8Array] | None = None,
    ordered: bool = True,
) -> InOrder:
    """The same positions with suits renamed to their order, [B, d] and [B, n] int8.

    The arrays are fresh, or those of `out`: an observation and a mask of these shapes, C-contiguous and apart from what
    is read. The order is always fresh; without `ordered` it is that of the cards, and nothing is renamed. Raises
    ValueError for arrays of another type or shape.
    """
    announce_compilation()
    game = suits_of(rules, ordered=ordered)
    _check("observations", observations, game.observation)
    _check("masks", masks, game.actions)
    if len(masks) != len(observations):
        raise ValueError(f"{len(masks)} masks for {len(observations)} observations")
    observation = _output("out[0]", None if out is None else out[0], observations)
    mask = _output("out[1]", None if out is None else out[1], masks)
    order = np.empty((len(observations), game.suits), np.int64)
    seen, legal = np.ascontiguousarray(observations), np.ascontiguousarray(masks)
    _order_all(game.table, seen, legal, order, observation, mask)
    return InOrder(observation, mask, order)


def rename_suits(
    states: Int8Array, order: Int64Array, rules: Rules, *, out: Int8Array | None = None
) -> Int8Array:
    """State vectors [B, s] int8 with their suits in a given order [B, suits]; a fresh array, or `out`.

    `out` is a C-contiguous array of the same shape, apart from `states`. Raises ValueError for arrays of another type
    or shape.
    """
    game = suits_of(rules)
    _check("states", states, game.state)
    result = _output("out", out, states)
    in_order = _checked(order, len(states), game.suits)
    _rename_states(game.table, np.ascontiguousarray(states), in_order, result)
    return result


def original_actions(actions: Int64Array, order: Int64Array, rules: Rules) -> Int64Array:
    """Action ids [B] chosen among suits in `order` [B, suits], as ids of the positions as they were.

    Raises ValueError for an id that is no action.
    """
    game = suits_of(rules)
    chosen = np.ascontiguousarray(actions, np.int64)
    in_order = _checked(order, len(chosen), game.suits)
    result = np.empty(len(chosen), np.int64)
    wrong = _restore_actions(game.table, chosen, game.actions, in_order, result)
    if wrong >= 0:
        raise ValueError(f"actions[{wrong}]={chosen[wrong]} is none of 0..{game.actions - 1}")
    return result


def original_columns(values: np.ndarray, order: Int64Array, rules: Rules) -> np.ndarray:
    """Values of actions [B, n] with suits in `order`, as columns of the positions as they were; a fresh array."""
    game = suits_of(rules)
    if values.ndim != 2 or values.shape[1] != game.actions:
        raise ValueError(f"values of shape {values.shape}, expected [B, {game.actions}]")
    in_order = _checked(order, len(values), game.suits)
    result = np.empty(values.shape, values.dtype)
    _restore_columns(game.table, np.ascontiguousarray(values), in_order, result)
    return result


def _check(name: str, vectors: Int8Array, width: int) -> None:
    # The kernels move bytes: entries of another size would be torn.
    if vectors.dtype != np.int8 or vectors.ndim != 2 or vectors.shape[1] != width:
        raise ValueError(
            f"{name} of shape {vectors.shape} and type {vectors.dtype}, expected [B, {width}] int8"
        )


def _checked(order: Int64Array, rows: int, suits: int) -> Int64Array:
    if order.shape != (rows, suits):
        raise ValueError(f"order of shape {order.shape}, expected [{rows}, {suits}]")
    if order.size and not 0 <= order.min() <= order.max() < suits:
        raise ValueError(f"order names suits {order.min()}..{order.max()}, expected 0..{suits - 1}")
    return np.ascontiguousarray(order, np.int64)


def _output(name: str, given: Int8Array | None, source: Int8Array) -> Int8Array:
    """The array to write into: the one given, if it is fit for it, or a fresh one."""
    if given is None:
        return np.empty(source.shape, np.int8)
    if given.dtype != np.int8 or given.shape != source.shape:
        raise ValueError(
            f"{name} of shape {given.shape} and type {given.dtype}, expected {list(source.shape)} int8"
        )
    if not (given.flags.c_contiguous and given.flags.writeable):
        raise ValueError(f"{name} must be C-contiguous and writeable")
    if np.may_share_memory(given, source):
        raise ValueError(f"{name} shares memory with what is to be renamed")
    return given


@lru_cache(maxsize=64)
def suits_of(rules: Rules, *, ordered: bool = True) -> GameSuits:
    """The suits of a game; without `ordered` kernels leave them as they were dealt."""
    table = np.recarray(1, dtype=_SUITS)
    table.view(np.uint8)[:] = 0
    row = table[0]
    seen, full, actions = observation_layout(rules), state_layout(rules), rules.action_names
    row.suits, row.ranks, row.ordered = len(rules.suits), len(rules.ranks), int(ordered)
    for name in ("trump", "hand", "unseen"):
        setattr(row, name, seen[name].start)
    if rules.bowers:
        row.bowers = 1
        row.mate[:] = [rules.suits.index(SAME_COLOUR[suit]) for suit in rules.suits]
    _write_rows(row.observation, seen, rules)
    _write_rows(row.state, full, rules)
    named = [actions.index(f"trump:{rules.suits[0]}")] if rules.trump_named else []
    _write_starts(row.mask, len(actions), [0], named)
    _write_actions(row, [(0, len(rules.ranks)), *((start, 1) for start in named)])
    return GameSuits(
        table.view(np.ndarray).view(np.uint8),
        len(rules.suits),
        vector_size(seen),
        vector_size(full),
        len(actions),
    )


def _write_rows(rows: RecordArray, layout: Mapping[str, Piece], rules: Rules) -> None:
    """Write where a vector of a layout has rows of cards and rows of suits."""
    kinds = ((_CARD_PIECES, len(rules.card_names)), (_SUIT_PIECES, len(rules.suits)))
    cards, suits = (
        [at for name in names if name in layout for at in _starts(layout[name].slice, width)]
        for names, width in kinds
    )
    _write_starts(rows, vector_size(layout), cards, suits)


def _starts(piece: slice, width: int) -> range:
    return range(piece.start, piece.stop, width)


def _write_starts(rows: RecordArray, width: int, cards: list[int], suits: list[int]) -> None:
    rows.width, rows.card_rows, rows.suit_rows = width, len(cards), len(suits)
    rows.cards[: len(cards)] = cards
    rows.suits[: len(suits)] = suits


def _write_actions(row: RecordArray, groups: list[tuple[int, int]]) -> None:
    """Write the tables of actions; a group is a start and how many actions there are for each suit in turn."""
    suits = int(row.suits)
    row.named[:] = np.arange(_MAX_ACTIONS)
    for start, block in groups:
        of_group = slice(start, start + suits * block)
        row.place[of_group] = np.repeat(np.arange(suits), block)
        for suit in range(suits):
            row.named[suit, of_group] = np.tile(start + suit * block + np.arange(block), suits)


@kernel
def _order_all(
    suits: Bytes,
    observations: Int8Array,
    masks: Int8Array,
    order: Int64Array,
    observation_out: Int8Array,
    mask_out: Int8Array,
) -> None:
    """Write each row's order of suits, [B, suits], and the row and its mask in that order."""
    u = suits.view(SUITS)[0]
    find_orders(u, observations, order)
    rename_rows(u, u.observation, observations, order, observation_out)
    rename_rows(u, u.mask, masks, order, mask_out)


@kernel
def _rename_states(suits: Bytes, states: Int8Array, order: Int64Array, out: Int8Array) -> None:
    u = suits.view(SUITS)[0]
    rename_rows(u, u.state, states, order, out)


@kernel
def _restore_actions(
    suits: Bytes, actions: Int64Array, count: int, order: Int64Array, out: Int64Array
) -> int:
    """Write action ids by their old names; returns the first row whose id is none of `count`, -1 if there is none."""
    u = suits.view(SUITS)[0]
    for i in range(len(actions)):
        action = actions[i]
        if action < 0 or action >= count:
            return i
        out[i] = u.named[order[i, u.place[action]], action]
    return -1


@kernel
def _restore_columns(suits: Bytes, values: np.ndarray, order: Int64Array, out: np.ndarray) -> None:
    u = suits.view(SUITS)[0]
    for i in range(len(values)):
        for action in range(values.shape[1]):
            out[i, u.named[order[i, u.place[action]], action]] = values[i, action]


# The loops below take whole arrays: a view of a row, handed on for each, would cost more than the row (`flags`).


@kernel
def find_orders(u: RecordArray, observations: Int8Array, order: Int64Array) -> None:
    """Write the order of suits of each row, [B, suits]."""
    suits, ranks = u.suits, u.ranks
    hand, unseen, trump = u.hand, u.unseen, u.trump
    every = (1 << ranks) - 1
    keys = np.empty(MAX_SUITS, np.int64)
    for i in range(len(observations)):
        if u.ordered == 0:
            order[i] = np.arange(suits)
            continue
        own = hidden = as_int(0)
        for card in range(suits * ranks):
            # An index without sign needs no look at whether it counts from the end.
            own |= as_int(observations[i, np.uint64(hand + card)]) << card
            hidden |= as_int(observations[i, np.uint64(unseen + card)]) << card
        for suit in range(suits):
            held = (own >> (suit * ranks)) & every
            key = (count(np.uint64(held)) << _COUNT_SHIFT) + (held << _HAND_SHIFT)
            key += (hidden >> (suit * ranks)) & every
            key += as_int(observations[i, trump + suit]) << _TRUMP_SHIFT
            keys[suit] = key
            # Insertion sort, best first; equal keys keep their order.
            at = suit
            while at > 0 and key > keys[order[i, at - 1]]:
                order[i, at] = order[i, at - 1]
                at -= 1
            order[i, at] = suit
        if u.bowers:
            mate = u.mate[order[i, 0]]
            at = 1
            while order[i, at] != mate:
                at += 1
            while at > 1:
                order[i, at] = order[i, at - 1]
                at -= 1
            order[i, 1] = mate


@kernel
def rename_rows(
    u: RecordArray, rows: RecordArray, source: Int8Array, order: Int64Array, out: Int8Array
) -> None:
    """Copy vectors with their suits in a given order: whole at first, then the suits that stand elsewhere.

    That takes less time than to copy what lies between the suits piece by piece.
    """
    suits, ranks, width = u.suits, u.ranks, rows.width
    card_rows, suit_rows = rows.card_rows, rows.suit_rows
    first, first_to = address(source), address(out)
    for i in range(len(source)):
        row, to = first + i * width, first_to + i * width
        copy_block(row, width, to)
        for place in range(suits):
            suit = order[i, place]
            if suit == place:
                continue
            block, block_to = row + suit * ranks, to + place * ranks
            if _WORD <= ranks <= 2 * _WORD:
                # Two words that overlap, without the search for a size that `copy_block` makes at each.
                for k in range(card_rows):
                    start = rows.cards[k]
                    copy_block(block + start, _WORD, block_to + start)
                    start += ranks - _WORD
                    copy_block(block + start, _WORD, block_to + start)
            else:
                for k in range(card_rows):
                    copy_block(block + rows.cards[k], ranks, block_to + rows.cards[k])
            for k in range(suit_rows):
                copy_block(row + rows.suits[k] + suit, 1, to + rows.suits[k] + place)
