"""Points of a deal, its score, and the end of the match.

High and Low go to who played the ace and the lowest card of trump; Jack, or Right, Left and Joker,
to who won them; Game to the most card points. The bidder's team with at least its bid scores all it
earned, with less it loses its bid; every other team scores what it earned. A match ends after a
scored deal with a team at or above the target.
"""

from tests.reference.cards import JOKERS, card_points, is_trump, left_bower, trump_order
from tests.reference.options import Options

Trick = tuple[int, list[tuple[int, str]], int]
"""Leader, the cards in order with their seats, winner."""


def deal_points(
    options: Options, trump: str, bidder: int, tricks: list[Trick], totals: list[int]
) -> dict[str, int | None]:
    """The team that earned each point of the deal, or None for nobody."""
    player: dict[str, int] = {}
    taker: dict[str, int] = {}
    for _, cards, winner in tricks:
        for seat, card in cards:
            player[card] = seat % options.teams
            taker[card] = winner % options.teams
    high, low = high_low_cards(options, trump, list(player))
    points: dict[str, int | None] = {
        "high": player.get(high),
        "low": (taker if options.low_to == "winner" else player).get(low),
    }
    if options.bowers:
        points["right"] = taker.get("J" + trump)
        points["left"] = taker.get(left_bower(options, trump) or "")
    else:
        points["jack"] = taker.get("J" + trump)
    if options.second_joker:
        points["big_joker"], points["little_joker"] = taker.get("BJ"), taker.get("LJ")
    elif options.joker:
        points["joker"] = taker.get("JK")
    points["game"] = game_point(options, bidder, totals)
    return points


def high_low_cards(options: Options, trump: str, played: list[str]) -> tuple[str, str]:
    """The cards that High and Low are given for; "" for none."""
    if options.high_low == "void":
        return "A" + trump, options.ranks[0] + trump
    order = trump_order(options, trump)
    trumps = sorted((c for c in played if is_trump(options, c, trump)), key=order.index)
    # A joker is never Low, but it is a trump: played alone, it is the highest one played.
    lows = [card for card in trumps if card not in JOKERS]
    return (trumps[-1] if trumps else ""), (lows[0] if lows else "")


def card_totals(options: Options, bidder: int, won: list[list[str]], own: list[str]) -> list[int]:
    """Card points of each team: what it won, and for the bidder's team the discards that count."""
    totals = [sum(map(card_points, cards)) for cards in won]
    totals[bidder % options.teams] += sum(map(card_points, own))
    return totals


def game_point(options: Options, bidder: int, totals: list[int]) -> int | None:
    """The team with the most card points; a tie goes by `game_tie`."""
    best = [team for team, total in enumerate(totals) if total == max(totals)]
    team = bidder % options.teams
    if len(best) == 1:
        return best[0]
    if options.game_tie == "bidder":
        return team if team in best else None
    if options.game_tie == "non_bidder":
        return 1 - team
    return None


def deal_delta(
    options: Options, bidder: int, bid: int, points: dict[str, int | None]
) -> tuple[bool, list[int]]:
    """Whether the bid was made, and what each team scores before any cap."""
    delta = [list(points.values()).count(team) for team in range(options.teams)]
    team = bidder % options.teams
    made = delta[team] >= bid
    if not made:
        delta[team] = -bid if options.failed_bid == "bid" else -delta[team]
    return made, delta


def new_scores(options: Options, bidder: int, scores: list[int], delta: list[int]) -> list[int]:
    """The match scores after the deal."""
    after = [score + change for score, change in zip(scores, delta, strict=True)]
    if options.ending == "cap":
        for team, score in enumerate(scores):
            if team != bidder % options.teams:
                # A score already beyond the target (a bid took it there, and the match went on) is
                # not taken back; it only stops rising.
                after[team] = min(after[team], max(score, options.target))
    return after


def match_winner(options: Options, bidder: int, made: bool, scores: list[int]) -> int | None:
    """The team that has won the match after a scored deal, or None when another is played."""
    team = bidder % options.teams
    out = [other for other, score in enumerate(scores) if score >= options.target]
    if options.ending == "made_bid":
        return team if made and team in out else None
    if not out or (options.ending == "made_deal" and not made):
        return None
    if options.both_out == "bidder" and team in out:
        return team
    best = [other for other in out if scores[other] == max(scores)]
    if len(best) == 1:
        return best[0]
    return team if team in best else None
