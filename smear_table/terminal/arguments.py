"""What the command is told, and the table that it asks for; nothing heavy is imported here."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from smear_table.session import HUMAN, Setup, Speed
from smear_table.store import tables_file


@dataclass(frozen=True)
class Play:
    """Play in the terminal: full screen, or plain lines for pipes and screen readers. Matches are kept."""

    rules: str = ""
    """Game to begin at once: four_point, schmier, six_point, setback or racehorse; else you choose on the screen."""
    options: tuple[str, ...] = ()
    """Rule options as NAME=VALUE, with --rules."""
    seat: int = 0
    """Your seat, counted from 0, clockwise."""
    name: str = ""
    """Your name."""
    agents: tuple[str, ...] = ()
    """Who sits in the other seats, from your left: one for all, or one for each; by default the game's policy.
    `human` is another person at the same screen."""
    speed: Speed = "normal"
    """How fast agents play on the full screen; plain lines never wait."""
    practice: bool = True
    """Practice, in which moves can be taken back; with --no-practice what is played stays."""
    seed: int | None = None
    """Seed of the cards, to have the same again; drawn by default."""
    resume: bool = False
    """Go on with the match laid last that is not over."""
    replay: Path | None = None
    """Look at a transcript instead: a file of JSON lines, a match a line."""
    plain: bool = False
    """Lines instead of the full screen; always so where input or output is no terminal."""
    theme: Literal["dark", "light"] = "dark"
    """Colours of the full screen."""
    tables: Path = field(default_factory=tables_file)
    """File that keeps the matches; :memory: to keep none."""


def check(chosen: Play) -> None:
    """ValueError for a flag that would be passed over in silence."""
    if not chosen.rules:
        for name in ("options", "seat", "agents", "seed"):
            value = getattr(chosen, name)
            if value != getattr(Play, name):
                words = " ".join(value) if isinstance(value, tuple) else value
                raise ValueError(f"{name}={words} is of one game: name it with --rules")


def replay_content(path: Path) -> bytes:
    """The file that is to be looked at; ValueError where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as problem:
        raise ValueError(f"replay={path} cannot be read: {problem.strerror or problem}") from problem


def asked_setup(chosen: Play) -> tuple[Setup, str]:
    """The table that the command asks for and its speed; ValueError names what is wrong. `rules` is given."""
    from smear_env import make_rules
    from smear_table.catalogue import GAMES, checked_rules, options_of, players_of, read_setup

    if chosen.rules not in GAMES:
        raise ValueError(f"rules={chosen.rules!r} must be one of {', '.join(GAMES)}")
    game, _ = checked_rules(chosen.rules, {})
    options = _options(game, options_of(game), chosen.options)
    players = make_rules(game, **checked_rules(game, options)[1]).players
    if not 0 <= chosen.seat < players:
        raise ValueError(f"seat={chosen.seat} is not at the table: {game} has seats 0 to {players - 1}")
    agents = chosen.agents or (default_agent(game),)
    if len(agents) not in (1, players - 1):
        raise ValueError(
            f"agents={' '.join(agents)!r} must be one, or {players - 1}, one for each other seat"
        )
    known = [HUMAN, *(one["player"] for one in players_of(game))]
    for agent in agents:
        if agent not in known:
            raise ValueError(
                f"agents: {agent!r} cannot sit at a table of {game}; there are {', '.join(known)}"
            )
    others = agents * (players - 1) if len(agents) == 1 else agents
    sitting = [""] * players
    sitting[chosen.seat] = HUMAN
    for index, agent in enumerate(others, 1):
        sitting[(chosen.seat + index) % players] = agent
    data = {
        "game": game,
        "options": options,
        "seats": named_seats(game, sitting, chosen.seat, chosen.name),
        "speed": chosen.speed,
        "practice": chosen.practice,
    }
    setup, speed = read_setup(data)
    if chosen.seed is None:
        return setup, speed
    if not 0 <= chosen.seed < 2**64:
        raise ValueError(f"seed={chosen.seed} must be 0 to 2**64-1")
    return replace(setup, seed=chosen.seed), speed


def default_agent(game: str) -> str:
    """Who sits in a seat unless told otherwise: the game's policy, or its best scripted player."""
    from smear_table.catalogue import players_of

    return players_of(game)[0]["player"]


def named_seats(game: str, sitting: list[str], own: int, name: str) -> list[dict[str, str]]:
    """The seats of a setup with names: agents by what they are and a number, people by name or number."""
    from smear_table.catalogue import players_of

    labels = {one["player"]: one["label"] for one in players_of(game)}
    count: dict[str, int] = {}
    seats = []
    for seat, player in enumerate(sitting):
        if seat == own:
            seats.append({"player": player, "name": name or f"Player {seat}"})
        elif player == HUMAN:
            seats.append({"player": player, "name": f"Guest {seat}"})
        else:
            count[player] = count.get(player, 0) + 1
            label = re.sub(r"^Policy \S+", "Policy", labels.get(player, player)).replace(" with search", " +")
            seats.append({"player": player, "name": f"{label} {count[player]}"})
    return seats


def _options(game: str, known: list[dict[str, Any]], given: tuple[str, ...]) -> dict[str, Any]:
    """Options from NAME=VALUE texts; ValueError names the option and what it may be."""
    found: dict[str, Any] = {}
    choices = {option["name"]: [value for value, _ in option["choices"]] for option in known}
    for text in given:
        name, _, value = text.partition("=")
        if name not in choices:
            raise ValueError(f"options: {name!r} is no option of {game}; there are {', '.join(choices)}")
        fitting = [one for one in choices[name] if str(one).lower() == value.lower()]
        if not fitting:
            raise ValueError(f"options: {name}={value!r} must be one of {', '.join(map(str, choices[name]))}")
        found[name] = fitting[0]
    return found
