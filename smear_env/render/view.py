"""The plain description of a table that text and picture are made from."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PHASES", "SUITS", "TableView", "title"]

PHASES = {
    "bid": "Bidding",
    "discard": "Discarding",
    "name": "Naming trump",
    "exchange": "Exchanging",
    "play": "Play",
    "over": "Match over",
}
"""Every `TableView.phase` and the words shown for it."""

SUITS = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}
"""Suit letter to suit name."""


@dataclass(frozen=True)
class TableView:
    """Everything drawn, in card names; hidden hands are given as card counts.

    Cards are rank then suit (`AS`, `TD`), a joker `JK`, or `BJ` and `LJ`. Seats run clockwise from 0.
    """

    game: str
    """Name of the rules, `four_point`."""
    players: int
    """Seats, 2 to 6."""
    teams: int
    """Seat `p` belongs to team `p % teams`."""
    dealer: int
    """Seat that dealt."""
    turn: int | None
    """Seat to act; None when the match is over."""
    phase: str
    """A key of `PHASES`."""
    hands: tuple[tuple[str, ...] | int, ...]
    """[players] card names in the order shown, or the number of cards where hidden."""
    stock: int
    """Cards left face down."""
    bids: tuple[tuple[int, str], ...]
    """(seat, "pass" or the bid's number), in the order spoken."""
    bidder: int | None
    """Seat with the highest bid so far; None before one was made."""
    bid: int | None
    """The highest bid so far."""
    trump: str | None
    """A key of `SUITS`; None while unknown."""
    trick: tuple[tuple[int, str], ...]
    """(seat, card) on the table, in the order played."""
    last_trick: tuple[tuple[int, str], ...]
    """(seat, card) of the trick before, in the order played."""
    last_winner: int | None
    """Seat that took `last_trick`."""
    tricks_won: tuple[int, ...]
    """[teams] tricks in this deal."""
    card_points: tuple[int, ...]
    """[teams] card points taken in tricks in this deal."""
    exchanged: tuple[int, ...]
    """[players] cards drawn from the stock."""
    scores: tuple[int, ...]
    """[teams] match scores."""
    target: int
    """Score that ends the match."""
    deal: int
    """Deal number in the match, from 1."""
    winner: int | None
    """Winning team."""

    def __post_init__(self) -> None:
        """Refuse what neither form could show: a wrong table would look like a wrong game."""
        if not 2 <= self.players <= 6:
            raise ValueError(f"players={self.players}: a table is drawn for 2 to 6 seats")
        if self.phase not in PHASES:
            raise ValueError(f"phase={self.phase!r}: expected one of {', '.join(PHASES)}")
        if self.trump is not None and self.trump not in SUITS:
            raise ValueError(f"trump={self.trump!r}: expected one of {', '.join(SUITS)} or None")
        for name, length in (
            ("hands", self.players),
            ("exchanged", self.players),
            ("tricks_won", self.teams),
            ("card_points", self.teams),
            ("scores", self.teams),
        ):
            if len(getattr(self, name)) != length:
                raise ValueError(f"{name} has {len(getattr(self, name))} entries, expected {length}")

    def spoken(self, seat: int) -> str | None:
        """What `seat` said last in the auction, or None if it has not spoken."""
        return next((word for who, word in reversed(self.bids) if who == seat), None)

    def count(self, seat: int) -> int:
        """Cards in the hand of `seat`, shown or not."""
        hand = self.hands[seat]
        return hand if isinstance(hand, int) else len(hand)

    def outcome(self) -> str:
        """The line shown at the end of a match."""
        if self.winner is None:
            return "No winner"
        return f"Team {self.winner} wins with {self.scores[self.winner]}"


def title(game: str) -> str:
    """`four_point` as `Four Point`."""
    return game.replace("_", " ").title()
