"""What a seat sees and what the whole table is, as flat `int8` vectors of named pieces.

`observation_layout(rules)` and `state_layout(rules)` name every piece with its slice, shape and meaning; sizes and
offsets are derived from them, here and in the kernels that write. A view is seen from a seat: seats
and teams are counted clockwise from it, 0 is itself. `state()` is the same seen from seat 0, with all that is hidden.
Values are flags, 0 or 1, or numbers saturated to -100..100; `observation_scale(rules)` brings numbers to about 1.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, get_args

import numpy as np

from smear_env._typing import (
    AllPass,
    Ending,
    Float32Array,
    GameTie,
    Int8Array,
    JokerOrder,
    RecordArray,
)
from smear_env.engine.state import PHASE_NAMES
from smear_env.rules import Rules, preset_of

SATURATED = 100


@dataclass(frozen=True)
class Piece:
    """One named part of a vector: `vector[piece.slice].reshape(piece.shape)`."""

    name: str
    start: int
    shape: tuple[int, ...]
    meaning: str
    largest: int
    """Usual largest value by the preset; 1 for flags. Numbers are divided by it in the scale."""

    @property
    def size(self) -> int:
        """How many entries the piece has."""
        return math.prod(self.shape)

    @property
    def slice(self) -> slice:
        """Where the piece stands in the vector."""
        return slice(self.start, self.start + self.size)


MAX_OPTIONS = 32

OFFSETS_DTYPE = np.dtype(
    [
        # Start of each piece in a vector; 0 for a piece the vector lacks.
        *(
            (name, np.int64)
            for name in (
                *("hand", "taken", "discarded", "unseen", "trick", "played"),
                *("bids", "bid", "bidder", "dealer", "turn", "leader", "trump", "phase", "voids", "captured"),
                *("discard_order", "stock", "trick_of", "exchanged", "tricks_done"),
                *("card_points", "scores", "to_target", "options"),
            )
        ),
        ("team_slots", np.int64),
        ("flag_count", np.int64),  # flags come first; the rest are numbers
        ("option_count", np.int64),
        ("option_row", np.int8, (MAX_OPTIONS,)),  # the `options` piece itself
    ]
)
"""What kernels know of a vector and of the options of the rules it belongs to."""


def team_slots(rules: Rules) -> int:
    """Teams a layout has room for: the preset's, so that it does not depend on options."""
    return max(preset_of(rules.name).teams, rules.teams)


def option_values(rules: Rules) -> dict[str, tuple[int, int]]:
    """Every rule option as (value, largest value); enumerated options as one flag for each value."""
    numbers = {
        "stock_to_bidder": (rules.stock_to_bidder, 3),
        "exchange": (rules.exchange, 3),
        "hand_size": (rules.hand_size, 6),
        "teams": (rules.teams, 3),
        "target": (rules.target, 21),
    }
    flags = {
        name: (int(getattr(rules, name)), 1)
        for name in (
            *("dealer_takes_stock", "exchange_exactly", "may_trump", "lead_trump_first", "protect_scoring"),
        )
    }
    binary = {
        "failed_bid=points": (int(rules.failed_bid == "points"), 1),
        "high_low=in_play": (int(rules.high_low == "in_play"), 1),
        "low_to=winner": (int(rules.low_to == "winner"), 1),
        "both_out=bidder": (int(rules.both_out == "bidder"), 1),
    }
    enumerated = {
        f"{name}={choice}": (int(getattr(rules, name) == choice), 1)
        for name, hint in (("game_tie", GameTie), ("ending", Ending), ("all_pass", AllPass))
        for choice in get_args(hint)
    }
    # An option of two jokers has entries only where there are two: the layouts of other games stay as they were.
    jokers = {
        f"joker_order={choice}": (int(rules.joker_order == choice), 1)
        for choice in get_args(JokerOrder)
        if rules.second_joker
    }
    return {**numbers, **flags, **binary, **enumerated, **jokers}


_Pieces = list[tuple[str, tuple[int, ...], str, int]]


def _public_flags(rules: Rules) -> _Pieces:
    cards, seats, suits = len(rules.card_names), rules.players, len(rules.suits)
    bids = rules.max_bid - rules.min_bid + 1
    scoring = rules.point_names[:-1]
    return [
        ("trick", (seats, cards), "the card each seat has on the table", 1),
        ("played", (seats, cards), "cards each seat played in finished tricks", 1),
        ("bids", (seats, 1 + bids), "what each seat said: pass, then each bid; nothing yet, all 0", 1),
        ("bid", (bids,), "the highest bid so far", 1),
        ("bidder", (seats,), "who made it", 1),
        ("dealer", (seats,), "the dealer", 1),
        ("turn", (seats,), "the seat to act; all 0 after the end", 1),
        ("leader", (seats,), "who leads or led the trick on the table; all 0 before play", 1),
        ("trump", (suits,), "the trump suit; all 0 until shown or named", 1),
        ("phase", (len(PHASE_NAMES),), "one of " + ", ".join(PHASE_NAMES), 1),
        ("voids", (seats, suits), "the seat has shown that it holds none of the suit", 1),
        (
            "captured",
            (team_slots(rules), len(scoring)),
            f"scoring trumps taken in tricks: {', '.join(scoring)}",
            1,
        ),
    ]


