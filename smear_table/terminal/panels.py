"""What stands beside the felt, as lines: scores, the deal's points, auction, last trick, hints, results and reviews."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from textual.content import Content

from smear_table.terminal.canvas import Canvas, Part, cut, width_of
from smear_table.terminal.cards import SIGNS, action_sign, small, suit_style
from smear_table.terminal.reports import REVIEW_MEANING, hint_meaning
from smear_table.words import TEAMS, Facts, View, contract, members, signed, who

Line = list[Part]


def content(lines: Iterable[Line]) -> Content:
    """Lines as Textual shows them."""
    return Content("\n").join(Content.assemble(*line) for line in lines)


def row(parts: list[tuple[Line, int]], width: int) -> Line:
    """Cells of a table in one line: each with the column it begins in, or, if negative, ends before from the right."""
    canvas = Canvas(width, 1)
    for cell, at in parts:
        canvas.parts(at if at >= 0 else width + at + 1 - width_of(cell), 0, cell)
    return next(canvas.lines())


def team_mark(team: int) -> Part:
    """A team's letter."""
    return TEAMS[team], f"$team-{team} bold"


def score_line(facts: Facts, view: View, width: int) -> Line:
    """The running score, with names where there is room."""
    own = view["seat"] % facts["teams"] if view.get("seat") is not None else -1
    for named in (True, False):
        line: Line = []
        for team, score in enumerate(view["scores"]):
            names = (
                f" {members(facts, team, view.get('seat', -1))}" if named else " (you)" if team == own else ""
            )
            line += [team_mark(team), (names, ""), (f" {score}", "bold"), (f"/{facts['target']}", "$quiet")]
            line.append(("   ", ""))
        if width_of(line[:-1]) <= width:
            break
    return line[:-1]


def heading(text: str) -> Line:
    """The title of a block."""
    return [(text, "$heading bold")]


def points_block(facts: Facts, view: View, width: int) -> list[Line]:
    """Which team holds each point so far, two in a line, and the card points."""
    cells: list[Line] = []
    for name, label in facts["points"]:
        team = view["tally"][name]
        cells.append(
            [
                (f"{label} ", "" if team is not None else "$quiet"),
                team_mark(team) if team is not None else ("–", "$quiet"),
            ]
        )
    half = width // 2
    lines = [heading(f"Points in deal {view['deal']}")]
    for index in range(0, len(cells), 2):
        lines.append(
            row([(cells[index], 0), *((cell, half) for cell in cells[index + 1 : index + 2])], width)
        )
    counts: Line = [("Cards", "$quiet")]
    for team, points in enumerate(view["card_points"]):
        counts += [("  ", ""), team_mark(team), (f" {points}", "")]
    tricks: Line = [("Tricks", "$quiet")]
    for team, number in enumerate(view["tricks"]):
        tricks += [("  ", ""), team_mark(team), (f" {number}", "")]
    return [*lines, counts, tricks]


def auction_block(facts: Facts, view: View, width: int) -> list[Line]:
    """Who said what, two in a line."""
    half = width // 2
    cells: list[Line] = []
    for seat, word in view["bids"]:
        best = seat == view["bidder"]
        name = cut(who(facts, seat, view.get("seat", -1)), half - 6)
        cells.append([(f"{name} ", "bold" if best else "$quiet"), (word, "bold" if best else "$quiet")])
    lines = [heading("Auction")]
    for index in range(0, len(cells), 2):
        lines.append(
            row([(cells[index], 0), *((cell, half) for cell in cells[index + 1 : index + 2])], width)
        )
    return lines if cells else [*lines, [("Nobody has spoken.", "$quiet")]]


def last_block(facts: Facts, view: View, width: int) -> list[Line]:
    """The trick before: its cards in order, and who took it."""
    lines = [heading("Last trick")]
    if view["last"] is None:
        return [*lines, [("None yet.", "$quiet")]]
    cards: Line = []
    for seat, card in view["last"]["cards"]:
        taken = seat == view["last"]["winner"]
        cards += [small(card, "bold underline" if taken else ""), (" ", "")]
    name = who(facts, view["last"]["winner"], view.get("seat", -1))
    return [*lines, cards, [(f"to {cut(name, width - 3)}", "$quiet")]]


def hint_block(hint: Mapping[str, Any], width: int, height: int) -> list[Line]:
    """What the likeliest actions are worth, in at most `height` lines."""
    bids = any(one.make is not None for _, one in hint["rows"])
    ends = (-10, -5, -1) if bids else (-7, -1, None)
    heads: list[tuple[Line, int]] = [
        ([("Hint", "$heading bold")], 0),
        ([("often", "$quiet")], ends[0]),
        ([("points", "$quiet")], ends[1]),
    ]
    if bids:
        heads = [*heads[:2], ([("pts", "$quiet")], ends[1]), ([("made", "$quiet")], -1)]
    lines = [row(heads, width)]
    for index, (action, one) in enumerate(hint["rows"][: height - 1]):
        style = "bold" if index == 0 else ""
        cells: list[tuple[Line, int]] = [
            ([("*" if index == 0 else " ", "$advised bold"), *action_sign(action)], 0),
            ([(f"{one.probability:.0%}", style)], ends[0]),
            ([(signed(one.points, 1), style)], ends[1]),
        ]
        if bids and one.make is not None:
            cells.append(([(f"{one.make:.0%}", style)], -1))
        lines.append(row(cells, width))
    return lines


def hint_note(hint: Mapping[str, Any]) -> str:
    """What the figures of a hint are."""
    return hint_meaning(hint)


