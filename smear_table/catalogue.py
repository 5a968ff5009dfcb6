"""What can be chosen when a table is laid: games, their options, and who may sit in a seat."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from functools import cache
from typing import Any, get_args, get_type_hints

from smear_env import (
    PRESETS,
    CheckpointError,
    Rules,
    agent_names,
    checkpoints_folder,
    find_checkpoint,
    make_rules,
    read_policy,
)
from smear_table.pace import SPEEDS
from smear_table.session import HUMAN, RefusedError, Seat, Setup, clean_name

GAMES = {
    "four_point": (
        "Four Point Smear",
        "Four players in two teams, 32 cards. The first card led shows trump.",
    ),
    "schmier": ("Schmier", "Six players in three teams, 53 cards with bowers and a joker. Trump is named."),
    "six_point": ("Six Point Smear", "Four Point Smear with two jokers, played to 21."),
    "setback": ("Setback", "Auction Pitch for four in two teams, 52 cards, no stock."),
    "racehorse": ("Racehorse Pitch", "Setback with the 32 cards from seven to ace: quick and sharp."),
}
"""Presets that people play, with a title and a line about each. `mini` is for exact analysis only."""

_TEXTS: dict[str, tuple[str, dict[Any, str]]] = {
    "target": ("Played to", {}),
    "stock_to_bidder": ("Cards the bidder takes", {}),
    "exchange": ("Cards each may exchange", {}),
    "exchange_exactly": ("Exchange all or none", {}),
    "teams": ("Teams", {3: "three of two", 2: "two of three"}),
    "failed_bid": ("A failed bid costs", {"bid": "the bid", "points": "what was earned"}),
    "high_low": (
        "High and Low",
        {"void": "ace and lowest card only", "in_play": "highest and lowest in play"},
    ),
    "low_to": ("Low goes to", {"holder": "who played it", "winner": "who won it"}),
    "game_tie": (
        "Game, when tied",
        {"nobody": "to nobody", "bidder": "to the bidder", "non_bidder": "to the others"},
    ),
    "may_trump": ("Trump although able to follow", {}),
    "lead_trump_first": ("First lead must be trump", {}),
    "protect_scoring": ("Scoring trumps are never discarded", {}),
    "ending": (
        "The match ends",
        {
            "any": "on any deal",
            "made_deal": "on a deal whose bid was made",
            "made_bid": "for the team that made its bid",
            "cap": "for others only at the target",
        },
    ),
    "both_out": (
        "Several teams at the target",
        {"highest": "the highest wins", "bidder": "the bidder first"},
    ),
    "all_pass": (
        "If everybody passes",
        {
            "same_dealer": "the same dealer deals",
            "next_dealer": "the next one deals",
            "dealer_bids": "the dealer must bid",
        },
    ),
    "joker_order": (
        "Of two jokers in a trick",
        {"first": "the first played wins", "second": "the second wins", "big": "the big one wins"},
    ),
}
_ONLY = {
    "stock_to_bidder": ("four_point", "six_point"),
    "exchange": ("schmier",),
    "exchange_exactly": ("schmier",),
    "teams": ("schmier",),
    "lead_trump_first": ("schmier",),
    "joker_order": ("six_point",),
}
_NUMBERS = {"stock_to_bidder": [0, 1, 2, 3], "exchange": [0, 1, 2, 3], "teams": [3, 2]}
_TARGETS = {15: [7, 11, 15, 21], 21: [11, 15, 21, 31], 11: [7, 11, 15, 21]}

_PLAYERS = {
    "expert": ("Expert", "bids by tables, plays by weighed rules"),
    "expert-cautious": ("Cautious expert", "the same, bidding less"),
    "expert-aggressive": ("Bold expert", "the same, bidding more"),
    "greedy": ("Greedy", "takes the points in sight"),
    "passer": ("Passer", "bids only if it must"),
    "random": ("Random", "anything that is allowed"),
}
_SEARCHING = {
    "pimc-20": ("Searcher", "tries its cards in twenty likely deals"),
    "ismcts-500": ("Tree searcher", "grows a tree over likely deals"),
}
_WORLDS = 50


def options_of(game: str) -> list[dict[str, Any]]:
    """Each option of a game with its choices, the preset's value first named as `value`."""
    preset = PRESETS[game]
    hints = get_type_hints(Rules)
    found = []
    for name, (label, words) in _TEXTS.items():
        if game not in _ONLY.get(name, (game,)):
            continue
        value = getattr(preset, name)
        if name == "target":
            choices: list[Any] = _TARGETS[value]
        elif name in _NUMBERS:
            choices = _NUMBERS[name]
        else:
            choices = [False, True] if hints[name] is bool else list(get_args(hints[name]))
        if name == "game_tie" and preset.teams != 2:
            choices = [choice for choice in choices if choice != "non_bidder"]
        texts = [
            words.get(one, {True: "yes", False: "no"}.get(one, str(one)) if hints[name] is bool else str(one))
            for one in choices
        ]
        found.append(
            {
                "name": name,
                "label": label,
                "value": value,
                "choices": [[a, b] for a, b in zip(choices, texts, strict=True)],
            }
        )
    return found


