"""How commands show cards, tables and JSON: with colours and suit signs on a terminal, as plain text in a pipe."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from smear_env import Rules
from smear_table.order import SUIT_NAMES

SIGNS = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
RED = "red"
QUIET = "dim"
TEAM_STYLES = ("cyan", "yellow", "magenta", "green", "blue", "bright_black")
TEAMS = "ABCDEF"
PIPE_WIDTH = 120
"""Columns where nobody watches a terminal."""


def output() -> Console:
    """Standard output."""
    width = None if sys.stdout.isatty() else PIPE_WIDTH
    return Console(highlight=False, markup=False, emoji=False, width=width, soft_wrap=False)


def messages() -> Console:
    """Standard error, for what is no result: progress and remarks."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def print_json(result: Any) -> None:
    """Print a result for programs, which read no NaN."""
    print(json.dumps(result, indent=1, allow_nan=False))


def card(name: str, *, signs: bool) -> Text:
    """A card, hearts and diamonds in red; with `signs`, `10♠` for `TS`."""
    if len(name) != 2 or name[1] not in SIGNS or name in ("BJ", "LJ"):
        return Text(name, "bold")
    text = name.replace("T", "10", 1) if name[0] == "T" else name
    shown = f"{text[:-1]}{SIGNS[name[1]]}" if signs else name
    return Text(shown, RED if name[1] in "DH" else "")


def cards(names: Iterable[str], *, signs: bool) -> Text:
    """Cards with a space between, and two between suits."""
    text = Text()
    before = ""
    for name in names:
        if before:
            text.append("  " if name[-1] != before[-1] else " ")
        text.append_text(card(name, signs=signs))
        before = name
    return text


def suit(letter: str, *, signs: bool) -> Text:
    """A suit by sign and name."""
    name = SUIT_NAMES[letter]
    return Text(f"{SIGNS[letter]} {name}" if signs else name, RED if letter in "DH" else "")


def action(name: str, *, signs: bool) -> Text:
    """An action as people say it."""
    if name.startswith("trump:"):
        return suit(name[-1], signs=signs)
    return Text(name) if name == "pass" or name.isdigit() else card(name, signs=signs)


def has_signs(console: Console) -> bool:
    """Whether suits are shown by their signs: on a terminal that can; a pipe gets letters, which programs read."""
    return console.is_terminal and (console.encoding or "").lower().startswith("utf")


def team(number: int) -> Text:
    """A team by its letter."""
    return Text(TEAMS[number], TEAM_STYLES[number % len(TEAM_STYLES)])


def seat(number: int, rules: Rules, names: Mapping[int, str]) -> Text:
    """A seat with its team and who sits there."""
    text = Text(f"seat {number} ").append_text(team(number % rules.teams))
    return text.append(f" {names[number]}", QUIET) if number in names else text


def scores(values: Iterable[int]) -> Text:
    """`A 9 : B 12`."""
    text = Text()
    for number, value in enumerate(values):
        if number:
            text.append(" : ", QUIET)
        text.append_text(team(number)).append(f" {value}")
    return text
