"""What people want to read out of a match: the table as it is drawn, and the result of the last deal."""

from __future__ import annotations

from typing import Any

from smear_env._typing import RecordArray
from smear_env.engine.state import NO_DEAL, OVER, PASSED_OUT, PHASE_NAMES
from smear_env.history import clockwise, strengths, trick_winner
from smear_env.render.view import TableView
from smear_env.rules import Rules

Trick = tuple[tuple[int, str], ...]
"""(seat, card) in the order played."""


def table_view(rules: Rules, state_record: RecordArray, viewer: int | None = None) -> TableView:
    """The table of one match, a row of `engine.state.new_states`, as text and picture want it.

    With `viewer`, a seat, only its own hand is shown; the others are given as numbers of cards.
    """
    s = state_record
    seats, teams = range(rules.players), range(rules.teams)
    finished = _finished_tricks(rules, s)
    winners = [winner for _, winner in finished]
    dealer, over = int(s.dealer), int(s.phase) == OVER
    calls = ("pass", *map(str, range(rules.min_bid, rules.max_bid + 1)))
    spoken = ((dealer + 1 + place) % rules.players for place in seats)
    bids = tuple(
        (seat, call)
        for seat in spoken
        for index, call in enumerate(calls)
        if int(s.said) >> seat * len(calls) + index & 1
    )
    return TableView(
        game=rules.name,
        players=rules.players,
        teams=rules.teams,
        dealer=dealer,
        turn=None if over else int(s.turn),
        phase=PHASE_NAMES[s.phase],
        hands=tuple(
            _sorted_hand(rules, s, seat) if viewer in (None, seat) else int(s.hand[seat]).bit_count()
            for seat in seats
        ),
        stock=int(s.stock_size - s.stock_drawn),
        bids=bids,
        bidder=int(s.bidder) if s.bidder >= 0 else None,
        bid=int(s.bid) if s.bid > 0 else None,
        trump=rules.suits[s.trump] if s.trump >= 0 else None,
        trick=_named(rules, clockwise([_ids(s.trick[seat]) for seat in seats], int(s.leader))),
        last_trick=finished[-1][0] if finished else (),
        last_winner=winners[-1] if finished else None,
        tricks_won=tuple(sum(winner % rules.teams == team for winner in winners) for team in teams),
        card_points=tuple(int(s.card_points[team]) for team in teams),
        exchanged=tuple(int(s.taken[seat]).bit_count() for seat in seats),
        scores=tuple(int(s.scores[team]) for team in teams),
        target=rules.target,
        deal=int(s.deals) + (0 if over else 1),
        winner=int(s.winner) if s.winner >= 0 else None,
    )


def deal_result(rules: Rules, state_record: RecordArray) -> dict[str, Any] | None:
    """The last finished deal as transcripts have it, with its dealer; None before the first.

    `{"dealer", "redeal": True}` where everybody passed, otherwise `dealer bid bidder trump points card_points made
    delta scores`: seats and teams as numbers, points by name with a team or None, lists by team.
    """
    s = state_record
    if s.ended == NO_DEAL:
        return None
    if s.ended == PASSED_OUT:
        return {"dealer": int(s.last_dealer), "redeal": True}
    takers = (int(team) for team in s.last_points)
    return {
        "dealer": int(s.last_dealer),
        "bid": int(s.last_bid),
        "bidder": int(s.last_bidder),
        "trump": rules.suits[s.last_trump],
        "points": {
            name: team if team >= 0 else None for name, team in zip(rules.point_names, takers, strict=False)
        },
        "card_points": [int(points) for points in s.last_card_points[: rules.teams]],
        "made": bool(s.last_made),
        "delta": [int(change) for change in s.last_delta[: rules.teams]],
        "scores": [int(score) for score in s.scores[: rules.teams]],
    }


def _finished_tricks(rules: Rules, s: RecordArray) -> list[tuple[Trick, int]]:
    """Each trick of the deal in the order played, with its winner; the bidder led the first."""
    tricks = []
    leader = int(s.bidder)
    played = [_ids(s.played[seat]) for seat in range(rules.players)]
    for number in range(1, int(s.trick_number) + 1):
        cards = clockwise([[card for card in pile if s.trick_of[card] == number] for pile in played], leader)
        leader = trick_winner(rules, int(s.trump), cards)
        tricks.append((_named(rules, cards), leader))
    return tricks


def _sorted_hand(rules: Rules, s: RecordArray, seat: int) -> tuple[str, ...]:
    """A hand as people hold it: by suit, the highest first, bowers and joker among the trumps."""
    order = strengths(rules, int(s.trump))
    cards = sorted(_ids(s.hand[seat]), key=lambda card: (order[card][0], -order[card][1]))
    return tuple(rules.card_names[card] for card in cards)


def _named(rules: Rules, cards: list[tuple[int, int]]) -> Trick:
    return tuple((seat, rules.card_names[card]) for seat, card in cards)


def _ids(cards: Any) -> list[int]:
    bits = int(cards)
    return [card for card in range(bits.bit_length()) if bits >> card & 1]
