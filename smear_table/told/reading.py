"""What the seat to act sees, from its words, and back.

All else that an observation shows follows
from that: whose turn it is, who took which trick, who has shown a void. What cannot be, a card twice, a bid too low,
somebody else's turn, is refused with a `ValueError` that says what to write instead; at the end a deal that shows the
position is played in the engine, so that nothing impossible is advised on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from smear_env import Rules, SelfPlayVectorEnv
from smear_env.agents.search.worlds import NO_ACTION, Worlds, sample_worlds
from smear_env.batch import REWARD_NONE
from smear_env.encode import encode
from smear_env.history import Seen
from smear_env.match import REFUSED, act, begin, new_match, states
from smear_env.rules import MAX_SEATS
from smear_table.order import SUIT_NAMES, card_text, held, suit_of
from smear_table.told.auction import SIGNS, auction_of
from smear_table.told.fallen import fallen
from smear_table.told.words import Told

Array = npt.NDArray[Any]

MOST_DEALS = 100
"""Any limit that does not end the match."""


def read_told(told: Told, rules: Rules) -> tuple[Array, Array]:
    """What the seat to act sees: observation [d] int8 and mask [n] int8 as the engine writes them.

    Raises ValueError naming the field of `Told` that is wrong, and the remedy.
    """
    row = encode(seen_of(told, rules), rules)
    try:
        world = sample_worlds(row, rules, 1, 0)
    except ValueError as error:
        raise ValueError(
            "no deal comes to this position: some card was played, thrown or exchanged where the rules allow it not, "
            "or a card is missing from hand, took, discards or played"
        ) from error
    _check_allowed(rules, told, world)
    env = SelfPlayVectorEnv(1, rules, seed=0, episode="deal", dealers=0)
    rows = np.ascontiguousarray(world.states).view(np.uint8).reshape(1, -1)
    shown = env.restore({"states": rows, "seed": np.zeros(1, np.uint64)})
    return shown.observation[0].copy(), shown.mask[0].copy()


def _check_allowed(rules: Rules, told: Told, world: Worlds) -> None:
    """That every action of a world is allowed: what others hid is filled in so, what the viewer did need not be."""
    match = new_match(rules)
    states(match)["max_deals"] = MOST_DEALS
    dealer = int(world.states[0].dealer)
    turn = begin(match, np.uint64(0), 0, dealer, np.zeros(MAX_SEATS, np.int64), world.orders[0])
    for action in world.actions[0]:
        if action == NO_ACTION:
            return
        following, outcome = act(match, int(action), REWARD_NONE)
        if outcome == REFUSED:
            name, seat = rules.action_names[action], (turn + told.seat) % rules.players
            raise ValueError(
                f"{name} by seat {seat} is not allowed where it is told: check the order of the cards"
            )
        turn = following


def seen_of(told: Told, rules: Rules) -> Seen:
    """What the seat knows; ValueError as `read_told` does, but for what only the whole deal shows."""
    if not 0 <= told.seat < rules.players:
        raise ValueError(
            f"seat={told.seat} is not at the table: {rules.name} has seats 0 to {rules.players - 1}"
        )
    if told.exchanged.strip() and not rules.exchange:
        raise ValueError(
            f"exchanged={told.exchanged!r}: nobody exchanges in these rules of {rules.name}; leave it out"
        )
    hand, took = _cards(rules, "hand", told.hand), _cards(rules, "took", told.took)
    thrown = _cards(rules, "discards", told.discards)
    played, trick = _cards(rules, "played", told.played), _cards(rules, "trick", told.trick)
    _check_once(hand=hand, discards=thrown, played=played, trick=trick)
    _check_once(took=took)
    bids, dealer = auction_of(told, rules)
    high = [(seat, word) for seat, word in bids if word != "pass"]
    bidder, bid = (high[-1][0], int(high[-1][1])) if high else (None, None)
    over = len(bids) == rules.players or bid == rules.max_bid
    stage = _Stage("bid", (dealer + 1 + len(bids)) % rules.players, (0,) * rules.players, 0)
    if over:
        assert bidder is not None, "a deal that is passed out is refused"
        stage = _after_auction(told, rules, dealer, bidder, thrown)
    _check_stage(told, rules, stage, (*played, *trick))
    trump = _trump(told, rules, stage, (*played, *trick))
    on_table = fallen(rules, trump, bidder if stage.phase == "play" else None, played, trick)
    turn = stage.turn if on_table.leader is None else (on_table.leader + len(on_table.trick)) % rules.players
    _check_turn(told, rules, stage.phase, turn)
    own = [card for who, card in on_table.every_card if who == 0]
    _check_counts(rules, stage, hand, took, thrown, own)
    _check_followed(rules, hand, trump, on_table.voids[0])
    scores = _scores(told, rules)
    known = {*hand, *thrown, *(card for _, card in on_table.every_card)}
    return Seen(
        hand=_by_id(rules, hand),
        taken=_by_id(rules, took),
        discards=thrown,
        unseen=tuple(card for card in rules.card_names if card not in known),
        dealer=dealer,
        bids=bids,
        bidder=bidder,
        bid=bid,
        trump=trump,
        phase=stage.phase,
        turn=turn,
        exchanged=stage.exchanged,
        tricks=on_table.tricks,
        leader=on_table.leader,
        trick=on_table.trick,
        voids=on_table.voids,
        card_points=on_table.card_points,
        captured=on_table.captured,
        scores=scores,
        to_target=tuple(rules.target - score for score in scores),
        options={},
    )


def told_of(seen: Seen, rules: Rules, seat: int) -> Told:
    """The words from which `read_told` makes what the seat to act has seen; `seat` is its number at the table."""

    def places(first: int) -> list[int]:
        return [(first + place) % rules.players for place in range(rules.players)]

    asked = places(seen.dealer + 1)[:-1]
    done: Sequence[int] = ()
    if rules.exchange and seen.trump is not None:
        done = asked[: asked.index(0)] if seen.phase == "exchange" else asked
    scores = [seen.scores[(team - seat) % rules.teams] for team in range(rules.teams)]
    return Told(
        hand=" ".join(held(rules, seen.hand, seen.trump)),
        seat=seat,
        dealer=(seen.dealer + seat) % rules.players,
        scores=",".join(map(str, scores)),
        bids=" ".join(word for _, word in seen.bids),
        trump=seen.trump or "" if rules.trump_named else "",
        took=" ".join(seen.taken),
        discards=" ".join(seen.discards),
        exchanged=" ".join(str(seen.exchanged[who]) for who in done),
        played=" / ".join(" ".join(card for _, card in trick.cards) for trick in seen.tricks),
        trick=" ".join(card for _, card in seen.trick),
    )


@dataclass(frozen=True)
class _Stage:
    """Where a deal stands after auction and stock; seats are counted from the viewer."""

    phase: str
    turn: int
    exchanged: tuple[int, ...]
    drawn: int
    """Cards that the viewer has drawn."""


def _after_auction(told: Told, rules: Rules, dealer: int, bidder: int, thrown: Sequence[str]) -> _Stage:
    """Naming, exchange and discards, as far as they have come."""
    nobody = (0,) * rules.players
    if not rules.trump_named:
        return _taken(bidder, bidder, rules.stock_to_bidder, nobody, thrown)
    if not told.trump.strip():
        return _Stage("name", bidder, nobody, 0)
    counts = _exchange_counts(told, rules)
    order = [(dealer + 1 + place) % rules.players for place in range(rules.players - 1)]
    exchanged = list(nobody)
    for who, count in zip(order, counts, strict=False):
        exchanged[who] = count
    if rules.exchange and len(counts) < len(order):
        turn = order[len(counts)]
        if turn == 0:
            exchanged[0] = len(thrown)
        return _Stage("exchange", turn, tuple(exchanged), exchanged[0] if 0 in order[: len(counts)] else 0)
    wanted = rules.stock_size - sum(counts) if rules.dealer_takes_stock else 0
    return _taken(dealer, bidder, wanted, tuple(exchanged), thrown)


def _taken(taker: int, bidder: int, wanted: int, exchanged: tuple[int, ...], thrown: Sequence[str]) -> _Stage:
    """After bidder or dealer has taken cards: he discards as many, or play begins."""
    if wanted:
        exchanged = tuple(wanted if who == taker else count for who, count in enumerate(exchanged))
    phase = "discard" if wanted and taker == 0 and len(thrown) < wanted else "play"
    return _Stage(phase, taker if phase == "discard" else bidder, exchanged, exchanged[0])


def _exchange_counts(told: Told, rules: Rules) -> list[int]:
    words = told.exchanged.translate(SIGNS).split()
    if not all(word.isdigit() and int(word) <= rules.exchange for word in words):
        raise ValueError(
            f"exchanged={told.exchanged!r} must be numbers from 0 to {rules.exchange}, one for each seat"
        )
    if len(words) > rules.players - 1:
        raise ValueError(
            f"exchanged={told.exchanged!r} has {len(words)} numbers: {rules.players - 1} seats exchange, "
            "all but the dealer, from his left"
        )
    return [int(word) for word in words]


def _trump(told: Told, rules: Rules, stage: _Stage, on_table: Sequence[str]) -> str | None:
    given = told.trump.translate(SIGNS).strip().upper()
    suit = next((letter for letter, name in SUIT_NAMES.items() if given in (letter, name.upper())), given)
    if given and suit not in rules.suits:
        raise ValueError(f"trump={told.trump!r} must be one of {' '.join(rules.suits)}")
    if rules.trump_named:
        if given and stage.phase == "bid":
            raise ValueError(
                f"trump={told.trump!r} is named after the auction: complete bids, or leave it out"
            )
        return suit or None
    shown = None
    if on_table:
        if on_table[0] in rules.joker_names:
            raise ValueError(f"played: {on_table[0]} cannot be led first, since it shows no trump")
        shown = on_table[0][1]
    if given and suit != shown:
        raise ValueError(
            f"trump={told.trump!r}: the first card led shows trump, and "
            f"{f'that is {on_table[0]}' if on_table else 'none is led yet'}; leave trump out"
        )
    return shown


def _scores(told: Told, rules: Rules) -> tuple[int, ...]:
    """By team from the viewer's own."""
    words = told.scores.replace(":", " ").translate(SIGNS).split()
    try:
        given = [int(word) for word in words] or [0] * rules.teams
    except ValueError:
        given = []
    if len(given) != rules.teams:
        raise ValueError(
            f"scores={told.scores!r} must be {rules.teams} whole numbers with commas between, from team 0 on"
        )
    top = max(given)
    # Level teams play on where neither has bid, which takes a third.
    level = rules.teams > 2 and given.count(top) > 1
    if top >= rules.target and not level and rules.ending in ("any", "cap"):
        raise ValueError(
            f"scores={told.scores!r}: the match is over at {rules.target}; its target is an option"
        )
    return tuple(given[(team + told.seat) % rules.teams] for team in range(rules.teams))


