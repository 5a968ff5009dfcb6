"""What expert bids: the call of the highest worth, a bid's chance to be made against what passing brings."""

from __future__ import annotations

import numpy as np

from smear_env._jit import inline_kernel, kernel
from smear_env._typing import Int8Array, RecordArray, as_int
from smear_env.agents.expert.book import (
    AGGRESSIVE,
    CAUTIOUS,
    DEALER_HAND,
    FIRST_HAND,
    GRADES,
    GRADES_PER_POINT,
    MAX_MADE,
)
from smear_env.agents.expert.hand import cell_of, chance_of, promised, scored
from smear_env.agents.seen import Seen, Whole

STYLE_MARGIN = 0.5
"""Points that a bid of `cautious` must promise beyond a pass, and that one of `aggressive` may lack."""


@inline_kernel
def holder_of(t: RecordArray, v: Seen) -> Whole:
    """0 nobody has bid, 1 a partner holds the bid, 2 an opponent."""
    if v.bidder < 0:
        return as_int(0)
    return as_int(1) if v.bidder % t.teams == 0 else as_int(2)


@inline_kernel
def level_of(t: RecordArray, bid: Whole) -> Whole:
    """0 for no bid, 1 for the lowest."""
    return bid - t.min_bid + 1 if bid > 0 else as_int(0)


@inline_kernel
def grade_of(points: float) -> Whole:
    """Grade of a hand that promises so many points."""
    return min(as_int(points * GRADES_PER_POINT), GRADES - 1)


@kernel
def choose_bid(
    t: RecordArray, at: RecordArray, row: Int8Array, mask: Int8Array, b: RecordArray, v: Seen, style: Whole
) -> Whole:
    """The call that is worth most, as an action id."""
    cards = as_int(t.cards)
    role = DEALER_HAND if v.dealer == 0 else FIRST_HAND
    cells = np.empty(4, np.int64)
    most = 0.0
    for suit in range(t.suits):
        cells[suit] = cell_of(t, b, v.hand, suit)
        most = max(most, promised(b, role, cells[suit]))
    grade = grade_of(most)
    left = v.dealer  # the dealer speaks last
    holder = holder_of(t, v)
    best = as_int(-1)
    worth = 0.0
    if mask[cards] != 0:
        best = cards
        worth = value_of_pass(t, at, row, v, np.float64(b.passed[left, holder, level_of(t, v.bid), grade]))
        if style == CAUTIOUS:
            worth += STYLE_MARGIN
        elif style == AGGRESSIVE:
            worth -= STYLE_MARGIN
    for bid in range(t.min_bid, t.max_bid + 1):
        level = level_of(t, bid)
        if mask[cards + level] != 0:
            stands = -100.0
            for suit in range(t.suits):
                stands = max(stands, value_of_bid(t, at, row, b, role, cells[suit], bid))
            stands += b.shift[left, holder, level]
            chance = np.float64(b.outbid[left, level])
            raised = value_of_pass(t, at, row, v, np.float64(b.raised[left, level, grade]))
            value = chance * raised + (1 - chance) * stands
            if best < 0 or value > worth:
                best = cards + level
                worth = value
    return best


@inline_kernel
def near_the_end(t: RecordArray, at: RecordArray, row: Int8Array) -> bool:
    """Whether a team may win the match within two deals, so that scores bend what points are worth."""
    highest = as_int(row[at.scores])
    for team in range(1, t.teams):
        highest = max(highest, as_int(row[at.scores + team]))
    return highest + 2 * t.max_bid >= t.target


@inline_kernel
def value_of_bid(
    t: RecordArray, at: RecordArray, row: Int8Array, b: RecordArray, role: Whole, cell: Whole, bid: Whole
) -> float:
    """What a bid that stands is worth with a cell: each number of points by its chance."""
    bends = near_the_end(t, at, row)
    total = 0.0
    for made in range(MAX_MADE + 1):
        own = scored(t, made, bid)
        others = np.float64(b.others[made])
        value = equity_change(t, at, row, own, others, own >= 0) if bends else own - others
        total += chance_of(b, role, cell, made) * value
    return total


@inline_kernel
def value_of_pass(t: RecordArray, at: RecordArray, row: Int8Array, v: Seen, mean: float) -> float:
    """What passing is worth whose points are `mean` on average.

    Near the end of a match the mean is split into the two ways in which such a deal goes: the opponents make their
    bid, or are set.
    """
    if not near_the_end(t, at, row):
        return mean
    bid = np.float64(max(v.bid, as_int(t.min_bid)))
    made, failed = -2.0, bid + 1.5
    chance = max(0.0, min(1.0, (failed - mean) / (failed - made)))
    lost = equity_change(t, at, row, 1.0, bid, True)
    won = equity_change(t, at, row, 1.5, -bid, True)
    return chance * lost + (1 - chance) * won


@kernel
def equity_change(
    t: RecordArray, at: RecordArray, row: Int8Array, own: float, others: float, own_made: bool
) -> float:
    """How far scoring `own`, the strongest rival `others`, moves the chance to win the match, in points."""
    mine = np.float64(row[at.scores])
    rival = -200.0
    for team in range(1, t.teams):
        rival = max(rival, np.float64(row[at.scores + team]))
    target = np.float64(t.target)
    spread = spread_left(target - max(mine, rival))
    before = chance_ahead((mine - rival) / spread)
    mine += own
    rival += others
    if max(mine, rival) >= target:
        after = 1.0 if mine > rival or (mine == rival and own_made) else 0.0
    else:
        after = chance_ahead((mine - rival) / spread_left(target - max(mine, rival)))
    # A chance is brought to points by what one point moves between level teams.
    return (after - before) * spread * 2.35


@inline_kernel
def spread_left(short: float) -> float:
    """Standard deviation of the difference that the deals left will make, the leader `short` of the target."""
    return 3.5 * np.sqrt(max(short, 0.0) / 2.0 + 0.5)


@inline_kernel
def chance_ahead(deviations: float) -> float:
    """Chance to stay ahead by so many standard deviations."""
    return 1.0 / (1.0 + np.exp(-1.7 * deviations))
