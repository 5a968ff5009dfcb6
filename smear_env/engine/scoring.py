"""The points of a deal, the scores of the match and its end (RULES, "One deal", 6 to 8)."""

from __future__ import annotations

import numpy as np

from smear_env._jit import inline_kernel, kernel
from smear_env._typing import RecordArray, as_int
from smear_env.cards import bit, drop_lowest, has, lowest
from smear_env.engine.deal import deal_cards
from smear_env.engine.seats import seat_after
from smear_env.engine.state import OVER, PASSED_OUT, SCORED
from smear_env.engine.tables import (
    ENDING_CAP,
    ENDING_MADE_BID,
    ENDING_MADE_DEAL,
    GAME_TIE_BIDDER,
    GAME_TIE_NON_BIDDER,
    MAX_CAPTURES,
    NEXT_DEALER,
)

_NONE = np.uint64(0)
_ONE = np.uint64(1)


@kernel
def finish_deal(t: RecordArray, s: RecordArray) -> None:
    """Score the deal just played, then end the match or deal again."""
    record_deal(t, s, SCORED)
    bidding_team = as_int(t.team_of[s.bidder])
    earned = np.zeros(8, np.int64)
    award_points(t, s)
    for point in range(t.points):
        if s.last_points[point] >= 0:
            earned[s.last_points[point]] += 1
    s.last_made = earned[bidding_team] >= s.bid
    for team in range(t.teams):
        delta = earned[team]
        if team == bidding_team and not s.last_made:
            delta = -earned[team] if t.failed_costs_points else -as_int(s.bid)
        s.last_delta[team] = delta
    add_scores(t, s, bidding_team)
    next_deal(t, s, passes_left(t, SCORED))


@kernel
def pass_out(t: RecordArray, s: RecordArray) -> None:
    """Throw the cards in: nobody scores, and the same dealer deals again, or the next."""
    record_deal(t, s, PASSED_OUT)
    next_deal(t, s, passes_left(t, PASSED_OUT))


@kernel
def add_scores(t: RecordArray, s: RecordArray, bidding_team: int) -> None:
    """Add what each team scored in the deal, `last_delta`, to the scores, and find who has won the match."""
    for team in range(t.teams):
        score = s.scores[team] + s.last_delta[team]
        if t.ending == ENDING_CAP and team != bidding_team:
            score = min(score, max(s.scores[team], t.target))
        s.scores[team] = score
    s.winner = find_winner(t, s, bidding_team)


@inline_kernel
def passes_left(t: RecordArray, ended: int) -> bool:
    """Whether the next seat deals after a deal that ended so, and not the same again."""
    return ended == SCORED or t.all_pass == NEXT_DEALER


@kernel
def next_deal(t: RecordArray, s: RecordArray, passes_left: bool) -> None:
    """Count the finished deal; end the match, cut it off, or deal, the next seat if the deal passes left.

    At the end the dealer stays, so that the last view still tells who spoke first.
    """
    s.deals += 1
    if s.winner < 0 and not s.one_deal:
        if s.deals < s.max_deals:
            if passes_left:
                s.dealer = seat_after(t, s.dealer, 1)
            deal_cards(t, s)
            return
        s.truncated = 1
    s.phase = OVER
    s.turn = -1


@inline_kernel
def record_deal(t: RecordArray, s: RecordArray, ended: int) -> None:
    """Keep what the deal was, with nothing scored yet."""
    s.ended = ended
    s.last_dealer = s.dealer
    s.last_bid = s.bid
    s.last_bidder = s.bidder
    s.last_trump = s.trump
    s.last_made = 0
    s.last_points[:] = -1
    for team in range(t.teams):
        s.last_delta[team] = 0
        s.last_card_points[team] = s.card_points[team]
        s.last_scores[team] = s.scores[team]


@inline_kernel
def award_points(t: RecordArray, s: RecordArray) -> None:
    """Write the team of each point into `last_points`, and the card points that decide Game."""
    high, low = high_and_low(t, s)
    s.last_points[0] = team_that_played(t, s, high)
    s.last_points[1] = team_that_won(t, s, low) if t.low_to_winner else team_that_played(t, s, low)
    for index in range(t.captures):
        s.last_points[2 + index] = team_that_won(t, s, t.capture[s.trump, index])
    if t.stock_to_bidder > 0:
        # His discards count for his team; where the dealer takes the stock, discards count for nobody.
        s.last_card_points[t.team_of[s.bidder]] += points_in(t, s.discarded[s.bidder])
    s.last_points[t.points - 1] = game_winner(t, s)