def _cards(rules: Rules, field: str, text: str) -> tuple[str, ...]:
    """Card names out of a text; ValueError for what is no card of the deck."""
    cards = []
    for word in text.translate(SIGNS).split():
        card = word.upper().replace("10", "T")
        if card not in rules.card_names:
            ranks = " ".join(rules.ranks)
            jokers = f"; and {' '.join(rules.joker_names)}" if rules.joker_names else ""
            raise ValueError(
                f"{field}: {word!r} is no card of {rules.name}: write rank and suit, ranks {ranks}, "
                f"suits {' '.join(rules.suits)}{jokers}"
            )
        cards.append(card)
    return tuple(cards)


def _check_once(**named: Sequence[str]) -> None:
    counted = Counter(card for cards in named.values() for card in cards)
    for card, times in counted.items():
        if times > 1:
            where = [name for name, cards in named.items() if card in cards]
            raise ValueError(f"{card} is given {times} times, in {' and '.join(where)}: there is one of it")


def _check_stage(told: Told, rules: Rules, stage: _Stage, on_table: Sequence[str]) -> None:
    if on_table and stage.phase != "play":
        missing = {
            "bid": "bids: the auction is not over, give what every seat said",
            "name": "trump: say which suit was named",
            "exchange": f"exchanged: give a number for each of the {rules.players - 1} seats from the dealer's left",
            "discard": f"discards: you threw {stage.drawn} cards before play, name them",
        }[stage.phase]
        raise ValueError(f"cards are played already, so something is missing. {missing}")
    if told.exchanged.strip() and stage.phase in ("bid", "name"):
        raise ValueError(
            f"exchanged={told.exchanged!r}: cards are exchanged when trump is named; give it as trump"
        )
    _check_turn(told, rules, stage.phase, stage.turn, only=("bid", "name", "exchange"))


