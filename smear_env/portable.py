"""How positions come before a network, as plain arrays: for graphs in other frameworks, which cannot call kernels.

The kernels of `suits.py` and `features.py` work on the same tables. `training/graph.py` is written on these alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from smear_env._typing import Int64Array
from smear_env.engine.tables import compile_tables
from smear_env.rules import Rules, preset_of
from smear_env.suits import SUITS, suits_of


class PortableTables(NamedTuple):
    """What `order_suits` and `original_columns` know of a game.

    S suits, C cards, d entries of an observation, n actions. For an entry that belongs to a suit, it says to which, and
    how far the same entry of the next suit is: in another order of suits, an entry of the suit in place p shows what
    stood `distance * (order[p] - p)` entries further.
    """

    entry_suit: Int64Array
    """[d] the suit of an entry of an observation; 0 for one of no suit."""
    entry_distance: Int64Array
    """[d] entries to the same of the next suit; 0 for an entry of no suit."""
    action_suit: Int64Array
    """[n] the suit of an action; 0 for one of no suit."""
    action_distance: Int64Array
    """[n] as `entry_distance`, among actions."""
    mate: Int64Array
    """[S] the suit of the same colour, which comes second, where there are bowers; [0] where there are none."""
    suit_of: Int64Array
    """[S + 1, C] the suit that a card counts as under each trump and, last, without one; -1 a joker without trump."""
    strength: Int64Array
    """[S + 1, C] order of cards within their suit."""
    claim: Int64Array
    """[S + 1, C] a card takes the trick from one of less strength than this, in its suit or as trump."""
    card_points: Int64Array
    """[C] for Game."""


def portable_tables(rules: Rules) -> PortableTables:
    """The tables of a game's preset; fresh arrays."""
    rules = preset_of(rules.name)
    game, row = suits_of(rules), suits_of(rules).table.view(SUITS)[0]
    suits, ranks = int(row.suits), int(row.ranks)
    entry_suit, entry_distance = (np.zeros(game.observation, np.int64) for _ in range(2))
    of_game = row.observation
    for starts, width in (
        (of_game.cards[: of_game.card_rows], ranks),
        (of_game.suits[: of_game.suit_rows], 1),
    ):
        for start in starts:
            entry_suit[start : start + suits * width] = np.repeat(np.arange(suits), width)
            entry_distance[start : start + suits * width] = width
    actions = slice(0, game.actions)
    (tables,) = compile_tables(rules)
    # The last row of all is that of no trump, however many suits there are.
    trumps, cards = [*range(suits), -1], slice(0, len(rules.card_names))
    suit_of, strength, claim = (
        tables[name][trumps, cards].astype(np.int64) for name in ("suit_of", "strength", "claim")
    )
    return PortableTables(
        entry_suit,
        entry_distance,
        row.place[actions].copy(),
        row.named[1, actions] - row.named[0, actions],
        row.mate[:suits].copy() if row.bowers else np.empty(0, np.int64),
        suit_of,
        strength,
        claim,
        tables.card_points[cards].astype(np.int64),
    )
