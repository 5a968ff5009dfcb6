"""Games small enough for the slow reference, and the exact trees that tests share."""

from __future__ import annotations

from functools import cache
from typing import Any

from smear_env import Rules, make_rules
from training.exact import Tree, build_tree

ONE_CARD = {"suits": "CS", "ranks": "7JA", "hand_size": 1, "max_bid": 3}
"""120 deals with a stock card to draw, and no choice in the play."""
NO_STOCK = {"suits": "CS", "ranks": "JA", "stock_to_bidder": 0}
"""6 deals of all four cards, with bids and plays."""
PASSED_OUT = {**NO_STOCK, "all_pass": "same_dealer", "failed_bid": "points"}
BIDS_ALONE = {"suits": "C", "ranks": "7JA", "hand_size": 1, "stock_to_bidder": 0, "max_bid": 3}
"""6 deals and nothing but bids: few enough pure strategies to try them all."""
TWO_CARDS = {"suits": "CS", "ranks": "7JA"}
"""180 deals with everything that mini has."""
SMALL: dict[str, dict[str, Any]] = {
    "one card": ONE_CARD,
    "no stock": NO_STOCK,
    "passed out": PASSED_OUT,
    "bids alone": BIDS_ALONE,
}


def small_rules(options: dict[str, Any]) -> Rules:
    return make_rules("mini", **options)


@cache
def tree_of(**options: Any) -> Tree:
    """One tree for all tests of a process; nothing writes to it."""
    return build_tree(make_rules("mini", **options))
