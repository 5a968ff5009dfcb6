"""What the end of a deal is worth, and the question that a search answers: is the value at least so much?

The value of an end depends on the captures of own team and of the bidder's, and on who has Game. Game goes by
card points: own team's *lead* over the best other team. More lead is never worse (one combination of options
apart, see `has_thresholds`), so each outcome of the captures has a *threshold*: the least lead with which the
value is as high as asked. Before the end the threshold of a position is the minimax of those of its ends, shifted
by the card points won on the way. It depends on the cards left and on the thresholds of the outcomes that can
still come (the *shape* of the question), not on the card points so far: one search result serves all of these.
"""

from __future__ import annotations

import numpy as np

from smear_env._jit import inline_kernel, kernel
from smear_env._typing import RecordArray, as_int
from smear_env.engine.deal import mix
from smear_env.engine.tables import GAME_TIE_BIDDER, GAME_TIE_NOBODY, GAME_TIE_NON_BIDDER
from smear_env.solver.position import COUNTS, captures

_THRICE = np.uint64(0x9E3779B97F4A7C15)

NEVER = 1000
"""Threshold of what cannot be reached; ALWAYS of what cannot be missed. Larger than any card points."""
ALWAYS = -NEVER
GAME_OWN, GAME_BIDDER, GAME_THIRD, GAME_NOBODY = range(4)
"""Who has Game: own team, the bidder's if that is another, any other team, nobody."""


@inline_kernel
def deal_value(w: RecordArray, own_taken: int, bid_taken: int, game: int) -> int:
    """(teams - 1) * own score change - sum of the others'."""
    own = as_int(w.own_sure) + own_taken + (1 if game == GAME_OWN else 0)
    total = as_int(w.sure) + (1 if game != GAME_NOBODY else 0)
    if w.own_bids:
        others = total - own
        if own < w.bid:
            own = -own if w.failed_costs_points else -as_int(w.bid)
        return (w.teams - 1) * own - others
    bidder = as_int(w.bid_sure) + bid_taken + (1 if game == GAME_BIDDER else 0)
    third = total - own - bidder
    if bidder < w.bid:
        bidder = -bidder if w.failed_costs_points else -as_int(w.bid)
    return (w.teams - 1) * own - bidder - third


@inline_kernel
def game_of(w: RecordArray, lead: int, sign: int) -> int:
    """Who has Game: by own team's lead over the best other, and which of two others is that: 1, 2 (sign -1), both 0."""
    if lead > 0:
        return GAME_OWN
    first = GAME_THIRD if w.own_bids else GAME_BIDDER
    if w.teams == 2:
        sign = 1
    if lead == 0:
        if w.game_tie == GAME_TIE_BIDDER:
            if w.own_bids:
                return GAME_OWN
            return GAME_BIDDER if sign >= 0 else GAME_NOBODY
        if w.game_tie == GAME_TIE_NON_BIDDER:
            return GAME_THIRD if w.own_bids else GAME_OWN
        return GAME_NOBODY
    if sign > 0:
        return first
    if sign < 0:
        return GAME_THIRD
    return GAME_BIDDER if w.game_tie == GAME_TIE_BIDDER and not w.own_bids else GAME_NOBODY


@inline_kernel
def has_thresholds(w: RecordArray) -> bool:
    """Whether more card points are never worse.

    They are where a failed bid costs what was earned: a tie that gives Game to nobody, or a bidder that earns it in
    vain, then is best.
    """
    if not w.failed_costs_points:
        return True
    if w.teams != 2:
        return False
    return w.game_tie != GAME_TIE_NOBODY or not may_tie(w)


@inline_kernel
def may_tie(w: RecordArray) -> bool:
    """Whether card points may come out level: of two teams only if the lead is even should own take all the rest."""
    return w.teams != 2 or (as_int(w.lead) + w.left) % 2 == 0


