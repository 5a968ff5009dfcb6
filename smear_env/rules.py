"""The rules of a game as data: one frozen `Rules`, and the presets, each an instance of it.

The games are those of northeastern Wisconsin: Four Point Smear (4 players, 32 cards, trump shown by
the first lead), Six Point Smear (two jokers more) and six-player Schmier (three teams, 53 cards with
bowers and joker, trump named); and of their relatives Auction Pitch or Setback (52 cards) and Racehorse
Pitch (32 cards).
Where the written sources leave a rule open, each reading is a value of a field below and the first
value named is the default. The engine never looks at a game's name: whatever differs between the
games is a field here, so a new member of the family is another instance.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

from smear_env._typing import AllPass, BothOut, Ending, FailedBid, GameTie, HighLow, JokerOrder, LowTo
from smear_env.cards import JOKER_NAMES, MAX_CARDS, deck_names
from smear_env.plugins import REMEDY, load_plugins

MAX_SEATS = 6
MAX_SUITS = 4
MAX_TRICKS = 32
MAX_POINTS = 8
"""Most kinds of point in a deal; `high low right left big_joker little_joker game` are seven."""

MAX_BID = 30
MAX_TARGET = 100
"""Scores enter observations saturated to -100..100, so a higher target could not be seen."""


@dataclass(frozen=True)
class Rules:
    """One game with all its options; equal instances play identically. Hashable, picklable.

    Raises `ValueError` on construction, naming the fields at odds and their values, where the
    combination has no meaning.
    """

    name: str
    """The preset this came from; names the game in transcripts and checkpoints, never read by kernels.

    Another name is another game, and played once it is registered (`register_rules`)."""
    players: int
    """Seats at the table, 2 to 6, clockwise from 0."""
    teams: int
    """Teams, seat `p` in team `p % teams`. Schmier: 3; others play two teams of three."""
    ranks: str
    """Ranks of each suit from low to high, as in `789TJQKA`; `T` is the ten."""
    min_bid: int
    """Lowest bid in points."""
    max_bid: int
    """Highest bid in points; it ends the auction at once."""
    target: int
    """Score in points at or above which a team wins the match."""
    trump_named: bool
    """Trump is named by the bidder after the auction; otherwise the first card led shows it."""
    suits: str = "CDHS"
    """Suit letters in the order of card ids, no two alike, at most four."""
    hand_size: int = 6
    """Cards dealt to each seat, and tricks in a deal."""
    joker: bool = False
    """A joker, the lowest trump, worth a point to whoever wins it and one card point."""
    second_joker: bool = False
    """A second joker: both are as one alone would be, and told apart as the big and the little one.

    Where the first lead shows trump neither can be that lead.
    """
    joker_order: JokerOrder = "first"
    """Of two jokers in one trick the `first` or the `second` that was played outranks the other, or always
    the `big` one."""
    bowers: bool = False
    """The jack of trump (right) and the other jack of its colour (left) rank below the queen as trumps."""
    stock_to_bidder: int = 0
    """Cards the bidder takes from the top of the stock before he discards as many."""
    dealer_takes_stock: bool = False
    """The dealer takes all that is left of the stock after the exchange, and discards to `hand_size`."""
    exchange: int = 0
    """Most cards that are not trump a seat other than the dealer may exchange."""
    exchange_exactly: bool = False
    """A seat exchanges none or exactly `exchange` cards."""
    may_trump: bool = False
    """A seat able to follow may play trump instead ("follow suit or trump")."""
    lead_trump_first: bool = False
    """The bidder's first lead is a trump if he holds one."""
    protect_scoring: bool = False
    """The trumps that score (ace, lowest, jack or bowers, joker) are never discarded."""
    failed_bid: FailedBid = "bid"
    """What a bid that failed costs: the `bid`, or the `points` the team earned in the deal."""
    high_low: HighLow = "void"
    """Ace or lowest trump not played: no point (`void`), or the highest and lowest `in_play` count."""
    low_to: LowTo = "holder"
    """Low goes to the team that played it (`holder`) or that won it (`winner`)."""
    game_tie: GameTie = "nobody"
    """Tied card points: `nobody`, the `bidder`'s team if among the tied, or the `non_bidder` team."""
    ending: Ending = "any"
    """A match ends on `any` deal, one whose bid was made (`made_deal`), for the team that made it only
    (`made_bid`); `cap` stops a non-bidding team's score at the target."""
    both_out: BothOut = "highest"
    """Several teams at the target: the `highest`, or the `bidder`'s team first."""
    all_pass: AllPass = "same_dealer"
    """Nobody bids: `same_dealer` or `next_dealer` deals again, or the `dealer_bids` (may not pass)."""

    def __post_init__(self) -> None:
        self._check_values()
        self._check_deck()
        self._check_auction()
        self._check_stock()

    @property
    def card_names(self) -> tuple[str, ...]:
        """Name of each card id."""
        return deck_names(self.suits, self.ranks, self.joker + self.second_joker)

    @property
    def joker_names(self) -> tuple[str, ...]:
        """Names of the jokers, none, one or two."""
        return JOKER_NAMES[self.joker + self.second_joker]

    @property
    def action_names(self) -> tuple[str, ...]:
        """Transcript name of each action id: cards, `pass`, bids rising, then `trump:S` where named."""
        bids = (str(bid) for bid in range(self.min_bid, self.max_bid + 1))
        trumps = (f"trump:{suit}" for suit in self.suits) if self.trump_named else ()
        return (*self.card_names, "pass", *bids, *trumps)

    @property
    def capture_names(self) -> tuple[str, ...]:
        """The points that go to whoever wins a given trump: `jack`, or `right` and `left`, and the jokers."""
        jacks = ("right", "left") if self.bowers else ("jack",)
        return (*jacks, *_JOKER_POINTS[self.joker + self.second_joker])

    @property
    def point_names(self) -> tuple[str, ...]:
        """The points of a deal in the order of transcripts: `high low ... game`."""
        return ("high", "low", *self.capture_names, "game")

    @property
    def stock_size(self) -> int:
        """Cards left after the deal, before anybody takes one."""
        return len(self.card_names) - self.players * self.hand_size

    def options(self) -> dict[str, Any]:
        """The `options` of a transcript: fields that differ from the preset, and those that are always given."""
        preset, given = preset_of(self.name), ALWAYS_GIVEN.get(self.name, ())
        names = (field.name for field in dataclasses.fields(self))
        return {
            name: getattr(self, name)
            for name in (*given, *(name for name in names if name not in given))
            if name in given or getattr(self, name) != getattr(preset, name)
        }

    def _check_values(self) -> None:
        for name, hint in _HINTS.items():
            value = getattr(self, name)
            choices = get_args(hint)
            if choices and value not in choices:
                raise ValueError(f"{name}={value!r} is not one of {', '.join(map(repr, choices))}")
            if hint in (bool, int, str) and type(value) is not hint:
                raise ValueError(f"{name}={value!r} must be of type {hint.__name__}")
        for name, low, high in (
            ("players", 2, MAX_SEATS),
            ("teams", 2, MAX_SEATS),
            ("hand_size", 1, MAX_TRICKS),
            ("min_bid", 1, MAX_BID),
            ("max_bid", 1, MAX_BID),
            ("target", 1, MAX_TARGET),
            ("stock_to_bidder", 0, MAX_CARDS),
            ("exchange", 0, MAX_TRICKS),
        ):
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name}={getattr(self, name)} is outside {low}..{high}")
        # It is part of file names, and a word of transcripts.
        if not re.fullmatch(r"[a-z][a-z0-9_]*", self.name):
            raise ValueError(f"name={self.name!r} must be of small letters, digits and underscores")

    def _check_deck(self) -> None:
        if not self.suits or len(set(self.suits)) < len(self.suits) or not set(self.suits) <= set("CDHS"):
            raise ValueError(f"suits={self.suits!r} must be different letters of CDHS")
        order = [_RANK_ORDER.find(rank) for rank in self.ranks]
        if not order or min(order) < 0 or sorted(set(order)) != order:
            raise ValueError(f"ranks={self.ranks!r} must rise within {_RANK_ORDER}")
        if len(self.card_names) > MAX_CARDS:
            raise ValueError(
                f"suits={self.suits!r} and ranks={self.ranks!r} make more than {MAX_CARDS} cards"
            )
        if self.players % self.teams:
            raise ValueError(f"players={self.players} is not divisible by teams={self.teams}")
        if self.stock_size < 0:
            raise ValueError(
                f"players={self.players} with hand_size={self.hand_size} deals more cards "
                f"than the deck's {len(self.card_names)}"
            )
        if "J" not in self.ranks or "A" not in self.ranks:
            raise ValueError(f"ranks={self.ranks!r} needs the ace and the jack, which score High and Jack")
        if self.bowers and len(self.suits) != MAX_SUITS:
            raise ValueError(f"bowers=True needs both suits of a colour in suits={self.suits!r}")
        if self.bowers and not self.trump_named:
            raise ValueError("bowers=True leaves the left bower without a suit unless trump_named=True")
        self._check_jokers()

    def _check_jokers(self) -> None:
        if self.second_joker and not self.joker:
            raise ValueError("second_joker=True needs joker=True, the first one")
        if self.joker_order != "first" and not self.second_joker:
            raise ValueError(
                f"joker_order={self.joker_order!r} means nothing with second_joker=False: one joker has no rival"
            )
        if self.trump_named or not self.joker:
            return
        if not self.second_joker:
            raise ValueError(
                "joker=True needs trump_named=True or second_joker=True: no source says how a single joker "
                "is led and discarded before the first lead shows trump"
            )
        if self.hand_size <= len(self.joker_names):
            raise ValueError(
                f"hand_size={self.hand_size} may be jokers alone, with second_joker=True, and trump_named=False "
                "needs another card to show trump"
            )

    def _check_auction(self) -> None:
        if self.min_bid > self.max_bid:
            raise ValueError(f"min_bid={self.min_bid} is above max_bid={self.max_bid}")
        if self.max_bid > len(self.point_names):
            raise ValueError(
                f"max_bid={self.max_bid} is above the {len(self.point_names)} points of a deal "
                f"({' '.join(self.point_names)}) with ranks={self.ranks!r}, joker={self.joker}, "
                f"second_joker={self.second_joker}"
            )
        if self.game_tie == "non_bidder" and self.teams != 2:
            raise ValueError(
                f"game_tie='non_bidder' names no team with teams={self.teams}; it needs two teams"
            )
        if self.lead_trump_first and not self.trump_named:
            raise ValueError("lead_trump_first=True means nothing with trump_named=False: the lead is trump")

    def _check_stock(self) -> None:
        if self.stock_to_bidder and self.dealer_takes_stock:
            raise ValueError(
                f"stock_to_bidder={self.stock_to_bidder} cannot go with dealer_takes_stock=True: "
                "one seat takes the stock"
            )
        if self.stock_to_bidder and self.trump_named:
            raise ValueError(
                f"stock_to_bidder={self.stock_to_bidder} cannot go with trump_named=True: "
                "no source says which comes first"
            )
        if self.stock_to_bidder > self.stock_size:
            raise ValueError(
                f"stock_to_bidder={self.stock_to_bidder} is more than the {self.stock_size} cards left "
                f"by hand_size={self.hand_size}"
            )
        if self.exchange_exactly and not self.exchange:
            raise ValueError("exchange_exactly=True means nothing with exchange=0")
        if self.exchange and not self.trump_named:
            raise ValueError(
                f"exchange={self.exchange} needs trump_named=True: only non-trumps are exchanged"
            )
        if self.exchange > self.hand_size:
            raise ValueError(f"exchange={self.exchange} is more than hand_size={self.hand_size}")
        if self.exchange * (self.players - 1) > self.stock_size:
            raise ValueError(
                f"exchange={self.exchange} by {self.players - 1} players is more than the "
                f"{self.stock_size} cards of the stock"
            )
        if self.dealer_takes_stock and not self.trump_named:
            raise ValueError("dealer_takes_stock=True needs trump_named=True: he may not discard trumps")
        scoring = len({self.ranks[0], self.ranks[-1]}) + len(self.capture_names)
        if self.protect_scoring and scoring > self.hand_size:
            raise ValueError(
                f"protect_scoring=True keeps {scoring} trumps, more than hand_size={self.hand_size}"
            )


