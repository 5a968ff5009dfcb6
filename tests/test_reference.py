"""The reference implementation: golden transcripts, and the facts the rules promise.

Card points in the whole deck are 80 or 81; `schmier` earns six points or five; every card is at
each moment in exactly one place; the acting seat always has a legal action.
Then one small test for each disputed rule that the transcripts hardly reach.
"""

import copy
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.reference import (
    Match,
    Options,
    options,
    random_deal,
    random_match,
    random_options,
    random_steps,
    random_transcript,
    replay,
)
from tests.reference.cards import card_points, deck, trick_winner, trump_order
from tests.reference.options import GAMES
from tests.reference.scoring import deal_points, game_point, match_winner, new_scores

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.jsonl"))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_golden__files_are_there() -> None:
    assert len(GOLDEN) >= 23


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_reference__replays_golden_transcripts(path: Path) -> None:
    for number, line in enumerate(lines(path)):
        try:
            replay(line)
        except (AssertionError, ValueError) as error:
            pytest.fail(f"{path.name}, line {number + 1}: {error}")


@pytest.mark.parametrize("key", ["legal", "scores", "points", "delta", "card_points", "dealer"])
def test_replay__notices_a_wrong_statement(key: str) -> None:
    match = copy.deepcopy(lines(next(p for p in GOLDEN if p.stem == "schmier"))[0])
    deal = match["deals"][-1]
    change = {
        "legal": lambda: deal["legal"].__setitem__(-1, "AS pass"),
        "points": lambda: deal["points"].update(high=None),
        "dealer": lambda: deal.update(dealer=(deal["dealer"] + 1) % 6),
    }
    change.get(key, lambda: deal[key].__setitem__(0, 99))()
    with pytest.raises(AssertionError, match="the transcript states"):
        replay(match)


def test_replay__notices_a_wrong_winner() -> None:
    match = lines(GOLDEN[0])[0]
    with pytest.raises(AssertionError, match="winner"):
        replay({**match, "winner": 1 - match["winner"]})


@pytest.mark.parametrize("name", GAMES)
def test_random_transcript__replays(name: str) -> None:
    rng = Random(7)
    for _ in range(10):
        replay(json.loads(json.dumps(random_transcript(random_options(rng, name), rng, 4))))


@pytest.mark.parametrize(
    ("name", "size", "total"),
    [
        ("four_point", 32, 80),
        ("schmier", 53, 81),
        ("six_point", 34, 82),
        ("setback", 52, 80),
        ("racehorse", 32, 80),
    ],
)
def test_deck__size_and_card_points(name: str, size: int, total: int) -> None:
    cards = deck(options(name))
    assert len(set(cards)) == len(cards) == size
    assert sum(map(card_points, cards)) == total


def test_schmier__earns_six_points_or_five_when_game_is_tied() -> None:
    match = random_match(options("schmier", target=999), Random(1), 120)
    played = [result for result in match.results if "redeal" not in result]
    assert len(played) > 90
    for result in played:
        totals = result["card_points"]
        tied = totals.count(max(totals)) > 1
        missing = [point for point, team in result["points"].items() if team is None]
        assert missing == (["game"] if tied else [])


def test_four_point__earns_at_most_four_points() -> None:
    match = random_match(options("four_point", target=999), Random(2), 150)
    for result in match.results:
        earned = [team for team in result.get("points", {}).values() if team is not None]
        assert len(earned) <= 4


def places(match: Match) -> list[str]:
    """Every card wherever it lies, as often as it lies there."""
    piles = [*match.hands, match.stock, *match.discards, *match.won]
    return sorted([card for pile in piles for card in pile] + [card for _, card in match.trick])


@pytest.mark.parametrize("name", GAMES)
def test_cards__are_each_in_exactly_one_place(name: str) -> None:
    rng = Random(3)
    for _ in range(25):
        game = random_options(rng, name)
        for match, _ in random_steps(game, rng, 3):
            assert places(match) == sorted(deck(game)), game


