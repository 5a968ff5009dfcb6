"""Given deals: which cards lie where and who deals, checked before an environment takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from smear_env._typing import Int8Array
from smear_env.rules import Rules


def check_deals(deals: Any, rules: Rules, count: int) -> tuple[Int8Array, Int8Array]:
    """`(orders, dealers)` as int8 arrays [count, cards] and [count]; ValueError naming the first deal at fault.

    An order holds every card id once: `hand_size` cards for each seat in turn, then the stock from its top.
    """
    if not isinstance(deals, tuple) or len(deals) != 2:
        raise ValueError(f"deals of type {type(deals).__name__} must be a tuple (orders, dealers)")
    orders, dealers = (np.asarray(part) for part in deals)
    cards = len(rules.card_names)
    for name, array, shape in (("orders", orders, (count, cards)), ("dealers", dealers, (count,))):
        if array.dtype.kind not in "iu" or array.shape != shape:
            raise ValueError(
                f"deals: {name} of type {array.dtype} and shape {array.shape}, expected integers {shape} "
                f"for {count} games of {rules.name}"
            )
    wrong = np.flatnonzero((np.sort(orders, axis=1) != np.arange(cards)).any(axis=1))
    if len(wrong):
        raise ValueError(
            f"deals: order {wrong[0]} is {orders[wrong[0]].tolist()}, expected every card 0..{cards - 1} once"
        )
    nobody = np.flatnonzero((dealers < 0) | (dealers >= rules.players))
    if len(nobody):
        raise ValueError(
            f"deals: dealer {nobody[0]} is {dealers[nobody[0]]}, expected a seat 0..{rules.players - 1}"
        )
    return np.ascontiguousarray(orders, np.int8), np.ascontiguousarray(dealers, np.int8)


__all__ = ["check_deals"]
