"""How a match begins: the `options` of `reset`, checked and turned into what the engine wants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from smear_env._typing import Int8Array, Int64Array
from smear_env.engine.deal import DRAWN
from smear_env.rules import MAX_SEATS, Rules
from smear_env.vector import is_integer

LOWEST_SCORE = -10_000

_START_KEYS = ("deal", "scores", "dealer", "game")
_DEAL_KEYS = ("dealer", "hands", "stock")
# What else a transcript says of a deal. It is no part of the setup, but a deal may be taken from a transcript whole.
_RECORD_KEYS = (
    *("actions", "legal", "redeal", "bid", "bidder", "trump"),
    *("points", "card_points", "made", "delta", "scores"),
)


class Start(NamedTuple):
    """A checked beginning of a match."""

    game: int | None
    """Number of the game, None for the next."""
    dealer: int
    """First dealer, DRAWN if not given."""
    scores: Int64Array
    """[MAX_SEATS] int64 start scores by team."""
    order: Int8Array | None
    """[cards] int8, card ids as `deal.set_cards` wants them, None for cards from the seed."""


def read_start(options: Mapping[str, Any] | None, rules: Rules) -> Start:
    """Check the `options` of `reset`.

    Known keys: `deal` (`dealer`, `hands`, `stock` as in a transcript, whose other keys are ignored), `scores` by team,
    `dealer` (first dealer's seat) and `game` (number of the game of the seed). Raises `ValueError` naming what is
    wrong.
    """
    if options is not None and not isinstance(options, Mapping):
        raise ValueError(f"options={options!r} must be a mapping with any of {', '.join(_START_KEYS)}")
    given = dict(options or {})
    # PettingZoo's own tests call `reset(options={"options": 1})` to see that options are taken.
    given.pop("options", None)
    _refuse_unknown("reset options", given, _START_KEYS)
    dealer = _read_dealer(given["dealer"], rules) if given.get("dealer") is not None else DRAWN
    order = None
    if given.get("deal") is not None:
        deal = given["deal"]
        if not isinstance(deal, Mapping):
            raise ValueError(f"deal={deal!r} must be a mapping with {', '.join(_DEAL_KEYS)}")
        _refuse_unknown("deal", deal, (*_DEAL_KEYS, *_RECORD_KEYS))
        order = _read_cards(deal, rules)
        if deal.get("dealer") is not None:
            dealt_by = _read_dealer(deal["dealer"], rules)
            if dealer not in (DRAWN, dealt_by):
                raise ValueError(f"dealer={dealer} contradicts the deal's dealer={dealt_by}")
            dealer = dealt_by
    return Start(_read_game(given.get("game")), dealer, _read_scores(given.get("scores"), rules), order)


def _refuse_unknown(where: str, given: Mapping[str, Any], known: Sequence[str]) -> None:
    unknown = [key for key in given if key not in known]
    if unknown:
        raise ValueError(f"{where}: unknown {', '.join(map(repr, unknown))}; known: {', '.join(known)}")


def _read_dealer(dealer: Any, rules: Rules) -> int:
    if not is_integer(dealer) or not 0 <= dealer < rules.players:
        raise ValueError(f"dealer={dealer!r} must be a seat 0..{rules.players - 1}")
    return int(dealer)


def _read_game(game: Any) -> int | None:
    if game is None:
        return None
    if not is_integer(game) or not 0 <= game < 2**62:
        raise ValueError(f"game={game!r} must be an integer from 0 on")
    return int(game)


def _read_scores(scores: Any, rules: Rules) -> Int64Array:
    start = np.zeros(MAX_SEATS, np.int64)
    if scores is None:
        return start
    try:
        values = [] if isinstance(scores, Mapping) else list(scores)
    except TypeError:
        values = []
    if len(values) != rules.teams or not all(map(is_integer, values)):
        raise ValueError(f"scores={scores!r} must be {rules.teams} integers, one for each team")
    if not all(LOWEST_SCORE <= value < rules.target for value in values):
        raise ValueError(
            f"scores={scores!r} must lie below target={rules.target} and not below {LOWEST_SCORE}"
        )
    start[: rules.teams] = values
    return start


def _read_cards(deal: Mapping[str, Any], rules: Rules) -> Int8Array:
    hands = deal.get("hands")
    if isinstance(hands, str) or not isinstance(hands, Sequence) or len(hands) != rules.players:
        raise ValueError(f"deal: hands={hands!r} must be {rules.players} hands, seat 0 first")
    piles = {f"hand {seat}": _split(hand, f"hand {seat}") for seat, hand in enumerate(hands)}
    piles["stock"] = _split(deal.get("stock", ""), "stock")
    card_id = {name: index for index, name in enumerate(rules.card_names)}
    for where, pile in piles.items():
        unknown = [name for name in pile if name not in card_id]
        if unknown:
            raise ValueError(f"deal: {where} has {' '.join(unknown)}, not in the deck of {rules.name}")
    dealt = [name for pile in piles.values() for name in pile]
    twice = [name for name, times in Counter(dealt).items() if times > 1]
    if twice:
        raise ValueError(f"deal: {' '.join(twice)} dealt more than once")
    missing = [name for name in card_id if name not in set(dealt)]
    if missing:
        raise ValueError(f"deal: {' '.join(missing)} missing from hands and stock")
    for where, pile in piles.items():
        expected = rules.stock_size if where == "stock" else rules.hand_size
        if len(pile) != expected:
            raise ValueError(f"deal: {where} has {len(pile)} cards, not {expected}")
    return np.array([card_id[name] for name in dealt], np.int8)


def _split(pile: Any, where: str) -> list[str]:
    cards = pile.split() if isinstance(pile, str) else pile
    if not isinstance(cards, Sequence) or not all(isinstance(card, str) for card in cards):
        raise ValueError(f"deal: {where}={pile!r} must be card names, as in 'AS TD'")
    return list(cards)