@kernel
def ask(w: RecordArray, asked: int) -> None:
    """Set the question: is the value at least `asked`? Fills thresholds, bounds and shapes of all outcomes."""
    w.asked = asked
    opened = as_int(w.caught) + captures(w, w.cards)
    for own in range(opened + 1):
        for bidder in range(opened + 1 - own):
            set_thresholds(w, own, bidder)
    for left in range(1, opened + 1):
        for own in range(opened + 1 - left):
            for bidder in range(opened + 1 - left - own):
                join_outcomes(w, own, bidder, left)


@inline_kernel
def place(own: int, bidder: int, left: int) -> int:
    """Row of captures taken by own team and by the bidder's, and left."""
    return (own * COUNTS + bidder) * COUNTS + left


@inline_kernel
def set_thresholds(w: RecordArray, own: int, bidder: int) -> None:
    """The least lead that answers yes when the captures are all taken so, by which other team leads."""
    at = place(own, bidder, 0)
    upper = as_int(ALWAYS)
    lower = as_int(NEVER)
    shape = np.uint64(as_int(w.exact))
    for sign in range(-1, 2):
        if w.exact:
            highest = yes(w, own, bidder, 1, sign)
            tied = yes(w, own, bidder, 0, sign)
            below = yes(w, own, bidder, -1, sign)
            # Here the row is a set of leads that answer yes: bit 0 below, 1 tied, 2 above.
            found = (4 if highest else 0) + (2 if tied else 0) + (1 if below else 0)
            w.threshold[own * COUNTS + bidder, sign + 1] = found
            upper = max(upper, ALWAYS if found == 7 else NEVER)
            lower = min(lower, NEVER if found == 0 else ALWAYS)
            shape = shape * np.uint64(8) + np.uint64(as_int(found))
        else:
            least = as_int(NEVER)
            if yes(w, own, bidder, -1, sign):
                least = as_int(ALWAYS)
            elif w.may_tie and yes(w, own, bidder, 0, sign):
                least = as_int(0)
            elif yes(w, own, bidder, 1, sign):
                least = as_int(1)
            w.threshold[own * COUNTS + bidder, sign + 1] = least
            upper = max(upper, least)
            lower = min(lower, least)
            shape = mix(shape + np.uint64(least + 2 * NEVER))
    w.upper[at] = upper
    w.lower[at] = lower
    w.shapes[at] = mix(shape + _THRICE)


@inline_kernel
def yes(w: RecordArray, own: int, bidder: int, lead: int, sign: int) -> bool:
    """Whether an end is worth what is asked."""
    return deal_value(w, own, bidder, game_of(w, lead, sign)) >= w.asked


@inline_kernel
def join_outcomes(w: RecordArray, own: int, bidder: int, left: int) -> None:
    """Bounds and shape where a capture is open: own team takes it, the bidder's if another, or a third."""
    at = place(own, bidder, left)
    mine = place(own + 1, bidder, left - 1)
    third = place(own, bidder, left - 1)
    other = place(own, bidder + 1, left - 1)
    if w.own_bids:
        other = third
    elif w.teams == 2:
        third = other
    w.upper[at] = max(w.upper[mine], w.upper[third], w.upper[other])
    w.lower[at] = min(w.lower[mine], w.lower[third], w.lower[other])
    if w.shapes[mine] == w.shapes[third] and w.shapes[third] == w.shapes[other]:
        # Nothing hangs on this capture.
        w.shapes[at] = w.shapes[mine]
    else:
        shape = w.shapes[mine] + mix(w.shapes[third] + _THRICE) + mix(mix(w.shapes[other]) + _THRICE)
        w.shapes[at] = mix(shape)


@inline_kernel
def end_threshold(w: RecordArray, own: int, bidder: int, lead: int, gap: int) -> int:
    """Threshold at the end of a deal, in terms of the lead over side 1."""
    sign = 0 if gap == 0 else (1 if gap > 0 else -1)
    behind = min(0, gap)
    found = as_int(w.threshold[own * COUNTS + bidder, sign + 1])
    if w.exact:
        ahead = lead + behind
        relation = 0 if ahead < 0 else (1 if ahead == 0 else 2)
        return as_int(ALWAYS) if (found >> relation) & 1 else as_int(NEVER)
    return found - behind