_ANSWERS = {
    "bid": "what it says to bids",
    "name": "the suit it names as trump",
    "exchange": "the cards that it threw, and all before it, to exchanged",
    "play": "its card, and those before it, to trick",
}


def _check_turn(told: Told, rules: Rules, phase: str, turn: int, only: Sequence[str] = ("play",)) -> None:
    if turn and phase in only:
        who = (turn + told.seat) % rules.players
        raise ValueError(
            f"it is not your turn: seat {who} is to act ({phase}), you are seat {told.seat}. Add {_ANSWERS[phase]}, "
            "or correct seat or dealer"
        )


def _check_counts(
    rules: Rules,
    stage: _Stage,
    hand: Sequence[str],
    took: Sequence[str],
    thrown: Sequence[str],
    own: Sequence[str],
) -> None:
    """That hand, drawn and thrown cards are as many as they must be."""
    drawn, throws = stage.drawn, stage.exchanged[0]
    if stage.phase in ("discard", "exchange"):
        most = throws - 1 if stage.phase == "discard" else rules.exchange - 1
        if len(thrown) > most:
            raise ValueError(
                f"discards: {len(thrown)} cards, and you throw {most + 1} at most: nothing is to decide"
            )
    elif len(thrown) != throws:
        raise ValueError(
            f"discards: {len(thrown)} cards, but you threw {throws}: "
            + ("name them in the order thrown" if throws else "leave discards out")
        )
    if len(took) != drawn:
        raise ValueError(
            f"took: {len(took)} cards, but you drew {drawn} from the stock: "
            + ("name them all, also those thrown since" if drawn else "leave took out")
        )
    strange = [card for card in took if card not in (*hand, *thrown, *own)]
    if strange:
        raise ValueError(f"took: {strange[0]} is neither in hand nor among discards nor played by you")
    expected = rules.hand_size + drawn - len(thrown) - len(own)
    if len(hand) != expected:
        parts = [f"{rules.hand_size} dealt"]
        parts += [
            f"{n} {word}"
            for n, word in ((drawn, "drawn"), (-len(thrown), "thrown"), (-len(own), "played"))
            if n
        ]
        raise ValueError(
            f"hand: {len(hand)} cards, expected {expected} ({', '.join(parts).replace('-', 'less ')})"
        )


def _check_followed(rules: Rules, hand: Sequence[str], trump: str | None, void: str) -> None:
    """That the own hand holds no suit that the seat has not followed."""
    for card in hand:
        if suit_of(rules, card, trump) in tuple(void):
            raise ValueError(
                f"hand: you hold the {card_text(card)}, but have shown that you held no "
                f"{SUIT_NAMES[str(suit_of(rules, card, trump))]}: check hand, and the order of played and trick"
            )


def _by_id(rules: Rules, cards: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(cards, key=rules.card_names.index))
