"""A transcript made ready for the slider: one deal as frames, each the open table before an action.

Whatever is uploaded is checked against the rules to its end before anything of it is shown.
"""

from __future__ import annotations

from typing import Any

from smear_env import PRESETS
from smear_env.render import TableView
from smear_env.table_view import table_view
from smear_env.transcript import TranscriptError, check_match, positions
from smear_env.transcript.format import match_rules, parse_line
from smear_table.catalogue import GAMES
from smear_table.order import POINT_NAMES, held
from smear_table.session import RefusedError
from smear_table.view import winner_of

MOST_BYTES = 2 * 2**20
"""A longer upload is refused; a match has some hundred kilobytes at most."""


def read_matches(content: bytes) -> list[dict[str, Any]]:
    """The matches of a file, each still to be checked; RefusedError where it is no such file."""
    if len(content) > MOST_BYTES:
        raise RefusedError(f"The file is larger than {MOST_BYTES // 2**20} MB.", "malformed")
    lines = [line for line in content.splitlines() if line.strip()]
    if not lines:
        raise RefusedError("The file is empty.", "malformed")
    try:
        return [parse_line(line) for line in lines]
    except TranscriptError as error:
        raise RefusedError(f"This is no transcript: {error}", "malformed") from error


def replay_deal(match: dict[str, Any], deal: int) -> dict[str, Any]:
    """The frames of a deal, by index, with what the page needs to know of the match; RefusedError for a bad one."""
    try:
        check_match(match)
    except TranscriptError as error:
        raise RefusedError(f"This transcript is not as the rules have it: {error}", "malformed") from error
    rules = match_rules(match)
    deals = match["deals"]
    if not 0 <= deal < len(deals):
        raise RefusedError(f"The transcript has deals 1 to {len(deals)}.", "malformed")
    frames = []
    for position in positions(match):
        if position.deal == deal:
            table = table_view(rules, position.states[0])
            action = rules.action_names[position.action]
            frames.append({**_frame(table), "next": [position.seat, action]})
        elif position.deal > deal:
            break
    data = deals[deal]
    return {
        "game": rules.name,
        "title": GAMES.get(rules.name, (rules.name, ""))[0],
        "players": rules.players,
        "teams": rules.teams,
        "target": rules.target,
        "hand_size": PRESETS[rules.name].hand_size,
        "points": [[name, POINT_NAMES[name]] for name in rules.point_names],
        "deal": deal,
        "deals": len(deals),
        "winner": match["winner"],
        "frames": frames + _end(rules, frames, data),
        "result": {name: data[name] for name in _RESULT if name in data},
    }


_RESULT = ("redeal", "dealer", "bid", "bidder", "trump", "points", "card_points", "made", "delta", "scores")


def _frame(table: TableView) -> dict[str, Any]:
    rules = PRESETS[table.game]
    return {
        "dealer": table.dealer,
        "turn": table.turn,
        "phase": table.phase,
        "hands": [held(rules, hand, table.trump) if isinstance(hand, tuple) else [] for hand in table.hands],
        "stock": table.stock,
        "bids": [list(bid) for bid in table.bids],
        "bidder": table.bidder,
        "bid": table.bid,
        "trump": table.trump,
        "trick": [list(play) for play in table.trick],
        "last": None
        if table.last_winner is None
        else {"cards": [list(play) for play in table.last_trick], "winner": table.last_winner},
        "tricks": list(table.tricks_won),
        "card_points": list(table.card_points),
        "scores": list(table.scores),
    }


def _end(rules: Any, frames: list[dict[str, Any]], data: dict[str, Any]) -> list[dict[str, Any]]:
    """The table after the last action of a deal that was played to its end."""
    if "scores" not in data or not frames:
        return []
    last = frames[-1]
    trick = [*last["trick"], list(last["next"])]
    winner = winner_of(rules, data["trump"], trick)
    tricks = list(last["tricks"])
    tricks[winner % rules.teams] += 1
    return [
        {
            **last,
            "turn": None,
            "phase": "over",
            "hands": [[] for _ in last["hands"]],
            "trump": data["trump"],
            "trick": [],
            "last": {"cards": trick, "winner": winner},
            "tricks": tricks,
            "card_points": data["card_points"],
            "scores": data["scores"],
            "next": None,
        }
    ]
