"""What stands beside the felt, as lines: scores, the deal's points, auction, last trick, hints, results and reviews."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from textual.content import Content

from smear_table.advice import Advice
from smear_table.terminal.canvas import Canvas, Part, cut, width_of
from smear_table.terminal.cards import SIGNS, action_sign, small, suit_style
from smear_table.terminal.reports import REVIEW_MEANING, hint_meaning
from smear_table.words import TEAMS, Facts, View, action_text, contract, members, signed, who

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


def in_columns(cells: list[Line], each: int, width: int) -> list[Line]:
    """Cells side by side, each in a column of `each`, as many in a line as there is room for."""
    count = max(1, width // each)
    groups = [cells[index : index + count] for index in range(0, len(cells), count)]
    return [row([(cell, each * at) for at, cell in enumerate(group)], width) for group in groups]


def points_lines(
    points: Iterable[tuple[str, str]], holders: Mapping[str, int | None], width: int
) -> list[Line]:
    """Each point and the team that has it."""
    cells: list[Line] = []
    for name, label in points:
        team = holders[name]
        held = ("-", "$quiet") if team is None else team_mark(team)
        cells.append([(f"{label} ", "$quiet" if team is None else ""), held])
    each = max(11, *(width_of(cell) + 2 for cell in cells))
    return in_columns(cells, each, width)


def points_block(facts: Facts, view: View, width: int) -> list[Line]:
    """Which team holds each point so far, card points and tricks."""
    cards: Line = [("Cards ", "$quiet")]
    tricks: Line = [("Tricks", "$quiet")]
    for team, (points, number) in enumerate(zip(view["card_points"], view["tricks"], strict=True)):
        cards += [(" ", ""), team_mark(team), (f" {points:<2}", "")]
        tricks += [(" ", ""), team_mark(team), (f" {number:<2}", "")]
    lines = points_lines(facts["points"], view["tally"], width)
    return [heading(f"Points in deal {view['deal']}"), *lines, cards, tricks]


def auction_block(facts: Facts, view: View, width: int) -> list[Line]:
    """Who said what, two in a line."""
    # Four players' names have a line each.
    half = width if facts["players"] <= 4 else width // 2
    cells: list[Line] = []
    for seat, word in view["bids"]:
        best = seat == view["bidder"]
        name = cut(who(facts, seat, view.get("seat", -1)), half - 6)
        cells.append([(f"{name} ", "bold" if best else "$quiet"), (word, "bold" if best else "$quiet")])
    said = in_columns(cells, half, width) if cells else [[("Nobody has spoken.", "$quiet")]]
    return [heading("Auction"), *said]


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
    """What the likeliest actions are worth, in at most `height` lines; the last columns only where there is room."""
    rows: list[tuple[str, Advice]] = hint["rows"][: height - 1]
    names = [action_sign(action) for action, _ in rows]
    columns = [("often", 5, [f"{one.probability:.0%}" for _, one in rows])]
    columns.append(("pts", 6, [signed(one.points, 1) for _, one in rows]))
    if any(one.make is not None for _, one in hint["rows"]):
        columns.append(("made", 5, ["" if one.make is None else f"{one.make:.0%}" for _, one in rows]))
    if any(one.win_change is not None for _, one in hint["rows"]):
        changes = ["" if one.win_change is None else signed(100 * one.win_change, 1) for _, one in rows]
        columns.append(("match", 6, changes))
    room = width - 1 - max(map(width_of, names))
    while sum(size for _, size, _ in columns) > room:
        columns.pop()
    ends = [-1 - sum(size for _, size, _ in columns[at + 1 :]) for at in range(len(columns))]
    titles: list[tuple[Line, int]] = [
        ([(title, "$quiet")], end) for (title, _, _), end in zip(columns, ends, strict=True)
    ]
    lines = [row([(heading("Hint"), 0), *titles], width)]
    for index, name in enumerate(names):
        style = "bold" if index == 0 else ""
        cells: list[tuple[Line, int]] = [([("*" if index == 0 else " ", "$advised bold"), *name], 0)]
        cells += [([(texts[index], style)], end) for (_, _, texts), end in zip(columns, ends, strict=True)]
        lines.append(row(cells, width))
    return lines


def hint_first(hint: Mapping[str, Any]) -> str:
    """What a hint puts first, and what that would change in the chance of winning the match, where it is known."""
    action, one = hint["rows"][0]
    change = "" if one.win_change is None else f" (match {signed(100 * one.win_change, 1)} %)"
    return f"Hint: {action_text(action)}{change}."


def hint_note(hint: Mapping[str, Any]) -> str:
    """What the figures of a hint are."""
    return hint_meaning(hint)


def sheet_lines(facts: Facts, view: View, width: int) -> list[Line]:
    """The deals so far, one a line."""
    return [
        [(f"{index + 1:>3}  passed out", "$quiet")]
        if "redeal" in deal
        else _sheet_row(facts, view, index, deal, width)
        for index, deal in enumerate(view["sheet"])
    ] or [[("No deal is finished yet.", "$quiet")]]


def _sheet_row(facts: Facts, view: View, index: int, deal: Mapping[str, Any], width: int) -> Line:
    name = cut(who(facts, deal["bidder"], view["seat"]), 14)
    line: Line = [(f"{index + 1:>3}  ", "$quiet"), (f"{name} {deal['bid']} ", "")]
    line += [(SIGNS[deal["trump"]], suit_style(deal["trump"])), ("" if deal["made"] else " set", "$bad")]
    cells: list[tuple[Line, int]] = [(line, 0)]
    for team, score in enumerate(deal["scores"]):
        text = f"{score:>3} ({signed(deal['delta'][team])})"
        cells.append(([team_mark(team), (f" {text}", "")], 28 + 12 * team))
    return row(cells, width)


def result_lines(facts: Facts, view: View, result: Mapping[str, Any], width: int) -> list[Line]:
    """What a deal has given."""
    if "redeal" in result:
        return [[("The cards are thrown in and dealt again; nobody scores.", "")]]
    lines: list[Line] = [[(contract(facts, result, view["seat"]), "")], []]
    lines += points_lines(facts["points"], result["points"], width)
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


def tricks_lines(facts: Facts, view: View, result: Mapping[str, Any], width: int) -> list[Line]:
    """Every trick of a deal, a seat in each column, from the bidder's; the lead has a dot, the winner brackets."""
    if "tricks" not in result:
        return [[("No card was played.", "$quiet")]]
    players = facts["players"]
    seats = [(result["bidder"] + turn) % players for turn in range(players)]
    each = min(14, (width - 3) // players)
    heads: list[tuple[Line, int]] = []
    for at, seat in enumerate(seats):
        name = cut(who(facts, seat, view["seat"]), each - 3)
        heads.append(([team_mark(seat % facts["teams"]), (f" {name}", "$quiet")], 3 + each * at))
    lines = [row(heads, width)]
    for number, trick in enumerate(result["tricks"], 1):
        cells: list[tuple[Line, int]] = [([(str(number), "$quiet")], 0)]
        for seat, card in trick["cards"]:
            won, led = seat == trick["winner"], seat == trick["cards"][0][0]
            left, right = "[]" if won else "  "
            picture = small(card, "bold" if won else "")
            cell: Line = [(("·" if led else " ") + left, "bold"), picture, (right, "bold")]
            cells.append((cell, 3 + each * seats.index(seat)))
        lines.append(row(cells, width))
    return [*lines, [], [("· led, [ ] took the trick", "$quiet")]]


def review_lines(review: Mapping[str, Any], width: int) -> list[Line]:
    """Each decision beside the adviser's and the solver's, with what it cost."""
    if not review["decisions"]:
        return [[("You had no choice to make in this deal.", "")]]
    # Room for `Trick 4, follow` where there is any.
    first = 18 if width >= 72 else 16
    at = (0, first, first + 10, first + 27, first + 34)
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
                        [
                            ("≠ " if other else "  ", "$bad"),
                            (cut(one["label"], first - 2), "bold" if other else ""),
                        ],
                        at[0],
                    ),
                    (action_sign(one["action"]), at[1]),
                    ([*action_sign(one["adviser"]), (f" {one['adviser_probability']:.0%}", "$quiet")], at[2]),
                    ([_cost(one["adviser_cost"])], at[3]),
                    (best or [("-", "$quiet")], at[4]),
                    ([_cost(one["solver_cost"])], -1),
                ],
                width,
            )
        )
    return [*lines, [], [(REVIEW_MEANING, "$quiet")]]


def _cost(points: float | None) -> Part:
    if points is None:
        return "-", "$quiet"
    return ("0", "$good") if points < 0.005 else (f"-{points:.2f}", "$bad bold")


def hands_lines(facts: Facts, frame: Mapping[str, Any], width: int) -> list[Line]:
    """Every hand of a replay's frame, by suits; the card that is played next in brackets."""
    lines: list[Line] = []
    for seat, hand in enumerate(frame["hands"]):
        line: Line = [
            ("▶" if frame["turn"] == seat else " ", "$turn bold"),
            team_mark(seat % facts["teams"]),
            (f" {seat}  ", ""),
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