@pytest.mark.parametrize("name", GAMES)
def test_legal__is_never_empty_for_the_acting_seat(name: str) -> None:
    rng = Random(4)
    for _ in range(60):
        game = random_options(rng, name)
        for match, action in random_steps(game, rng, 3):
            legal = match.legal()
            assert bool(legal) == bool(action), (game, match.phase, match.hands)
            assert legal == sorted(set(legal))


def test_act__refuses_an_illegal_action_and_changes_nothing() -> None:
    for match, name in random_steps(options("schmier"), Random(5), 1):
        if name:
            before = copy.deepcopy(vars(match))
            with pytest.raises(ValueError, match="is not one of"):
                match.act("trump:X")
            assert vars(match) == before


def test_match__is_truncated_at_the_limit_on_deals() -> None:
    for match, _ in random_steps(options("four_point", target=99), Random(6), 5):
        assert match.truncated == (len(match.results) == 5)
    assert (match.phase, match.turn, match.winner) == ("over", None, None)
    assert not match.needs_deal


@pytest.mark.parametrize(("all_pass", "dealer"), [("same_dealer", 3), ("next_dealer", 0), ("dealer_bids", 3)])
def test_auction__everybody_passes(all_pass: str, dealer: int) -> None:
    game = options("four_point", all_pass=all_pass)
    match = Match(game, dealer=3, max_deals=2)
    match.deal(*random_deal(game, Random(8)))
    for _ in range(3):
        match.act("pass")
    if all_pass == "dealer_bids":
        assert match.legal() == ["2", "3", "4"]
        return
    match.act("pass")
    assert match.results == [{"redeal": True}]
    assert match.needs_deal
    assert match.dealer == dealer


def started(game: Options, hands: list[str], bidder: int, name: str) -> Match:
    """A match with these hands, the other cards as its stock, and the bidder's first action."""
    held = [hand.split() for hand in hands]
    rest = [card for card in deck(game) if card not in " ".join(hands).split()]
    match = Match(game, dealer=(bidder - 1) % game.players)
    match.deal(held, rest)
    match.act(name)
    return match


FOUR_HANDS = ["AS JS 7S 8H 9H TH", "KS QH KH AH 7C 8C", "9S TS QS AC KC QC", "AD KD QD JD TD 9D"]


@pytest.mark.parametrize("may_trump", [True, False])
def test_voids__a_chosen_trump_shows_nothing(may_trump: bool) -> None:
    match = started(options("four_point", stock_to_bidder=0, may_trump=may_trump), FOUR_HANDS, 0, "4")
    for name in ["AS", "KS", "9S", "AD"]:
        match.act(name)
    assert match.voids == [set(), set(), set(), {"S"}]
    for name in ["8H", "KH", "TS"]:
        match.act(name)
    assert match.voids[2] == (set() if may_trump else {"H"})
    match.act("KD")
    assert match.voids[3] == {"S", "H"}


@pytest.mark.parametrize(
    ("protect", "discards", "suits"),
    [
        (False, ["7D", "9S"], "D"),
        (False, ["8D", "KD"], "S"),
        (True, ["8D", "9S"], "D"),
        (True, ["7D", "8D"], "S"),
    ],
)
def test_lead__must_be_of_a_suit_that_can_still_be_trump(
    protect: bool, discards: list[str], suits: str
) -> None:
    # Seven diamonds and a spade held: one diamond may go while diamonds are to be trump.
    match = one_spade_and_seven_diamonds(protect)
    for name in discards:
        match.act(name)
    assert {card[1] for card in match.legal()} == set(suits)


@pytest.mark.parametrize(("protect", "legal"), [(False, True), (True, False)])
def test_discard__leaves_a_suit_that_can_be_trump(protect: bool, legal: bool) -> None:
    match = one_spade_and_seven_diamonds(protect)
    match.act("7D")
    assert ("9S" in match.legal()) == legal


def one_spade_and_seven_diamonds(protect: bool) -> Match:
    """Seat 0 is the bidder, with eight cards, two of them to be discarded."""
    match = Match(options("four_point", stock_to_bidder=2, protect_scoring=protect), dealer=3)
    hands = ["AD KD QD TD 9D 8D", "JS 7C 8C 9C TC JC", "QC KC AC 7H 8H 9H", "TH JH QH KH AH 8S"]
    match.deal([hand.split() for hand in hands], ["7D", "9S", "JD", "TS", "QS", "KS", "AS", "7S"])
    match.act("4")
    return match