_RANK_ORDER = "23456789TJQKA"
_JOKER_POINTS = ((), ("joker",), ("big_joker", "little_joker"))
PRESETS: dict[str, Rules] = {}
ALWAYS_GIVEN = dict.fromkeys(("four_point", "six_point"), ("stock_to_bidder",))
"""Options that a transcript states even where they are the preset's: agreed before each match."""
_HINTS = get_type_hints(Rules)

FOUR_POINT = Rules(
    name="four_point",
    players=4,
    teams=2,
    ranks="789TJQKA",
    min_bid=2,
    max_bid=4,
    target=15,
    trump_named=False,
    stock_to_bidder=3,
    may_trump=True,
)

SCHMIER = Rules(
    name="schmier",
    players=6,
    teams=3,
    ranks=_RANK_ORDER,
    joker=True,
    bowers=True,
    min_bid=3,
    max_bid=6,
    target=21,
    trump_named=True,
    dealer_takes_stock=True,
    exchange=3,
    protect_scoring=True,
)

MINI = Rules(
    name="mini",
    players=2,
    teams=2,
    suits="CS",
    ranks="7TJA",
    hand_size=2,
    min_bid=2,
    max_bid=4,
    target=15,
    trump_named=False,
    stock_to_bidder=1,
    may_trump=True,
    all_pass="dealer_bids",
)
"""Small enough for exact analysis; its matches are one deal, so play it with `episode="deal"`."""

