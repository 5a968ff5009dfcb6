"""An observation read back: what a seat knows, as the ordered history that people would tell.

`decode` needs the vector and the game alone; it is all that a search agent is given. Seats and teams are counted
clockwise from the viewer, who is seat 0 of team 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

from smear_env._typing import Int8Array
from smear_env.engine.state import PHASE_NAMES
from smear_env.engine.tables import compile_tables
from smear_env.layout import observation_layout, option_values, pieces, vector_size
from smear_env.rules import Rules, make_rules


@dataclass(frozen=True)
class SeenTrick:
    """A finished trick."""

    leader: int
    """Relative seat that led."""
    cards: tuple[tuple[int, str], ...]
    """(relative seat, card) in the order played."""
    winner: int
    """Relative seat that took it and led the next."""


@dataclass(frozen=True)
class Seen:
    """All that one seat knows at one moment of a deal, in card names; seat 0 is the seat itself."""

    hand: tuple[str, ...]
    """Own hand, by card id."""
    taken: tuple[str, ...]
    """Cards drawn from the stock, also if discarded since, by card id."""
    discards: tuple[str, ...]
    """Own discards in the order thrown."""
    unseen: tuple[str, ...]
    """Cards this seat has not seen, by card id: in other hands, the stock or other discards."""
    dealer: int
    """Relative seat of the dealer."""
    bids: tuple[tuple[int, str], ...]
    """(relative seat, "pass" or the bid's number) in the order spoken."""
    bidder: int | None
    """Relative seat of the highest bid so far."""
    bid: int | None
    """The highest bid so far, in points."""
    trump: str | None
    """Suit letter, None until shown or named."""
    phase: str
    """One of `bid discard name exchange play over`."""
    turn: int | None
    """Relative seat to act, None after the end."""
    exchanged: tuple[int, ...]
    """[players] cards thrown in the exchange, or taken from the stock as bidder or dealer."""
    tricks: tuple[SeenTrick, ...]
    """Finished tricks in order."""
    leader: int | None
    """Relative seat that led the trick on the table, or is to lead; None before play."""
    trick: tuple[tuple[int, str], ...]
    """(relative seat, card) on the table in the order played."""
    voids: tuple[str, ...]
    """[players] suit letters of which the seat has shown that it holds none."""
    card_points: tuple[int, ...]
    """[teams] card points taken in tricks, own team first."""
    captured: tuple[tuple[str, ...], ...]
    """[teams] scoring trumps taken in tricks, by name of their point."""
    scores: tuple[int, ...]
    """[teams] match scores, saturated to -100..100."""
    to_target: tuple[int, ...]
    """[teams] points short of the target, saturated likewise."""
    options: Mapping[str, int]
    """Value of each rule option, as `observation.option_values` names them."""


def decode(observation: Int8Array, rules: str | Rules) -> Seen:
    """What a seat knows, from its observation [d] int8 alone.

    `rules` says which layout: a preset name, or a `Rules` of that preset whatever its options, which are
    in the observation. Raises `ValueError` for another shape.
    """
    game = rules if isinstance(rules, Rules) else make_rules(rules)
    layout = observation_layout(game)
    vector = np.asarray(observation)
    if vector.shape != (vector_size(layout),):
        raise ValueError(
            f"observation of shape {vector.shape}, expected ({vector_size(layout)},) for {game.name}"
        )
    seen = pieces(vector, layout)
    options = dict(zip(option_values(game), map(int, seen["options"]), strict=True))
    teams = slice(0, options["teams"])
    dealer = _one(seen["dealer"])
    if dealer is None:
        raise ValueError("the observation names no dealer, as every observation of a seat does")
    trump, bid = _one(seen["trump"]), _one(seen["bid"])
    bidder = _one(seen["bidder"])
    tricks = _tricks(game, seen, bidder, trump)
    leader = _one(seen["leader"])
    return Seen(
        hand=_names(game, seen["hand"]),
        taken=_names(game, seen["taken"]),
        discards=_by_number(game, seen["discard_order"]),
        unseen=_names(game, seen["unseen"]),
        dealer=dealer,
        bids=_bids(game, seen["bids"], dealer),
        bidder=bidder,
        bid=None if bid is None else game.min_bid + bid,
        trump=None if trump is None else game.suits[trump],
        phase=PHASE_NAMES[int(np.argmax(seen["phase"]))],
        turn=_one(seen["turn"]),
        exchanged=tuple(map(int, seen["exchanged"])),
        tricks=tricks,
        leader=leader,
        trick=() if leader is None else _named(game, clockwise(_flags(seen["trick"]), leader)),
        voids=tuple("".join(game.suits[suit] for suit in np.flatnonzero(row)) for row in seen["voids"]),
        card_points=tuple(map(int, seen["card_points"][teams])),
        captured=tuple(
            tuple(game.point_names[i] for i in np.flatnonzero(row)) for row in seen["captured"][teams]
        ),
        scores=tuple(map(int, seen["scores"][teams])),
        to_target=tuple(map(int, seen["to_target"][teams])),
        options=MappingProxyType(options),
    )


@lru_cache(maxsize=256)
def strengths(rules: Rules, trump: int) -> tuple[tuple[int, int], ...]:
    """(suit, strength) of each card id when `trump`, a suit's index or -1, is trump; trumps are the strongest."""
    t = compile_tables(rules)[0]
    return tuple((int(t.suit_of[trump, c]), int(t.strength[trump, c])) for c in range(len(rules.card_names)))


def trick_winner(rules: Rules, trump: int, trick: Sequence[tuple[int, int]]) -> int:
    """The seat that takes a trick of (seat, card id), the lead first, with `trump` the index of the trump suit."""
    order, claims = strengths(rules, trump), compile_tables(rules)[0].claim[trump]
    winner, best = trick[0]
    led = order[best][0]
    for seat, card in trick[1:]:
        if order[card][0] in (led, trump) and claims[card] > order[best][1]:
            winner, best = seat, card
    return winner


def clockwise(cards_by_seat: Sequence[Iterable[int]], leader: int) -> list[tuple[int, int]]:
    """(seat, card id) from the leader on, of the seats' cards in one trick."""
    players = len(cards_by_seat)
    seats = ((leader + place) % players for place in range(players))
    return [(seat, int(card)) for seat in seats for card in cards_by_seat[seat]]


def _tricks(
    rules: Rules, seen: Mapping[str, Any], bidder: int | None, trump: int | None
) -> tuple[SeenTrick, ...]:
    """Each finished trick; the bidder led the first, each next one the winner of the one before."""
    tricks: list[SeenTrick] = []
    for number in range(1, int(seen["tricks_done"][0]) + 1):
        assert bidder is not None, "a trick is played after the auction"
        assert trump is not None, "a trick is played under a trump"
        leader = tricks[-1].winner if tricks else bidder
        played = seen["played"] & (seen["trick_of"] == number)
        cards = clockwise(_flags(played), leader)
        tricks.append(SeenTrick(leader, _named(rules, cards), trick_winner(rules, trump, cards)))
    return tuple(tricks)


def _bids(rules: Rules, said: Int8Array, dealer: int) -> tuple[tuple[int, str], ...]:
    words = ["pass", *map(str, range(rules.min_bid, rules.max_bid + 1))]
    return tuple((seat, words[word]) for seat, word in clockwise(_flags(said), (dealer + 1) % rules.players))


def _one(flags: Int8Array) -> int | None:
    """Which one of the flags is set, if any."""
    return int(np.argmax(flags)) if flags.any() else None


def _flags(rows: Int8Array) -> list[Any]:
    return [np.flatnonzero(row) for row in rows]


def _names(rules: Rules, flags: Int8Array) -> tuple[str, ...]:
    names = rules.card_names  # made anew at each call
    return tuple(names[card] for card in np.flatnonzero(flags))


def _by_number(rules: Rules, places: Int8Array) -> tuple[str, ...]:
    """Names of the cards that have a place, in the order of places."""
    names = rules.card_names
    return tuple(names[card] for card in sorted(np.flatnonzero(places), key=lambda card: int(places[card])))


def _named(rules: Rules, cards: Iterable[tuple[int, int]]) -> tuple[tuple[int, str], ...]:
    names = rules.card_names
    return tuple((seat, names[card]) for seat, card in cards)


__all__ = ["Seen", "SeenTrick", "decode"]
