"""How many ways there are to put classes of cards into piles, and one of them drawn, each equally likely.

Piles that may hold the same classes are one group. Classes are dealt to groups one after another; `table[step,
state]` counts the ways to finish from a step (a class and a group) on, where the state is what every group
still lacks, in a mixed radix. With `m` cards of a class, `k` of them to each group, there are `m! / (k! k!
...)` ways; the factors `1 / k!` stand in the table and those that all ways share are left out. Counts are
doubles: exact to about 15 digits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from smear_env._jit import kernel
from smear_env._typing import Float64Array, Int64Array
from smear_env.agents.search.known import CLASSES, PILES
from smear_env.agents.seen import Whole
from smear_env.engine.deal import mix

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_UNIT = 1.0 / (1 << 53)


class Ways(NamedTuple):
    """The ways to fill a set of piles."""

    total: float  # how many, times a factor that depends on the sizes of piles and classes alone
    groups: Whole
    group_of: Int64Array  # [PILES] group of each pile, -1 an empty one
    group_size: Int64Array  # [PILES] cards a group takes
    group_allowed: Int64Array  # [PILES] bit c: it may hold class c
    radix: Int64Array  # [PILES] of its lack in a state
    class_size: Int64Array  # [CLASSES]
    table: Float64Array  # [CLASSES * groups + 1, states]
    required: Whole  # the group that must take a card of `required_class`, -1 none
    required_class: Whole


@kernel
def count_ways(
    class_size: Int64Array, size: Int64Array, allowed: Int64Array, required_pile: Whole, required_class: Whole
) -> Ways:
    """Count the ways to put all cards into piles [PILES] of given size and allowed classes.

    The pile `required_pile` (-1 none) must hold a card of `required_class`.
    """
    group_of = np.full(PILES, -1, np.int64)
    group_size, group_allowed = np.zeros(PILES, np.int64), np.zeros(PILES, np.int64)
    groups = 0
    for pile in range(PILES):
        if size[pile] == 0:
            continue
        joined = groups
        for group in range(groups):
            alone = pile == required_pile or (group_of[max(0, required_pile)] == group and required_pile >= 0)
            if group_allowed[group] == allowed[pile] and not alone:
                joined = group
                break
        group_of[pile] = joined
        group_allowed[joined] = allowed[pile]
        group_size[joined] += size[pile]
        groups = max(groups, joined + 1)
    radix = np.ones(PILES, np.int64)
    states = 1
    for group in range(groups):
        radix[group] = states
        states *= group_size[group] + 1
    table = np.zeros((CLASSES * groups + 1, states))
    required = group_of[required_pile] if required_pile >= 0 else np.int64(-1)
    ways = Ways(
        0.0,
        groups,
        group_of,
        group_size,
        group_allowed,
        radix,
        class_size,
        table,
        required,
        required_class,
    )
    fill_table(ways)
    total = table[0, states - 1]
    for group in range(groups):
        for k in range(2, group_size[group] + 1):
            total *= k
    return Ways(
        total,
        groups,
        group_of,
        group_size,
        group_allowed,
        radix,
        class_size,
        table,
        required,
        required_class,
    )


@kernel
def fill_table(ways: Ways) -> None:
    """Fill the table from the last step to the first."""
    groups = ways.groups
    states = ways.table.shape[1]
    lacks = np.zeros(states, np.int64)
    for state in range(states):
        for group in range(groups):
            lacks[state] += lack(ways, state, group)
    ways.table[CLASSES * groups, 0] = 1.0
    later = 0
    for c in range(CLASSES - 1, -1, -1):
        for group in range(groups - 1, -1, -1):
            step = c * groups + group
            for state in range(states):
                left = lacks[state] - later
                if 0 <= left <= ways.class_size[c]:
                    low, high = choices(ways, c, group, state, left)
                    inverse = inverse_factorial(low)
                    total = 0.0
                    for k in range(low, high + 1):
                        total += inverse * ways.table[step + 1, state - k * ways.radix[group]]
                        inverse /= k + 1
                    ways.table[step, state] = total
        later += ways.class_size[c]


@kernel
def lack(ways: Ways, state: Whole, group: Whole) -> Whole:
    """How many cards a group lacks in a state."""
    return state // ways.radix[group] % (ways.group_size[group] + 1)


@kernel
def choices(ways: Ways, c: Whole, group: Whole, state: Whole, left: Whole) -> tuple[Whole, Whole]:
    """Fewest and most of the `left` cards of class `c` that a group may take; none where the first is larger."""
    most = min(left, lack(ways, state, group))
    if ways.group_allowed[group] >> c & 1 == 0:
        most = np.int64(0)
    fewest = left if group == ways.groups - 1 else np.int64(0)
    if group == ways.required and c == ways.required_class:
        fewest = max(fewest, np.int64(1))
    return fewest, most


@kernel
def inverse_factorial(k: Whole) -> float:
    """1 / k!."""
    inverse = 1.0
    for factor in range(2, k + 1):
        inverse /= factor
    return inverse


@kernel
def draw_way(ways: Ways, generator: np.uint64, taken: Int64Array) -> np.uint64:
    """Write how many cards of each class each group takes, [CLASSES, PILES]; returns the generator's next state."""
    groups = ways.groups
    state = ways.table.shape[1] - 1
    for c in range(CLASSES):
        left = ways.class_size[c]
        for group in range(groups):
            step = c * groups + group
            low, high = choices(ways, c, group, state, left)
            chosen = low
            if low < high:
                generator += _GOLDEN
                rest = (mix(generator) >> np.uint64(11)) * _UNIT * ways.table[step, state]
                inverse = inverse_factorial(low)
                for k in range(low, high + 1):
                    share = inverse * ways.table[step + 1, state - k * ways.radix[group]]
                    inverse /= k + 1
                    if share > 0.0:
                        chosen = k
                        rest -= share
                        if rest < 0.0:
                            break
            taken[c, group] = chosen
            left -= chosen
            state -= chosen * ways.radix[group]
    return generator
