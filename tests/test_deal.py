"""Dealing: deal `k` of game `g` of a seed, whatever else happens, and every order of the deck equally likely."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from smear_env.rules import PRESETS, make_rules
from smear_env.transcript import record_match
from smear_env.transcript._engine import EngineMatch
from smear_env.vector import SelfPlayVectorEnv

BOTH = ("four_point", "schmier")
FULL = [name for name in PRESETS if name != "mini"]
Choose = Callable[[list[int]], int]


def dealt_cards(
    game: str, seed: int, number: int, choose: Choose, deals: int = 4
) -> list[tuple[list[str], str]]:
    """Hands and stock of the first deals of a game, whose actions `choose` picks."""
    match = EngineMatch(make_rules(game), seed=seed, game=number, max_deals=deals)
    seen = []
    while not match.over:
        cards = match.cards()
        seen.append((cards["hands"], cards["stock"]))
        before = match.deals
        while match.deals == before:
            match.act(choose(match.mask.nonzero()[0].tolist()))
    return seen


@pytest.mark.parametrize("game", FULL)
def test_deal__does_not_depend_on_actions(game: str) -> None:
    rng = Random(0)
    first = dealt_cards(game, 5, 3, lambda legal: legal[0])
    assert first == dealt_cards(game, 5, 3, lambda legal: legal[-1])
    assert first == dealt_cards(game, 5, 3, rng.choice)


@pytest.mark.parametrize("game", FULL)
def test_deal__differs_by_seed_game_and_deal(game: str) -> None:
    seen = [
        str(cards)
        for seed in (0, 1, 2**64 - 1)
        for number in (0, 1, 2)
        for cards in dealt_cards(game, seed, number, lambda legal: legal[0])
    ]
    assert len(set(seen)) == len(seen) == 36


def test_deal__options_change_no_cards() -> None:
    plain = EngineMatch(make_rules("four_point"), seed=3, game=2).cards()
    assert (
        plain
        == EngineMatch(make_rules("four_point", stock_to_bidder=0, ending="cap"), seed=3, game=2).cards()
    )


@pytest.mark.parametrize("game", FULL)
def test_deal__in_a_vector_is_the_same_as_alone(game: str) -> None:
    env = SelfPlayVectorEnv(5, game, seed=11)
    env.reset()
    for slot in range(5):
        alone = EngineMatch(make_rules(game), seed=11, game=slot)
        assert env._states.hand[slot].tolist() == alone.fields["hand"][0].tolist()
        assert env._states.stock[slot].tolist() == alone.fields["stock"][0].tolist()
        assert env._states.dealer[slot] == alone.dealer


def digest() -> str:
    """A hash of the first matches of both games."""
    matches = [
        record_match(game, seed, number, max_deals=3) for game in BOTH for seed in (0, 9) for number in (0, 4)
    ]
    return hashlib.sha256(repr(matches).encode()).hexdigest()


def test_deal__is_equal_across_processes() -> None:
    command = "from tests.test_deal import digest; print(digest())"
    other = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == digest()


FOUR_POINT_CARDS = {
    "dealer": 3,
    "hands": ["7C JC KD 8H KH AH", "9C QC 8D 9H TH TS", "8C TC 9D 7H 7S 9S", "JD AD QH JS QS AS"],
    "stock": "KS 8S QD JH AC KC 7D TD",
}
SCHMIER_CARDS = {
    "dealer": 5,
    "hands": [
        *("4C AD 4H 7S KS JK", "2C 3C 4D 7D 2H 5S", "5C 7C 8C TD AH JS"),
        *("6D 5H 7H TH 8S TS", "9C TC QC 3H KH QS", "6C JC JD 9H 3S 6S"),
    ],
    "stock": "9D 6H JH 8H 4S KD AS 3D 2S 5D 9S QD QH AC KC 2D 8D",
}


def test_deal__known_cards() -> None:
    # A change here means that every seed deals other cards: a new version of the environment.
    four, six = (EngineMatch(make_rules(game), seed=0, game=0).cards() for game in BOTH)
    assert four == FOUR_POINT_CARDS
    assert six == SCHMIER_CARDS


@pytest.mark.parametrize("game", FULL)
def test_deal__every_card_is_everywhere_equally_often(game: str) -> None:
    rules = make_rules(game)
    size, deals = len(rules.card_names), 4_000
    # Where each card lies: one of the hands, or a place in the stock, which is dealt in order.
    places = rules.players + rules.stock_size
    counts = np.zeros((size, places))
    dealers = np.zeros(rules.players)
    for number in range(deals):
        match = EngineMatch(rules, seed=2, game=number)
        for seat in range(rules.players):
            hand = int(match.fields["hand"][0, seat])
            for card in range(size):
                counts[card, seat] += hand >> card & 1
        counts[match.fields["stock"][0, : rules.stock_size], rules.players + np.arange(rules.stock_size)] += 1
        dealers[match.dealer] += 1
    share = np.array([rules.hand_size / size] * rules.players + [1 / size] * rules.stock_size)
    # Rows and columns are bound, so (size - 1) * (places - 1) degrees of freedom; five deviations are let pass.
    assert_uniform(counts, deals * share, (size - 1) * (places - 1))
    assert_uniform(dealers, deals / rules.players, rules.players - 1)


def assert_uniform(counts: np.ndarray, expected: np.ndarray | float, freedom: int) -> None:
    statistic = float(((counts - expected) ** 2 / expected).sum())
    assert abs(statistic - freedom) < 5 * np.sqrt(2 * freedom)


@pytest.mark.parametrize("game", FULL)
def test_deal__holds_every_card_once(game: str) -> None:
    rules = make_rules(game)
    for number in range(50):
        cards = EngineMatch(rules, seed=1, game=number).cards()
        held = " ".join([*cards["hands"], cards["stock"]]).split()
        assert sorted(held) == sorted(rules.card_names)