SIX_POINT = dataclasses.replace(
    FOUR_POINT, name="six_point", joker=True, second_joker=True, max_bid=6, target=21
)
"""Six Point Northeastern Wisconsin Smear: `four_point` with two jokers under trump, 34 cards.

Source: "Six Point Northeastern Wisconsin Smear", ultrafoodmess.com. It names both orders of the jokers, "first" before
"second", and no lowest bid, which is `four_point`'s.
"""

SETBACK = Rules(
    name="setback",
    players=4,
    teams=2,
    ranks=_RANK_ORDER,
    min_bid=2,
    max_bid=4,
    target=11,
    trump_named=False,
    may_trump=True,
    high_low="in_play",
    both_out="bidder",
    all_pass="dealer_bids",
)
"""Auction Pitch or Setback, the partnership game: 52 cards, no stock, High and Low the trumps in play.

Sources: "Pitch (card game)", Wikipedia (four players in partnership, to 11, the bidder's side counts first); "Auction
Pitch", whiteknucklecards.com; "Pitch", gamerulesguru.com (bids 2 to 4, the dealer must bid 2 if nobody has).
docs/rules.md lists where they differ.
"""

RACEHORSE = dataclasses.replace(SETBACK, name="racehorse", ranks="789TJQKA")
"""Racehorse Pitch: Auction Pitch with the 32 cards from 7 to A, to 11 (D. Parlett, "The Penguin Book of Card Games",
Pitch, variants)."""

