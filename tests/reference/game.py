"""A match, one action at a time: auction, stock, discards, play, score.

1. Deal: passes left after every scored deal; the rest of the deck is the stock, face down.
2. Auction: from the dealer's left, each seat once: pass, or higher than every bid before. It ends
   with the dealer or on the highest bid. Everybody passed: thrown in, nobody scores.
3. Stock: the bidder takes `stock_to_bidder` cards and discards as many, which count for his
   team's Game. Or trump is named, all but the dealer exchange side cards, and the dealer
   takes the rest and discards to a hand, which counts for nobody.
4. No trump is discarded that need not be: of t trumps held, at most max(0, t - hand_size). While
   trump is unknown, at least one suit held must stay possible; the first lead is of such a suit.
5. Play: the bidder leads (showing trump, where it was not named). Follow suit, or trump with
   `may_trump`; without the suit led, anything. The winner of a trick leads the next.
6. to 8. Points, score and end are in `scoring`.
"""

from typing import Any

from tests.reference import scoring
from tests.reference.cards import deck, is_trump, scoring_trumps, suit_of, trick_winner
from tests.reference.options import Options


class Match:
    """One match. Call `deal` whenever `needs_deal`, else `act` for the seat `turn`, until "over".

    Between deals `turn` is None, `phase` "bid", and what the last deal left can still be read.
    """

    def __init__(
        self, options: Options, dealer: int, scores: list[int] | None = None, max_deals: int = 100
    ) -> None:
        self.options = options
        self.dealer = dealer
        """Of the deal being played, or between deals of the next one."""
        self.scores = list(scores) if scores is not None else [0] * options.teams
        self.max_deals = max_deals
        self.results: list[dict[str, Any]] = []
        self.winner: int | None = None
        self.truncated = False
        self.needs_deal = True
        self._clear([[] for _ in range(options.players)], [])

    def _clear(self, hands: list[list[str]], stock: list[str]) -> None:
        players, teams = self.options.players, self.options.teams
        self.phase = "bid"
        self.turn: int | None = None
        self.hands = [list(hand) for hand in hands]
        self.stock = list(stock)
        self.discards: list[list[str]] = [[] for _ in range(players)]
        self.taken: list[list[str]] = [[] for _ in range(players)]
        self.bids: list[tuple[int, str]] = []
        self.bidder: int | None = None
        self.bid: int | None = None
        self.trump: str | None = None
        self.trick: list[tuple[int, str]] = []
        self.tricks: list[scoring.Trick] = []
        self.won: list[list[str]] = [[] for _ in range(teams)]
        self.voids: list[set[str]] = [set() for _ in range(players)]
        self._held: list[str] = []  # what the discarding seat held before its first discard
        self._thrown: list[str] = []  # what it has discarded since
        self._own: list[str] = []  # discards that count for the bidder's team
        self._exchanged = 0  # cards the exchanging seat has thrown

    def deal(self, hands: list[list[str]], stock: list[str]) -> None:
        """Start the next deal with these cards, dealt by `dealer`."""
        if not self.needs_deal:
            raise ValueError("a deal is being played or the match is over")
        if [len(hand) for hand in hands] != [self.options.hand_size] * self.options.players:
            raise ValueError(f"hands must be {self.options.players} of {self.options.hand_size}")
        if sorted(card for pile in [*hands, stock] for card in pile) != sorted(deck(self.options)):
            raise ValueError("hands and stock must hold each card of the deck once")
        self._clear(hands, stock)
        self.needs_deal = False
        self.turn = self._left_of(self.dealer)

    def _left_of(self, seat: int) -> int:
        return (seat + 1) % self.options.players

    def legal(self) -> list[str]:
        """The names of the actions the seat to act may choose, sorted by code point."""
        if self.turn is None:
            return []
        choices = {
            "bid": self._legal_bids,
            "name": lambda: [f"trump:{suit}" for suit in self.options.suits],
            "discard": self._legal_discards,
            "exchange": self._legal_exchanges,
            "play": self._legal_plays,
        }
        return sorted(choices[self.phase]())

    def act(self, name: str) -> None:
        """Play the action; ValueError, and nothing changed, when it is not legal."""
        legal = self.legal()
        if self.turn is None or name not in legal:
            raise ValueError(f"seat {self.turn} in {self.phase}: {name!r} is not one of {legal}")
        steps = {
            "bid": self._bid,
            "name": self._name,
            "discard": self._discard,
            "exchange": self._exchange,
            "play": self._play,
        }
        steps[self.phase](self.turn, name)

    # Auction

    def _legal_bids(self) -> list[str]:
        lowest = self.options.min_bid if self.bid is None else self.bid + 1
        bids = [str(bid) for bid in range(lowest, self.options.max_bid + 1)]
        must_bid = self.options.all_pass == "dealer_bids" and self.turn == self.dealer and self.bid is None
        return bids if must_bid else [*bids, "pass"]

    def _bid(self, seat: int, name: str) -> None:
        self.bids.append((seat, name))
        if name != "pass":
            self.bidder, self.bid = seat, int(name)
        if seat != self.dealer and self.bid != self.options.max_bid:
            self.turn = self._left_of(seat)
        elif self.bidder is None:
            self._finish_deal({"redeal": True}, self.options.all_pass == "next_dealer")
        elif self.options.trump_named:
            self.phase, self.turn = "name", self.bidder
        else:
            self._stock_to_bidder(self.bidder)

    def _name(self, seat: int, name: str) -> None:
        self.trump = name.removeprefix("trump:")
        self._stock_to_bidder(seat)

    # Stock, exchange and discards

    def _take(self, seat: int, count: int) -> None:
        cards, self.stock = self.stock[:count], self.stock[count:]
        self.taken[seat] += cards
        self.hands[seat] += cards

    def _start_discards(self, seat: int) -> None:
        self.phase, self.turn = "discard", seat
        self._held, self._thrown = list(self.hands[seat]), []

    def _stock_to_bidder(self, bidder: int) -> None:
        self._held = list(self.hands[bidder])
        if self.options.stock_to_bidder > 0:
            self._take(bidder, self.options.stock_to_bidder)
            self._start_discards(bidder)
        else:
            self._start_exchange()

    def _start_exchange(self) -> None:
        if self.options.exchange > 0:
            self.phase, self.turn = "exchange", self._left_of(self.dealer)
        else:
            self._stock_to_dealer()

    def _stock_to_dealer(self) -> None:
        if self.options.dealer_takes_stock and self.stock:
            self._take(self.dealer, len(self.stock))
            self._start_discards(self.dealer)
        else:
            self._start_play()

    def _legal_exchanges(self) -> list[str]:
        assert self.turn is not None
        side = [c for c in self.hands[self.turn] if not is_trump(self.options, c, self.trump)]
        if not self.options.exchange_exactly:
            return [*side, "pass"]
        if self._exchanged > 0:
            return side
        return [*side, "pass"] if len(side) >= self.options.exchange else ["pass"]

    def _exchange(self, seat: int, name: str) -> None:
        if name != "pass":
            self.hands[seat].remove(name)
            self.discards[seat].append(name)
            self._exchanged += 1
            if self._exchanged < self.options.exchange:
                return
        self._take(seat, self._exchanged)
        self._exchanged = 0
        self.turn = self._left_of(seat)
        if self.turn == self.dealer:
            self._stock_to_dealer()

    def _can_be_trump(self, suit: str, thrown: list[str]) -> bool:
        """Whether rule 4 allows these discards from what was held, with the suit as trump."""
        held = [card for card in self._held if is_trump(self.options, card, suit)]
        gone = [card for card in thrown if is_trump(self.options, card, suit)]
        if self.options.protect_scoring and set(gone) & set(scoring_trumps(self.options, suit)):
            return False
        return len(gone) <= max(0, len(held) - self.options.hand_size)

    def _possible_trumps(self, thrown: list[str]) -> list[str]:
        if self.trump is not None:
            suits = [self.trump]
        else:
            # Only a suit he held: the lead must show it. A suit never held was never broken either.
            suits = [suit for suit in self.options.suits if suit in {c[1] for c in self._held}]
        return [suit for suit in suits if self._can_be_trump(suit, thrown)]

    def _legal_discards(self) -> list[str]:
        assert self.turn is not None
        hand = self.hands[self.turn]
        return [card for card in hand if self._possible_trumps([*self._thrown, card])]

    def _discard(self, seat: int, card: str) -> None:
        self.hands[seat].remove(card)
        self.discards[seat].append(card)
        self._thrown.append(card)
        if not self.options.dealer_takes_stock:
            self._own.append(card)
        if len(self.hands[seat]) == self.options.hand_size:
            if self.options.dealer_takes_stock:
                self._start_play()
            else:
                self._start_exchange()

    # Play

    def _start_play(self) -> None:
        self.phase, self.turn = "play", self.bidder

    def _legal_plays(self) -> list[str]:
        assert self.turn is not None
        hand = self.hands[self.turn]
        if not self.trick:
            return self._legal_leads(hand)
        led = suit_of(self.options, self.trick[0][1], self.trump)
        follow = [card for card in hand if suit_of(self.options, card, self.trump) == led]
        if not follow:
            return hand
        trumps = [card for card in hand if is_trump(self.options, card, self.trump)]
        return sorted({*follow, *trumps}) if self.options.may_trump else follow

    def _legal_leads(self, hand: list[str]) -> list[str]:
        if self.trump is None:
            # A suit that rule 4 or `protect_scoring` has ruled out cannot be shown as trump.
            return [card for card in hand if card[1] in self._possible_trumps(self._thrown)]
        if self.options.lead_trump_first and not self.tricks:
            trumps = [card for card in hand if is_trump(self.options, card, self.trump)]
            return trumps or hand
        return hand

    def _play(self, seat: int, card: str) -> None:
        if self.trump is None:
            self.trump = card[1]
        self.hands[seat].remove(card)
        self.trick.append((seat, card))
        self._note_void(seat, card)
        if len(self.trick) < self.options.players:
            self.turn = self._left_of(seat)
            return
        winner = trick_winner(self.options, self.trick, self.trump)
        self.won[winner % self.options.teams] += [played for _, played in self.trick]
        self.tricks.append((self.trick[0][0], self.trick, winner))
        self.trick = []
        self.turn = winner
        if not self.hands[winner]:
            self._score()

    def _note_void(self, seat: int, card: str) -> None:
        """What the card shows: a trump that may have been chosen over following shows nothing."""
        suit = suit_of(self.options, card, self.trump)
        led = suit_of(self.options, self.trick[0][1], self.trump)
        chosen = self.options.may_trump and suit == self.trump
        if suit != led and not chosen:
            self.voids[seat].add(led)

    # Score and end

    def _score(self) -> None:
        assert self.trump is not None
        assert self.bidder is not None
        assert self.bid is not None
        totals = scoring.card_totals(self.options, self.bidder, self.won, self._own)
        points = scoring.deal_points(self.options, self.trump, self.bidder, self.tricks, totals)
        made, delta = scoring.deal_delta(self.options, self.bidder, self.bid, points)
        self.scores = scoring.new_scores(self.options, self.bidder, self.scores, delta)
        self.winner = scoring.match_winner(self.options, self.bidder, made, self.scores)
        result = {
            "bid": self.bid,
            "bidder": self.bidder,
            "trump": self.trump,
            "points": points,
            "card_points": totals,
            "made": made,
            "delta": delta,
            "scores": list(self.scores),
        }
        self._finish_deal(result, True)

    def _finish_deal(self, result: dict[str, Any], pass_deal: bool) -> None:
        self.results.append(result)
        self.turn = None
        self.truncated = self.winner is None and len(self.results) >= self.max_deals
        if self.winner is not None or self.truncated:
            self.phase = "over"
            return
        self.phase, self.needs_deal = "bid", True
        if pass_deal:
            self.dealer = self._left_of(self.dealer)
