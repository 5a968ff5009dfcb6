"""Seeds, games and given deals: what `reset` starts, and what it refuses."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from smear_env.aec import SmearEnv
from smear_env.rules import FOUR_POINT, SCHMIER, Rules, make_rules
from tests.aec_helpers import (
    cards_dealt,
    each_game,
    every_game,
    full,
    in_play,
    play_out,
    random_action,
    same_moment,
    started,
)
from tests.reference import options as reference_options
from tests.reference import random_deal


def digest(name: str, episodes: int) -> str:
    """A hash of everything shown over episodes of random play from seed 12, one reset with a seed, the rest without."""
    shown = hashlib.sha256()
    env = SmearEnv(name, episode="deal", reward="points")
    rng = Random(0)
    for episode in range(episodes):
        env.reset(seed=12 if episode == 0 else None)
        while in_play(env):
            shown.update(env.state().tobytes())
            shown.update(repr((env.agent_selection, list(env.rewards.values()))).encode())
            env.step(random_action(env, rng))
    return shown.hexdigest()


def given_deal(rules: Rules, seed: int = 0) -> dict[str, Any]:
    hands, stock = random_deal(reference_options(rules.name, **rules.options()), Random(seed))
    return {"dealer": 1, "hands": [" ".join(hand) for hand in hands], "stock": " ".join(stock)}


def test_seed__equal_in_another_process() -> None:
    program = "from tests.test_aec_reset import digest; print(digest('four_point', 50)); print(digest('schmier', 50))"
    other = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "7"},
        cwd=Path(__file__).parents[1],
    )
    assert other.stdout.split() == [digest("four_point", 50), digest("schmier", 50)]


@each_game
def test_seed__equal_over_several_resets(rules: Rules) -> None:
    one, other = SmearEnv(rules, max_deals=2), SmearEnv(rules, max_deals=2)
    for seed in (5, None, None, 6, None, 5):
        one.reset(seed=seed)
        other.reset(seed=seed)
        rng, again = Random(1), Random(1)
        while in_play(one):
            assert same_moment(one, other)
            one.step(random_action(one, rng))
            other.step(random_action(other, again))


@each_game
def test_seed__another_seed_or_game_deals_other_cards(rules: Rules) -> None:
    env, deals = SmearEnv(rules), set()
    for seed in (1, 2):
        env.reset(seed=seed)
        deals.add(str(cards_dealt(env)))
        for _ in range(3):
            env.reset()
            deals.add(str(cards_dealt(env)))
    assert len(deals) == 8


@each_game
def test_reset__without_seed_plays_the_next_game(rules: Rules) -> None:
    env, by_number = started(rules, 9), SmearEnv(rules)
    for game in range(4):
        by_number.reset(seed=9, options={"game": game})
        assert env.match_id == by_number.match_id == (9, game)
        assert same_moment(env, by_number)
        env.reset()
    by_number.reset()
    assert by_number.match_id == (9, 4)


def test_reset__a_seed_is_drawn_at_first() -> None:
    one, other = SmearEnv("four_point"), SmearEnv("four_point")
    one.reset()
    other.reset()
    assert one.match_id != other.match_id
    other.reset(seed=one.match_id[0])
    assert same_moment(one, other)


def test_reset__in_the_middle_of_an_episode_forgets_it() -> None:
    env, rng = started(FOUR_POINT, 3, episode="deal", reward="points"), Random(3)
    while in_play(env):
        env.step(random_action(env, rng))
    env.step(None)
    env.reset(seed=3)
    assert same_moment(env, started(FOUR_POINT, 3, episode="deal", reward="points"))
    assert env.deal_result() is None


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "1", True])
def test_seed__a_bad_one_is_named(seed: Any) -> None:
    env = started(FOUR_POINT, 4)
    before = env.state()
    with pytest.raises(ValueError, match="seed"):
        env.reset(seed=seed)
    assert np.array_equal(env.state(), before)


@every_game
def test_deal__given_cards_dealer_and_scores(rules: Rules) -> None:
    scores = [4 - 3 * team for team in range(rules.teams)]
    deal = given_deal(rules)
    env = started(rules, 1, {"deal": deal, "scores": scores})
    hands, stock = cards_dealt(env)
    assert [set(hand) for hand in hands] == [set(hand.split()) for hand in deal["hands"]]
    assert stock == deal["stock"].split()
    assert int(np.argmax(full(env)["dealer"])) == 1
    assert env.agent_selection == f"seat_{2 % rules.players}"
    assert env.scores == scores


@each_game
def test_deal__what_follows_comes_from_the_seed(rules: Rules) -> None:
    """A deal passed out is dealt again at random, as deal 1 of the game is whatever deal 0 was."""
    rules = make_rules(rules, all_pass="same_dealer")
    env, plain = started(rules, 8, {"deal": given_deal(rules)}), started(rules, 8, {"dealer": 1})
    for _ in range(rules.players):
        env.step(env.action_names.index("pass"))
        plain.step(env.action_names.index("pass"))
    assert cards_dealt(env) == cards_dealt(plain)
    assert same_moment(env, plain)


@each_game
def test_deal__a_transcripts_deal_is_taken_whole(rules: Rules) -> None:
    deal = given_deal(rules)
    whole = {**deal, "actions": [[2, "pass"]], "legal": ["2 3 4 pass"], "redeal": True}
    assert same_moment(started(rules, 1, {"deal": deal}), started(rules, 1, {"deal": whole}))
    lists = {**deal, "hands": [hand.split() for hand in deal["hands"]], "stock": deal["stock"].split()}
    assert same_moment(started(rules, 1, {"deal": deal}), started(rules, 1, {"deal": lists}))


def test_deal__same_dealer_given_twice() -> None:
    assert started(FOUR_POINT, 1, {"deal": given_deal(FOUR_POINT), "dealer": 1}).agent_selection == "seat_2"
    without = {key: value for key, value in given_deal(FOUR_POINT).items() if key != "dealer"}
    assert started(FOUR_POINT, 1, {"deal": without, "dealer": 3}).agent_selection == "seat_0"


def swapped(old: str, new: str) -> dict[str, Any]:
    """The deal with one card's name replaced, wherever it lies."""
    deal = given_deal(FOUR_POINT)
    return {
        "deal": {
            **deal,
            "hands": [hand.replace(old, new) for hand in deal["hands"]],
            "stock": deal["stock"].replace(old, new),
        }
    }


