"""The options of the games: every contested rule is a field, every game a set of values.

`four_point` is Four Point Northeastern Wisconsin Smear, `six_point` the same with two jokers, `schmier`
six-player Schmier, `setback` Auction Pitch, `racehorse` Racehorse Pitch, `mini` a two-seat miniature of
`four_point` for exact analysis. The combinations that contradict themselves
are refused with a ValueError that names the fields.
"""

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Options:
    """One game of the family. The first value named for a field is the usual default."""

    name: str
    players: int
    teams: int
    """Seat p belongs to team p mod teams."""
    suits: str
    ranks: str
    """Low to high, in the plain order; bowers and joker are placed by `cards.trump_order`."""
    joker: bool
    bowers: bool
    hand_size: int
    min_bid: int
    max_bid: int
    target: int
    trump_named: bool
    """True: the bidder names trump. False: the suit of the first card led is trump."""
    dealer_takes_stock: bool
    stock_to_bidder: int
    """Cards the bidder takes from the top of the stock, then discards as many."""
    exchange: int
    """Most cards that each seat but the dealer may exchange."""
    second_joker: bool = False
    joker_order: str = "first"
    """first | second | big: which of two jokers in one trick outranks the other."""
    exchange_exactly: bool = False
    """True: none or exactly `exchange` cards."""
    failed_bid: str = "bid"
    """bid | points: what a failed bid costs."""
    high_low: str = "void"
    """void | in_play: the named cards only, or the highest and lowest trump played."""
    low_to: str = "holder"
    """holder | winner"""
    game_tie: str = "nobody"
    """nobody | bidder | non_bidder"""
    may_trump: bool = True
    """True: a seat able to follow suit may play a trump instead."""
    ending: str = "any"
    """any | made_deal | made_bid | cap"""
    both_out: str = "highest"
    """highest | bidder"""
    all_pass: str = "same_dealer"
    """same_dealer | next_dealer | dealer_bids"""
    lead_trump_first: bool = False
    protect_scoring: bool = False
    """True: the scoring trumps are never discarded."""

    def __post_init__(self) -> None:
        for field, allowed in CHOICES.items():
            if getattr(self, field) not in allowed:
                raise ValueError(f"{field}={getattr(self, field)!r}, must be one of {allowed}")
        if self.joker_order not in JOKER_ORDERS:
            raise ValueError(f"joker_order={self.joker_order!r}, must be one of {JOKER_ORDERS}")
        for clash, message in _clashes(self):
            if clash:
                raise ValueError(f"{self.name}: {message}")


CHOICES: dict[str, tuple[str, ...]] = {
    "failed_bid": ("bid", "points"),
    "high_low": ("void", "in_play"),
    "low_to": ("holder", "winner"),
    "game_tie": ("nobody", "bidder", "non_bidder"),
    "ending": ("any", "made_deal", "made_bid", "cap"),
    "both_out": ("highest", "bidder"),
    "all_pass": ("same_dealer", "next_dealer", "dealer_bids"),
}
"""The fields that take one of a few words."""
JOKER_ORDERS = ("first", "second", "big")


def _clashes(o: Options) -> list[tuple[bool, str]]:
    deck = len(o.suits) * len(o.ranks) + o.joker + o.second_joker
    stock = deck - o.players * o.hand_size
    scoring = 2 + (2 if o.bowers else 1) + o.joker + o.second_joker
    drawn = o.stock_to_bidder + o.exchange * (o.players - 1)
    return [
        (o.game_tie == "non_bidder" and o.teams != 2, "game_tie=non_bidder needs teams=2"),
        (o.exchange_exactly and o.exchange == 0, "exchange_exactly needs exchange above 0"),
        (o.lead_trump_first and not o.trump_named, "lead_trump_first needs trump_named"),
        (o.stock_to_bidder > 0 and o.dealer_takes_stock, "stock_to_bidder, dealer_takes_stock"),
        (stock < 0, "players times hand_size is more than the deck holds"),
        (drawn > max(stock, 0), "stock_to_bidder and exchange are more than the stock holds"),
        (o.max_bid > scoring + 1, "max_bid is above the points of the deck"),
        (o.players % o.teams != 0, "players must be divisible by teams"),
        # Two that the rules do not list. Who exchanges gives up cards that are not trump, so trump
        # must be known; and a hand of nothing but scoring trumps would have no legal discard.
        (o.exchange > 0 and not o.trump_named, "exchange needs trump_named"),
        (o.protect_scoring and scoring > o.hand_size, "protect_scoring needs a larger hand_size"),
        (o.second_joker and not o.joker, "second_joker needs joker"),
        (o.joker_order != "first" and not o.second_joker, "joker_order needs second_joker"),
        (o.joker and not (o.second_joker or o.trump_named), "joker needs second_joker or trump_named"),
        (o.second_joker and not o.trump_named and o.hand_size < 3, "second_joker needs a larger hand_size"),
    ]


FOUR_POINT = Options(
    name="four_point",
    players=4,
    teams=2,
    suits="CDHS",
    ranks="789TJQKA",
    joker=False,
    bowers=False,
    hand_size=6,
    min_bid=2,
    max_bid=4,
    target=15,
    trump_named=False,
    dealer_takes_stock=False,
    stock_to_bidder=3,
    exchange=0,
)

SCHMIER = Options(
    name="schmier",
    players=6,
    teams=3,
    suits="CDHS",
    ranks="23456789TJQKA",
    joker=True,
    bowers=True,
    hand_size=6,
    min_bid=3,
    max_bid=6,
    target=21,
    trump_named=True,
    dealer_takes_stock=True,
    stock_to_bidder=0,
    exchange=3,
    may_trump=False,
    protect_scoring=True,
)

MINI = replace(
    FOUR_POINT,
    name="mini",
    players=2,
    suits="CS",
    ranks="7TJA",
    hand_size=2,
    stock_to_bidder=1,
    all_pass="dealer_bids",
)
"""One deal: play it with `max_deals=1`."""

SIX_POINT = replace(FOUR_POINT, name="six_point", joker=True, second_joker=True, max_bid=6, target=21)

SETBACK = replace(
    FOUR_POINT,
    name="setback",
    ranks="23456789TJQKA",
    stock_to_bidder=0,
    target=11,
    high_low="in_play",
    both_out="bidder",
    all_pass="dealer_bids",
)

RACEHORSE = replace(SETBACK, name="racehorse", ranks="789TJQKA")

GAMES: dict[str, Options] = {
    game.name: game for game in (FOUR_POINT, SCHMIER, MINI, SIX_POINT, SETBACK, RACEHORSE)
}


def options(name: str, **changes: Any) -> Options:
    """The options of a game, with some of them changed."""
    if name not in GAMES:
        raise ValueError(f"no game named {name!r}, known: {sorted(GAMES)}")
    return replace(GAMES[name], **changes)
