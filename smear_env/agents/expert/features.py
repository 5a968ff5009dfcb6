"""The rules of play as numbers: what speaks for and against each card; `docs/expert.md` has a sentence for each name.

A card's worth is the sum of its features by the weights of the role in which it is played (`book.CONTEXTS`). All
features are about 0 to 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from smear_env._jit import kernel
from smear_env._typing import Float32Array, RecordArray, as_int
from smear_env.agents.expert.book import CONTEXTS, FEATURES
from smear_env.agents.seen import Seen, Whole
from smear_env.cards import bit, count, drop_lowest, has, lowest

_NONE = np.uint64(0)

LEAD_NAMES = (
    *("wins", "wins own points", "risks points", "wins scoring card", "risks scoring card"),
    *("trump", "top trump", "draws trumps", "trumps out", "trump from length", "draws scoring card"),
    *("trump rank", "side rank", "side top", "wins side", "makes void", "partner void", "opponents void"),
    *("ten", "low trump", "strips guard", "side length", "ten of suit out", "critical", "late trump"),
    *("late top", "suit out", "ten behind", "wins late", "top but one", "first lead rank", "last trumps"),
)
FOLLOW_NAMES = (
    *("wins", "wins table points", "wins own points", "risks points", "wins table scoring card"),
    *("wins scoring card", "risks scoring card", "trump", "ruff", "top trump", "trump rank", "side rank"),
    *("side top", "takes", "takes from partner", "takes for lead", "makes void", "bares ten", "ten"),
    *("low trump", "strips guard", "critical", "sloughs", "side length", "critical scoring card"),
    *(
        "takes dearly",
        "takes early",
        "sloughs top",
        "ruff for ten",
        "ruff for nothing",
        "late trump",
        "late top",
    ),
    *("points to the bidder", "scoring card to the bidder", "wins late", "ruffs last"),
)
THROW_NAMES = (
    *("any", "points", "ten", "top", "rank", "makes void", "suit length", "guarded ten", "second"),
    *("trump", "trump rank", "scoring card", "low trump", "for partner", "for bidder", "ten long"),
    *("points long", "top long", "bare ten", "alone with top"),
)
NAMES = {
    context: LEAD_NAMES if context.startswith("lead") else FOLLOW_NAMES if index < 9 else THROW_NAMES
    for index, context in enumerate(CONTEXTS)
}
assert max(map(len, NAMES.values())) <= FEATURES


class Table(NamedTuple):
    """What is on the table, and what is still to be won."""

    trump: Whole
    led: Whole  # suit led, -1 when leading
    best_seat: Whole  # who wins the trick so far, -1 when leading
    best_card: Whole
    points: float  # card points on the table, and about 1 for each card to come
    scoring: float  # cards that score for their winner on the table
    waiting: Whole  # seats that still play after this one
    live: float  # how open Game is: 0 when decided, 1 when level
    critical: float  # 1 when every point still open decides the bid
    trumps_out: np.uint64  # trumps not seen
    partner_voids: Whole  # suits that partners have shown void of, a bit each
    opponent_voids: Whole  # suits that an opponent has shown void of
    lapse: float  # share of the tricks done


@kernel
def lead_features(
    t: RecordArray, b: RecordArray, v: Seen, a: Table, card: Whole, chance: float, out: Float32Array
) -> None:
    """Write the features of leading a card that wins the trick for our side with `chance`."""
    out[:] = 0
    suit = as_int(t.suit_of[a.trump, card])
    is_trump = suit == a.trump
    above = b.stronger[a.trump, card] & v.unseen
    top = 1.0 if above == _NONE else 0.0
    points = a.live * t.card_points[card] / 10.0
    ten = 1.0 if has(b.tens, card) else 0.0
    trumps = v.hand & t.suit_mask[a.trump, a.trump]
    out_count = count(a.trumps_out)
    out[0] = chance
    out[1] = chance * points
    out[2] = points
    if has(b.scores[a.trump], card):
        out[3] = chance
        out[4] = 1.0
    out[18] = ten
    out[23] = a.critical * chance
    out[25] = top * a.lapse
    out[28] = chance * a.lapse
    out[29] = 1.0 if count(above) == 1 else 0.0
    if is_trump:
        out[5] = 1.0
        out[6] = top
        out[7] = top if out_count > 0 else 0.0
        out[8] = min(out_count, 8) / 8.0
        out[9] = count(trumps) / 6.0
        if b.scores[a.trump] & a.trumps_out != _NONE:
            out[10] = top
        out[11] = (out_count - count(above)) / max(1.0, np.float64(out_count))
        if card == t.low_card[a.trump]:
            out[19] = 1.0
        out[20] = guards(b, v, a.trump, card)
        out[24] = a.lapse
        if v.tricks_done == 0:
            out[30] = (t.strength[a.trump, card] - 64) / 8.0
        out[31] = 1.0 if out_count == 0 else 0.0
    else:
        mine = v.hand & t.suit_mask[a.trump, suit]
        hidden = v.unseen & t.suit_mask[a.trump, suit]
        out[12] = t.strength[a.trump, card] / 8.0
        out[13] = top
        out[14] = chance
        if count(mine) == 1 and trumps != _NONE:
            out[15] = 1.0
        out[16] = 1.0 if (a.partner_voids >> suit) & 1 else 0.0
        out[17] = 1.0 if (a.opponent_voids >> suit) & 1 else 0.0
        out[21] = count(mine) / 6.0
        out[22] = 1.0 if hidden & b.tens != _NONE else 0.0
        out[26] = min(count(hidden), 8) / 8.0
        if mine & b.tens != _NONE and ten == 0.0:
            out[27] = 1.0


@kernel
def follow_features(
    t: RecordArray,
    b: RecordArray,
    v: Seen,
    a: Table,
    card: Whole,
    takes: bool,
    chance: float,
    out: Float32Array,
) -> None:
    """Write the features of following with a card; `takes`: it wins so far, `chance`: our side wins in the end."""
    out[:] = 0
    suit = as_int(t.suit_of[a.trump, card])
    above = b.stronger[a.trump, card] & v.unseen
    top = 1.0 if above == _NONE else 0.0
    points = a.live * t.card_points[card] / 10.0
    table_points = a.live * a.points / 10.0
    out[0] = chance
    out[1] = chance * table_points
    out[2] = chance * points
    out[3] = points
    out[4] = chance * a.scoring
    if has(b.scores[a.trump], card):
        out[5] = chance
        out[6] = 1.0
        out[24] = a.critical * chance
    out[24] += a.critical * chance * a.scoring
    out[18] = 1.0 if has(b.tens, card) else 0.0
    out[21] = a.critical * chance
    if suit == a.trump:
        rank = (count(a.trumps_out) - count(above)) / max(1.0, np.float64(count(a.trumps_out)))
        follow_with_trump(t, b, v, a, card, takes, rank, top, out)
    else:
        rank = t.strength[a.trump, card] / 8.0
        follow_with_side_card(t, b, v, a, card, rank, top, out)
    out[31] = top * a.lapse
    out[34] = chance * a.lapse
    bidding_team = v.bidder % t.teams
    if not takes and bidding_team > 0 and a.best_seat % t.teams == bidding_team:
        out[32] = (1.0 - chance) * (points + table_points)
        out[33] = (1.0 - chance) * (a.scoring + out[6])
    if takes:
        out[13] = 1.0
        if a.best_seat % t.teams == 0:
            out[14] = 1.0
        if a.waiting == 0:
            out[15] = 1.0 - a.lapse
            out[25] = rank
        else:
            out[26] = rank


@kernel
def follow_with_trump(
    t: RecordArray,
    b: RecordArray,
    v: Seen,
    a: Table,
    card: Whole,
    takes: bool,
    rank: float,
    top: float,
    out: Float32Array,
) -> None:
    """Write what concerns a trump: `rank` is the share of the trumps out that are below it, `top` 1 if all are."""
    out[7] = 1.0
    out[9] = top
    out[10] = rank
    if card == t.low_card[a.trump]:
        out[19] = 1.0
    out[20] = guards(b, v, a.trump, card)
    out[30] = a.lapse
    if a.led != a.trump:
        out[8] = 1.0
        if a.waiting == 0 and takes:
            out[35] = 1.0
        if a.points >= 10.0:
            out[28] = 1.0
        elif a.points < 3.0 + a.waiting:
            out[29] = 1.0


@kernel
def follow_with_side_card(
    t: RecordArray, b: RecordArray, v: Seen, a: Table, card: Whole, rank: float, top: float, out: Float32Array
) -> None:
    """Write what concerns a side card: `rank` is its place in its suit, `top` 1 if no higher one is out."""
    suit = as_int(t.suit_of[a.trump, card])
    mine = v.hand & t.suit_mask[a.trump, suit]
    out[11] = rank
    out[12] = top
    if count(mine) == 1 and v.hand & t.suit_mask[a.trump, a.trump] != _NONE:
        out[16] = 1.0
    rest = mine & ~bit(card)
    if count(rest) == 1 and rest & b.tens != _NONE:
        out[17] = 1.0
    out[23] = count(mine) / 6.0
    if suit != a.led:
        out[22] = 1.0
        out[27] = top


@kernel
def guards(b: RecordArray, v: Seen, trump: Whole, card: Whole) -> float:
    """1 for a trump that stands before an unsure scoring card of the same hand."""
    scoring = v.hand & b.scores[trump] & ~bit(card)
    if scoring == _NONE or has(b.scores[trump], card):
        return 0.0
    return 1.0 if unsure(b, scoring, v.unseen, trump) else 0.0


@kernel
def unsure(b: RecordArray, cards: np.uint64, unseen: np.uint64, trump: Whole) -> bool:
    """Whether one of the cards is outranked by an unseen one."""
    while cards != _NONE:
        if b.stronger[trump, lowest(cards)] & unseen != _NONE:
            return True
        cards = drop_lowest(cards)
    return False


@kernel
def throw_features(
    t: RecordArray, b: RecordArray, v: Seen, trump: Whole, card: Whole, out: Float32Array
) -> None:
    """Write the features of throwing a card away, in the exchange or down to the hand size."""
    out[:] = 0
    suit = as_int(t.suit_of[trump, card])
    mine = v.hand & t.suit_mask[trump, suit]
    trumps = as_int(count(v.hand & t.suit_mask[trump, trump]))
    above = b.stronger[trump, card] & v.unseen
    held_above = b.stronger[trump, card] & v.hand
    ten = has(b.tens, card)
    out[0] = 1.0
    out[1] = t.card_points[card] / 10.0
    out[2] = 1.0 if ten else 0.0
    if v.bidder == 0:
        out[14] = 1.0
    elif v.bidder % t.teams == 0:
        out[13] = 1.0
    if suit == trump:
        out[9] = 1.0
        out[10] = (t.strength[trump, card] - 64) / 8.0
        out[11] = 1.0 if has(b.scores[trump], card) else 0.0
        out[12] = 1.0 if card == t.low_card[trump] else 0.0
        return
    top = 1.0 if above == _NONE else 0.0
    out[3] = top
    out[4] = t.strength[trump, card] / 8.0
    out[5] = 1.0 if count(mine) == 1 else 0.0
    out[6] = count(mine) / 6.0
    if ten:
        out[7] = 1.0 if held_above != _NONE and above == _NONE else 0.0
        out[15] = trumps / 6.0
        out[18] = 1.0 if count(mine) == 1 else 0.0
    elif mine & b.tens != _NONE:
        out[19] = top
    out[8] = 1.0 if count(above) == 1 else 0.0
    out[16] = out[1] * trumps / 6.0
    out[17] = top * trumps / 6.0
