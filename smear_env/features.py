"""What a card player reads off a position at a glance: numbers worked out from an observation, for networks.

A stack of layers has to learn from examples what beats what, over and over for each suit; here it is looked up in the
rules' tables. Nothing is added that the observation does not say. Features are counted from the seat to act, as
observations are, and are worked out of positions whose suits are in order, so that they have that order too.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from smear_env._jit import kernel
from smear_env._typing import Float32Array, Int8Array, RecordArray, as_int
from smear_env.cards import MAX_CARDS
from smear_env.engine.tables import TRUMPS, compile_tables
from smear_env.layout import Piece, layout_of, observation_layout, vector_size
from smear_env.rules import Rules, preset_of

FEATURES_DTYPE = np.dtype(
    [
        ("width", np.int64),  # features of a position; 0 where a network takes none
        *((name, np.int64) for name in ("players", "suits", "cards")),
        # Where pieces begin in an observation, and where those of the features do.
        *((name, np.int64) for name in ("hand", "unseen", "trick", "voids", "leader", "trump")),
        *((name, np.int64) for name in ("takes", "above", "below", "taker", "lying", "trick_points")),
        *((name, np.int64) for name in ("led", "left", "may_hold", "points_left")),
        # The game's tables (`engine.tables`).
        ("suit_of", np.int8, (TRUMPS, MAX_CARDS)),
        ("strength", np.int8, (TRUMPS, MAX_CARDS)),
        ("claim", np.int8, (TRUMPS, MAX_CARDS)),
        ("worth", np.int8, (MAX_CARDS,)),  # card points
    ]
)


@lru_cache(maxsize=64)
def feature_layout(rules: Rules) -> Mapping[str, Piece]:
    """Pieces of the features by name, in order; the same for every option of a preset."""
    rules = preset_of(rules.name)
    cards, seats, suits = (len(rules.card_names),), rules.players, len(rules.suits)
    return layout_of(
        [
            ("takes", cards, "own cards that would hold the trick as it lies; all, in leading", 1),
            ("above", cards, "for each own card, unseen ones of its suit that beat it", 4),
            ("below", cards, "for each own card, unseen ones of its suit that it beats", 4),
            ("taker", (seats,), "the seat whose card holds the trick; all 0 before a lead", 1),
            ("lying", (seats,), "how many cards lie on the table: 0, 1 ...", 1),
            ("trick_points", (1,), "card points on the table", 10),
            ("led", (suits,), "the suit led; all 0 before a lead", 1),
            ("left", (suits,), "unseen cards of each suit, the left bower and jokers among trumps", 4),
            (
                "may_hold",
                (seats, suits),
                "the seat may hold the suit: it is unseen, and no void was shown",
                1,
            ),
            ("points_left", (1,), "card points of the unseen cards", 40),
        ]
    )


@lru_cache(maxsize=64)
def feature_scale(rules: Rules) -> Float32Array:
    """Factor for each feature, [f] float32, read-only: `features * scale` is about 0..1."""
    layout = feature_layout(rules)
    scale = np.concatenate([np.full(p.size, 1 / p.largest, np.float32) for p in layout.values()])
    scale.setflags(write=False)
    return scale


def write_table(row: RecordArray, rules: Rules) -> None:
    """Fill a FEATURES_DTYPE record for a game."""
    rules = preset_of(rules.name)
    (tables,) = compile_tables(rules)
    row.width = vector_size(feature_layout(rules))
    row.players, row.suits, row.cards = rules.players, len(rules.suits), len(rules.card_names)
    for layout in (observation_layout(rules), feature_layout(rules)):
        for name in FEATURES_DTYPE.names or ():
            if name in layout:
                setattr(row, name, layout[name].start)
    for name in ("suit_of", "strength", "claim"):
        row[name] = tables[name]
    row.worth[:] = tables.card_points


@kernel
def write_features(f: RecordArray, observations: Int8Array, out: Int8Array) -> None:
    """Write the features of observations [B, d or more] into the last columns of out [B, ...]."""
    first = out.shape[1] - f.width
    for i in range(len(observations)):
        seen, to = observations[i], out[i, first:]
        to[:] = 0
        trump, leader = -1, as_int(0)
        for suit in range(f.suits):
            if seen[f.trump + suit] != 0:
                trump = suit
        for seat in range(f.players):
            if seen[f.leader + seat] != 0:
                leader = as_int(seat)
        best = _read_trick(f, seen, leader, trump, to)
        _count_unseen(f, seen, trump, to)
        for card in range(f.cards):
            if seen[f.hand + card] == 0:
                continue
            suit = f.suit_of[trump, card]
            if best < 0:
                to[f.takes + card] = 1
            elif suit == f.suit_of[trump, best] or suit == trump:
                to[f.takes + card] = f.claim[trump, card] > f.strength[trump, best]
            for other in range(f.cards):
                if suit >= 0 and seen[f.unseen + other] != 0 and f.suit_of[trump, other] == suit:
                    to[f.above + card] += f.strength[trump, other] > f.strength[trump, card]
                    to[f.below + card] += f.strength[trump, other] < f.strength[trump, card]


@kernel
def _read_trick(f: RecordArray, seen: Int8Array, leader: int, trump: int, to: Int8Array) -> int:
    """Write what lies on the table; returns the card that holds the trick, -1 before a lead."""
    best, lying, points = as_int(-1), 0, 0
    for turn in range(f.players):
        seat = (leader + turn) % f.players
        card = as_int(-1)
        for one in range(f.cards):
            if seen[f.trick + seat * f.cards + one] != 0:
                card = as_int(one)
        if card < 0:
            continue
        suit = f.suit_of[trump, card]
        if lying == 0 and suit >= 0:
            to[f.led + suit] = 1
        holds = suit == trump or (best >= 0 and suit == f.suit_of[trump, best])
        if best < 0 or (holds and f.claim[trump, card] > f.strength[trump, best]):
            best = card
            to[f.taker : f.taker + f.players] = 0
            to[f.taker + seat] = 1
        lying += 1
        points += f.worth[card]
    to[f.lying + min(lying, f.players - 1)] = 1
    to[f.trick_points] = points
    return best


@kernel
def _count_unseen(f: RecordArray, seen: Int8Array, trump: int, to: Int8Array) -> None:
    """Write what is unseen of each suit and who may hold it."""
    points = 0
    for card in range(f.cards):
        if seen[f.unseen + card] != 0:
            points += f.worth[card]
            suit = f.suit_of[trump, card]
            if suit >= 0:
                to[f.left + suit] += 1
    to[f.points_left] = points
    for seat in range(1, f.players):
        for suit in range(f.suits):
            if to[f.left + suit] > 0 and seen[f.voids + seat * f.suits + suit] == 0:
                to[f.may_hold + seat * f.suits + suit] = 1
