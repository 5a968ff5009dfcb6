"""Replaying a transcript in the engine, and checking everything it states on the way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from smear_env._typing import RecordArray
from smear_env.rules import Rules
from smear_env.transcript._engine import EngineMatch
from smear_env.transcript.format import TranscriptError, differs, match_rules, shown, split_cards


class Position(NamedTuple):
    """A match before one of its actions."""

    rules: Rules
    deal: int
    """Index of the deal in the transcript, those passed out included."""
    step: int
    """Index of the action in the deal."""
    seat: int
    """Seat to act."""
    action: int
    """Id of the action it chooses; `rules.action_names[action]` is its name."""
    states: RecordArray
    """The engine's state before it, a [1] record array of the position's own."""


def check_match(data: object) -> None:
    """Play a transcript's match through and compare everything that it states.

    That is: dealers, turns, legality, legal sets where given, results, scores, and that the match ends where
    it does and not before. `"winner": null` is a match cut off after its last deal, or within it: then that deal
    states no result. Raises `TranscriptError` at the first thing that is malformed or not so.
    """
    for _ in _replay(data, keep=False):
        pass


def positions(data: object) -> Iterator[Position]:
    """The engine's state before each action of a match, checking as `check_match` does along the way."""
    yield from _replay(data, keep=True)


def _replay(data: object, *, keep: bool) -> Iterator[Position]:
    rules = match_rules(data)
    assert isinstance(data, dict)
    match = EngineMatch(rules, dealer=data["deals"][0]["dealer"])
    for number, deal in enumerate(data["deals"]):
        if match.over:
            raise TranscriptError(
                f"the match ended with deal {number - 1}, won by team {match.winner}; found another deal",
                deal=number,
            )
        try:
            yield from _replay_deal(match, number, deal, keep=keep)
        except TranscriptError as error:
            error.deal = number
            raise
        if match.deals == number and number < len(data["deals"]) - 1:
            raise TranscriptError(
                f"the deal ends after {len(deal['actions'])} actions, with seat {match.turn} to act",
                deal=number,
                field="actions",
            )
    if data["winner"] != match.winner:
        raise TranscriptError(differs(match.winner, data["winner"]), field="winner")


def _replay_deal(match: EngineMatch, number: int, deal: dict[str, Any], *, keep: bool) -> Iterator[Position]:
    ids = {name: action for action, name in enumerate(match.names)}
    if deal["dealer"] != match.dealer:
        raise TranscriptError(differs(match.dealer, deal["dealer"]), field="dealer")
    piles = [*deal["hands"], deal["stock"]]
    match.set_cards([ids[card] for pile in piles for card in split_cards(pile)])
    legal = deal.get("legal")
    for index, (seat, name) in enumerate(deal["actions"]):
        if match.deals > number:
            raise TranscriptError(
                f"the deal was over after {index} actions, found {shown(name)}", field="actions", action=index
            )
        if seat != match.turn:
            raise TranscriptError(differs(match.turn, seat), field="seat", action=index)
        action = ids.get(name, -1)
        if action < 0 or not match.mask[action]:
            expected = " ".join(match.legal_names())
            raise TranscriptError(
                f"expected one of {expected}, found {shown(name)}", field="actions", action=index
            )
        if legal is not None and legal[index] != (expected := " ".join(match.legal_names())):
            raise TranscriptError(differs(expected, legal[index]), field="legal", action=index)
        if keep:
            yield Position(match.rules, number, index, seat, action, match.copy_states())
        match.act(action)
    _check_result(match, number, deal)


def _check_result(match: EngineMatch, number: int, deal: dict[str, Any]) -> None:
    """Compare what the deal states of its end; nothing where it was cut off."""
    finished = match.deals > number
    stated = "redeal" in deal or "scores" in deal
    if not finished:
        if stated:
            raise TranscriptError(
                f"found a result after {len(deal['actions'])} actions, with seat {match.turn} still to act",
                field="actions",
            )
        return
    result = match.result()
    if ("redeal" in result) != ("redeal" in deal):
        problem = (
            "expected true, as every seat passed"
            if "redeal" in result
            else "expected a result: a card was played"
        )
        raise TranscriptError(problem, field="redeal")
    for field, expected in result.items():
        if field not in deal:
            raise TranscriptError(f"missing; expected {shown(expected)}", field=field)
        found = deal[field]
        if found != expected:
            raise TranscriptError(
                *_first_difference(expected, found), field=_field_of(field, expected, found)
            )


def _first_difference(expected: Any, found: Any) -> tuple[str]:
    if isinstance(expected, dict):
        name = next(name for name in expected if expected[name] != found[name])
        return (differs(expected[name], found[name]),)
    return (differs(expected, found),)


def _field_of(field: str, expected: Any, found: Any) -> str:
    if isinstance(expected, dict):
        return f"{field}.{next(name for name in expected if expected[name] != found[name])}"
    return field