def test_trump_order__bowers_and_joker() -> None:
    high_first = " ".join(reversed(trump_order(options("schmier"), "H")))
    assert high_first == "AH KH QH JH JD TH 9H 8H 7H 6H 5H 4H 3H 2H JK"


def test_trick__joker_beats_the_ace_of_a_side_suit() -> None:
    trick = [(0, "AC"), (1, "KC"), (2, "JK"), (3, "2C")]
    assert trick_winner(options("schmier"), trick, "H") == 2


def test_in_play__joker_alone_is_high_and_never_low() -> None:
    game = options("schmier", high_low="in_play", protect_scoring=False)
    trick = [(0, "AC"), (1, "KC"), (2, "JK"), (3, "2C"), (4, "3C"), (5, "4C")]
    points = deal_points(game, "H", 0, [(0, trick, 2)], [0, 0, 9])
    assert (points["high"], points["low"], points["joker"]) == (2, None, 2)


@pytest.mark.parametrize(
    ("tie", "bidder", "team"),
    [("nobody", 0, None), ("bidder", 0, 0), ("bidder", 2, None), ("bidder", 4, 1)],
)
def test_game__tie_of_two_of_three_teams(tie: str, bidder: int, team: int | None) -> None:
    assert game_point(options("schmier", game_tie=tie), bidder, [20, 20, 11]) == team


def test_game__tie_goes_to_the_non_bidder() -> None:
    assert game_point(options("four_point", game_tie="non_bidder"), 2, [40, 40]) == 1


@pytest.mark.parametrize(
    ("scores", "after"), [([10, 14], [13, 15]), ([10, 17], [13, 17]), ([10, 3], [13, 5])]
)
def test_cap__stops_the_score_of_a_non_bidding_team(scores: list[int], after: list[int]) -> None:
    game = options("four_point", ending="cap")
    assert new_scores(game, 0, scores, [3, 2]) == after


@pytest.mark.parametrize(
    ("changes", "made", "scores", "winner"),
    [
        ({}, False, [11, 15], 1),
        ({}, True, [15, 16], 1),
        ({}, True, [15, 15], 0),
        ({"both_out": "bidder"}, True, [15, 16], 0),
        ({"both_out": "bidder"}, False, [14, 16], 1),
        ({"ending": "made_deal"}, False, [11, 15], None),
        ({"ending": "made_deal"}, True, [11, 15], 1),
        ({"ending": "made_bid"}, True, [15, 17], 0),
        ({"ending": "made_bid"}, True, [14, 17], None),
    ],
)
def test_match__is_won(changes: dict[str, Any], made: bool, scores: list[int], winner: int | None) -> None:
    assert match_winner(options("four_point", **changes), 2, made, scores) == winner


def test_match__goes_on_when_others_than_the_bidder_are_level() -> None:
    assert match_winner(options("schmier"), 0, True, [20, 22, 22]) is None


@pytest.mark.parametrize(
    ("name", "changes", "fields"),
    [
        ("schmier", {"game_tie": "non_bidder"}, "game_tie.*teams"),
        ("schmier", {"exchange": 0, "exchange_exactly": True}, "exchange_exactly.*exchange"),
        ("four_point", {"lead_trump_first": True}, "lead_trump_first.*trump_named"),
        ("schmier", {"stock_to_bidder": 1}, "stock_to_bidder.*dealer_takes_stock"),
        ("schmier", {"exchange": 4}, "exchange.*stock"),
        ("four_point", {"hand_size": 9}, "players.*hand_size"),
        ("four_point", {"max_bid": 5}, "max_bid"),
        ("schmier", {"teams": 4}, "players.*teams"),
        ("mini", {"protect_scoring": True}, "protect_scoring.*hand_size"),
    ],
)
def test_options__refuse_a_contradiction(name: str, changes: dict[str, Any], fields: str) -> None:
    with pytest.raises(ValueError, match=fields):
        options(name, **changes)
