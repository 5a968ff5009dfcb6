"""What happens at a table in words: actions, prompts, headlines, and what came between two views.

Written for whoever reads with ears or in lines; the pictures of a screen are its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from smear_table.order import SUIT_NAMES, card_text

View = Mapping[str, Any]
"""What `view.seat_view` gives of a seat."""
Facts = Mapping[str, Any]
"""What `view.table_facts` gives of a table."""

TEAMS = "ABCDEF"
"""A letter for each team."""
_ASKED = {"bid": "bid", "name": "name trump", "exchange": "exchange", "discard": "discard", "play": "play"}


def action_text(action: str) -> str:
    """What an action is called: a card, a bid, a pass or naming trump."""
    if action == "pass":
        return "pass"
    if action.isdigit():
        return f"bid {action}"
    if action.startswith("trump:"):
        return f"{SUIT_NAMES[action[6]]} as trump"
    return card_text(action)


def signed(number: float, digits: int = 0) -> str:
    """A change with its sign, zero without one."""
    text = f"{number:+.{digits}f}"
    return text[1:] if float(text) == 0 else text


def who(facts: Facts, seat: int, viewer: int) -> str:
    """`You`, or the name in a seat; nobody looks with viewer -1."""
    return "You" if seat == viewer else str(facts["seats"][seat]["name"])


def members(facts: Facts, team: int, viewer: int) -> str:
    """Who plays in a team, the viewer first."""
    seats = [seat for seat in range(facts["players"]) if seat % facts["teams"] == team]
    return " + ".join(who(facts, seat, viewer) for seat in sorted(seats, key=lambda seat: seat != viewer))


def prompt(facts: Facts, view: View) -> str:
    """What is awaited, and of whom."""
    if view["over"]:
        return "The match is over."
    if view["fresh"]:
        return "The deal is over."
    turn, phase = view["turn"], view["phase"]
    if turn != view["seat"]:
        return f"{facts['seats'][turn]['name']} is to {_ASKED[phase]} ..."
    more = len(view["hand"]) - facts["hand_size"]
    texts = {
        "bid": f"Your bid: above {view['bid']}, or pass." if view["bid"] else "Your bid.",
        "name": "Name trump.",
        "exchange": f"Exchange up to {facts['exchange']} cards, or stop.",
        "discard": f"Discard {more} {'card' if more == 1 else 'cards'}.",
        "play": "Your card."
        if view["trick"]
        else "You lead."
        if view["trump"]
        else "You lead: its suit is trump.",
    }
    return texts[phase]


def stops(view: View) -> str:
    """What `pass` is called where it is allowed."""
    if view["phase"] != "exchange":
        return "pass"
    return "stop exchanging" if view["thrown"] else "keep all cards"


def headline(facts: Facts, view: View, result: Mapping[str, Any], *, over: bool) -> str:
    """How a deal went, or with `over` the match, for the seat of the view."""
    own = view["seat"] % facts["teams"]
    if over:
        if view["winner"] is None:
            return "The match was cut off"
        return f"{'Your team' if view['winner'] == own else 'Team ' + TEAMS[view['winner']]} wins the match"
    if "redeal" in result:
        return "Everybody passed: the cards are dealt again"
    team = result["bidder"] % facts["teams"]
    side = "Your team" if team == own else f"Team {TEAMS[team]}"
    return f"{side} made {result['bid']}" if result["made"] else f"{side} was set: bid {result['bid']}"


def contract(facts: Facts, result: Mapping[str, Any], viewer: int) -> str:
    """Who bid what in a deal, and its trump."""
    name = who(facts, result["bidder"], viewer)
    made = "made" if result["made"] else "set"
    return f"{name} bid {result['bid']}, {SUIT_NAMES[result['trump']]} trump: {made}."


def opening(facts: Facts, view: View) -> list[str]:
    """What a seat sees when cards are dealt, or when it comes back to a table."""
    seat = view["seat"]
    dealer = who(facts, view["dealer"], seat)
    hand = ", ".join(map(card_text, view["hand"])) or "no cards"
    return [f"Deal {view['deal']}. {dealer} {'deal' if dealer == 'You' else 'deals'}.", f"You hold {hand}."]


def tell(facts: Facts, before: View, view: View) -> list[str]:
    """What has happened in one event between two views of a seat, in sentences."""
    seat = view["seat"]
    if len(view["sheet"]) > len(before["sheet"]):
        result = view["result"]
        found = _said(facts, result["bids"][len(before["bids"]) :], seat)
        if "redeal" not in result:
            found += _trick(facts, result["tricks"][-1], len(before["trick"]), seat)
        return found
    found = _said(facts, view["bids"][len(before["bids"]) :], seat)
    if view["trump"] and not before["trump"]:
        found.append(f"{SUIT_NAMES[view['trump']].capitalize()} are trump.")
    found += _exchanged(facts, before, view)
    done = len(before["trick"])
    if sum(view["tricks"]) != sum(before["tricks"]):
        found += _trick(facts, view["last"], done, seat)
        done = 0
    return found + _played(facts, view["trick"][done:], seat)


def _said(facts: Facts, bids: Sequence[Sequence[Any]], viewer: int) -> list[str]:
    return [f"{who(facts, speaker, viewer)}: {action_text(word)}." for speaker, word in bids]


def _played(facts: Facts, cards: Sequence[Sequence[Any]], viewer: int) -> list[str]:
    return [f"{who(facts, player, viewer)}: {card_text(card)}." for player, card in cards]


def _trick(facts: Facts, trick: Mapping[str, Any], done: int, viewer: int) -> list[str]:
    taker = trick["winner"]
    takes = f"{who(facts, taker, viewer)} {'take' if taker == viewer else 'takes'} the trick."
    return [*_played(facts, trick["cards"][done:], viewer), takes]


def _exchanged(facts: Facts, before: View, view: View) -> list[str]:
    """What of exchanging and discarding is public, and what the seat itself drew or threw."""
    seat = view["seat"]
    found = [f"You throw the {card_text(card)}." for card in view["thrown"][len(before["thrown"]) :]]
    found += [f"You draw the {card_text(card)}." for card in view["taken"] if card not in before["taken"]]
    actor = before["turn"]
    over = view["turn"] != actor or view["phase"] != before["phase"]
    if over and before["phase"] in ("exchange", "discard"):
        count = view["exchanged"][actor]
        cards = f"{count} {'card' if count == 1 else 'cards'}"
        does = {"exchange": "exchange", "discard": "take and discard"}[before["phase"]]
        parts = does.split(" ")
        verb = does if actor == seat else " ".join(word if word == "and" else word + "s" for word in parts)
        found.append(f"{who(facts, actor, seat)} {verb} {cards}.")
    return found
