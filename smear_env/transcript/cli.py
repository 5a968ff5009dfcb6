"""The command line of transcripts: `record`, `check` and `show`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any, get_type_hints

from smear_env._progress import counted
from smear_env.agents.registry import agent_names
from smear_env.plugins import load_plugins
from smear_env.rules import PRESETS, Rules, make_rules
from smear_env.transcript.format import TranscriptError, read_transcripts, write_transcripts
from smear_env.transcript.record import record_match
from smear_env.transcript.replay import check_match
from smear_env.transcript.show import show_match

_BOOLEANS = {"true": True, "false": False}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0, or 1 with a message on stderr."""
    try:
        chosen = _parser().parse_args(arguments)
        status: int = chosen.command(chosen)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, as `head`, has seen enough; keep Python from complaining again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        named = f"{error.filename}: " if error.filename else ""
        return _fail(f"{named}{error.strerror or error}")
    except ValueError as error:
        return _fail(str(error))
    return status


def _parser() -> argparse.ArgumentParser:
    load_plugins()  # the choices below are of what is registered
    parser = argparse.ArgumentParser(
        "python -m smear_env.transcript",
        description="Record, check and show matches. Matches, deals, actions and seats count from 0, lines from 1.",
    )
    commands = parser.add_subparsers(required=True, metavar="record|check|show")
    record = commands.add_parser("record", help="play games of a seed and write them to a file")
    record.set_defaults(command=_record)
    record.add_argument("--rules", default="four_point", choices=tuple(PRESETS))
    record.add_argument(
        "--option", action="append", default=[], metavar="FIELD=VALUE", help="a field of Rules"
    )
    record.add_argument("--seed", type=int, default=0)
    record.add_argument("--matches", type=int, default=1, help="how many: games 0, 1, ... of the seed")
    record.add_argument("--max-deals", type=int, default=100, help="a match is cut off after so many deals")
    names = ", ".join(agent_names())
    record.add_argument("--agent", default="random", help=f"who plays every seat: {names}, or a checkpoint")
    record.add_argument("--legal", action="store_true", help="state the legal actions before each action")
    record.add_argument("--out", required=True, metavar="F")
    check = commands.add_parser("check", help="replay files and compare everything they state")
    check.set_defaults(command=_check)
    check.add_argument("files", nargs="+", metavar="F")
    show = commands.add_parser("show", help="print matches in a form for card players")
    show.set_defaults(command=_show)
    show.add_argument("file", metavar="F")
    show.add_argument("--match", type=int, metavar="N", help="only this match")
    show.add_argument(
        "--deal", type=int, metavar="N", help="only this deal, of match 0 unless another is named"
    )
    return parser


def _record(chosen: argparse.Namespace) -> int:
    if chosen.matches < 1:
        raise ValueError(f"--matches {chosen.matches} must be at least 1")
    rules = make_rules(chosen.rules, **parse_options(chosen.option))
    totals = [0, 0]

    def matches() -> Iterator[dict[str, Any]]:
        for game in counted(range(chosen.matches), chosen.matches, "matches"):
            match = record_match(
                rules, chosen.seed, game, agents=chosen.agent, max_deals=chosen.max_deals, legal=chosen.legal
            )
            totals[0] += len(match["deals"])
            totals[1] += sum(len(deal["actions"]) for deal in match["deals"])
            yield match

    count = write_transcripts(chosen.out, matches())
    print(f"{chosen.out}: {count} matches of {rules.name}, {totals[0]} deals, {totals[1]} actions")
    return 0


def _check(chosen: argparse.Namespace) -> int:
    status = 0
    for path in chosen.files:
        try:
            matches, deals, actions = _check_file(path)
        except TranscriptError as error:
            status = _fail(str(error))
        else:
            print(f"{path}: {matches} matches, {deals} deals, {actions} actions agree with the rules")
    return status


def _check_file(path: str) -> tuple[int, int, int]:
    matches = deals = actions = 0
    for match in counted(read_transcripts(path), _lines(path), "matches"):
        try:
            check_match(match)
        except TranscriptError as error:
            error.match, error.source = matches, path
            raise
        matches += 1
        deals += len(match["deals"])
        actions += sum(len(deal["actions"]) for deal in match["deals"])
    return matches, deals, actions


def _lines(path: str) -> int:
    """Lines of a file, 0 where it cannot be read: whoever reads it says why."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as the reader, whose message names it
            return sum(1 for _ in file)
    except (OSError, ValueError):
        return 0


def _show(chosen: argparse.Namespace) -> int:
    only = 0 if chosen.match is None and chosen.deal is not None else chosen.match
    if only is not None and only < 0:
        raise ValueError(f"--match {only} must be at least 0")
    count = 0
    for index, match in enumerate(read_transcripts(chosen.file)):
        count += 1
        if only is not None and index < only:
            continue
        try:
            text = show_match(match, chosen.deal)
        except TranscriptError as error:
            error.match, error.source = index, chosen.file
            raise
        print(f"Match {index}: {text}\n")
        if index == only:
            return 0
    if only is not None:
        raise ValueError(f"--match {only} is not there: {chosen.file} has matches 0 to {count - 1}")
    return 0


def parse_options(pairs: Sequence[str]) -> dict[str, Any]:
    """Options given as `field=value`, each value of its field's type; `ValueError` naming the one at fault."""
    hints = get_type_hints(Rules)
    options: dict[str, Any] = {}
    for pair in pairs:
        field, equals, text = pair.partition("=")
        if not equals:
            raise ValueError(f"--option {pair}: expected FIELD=VALUE")
        if hints.get(field) is bool:
            if text.lower() not in _BOOLEANS:
                raise ValueError(f"--option {pair}: {field} is true or false")
            options[field] = _BOOLEANS[text.lower()]
        elif hints.get(field) is int:
            try:
                options[field] = int(text)
            except ValueError:
                raise ValueError(f"--option {pair}: {field} is a whole number") from None
        else:
            options[field] = text
    return options


def _fail(message: str) -> int:
    print(message.encode("utf-8", "backslashreplace").decode(), file=sys.stderr)
    return 1
