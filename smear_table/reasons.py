"""Why a card or a call is not allowed, in one sentence, from what the seat to act sees."""

from __future__ import annotations

from smear_env import Rules
from smear_env.history import Seen
from smear_table.order import SUIT_NAMES, scoring, suit_of, trumps


def refusals(rules: Rules, seen: Seen, legal: list[str]) -> dict[str, str]:
    """The reason for each card of the own hand, or call of the auction, that is not in `legal`; seat 0 is to act."""
    if seen.phase == "bid":
        calls = ("pass", *map(str, range(rules.min_bid, rules.max_bid + 1)))
        return {call: _bid(seen, call) for call in calls if call not in legal}
    explain = {"play": _play, "discard": _discard, "exchange": _exchange}.get(seen.phase)
    if explain is None:
        return {}
    return {card: explain(rules, seen, card) for card in seen.hand if card not in legal}


def _bid(seen: Seen, call: str) -> str:
    if call == "pass":
        return "Everybody else has passed: the dealer must bid."
    return f"A bid must be higher than {seen.bid}."


def _play(rules: Rules, seen: Seen, card: str) -> str:
    if seen.trick:
        led = suit_of(rules, seen.trick[0][1], seen.trump)
        if led == seen.trump:
            return "Trump was led and you hold one: follow with a trump."
        name = SUIT_NAMES[str(led)]
        other = ", or play a trump" if rules.may_trump else ""
        return f"You hold {name}: follow suit{other}."
    if seen.trump is None:
        if card in rules.joker_names:
            return "The first lead shows trump, and a joker has no suit to show."
        name = SUIT_NAMES[card[1]]
        return f"You threw away {name} that trump would have kept, so {name} can no longer be trump."
    return "Your first lead must be a trump."


def _discard(rules: Rules, seen: Seen, card: str) -> str:
    if seen.trump is None:
        return "With this discard no suit that you held could still be trump."
    if rules.protect_scoring and card in scoring(rules, seen.trump):
        return "This trump scores a point: it is never discarded."
    return f"A trump is discarded only when more than {rules.hand_size} of them are held."


def _exchange(rules: Rules, seen: Seen, card: str) -> str:
    if seen.trump is not None and card in trumps(rules, seen.trump):
        return "Only cards that are not trump can be exchanged."
    return f"You must exchange exactly {rules.exchange} cards, and hold too few that are not trump."
