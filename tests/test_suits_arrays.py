"""What arrays the renaming of suits takes and writes into, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from smear_env import (
    PRESETS,
    SelfPlayVectorEnv,
    make_rules,
    order_suits,
    original_actions,
    original_columns,
    rename_suits,
)
from tests.test_suits import GAMES, reached


@GAMES
def test_order_suits__takes_arrays_of_any_memory_layout_and_none(preset: str) -> None:
    made = reached(preset)
    whole = order_suits(made.observation, made.mask, made.rules)
    strided = order_suits(made.observation[::3], np.asfortranarray(made.mask)[::3], made.rules)
    for part, expected in zip(strided, whole, strict=True):
        np.testing.assert_array_equal(part, expected[::3])
    np.testing.assert_array_equal(
        rename_suits(np.asfortranarray(made.state), whole.order, made.rules),
        rename_suits(made.state, whole.order, made.rules),
    )
    empty = order_suits(made.observation[:0], made.mask[:0], made.rules)
    assert [len(part) for part in empty] == [0, 0, 0]
    assert original_columns(np.zeros(made.mask[:0].shape), empty.order, made.rules).shape == empty.mask.shape


@GAMES
def test_out__is_written_and_returned(preset: str) -> None:
    made = reached(preset)
    expected = order_suits(made.observation, made.mask, made.rules)
    out = np.full_like(made.observation, 7), np.full_like(made.mask, 7)
    found = order_suits(made.observation, made.mask, made.rules, out=out)
    assert found.observation is out[0]
    assert found.mask is out[1]
    for part, same in zip(found, expected, strict=True):
        np.testing.assert_array_equal(part, same)
    state = np.full_like(made.state, 7)
    assert rename_suits(made.state, found.order, made.rules, out=state) is state
    np.testing.assert_array_equal(state, rename_suits(made.state, found.order, made.rules))


def test_out__leaves_what_is_beside_it_alone() -> None:
    made = reached("four_point")
    rows = slice(10, 20)
    around = [np.full_like(part, 7) for part in (made.observation, made.mask, made.state)]
    found = order_suits(
        made.observation[rows], made.mask[rows], made.rules, out=(around[0][rows], around[1][rows])
    )
    rename_suits(made.state[rows], found.order, made.rules, out=around[2][rows])
    for array in around:
        assert not (array[rows] == 7).all()
        assert (array[:10] == 7).all()
        assert (array[20:] == 7).all()


UNFIT = {
    "type": (lambda a: a.astype(np.uint8), "int8"),
    "rows": (lambda a: a[:-1].copy(), "of shape"),
    "width": (lambda a: a[:, :-1].copy(), "of shape"),
    "dimensions": (lambda a: a[None].copy(), "of shape"),
    "memory": (np.asfortranarray, "C-contiguous"),
    "read-only": (lambda a: np.broadcast_to(a, a.shape), "writeable"),
    "source": (lambda a: a, "shares memory"),
}


@pytest.mark.parametrize(("unfit", "named"), UNFIT.values(), ids=UNFIT)
def test_out__that_is_not_fit_is_refused(unfit: Any, named: str) -> None:
    made = reached("four_point")
    observation, mask, state = (part[:5].copy() for part in made[1:])
    good = np.empty_like(observation), np.empty_like(mask)
    with pytest.raises(ValueError, match=rf"out\[0\].*{named}"):
        order_suits(observation, mask, made.rules, out=(unfit(observation), good[1]))
    with pytest.raises(ValueError, match=rf"out\[1\].*{named}"):
        order_suits(observation, mask, made.rules, out=(good[0], unfit(mask)))
    order = order_suits(observation, mask, made.rules).order
    with pytest.raises(ValueError, match=rf"out .*{named}"):
        rename_suits(state, order, made.rules, out=unfit(state))


def test_order_suits__refuses_another_number_of_masks() -> None:
    made = reached("four_point")
    with pytest.raises(ValueError, match="4 masks for 5 observations"):
        order_suits(made.observation[:5], made.mask[:4], made.rules)


@pytest.mark.parametrize("action", [-1, 62, 2**40])
def test_original_actions__refuses_what_is_no_action(action: int) -> None:
    order = np.tile(np.arange(4), (3, 1))
    with pytest.raises(ValueError, match=rf"actions\[1\]={action} is none of 0..61"):
        original_actions(np.array([61, action, 0]), order, PRESETS["schmier"])


def test_order__of_another_shape_is_refused() -> None:
    made = reached("four_point")
    found = order_suits(made.observation[:4], made.mask[:4], made.rules)
    for order in (found.order[:3], found.order[:, :2], found.order[0]):
        with pytest.raises(ValueError, match="order of shape"):
            rename_suits(made.state[:4], order, made.rules)
        with pytest.raises(ValueError, match="order of shape"):
            original_actions(np.zeros(4, np.int64), order, made.rules)
        with pytest.raises(ValueError, match="order of shape"):
            original_columns(found.mask, order, made.rules)
    with pytest.raises(ValueError, match="values of shape"):
        original_columns(found.mask[:, :-1], found.order, made.rules)


def test_order__that_names_no_suit_is_refused() -> None:
    made = reached("four_point")
    for wrong in (-1, 4):
        order = np.full((len(made.state), 4), wrong)
        with pytest.raises(ValueError, match=rf"order names suits {wrong}\.\.{wrong}, expected 0\.\.3"):
            rename_suits(made.state, order, made.rules)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_])
def test_order_suits__refuses_entries_that_are_not_int8(dtype: type) -> None:
    shown = SelfPlayVectorEnv(2, "four_point", seed=1).reset()
    with pytest.raises(ValueError, match="int8"):
        order_suits(shown.observation.astype(dtype), shown.mask, make_rules("four_point"))
    with pytest.raises(ValueError, match="masks"):
        order_suits(shown.observation, shown.mask.astype(dtype), make_rules("four_point"))
