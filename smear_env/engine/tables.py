"""`Rules` compiled once into arrays, so that kernels follow suit, win tricks and score by look-up.

Every rule that depends on trump is a table with one row per suit and a last row for "no trump known", which
the sentinel trump `-1` selects. Bowers and jokers live in the tables alone: the left bower is in the trump
suit's mask and not in its own, so following and winning need no branch on the game. Two jokers of which the
first or the second played wins have one strength; what they claim differs.
"""

from __future__ import annotations

from functools import lru_cache
from typing import get_args

import numpy as np

from smear_env._typing import AllPass, Ending, GameTie, RecordArray
from smear_env.cards import MAX_CARDS
from smear_env.rules import MAX_POINTS, MAX_SEATS, MAX_SUITS, Rules

TRUMPS = MAX_SUITS + 1
MAX_CAPTURES = 4

# Values of enumerated options, in the order of their types in `_typing`.
GAME_TIE_NOBODY, GAME_TIE_BIDDER, GAME_TIE_NON_BIDDER = range(len(get_args(GameTie)))
ENDING_ANY, ENDING_MADE_DEAL, ENDING_MADE_BID, ENDING_CAP = range(len(get_args(Ending)))
SAME_DEALER, NEXT_DEALER, DEALER_BIDS = range(len(get_args(AllPass)))

TABLES_DTYPE = np.dtype(
    [
        ("suit_mask", np.uint64, (TRUMPS, MAX_SUITS)),  # cards of a suit under a trump
        ("protected", np.uint64, (TRUMPS,)),  # scoring trumps that may not be discarded, or 0
        ("deck", np.uint64),  # every card
        ("suit_of", np.int8, (TRUMPS, MAX_CARDS)),  # suit of a card under a trump, -1 a joker without trump
        ("strength", np.int8, (TRUMPS, MAX_CARDS)),  # order within the card's suit; trumps are above 64
        ("claim", np.int8, (TRUMPS, MAX_CARDS)),  # a card takes the trick from one of less strength than this
        ("card_points", np.int8, (MAX_CARDS,)),  # for Game
        ("high_card", np.int8, (TRUMPS,)),  # ace of trump
        ("low_card", np.int8, (TRUMPS,)),  # lowest trump of the deck's suit
        ("capture", np.int8, (TRUMPS, MAX_CAPTURES)),  # cards that score for their winner, -1 none
        ("captures", np.int8),  # how many of them this game has
        ("points", np.int8),  # kinds of point: high, low, captures, game
        ("players", np.int8),
        ("teams", np.int8),
        ("cards", np.int8),
        ("suits", np.int8),
        ("team_of", np.int8, (MAX_SEATS,)),  # team of a seat
        ("hand_size", np.int8),
        ("min_bid", np.int8),
        ("max_bid", np.int8),
        ("target", np.int16),
        ("trump_named", np.int8),
        ("stock_to_bidder", np.int8),
        ("dealer_takes_stock", np.int8),
        ("exchange", np.int8),
        ("exchange_exactly", np.int8),
        ("may_trump", np.int8),
        ("lead_trump_first", np.int8),
        ("protect_scoring", np.int8),
        ("failed_costs_points", np.int8),
        ("high_low_in_play", np.int8),
        ("low_to_winner", np.int8),
        ("game_tie", np.int8),
        ("ending", np.int8),
        ("bidder_first_out", np.int8),
        ("all_pass", np.int8),
    ],
    align=True,
)

_CARD_POINTS = {"A": 4, "K": 3, "Q": 2, "J": 1, "T": 10}
_JOKER_CARD_POINTS = 1
SAME_COLOUR = {"C": "S", "S": "C", "D": "H", "H": "D"}
_TRUMP_BASE = 64


@lru_cache(maxsize=256)
def compile_tables(rules: Rules) -> RecordArray:
    """The tables of one `Rules` as a record array of shape [1], read-only."""
    tables = np.recarray(1, dtype=TABLES_DTYPE)
    tables.view(np.uint8)[:] = 0
    row = tables[0]
    _write_options(row, rules)
    _write_cards(row, rules)
    tables.setflags(write=False)
    return tables