def sheet_lines(facts: Facts, view: View, width: int) -> list[Line]:
    """The deals so far, one a line."""
    lines: list[Line] = []
    for index, deal in enumerate(view["sheet"]):
        if "redeal" in deal:
            lines.append([(f"{index + 1:>3}  ", "$quiet"), ("passed out", "$quiet")])
            continue
        name = cut(who(facts, deal["bidder"], view["seat"]), 14)
        line: Line = [(f"{index + 1:>3}  ", "$quiet"), (f"{name} {deal['bid']} ", "")]
        line += [(SIGNS[deal["trump"]], suit_style(deal["trump"])), ("" if deal["made"] else " set", "$bad")]
        cells: list[tuple[Line, int]] = [(line, 0)]
        for team, score in enumerate(deal["scores"]):
            text = f"{score:>3} ({signed(deal['delta'][team])})"
            cells.append(([team_mark(team), (f" {text}", "")], 28 + 12 * team))
        lines.append(row(cells, width))
    return lines or [[("No deal is finished yet.", "$quiet")]]


def result_lines(facts: Facts, view: View, result: Mapping[str, Any], width: int) -> list[Line]:
    """What a deal has given."""
    if "redeal" in result:
        return [[("The cards are thrown in and dealt again; nobody scores.", "")]]
    lines: list[Line] = [[(contract(facts, result, view["seat"]), "")], []]
    cells: list[Line] = []
    for name, label in facts["points"]:
        team = result["points"][name]
        cells.append([(f"{label} ", ""), team_mark(team) if team is not None else ("nobody", "$quiet")])
    step = max(15, width // 4)
    per = max(1, width // step)
    for index in range(0, len(cells), per):
        lines.append(row([(cell, step * at) for at, cell in enumerate(cells[index : index + per])], width))
    heads: list[tuple[Line, int]] = [([("Team", "$quiet")], 0)]
    heads += [([(text, "$quiet")], at) for text, at in (("cards", -17), ("deal", -9), ("score", -1))]
    lines += [[], row(heads, width)]
    for team, score in enumerate(result["scores"]):
        names = cut(members(facts, team, view["seat"]), width - 26)
        lines.append(
            row(
                [
                    ([team_mark(team), (f" {names}", "")], 0),
                    ([(str(result["card_points"][team]), "")], -17),
                    ([(signed(result["delta"][team]), "")], -9),
                    ([(str(score), "bold")], -1),
                ],
                width,
            )
        )
    return lines


def tricks_lines(facts: Facts, view: View, result: Mapping[str, Any]) -> list[Line]:
    """Every trick of a deal, the cards in the order played, the winner's marked."""
    lines: list[Line] = []
    for number, trick in enumerate(result.get("tricks", ()), 1):
        line: Line = [(f"{number}  ", "$quiet")]
        for seat, card in trick["cards"]:
            won = seat == trick["winner"]
            left, right = "»«" if won else "  "
            line += [
                (cut(who(facts, seat, view["seat"]), 8), "bold" if won else "$quiet"),
                (left, ""),
                small(card, "bold" if won else ""),
                (right, ""),
            ]
        lines.append(line)
    return lines or [[("No card was played.", "$quiet")]]


def review_lines(review: Mapping[str, Any], width: int) -> list[Line]:
    """Each decision beside the adviser's and the solver's, with what it cost."""
    if not review["decisions"]:
        return [[("You had no choice to make in this deal.", "")]]
    at = (0, 17, 28, 46, 54)
    heads = ("Decision", "You", cut(review["adviser"], 17), "cost", "Solver")
    lines = [
        row(
            [
                *(([(text, "$quiet")], x) for text, x in zip(heads, at, strict=True)),
                ([("cost", "$quiet")], -1),
            ],
            width,
        )
    ]
    for one in review["decisions"]:
        other = one["action"] != one["adviser"]
        best: Line = []
        for card in one["solver"][:3]:
            best += [small(card), (" ", "")]
        if len(one["solver"]) > 3:
            best.append(("…", "$quiet"))
        lines.append(
            row(
                [
                    (
                        [("≠ " if other else "  ", "$bad"), (cut(one["label"], 14), "bold" if other else "")],
                        at[0],
                    ),
                    (action_sign(one["action"]), at[1]),
                    ([*action_sign(one["adviser"]), (f" {one['adviser_probability']:.0%}", "$quiet")], at[2]),
                    ([_cost(one["adviser_cost"])], at[3]),
                    (best or [("–", "$quiet")], at[4]),
                    ([_cost(one["solver_cost"])], -1),
                ],
                width,
            )
        )
    return [*lines, [], [(REVIEW_MEANING, "$quiet")]]


def _cost(points: float | None) -> Part:
    if points is None:
        return "–", "$quiet"
    return ("0", "$good") if points < 0.005 else (f"-{points:.2f}", "$bad bold")


def hands_lines(facts: Facts, frame: Mapping[str, Any], width: int) -> list[Line]:
    """Every hand of a replay's frame, by suits; the card that is played next in brackets."""
    lines: list[Line] = []
    for seat, hand in enumerate(frame["hands"]):
        line: Line = [
            ("▶" if frame["turn"] == seat else " ", "$turn bold"),
            team_mark(seat % facts["teams"]),
            (f" {seat + 1}  ", ""),
        ]
        following = frame["next"] if frame["next"] and frame["next"][0] == seat else None
        for card in hand:
            chosen = following is not None and following[1] == card
            line += (
                [("[", "bold"), small(card, "bold"), ("]", "bold")] if chosen else [small(card), (" ", "")]
            )
        if width_of(line) > width:
            line = [*line[:3], *((card_text.replace(" ", ""), style) for card_text, style in line[3:])]
        lines.append(line)
    return lines
