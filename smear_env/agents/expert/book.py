"""The fitted tables and weights of expert as one record that kernels take, and where they are kept.

`weights-GAME.json` holds the weight of each rule in each role under its name, `tables-GAME-STOCK.safetensors` the
tables of the auction, those of other options under the options' names. All are written by
`python -m smear_env.agents.expert.fit`. No pickle is read.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save

from smear_env._typing import RecordArray
from smear_env.cards import MAX_CARDS
from smear_env.engine.tables import TRUMPS, compile_tables
from smear_env.rules import MAX_SEATS, Rules, make_rules

PLAIN, CAUTIOUS, AGGRESSIVE = range(3)
"""Styles: how much more than a pass a bid must promise."""

KEYS = 7
OTHER_TRUMPS = 4
SIDE_CARDS = 4
CELLS = OTHER_TRUMPS * SIDE_CARDS << KEYS
"""Cells that hands fall into; see `hand`."""
MAX_MADE = 6
FIRST_HAND, DEALER_HAND, SEEN_STOCK = range(3)
"""Whose hand a cell is: a bidder's before the stock, the dealer's, the bidder's once he has seen the stock."""
ROLES = 3

HOLDERS = 3
"""Nobody has bid, a partner holds the bid, an opponent does."""
LEVELS = 7
"""Bids from the lowest on; level 0 is no bid."""
GRADES = 24
GRADES_PER_POINT = 4
"""Strength of a hand in the auction: quarters of a point promised."""

CONTEXTS = (
    *("lead as bidder", "lead as partner", "lead as defender"),
    *("follow as bidder", "follow as partner", "follow as defender"),
    *("last as bidder", "last as partner", "last as defender"),
    *("bidder discards", "dealer discards", "exchange"),
)
LEAD, FOLLOW, LAST = 0, 3, 6
BIDDER_DISCARDS, DEALER_DISCARDS, EXCHANGES = 9, 10, 11
FEATURES = 40

BOOK_DTYPE = np.dtype(
    [
        # Of the rules.
        ("key", np.int8, (TRUMPS, KEYS)),  # key trumps of each suit, -1 none
        ("side_value", np.uint64),  # aces and tens
        ("tens", np.uint64),  # the richest cards
        ("stronger", np.uint64, (TRUMPS, MAX_CARDS)),  # cards of a card's suit that outrank it under a trump
        ("scores", np.uint64, (TRUMPS,)),  # cards that score for who wins them
        # Fitted.
        (
            "makes",
            np.float32,
            (ROLES, CELLS, MAX_MADE),
        ),  # chance that the bidder's team makes 1, 2 ... points or more
        ("others", np.float32, (MAX_MADE + 1,)),  # the other teams' mean points when it makes 0, 1, 2 ...
        ("passed", np.float32, (MAX_SEATS, HOLDERS, LEVELS, GRADES)),  # value of passing
        ("outbid", np.float32, (MAX_SEATS, LEVELS)),  # chance that a bid is raised
        ("raised", np.float32, (MAX_SEATS, LEVELS, GRADES)),  # value then
        (
            "shift",
            np.float32,
            (MAX_SEATS, HOLDERS, LEVELS),
        ),  # what a bid that stands is worth beyond its cell
        ("weights", np.float32, (len(CONTEXTS), FEATURES)),
    ],
    align=True,
)
FITTED = ("makes", "others", "passed", "outbid", "raised", "shift")

