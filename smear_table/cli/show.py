"""`smear show`: a transcript as people read it, or as JSON."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from rich.text import Text

from smear_env import PHASE_NAMES, Rules, SelfPlayVectorEnv, decode
from smear_env.render.text import to_text
from smear_env.table_view import table_view
from smear_env.transcript import Position, TranscriptError, check_match, positions, read_transcripts
from smear_env.transcript.format import match_rules
from smear_table.cli import screen
from smear_table.cli.deal import deal_text
from smear_table.told.reading import told_of
from smear_table.told.words import Told


@dataclass(frozen=True)
class Options:
    """Show a transcript: every match with its deals, one deal, or the table before one action.

    Matches, deals, steps and seats count from 0. Before anything is shown, the match is checked against the rules.
    """

    file: tyro.conf.Positional[Path]
    """A file of JSON lines, a match a line, as `smear record` and the tables write them."""
    match: int | None = None
    """Only this match."""
    deal: int | None = None
    """Only this deal, of match 0 unless another is named."""
    step: int | None = None
    """The table before this action of the deal, and how to ask for advice there."""
    json: bool = False
    """Print JSON: a list of matches, a deal, or a position."""


def run(options: Options) -> int:
    """Print what is asked for."""
    console = screen.output()
    if options.step is not None:
        position, match = find_position(options.file, options.match or 0, options.deal or 0, options.step)
        if options.json:
            screen.print_json(position_json(position, match))
        else:
            _print_position(position, console)
        return 0
    only = 0 if options.match is None and options.deal is not None else options.match
    found = list(_matches(options.file, only))
    if options.json:
        shown = [{"match": index, **match} for index, match in found]
        if options.deal is not None:
            screen.print_json(
                {"match": found[0][0], "deal": options.deal, **_deal(found[0][1], options.deal)}
            )
        else:
            screen.print_json(shown)
        return 0
    for index, match in found:
        _print_match(index, match, options.deal, console)
    return 0


def find_position(file: Path, match: int, deal: int, step: int) -> tuple[Position, dict[str, Any]]:
    """A position of a transcript and its match; ValueError where there is none."""
    ((_, found),) = _matches(file, match)
    data = _deal(found, deal)
    if not 0 <= step < len(data["actions"]):
        raise ValueError(f"step={step} is not there: the deal has steps 0 to {len(data['actions']) - 1}")
    return next(one for one in positions(found) if (one.deal, one.step) == (deal, step)), found


def seen_at(position: Position) -> tuple[Any, Any]:
    """Observation [d] and mask [n] of the seat to act there, as the engine writes them."""
    env = SelfPlayVectorEnv(1, position.rules, seed=0)
    rows = position.states.view(np.uint8).reshape(1, -1)
    shown = env.restore({"states": rows, "seed": np.zeros(1, np.uint64)})
    return shown.observation[0].copy(), shown.mask[0].copy()


def command_for(position: Position) -> str:
    """The `smear advise` that asks about a position in words."""
    observation, _ = seen_at(position)
    told = told_of(decode(observation, position.rules), position.rules, position.seat)
    return f"smear advise {shlex.join([*_rules_flags(position.rules), *told_flags(told)])}"


def told_flags(told: Told) -> list[str]:
    """The flags of `smear advise` for a position."""
    words = []
    for field in fields(told):
        value = str(getattr(told, field.name))
        if value in ("", "None"):
            continue
        # Scores may begin with a minus, which would read as another flag.
        words += [f"--{field.name}={value}"] if value.startswith("-") else [f"--{field.name}", value]
    return words


def position_json(position: Position, match: dict[str, Any]) -> dict[str, Any]:
    """A position for programs: the open table, what is legal, and what was done."""
    _, mask = seen_at(position)
    table = table_view(position.rules, position.states[0])
    names = position.rules.action_names
    return {
        "rules": match["rules"],
        "options": match["options"],
        "deal": position.deal,
        "step": position.step,
        "seat": position.seat,
        "phase": PHASE_NAMES[int(position.states[0].phase)],
        "dealer": table.dealer,
        "scores": list(table.scores),
        "hands": [list(hand) if isinstance(hand, tuple) else hand for hand in table.hands],
        "bids": [list(bid) for bid in table.bids],
        "bidder": table.bidder,
        "bid": table.bid,
        "trump": table.trump,
        "trick": [list(play) for play in table.trick],
        "tricks": list(table.tricks_won),
        "card_points": list(table.card_points),
        "legal": [names[index] for index in np.flatnonzero(mask)],
        "action": names[position.action],
        "advise": command_for(position),
    }


def _rules_flags(rules: Rules) -> list[str]:
    options = [f"{name}={value}" for name, value in rules.options().items()]
    return ["--rules", rules.name, *(["--options", *options] if options else [])]


def _matches(file: Path, only: int | None) -> Any:
    """(index, match) of a file, checked; ValueError where the one asked for is not there."""
    if only is not None and only < 0:
        raise ValueError(f"match={only} must be at least 0")
    count = 0
    for index, match in enumerate(read_transcripts(str(file))):
        count += 1
        if only is not None and index != only:
            continue
        try:
            check_match(match)
        except TranscriptError as error:
            error.match, error.source = index, str(file)
            raise
        yield index, match
        if index == only:
            return
    if only is not None:
        raise ValueError(f"match={only} is not there: {file} has matches 0 to {count - 1}")


def _deal(match: dict[str, Any], deal: int) -> dict[str, Any]:
    if not 0 <= deal < len(match["deals"]):
        raise ValueError(f"deal={deal} is not there: the match has deals 0 to {len(match['deals']) - 1}")
    found: dict[str, Any] = match["deals"][deal]
    return found


def _print_match(index: int, match: dict[str, Any], only: int | None, console: Any) -> None:
    if only is not None:
        _deal(match, only)
    rules = match_rules(match)
    options = ", ".join(f"{name}={value}" for name, value in match["options"].items())
    title = Text(f"Match {index}  ", "bold").append(
        f"{rules.name} ({options or 'default options'})", "not bold"
    )
    winner = "no winner" if match["winner"] is None else f"won by {screen.TEAMS[match['winner']]}"
    console.print(title.append(f", {len(match['deals'])} deals, {winner}"))
    for number in range(rules.teams):
        seats = " ".join(str(seat) for seat in range(number, rules.players, rules.teams))
        console.print(Text("  team ").append_text(screen.team(number)).append(f": seats {seats}"))
    before = [0] * rules.teams
    for number, deal in enumerate(match["deals"]):
        if only in (None, number):
            signs = screen.has_signs(console)
            console.print()
            console.print(deal_text(rules, deal, number, before=before, signs=signs, steps=True))
        before = deal.get("scores", before)
    console.print()


def _print_position(position: Position, console: Any) -> None:
    table = table_view(position.rules, position.states[0])
    console.print(f"Deal {position.deal}, step {position.step}, both counted from 0:\n")
    console.print(to_text(table), end="")
    done = position.rules.action_names[position.action]
    console.print(f"\nStep {position.step}: seat {position.seat} is to act, and chose {done}.")
    console.print("Ask about it:", style=screen.QUIET)
    console.print(command_for(position), soft_wrap=True)
