"""Expert plays by its rules: a position for each sentence of docs/expert.md, and points per deal against others."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import expert_options
from smear_env.agents import ANY_SEAT, make_agent
from smear_env.agents.expert import book, load_book
from smear_env.agents.expert.features import NAMES
from smear_env.rules import Rules, make_rules
from smear_env.vector import SelfPlayVectorEnv
from tests.test_agents_greedy import NO_EXCHANGE, PLAIN, STRONG, answer, duel, interval

FOUR_POINT = make_rules("four_point")
SCHMIER = make_rules("schmier")
GAMES = (PLAIN, FOUR_POINT, SCHMIER, NO_EXCHANGE)

expert = partial(answer, player="expert")


# ---------------------------------------------------------------- bids


def test_bid__strong_hand_bids_weak_hand_passes() -> None:
    assert expert(PLAIN, {0: "AS KS JS TS 7S AH"}) in ("2", "3", "4")
    assert expert(PLAIN, {1: "9S 8S 9H 8H 9D 8C"}, "3") == "pass"
    assert expert(SCHMIER, {0: "AS KS JS JC 2S AH"}) in ("3", "4", "5")
    assert expert(SCHMIER, {0: "4S 5S 6H 7H 8D 9C"}) == "pass"


def test_bid__raises_an_opponent_with_a_hand_that_makes_more() -> None:
    assert expert(PLAIN, {1: "AS KS JS TS 7S AH"}, "3") == "4"


def test_bid__leaves_the_bid_to_the_partner_with_a_fair_hand() -> None:
    assert expert(PLAIN, {2: "KS 9S TH 8H 7D QC"}, "2 pass") == "pass"


def test_bid__leaves_the_bid_to_a_partner_but_takes_it_from_an_opponent() -> None:
    hand = "KS JS 7S AH 9D TD"
    assert expert(PLAIN, {3: hand}, "pass 2 pass") == "pass"
    assert expert(PLAIN, {3: hand}, "pass pass 2") == "3"
    hand = "3S AS QS 7S AC 2D"
    assert expert(SCHMIER, {3: hand}, "3 pass pass") == "pass"
    assert expert(SCHMIER, {3: hand}, "pass pass 3") == "4"


def test_bid__first_seat_bids_higher_than_the_dealer_who_cannot_be_outbid() -> None:
    hand = "KS JS 7S AH 9D TD"
    assert expert(PLAIN, {0: hand}) == "3"
    assert expert(PLAIN, {3: hand}, "pass pass pass") == "2"
    hand = "AS KS QS JS 9D 8C"
    assert expert(SCHMIER, {0: hand}) == "4"
    assert expert(SCHMIER, {5: hand}, "pass pass pass pass pass") == "3"


def test_bid__desperate_when_an_opponent_is_about_to_win() -> None:
    hand = {3: "KS JS 7S AH 9D TD"}
    assert expert(PLAIN, hand, "pass pass 3") == "pass"
    assert expert(PLAIN, hand, "pass pass 3", scores=(14, 10)) == "4"


def test_bid__no_higher_than_what_wins_the_match() -> None:
    hand = {0: "AS JS 7S QH 9D 8C"}
    assert expert(PLAIN, hand) == "3"
    assert expert(PLAIN, hand, scores=(13, 0)) == "2"
    hand = {0: "AS KS QS JS 9D 8C"}
    assert expert(SCHMIER, hand) == "4"
    assert expert(SCHMIER, hand, scores=(18, 0, 0)) == "3"


def test_styles__cautious_bids_less_and_aggressive_more_often() -> None:
    deals = {}
    for style in ("expert-cautious", "expert", "expert-aggressive"):
        result = duel(SCHMIER, style, "expert", 400, 3)
        deals[style] = result.bids
    assert deals["expert-cautious"] < deals["expert"] < deals["expert-aggressive"]


# ---------------------------------------------------------------- trump, exchange, discards


def test_name__takes_the_suit_that_promises_most() -> None:
    assert expert(SCHMIER, {0: "AS KS QS JC 2S 5H"}, "6") == "trump:S"
    assert expert(SCHMIER, {0: "AH QH 2H KS QS 9S"}, "6") == "trump:H"


def test_first_lead__shows_the_suit_that_promises_most() -> None:
    assert expert(PLAIN, {0: "AH JH 7H KS QS 9S"}, "4") == "AH"
    assert expert(PLAIN, {0: "AS JS 7S KH QH 9H"}, "4") == "AS"


@pytest.mark.parametrize("thrown", ["", "9C", "9C 8C"])
def test_discard__keeps_the_trumps_and_throws_low_cards_or_a_lone_ten(thrown: str) -> None:
    hands = {0: "AS KS JS 9S 7H TD"}
    discard = expert(FOUR_POINT, hands, f"4 {thrown}", stock="8C 9C QD")
    assert discard[1] != "S"
    assert discard in ("7H", "TD", "8C", "9C", "QD")


def thrown_by(rules: Rules, hands: dict[int, str], call: str, number: int, stock: str) -> list[str]:
    """The cards that expert throws one after another."""
    thrown: list[str] = []
    for _ in range(number):
        thrown.append(expert(rules, hands, f"{call} {' '.join(thrown)}", stock=stock))
    return thrown


def test_discard__bidder_throws_the_lone_ten_that_counts_for_his_game_and_makes_voids() -> None:
    assert "TD" in thrown_by(FOUR_POINT, {0: "AS KS JS 9S AH TD"}, "4", 3, "8C 9C QD")
    # Two hearts stay rather than a card of each suit.
    thrown = thrown_by(FOUR_POINT, {0: "AS KS JS 9S 8H 9H"}, "4", 3, "9D 7C JC")
    assert sorted(thrown) == ["7C", "9D", "JC"]


def test_discard__dealer_keeps_the_ten_of_a_long_suit_and_is_void_of_the_others() -> None:
    stock = "3D 4C 6D 5H 6C 7C 8D 9D 2D 3C 4H TC QD 6H 8C 9C 2C"
    hand = "AS KS 2S AH TH 4D"
    call = f"pass pass pass pass pass 3 trump:S {'pass ' * 5}"
    thrown = thrown_by(SCHMIER, {5: hand}, call, 17, stock)
    kept = set(hand.split()) | set(stock.split())
    assert sorted(kept - set(thrown)) == ["2S", "8C", "9C", "AS", "KS", "TC"]


def test_discard__dealer_throws_low_cards() -> None:
    hands = {5: "AS KS 2S AH 3H 4D"}
    discard = expert(SCHMIER, hands, f"pass pass pass pass pass 3 trump:S {'pass ' * 5}")
    assert discard[1] != "S"
    assert discard[0] in "23456789"


def test_exchange__throws_low_cards() -> None:
    thrown: list[str] = []
    for _ in range(3):
        thrown.append(expert(SCHMIER, {0: "AS KS AH 3H 4D 5C"}, f"6 trump:S {' '.join(thrown)}"))
    assert sorted(thrown) == ["3H", "4D", "5C"]


# ---------------------------------------------------------------- play


@pytest.mark.parametrize(
    ("rules", "hand", "call"),
    [(PLAIN, "AS QS JS 9S AH 7D", "4"), (NO_EXCHANGE, "AS QS TS 3S AH 7D", "6 trump:S")],
)
def test_lead__draws_trumps_from_the_top(rules: Rules, hand: str, call: str) -> None:
    assert expert(rules, {0: hand}, call) == "AS"


def test_lead__never_the_jack_under_a_live_higher_trump() -> None:
    hands = {0: "JS 9S 8S AH 7D 8D"}
    assert expert(PLAIN, hands, "2 pass pass pass") != "JS"
    hands = {0: "AS JS 9S AH 7D 8D", 1: "7S 8H 9H 9D 7C 8C", 2: "8S TC 9C JC QC KC", 3: "TS JD QD KD AD 7H"}
    assert expert(PLAIN, hands, "4 AS 7S 8S TS") != "JS"


@pytest.mark.parametrize("card", ["JS", "JC", "JK"])
def test_lead__neither_bower_nor_joker_under_live_higher_trumps(card: str) -> None:
    assert expert(NO_EXCHANGE, {0: f"{card} 9S 8S 7S AH 7D"}, "6 trump:S") == "9S"


@pytest.mark.parametrize(("rules", "partner"), [(PLAIN, 2), (NO_EXCHANGE, 3)])
def test_follow__gives_the_ten_to_the_partners_certain_winner(rules: Rules, partner: int) -> None:
    if rules is PLAIN:
        hands = {0: STRONG, 1: "7S 7C 8C 9C JC QC", partner: "TH 7H 8H 8D 9D KC"}
        assert expert(rules, hands, "4 AS 7S") == "TH"
    else:
        hands = {
            0: "AS KS QS 3S AH 7D",
            1: "4S 7C 8C 9C JH QC",
            2: "5S 2C 3C 4C 5C 6C",
            partner: "TH 7H 8H 8D 9D KC",
        }
        assert expert(rules, hands, "6 trump:S AS 4S 5S") == "TH"


@pytest.mark.parametrize("rules", [PLAIN, NO_EXCHANGE])
def test_follow__keeps_the_ten_from_the_opponents_winner(rules: Rules) -> None:
    hands = {0: STRONG, 1: "TH 7H 8H 8D 9D KC"}
    assert expert(rules, hands, "4 AS" if rules is PLAIN else "6 trump:S AS") != "TH"


def test_follow__keeps_the_jack_of_trump_from_the_ace() -> None:
    hands = {0: STRONG.replace("JS", "8S"), 1: "JS 7S 7C 8C 9C QC"}
    assert expert(PLAIN, hands, "4 AS") == "7S"


@pytest.mark.parametrize("card", ["JS", "JC", "JK"])
def test_follow__keeps_bowers_and_joker_from_the_opponents_ace_and_gives_them_to_the_partners(
    card: str,
) -> None:
    hands = {0: "AS KS QS 3S AH 7D", 1: f"{card} 4S 7C 8C 9C QC"}
    assert expert(NO_EXCHANGE, hands, "6 trump:S AS") == "4S"
    hands = {
        0: "AS KS QS 3S AH 7D",
        1: "5S 7C 8C 9C TC QC",
        2: "6S 2C 3C 4C 5C 6C",
        3: f"{card} 4S 8H 9H 2D 3D",
    }
    assert expert(NO_EXCHANGE, hands, "6 trump:S AS 5S 6S") == card


def test_follow__gives_the_jack_to_the_partners_ace() -> None:
    hands = {0: STRONG.replace("JS", "8S"), 1: "9C 7C 8C TC JC QC", 2: "JS 7S 7H 8H 9D KC"}
    assert expert(PLAIN, hands, "4 AS 7C") == "JS"


def test_follow__takes_a_ten_with_the_last_seat() -> None:
    hands = {0: "TS 9S JS AH 7D 8D", 1: "9D 7C 8C 9C JC QC", 2: "8S TH 7H AD KC QH", 3: "KS 7S 8H 9H TD JD"}
    assert expert(PLAIN, hands, "4 TS 7C 8S") == "KS"


def test_follow__last_takes_with_the_cheapest_winner() -> None:
    hands = {0: "TS 9S JS AH 7D 8D", 1: "7S 7C 8C 9C JC QC", 2: "8S TH 7H 9D KC QH", 3: "QS AS 8H 9H TD JD"}
    assert expert(PLAIN, hands, "4 TS 7S 8S") == "QS"


SIX_HANDS = {
    0: "JC TS 9S 3S AH 7D",
    1: "4S 7C 8C 9C TC QC",
    2: "5S 2C 3C 4C 5C 6C",
    3: "6S 8H 9H 2D 3D 4D",
    4: "7S JK 3H 4H 5D 6D",
}


@pytest.mark.parametrize(
    ("played", "hand", "card"),
    [
        ("TS 4S 5S 6S 7S", "KS QS 8S 5H 6H 8D", "KS"),  # a ten
        ("JC 4S 5S 6S 7S", "AS 2S KS 8S 5H 6H", "AS"),  # the left bower
        ("9S 4S 5S 6S JK", "KS 2S 8S 5H 6H 8D", "KS"),  # the joker
        ("9S 4S 5S 6S 7S", "KS JS 8S 5H 6H 8D", "JS"),  # brings the right bower home
    ],
)
def test_follow__takes_with_the_last_seat_of_six(played: str, hand: str, card: str) -> None:
    assert expert(NO_EXCHANGE, {**SIX_HANDS, 5: hand}, f"6 trump:S {played}") == card


def test_follow__plays_the_low_trump_under_an_opponents_ace_since_its_holder_scores_it() -> None:
    hands = {0: "AS KS 8S AH 7D 8D", 1: "7S TS 7C 8C 9C QC"}
    assert expert(PLAIN, hands, "4 AS") == "7S"
    winner = make_rules("four_point", stock_to_bidder=0, low_to="winner")
    hands = {0: "AS KS TS AH 7D 8D", 1: "7S 9S 7C 8C 9C QC"}
    assert expert(winner, hands, "4 AS") == "9S"


def test_follow__plays_the_two_of_trump_under_an_opponents_ace_where_its_holder_scores_it() -> None:
    hands = {0: "AS KS QS 3S AH 7D", 1: "2S 9S 7C 8C 9C QC"}
    assert expert(NO_EXCHANGE, hands, "6 trump:S AS") == "2S"
    assert expert(make_rules(NO_EXCHANGE, low_to="winner"), hands, "6 trump:S AS") == "9S"


def test_follow__trumps_a_rich_side_trick_with_the_jack_behind_it() -> None:
    hands = {0: "AS KS 9S TH 7D 8D", 1: "AH 7C 8C 9C JC QC", 2: "7S 8H 7H 9D KC QH", 3: "JS 8S JH 9H TD JD"}
    play = "4 AS 7C 7S 8S TH AH 7H"
    assert expert(PLAIN, hands, play) == "JS"


def test_follow__throws_a_ten_and_no_trump_on_the_partners_ace() -> None:
    hands = {0: "AS KS JS TH 9H 7D", 1: "7S 8D 8C 9C JH QH", 2: "8S AD AC 7H QD JC", 3: "TS 9D 7C JD 8H KH"}
    assert expert(PLAIN, hands, "4 AS 7S 8S TS 7D 8D AD 9D AC 7C") == "TH"


def test_follow__saves_the_trump_where_a_trick_holds_nothing() -> None:
    hands = {0: "AS KS JS TH 9H 7D", 1: "7S 8D 8C 9C JH QH", 2: "8S 7C AC 7H QD JC", 3: "QS 9S 8H KH AD TD"}
    assert expert(PLAIN, hands, "4 AS 7S 8S 9S 9H JH 7H")[1] == "H"


def test_follow__stops_the_bidder_one_point_short() -> None:
    # Four bid, and the jack on the table, with two trumps to choose from.
    hands = {0: "AS JS QS TH 9H 7D", 1: "8S 8D 8C 9C 8H QH", 2: "7S 7C AC 7H QD JC", 3: "9S KS TS AH KH TD"}
    assert expert(PLAIN, hands, "4 AS 8S 7S TS JS 8C 7C") == "KS"


@pytest.mark.parametrize(
    ("options", "hands", "cards", "stops", "else_plays"),
    [
        # The jack, brought home over the partner's ten of trump.
        (
            {},
            ("AS QH TD KC JC 7H", "7S 8H TH 7D 8C QD", "TS AC 9C QS TC QC", "8S 9D KS 9H JH 9S"),
            "QH 8H TC 9H KC TH 9C",
            "JH",
            "9D",
        ),
        # The low trump where it goes to who wins it, with the last seat.
        (
            {"low_to": "winner"},
            ("JH JS QD 9D QC TS", "8D KD AD JC 7D 8C", "7H AH 7C KH KC 8H", "QH 9S 7S TH TC TD"),
            "TS 7D 7H 9S QD KD 7C",
            "7S",
            "TD",
        ),
    ],
)
def test_follow__secures_the_point_that_stops_the_bidder(
    options: dict[str, Any], hands: tuple[str, ...], cards: str, stops: str, else_plays: str
) -> None:
    rules = make_rules(PLAIN, **options)
    assert expert(rules, dict(enumerate(hands)), f"4 {cards}") == stops
    assert expert(rules, dict(enumerate(hands)), f"2 pass pass pass {cards}") == else_plays


def test_follow__secures_a_bower_that_stops_the_bidder_of_six() -> None:
    hands = {
        0: "7H 7S 8S AD 3D 3H",
        1: "JS 8D 5S QH 6S 9C",
        2: "JK JH 6D TD TC 9H",
        3: "8C JD 4D QS 8H KD",
        4: "AS JC 6C 3S 2C 5C",
        5: "4H KC 3C 7D 4C KH",
    }
    assert expert(NO_EXCHANGE, hands, "6 trump:S AD 8D 6D 4D") == "JC"
    assert expert(NO_EXCHANGE, hands, f"3 {'pass ' * 5} trump:S AD 8D 6D 4D") == "3S"


# ---------------------------------------------------------------- protocol and strength


def play_all(rules: Rules, seed: int, games: int = 64) -> Any:
    """Actions of expert over whole deals, and what was legal."""
    agent = make_agent("expert")
    agent.reset(rules, ANY_SEAT, 0)
    env = SelfPlayVectorEnv(games, rules, seed=seed, episode="deal")
    shown = env.reset()
    for _ in range(80):
        actions = agent.act_batch(shown.observation, shown.mask)
        assert shown.mask[np.arange(games), actions].all()
        shown = env.step(actions)


@pytest.mark.parametrize(
    ("game", "options"),
    [
        *(("four_point", {"stock_to_bidder": stock}) for stock in range(4)),
        ("four_point", {"low_to": "winner", "failed_bid": "points", "high_low": "in_play"}),
        ("four_point", {"all_pass": "dealer_bids", "protect_scoring": True, "game_tie": "non_bidder"}),
        ("four_point", {"stock_to_bidder": 6, "may_trump": False}),
        ("schmier", {"exchange": 0, "dealer_takes_stock": False}),
        ("schmier", {"teams": 2, "lead_trump_first": True, "exchange_exactly": True}),
        ("schmier", {"protect_scoring": False, "low_to": "winner", "ending": "cap"}),
        *(("mini", {"stock_to_bidder": stock}) for stock in (0, 1, 2, 3)),
    ],
)
def test_expert__plays_every_option(game: str, options: dict[str, Any]) -> None:
    play_all(make_rules(game, **options), 5)


def test_book__chances_fall_with_the_points_asked() -> None:
    for rules in GAMES:
        makes = load_book(rules)["makes"][0]
        assert (np.diff(makes, axis=2) <= 1e-4).all()
        assert makes[:, :, 0].max() > 0.9


def test_rules_of_play__have_a_sentence_each() -> None:
    page = (Path(__file__).parent.parent / "docs" / "expert.md").read_text(encoding="utf-8")
    for name in {name for names in NAMES.values() for name in names}:
        assert f"| {name} |" in page, name


@pytest.mark.parametrize(("game", "least"), [("four_point", 0.5), ("schmier", 0.1)])
def test_expert__beats_greedy(game: str, least: float) -> None:
    assert interval(duel(make_rules(game), "expert", "greedy", 3000, 21).points)[0] > least


@pytest.mark.parametrize("stock", [0, 1, 2])
def test_expert__beats_greedy_with_fewer_stock_cards(stock: int) -> None:
    rules = make_rules("four_point", stock_to_bidder=stock)
    assert interval(duel(rules, "expert", "greedy", 3000, 22).points)[0] > 0.1


@pytest.mark.parametrize(
    ("game", "options", "tables"),
    [
        *(("four_point", {"stock_to_bidder": stock}, f"four_point-{stock}") for stock in range(4)),
        ("schmier", {}, "schmier-0"),
        ("mini", {}, "mini-1"),
        ("four_point", {"ending": "cap", "all_pass": "dealer_bids"}, "four_point-3"),
        ("four_point", {"low_to": "winner", "stock_to_bidder": 2}, "four_point-3-low_to=winner"),
        ("schmier", {"exchange_exactly": True, "lead_trump_first": True}, "schmier-0"),
        ("schmier", {"exchange": 0, "may_trump": True}, "schmier-0-exchange=0"),
        ("schmier", {"dealer_takes_stock": False, "may_trump": True}, "schmier-0-dealer_takes_stock=False"),
    ],
)
def test_tables__are_those_of_the_nearest_options(game: str, options: dict[str, Any], tables: str) -> None:
    nearest = book.nearest_options(make_rules(game, **options), book.fitted_options(game))
    assert book.table_name(nearest) == tables


def test_tables__price_a_bid_as_such_under_other_limits() -> None:
    usual = load_book(FOUR_POINT)
    from_three = book.book_from(make_rules("four_point", min_bid=3), FOUR_POINT)
    np.testing.assert_array_equal(from_three["passed"][0][:, :, 1], usual["passed"][0][:, :, 2])
    np.testing.assert_array_equal(from_three["passed"][0][:, :, 0], usual["passed"][0][:, :, 0])
    assert usual["outbid"][0][3, 1] > 0
    assert (book.book_from(make_rules("four_point", max_bid=2), FOUR_POINT)["outbid"] == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "options"),
    [
        (game, options)
        for game, every in expert_options.OPTIONS.items()
        for options in every
        if options not in expert_options.BEHIND[game]
    ],
    ids=str,
)
def test_expert__is_ahead_of_greedy_under_every_option_but_those_known(
    game: str, options: dict[str, Any]
) -> None:
    assert interval(expert_options.deals_ahead(make_rules(game, **options), 4000, 31))[0] > 0


def test_expert__is_ahead_of_greedy_where_only_the_dealer_takes_cards() -> None:
    assert interval(duel(make_rules("schmier", exchange=0), "expert", "greedy", 1000, 22).points)[0] > 0.3
