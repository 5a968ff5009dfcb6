"""The words for a position; nothing heavy is imported here, since they are also the flags of a command."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Told:
    """What a seat knows, in words. Seats run clockwise from 0; seat p belongs to team p modulo the number of teams."""

    hand: str = ""
    """Your cards now, as "AS KS TS 9S 7D 8C" or "A♠ 10♥"; jokers are JK, or BJ and LJ."""
    seat: int = 0
    """Your seat. Left out, seats and teams are counted from you: you are seat 0 of team 0."""
    dealer: int | None = None
    """Who dealt. In the auction it follows from the bids, as it is your turn."""
    scores: str = ""
    """Match score of each team from team 0 on, as 9,12; all 0 if left out. Negative ones as --scores=-3,12."""
    bids: str = ""
    """What was said, from the dealer's left: "pass 2". With seats in front, "3:pass 0:2", it tells who dealt."""
    trump: str = ""
    """Suit that the bidder has named, C D H or S. Where the first lead shows trump it need not be said."""
    took: str = ""
    """Cards that you drew from the stock, also those thrown away since."""
    discards: str = ""
    """Cards that you have thrown away, in that order."""
    exchanged: str = ""
    """Where all exchange (schmier): how many cards each seat has thrown, from the dealer's left, as "2 0 3"."""
    played: str = ""
    """Finished tricks, every card in the order played, the bidder's lead first: "AS 7S 9S TS / KS ..."."""
    trick: str = ""
    """Cards on the table, from the lead on."""