STOCKS = {
    "four_point": (0, 1, 2, 3),
    "schmier": (0,),
    "mini": (0, 1, 2),
    "six_point": (0, 1, 2, 3),
    "setback": (0,),
    "racehorse": (0,),
}
"""Sizes of `stock_to_bidder` that have tables of their own."""
OPTION_TABLES: dict[str, tuple[dict[str, Any], ...]] = {
    "four_point": (
        {"low_to": "winner"},
        {"low_to": "winner", "stock_to_bidder": 0},
        {"high_low": "in_play"},
        {"min_bid": 4},
        {"stock_to_bidder": 6},
        {"stock_to_bidder": 8},
        {"trump_named": True, "stock_to_bidder": 0, "dealer_takes_stock": True},
    ),
    "schmier": (
        {"exchange": 0},
        {"exchange": 1},
        {"teams": 2},
        {"teams": 2, "exchange": 0},
        {"players": 4, "teams": 2},
        {"teams": 6},
        {"low_to": "winner"},
        {"failed_bid": "points"},
        {"dealer_takes_stock": False},
        {"exchange": 0, "dealer_takes_stock": False},
        {"teams": 2, "exchange": 0, "dealer_takes_stock": False},
    ),
    "mini": ({"min_bid": 3},),
    "six_point": (),
    "setback": (),
    "racehorse": (),
}
"""Other options that have: those under which hands are worth something else than under the preset's."""
DISTANCE = {
    "dealer_takes_stock": 4.0,
    "teams": 4.0,
    "trump_named": 1.0,
    "players": 1.0,
    "exchange": 1.0,
    "min_bid": 1.0,
    "stock_to_bidder": 1.0,
    "failed_bid": 3.0,
    "all_pass": 0.5,
    "low_to": 2.0,
    "may_trump": 0.7,
    "high_low": 0.6,
}
"""How far a difference in an option changes what a bid is worth, against others."""

_FOLDER = Path(__file__).parent / "data"


@lru_cache(maxsize=64)
def load_book(rules: Rules) -> RecordArray:
    """Tables for these rules, [1] BOOK_DTYPE: those fitted to the nearest options of the preset.

    A preset that nothing was fitted to, as one of the user's own, has those of the nearest options of any that names
    trump as it does and has the same bowers and jokers; ValueError where there are none.
    """
    if rules.name in STOCKS:
        return book_from(rules, nearest_options(rules, fitted_options(rules.name)))
    return book_from(rules, _nearest_game(rules))


def _nearest_game(rules: Rules) -> Rules:
    """Of all rules with tables those nearest to a game without; of several those with a deck of about the same size."""
    alike = [
        fitted
        for preset in STOCKS
        for fitted in fitted_options(preset)
        if (fitted.trump_named, fitted.bowers, fitted.joker_names)
        == (rules.trump_named, rules.bowers, rules.joker_names)
    ]
    if not alike:
        raise ValueError(
            f"expert has no tables for rules={rules.name!r}, nor for a game like it: trump_named={rules.trump_named}, "
            f"bowers={rules.bowers} and {len(rules.joker_names)} jokers; choose another player, or fit it "
            "(CONTRIBUTING.md, 'Add a game of the family')"
        )
    size = len(rules.card_names)
    return min(alike, key=lambda fitted: (_distance(rules, fitted), abs(len(fitted.card_names) - size)))


def book_from(rules: Rules, fitted: Rules) -> RecordArray:
    """Tables for these rules, [1] BOOK_DTYPE, from those of `fitted`."""
    book = blank_book(rules)
    for field, values in _brought_over(_tables(table_name(fitted)), fitted, rules).items():
        book[field][0] = values
    book["weights"][0] = read_weights(fitted.name)
    return book


def table_name(rules: Rules) -> str:
    """Name of the tables fitted for these rules: `four_point-3`, the stock, and other options that differ."""
    changed = {name: value for name, value in rules.options().items() if name != "stock_to_bidder"}
    parts = [rules.name, str(rules.stock_to_bidder), *(f"{name}={value}" for name, value in changed.items())]
    return "-".join(parts)


def fitted_stocks(preset: str) -> list[Rules]:
    """The preset with each size of the stock that has tables of its own."""
    return [make_rules(preset, stock_to_bidder=stock) for stock in STOCKS[preset]]


def fitted_options(preset: str) -> list[Rules]:
    """All rules that have tables of their own: those of each stock, then those of `OPTION_TABLES`."""
    return [*fitted_stocks(preset), *(make_rules(preset, **options) for options in OPTION_TABLES[preset])]


def nearest_options(rules: Rules, among: list[Rules]) -> Rules:
    """Of rules with tables those that differ least in what a bid is worth; the first of several."""
    return min(among, key=lambda fitted: _distance(rules, fitted))


def _distance(rules: Rules, other: Rules) -> float:
    """How much two sets of options differ; numbers by their difference."""
    total = 0.0
    for name, weight in DISTANCE.items():
        one, two = getattr(rules, name), getattr(other, name)
        if type(one) is int:
            total += weight * abs(one - two)
        else:
            total += weight * (one != two)
    return total


