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
"""Columns of the words in front of each line, at least."""


def deal_text(
    rules: Rules,
    deal: Mapping[str, Any],
    number: int,
    *,
    before: Sequence[int],
    names: Mapping[int, str] | None = None,
    signs: bool = False,
    steps: bool = False,
) -> Group:
    """A deal in transcript form, whose actions may end anywhere.

    before: the scores it began with. names: who sits where. signs: suits by their signs. steps: number the actions.
    """
    actions = [(int(seat), str(name)) for seat, name in deal["actions"]]
    said = auction_length(rules, actions)
    rest = actions[said:]
    played = rest[_stock_actions(rules, deal, rest) :]
    stock = rest[: len(rest) - len(played)]
    sitting = names or {}
    lines = _Lines(max(LABEL, 12 + max(map(len, sitting.values()), default=0)), steps=steps)
    for seat, hand in enumerate(deal["hands"]):
        shown = screen.cards(held(rules, tuple(hand.split()), None), signs=signs)
        lines.add(screen.seat(seat, rules, sitting), shown)
    if deal["stock"]:
        lines.add("stock", screen.cards(deal["stock"].split(), signs=signs))
    lines.add("auction", _auction(rules, actions[:said]), 0, said)
    trump = played[0][1][-1] if played and not rules.trump_named else None
    for seat, words, first in _stock_lines(stock):
        if words[0].startswith("trump:"):
            trump = words[0][-1]
            lines.add(
                screen.seat(seat, rules, {}),
                Text("names ").append_text(screen.suit(trump, signs=signs)),
                said + first,
                1,
            )
            continue
        cards = [word for word in words if word != "pass"]
        text = (
            Text("throws ").append_text(screen.cards(cards, signs=signs))
            if cards
            else Text("keeps all", screen.QUIET)
        )
        lines.add(screen.seat(seat, rules, {}), text, said + first, len(words))
    if trump and not rules.trump_named:
        lines.add("trump", screen.suit(trump, signs=signs))
    parts: list[Any] = [_title(deal, number, before), lines.grid]
    if played and trump:
        parts.append(
            _tricks(
                rules, trump, played, len(actions) - len(played) if steps else None, lines.width, signs=signs
            )
        )
    if "redeal" in deal:
        parts.append(Text("  everybody passed: thrown in", screen.QUIET))
    elif "scores" in deal:
        parts.append(_result(deal, lines.width))
    return Group(*parts)


class _Lines:
    """Lines of a label and a text, the numbers of their actions behind them where wanted."""

    def __init__(self, width: int, *, steps: bool = False) -> None:
        self.width, self._steps = width, steps
        self.grid = Table.grid(padding=(0, 2, 0, 0))
        self.grid.add_column(width=width, no_wrap=True)
        self.grid.add_column()

    def add(self, label: str | Text, text: Text, first: int = 0, count: int = 0) -> None:
        """A line about `count` actions from step `first` on; none for what is no action."""
        if self._steps and count:
            text = text.copy().append(f"  {_steps(first, count)}", screen.QUIET)
        self.grid.add_row(Text("  ").append_text(Text(label) if isinstance(label, str) else label), text)


def _steps(first: int, count: int) -> str:
    return f"[{first}]" if count == 1 else f"[{first}-{first + count - 1}]"


def _stock_lines(actions: Sequence[tuple[int, str]]) -> list[tuple[int, list[str], int]]:
    """(seat, actions in a row, place of the first) of naming, exchange and discards; naming stands alone."""
    found: list[tuple[int, list[str], int]] = []
    for place, (seat, name) in enumerate(actions):
        if found and found[-1][0] == seat and not found[-1][1][0].startswith("trump:"):
            found[-1][1].append(name)
        else:
            found.append((seat, [name], place))
    return found


def _stock_actions(rules: Rules, deal: Mapping[str, Any], rest: Sequence[tuple[int, str]]) -> int:
    """How many actions name trump, exchange and discard, as far as they are done."""
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


def _tricks(
    rules: Rules, trump: str, played: Sequence[tuple[int, str]], first: int | None, width: int, *, signs: bool
) -> Table:
    """A line for each trick and who took it; the numbers of the actions from `first` on, where it is given."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=width)
    for start in range(0, len(played), rules.players):
        trick = list(played[start : start + rules.players])
        winner = winner_of(rules, trump, trick)
        row: list[Text] = [Text(f"  trick {start // rules.players + 1}")]
        for seat, name in trick:
            cell = Text(f"{seat} ", screen.TEAM_STYLES[seat % rules.teams])
            row.append(cell.append_text(screen.card(name, signs=signs)))
            if seat == winner:
                row[-1].stylize("bold")
        row += [Text("")] * (rules.players - len(trick))
        if len(trick) == rules.players:
            row.append(
                Text("seat ", screen.QUIET)
                .append(f"{winner} ")
                .append_text(screen.team(winner % rules.teams))
            )
        if first is not None:
            row.append(Text(_steps(first + start, len(trick)), screen.QUIET))
        grid.add_row(*row)
    return grid


def _result(deal: Mapping[str, Any], width: int) -> Table:
    lines = _Lines(width)
    points = Text()
    for index, (name, owner) in enumerate(deal["points"].items()):
        points.append("  " if index else "").append(f"{POINT_NAMES[name]} ")
        points.append_text(Text("nobody", screen.QUIET) if owner is None else screen.team(owner))
    counted = " : ".join(map(str, deal["card_points"]))
    lines.add("points", points.append(f"  (card points {counted})", screen.QUIET))
    outcome = Text(f"seat {deal['bidder']} bid {deal['bid']}: ")
    outcome.append("made" if deal["made"] else "set", "green" if deal["made"] else "red").append("   ")
    for number, (change, score) in enumerate(zip(deal["delta"], deal["scores"], strict=True)):
        outcome.append("  " if number else "").append_text(screen.team(number))
        outcome.append(f" {change:+d} = {score}")
    lines.add("result", outcome)
    return lines.grid
