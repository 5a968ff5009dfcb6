"""An observation written from what a seat knows: the inverse of `history.decode`.

For positions that come from outside the engine, as a person writes them down. No rule lives here: what follows from
what (who took a trick, who has shown a void) is the caller's to say, and `agents.search.worlds` refuses an observation
that no deal can show.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from smear_env._typing import Int8Array
from smear_env.engine.state import PHASE_NAMES
from smear_env.history import Seen
from smear_env.layout import SATURATED, observation_layout, option_values, pieces, vector_size
from smear_env.rules import Rules


def encode(seen: Seen, rules: Rules) -> Int8Array:
    """The observation [d] int8 that `decode` reads as `seen`, under `rules` with all their options.

    Raises ValueError for a card, bid or suit that the game does not have.
    """
    layout = observation_layout(rules)
    row = np.zeros(vector_size(layout), np.int8)
    part = pieces(row, layout)
    _write_own_cards(seen, rules, part)
    _write_auction(seen, rules, part)
    _write_play(seen, rules, part)
    part["phase"][PHASE_NAMES.index(seen.phase)] = 1
    for name, value in (("dealer", seen.dealer), ("turn", seen.turn), ("leader", seen.leader)):
        if value is not None:
            part[name][value] = 1
    for name, numbers in (
        ("exchanged", seen.exchanged),
        ("card_points", seen.card_points),
        ("scores", seen.scores),
        ("to_target", seen.to_target),
    ):
        part[name][: len(numbers)] = np.clip(numbers, -SATURATED, SATURATED)
    part["options"][:] = [min(value, SATURATED) for value, _ in option_values(rules).values()]
    return row


def _write_own_cards(seen: Seen, rules: Rules, part: dict[str, Any]) -> None:
    for name, cards in (("hand", seen.hand), ("taken", seen.taken), ("unseen", seen.unseen)):
        part[name][_ids(rules, cards)] = 1
    part["discard_order"][_ids(rules, seen.discards)] = np.arange(1, len(seen.discards) + 1)


def _write_auction(seen: Seen, rules: Rules, part: dict[str, Any]) -> None:
    words = ("pass", *map(str, range(rules.min_bid, rules.max_bid + 1)))
    for seat, word in seen.bids:
        part["bids"][seat, _place("bid", words, word)] = 1
    if seen.bid is not None:
        part["bid"][_place("bid", words, str(seen.bid)) - 1] = 1
    if seen.bidder is not None:
        part["bidder"][seen.bidder] = 1
    if seen.trump is not None:
        part["trump"][_place("trump", rules.suits, seen.trump)] = 1


def _write_play(seen: Seen, rules: Rules, part: dict[str, Any]) -> None:
    for number, trick in enumerate(seen.tricks, start=1):
        for seat, card in trick.cards:
            (place,) = _ids(rules, (card,))
            part["played"][seat, place] = 1
            part["trick_of"][place] = number
    for seat, card in seen.trick:
        (place,) = _ids(rules, (card,))
        part["trick"][seat, place] = 1
        part["trick_of"][place] = len(seen.tricks) + 1
    part["tricks_done"][0] = len(seen.tricks)
    for seat, suits in enumerate(seen.voids):
        for suit in suits:
            part["voids"][seat, _place("void", rules.suits, suit)] = 1
    points = rules.point_names
    for team, names in enumerate(seen.captured):
        part["captured"][team, [_place("captured", points, name) for name in names]] = 1


def _ids(rules: Rules, cards: Iterable[str]) -> list[int]:
    names = rules.card_names
    return [_place("card", names, card) for card in cards]


def _place(what: str, names: Sequence[str], name: str) -> int:
    if name not in names:
        raise ValueError(f"{what} {name!r} is none of {' '.join(names)}")
    return names.index(name)


__all__ = ["encode"]
