"""Random positions for the solver: in the slow reference, and as the engine's state."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from smear_env.transcript._engine import EngineMatch
from tests.engine_match import rules_of, stacked_deal
from tests.reference import Match, Options, random_options
from tests.reference.endgame import after, minimax


def small_options(rng: Random, game: str) -> Options:
    """Random options; one in three with hands so short that the first lead can be searched."""
    options = random_options(rng, game)
    if game == "mini" or rng.random() < 2 / 3:
        return options
    # With two jokers a hand of two could be both, which shows no trump.
    least = 3 if options.second_joker else 2
    size = rng.choice((least, 3)) if options.players == 4 else least
    keeps = options.protect_scoring and size == 3 and not options.second_joker
    exchange = min(options.exchange, size)
    return replace(options, hand_size=size, exchange=exchange, protect_scoring=keeps)


def position(options: Options, rng: Random, left: int, phase: str = "play") -> tuple[Match, EngineMatch]:
    """A random deal played at random until that phase, with so many cards held or fewer."""
    while True:
        match = Match(options, rng.randrange(options.players), max_deals=1)
        rules = rules_of(options)
        engine = EngineMatch(rules, dealer=match.dealer, max_deals=1)
        ids = {name: action for action, name in enumerate(rules.action_names)}
        hands, stock = stacked_deal(options, rng)
        match.deal(hands, stock)
        engine.set_cards([ids[card] for pile in (*hands, stock) for card in pile])
        while match.turn is not None and (match.phase != phase or sum(map(len, match.hands)) > left):
            legal = match.legal()
            name = "pass" if "pass" in legal and rng.random() < 0.5 else rng.choice(legal)
            match.act(name)
            engine.act(ids[name])
        if match.turn is not None:
            return match, engine


def ending(rng: Random, game: str, most: int) -> tuple[Match, EngineMatch]:
    """A position with at most so many cards a seat, in the midst of a trick or not, under any options."""
    options = small_options(rng, game)
    if options.hand_size < 6 and (game != "mini" or rng.random() < 0.5):
        return position(options, rng, options.players * options.hand_size)
    return position(options, rng, rng.randrange(1, most * options.players + 1))


def true_values(match: Match) -> dict[str, int]:
    """Value of each legal action for the team of the seat to act, by exhaustive search."""
    assert match.turn is not None
    team = match.turn % match.options.teams
    return {name: minimax(after(match, name), team, 0) for name in match.legal()}


def named(values: Any, engine: EngineMatch) -> dict[str, int]:
    """A row of values by card name, what may not be played left out."""
    return {engine.names[card]: int(value) for card, value in enumerate(values) if value != -32768}
