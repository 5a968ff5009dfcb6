"""Random positions near the end of a deal, in the engine and in the slow reference."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

from smear_env.engine.state import STATE_DTYPE
from smear_env.rules import Rules
from smear_env.transcript._engine import EngineMatch
from tests.engine_match import rules_of, stacked_deal
from tests.reference import Match, Options, random_options
from tests.reference.endgame import minimax


def both_after(options: Options, actions: list[str], hands: Any, stock: Any, dealer: int) -> Any:
    """The engine's state, [1], after these actions of a deal with these cards."""
    rules = rules_of(options)
    engine = EngineMatch(rules, dealer=dealer, max_deals=1)
    ids = {name: action for action, name in enumerate(rules.action_names)}
    engine.set_cards([ids[card] for pile in (*hands, stock) for card in pile])
    for name in actions:
        engine.act(ids[name])
    return engine.copy_states()


def small_options(rng: Random, game: str) -> Options:
    """Random options; one in three with hands so short that the first lead can be searched."""
    options = random_options(rng, game)
    if game == "mini" or rng.random() < 2 / 3:
        return options
    size = rng.choice((2, 3)) if game == "four_point" else 2
    changes: dict[str, Any] = {"hand_size": size}
    if game == "schmier" or size == 2:
        changes["protect_scoring"] = False
    if options.trump_named:
        changes["exchange"] = min(options.exchange, size)
    return replace(options, **changes)


def position(options: Options, rng: Random, left: int, *, discards: bool = False) -> tuple[Match, Any]:
    """A position of play, or of the bidder's discards, with so many cards held or fewer; reference and state [1]."""
    while True:
        match = Match(options, rng.randrange(options.players), max_deals=1)
        hands, stock = stacked_deal(options, rng)
        match.deal(hands, stock)
        actions: list[str] = []
        while match.turn is not None and not reached(match, left, discards):
            legal = match.legal()
            name = "pass" if "pass" in legal and rng.random() < 0.5 else rng.choice(legal)
            actions.append(name)
            match.act(name)
        if match.turn is not None:
            return match, both_after(options, actions, hands, stock, dealer_of(match, actions))


def dealer_of(match: Match, actions: list[str]) -> int:
    """Who dealt the deal that is being played."""
    return match.dealer


def reached(match: Match, left: int, discards: bool) -> bool:
    """Whether this is such a position."""
    if discards:
        return match.phase == "discard" and not match.options.dealer_takes_stock
    return match.phase == "play" and sum(map(len, match.hands)) <= left


def true_values(match: Match) -> dict[str, int]:
    """Value of each legal action, for the team of the seat to act, by exhaustive search."""
    from tests.reference.endgame import after

    assert match.turn is not None
    team = match.turn % match.options.teams
    return {name: minimax(after(match, name), team, 0) for name in match.legal()}


__all__ = ["STATE_DTYPE", "Rules", "np", "position", "small_options", "true_values"]
