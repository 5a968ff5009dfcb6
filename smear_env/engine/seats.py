"""Seats around the table, counted clockwise. No division: one costs more than the rest of a step."""

from __future__ import annotations

import numpy as np

from smear_env._jit import inline_kernel
from smear_env._typing import RecordArray, as_int


@inline_kernel
def seat_after(t: RecordArray, seat: int, steps: int) -> int:
    """The seat `steps` clockwise from `seat`, 0 <= steps < players."""
    other = as_int(seat) + steps
    return other - t.players if other >= t.players else other


@inline_kernel
def steps_to(t: RecordArray, seat: int, other: int) -> int:
    """How many steps clockwise `other` sits from `seat`."""
    steps = as_int(other) - seat
    return steps + t.players if steps < 0 else steps


@inline_kernel
def turned(packed: np.uint64, width: int, count: int, first: int) -> np.uint64:
    """The lowest `count` groups of `width` bits, fewer than 64, with group `first` put first and the order kept."""
    start = np.uint64(first * width)
    size = np.uint64(count * width)
    whole = (np.uint64(1) << size) - np.uint64(1)
    packed &= whole
    return ((packed >> start) | (packed << (size - start))) & whole


@inline_kernel
def calls(t: RecordArray) -> int:
    """What a seat may say in the auction: pass, and the bids."""
    return as_int(t.max_bid) - t.min_bid + 2


@inline_kernel
def team_after(t: RecordArray, seat: int, steps: int) -> int:
    """The team `steps` further on from that of `seat`, 0 <= steps < teams."""
    team = as_int(t.team_of[seat]) + steps
    return team - t.teams if team >= t.teams else team
