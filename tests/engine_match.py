"""The engine and the slow reference side by side: one action to both, everything that shows compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from random import Random
from typing import Any

from smear_env.engine.state import OVER, PHASE_NAMES
from smear_env.rules import Rules, make_rules
from smear_env.transcript._engine import EngineMatch
from tests.reference import Match, Options, random_deal, random_options


def rules_of(options: Options) -> Rules:
    """The project's rules for the reference's options."""
    return Rules(**asdict(options))


def options_of(rules: Rules) -> Options:
    """The reference's options for the project's rules."""
    return Options(**asdict(rules))


class Pair:
    """One match in both. Call `deal`, then `act` until `deal_over`; any difference is an AssertionError."""

    def __init__(
        self, rules: Rules, dealer: int, scores: Sequence[int] | None = None, max_deals: int = 100
    ) -> None:
        self.rules = rules
        self.reference = Match(options_of(rules), dealer, list(scores) if scores else None, max_deals)
        self.engine = EngineMatch(rules, dealer=dealer, max_deals=max_deals)
        if scores:
            self.engine.fields["scores"][0, : rules.teams] = scores
        self._ids = {name: action for action, name in enumerate(rules.action_names)}
        self._bits = {name: 1 << card for card, name in enumerate(rules.card_names)}
        self._deals = 0

    def deal(self, hands: Sequence[Sequence[str]], stock: Sequence[str]) -> None:
        """Deal these cards in both."""
        self.reference.deal([list(hand) for hand in hands], list(stock))
        self.engine.set_cards([self._ids[card] for pile in (*hands, stock) for card in pile])
        self.compare()

    @property
    def deal_over(self) -> bool:
        """Whether the deal has ended; the reference then waits for cards, the engine has dealt its own."""
        return self.reference.turn is None

    @property
    def legal(self) -> list[str]:
        """Names of the legal actions, sorted."""
        return self.engine.legal_names()

    @property
    def result(self) -> dict[str, Any]:
        """What the last finished deal was, as a transcript states it."""
        return self.engine.result()

    def play(self, actions: str) -> Pair:
        """Several actions, each by the seat to act."""
        for name in actions.split():
            self.act(name)
        return self

    def finish_deal(self) -> Pair:
        """Always the first legal action until the deal has ended."""
        while not self.deal_over:
            self.act(self.legal[0])
        return self

    def act(self, name: str) -> None:
        """One action in both, and compare."""
        assert name in self.legal, f"{name} is not one of {self.legal}"
        self.reference.act(name)
        self.engine.act(self._ids[name])
        if self.deal_over:
            self._compare_end()
        else:
            self.compare()

    def compare(self) -> None:
        """Everything within a deal."""
        s, r = self.engine.fields[0], self.reference
        assert PHASE_NAMES[s["phase"]] == r.phase
        assert s["turn"] == r.turn
        assert self.legal == r.legal()
        assert s["dealer"] == r.dealer
        assert s["bid"] == (r.bid or 0)
        assert s["bidder"] == (-1 if r.bidder is None else r.bidder)
        assert s["trump"] == (-1 if r.trump is None else self.rules.suits.index(r.trump))
        assert s["trick_number"] == len(r.tricks)
        assert s["in_trick"] == len(r.trick)
        trick = dict(r.trick)
        for seat in range(self.rules.players):
            assert int(s["hand"][seat]) == self._set(r.hands[seat])
            assert int(s["taken"][seat]) == self._set(r.taken[seat])
            assert int(s["discarded"][seat]) == self._set(r.discards[seat])
            assert int(s["trick"][seat]) == self._set([trick[seat]] if seat in trick else [])
            assert self.voids(seat) == r.voids[seat]
        for team in range(self.rules.teams):
            assert int(s["won"][team]) == self._set(r.won[team])
        left = s["stock"][s["stock_drawn"] : s["stock_size"]]
        assert [self.rules.card_names[card] for card in left] == r.stock
        assert s["leader"] == self._leader()

    def voids(self, seat: int) -> set[str]:
        """Suits of which the engine holds that the seat has shown to have none."""
        suits = self.rules.suits
        bits = int(self.engine.fields["voids"][0]) >> seat * len(suits)
        return {suit for index, suit in enumerate(suits) if bits >> index & 1}

    def _compare_end(self) -> None:
        s, r = self.engine.fields[0], self.reference
        self._deals += 1
        assert self.engine.deals == self._deals == len(r.results)
        assert self.engine.result() == r.results[-1]
        assert s["scores"][: self.rules.teams].tolist() == r.scores
        assert self.engine.winner == r.winner
        assert bool(s["truncated"]) == r.truncated
        assert (s["phase"] == OVER) == (r.phase == "over")
        if r.phase != "over":
            assert s["dealer"] == r.dealer

    def _leader(self) -> int:
        if self.reference.phase != "play":
            return -1
        if self.reference.trick:
            return self.reference.trick[0][0]
        return -1 if self.reference.turn is None else self.reference.turn

    def _set(self, cards: Sequence[str]) -> int:
        return sum(self._bits[card] for card in cards)


def dealt(
    rules: str | Rules,
    hands: Sequence[str] = (),
    *,
    stock: str = "",
    dealer: int = 0,
    scores: Sequence[int] | None = None,
    max_deals: int = 100,
    **options: Any,
) -> Pair:
    """A match with these cards dealt; hands and stock that are short get the other cards in the deck's order."""
    made = make_rules(rules, **options)
    given = [hand.split() for hand in hands] + [[] for _ in range(made.players - len(hands))]
    stated = {card for hand in given for card in hand} | set(stock.split())
    rest = [card for card in made.card_names if card not in stated]
    for hand in given:
        missing = made.hand_size - len(hand)
        hand.extend(rest[:missing])
        del rest[:missing]
    pair = Pair(made, dealer, scores, max_deals)
    pair.deal(given, [*stock.split(), *rest])
    return pair


