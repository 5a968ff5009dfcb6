"""The solver's values: against exhaustive search, and among themselves on whole deals."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from smear_env.engine.state import new_states
from smear_env.rules import PRESETS, make_rules
from smear_env.solver import NOT_LEGAL, max_n, solve, solve_cards, solve_discards
from smear_env.transcript._engine import EngineMatch
from tests.engine_match import options_of
from tests.reference import Match, options
from tests.reference.cards import is_trump
from tests.reference.endgame import max_n as slow_max_n
from tests.reference.endgame import values as team_values
from tests.reference.options import CHOICES, JOKER_ORDERS
from tests.solver_positions import ending, named, position, small_options, true_values

GAMES = tuple(PRESETS)


def compare_endings(game: str, seed: int, count: int, most: int) -> dict[str, set[Any]]:
    """Compare so many endings with exhaustive search; returns the values of each option that came up."""
    rng = Random(seed)
    met: dict[str, set[Any]] = defaultdict(set)
    for _ in range(count):
        match, engine = ending(rng, game, most)
        true = true_values(match)
        states = engine.copy_states()
        before = states.tobytes()
        assert named(solve_cards(states, engine.rules)[0], engine) == true, match.options
        assert solve(states, engine.rules)[0] == max(true.values()), match.options
        assert states.tobytes() == before
        for field in (*CHOICES, "teams", "may_trump", "lead_trump_first", "stock_to_bidder"):
            met[field].add(getattr(match.options, field))
        met["trump known"].add(match.trump is not None)
        met["cards on the table"].add(len(match.trick))
    return met


@pytest.mark.parametrize(
    ("game", "count"),
    [
        ("four_point", 300),
        ("schmier", 150),
        ("mini", 300),
        ("six_point", 200),
        ("setback", 100),
        ("racehorse", 100),
    ],
)
def test_values__agree_with_exhaustive_search(game: str, count: int) -> None:
    compare_endings(game, seed=1, count=count, most=2)


def only_jokers_are_left(match: Match) -> bool:
    """Whether each team holds one of the jokers, and nobody another trump."""
    held = {card: seat for seat, hand in enumerate(match.hands) for card in hand}
    trumps = {card for card in held if is_trump(match.options, card, match.trump)}
    return trumps == {"LJ", "BJ"} and held["LJ"] % 2 != held["BJ"] % 2


@pytest.mark.parametrize("order", JOKER_ORDERS)
def test_values__of_positions_with_two_jokers_agree_with_exhaustive_search(order: str) -> None:
    rng = Random(7)
    # So few cards that both jokers are nearly always held, and often meet.
    game = options("six_point", ranks="7JA", hand_size=3, stock_to_bidder=1, joker_order=order)
    turned = replace(game, joker_order="first" if order == "second" else "second")
    hinges = compared = 0
    while compared < 25:
        match, engine = position(game, rng, rng.randrange(5, 9))
        if only_jokers_are_left(match):
            true = true_values(match)
            assert named(solve_cards(engine.copy_states(), engine.rules)[0], engine) == true
            match.options = turned
            hinges += true_values(match) != true
            compared += 1
    assert hinges > 10, "values hang on the order"


def test_discards__with_two_jokers_agree_with_exhaustive_search() -> None:
    rng = Random(8)
    game = options("six_point", ranks="7JA", hand_size=3, stock_to_bidder=1)
    for _ in range(4):
        match, engine = position(game, rng, left=99, phase="discard")
        assert named(solve_discards(engine.copy_states(), engine.rules)[0], engine) == true_values(match)


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_values__agree_with_exhaustive_search_in_thousands_of_endings_of_all_options(game: str) -> None:
    count = 5_000 if game in ("four_point", "schmier", "mini") else 1_000
    met = compare_endings(game, seed=2, count=count, most=2)
    players = make_rules(game).players
    for field in ("failed_bid", "high_low", "low_to", "game_tie"):
        assert met[field] == set(CHOICES[field]), field
    assert met["may_trump"] == {True, False}
    assert met["cards on the table"] == set(range(players))
    if game == "schmier":
        assert met["teams"] == {2, 3}
        assert met["lead_trump_first"] == {True, False}
    else:
        assert met["stock_to_bidder"] == {0, 1, 2, 3}
        assert False in met["trump known"]


@pytest.mark.slow
@pytest.mark.parametrize("game", ["four_point", "schmier"])
def test_values__agree_with_exhaustive_search_in_endings_of_three_cards(game: str) -> None:
    compare_endings(game, seed=3, count=600 if game == "four_point" else 60, most=3)


@pytest.mark.parametrize("game", ["four_point", "schmier"])
def test_value_of_a_card__is_the_value_of_the_position_after_it(game: str) -> None:
    rng = Random(4)
    for _ in range(6):
        rules = make_rules(game)
        _, engine = position(options(game), rng, left=99)
        before = engine.copy_states()
        cards = solve_cards(before, rules)[0]
        assert cards.max() == solve(before, rules)[0]
        if rules.teams == 2:
            team = engine.turn % 2
            for card in np.flatnonzero(cards != NOT_LEGAL):
                engine.fields[0] = before[0]
                engine.act(int(card))
                sign = 1 if engine.turn % 2 == team else -1
                assert cards[card] == sign * solve(engine.copy_states(), rules)[0]


@pytest.mark.parametrize(("game", "teams"), [("four_point", 2), ("schmier", 2)])
def test_best_play_of_both_sides__reaches_the_value(game: str, teams: int) -> None:
    rng = Random(5)
    for _ in range(12):
        small = small_options(rng, game)
        changed = {
            field: getattr(small, field)
            for field in ("failed_bid", "high_low", "low_to", "game_tie", "may_trump")
        }
        _, engine = position(options(game, teams=teams, **changed), rng, left=99)
        team = engine.turn % 2
        value = solve(engine.copy_states(), engine.rules)[0]
        while engine.deals == 0:
            engine.act(int(solve_cards(engine.copy_states(), engine.rules)[0].argmax()))
        assert team_values(engine.result()["delta"])[team] == value


def test_paranoid_value__is_what_the_team_gets_at_least() -> None:
    rng = Random(6)
    for _ in range(6):
        _, engine = position(options("schmier"), rng, left=30)
        team = engine.turn % 3
        value = solve(engine.copy_states(), engine.rules)[0]
        while engine.deals == 0:
            if engine.turn % 3 == team:
                engine.act(int(solve_cards(engine.copy_states(), engine.rules)[0].argmax()))
            else:
                engine.act(int(rng.choice(np.flatnonzero(engine.mask))))
        assert team_values(engine.result()["delta"])[team] >= value


@pytest.mark.parametrize(("game", "count"), [("four_point", 40), ("mini", 100)])
def test_discards__agree_with_exhaustive_search(game: str, count: int) -> None:
    rng = Random(7)
    for _ in range(count):
        changed = small_options(rng, game)
        while changed.stock_to_bidder == 0 or changed.hand_size > 2:
            changed = small_options(rng, game)
        match, engine = position(changed, rng, left=99, phase="discard")
        states = engine.copy_states()
        before = states.tobytes()
        assert named(solve_discards(states, engine.rules)[0], engine) == true_values(match), changed
        assert states.tobytes() == before


@pytest.mark.parametrize(("game", "count"), [("four_point", 100), ("schmier", 100)])
def test_max_n__agrees_with_exhaustive_search(game: str, count: int) -> None:
    rng = Random(8)
    for _ in range(count):
        match, engine = ending(rng, game, most=2)
        assert max_n(engine.copy_states(), engine.rules)[0].tolist() == slow_max_n(match, 0), match.options


def test_max_n__is_the_value_where_there_are_two_teams() -> None:
    rng = Random(9)
    for _ in range(20):
        _, engine = position(options("four_point"), rng, left=16)
        deltas = max_n(engine.copy_states(), engine.rules)[0].tolist()
        assert team_values(deltas)[engine.turn % 2] == solve(engine.copy_states(), engine.rules)[0]


def test_jack_that_is_the_lowest_trump_played__is_worth_two_points_to_its_winner() -> None:
    rules = make_rules("mini", high_low="in_play", low_to="winner", stock_to_bidder=0, failed_bid="points")
    rng = Random(10)
    for _ in range(400):
        match, engine = position(options_of(rules), rng, left=4)
        jacks = {card for hand in match.hands for card in hand if card[0] in "JA"}
        if len(jacks) == 4:
            assert named(solve_cards(engine.copy_states(), rules)[0], engine) == true_values(match)
            return
    raise AssertionError("no deal of aces and jacks alone")


def test_states_that_are_no_positions_of_play__are_refused() -> None:
    rules = make_rules("four_point")
    bidding = EngineMatch(rules).copy_states()
    with pytest.raises(ValueError, match=r"states\[0\] is in phase 'bid'"):
        solve(bidding, rules)
    with pytest.raises(ValueError, match=r"states\[0\] is in phase 'bid'"):
        solve_discards(bidding, rules)
    with pytest.raises(ValueError, match="STATE_DTYPE"):
        solve(np.zeros(3), rules)
    with pytest.raises(ValueError, match="teams=4"):
        solve(new_states(1), make_rules("four_point", teams=4))
    with pytest.raises(ValueError, match="trump_named=True"):
        solve_discards(bidding, make_rules("schmier"))
    _, engine = position(options("schmier"), Random(11), left=30)
    with pytest.raises(ValueError, match="more than 4 cards"):
        max_n(engine.copy_states(), engine.rules)
