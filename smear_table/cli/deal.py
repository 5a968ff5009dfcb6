"""A deal as people read it: hands, auction, stock, tricks and what it gave, finished or as far as it has come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from smear_env import Rules
from smear_table.cli import screen
from smear_table.order import POINT_NAMES, held
from smear_table.view import auction_length, winner_of

LABEL = 15
"""Columns of the words in front of each line."""


def deal_text(
    rules: Rules,
    deal: Mapping[str, Any],
    number: int,
    *,
    names: Mapping[int, str],
    before: Sequence[int],
    signs: bool,
) -> Group:
    """A deal in transcript form, whose actions may end anywhere; `before` are the scores it began with."""
    actions = [(int(seat), str(name)) for seat, name in deal["actions"]]
    said = auction_length(rules, actions)
    rest = actions[said:]
    stock = [index for index, (_, name) in enumerate(rest) if name.startswith("trump:")]
    played = _plays(rules, deal, rest)
    lines = _grid()
    trump = deal.get("trump") or _trump(rules, rest, played, stock)
    for seat, hand in enumerate(deal["hands"]):
        _line(lines, screen.seat(seat, rules, names), screen.cards(held(rules, tuple(hand.split()), None), signs=signs))
    _line(lines, "stock", screen.cards(deal["stock"].split(), signs=signs) if deal["stock"] else Text("none", screen.QUIET))
    _line(lines, "auction", _auction(rules, actions[:said]))
    for seat, words in _thrown(rest[: len(rest) - len(played)]).items():
        _line(lines, screen.seat(seat, rules, {}), Text("throws ").append_text(screen.cards(words, signs=signs)))
    if trump:
        _line(lines, "trump", screen.suit(trump, signs=signs))
    parts: list[Any] = [_title(deal, number, before), lines]
    if played:
        parts.append(_tricks(rules, str(trump), played, signs=signs))
    if "redeal" in deal:
        parts.append(Text("  everybody passed: thrown in", screen.QUIET))
    elif "scores" in deal:
        parts.append(_result(rules, deal))
    return Group(*parts)


def _plays(rules: Rules, deal: Mapping[str, Any], rest: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """The actions after auction and stock that play a card."""
    if "scores" in deal:
        return list(rest[-rules.players * rules.hand_size :])
    return list(rest[_stock_actions(rules, deal, rest) :])


def _stock_actions(rules: Rules, deal: Mapping[str, Any], rest: Sequence[tuple[int, str]]) -> int:
    """How many actions name trump, exchange and discard, in a deal that is not finished."""
    if not rules.trump_named:
        return min(len(rest), rules.stock_to_bidder)
    at = 1 if rest else 0
    drawn = 0
    for place in range(rules.players - 1 if rules.exchange else 0):
        seat = (int(deal["dealer"]) + 1 + place) % rules.players
        for _ in range(rules.exchange):
            if at < len(rest) and rest[at][0] == seat:
                at += 1
                drawn += rest[at - 1][1] != "pass"
                if rest[at - 1][1] == "pass":
                    break
    return min(len(rest), at + (rules.stock_size - drawn if rules.dealer_takes_stock else 0))


def _trump(
    rules: Rules, rest: Sequence[tuple[int, str]], played: Sequence[tuple[int, str]], named: Sequence[int]
) -> str | None:
    if rules.trump_named:
        return rest[named[0]][1][-1] if named else None
    return played[0][1][-1] if played else None


def _thrown(actions: Sequence[tuple[int, str]]) -> dict[int, list[str]]:
    thrown: dict[int, list[str]] = {}
    for seat, name in actions:
        if name != "pass" and not name.startswith("trump:"):
            thrown.setdefault(seat, []).append(name)
    return thrown


def _title(deal: Mapping[str, Any], number: int, before: Sequence[int]) -> Text:
    text = Text(f"Deal {number}", "bold").append(f"  dealer seat {deal['dealer']}  ", "not bold")
    return text.append_text(screen.scores(before))


def _auction(rules: Rules, said: Sequence[tuple[int, str]]) -> Text:
    text = Text()
    high = max((int(word) for _, word in said if word != "pass"), default=None)
    for index, (seat, word) in enumerate(said):
        text.append("  " if index else "").append(f"{seat} ", screen.TEAM_STYLES[seat % rules.teams])
        text.append(word, "bold" if word == str(high) else screen.QUIET if word == "pass" else "")
    return text if said else Text("nobody has spoken", screen.QUIET)


def _tricks(rules: Rules, trump: str, played: Sequence[tuple[int, str]], *, signs: bool) -> Table:
    """A line for each trick, its winner marked."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=LABEL)
    for start in range(0, len(played), rules.players):
        trick = list(played[start : start + rules.players])
        whole = len(trick) == rules.players
        winner = winner_of(rules, trump, trick)
        row: list[Text] = [Text(f"  trick {start // rules.players + 1}")]
        for seat, name in trick:
            mark = Text(f"{seat} ", screen.TEAM_STYLES[seat % rules.teams]).append_text(screen.card(name, signs=signs))
            if seat == winner:
                mark.stylize("bold underline" if signs else "")
            row.append(mark)
        row += [Text("")] * (rules.players - len(trick))
        row.append(Text("seat ", screen.QUIET).append(f"{winner} ").append_text(screen.team(winner % rules.teams)) if whole else Text(""))
        grid.add_row(*row)
    return grid


def _result(rules: Rules, deal: Mapping[str, Any]) -> Table:
    grid = _grid()
    points = Text()
    for index, (name, owner) in enumerate(deal["points"].items()):
        points.append("  " if index else "").append(f"{POINT_NAMES[name]} ")
        points.append_text(Text("nobody", screen.QUIET) if owner is None else screen.team(owner))
    counted = " : ".join(map(str, deal["card_points"]))
    _line(grid, "points", points.append(f"  (card points {counted})", screen.QUIET))
    outcome = Text(f"seat {deal['bidder']} bid {deal['bid']}: ")
    outcome.append("made" if deal["made"] else "set", "green" if deal["made"] else "red").append("   ")
    for number, (change, score) in enumerate(zip(deal["delta"], deal["scores"], strict=True)):
        outcome.append("  " if number else "").append_text(screen.team(number))
        outcome.append(f" {change:+d} = {score}")
    _line(grid, "result", outcome)
    return grid


def _grid() -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=LABEL, no_wrap=True)
    grid.add_column()
    return grid


def _line(grid: Table, label: str | Text, text: Text) -> None:
    grid.add_row(Text("  ").append_text(Text(label) if isinstance(label, str) else label), text)


__all__ = ["deal_text"]