def _public_numbers(rules: Rules) -> _Pieces:
    cards, seats, teams = len(rules.card_names), rules.players, team_slots(rules)
    preset, options = preset_of(rules.name), option_values(rules)
    return [
        ("trick_of", (cards,), "trick in which the card was played, from 1; 0 not played", preset.hand_size),
        ("exchanged", (seats,), "cards exchanged, or taken from the stock as bidder or dealer", 3),
        ("tricks_done", (1,), "finished tricks", preset.hand_size),
        ("card_points", (teams,), "card points taken in tricks", 40),
        ("scores", (teams,), "match score", preset.target),
        ("to_target", (teams,), "points short of the target", preset.target),
        ("options", (len(options),), "rule options: " + ", ".join(options), 1),
    ]


def layout_of(pieces: _Pieces) -> Mapping[str, Piece]:
    """Pieces by name, one behind the other, from name, shape, meaning and usual largest value of each."""
    layout: dict[str, Piece] = {}
    start = 0
    for name, shape, meaning, largest in pieces:
        layout[name] = Piece(name, start, shape, meaning, largest)
        start += layout[name].size
    return MappingProxyType(layout)


def _most_discards(rules: Rules) -> int:
    preset = preset_of(rules.name)
    return preset.stock_size if preset.dealer_takes_stock else 3


@lru_cache(maxsize=256)
def observation_layout(rules: Rules) -> Mapping[str, Piece]:
    """Pieces of a seat's observation by name, in order; the same for every option of a preset.

    Another deck, number of players or range of bids is another game, with a layout and actions of its own.
    """
    cards = (len(rules.card_names),)
    flags: _Pieces = [
        ("hand", cards, "own hand", 1),
        ("taken", cards, "cards drawn from the stock, also if discarded since", 1),
        ("unseen", cards, "cards this seat has not seen: in other hands, the stock or other discards", 1),
    ]
    numbers: _Pieces = [
        (
            "discard_order",
            cards,
            "own discards: 1 the first thrown, 2 the next ...; 0 others",
            _most_discards(rules),
        ),
    ]
    return layout_of(flags + _public_flags(rules) + numbers + _public_numbers(rules))


@lru_cache(maxsize=256)
def state_layout(rules: Rules) -> Mapping[str, Piece]:
    """Pieces of `state()` by name, in order; seats and teams are absolute."""
    cards, seats = len(rules.card_names), rules.players
    flags: _Pieces = [
        ("hand", (seats, cards), "each seat's hand", 1),
        ("taken", (seats, cards), "cards each seat drew from the stock, also if discarded since", 1),
        ("discarded", (seats, cards), "cards each seat threw", 1),
    ]
    numbers: _Pieces = [
        (
            "discard_order",
            (cards,),
            "place among its seat's discards, from 1; 0 others",
            _most_discards(rules),
        ),
        (
            "stock",
            (cards,),
            "cards still in the stock: 1 the next to be drawn, 2 ...; 0 others",
            preset_of(rules.name).stock_size or 1,
        ),
    ]
    return layout_of(flags + _public_flags(rules) + numbers + _public_numbers(rules))


def vector_size(layout: Mapping[str, Piece]) -> int:
    """Length of the vector a layout describes."""
    return sum(piece.size for piece in layout.values())


def layout_hash(rules: Rules) -> str:
    """16 hex digits that change whenever observation layout, scale or action names change."""
    pieces = [(p.name, p.start, p.shape, p.largest) for p in observation_layout(rules).values()]
    return hashlib.sha256(
        repr((pieces, tuple(option_values(rules)), rules.action_names)).encode()
    ).hexdigest()[:16]


@lru_cache(maxsize=256)
def observation_scale(rules: Rules) -> Float32Array:
    """Factor for each entry of an observation, shape [d] float32, read-only: `observation * scale` is about -1..1.

    It depends on the preset alone, never on options.
    """
    return _scale(observation_layout(rules), rules)


@lru_cache(maxsize=256)
def state_scale(rules: Rules) -> Float32Array:
    """As `observation_scale`, for `state()`."""
    return _scale(state_layout(rules), rules)


def _scale(layout: Mapping[str, Piece], rules: Rules) -> Float32Array:
    scale = np.concatenate([np.full(p.size, 1 / p.largest, np.float32) for p in layout.values()])
    scale[layout["options"].slice] = [1 / largest for _, largest in option_values(rules).values()]
    scale.setflags(write=False)
    return scale


@lru_cache(maxsize=256)
def offsets(rules: Rules, *, full: bool = False) -> RecordArray:
    """Piece starts of the observation or (`full`) of the state vector, [1] OFFSETS_DTYPE, read-only."""
    layout = state_layout(rules) if full else observation_layout(rules)
    options = [min(value, SATURATED) for value, _ in option_values(rules).values()]
    at = np.recarray(1, dtype=OFFSETS_DTYPE)
    at.view(np.uint8)[:] = 0
    for name, piece in layout.items():
        at[name] = piece.start
    at.team_slots = team_slots(rules)
    at.flag_count = layout["discard_order"].start
    at.option_count = len(options)
    at.option_row[0, : len(options)] = options
    runs = (at.bid - at.bids, at.voids - at.bid, at.flag_count - at.voids)
    assert max(runs) < 64, "the writers put each of these runs of flags into one word"
    at.setflags(write=False)
    return at


def pieces(vector: Int8Array, layout: Mapping[str, Piece]) -> dict[str, Any]:
    """Views of a vector [..., d] by piece name, each of shape [..., *piece.shape]."""
    return {name: vector[..., p.slice].reshape(*vector.shape[:-1], *p.shape) for name, p in layout.items()}
