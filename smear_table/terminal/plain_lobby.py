"""Choosing a table in plain mode: a kept match, or a new one's game, options and seats."""

from __future__ import annotations

import time
from typing import Any

from smear_env import make_rules
from smear_table.catalogue import GAMES, checked_rules, options_of, players_of, read_setup
from smear_table.session import HUMAN, RefusedError, Setup
from smear_table.terminal.arguments import Play, default_agent, named_seats
from smear_table.terminal.talk import Talk
from smear_table.words import TEAMS


def choose_table(talk: Talk, kept: list[tuple[str, str, float]], chosen: Play) -> str | tuple[Setup, str]:
    """The name of a kept match, or the setup and speed of a new one."""
    games = list(GAMES)
    choices = [f"Go on: {what}, begun {when(created)}" for _, what, created in kept]
    choices += [f"{title}. {about}" for title, about in GAMES.values()]
    number = talk.choose("What shall be played?", choices)
    if number < len(kept):
        return kept[number][0]
    return _new(talk, games[number - len(kept)], chosen)


def when(created: float) -> str:
    """A time as the list of matches shows it."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(created))


def _new(talk: Talk, game: str, chosen: Play) -> tuple[Setup, str]:
    name = talk.ask("Your name? Enter for none.") or chosen.name
    options: dict[str, Any] = {}
    agents = players_of(game)
    while True:
        players = make_rules(game, **options).players
        at_once = talk.choose(
            "The table:", ["Sit down, all other seats alike", "Choose each seat", "Change an option"]
        )
        if at_once < 2:
            break
        options = _changed(talk, game, options)
    people = [
        *((one["player"], f"{one['label']}: {one['about']}") for one in agents),
        (HUMAN, "Another person"),
    ]
    sitting = [HUMAN] * players
    if at_once == 0:
        labels = [text for _, text in people[:-1]]
        usual = [player for player, _ in people].index(default_agent(game))
        sitting[1:] = [people[talk.choose("Who plays the other seats?", labels, usual)][0]] * (players - 1)
    else:
        teams = make_rules(game, **options).teams
        for seat in range(1, players):
            question = f"Who plays seat {seat}, team {TEAMS[seat % teams]}?"
            sitting[seat] = people[talk.choose(question, [text for _, text in people])][0]
    practice = (
        talk.choose("Practice? Moves can be taken back then.", ["Yes", "No"], 0 if chosen.practice else 1)
        == 0
    )
    return read_setup(
        {
            "game": game,
            "options": options,
            "seats": named_seats(game, sitting, 0, name),
            "speed": chosen.speed,
            "practice": practice,
        }
    )


def _changed(talk: Talk, game: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options with one of them changed, or as they were where that contradicts another."""
    known = options_of(game)
    texts = []
    for option in known:
        value = options.get(option["name"], option["value"])
        texts.append(f"{option['label']}: {next(text for one, text in option['choices'] if one == value)}")
    option = known[talk.choose("Which option?", texts)]
    value = options.get(option["name"], option["value"])
    values = [one for one, _ in option["choices"]]
    picked = talk.choose(f"{option['label']}:", [text for _, text in option["choices"]], values.index(value))
    try:
        return checked_rules(game, {**options, option["name"]: values[picked]})[1]
    except RefusedError as problem:
        talk.say(str(problem))
        return options
