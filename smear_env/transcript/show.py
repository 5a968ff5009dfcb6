"""A match as a card player would write it down: hands by suit, auction, stock, a line for each trick, scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from smear_env.history import trick_winner
from smear_env.rules import Rules
from smear_env.transcript.format import match_rules, split_cards
from smear_env.transcript.replay import check_match


def show_match(match: dict[str, Any], deal: int | None = None) -> str:
    """The match, or one of its deals by its index, as text; `TranscriptError` if it is not as the rules have it."""
    check_match(match)
    rules = match_rules(match)
    if deal is not None and not 0 <= deal < len(match["deals"]):
        raise ValueError(f"deal={deal} is not there: the match has deals 0 to {len(match['deals']) - 1}")
    options = ", ".join(f"{name}={value}" for name, value in match["options"].items())
    winner = "no winner" if match["winner"] is None else f"won by {_team(rules, match['winner'])}"
    lines = [f"{rules.name} ({options or 'default options'}), {len(match['deals'])} deals, {winner}"]
    for index, one in enumerate(match["deals"]):
        if deal in (None, index):
            lines += ["", f"Deal {index}, dealer seat {one['dealer']}", *_deal(rules, one)]
    return "\n".join(lines)


def _winner(rules: Rules, trump: str, trick: list[list[Any]]) -> int:
    cards = [(seat, rules.card_names.index(card)) for seat, card in trick]
    return trick_winner(rules, rules.suits.index(trump), cards)


def _deal(rules: Rules, deal: dict[str, Any]) -> Iterator[str]:
    for seat, hand in enumerate(deal["hands"]):
        yield f"  seat {seat} ({_team(rules, seat % rules.teams)})  {_by_suit(rules, split_cards(hand))}"
    yield f"  stock          {deal['stock']}"
    actions: list[list[Any]] = deal["actions"]
    bids = _auction_length(rules, actions)
    yield "  auction        " + ", ".join(
        f"seat {seat} {'passes' if n == 'pass' else n}" for seat, n in actions[:bids]
    )
    if deal.get("redeal"):
        yield "  everybody passed: thrown in"
        return
    rest = actions[bids:]
    plays = rules.players * rules.hand_size
    if "scores" not in deal:
        yield f"  cut off after  {' '.join(f'{seat}:{name}' for seat, name in rest) or 'the auction'}"
        return
    yield from _stock(rest[:-plays])
    yield f"  trump {deal['trump']}"
    tricks = rest[-plays:]
    for number in range(rules.hand_size):
        trick = tricks[number * rules.players : (number + 1) * rules.players]
        cards_played = "  ".join(f"{seat}:{card}" for seat, card in trick)
        yield f"  trick {number + 1}        {cards_played}  won by seat {_winner(rules, deal['trump'], trick)}"
    yield from _result(rules, deal)


def _auction_length(rules: Rules, actions: list[list[Any]]) -> int:
    """How many actions the auction took: up to one a seat, none after the highest bid."""
    for index, (_, name) in enumerate(actions[: rules.players]):
        if name == str(rules.max_bid):
            return index + 1
    return min(len(actions), rules.players)


def _stock(actions: list[list[Any]]) -> Iterator[str]:
    """Naming trump, exchanges and discards, a line for each seat that throws."""
    thrown: dict[int, list[str]] = {}
    for seat, name in actions:
        if name.startswith("trump:"):
            yield f"  seat {seat} names   {name.removeprefix('trump:')}"
        elif name != "pass":
            thrown.setdefault(seat, []).append(name)
    for seat, cards in thrown.items():
        yield f"  seat {seat} throws  {' '.join(cards)}"


def _result(rules: Rules, deal: dict[str, Any]) -> Iterator[str]:
    points = (
        f"{name} {'nobody' if team is None else _team(rules, team)}" for name, team in deal["points"].items()
    )
    yield f"  points         {', '.join(points)}"
    yield f"  card points    {' '.join(map(str, deal['card_points']))}"
    outcome = "made" if deal["made"] else "failed"
    yield f"  bid            {deal['bid']} by seat {deal['bidder']}, {outcome}"
    changes = ", ".join(
        f"{_team(rules, team)} {change:+d} = {score}"
        for team, (change, score) in enumerate(zip(deal["delta"], deal["scores"], strict=True))
    )
    yield f"  scores         {changes}"


def _team(rules: Rules, team: int) -> str:
    """Seats of a team, as `team 0+2`; a seat alone is its own team."""
    return "team " + "+".join(str(seat) for seat in range(team, rules.players, rules.teams))


def _by_suit(rules: Rules, hand: list[str]) -> str:
    """A hand with each suit's cards together, high cards first."""
    order = rules.card_names
    suits = [[card for card in reversed(order) if card in hand and card[1] == suit] for suit in rules.suits]
    jokers = [card for card in reversed(rules.joker_names) if card in hand]
    return "   ".join(" ".join(cards) for cards in (*suits, jokers) if cards)