def _brought_over(tables: dict[str, Any], fitted: Rules, rules: Rules) -> dict[str, Any]:
    """Tables with each bid at its level under other limits of the bid, and others' points by the number of teams."""
    shift = rules.min_bid - fitted.min_bid
    levels = np.clip(np.arange(LEVELS) + shift, 1, LEVELS - 1)
    levels[0] = 0
    moved = dict(tables)
    for field, axis in (("passed", 2), ("outbid", 1), ("raised", 1), ("shift", 2)):
        moved[field] = np.take(tables[field], levels, axis=axis)
    moved["outbid"][:, min(rules.max_bid - rules.min_bid + 1, LEVELS - 1) :] = 0  # nobody can
    moved["others"] = tables["others"] * np.float32((fitted.teams - 1) / (rules.teams - 1))
    return moved


def blank_book(rules: Rules) -> Any:
    """A book [1] with what follows from the rules alone, nothing fitted."""
    t = compile_tables(rules)[0]
    records = np.recarray(1, dtype=BOOK_DTYPE)
    records.view(np.uint8)[:] = 0
    # A plain array of records: a kernel takes it faster.
    book = np.array(records.view(np.ndarray))
    b = book[0]
    b["key"][:] = -1
    for card in range(t.cards):
        if t.card_points[card] >= 10 or rules.card_names[card][0] == "A":
            b["side_value"] |= np.uint64(1 << card)
        if t.card_points[card] >= 10:
            b["tens"] |= np.uint64(1 << card)
    for trump in range(-1, len(rules.suits)):
        for card in range(t.cards):
            b["stronger"][trump, card] = sum(
                1 << other
                for other in range(t.cards)
                if t.suit_of[trump, other] == t.suit_of[trump, card]
                and t.strength[trump, other] > t.strength[trump, card]
            )
        if trump >= 0:
            captures = [int(card) for card in t.capture[trump] if card >= 0]
            if rules.low_to == "winner":
                captures.append(int(t.low_card[trump]))
            b["scores"][trump] = sum(1 << card for card in captures)
            b["key"][trump] = _key_trumps(t, rules, trump)
    return book


def _key_trumps(t: RecordArray, rules: Rules, trump: int) -> list[int]:
    trumps = [card for card in range(t.cards) if t.suit_of[trump, card] == trump]
    trumps.sort(key=lambda card: -int(t.strength[trump, card]))
    low = int(t.low_card[trump])
    jokers = [rules.card_names.index(name) for name in rules.joker_names] or [-1]
    rest = KEYS - 1 - len(jokers)
    top = [card for card in trumps if card not in (low, *jokers)][:rest]
    return [*top, *[-1] * (rest - len(top)), low, *jokers]


@lru_cache(maxsize=16)
def _tables(name: str) -> dict[str, Any]:
    stored = load_file(_FOLDER / f"tables-{name}.safetensors")
    stored["makes"] = stored["makes"].astype(np.float32) / 65535
    return stored


def save_tables(name: str, book: Any) -> None:
    """Write the tables of a book's row to their file; chances as 16-bit parts of 1."""
    stored = {field: np.ascontiguousarray(book[field]) for field in FITTED}
    stored["makes"] = np.rint(np.clip(stored["makes"], 0, 1) * 65535).astype(np.uint16)
    _FOLDER.mkdir(exist_ok=True)
    (_FOLDER / f"tables-{name}.safetensors").write_bytes(save(stored))


def read_weights(preset: str) -> Any:
    """Weights [contexts, features] float32 of a preset's game."""
    from smear_env.agents.expert.features import NAMES

    path = _FOLDER / f"weights-{preset}.json"
    stored = json.loads(path.read_text(encoding="utf-8"))
    weights = np.zeros((len(CONTEXTS), FEATURES), np.float32)
    for row, context in enumerate(CONTEXTS):
        for column, feature in enumerate(NAMES[context]):
            weights[row, column] = stored[context].get(feature, 0.0)
    return weights


def save_weights(preset: str, weights: Any) -> None:
    """Write weights [contexts, features] by name, rounded to four digits."""
    from smear_env.agents.expert.features import NAMES

    named = {
        context: {
            feature: round(float(weights[row, column]), 4) for column, feature in enumerate(NAMES[context])
        }
        for row, context in enumerate(CONTEXTS)
    }
    _FOLDER.mkdir(exist_ok=True)
    path = _FOLDER / f"weights-{preset}.json"
    path.write_text(json.dumps(named, indent=1) + "\n", encoding="utf-8")
