"""Rules as data: presets, options, and every combination that has no meaning."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import pytest

from smear_env.rules import FOUR_POINT, MINI, PRESETS, SCHMIER, Rules, make_rules


@pytest.mark.parametrize(("preset", "actions"), [(FOUR_POINT, 36), (SCHMIER, 62), (MINI, 12)])
def test_presets__numbers_of_actions(preset: Rules, actions: int) -> None:
    assert len(preset.action_names) == actions
    assert len(set(preset.action_names)) == actions


def test_four_point__is_the_game_of_the_rules() -> None:
    rules = FOUR_POINT
    assert (rules.players, rules.teams, rules.hand_size, rules.stock_size) == (4, 2, 6, 8)
    assert rules.point_names == ("high", "low", "jack", "game")
    assert rules.action_names[32:] == ("pass", "2", "3", "4")
    assert (rules.stock_to_bidder, rules.may_trump, rules.protect_scoring, rules.exchange) == (
        3,
        True,
        False,
        0,
    )
    assert rules.target == 15


def test_schmier__is_the_game_of_the_rules() -> None:
    rules = SCHMIER
    assert (rules.players, rules.teams, rules.hand_size, rules.stock_size) == (6, 3, 6, 17)
    assert rules.point_names == ("high", "low", "right", "left", "joker", "game")
    assert rules.action_names[52:] == (
        *("JK", "pass", "3", "4", "5", "6"),
        *("trump:C", "trump:D", "trump:H", "trump:S"),
    )
    assert (rules.exchange, rules.exchange_exactly, rules.may_trump, rules.protect_scoring) == (
        3,
        False,
        False,
        True,
    )
    assert rules.target == 21


@pytest.mark.parametrize("preset", [FOUR_POINT, SCHMIER])
def test_presets__contested_rules_have_their_default(preset: Rules) -> None:
    assert (preset.failed_bid, preset.high_low, preset.low_to, preset.game_tie) == (
        "bid",
        "void",
        "holder",
        "nobody",
    )
    assert (preset.ending, preset.both_out, preset.all_pass) == ("any", "highest", "same_dealer")
    assert not preset.lead_trump_first


def test_mini__is_the_game_of_the_rules() -> None:
    assert (MINI.players, MINI.teams, MINI.suits, MINI.ranks, MINI.hand_size) == (2, 2, "CS", "7TJA", 2)
    assert (MINI.stock_to_bidder, MINI.all_pass, MINI.min_bid, MINI.max_bid) == (1, "dealer_bids", 2, 4)


@pytest.mark.parametrize(
    ("game", "options", "fields"),
    [
        ("schmier", {"game_tie": "non_bidder"}, ["game_tie", "teams"]),
        ("schmier", {"exchange": 0, "exchange_exactly": True}, ["exchange_exactly", "exchange="]),
        ("four_point", {"exchange_exactly": True}, ["exchange_exactly", "exchange="]),
        ("four_point", {"lead_trump_first": True}, ["lead_trump_first", "trump_named"]),
        ("schmier", {"stock_to_bidder": 1}, ["stock_to_bidder", "dealer_takes_stock"]),
        ("schmier", {"stock_to_bidder": 1, "dealer_takes_stock": False}, ["stock_to_bidder", "trump_named"]),
        ("four_point", {"hand_size": 9}, ["players", "hand_size"]),
        ("four_point", {"players": 6}, ["players", "hand_size"]),
        ("four_point", {"stock_to_bidder": 9}, ["stock_to_bidder", "hand_size"]),
        ("schmier", {"exchange": 4}, ["exchange", "players"]),
        ("schmier", {"exchange": 7, "players": 3, "teams": 3}, ["exchange", "hand_size"]),
        ("four_point", {"max_bid": 5}, ["max_bid", "joker"]),
        ("four_point", {"ranks": "789TQKA"}, ["ranks", "jack"]),
        ("schmier", {"max_bid": 7}, ["max_bid", "joker"]),
        ("schmier", {"joker": False}, ["max_bid", "joker"]),
        ("four_point", {"min_bid": 4, "max_bid": 3}, ["min_bid", "max_bid"]),
        ("schmier", {"teams": 4}, ["players", "teams"]),
        ("four_point", {"teams": 3}, ["players", "teams"]),
        ("four_point", {"exchange": 1}, ["exchange", "trump_named"]),
        ("four_point", {"joker": True}, ["joker", "trump_named"]),
        ("four_point", {"bowers": True}, ["bowers", "trump_named"]),
        (
            "four_point",
            {"stock_to_bidder": 0, "dealer_takes_stock": True},
            ["dealer_takes_stock", "trump_named"],
        ),
        ("schmier", {"suits": "CDH", "players": 3}, ["bowers", "suits"]),
        ("schmier", {"ranks": "23456789TQKA"}, ["ranks", "jack"]),
        ("mini", {"protect_scoring": True}, ["protect_scoring", "hand_size"]),
    ],
)
def test_rules__refuse_fields_that_contradict(game: str, options: dict[str, Any], fields: list[str]) -> None:
    with pytest.raises(ValueError, match="=") as refused:
        make_rules(game, **options)
    for field in fields:
        assert field in str(refused.value)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"failed_bid": "half"}, "failed_bid"),
        ({"high_low": None}, "high_low"),
        ({"low_to": "HOLDER"}, "low_to"),
        ({"game_tie": ""}, "game_tie"),
        ({"ending": "never"}, "ending"),
        ({"both_out": "lowest"}, "both_out"),
        ({"all_pass": True}, "all_pass"),
        ({"stock_to_bidder": -1}, "stock_to_bidder"),
        ({"stock_to_bidder": "3"}, "stock_to_bidder"),
        ({"stock_to_bidder": 2.0}, "stock_to_bidder"),
        ({"stock_to_bidder": True}, "stock_to_bidder"),
        ({"may_trump": 1}, "may_trump"),
        ({"target": 0}, "target"),
        ({"target": 101}, "target"),
        ({"hand_size": 0}, "hand_size"),
        ({"players": 1}, "players"),
        ({"players": 7}, "players"),
        ({"teams": 1}, "teams"),
        ({"min_bid": 0}, "min_bid"),
        ({"suits": "CDHX"}, "suits"),
        ({"suits": "CCDH"}, "suits"),
        ({"suits": ""}, "suits"),
        ({"ranks": "A789TJQK"}, "ranks"),
        ({"ranks": ""}, "ranks"),
        ({"exchange": [1]}, "exchange"),
    ],
)
def test_rules__refuse_a_value(options: dict[str, Any], field: str) -> None:
    with pytest.raises(ValueError, match=field):
        make_rules("four_point", **options)


def test_make_rules__refuses_an_unknown_option_by_name() -> None:
    with pytest.raises(ValueError, match=r"'stock_for_bidder'.*stock_to_bidder"):
        make_rules("four_point", stock_for_bidder=2)


@pytest.mark.parametrize("name", ["euchre", "", None, 4, ["four_point"]])
def test_make_rules__refuses_an_unknown_preset(name: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=r"preset|unhashable"):
        make_rules(name)


OTHER_NAME: dict[str, Any] = {"name": "schmier"}


def test_make_rules__the_name_is_no_option() -> None:
    with pytest.raises((ValueError, TypeError), match="name"):
        make_rules("four_point", **OTHER_NAME)


def test_make_rules__refuses_rules_of_a_name_that_is_no_preset() -> None:
    with pytest.raises(ValueError, match=r"'pitch' is not a preset.*register_rules"):
        make_rules(dataclasses.replace(FOUR_POINT, name="pitch"))


def test_make_rules__changes_a_preset_or_given_rules() -> None:
    two = make_rules("four_point", stock_to_bidder=2)
    assert two == dataclasses.replace(FOUR_POINT, stock_to_bidder=2)
    assert make_rules(two, ending="cap") == dataclasses.replace(two, ending="cap")
    assert make_rules(two) == two


@pytest.mark.parametrize(
    ("rules", "options"),
    [
        (make_rules("four_point"), {"stock_to_bidder": 3}),
        (make_rules("four_point", stock_to_bidder=2, ending="cap"), {"stock_to_bidder": 2, "ending": "cap"}),
        (make_rules("schmier"), {}),
        (make_rules("schmier", teams=2), {"teams": 2}),
    ],
)
def test_options__what_differs_and_the_agreed_stock(rules: Rules, options: dict[str, Any]) -> None:
    assert rules.options() == options
    assert make_rules(rules.name, **rules.options()) == rules


@pytest.mark.parametrize("rules", [*PRESETS.values(), make_rules("four_point", stock_to_bidder=1)])
def test_rules__hashable_picklable_and_frozen(rules: Rules) -> None:
    copy = pickle.loads(pickle.dumps(rules))
    assert copy == rules
    assert hash(copy) == hash(rules)
    with pytest.raises(dataclasses.FrozenInstanceError):
        rules.target = 3  # type: ignore[misc]


@pytest.mark.parametrize("ranks", ["789TJQK", "789TQKA"])
def test_ranks__need_the_ace_and_the_jack(ranks: str) -> None:
    with pytest.raises(ValueError, match="ace and the jack"):
        make_rules("four_point", ranks=ranks, max_bid=3)
