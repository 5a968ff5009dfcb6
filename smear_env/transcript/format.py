"""The format `smear-transcript/1`: what a line must look like, reading and writing of files.

What is checked here needs no play: fields, types, and that each deal holds every card of the deck once. `options` may
state a field that has the preset's value as well; writers state only those that differ. Matches, deals,
actions and seats count from 0, lines of a file from 1.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from smear_env.plugins import REMEDY, load_plugins
from smear_env.rules import ALWAYS_GIVEN, PRESETS, Rules, make_rules

FORMAT = "smear-transcript/1"
MATCH_FIELDS = ("format", "rules", "options", "deals", "winner")
DEALT_FIELDS = ("dealer", "hands", "stock", "actions")
RESULT_FIELDS = ("bid", "bidder", "trump", "points", "card_points", "made", "delta", "scores")
_LONGEST_SHOWN = 200


class TranscriptError(ValueError):
    """A transcript that is malformed, or states what the rules do not give.

    Args:
        problem: what is wrong, with what was expected and found.
        field: the field at fault, as `hands[2]` or `points.high`; empty if it is the whole line.
        deal: index of the deal, from 0.
        action: index of the action in the deal, from 0.
        match: index of the match in its file, from 0; its line is one more.
        source: the file.
    """

    def __init__(
        self,
        problem: str,
        *,
        field: str = "",
        deal: int | None = None,
        action: int | None = None,
        match: int | None = None,
        source: str = "",
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.field = field
        self.deal = deal
        self.action = action
        self.match = match
        self.source = source

    def __str__(self) -> str:
        place = [
            ascii(self.source)[1:-1],
            f"line {self.match + 1} (match {self.match})" if self.match is not None else "",
            f"deal {self.deal}" if self.deal is not None else "",
            f"action {self.action}" if self.action is not None else "",
            self.field,
        ]
        return f"{', '.join(filter(None, place)) or 'transcript'}: {self.problem}"


def shown(value: object) -> str:
    """A value as JSON, shortened, for messages."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def differs(expected: object, found: object) -> str:
    """The problem of a value that is not what it must be."""
    return f"expected {shown(expected)}, found {shown(found)}"


def read_transcripts(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """The matches of a file in turn, each with every field of the right type; `check_match` tests what they state.

    Raises `TranscriptError`, naming file, line and field, at the first line that is malformed, and for a file
    that cannot be read or holds no match.
    """
    source = str(path)
    number = -1
    try:
        with Path(path).open("rb") as file:
            for number, line in enumerate(file):
                try:
                    match = parse_line(line)
                    match_rules(match)
                except TranscriptError as error:
                    error.match, error.source = number, source
                    raise
                yield match
    except OSError as error:
        raise TranscriptError(f"cannot be read: {error.strerror or error}", source=source) from error
    except ValueError as error:
        if isinstance(error, TranscriptError):
            raise
        raise TranscriptError(f"cannot be opened: {error}", source=source) from error
    if number < 0:
        raise TranscriptError("the file holds no match", source=source)


def write_transcripts(path: str | os.PathLike[str], matches: Iterable[dict[str, Any]]) -> int:
    """Write matches to a file, one a line, and return how many; the file appears complete or not at all.

    Raises `OSError` where it cannot be written.
    """
    target = Path(path)
    if target.exists() and not target.is_file():
        raise FileExistsError(f"{target} is not a file, and would be replaced")
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    count = 0
    try:
        with partial.open("w", encoding="ascii", newline="\n") as file:
            for match in matches:
                file.write(json.dumps(match) + "\n")
                count += 1
            file.flush()
            os.fsync(file.fileno())
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return count


def parse_line(line: bytes | str) -> Any:
    """The JSON value of one line; `TranscriptError` if it is none, or one that JSON forbids (NaN, a key twice)."""
    try:
        text = line.decode("utf-8") if isinstance(line, bytes) else line
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_unique)
    except RecursionError:
        raise TranscriptError("not a transcript: nested too deeply") from None
    except ValueError as error:
        raise TranscriptError(f"not JSON: {error}") from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {shown(next(key for key in keys if keys.count(key) > 1))} stands twice")
    return found


def match_rules(match: object) -> Rules:
    """The rules of a match, all of whose fields are present and of the right type; else `TranscriptError`."""
    found = _object(match, "")
    if "format" in found and found["format"] != FORMAT:
        raise TranscriptError(differs(FORMAT, found["format"]), field="format")
    _keys(found, MATCH_FIELDS, (), "")
    rules = _rules(found)
    deals = _list(found["deals"], "deals")
    if not deals:
        raise TranscriptError("expected at least one deal, found none", field="deals")
    _team_or_null(found["winner"], "winner", rules)
    for index, deal in enumerate(deals):
        try:
            _check_deal(deal, rules)
        except TranscriptError as error:
            error.deal = index
            raise
    return rules


