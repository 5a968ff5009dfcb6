"""What each preset is, what two jokers do, and that layouts which trained policies depend on stay as they are."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smear_env import POLICY_FILE, checkpoints_folder, load_policy
from smear_env.engine.tables import compile_tables
from smear_env.layout import layout_hash, observation_layout
from smear_env.rules import PRESETS, make_rules
from smear_env.transcript import record_match
from smear_env.transcript.show import show_match
from tests.engine_match import Pair, dealt
from tests.test_agents_greedy import duel, interval


@pytest.mark.parametrize(
    ("name", "known"),
    [("four_point", "d5a6b909af2fc185"), ("schmier", "6353fc4c33d690f9"), ("mini", "b7f28b5875c7d4ac")],
)
def test_layout_hash__of_games_with_trained_policies_is_what_they_were_trained_on(
    name: str, known: str
) -> None:
    # A change here means that no checkpoint of the game can be loaded: a new version of the environment.
    assert layout_hash(make_rules(name)) == known


def test_checkpoint__of_before_there_were_two_jokers_is_one_trained_without_them(tmp_path: Path) -> None:
    folder = shutil.copytree(checkpoints_folder() / "four_point", tmp_path / "older")
    description = json.loads((folder / POLICY_FILE).read_text(encoding="utf-8"))
    for option in ("second_joker", "joker_order"):
        description["options"].pop(option, None)
    (folder / POLICY_FILE).write_text(json.dumps(description), encoding="utf-8")
    policy = load_policy(folder)
    assert policy.description["options"]["second_joker"] == [False]
    assert policy.description["options"]["joker_order"] == ["first"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is outside the range trained on
        policy.reset(make_rules("four_point"), 0, 0)


def test_layout__only_games_with_two_jokers_show_their_order() -> None:
    with_order = {
        name for name in PRESETS if "joker_order" in observation_layout(PRESETS[name])["options"].meaning
    }
    assert with_order == {"six_point"}


@pytest.mark.parametrize(
    ("name", "cards", "stock", "points", "actions", "target"),
    [
        ("six_point", 34, 10, "high low jack big_joker little_joker game", "pass 2 3 4 5 6", 21),
        ("setback", 52, 28, "high low jack game", "pass 2 3 4", 11),
        ("racehorse", 32, 8, "high low jack game", "pass 2 3 4", 11),
    ],
)
def test_preset__is_the_game_of_its_sources(
    name: str, cards: int, stock: int, points: str, actions: str, target: int
) -> None:
    rules = make_rules(name)
    assert (rules.players, rules.teams, rules.hand_size) == (4, 2, 6)
    assert (len(rules.card_names), rules.stock_size) == (cards, stock)
    assert " ".join(rules.point_names) == points
    assert " ".join(rules.action_names[cards:]) == actions
    assert rules.target == target


def test_six_point__is_four_point_with_two_jokers_and_more_to_bid_for() -> None:
    four, six = make_rules("four_point"), make_rules("six_point")
    changed = {"name", "joker", "second_joker", "max_bid", "target"}
    assert {
        field for field in four.__dataclass_fields__ if getattr(four, field) != getattr(six, field)
    } == changed


@pytest.mark.parametrize(
    ("game", "options", "fields"),
    [
        ("four_point", {"second_joker": True}, ["second_joker", "joker"]),
        ("four_point", {"joker": True}, ["joker", "trump_named", "second_joker"]),
        ("schmier", {"joker_order": "big"}, ["joker_order", "second_joker"]),
        ("six_point", {"joker_order": "little"}, ["joker_order", "little", "big"]),
        ("six_point", {"hand_size": 2}, ["hand_size", "second_joker", "trump_named"]),
        ("six_point", {"max_bid": 7}, ["max_bid", "second_joker"]),
        ("six_point", {"second_joker": False, "max_bid": 4}, ["joker", "trump_named"]),
    ],
)
def test_rules__refuse_jokers_without_meaning(game: str, options: dict[str, Any], fields: list[str]) -> None:
    with pytest.raises(ValueError, match="=") as refused:
        make_rules(game, **options)
    for field in fields:
        assert field in str(refused.value)


# Two jokers. A `Pair` plays in the engine and in the reference and compares them.

JOKERS_MEET = ("AS KS 8C 9C TC JC", "LJ 7S 7D 8D 9D TD", "BJ 8S 7H 8H 9H TH", "9S QC KC AC JD QD")
OTHERWISE = (
    JOKERS_MEET[0],
    JOKERS_MEET[1].replace("LJ", "BJ"),
    JOKERS_MEET[2].replace("BJ", "LJ"),
    JOKERS_MEET[3],
)


def six_point(hands: tuple[str, ...], **options: Any) -> Pair:
    """A deal in which seat 0 speaks first, and nobody takes stock cards unless said."""
    return dealt("six_point", hands, dealer=3, **{"stock_to_bidder": 0, **options})


@pytest.mark.parametrize(
    ("order", "hands", "taker"),
    [
        ("first", JOKERS_MEET, 1),
        ("first", OTHERWISE, 1),
        ("second", JOKERS_MEET, 2),
        ("second", OTHERWISE, 2),
        ("big", JOKERS_MEET, 2),
        ("big", OTHERWISE, 1),
    ],
)
def test_trick__of_two_jokers_is_taken_by_their_order(order: str, hands: tuple[str, ...], taker: int) -> None:
    pair = six_point(hands, joker_order=order).play("2 pass pass pass AS 7S 8S 9S")
    jokers = [next(card for card in hand.split() if card in ("LJ", "BJ")) for hand in hands[1:3]]
    pair.play(f"8C {' '.join(jokers)} QC")
    assert pair.engine.turn == taker
    points = pair.finish_deal().result["points"]
    assert points["big_joker"] == points["little_joker"] == taker % 2


@pytest.mark.parametrize("order", ["first", "second", "big"])
def test_trick__any_other_trump_takes_both_jokers(order: str) -> None:
    pair = six_point(JOKERS_MEET, joker_order=order).play("2 pass pass pass KS 7S BJ 9S 8C LJ 8S QC")
    assert pair.engine.turn == 2


def test_lead__a_joker_shows_no_trump_and_cannot_be_the_first() -> None:
    pair = six_point(("LJ BJ AS KS 8C 9D",)).play("2 pass pass pass")
    assert pair.legal == ["8C", "9D", "AS", "KS"]


def test_lead__a_joker_may_be_led_once_trump_is_shown() -> None:
    pair = six_point(("LJ BJ AS KS 8C 9D", "7S 8S")).play("2 pass pass pass AS 7S")
    while pair.engine.turn != 0:
        pair.act(pair.legal[0])
    assert {"LJ", "BJ"} <= set(pair.legal)


def test_follow__a_joker_alone_must_follow_trump() -> None:
    hands = ("AS KS QS JS TS 9C", "LJ 7C 8C 7D 8D 9D")
    assert six_point(hands).play("2 pass pass pass AS").legal == ["LJ"]


def test_follow__a_joker_may_trump_a_side_suit_where_trump_may() -> None:
    hands = ("9C 8C AS KS QS TS", "LJ 7C AH 7D 8D 9D", "TC")
    pair = six_point(hands).play("2 pass pass pass AS LJ")
    assert pair.engine.fields["voids"][0] == 0
    hands = ("9C 8C AS KS QS TS", "LJ 7S 7C 7D 8D 9D", "TC 8S", "9S")
    assert six_point(hands).play("2 pass pass pass AS 7S 8S 9S 9C").legal == ["7C", "LJ"]
    assert six_point(hands, may_trump=False).play("2 pass pass pass AS 7S 8S 9S 9C").legal == ["7C"]


def test_discard__jokers_are_trumps_of_every_suit_that_may_become_trump() -> None:
    hands = ("LJ BJ AS KS 8C 9D",)
    pair = six_point(hands, stock_to_bidder=3, stock="7H 8H 9H").play("2 pass pass pass")
    assert pair.legal == ["7H", "8C", "8H", "9D", "9H", "AS", "KS"]
    long = six_point(("LJ BJ AS KS QS JS",), stock_to_bidder=3, stock="TS 9S 8S").play("2 pass pass pass")
    # Nine spades with the jokers: three must go, any of them.
    assert long.legal == ["8S", "9S", "AS", "BJ", "JS", "KS", "LJ", "QS", "TS"]
    assert long.play("LJ BJ 8S").legal == ["9S", "AS", "JS", "KS", "QS", "TS"]
    kept = six_point(("LJ BJ AS KS QS JS",), stock_to_bidder=3, stock="TS 9S 7S", protect_scoring=True).play(
        "2 pass pass pass"
    )
    assert kept.legal == ["9S", "KS", "QS", "TS"]


@pytest.mark.parametrize("order", ["first", "second", "big"])
def test_in_play__of_jokers_without_another_trump_the_big_one_is_high(order: str) -> None:
    rules = make_rules(
        "schmier",
        second_joker=True,
        joker_order=order,
        high_low="in_play",
        exchange=0,
        dealer_takes_stock=False,
        protect_scoring=False,
    )
    hands = ["2C 2D 2H 3C 3D 3H", "4C 4D 4H 5C 5D 5H", "8C 8D 8H 9C 9D 9H", "LJ 6D 6H 7C 7D 7H"]
    hands += ["TC TD TH QC QD QH", "BJ KC KD KH AD AH"]
    pair = dealt(rules, hands, dealer=0).play("3 pass pass pass pass pass trump:S").finish_deal()
    assert (pair.result["points"]["high"], pair.result["points"]["low"]) == (5 % 3, None)


def test_tables__claims_differ_from_strength_only_for_two_equal_jokers() -> None:
    for rules in (*PRESETS.values(), make_rules("six_point", joker_order="second")):
        t = compile_tables(rules)[0]
        differ = {rules.card_names[card] for card in np.flatnonzero((t.claim != t.strength).any(axis=0))}
        assert differ == ({"LJ", "BJ"} if rules.joker_order == "second" else set())
        for trump in range(len(rules.suits)):
            trumps = [int(t.strength[trump, card]) for card in np.flatnonzero(t.suit_of[trump] == trump)]
            equal = rules.second_joker and rules.joker_order != "big"
            assert len(set(trumps)) == len(trumps) - equal


# Shown


@pytest.mark.parametrize("name", PRESETS)
def test_show__names_every_card_of_a_match(name: str) -> None:
    match = record_match(name, 3, 0, max_deals=1)
    shown = show_match(match)
    hands = " ".join(match["deals"][0]["hands"]).split()
    assert set(hands) <= set(shown.split())


def test_render__draws_both_jokers() -> None:
    pytest.importorskip("PIL")
    from smear_env.render.faces import card_face

    faces = {card: card_face(card, 2.0).tobytes() for card in ("LJ", "BJ", "JK", "JC", "KC")}
    assert len(set(faces.values())) == len(faces)


# Players


@pytest.mark.parametrize("name", ["six_point", "setback", "racehorse"])
@pytest.mark.parametrize(("better", "worse"), [("greedy", "passer"), ("expert", "greedy")])
def test_players__stand_in_the_usual_order(name: str, better: str, worse: str) -> None:
    assert interval(duel(make_rules(name), better, worse, 2000, 31).points)[0] > 0


def test_jokers__are_won_by_either_team_in_random_play() -> None:
    matches = [record_match("six_point", 5, game, max_deals=4) for game in range(8)]
    points = [deal["points"] for match in matches for deal in match["deals"] if "points" in deal]
    for joker in ("big_joker", "little_joker"):
        assert {0, 1, None} <= {deal[joker] for deal in points}