def stacked_deal(options: Options, rng: Random) -> tuple[list[list[str]], list[str]]:
    """A random deal; one of three has its cards partly by suit, so that long trumps come up."""
    hands, stock = random_deal(options, rng)
    if rng.random() < 2 / 3:
        return hands, stock
    cards = [card for pile in (*hands, stock) for card in pile]
    cards.sort(key=lambda card: (card[1], rng.random()) if rng.random() < 0.8 else (rng.choice("CDHS"), 0.0))
    cut = rng.randrange(len(cards))
    cards = cards[cut:] + cards[:cut]
    size = options.hand_size
    dealt_cards = options.players * size
    return [cards[start : start + size] for start in range(0, dealt_cards, size)], cards[dealt_cards:]


def play_random_match(options: Options, rng: Random, max_deals: int = 3) -> int:
    """Random legal play of a match from scores around the target; returns the number of decisions compared."""
    rules = rules_of(options)
    low = -options.target
    scores = (
        [rng.randrange(low, options.target) for _ in range(options.teams)] if rng.random() < 0.8 else None
    )
    pair = Pair(rules, rng.randrange(options.players), scores, max_deals)
    decisions = 0
    while pair.reference.phase != "over":
        pair.deal(*stacked_deal(options, rng))
        while not pair.deal_over:
            # Passing more often than the other bids lets the auction reach every seat.
            legal = pair.legal
            choice = "pass" if "pass" in legal and rng.random() < 0.4 else rng.choice(legal)
            pair.act(choice)
            decisions += 1
    return decisions


def compare_random_matches(game: str, seed: int, decisions: int) -> int:
    """Matches of random options until so many decisions are compared; returns how many were."""
    rng = Random(seed)
    done = 0
    while done < decisions:
        done += play_random_match(random_options(rng, game), rng)
    return done
