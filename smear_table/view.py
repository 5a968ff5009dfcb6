"""What one seat may see of a table, as a plain dictionary for its browser.

Cards come from the seat's own observation, decoded, and from nothing else; of deals that are over, from what lay face
up on the table. Who discarded what is never told, only how many.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from smear_env import Rules, decode
from smear_env.history import Seen, trick_winner
from smear_table.order import POINT_NAMES, held, trumps
from smear_table.reasons import refusals
from smear_table.session import HUMAN, Session

Card = list[Any]
"""[seat, card]"""


def seat_view(session: Session, seat: int) -> dict[str, Any]:
    """All that the browser of a seat is told; seats and teams are absolute."""
    rules = session.rules
    shown = session.observe(seat)
    seen = decode(shown["observation"], rules)
    around = _Around(rules, seat)
    mask = shown["action_mask"]
    legal = [session.names[action] for action in np.flatnonzero(mask)]
    last = seen.tricks[-1] if seen.tricks else None
    return {
        "number": session.number,
        "seat": seat,
        "deal": len(session.finished) + (0 if session.over else 1),
        "dealer": around.seat(seen.dealer),
        "phase": seen.phase,
        "turn": session.turn,
        "hand": held(rules, seen.hand, seen.trump),
        "taken": list(seen.taken),
        "thrown": list(seen.discards),
        "legal": legal,
        "refusals": refusals(rules, seen, legal) if legal else {},
        "counts": _counts(session, seen, around),
        "stock": rules.stock_size - sum(seen.exchanged),
        "exchanged": around.by_seat(seen.exchanged),
        "bids": [[around.seat(who), word] for who, word in seen.bids],
        "bidder": around.seat(seen.bidder),
        "bid": seen.bid,
        "trump": seen.trump,
        "trick": around.cards(seen.trick),
        "leader": around.seat(seen.leader),
        "last": None
        if last is None
        else {"cards": around.cards(last.cards), "winner": around.seat(last.winner)},
        "tricks": around.by_team(
            [sum(trick.winner % rules.teams == t for trick in seen.tricks) for t in range(rules.teams)]
        ),
        "card_points": around.by_team(seen.card_points),
        "tally": _tally(rules, seen, around),
        "scores": _scores(session),
        "sheet": [_row(deal) for deal in session.finished],
        "result": deal_summary(session, -1) if session.finished else None,
        "fresh": session.fresh,
        "over": session.over,
        "winner": session.winner,
        "undo": session.undo_to(seat) is not None,
    }


def table_facts(session: Session) -> dict[str, Any]:
    """What does not change during a match: the game, its words, and who sits where."""
    rules, setup = session.rules, session.setup
    return {
        "game": rules.name,
        "players": rules.players,
        "teams": rules.teams,
        "target": rules.target,
        "hand_size": rules.hand_size,
        "exchange": rules.exchange,
        "bids": list(range(rules.min_bid, rules.max_bid + 1)),
        "suits": list(rules.suits),
        "points": [[name, POINT_NAMES[name]] for name in rules.point_names],
        "options": {name: getattr(rules, name) for name in setup.options},
        "practice": setup.practice,
        "seats": [
            {"name": seat.name, "human": seat.player == HUMAN, "player": seat.player, "team": i % rules.teams}
            for i, seat in enumerate(setup.seats)
        ],
    }


def deal_summary(session: Session, index: int) -> dict[str, Any]:
    """A finished deal as the table saw it: the auction, every trick, and what it gave."""
    deal = session.finished[index]
    rules = session.rules
    number = index % len(session.finished) + 1
    said = deal["actions"][: auction_length(rules, deal["actions"])]
    if "redeal" in deal:
        return {"number": number, "dealer": deal["dealer"], "bids": said, "redeal": True}
    plays = deal["actions"][-rules.players * rules.hand_size :]
    tricks = [plays[i : i + rules.players] for i in range(0, len(plays), rules.players)]
    return {
        "number": number,
        "bids": said,
        **{name: deal[name] for name in ("dealer", "bid", "bidder", "trump", "points", "card_points")},
        **{name: deal[name] for name in ("made", "delta", "scores")},
        "tricks": [{"cards": trick, "winner": winner_of(rules, deal["trump"], trick)} for trick in tricks],
    }


def at_end(view: dict[str, Any]) -> dict[str, Any]:
    """The view with the deal before as its last trick left it, while its result is looked at."""
    result = view["result"]
    empty = {"phase": "over", "trick": [], "turn": None, "counts": [0] * len(view["counts"]), "stock": 0}
    common = {**view, **empty, "dealer": result["dealer"], "bids": result["bids"], "deal": result["number"]}
    if "redeal" in result:
        teams = len(view["tricks"])
        none = {"last": None, "trump": None, "bidder": None, "bid": 0, "tally": dict.fromkeys(view["tally"])}
        return {**common, **none, "tricks": [0] * teams, "card_points": [0] * teams}
    tricks = [0] * len(view["tricks"])
    for trick in result["tricks"]:
        tricks[trick["winner"] % len(tricks)] += 1
    return {
        **common,
        **{name: result[name] for name in ("trump", "bidder", "bid", "card_points")},
        "last": result["tricks"][-1],
        "tricks": tricks,
        "tally": result["points"],
    }


def auction_length(rules: Rules, actions: Sequence[Sequence[Any]]) -> int:
    """How many actions the auction took: one a seat, none after the highest bid."""
    for index, (_, name) in enumerate(actions[: rules.players]):
        if name == str(rules.max_bid):
            return index + 1
    return min(len(actions), rules.players)


def winner_of(rules: Rules, trump: str, trick: Sequence[Sequence[Any]]) -> int:
    """The seat that takes a trick of (seat, card) pairs, the lead first."""
    return _winner_of(rules, trump, tuple((int(seat), card) for seat, card in trick))


@lru_cache(maxsize=4096)
def _winner_of(rules: Rules, trump: str, trick: tuple[tuple[int, str], ...]) -> int:
    names = rules.card_names
    return trick_winner(rules, rules.suits.index(trump), [(seat, names.index(card)) for seat, card in trick])


class _Around:
    """Seats and teams counted from a viewer, turned to their own numbers."""

    def __init__(self, rules: Rules, viewer: int) -> None:
        self.players, self.teams, self.viewer = rules.players, rules.teams, viewer

    def seat(self, relative: int | None) -> Any:
        return None if relative is None else (relative + self.viewer) % self.players

    def cards(self, cards: Sequence[tuple[int, str]]) -> list[Card]:
        return [[self.seat(who), card] for who, card in cards]

    def by_seat(self, values: Sequence[Any]) -> list[Any]:
        return [values[(seat - self.viewer) % self.players] for seat in range(self.players)]

    def by_team(self, values: Sequence[Any]) -> list[Any]:
        return [values[(team - self.viewer) % self.teams] for team in range(self.teams)]

    def team(self, relative: int) -> int:
        return (relative + self.viewer) % self.teams


def _counts(session: Session, seen: Seen, around: _Around) -> list[int]:
    """[players] cards in each hand; how many somebody threw is public."""
    rules = session.rules
    on_table = {who for who, _ in seen.trick}
    counts = [
        rules.hand_size - len(seen.tricks) - (relative in on_table) for relative in range(rules.players)
    ]
    if seen.turn is not None and seen.phase in ("discard", "exchange"):
        turn = around.seat(seen.turn)
        thrown = sum(
            who == turn and phase in ("discard", "exchange") and action != "pass"
            for who, phase, action in session.said
        )
        drawn = seen.exchanged[seen.turn] if seen.phase == "discard" else 0
        counts[seen.turn] = rules.hand_size + drawn - thrown
    if session.over:
        counts = [0] * rules.players
    return around.by_seat(counts)


def _tally(rules: Rules, seen: Seen, around: _Around) -> dict[str, int | None]:
    """The team that each point of this deal goes to as it stands, from the finished tricks; Game is by card points."""
    tally: dict[str, int | None] = dict.fromkeys(rules.point_names)
    if seen.trump is None:
        return tally
    for team, names in enumerate(seen.captured):
        for name in names:
            if name in rules.capture_names:
                tally[name] = around.team(team)
    order = [card for card in trumps(rules, seen.trump) if card not in rules.joker_names]
    played = {
        card: (who, trick.winner) for trick in seen.tricks for who, card in trick.cards if card in order
    }
    if played:
        high = min(played, key=order.index)
        low = max(played, key=order.index)
        if rules.high_low == "in_play" or high == order[0]:
            tally["high"] = around.team(played[high][0] % rules.teams)
        if rules.high_low == "in_play" or low == order[-1]:
            tally["low"] = around.team(played[low][rules.low_to == "winner"] % rules.teams)
    most = max(seen.card_points)
    if seen.card_points.count(most) == 1:
        tally["game"] = around.team(seen.card_points.index(most))
    return tally


def _scores(session: Session) -> list[int]:
    scores: list[int] = session.env.scores
    return scores


def _row(deal: dict[str, Any]) -> dict[str, Any]:
    """One line of the score sheet."""
    if "redeal" in deal:
        return {"redeal": True, "dealer": deal["dealer"]}
    return {name: deal[name] for name in ("dealer", "bidder", "bid", "trump", "made", "delta", "scores")}