def _rules(match: dict[str, Any]) -> Rules:
    name = match["rules"]
    if name not in tuple(PRESETS):
        load_plugins()
    if not isinstance(name, str) or name not in PRESETS:
        told = f"expected one of {', '.join(PRESETS)}, found {shown(name)}; {REMEDY}"
        raise TranscriptError(told, field="rules")
    options = _object(match["options"], "options")
    for option in ALWAYS_GIVEN.get(name, ()):
        if option not in options:
            raise TranscriptError("missing: it is always given for this game", field=f"options.{option}")
    try:
        return make_rules(name, **options)
    except (ValueError, TypeError) as error:
        raise TranscriptError(ascii(str(error)[:_LONGEST_SHOWN])[1:-1], field="options") from None


def _check_deal(deal: object, rules: Rules) -> None:
    found = _object(deal, "deals")
    if "redeal" in found:
        _keys(found, (*DEALT_FIELDS, "redeal"), ("legal",), "")
        if found["redeal"] is not True:
            raise TranscriptError(
                f"expected true or no such field, found {shown(found['redeal'])}", field="redeal"
            )
    elif any(field in found for field in RESULT_FIELDS):
        _keys(found, (*DEALT_FIELDS, *RESULT_FIELDS), ("legal",), "")
        _check_result(found, rules)
    else:
        _keys(found, DEALT_FIELDS, ("legal",), "")
    _number(found["dealer"], "dealer", rules.players)
    _check_cards(found, rules)
    actions = _list(found["actions"], "actions")
    for index, action in enumerate(actions):
        try:
            _check_action(action, rules)
        except TranscriptError as error:
            error.action = index
            raise
    if "legal" in found:
        legal = _list(found["legal"], "legal", len(actions))
        for index, names in enumerate(legal):
            _text(names, f"legal[{index}]")


def _check_cards(deal: dict[str, Any], rules: Rules) -> None:
    hands = _list(deal["hands"], "hands", rules.players)
    piles = {f"hands[{seat}]": (hand, rules.hand_size) for seat, hand in enumerate(hands)}
    piles["stock"] = (deal["stock"], rules.stock_size)
    known, seen = set(rules.card_names), set[str]()
    for field, (text, size) in piles.items():
        cards = split_cards(_text(text, field))
        for card in cards:
            if card not in known:
                raise TranscriptError(f"unknown card {shown(card)}", field=field)
            if card in seen:
                raise TranscriptError(f"the card {card} stands twice in the deal", field=field)
            seen.add(card)
        if len(cards) != size:
            raise TranscriptError(f"expected {size} cards, found {len(cards)}", field=field)


def split_cards(text: str) -> list[str]:
    """The names in a hand or stock."""
    return text.split(" ") if text else []


def _check_action(action: object, rules: Rules) -> None:
    pair = _list(action, "actions", 2)
    _number(pair[0], "seat", rules.players)
    _text(pair[1], "actions")


def _check_result(deal: dict[str, Any], rules: Rules) -> None:
    _number(deal["bid"], "bid")
    _number(deal["bidder"], "bidder", rules.players)
    _text(deal["trump"], "trump")
    if type(deal["made"]) is not bool:
        raise TranscriptError(f"expected true or false, found {shown(deal['made'])}", field="made")
    points = _object(deal["points"], "points")
    _keys(points, rules.point_names, (), "points.")
    for name, team in points.items():
        _team_or_null(team, f"points.{name}", rules)
    for field in ("card_points", "delta", "scores"):
        for index, number in enumerate(_list(deal[field], field, rules.teams)):
            _number(number, f"{field}[{index}]")


def _object(value: object, field: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TranscriptError(f"expected an object, found {shown(value)}", field=field)
    return value


def _keys(found: dict[str, Any], required: tuple[str, ...], optional: tuple[str, ...], prefix: str) -> None:
    for field in required:
        if field not in found:
            raise TranscriptError("missing", field=prefix + field)
    for field in found:
        if field not in required and field not in optional:
            raise TranscriptError("unknown field", field=prefix + shown(field)[1:-1])


def _list(value: object, field: str, length: int | None = None) -> list[Any]:
    if not isinstance(value, list):
        raise TranscriptError(f"expected a list, found {shown(value)}", field=field)
    if length is not None and len(value) != length:
        raise TranscriptError(f"expected {length} entries, found {len(value)}", field=field)
    return value


def _text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise TranscriptError(f"expected a string, found {shown(value)}", field=field)
    return value


def _number(value: object, field: str, below: int | None = None) -> int:
    """A whole number; from 0 and below a bound if that is given."""
    if type(value) is not int:
        raise TranscriptError(f"expected a whole number, found {shown(value)}", field=field)
    if below is not None and not 0 <= value < below:
        raise TranscriptError(f"expected 0 to {below - 1}, found {shown(value)}", field=field)
    return value


def _team_or_null(value: object, field: str, rules: Rules) -> None:
    if value is not None and (type(value) is not int or not 0 <= value < rules.teams):
        raise TranscriptError(
            f"expected null or a team 0 to {rules.teams - 1}, found {shown(value)}", field=field
        )