@cache
def players_of(game: str) -> list[dict[str, str]]:
    """Who may sit in a seat of a game: shipped policies, with search and without, searching and scripted players."""
    rows = []
    for folder in sorted(path.parent for path in checkpoints_folder().glob("*/policy.json")):
        try:
            preset = read_policy(find_checkpoint(folder.name))["preset"]
        except CheckpointError:
            continue
        if preset == game:
            rows.append((folder.name, f"Policy {folder.name}", "the trained network"))
            rows.append(
                (
                    f"{folder.name}+search-{_WORLDS}",
                    f"Policy {folder.name} with search",
                    "the network, trying what it doubts",
                )
            )
    known = agent_names()
    rows += [(name, *words) for name, words in _PLAYERS.items() if name in known]
    rows += [(name, *words) for name, words in _SEARCHING.items()]
    return [{"player": name, "label": label, "about": about} for name, label, about in rows]


@cache
def catalogue() -> dict[str, Any]:
    """Everything the page for laying a table needs."""
    return {
        "games": [
            {
                "game": game,
                "title": title,
                "about": about,
                "players": PRESETS[game].players,
                "teams": PRESETS[game].teams,
                "options": options_of(game),
                "agents": players_of(game),
            }
            for game, (title, about) in GAMES.items()
        ]
    }


def checked_rules(game: object, options: object) -> tuple[str, dict[str, Any]]:
    """A game and the options that differ from its preset; RefusedError names what is wrong."""
    if not isinstance(game, str) or game not in GAMES:
        raise RefusedError(f"game must be one of {', '.join(GAMES)}.", "malformed")
    if not isinstance(options, dict):
        raise RefusedError("options must be an object of option names and values.", "malformed")
    known = {option["name"]: [choice for choice, _ in option["choices"]] for option in options_of(game)}
    for name, value in options.items():
        # `True == 1`: the type counts too.
        if name not in known or not any(value == one and type(value) is type(one) for one in known[name]):
            raise RefusedError(
                f"options: {name[:32]!r} is no option of {game}, or has no such value.", "malformed"
            )
    try:
        make_rules(game, **options)
    except ValueError as error:
        raise RefusedError(f"These options contradict each other: {error}.", "malformed") from error
    preset = PRESETS[game]
    return game, {name: value for name, value in options.items() if value != getattr(preset, name)}


def checked_player(game: str, player: object) -> str:
    """HUMAN or an agent of the game; RefusedError otherwise."""
    # A list, of which a browser may send any, has no hash: compared, not looked up.
    if player not in [HUMAN, *(one["player"] for one in players_of(game))]:
        raise RefusedError(f"seats: {str(player)[:32]!r} cannot sit at a table of {game}.", "malformed")
    return str(player)


def read_setup(data: Mapping[str, Any]) -> tuple[Setup, str]:
    """The setup and speed of a new table; RefusedError names the field that is wrong."""
    unknown = sorted(set(data) - {"game", "options", "seats", "practice", "speed"})
    if unknown:
        raise RefusedError(f"{unknown[0][:32]!r} is no field of a table.", "malformed")
    game, options = checked_rules(data.get("game"), data.get("options", {}))
    speed, practice = data.get("speed", "normal"), data.get("practice", False)
    if not isinstance(speed, str) or speed not in SPEEDS:
        raise RefusedError(f"speed must be one of {', '.join(SPEEDS)}.", "malformed")
    if not isinstance(practice, bool):
        raise RefusedError("practice must be true or false.", "malformed")
    given = data.get("seats")
    players = make_rules(game, **options).players
    if (
        not isinstance(given, list)
        or len(given) != players
        or not all(isinstance(one, dict) for one in given)
    ):
        raise RefusedError(f"seats must be a list of {players}, each with a player and a name.", "malformed")
    seats = tuple(
        Seat(checked_player(game, one.get("player")), clean_name(one.get("name", ""), f"Seat {index}"))
        for index, one in enumerate(given)
    )
    if not any(seat.player == HUMAN for seat in seats):
        raise RefusedError("At least one seat must be a person's.", "malformed")
    return Setup(game, options, seats, secrets.randbits(64), practice), speed