def _write_options(row: RecordArray, rules: Rules) -> None:
    for name in (
        *("players", "teams", "hand_size", "min_bid", "max_bid", "target", "trump_named", "stock_to_bidder"),
        *("dealer_takes_stock", "exchange", "exchange_exactly", "may_trump", "lead_trump_first"),
        "protect_scoring",
    ):
        setattr(row, name, getattr(rules, name))
    row.cards = len(rules.card_names)
    row.team_of[:] = [seat % rules.teams for seat in range(MAX_SEATS)]
    row.suits = len(rules.suits)
    row.captures = len(rules.capture_names)
    row.points = len(rules.point_names)
    row.failed_costs_points = rules.failed_bid == "points"
    row.high_low_in_play = rules.high_low == "in_play"
    row.low_to_winner = rules.low_to == "winner"
    row.bidder_first_out = rules.both_out == "bidder"
    row.game_tie = get_args(GameTie).index(rules.game_tie)
    row.ending = get_args(Ending).index(rules.ending)
    row.all_pass = get_args(AllPass).index(rules.all_pass)


def trump_order(rules: Rules, trump: str) -> tuple[str, ...]:
    """Names of all trumps, lowest first, when `trump` (a suit letter) is trump."""
    plain = [rank + trump for rank in rules.ranks]
    if rules.bowers:
        right, left = "J" + trump, "J" + SAME_COLOUR[trump]
        plain.remove(right)
        queen = plain.index("Q" + trump) if "Q" + trump in plain else len(plain) - 1
        plain[queen:queen] = [left, right]
    return (*rules.joker_names, *plain)


def _write_cards(row: RecordArray, rules: Rules) -> None:
    names = rules.card_names
    card_id = {name: index for index, name in enumerate(names)}
    row.deck = (1 << len(names)) - 1
    for name, index in card_id.items():
        joker = name in rules.joker_names
        row.card_points[index] = _JOKER_CARD_POINTS if joker else _CARD_POINTS.get(name[0], 0)
    row.capture[:] = -1
    row.high_card[:] = row.low_card[:] = row.suit_of[:] = -1
    for trump in range(-1, len(rules.suits)):
        for suit, letter in enumerate(rules.suits):
            for position, rank in enumerate(rules.ranks):
                row.suit_of[trump, card_id[rank + letter]] = suit
                row.strength[trump, card_id[rank + letter]] = position
        if trump >= 0:
            _write_trump(row, rules, trump, card_id)
        _write_claims(row, rules, trump, card_id)
        for suit in range(len(rules.suits)):
            members = (card for card in range(len(names)) if row.suit_of[trump, card] == suit)
            row.suit_mask[trump, suit] = sum(1 << card for card in members)


def _write_trump(row: RecordArray, rules: Rules, trump: int, card_id: dict[str, int]) -> None:
    letter = rules.suits[trump]
    for position, name in enumerate(trump_order(rules, letter)):
        row.suit_of[trump, card_id[name]] = trump
        row.strength[trump, card_id[name]] = _TRUMP_BASE + position
    row.high_card[trump] = card_id[rules.ranks[-1] + letter]
    row.low_card[trump] = card_id[rules.ranks[0] + letter]
    capture_card = {
        "jack": "J" + letter,
        "right": "J" + letter,
        "left": "J" + SAME_COLOUR[letter],
        "joker": "JK",
        "big_joker": "BJ",
        "little_joker": "LJ",
    }
    for index, point in enumerate(rules.capture_names):
        row.capture[trump, index] = card_id[capture_card[point]]
    if rules.protect_scoring:
        scoring = {int(row.high_card[trump]), int(row.low_card[trump])}
        scoring |= {int(card) for card in row.capture[trump] if card >= 0}
        row.protected[trump] = sum(1 << card for card in scoring)


def _write_claims(row: RecordArray, rules: Rules, trump: int, card_id: dict[str, int]) -> None:
    """What cards claim is their strength, but for two jokers that are equal until played."""
    row.claim[trump] = row.strength[trump]
    if trump < 0 or not rules.second_joker or rules.joker_order == "big":
        return
    for name in rules.joker_names:
        row.strength[trump, card_id[name]] = _TRUMP_BASE
        row.claim[trump, card_id[name]] = _TRUMP_BASE + (rules.joker_order == "second")


assert MAX_POINTS >= MAX_CAPTURES + 3, "room for high, low, captures and game"