PRESETS.update({rules.name: rules for rules in (FOUR_POINT, SCHMIER, MINI, SIX_POINT, SETBACK, RACEHORSE)})


_BUILT_IN = frozenset(PRESETS)


def register_rules(rules: Rules) -> Rules:
    """Make rules of your own a preset, known by their name wherever a preset is; returns them.

    Raises `ValueError` if the name is that of other rules. What an observation shows follows from the preset, so that
    options of it, by `make_rules`, may change all but what is seen and done.
    """
    if PRESETS.setdefault(rules.name, rules) != rules:
        raise ValueError(f"name={rules.name!r} is a preset already, with other rules: choose another name")
    return rules


def is_built_in(name: str) -> bool:
    """Whether a preset comes with the package, so that its name says everything about it."""
    return name in _BUILT_IN


def preset_of(name: str) -> Rules:
    """The preset of a name; `ValueError` naming the presets that there are."""
    if name not in PRESETS:
        load_plugins()
    if name not in PRESETS:
        raise ValueError(
            f"rules={name!r} is not a preset: choose one of {', '.join(PRESETS)}, or call register_rules; {REMEDY}"
        )
    return PRESETS[name]


def make_rules(name: str | Rules, **options: Any) -> Rules:
    """The preset `name` (or a `Rules`) with the given fields changed.

    Raises `ValueError` naming an unknown preset, an unknown option, or fields that contradict.

    >>> make_rules("four_point", stock_to_bidder=2).stock_to_bidder
    2
    """
    registered = preset_of(name.name if isinstance(name, Rules) else name)
    preset = name if isinstance(name, Rules) else registered
    unknown = sorted(set(options) - set(_HINTS))
    if unknown:
        raise ValueError(
            f"{preset.name} has no option {', '.join(map(repr, unknown))}; known: {', '.join(_HINTS)}"
        )
    if "name" in options:
        raise ValueError("name is not an option: it is the preset's")
    return dataclasses.replace(preset, **options)
