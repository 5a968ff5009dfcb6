"""Random deals, matches and options: material for comparing the engine with the reference.

Uniformly random legal play hardly ever ends a match (bids fail too often), so each has a limit on
deals; give it scores near the target to see matches end.
"""

from collections.abc import Iterator
from dataclasses import asdict
from random import Random
from typing import Any

from tests.reference.cards import deck
from tests.reference.game import Match
from tests.reference.options import CHOICES, GAMES, JOKER_ORDERS, Options, options

AGREED = ("four_point", "six_point")
"""Games whose `stock_to_bidder` is agreed on before the match."""


def random_deal(options: Options, rng: Random) -> tuple[list[list[str]], list[str]]:
    """Hands by seat, and the stock in the order in which it is drawn."""
    cards = deck(options)
    rng.shuffle(cards)
    size = options.hand_size
    hands = [cards[seat * size : (seat + 1) * size] for seat in range(options.players)]
    return hands, cards[options.players * size :]


def random_steps(
    options: Options, rng: Random, max_deals: int, scores: list[int] | None = None
) -> Iterator[tuple[Match, str]]:
    """The match before each action, with the action; and with "" between deals and at the end.

    It is one object throughout: copy what should be kept.
    """
    match = Match(options, rng.randrange(options.players), scores, max_deals)
    while match.phase != "over":
        yield from _random_deal_steps(match, rng)
        yield match, ""


def _random_deal_steps(match: Match, rng: Random) -> Iterator[tuple[Match, str]]:
    match.deal(*random_deal(match.options, rng))
    while match.turn is not None:
        name = rng.choice(match.legal())
        yield match, name
        match.act(name)


def random_match(options: Options, rng: Random, max_deals: int, scores: list[int] | None = None) -> Match:
    """A match of random legal play, at its end."""
    return [match for match, _ in random_steps(options, rng, max_deals, scores)][-1]


def random_transcript(options: Options, rng: Random, max_deals: int) -> dict[str, Any]:
    """A match of random legal play in the format `smear-transcript/1`, from level scores."""
    deals: list[dict[str, Any]] = []
    for match, name in random_steps(options, rng, max_deals):
        if name and not match.bids:
            hands = [" ".join(hand) for hand in match.hands]
            deals.append({"dealer": match.dealer, "hands": hands, "stock": " ".join(match.stock)})
            deals[-1].update(actions=[], legal=[])
        if name:
            deals[-1]["actions"].append([match.turn, name])
            deals[-1]["legal"].append(" ".join(match.legal()))
        else:
            deals[-1].update(match.results[-1])
    return {
        "format": "smear-transcript/1",
        "rules": options.name,
        "options": changed_options(options),
        "deals": deals,
        "winner": match.winner,
    }


def changed_options(options: Options) -> dict[str, Any]:
    """The fields that differ from the game's default; `stock_to_bidder` always in games of `AGREED`."""
    default = asdict(GAMES[options.name])
    return {
        field: value
        for field, value in asdict(options).items()
        if value != default[field] or (field == "stock_to_bidder" and options.name in AGREED)
    }


def random_options(rng: Random, name: str) -> Options:
    """A random combination of options that the rules do not refuse."""
    game = GAMES[name]
    changes: dict[str, Any] = {
        "teams": rng.choice((2, 3)) if game.players == 6 else game.teams,
        "may_trump": rng.random() < 0.5,
        "target": rng.choice((game.target, game.target, 5)),
    }
    for field, words in CHOICES.items():
        allowed = [w for w in words if w != "non_bidder" or changes["teams"] == 2]
        changes[field] = rng.choice(allowed)
    if game.trump_named:
        changes["lead_trump_first"] = rng.random() < 0.5
        changes["exchange"] = rng.randrange(4)
        changes["exchange_exactly"] = changes["exchange"] > 0 and rng.random() < 0.5
    else:
        changes["stock_to_bidder"] = rng.randrange(4)
    if game.second_joker:
        changes["joker_order"] = rng.choice(JOKER_ORDERS)
    # In `mini` a whole hand may be scoring trumps, with none that could be discarded.
    if game.hand_size == 6:
        changes["protect_scoring"] = rng.random() < 0.5
    return options(name, **changes)
