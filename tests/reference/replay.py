"""Replays one match of the format `smear-transcript/1` and checks everything it states.

A match with a winner ends on its last deal and not before; one with `"winner": null` was cut off
after its last deal, or within it: then this deal has no result.
"""

from typing import Any

from tests.reference.game import Match
from tests.reference.options import options

RESULT_KEYS = ("bid", "bidder", "trump", "points", "card_points", "made", "delta", "scores")


def replay(match_json: dict[str, Any]) -> Match:
    """The match at its end; AssertionError at the first thing stated that is not so."""
    _same(match_json["format"], "smear-transcript/1", "format")
    deals = match_json["deals"]
    winner = match_json["winner"]
    match = Match(
        options(match_json["rules"], **match_json["options"]),
        dealer=deals[0]["dealer"],
        max_deals=len(deals) if winner is None else len(deals) + 1,
    )
    for number, deal in enumerate(deals):
        assert match.needs_deal, f"deal {number}: the match was over before it"
        finished = _replay_deal(match, deal, f"deal {number}")
        assert finished or number == len(deals) - 1, f"deal {number}: left before its end"
    _same(winner, match.winner, "winner")
    if winner is not None:
        _same("over", match.phase, "phase after the last deal")
    return match


def _replay_deal(match: Match, deal: dict[str, Any], where: str) -> bool:
    """Whether the deal was played to its end."""
    _same(deal["dealer"], match.dealer, f"{where}: dealer")
    match.deal([hand.split() for hand in deal["hands"]], deal["stock"].split())
    legal = deal.get("legal")
    if legal is not None:
        _same(len(legal), len(deal["actions"]), f"{where}: number of legal sets")
    before = len(match.results)
    for index, (seat, name) in enumerate(deal["actions"]):
        at = f"{where}, action {index} ({name})"
        _same(seat, match.turn, f"{at}: seat to act")
        if legal is not None:
            _same(legal[index], " ".join(match.legal()), f"{at}: legal set")
        match.act(name)
    stated = {"redeal": True} if deal.get("redeal") else {k: deal[k] for k in RESULT_KEYS if k in deal}
    if len(match.results) == before:
        _same(stated, {}, f"{where}: result of a deal that is not finished")
        return False
    result = match.results[-1]
    _same(sorted(stated), sorted(result), f"{where}: keys of the result")
    for key, value in stated.items():
        _same(value, result[key], f"{where}: {key}")
    return True


def _same(stated: object, found: object, what: str) -> None:
    assert stated == found, f"{what}: the transcript states {stated!r}, the rules give {found!r}"
