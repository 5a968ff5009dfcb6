"""Suits in order: a renaming that keeps the game what it is, and the same one for all positions that differ by names.

Renaming is done here a second time, column by column through the names of cards and actions.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
import pytest

from smear_env import (
    PRESETS,
    Rules,
    SelfPlayVectorEnv,
    make_agent,
    make_rules,
    observation_layout,
    order_suits,
    original_actions,
    original_columns,
    pieces,
    rename_suits,
    state_layout,
)
from tests.uncompiled import assert_same_uncompiled

GAMES = pytest.mark.parametrize("preset", PRESETS)
COLOURS = ({"C", "S"}, {"D", "H"})


class Positions(NamedTuple):
    """Reached in random play, forced moves included; B rows."""

    rules: Rules
    observation: np.ndarray  # [B, d]
    mask: np.ndarray  # [B, n]
    state: np.ndarray  # [B, s] counted from the seat to act

    @property
    def seen(self) -> dict[str, np.ndarray]:
        return pieces(self.observation, observation_layout(self.rules))


@cache
def reached(preset: str) -> Positions:
    options = [{"all_pass": "dealer_bids"}]
    if preset == "schmier":
        options += [{"exchange": 0}, {"lead_trump_first": True}]
    else:
        options += [{"stock_to_bidder": 0}, {"stock_to_bidder": 1}]
    env = SelfPlayVectorEnv(40, [make_rules(preset, **options[i % 3]) for i in range(40)], seed=9)
    agent = make_agent("random")
    agent.reset(env.rules, -1, 1)
    shown = env.reset()
    kept = []
    for _ in range(60):
        kept.append((shown.observation.copy(), shown.mask.copy(), env.state(relative=True)))
        shown = env.step(agent.act_batch(shown.observation, shown.mask))
    made = Positions(PRESETS[preset], *(np.concatenate(part) for part in zip(*kept, strict=True)))
    for array in made[1:]:
        array.setflags(write=False)
    return made


def new_suits(rules: Rules, order: Any) -> dict[str, str]:
    """The name each suit gets when suit `order[p]` comes to stand in place p."""
    return {rules.suits[suit]: rules.suits[place] for place, suit in enumerate(order)}


def renamed_name(name: str, suits: Mapping[str, str]) -> str:
    """A card or action by its new name."""
    is_of_suit = name.startswith("trump:") or (len(name) <= 2 and name[-1] in suits)
    return name[:-1] + suits[name[-1]] if is_of_suit else name


def sources(names: tuple[str, ...], suits: Mapping[str, str]) -> np.ndarray:
    """For each column of the renamed vector, the column it comes from."""
    came = {renamed_name(name, suits): index for index, name in enumerate(names)}
    return np.array([came[name] for name in names])


def renamed(vectors: np.ndarray, layout: Any, rules: Rules, order: Any) -> np.ndarray:
    """Vectors [..., d] with their suits renamed, piece by piece."""
    result = vectors.copy()
    into = pieces(result, layout)
    suits = new_suits(rules, order)
    for name, piece in pieces(vectors, layout).items():
        if name in {"trump", "voids"}:
            into[name][:] = piece[..., sources(tuple(rules.suits), suits)]
        elif piece.shape[-1] == len(rules.card_names):
            into[name][:] = piece[..., sources(rules.card_names, suits)]
    return result


def renamed_masks(masks: np.ndarray, rules: Rules, order: Any) -> np.ndarray:
    return masks[..., sources(rules.action_names, new_suits(rules, order))]


def allowed(rules: Rules) -> list[tuple[int, ...]]:
    """Renamings that change nothing but names: where there are bowers, colours stay together."""
    every = list(permutations(range(len(rules.suits))))
    if not rules.bowers:
        return every
    return [
        order
        for order in every
        if all({new_suits(rules, order)[suit] for suit in colour} in COLOURS for colour in COLOURS)
    ]


def in_random_names(made: Positions) -> Positions:
    """The same positions, each with suits renamed at random."""
    orders, rules = allowed(made.rules), made.rules
    assert len(orders) == {"schmier": 8, "mini": 2}.get(rules.name, 24)
    choice = np.random.default_rng(3).integers(len(orders), size=len(made.mask))
    observation, mask, state = made.observation.copy(), made.mask.copy(), made.state.copy()
    for number, order in enumerate(orders):
        rows = choice == number
        observation[rows] = renamed(made.observation[rows], observation_layout(rules), rules, order)
        mask[rows] = renamed_masks(made.mask[rows], rules, order)
        state[rows] = renamed(made.state[rows], state_layout(rules), rules, order)
    return Positions(rules, observation, mask, state)


def by_suit(made: Positions, piece: str) -> np.ndarray:
    """A piece of cards as [B, suits, ranks], without the joker."""
    suits, ranks = len(made.rules.suits), len(made.rules.ranks)
    return made.seen[piece][:, : suits * ranks].reshape(-1, suits, ranks)


def ambiguous(made: Positions) -> np.ndarray:
    """[B] bool: two suits that are not trump hold the same own and the same unseen cards."""
    own = np.concatenate(
        [by_suit(made, "hand"), by_suit(made, "unseen"), made.seen["trump"][..., None]], axis=2
    )
    return np.array([len(np.unique(row, axis=0)) < len(row) for row in own])


# ------------------------------------------------------------------------------------------------ the order


@GAMES
def test_positions__reach_every_phase_and_each_suit_as_trump(preset: str) -> None:
    made = reached(preset)
    phases = made.seen["phase"].any(axis=0)
    expected = {"schmier": [1, 1, 1, 1, 1, 0]}.get(preset, [1, 1, 0, 0, 1, 0])  # nobody acts when it is over
    assert phases.tolist() == expected
    assert made.seen["trump"].any(axis=0).all()
    assert made.seen["voids"].any()


@GAMES
def test_order_suits__renames_suits_and_changes_nothing_else(preset: str) -> None:
    made = reached(preset)
    rules = made.rules
    found = order_suits(made.observation, made.mask, rules)
    assert found.observation.dtype == found.mask.dtype == np.int8
    assert not np.shares_memory(found.observation, made.observation)
    np.testing.assert_array_equal(
        np.sort(found.order, axis=1), np.broadcast_to(np.arange(len(rules.suits)), found.order.shape)
    )
    assert len(np.unique(found.order, axis=0)) == len(allowed(rules))
    for order in np.unique(found.order, axis=0):
        rows = (found.order == order).all(axis=1)
        np.testing.assert_array_equal(
            found.observation[rows],
            renamed(made.observation[rows], observation_layout(rules), rules, order),
        )
        np.testing.assert_array_equal(found.mask[rows], renamed_masks(made.mask[rows], rules, order))


def test_order_suits__keeps_colours_together_where_there_are_bowers() -> None:
    made = reached("schmier")
    order = order_suits(made.observation, made.mask, made.rules).order
    for row in np.unique(order, axis=0):
        names = [made.rules.suits[suit] for suit in row]
        assert set(names[:2]) in COLOURS
        assert set(names[2:]) in COLOURS


@GAMES
def test_order_suits__trump_is_first_once_known(preset: str) -> None:
    made = reached(preset)
    found = order_suits(made.observation, made.mask, made.rules)
    known = made.seen["trump"].any(axis=1)
    assert 0.1 < known.mean() < 1
    trump = pieces(found.observation, observation_layout(made.rules))["trump"]
    assert np.all(trump[known, 0] == 1)
    assert not trump[:, 1:].any()
    np.testing.assert_array_equal(trump[~known], 0)


@GAMES
def test_order_suits__follows_the_own_hand(preset: str) -> None:
    made = reached(preset)
    ordered = Positions(made.rules, *order_suits(made.observation, made.mask, made.rules)[:2], made.state)
    held = by_suit(ordered, "hand").sum(axis=2)
    known = made.seen["trump"].any(axis=1)
    assert np.all(held[~known, 0] == held[~known].max(axis=1))
    if made.rules.bowers:
        assert np.all(held[:, 2] >= held[:, 3])
    else:
        assert np.all(np.diff(held[:, 1:], axis=1) <= 0)
        assert np.all(np.diff(held[~known], axis=1) <= 0)


@GAMES
def test_order_suits__shows_positions_alike_that_differ_only_by_names(preset: str) -> None:
    made = reached(preset)
    other = in_random_names(made)
    first = order_suits(made.observation, made.mask, made.rules)
    second = order_suits(other.observation, other.mask, made.rules)
    # Where two suits look alike in the own hand and among the unseen cards, either may come first.
    clear = ~ambiguous(made)
    assert clear.mean() > 0.3
    assert np.any(other.observation[clear] != made.observation[clear])
    np.testing.assert_array_equal(first.observation[clear], second.observation[clear])
    np.testing.assert_array_equal(first.mask[clear], second.mask[clear])
    np.testing.assert_array_equal(
        rename_suits(made.state, first.order, made.rules)[clear],
        rename_suits(other.state, second.order, made.rules)[clear],
    )
    if not made.rules.bowers:  # with them, the mate of the suit that came first goes along
        ordered = [Positions(made.rules, *found[:2], made.state) for found in (first, second)]
        for piece in ("hand", "unseen", "trump"):
            np.testing.assert_array_equal(ordered[0].seen[piece], ordered[1].seen[piece])


# ------------------------------------------------------------------------------------------------ and back


@GAMES
def test_original_actions__is_a_bijection_that_keeps_legal_actions_legal(preset: str) -> None:
    made = reached(preset)
    found = order_suits(made.observation, made.mask, made.rules)
    rows, n = found.mask.shape
    every = np.tile(np.arange(n), rows)
    back = original_actions(every, np.repeat(found.order, n, axis=0), made.rules).reshape(rows, n)
    np.testing.assert_array_equal(np.sort(back, axis=1), np.tile(np.arange(n), (rows, 1)))
    np.testing.assert_array_equal(np.take_along_axis(made.mask, back, axis=1), found.mask)


@GAMES
def test_original_actions__are_the_same_action_by_its_old_name(preset: str) -> None:
    made = reached(preset)
    names = made.rules.action_names
    for order in allowed(made.rules):
        suits = new_suits(made.rules, order)
        every = np.arange(len(names))
        back = original_actions(every, np.tile(order, (len(names), 1)), made.rules)
        assert [renamed_name(names[old], suits) for old in back] == list(names)


@GAMES
def test_original_columns__undoes_the_order_of_the_mask(preset: str) -> None:
    made = reached(preset)
    found = order_suits(made.observation, made.mask, made.rules)
    np.testing.assert_array_equal(original_columns(found.mask, found.order, made.rules), made.mask)
    values = np.random.default_rng(0).random(found.mask.shape, np.float32)
    back = original_columns(values, found.order, made.rules)
    assert back.dtype == np.float32
    rows = np.arange(len(values))
    for column in range(values.shape[1]):
        place = original_actions(np.full(len(values), column), found.order, made.rules)
        np.testing.assert_array_equal(back[rows, place], values[:, column])


@pytest.mark.parametrize("dtype", [np.int8, np.float64, np.bool_, np.int64])
def test_original_columns__keeps_values_of_any_type_and_memory(dtype: type) -> None:
    made = reached("schmier")
    found = order_suits(made.observation, made.mask, made.rules)
    values = np.random.default_rng(1).integers(0, 100, found.mask.shape)
    expected = original_columns(values.astype(np.float32), found.order, made.rules)
    back = original_columns(np.asfortranarray(values.astype(dtype)), found.order, made.rules)
    assert back.dtype == dtype
    np.testing.assert_array_equal(back, expected.astype(dtype))


# ------------------------------------------------------------------------------------------------ states


@GAMES
def test_rename_suits__renames_every_piece_of_the_state(preset: str) -> None:
    made = reached(preset)
    before = made.state.copy()
    for order in allowed(made.rules):
        found = rename_suits(made.state, np.tile(order, (len(made.state), 1)), made.rules)
        np.testing.assert_array_equal(found, renamed(made.state, state_layout(made.rules), made.rules, order))
    np.testing.assert_array_equal(made.state, before)


@GAMES
def test_rename_suits__agrees_with_order_suits_on_what_both_show(preset: str) -> None:
    made = reached(preset)
    found = order_suits(made.observation, made.mask, made.rules)
    view = pieces(found.observation, observation_layout(made.rules))
    full = pieces(rename_suits(made.state, found.order, made.rules), state_layout(made.rules))
    shared = (view.keys() & full.keys()) - {"hand", "taken", "discard_order"}
    assert {"trick", "played", "trump", "voids", "trick_of", "scores"} <= shared
    for name in shared:
        np.testing.assert_array_equal(view[name], full[name], err_msg=name)
    for name in ("hand", "taken"):
        np.testing.assert_array_equal(view[name], full[name][:, 0], err_msg=name)
    np.testing.assert_array_equal(view["discard_order"], full["discard_order"] * full["discarded"][:, 0])
    others = full["hand"][:, 1:].sum(axis=1) + (full["stock"] > 0)
    assert np.all(view["unseen"] >= others)


# ------------------------------------------------------------------------------------------------ uncompiled

ORDERED = """
import numpy as np
from smear_env import SelfPlayVectorEnv, order_suits, original_columns, rename_suits
for game in ("four_point", "schmier"):
    env = SelfPlayVectorEnv(3, game, seed=3, episode="deal")
    shown = env.reset()
    weight = np.arange(shown.observation.size).reshape(shown.observation.shape) % 1009
    total = 0
    for _ in range(40):
        found = order_suits(shown.observation, shown.mask, env.rules)
        state = rename_suits(env.state(relative=True), found.order, env.rules)
        back = original_columns(found.mask, found.order, env.rules)
        total += (found.observation * weight).sum() + state[:, ::7].sum() + (back != shown.mask).sum()
        print(game, found.order.tolist(), total)
        shown = env.step((shown.mask * np.arange(1, shown.mask.shape[1] + 1)).argmax(axis=1))
"""


def test_order_suits__is_the_same_uncompiled() -> None:
    assert_same_uncompiled(ORDERED)