@inline_kernel
def high_and_low(t: RecordArray, s: RecordArray) -> tuple[int, int]:
    """The cards that score High and Low, -1 where none: ace and lowest trump, or those in play."""
    high = as_int(t.high_card[s.trump])
    low = as_int(t.low_card[s.trump])
    if not t.high_low_in_play:
        return high, low
    high = as_int(-1)
    low = as_int(-1)
    trumps = t.suit_mask[s.trump, s.trump]
    for seat in range(t.players):
        cards = s.played[seat] & trumps
        while cards != _NONE:
            card = lowest(cards)
            cards = drop_lowest(cards)
            strength = t.strength[s.trump, card]
            top = t.strength[s.trump, high]
            # Of two jokers that are equal until played, with no other trump in play, the big one is High.
            if high < 0 or strength > top or (strength == top and card > high):
                high = card
            # A joker belongs to no suit of the deck, and is never Low.
            if t.suit_of[-1, card] >= 0 and (low < 0 or strength < t.strength[s.trump, low]):
                low = card
    return high, low


@inline_kernel
def team_that_played(t: RecordArray, s: RecordArray, card: int) -> int:
    """The team whose player played a card in a finished trick, -1 if nobody did."""
    if card >= 0:
        for seat in range(t.players):
            if has(s.played[seat], card):
                return as_int(t.team_of[seat])
    return -1


@inline_kernel
def team_that_won(t: RecordArray, s: RecordArray, card: int) -> int:
    """The team that took a card in a trick, -1 if it was not played."""
    if card >= 0:
        for team in range(t.teams):
            if s.won[team] & bit(card) != _NONE:
                return team
    return -1


@inline_kernel
def scoring_trumps(t: RecordArray, trump: int, cards: np.uint64) -> np.uint64:
    """Which of the trumps that score are among the cards: bit 0 high, 1 low, then the captures."""
    found = np.uint64(has(cards, t.high_card[trump])) | np.uint64(has(cards, t.low_card[trump])) << _ONE
    for index in range(MAX_CAPTURES):
        if index < t.captures:
            found |= np.uint64(has(cards, t.capture[trump, index])) << np.uint64(2 + index)
    return found


@inline_kernel
def points_in(t: RecordArray, cards: np.uint64) -> int:
    """Card points of a set of cards."""
    total = 0
    while cards != _NONE:
        total += t.card_points[lowest(cards)]
        cards = drop_lowest(cards)
    return total


@inline_kernel
def game_winner(t: RecordArray, s: RecordArray) -> int:
    """The team with most card points; a tie by `game_tie`."""
    best = -1
    tied = False
    for team in range(t.teams):
        if best < 0 or s.last_card_points[team] > s.last_card_points[best]:
            best = team
            tied = False
        elif s.last_card_points[team] == s.last_card_points[best]:
            tied = True
    if not tied:
        return best
    bidding_team = as_int(t.team_of[s.bidder])
    if t.game_tie == GAME_TIE_BIDDER and s.last_card_points[bidding_team] == s.last_card_points[best]:
        return bidding_team
    if t.game_tie == GAME_TIE_NON_BIDDER:
        return 1 - bidding_team
    return -1


@inline_kernel
def find_winner(t: RecordArray, s: RecordArray, bidding_team: int) -> int:
    """The team that has won the match after a scored deal, -1 if it goes on."""
    bidder_out = s.scores[bidding_team] >= t.target
    if t.ending == ENDING_MADE_BID:
        return bidding_team if s.last_made and bidder_out else -1
    if t.ending == ENDING_MADE_DEAL and not s.last_made:
        return -1
    if t.bidder_first_out and bidder_out:
        return bidding_team
    best = 0
    tied = False
    for team in range(1, t.teams):
        if s.scores[team] > s.scores[best]:
            best = team
            tied = False
        elif s.scores[team] == s.scores[best]:
            tied = True
    if s.scores[best] < t.target:
        return -1
    if not tied:
        return best
    return bidding_team if s.scores[bidding_team] == s.scores[best] else -1
