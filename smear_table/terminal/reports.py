"""What can be asked about a match, as lines of words: each function gives lines without colours or symbols."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smear_table.order import SUIT_NAMES, card_text
from smear_table.words import TEAMS, Facts, View, action_text, contract, headline, members, signed, who


def seats_lines(facts: Facts, view: View) -> list[str]:
    """Who sits where, clockwise from the viewer."""
    viewer = view["seat"]
    lines = []
    for turn in range(facts["players"]):
        seat = (viewer + turn) % facts["players"]
        words = [f"team {TEAMS[seat % facts['teams']]}"]
        if seat != viewer and seat % facts["teams"] == viewer % facts["teams"]:
            words.append("your partner")
        if seat == view["dealer"]:
            words.append("dealer")
        if not view["over"]:
            count = view["counts"][seat]
            words.append(f"{count} {'card' if count == 1 else 'cards'}")
        lines.append(f"{who(facts, seat, viewer)}: {', '.join(words)}.")
    return lines


def score_lines(facts: Facts, view: View) -> list[str]:
    """The running score of the match."""
    return [
        f"Team {TEAMS[team]} ({members(facts, team, view['seat'])}): {score} of {facts['target']}."
        for team, score in enumerate(view["scores"])
    ]


def hand_lines(view: View) -> list[str]:
    """The own hand, and what of it is not allowed."""
    lines = [f"You hold {', '.join(map(card_text, view['hand'])) or 'no cards'}."]
    lines += [
        f"Not allowed: {card_text(card)}. {why}"
        for card, why in view["refusals"].items()
        if card in view["hand"]
    ]
    return lines


def auction_lines(facts: Facts, view: View) -> list[str]:
    """What has been bid, and trump."""
    said = [f"{who(facts, seat, view['seat'])}: {action_text(word)}." for seat, word in view["bids"]]
    trump = [f"{SUIT_NAMES[view['trump']].capitalize()} are trump."] if view["trump"] else []
    return [*(said or ["Nobody has spoken yet."]), *trump]


def trick_lines(facts: Facts, view: View) -> list[str]:
    """The cards on the table."""
    cards = [f"{who(facts, seat, view['seat'])}: {card_text(card)}." for seat, card in view["trick"]]
    return cards or ["No card lies on the table."]


def last_lines(facts: Facts, view: View) -> list[str]:
    """The trick before."""
    if view["last"] is None:
        return ["No trick is finished yet."]
    seat, taker = view["seat"], view["last"]["winner"]
    cards = [f"{who(facts, player, seat)}: {card_text(card)}." for player, card in view["last"]["cards"]]
    return [*cards, f"{who(facts, taker, seat)} {'take' if taker == seat else 'takes'} it."]


def points_lines(facts: Facts, view: View) -> list[str]:
    """Which team holds each point of the deal so far, card points and tricks."""
    holders = [
        f"{label}: {'nobody yet' if view['tally'][name] is None else 'team ' + TEAMS[view['tally'][name]]}."
        for name, label in facts["points"]
    ]
    counts = [
        f"Team {TEAMS[team]}: {points} card points in {tricks} {'trick' if tricks == 1 else 'tricks'}."
        for team, (points, tricks) in enumerate(zip(view["card_points"], view["tricks"], strict=True))
    ]
    return holders + counts


def sheet_lines(facts: Facts, view: View) -> list[str]:
    """The deals so far."""
    lines = []
    for index, deal in enumerate(view["sheet"]):
        if "redeal" in deal:
            lines.append(f"Deal {index + 1}: passed out.")
            continue
        changes = ", ".join(
            f"{TEAMS[team]} {signed(delta)} to {deal['scores'][team]}"
            for team, delta in enumerate(deal["delta"])
        )
        lines.append(f"Deal {index + 1}: {contract(facts, deal, view['seat'])} {changes}.")
    return lines or ["No deal is finished yet."]


def result_lines(facts: Facts, view: View, result: Mapping[str, Any]) -> list[str]:
    """What a deal has given, and who has won the match where it was its last."""
    newest = result["number"] == len(view["sheet"])
    lines = [headline(facts, view, result, over=False) + "."]
    if "redeal" not in result:
        lines.append(contract(facts, result, view["seat"]))
        lines += [
            f"{label}: {'nobody' if result['points'][name] is None else 'team ' + TEAMS[result['points'][name]]}."
            for name, label in facts["points"]
        ]
        lines += [
            f"Team {TEAMS[team]} ({members(facts, team, view['seat'])}): {signed(result['delta'][team])}, "
            f"now {score} of {facts['target']}, {result['card_points'][team]} card points."
            for team, score in enumerate(result["scores"])
        ]
    if newest and view["over"]:
        lines.append(headline(facts, view, result, over=True) + ".")
    return lines


def tricks_lines(facts: Facts, view: View, result: Mapping[str, Any]) -> list[str]:
    """Every trick of a finished deal, one a line."""
    seat = view["seat"]
    lines = []
    for number, trick in enumerate(result.get("tricks", ()), 1):
        cards = ", ".join(f"{who(facts, player, seat)} {card_text(card)}" for player, card in trick["cards"])
        taker = trick["winner"]
        lines.append(
            f"Trick {number}: {cards}; {who(facts, taker, seat)} {'take' if taker == seat else 'takes'} it."
        )
    return lines or ["No card was played."]


def hint_lines(hint: Mapping[str, Any], most: int = 8) -> list[str]:
    """What the likeliest actions are worth, and what that means."""
    lines = []
    for action, row in hint["rows"][:most]:
        made = "" if row.make is None else f", made {row.make:.0%} of the time if it stands"
        change = "" if row.win_change is None else f", match {signed(100 * row.win_change, 1)} %"
        chosen = f"chosen {row.probability:.0%}, {signed(row.points, 1)} points"
        lines.append(f"{action_text(action)}: {chosen}{made}{change}.")
    left = len(hint["rows"]) - most
    if left > 0:
        lines.append(f"{left} more.")
    return [*lines, hint_meaning(hint)]


def hint_meaning(hint: Mapping[str, Any]) -> str:
    """What the figures of a hint are."""
    text = (
        f"How often {hint['adviser']} would choose it, and your points less the others' to expect, "
        "over deals that fit what you see."
    )
    if any(row.win_change is not None for _, row in hint["rows"]):
        text += " Match: what the deal would change in your chance of winning the match."
    if hint["untrained"]:
        text += f" It was not trained on {', '.join(hint['untrained'])}."
    return text


REVIEW_MEANING = (
    "Costs are points lost. The adviser knew what you knew; the solver saw all hands, which nobody could."
)


def review_lines(review: Mapping[str, Any]) -> list[str]:
    """Each decision beside the adviser's and the solver's."""
    lines = []
    for row in review["decisions"]:
        advice = f"{review['adviser']} {action_text(row['adviser'])} ({row['adviser_probability']:.0%})"
        text = f"{row['label']}: you {action_text(row['action'])}; {advice}, cost {row['adviser_cost']:.2f}"
        if row["solver_cost"] is not None:
            best = ", ".join(map(card_text, row["solver"][:3])) + (", ..." if len(row["solver"]) > 3 else "")
            text += f"; solver {best}, cost {row['solver_cost']:.2f}"
        lines.append(text + ".")
    return [*lines, REVIEW_MEANING] if lines else ["You had no choice to make in this deal."]