def moved() -> dict[str, Any]:
    """A card of seat 0's hand put into the stock."""
    deal = given_deal(FOUR_POINT)
    first, rest = deal["hands"][0].split(maxsplit=1)
    return {"deal": {**deal, "hands": [rest, *deal["hands"][1:]], "stock": f"{deal['stock']} {first}"}}


DEAL = given_deal(FOUR_POINT)
BAD_OPTIONS = {
    "unknown key": ({"deals": DEAL}, "deals"),
    "unknown key of the deal": ({"deal": {**DEAL, "cards": ""}}, "cards"),
    "deal is no mapping": ({"deal": "AS"}, "deal="),
    "card twice": (swapped("AS", "KS"), "KS dealt more than once"),
    "card not in the deck": (swapped("AS", "2S"), "2S"),
    "no card": (swapped("AS", "X"), "X"),
    "missing card": (swapped("AS", ""), "AS missing"),
    "missing stock": ({"deal": {"hands": DEAL["hands"]}}, "missing"),
    "wrong count": (moved(), "hand 0 has 5 cards, not 6"),
    "three hands": ({"deal": {**DEAL, "hands": DEAL["hands"][:3]}}, "hands"),
    "hands in one string": ({"deal": {**DEAL, "hands": " ".join(DEAL["hands"])}}, "hands"),
    "no hands": ({"deal": {"stock": DEAL["stock"]}}, "hands"),
    "hand of numbers": ({"deal": {**DEAL, "hands": [[1, 2], *DEAL["hands"][1:]]}}, "hand 0"),
    "dealer of the deal": ({"deal": {**DEAL, "dealer": 4}}, "dealer=4"),
    "dealer": ({"dealer": -1}, "dealer=-1"),
    "dealer no integer": ({"dealer": "1"}, "dealer='1'"),
    "dealers contradict": ({"deal": DEAL, "dealer": 2}, "dealer=2 contradicts"),
    "too many scores": ({"scores": [1, 2, 3]}, "scores"),
    "scores no list": ({"scores": 3}, "scores"),
    "scores no integers": ({"scores": [0.5, 1]}, "scores"),
    "score at the target": ({"scores": [0, 15]}, "target=15"),
    "score far below": ({"scores": [0, -(10**6)]}, "scores"),
    "game": ({"game": -1}, "game=-1"),
    "game no integer": ({"game": 1.0}, "game=1.0"),
}


@pytest.mark.parametrize(("options", "named"), BAD_OPTIONS.values(), ids=BAD_OPTIONS)
def test_options__a_bad_one_is_named_and_nothing_changes(options: dict[str, Any], named: str) -> None:
    env = started(FOUR_POINT, 4)
    before = env.state()
    with pytest.raises(ValueError, match=named):
        env.reset(seed=5, options=options)
    assert np.array_equal(env.state(), before)
    assert env.match_id == (4, 0)


def test_options__scores_of_two_teams_in_schmier() -> None:
    assert started(make_rules("schmier", teams=2), 1, {"scores": [20, -5]}).scores == [20, -5]
    with pytest.raises(ValueError, match="3 integers"):
        started(SCHMIER, 1, {"scores": [20, -5]})


def test_options__scores_at_the_target_never_start_a_match() -> None:
    for score in (14, 15):
        options = {"scores": [score, 0]}
        if score < 15:
            assert play_out(started(FOUR_POINT, 1, options, max_deals=3), Random(1))
        else:
            with pytest.raises(ValueError, match="target"):
                started(FOUR_POINT, 1, options)
