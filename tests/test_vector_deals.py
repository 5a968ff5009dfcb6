"""SelfPlayVectorEnv with given deals: the cards and dealer asked for, as the one-match environment deals them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from smear_env import env as single_env
from smear_env.layout import pieces, state_layout
from smear_env.rules import PRESETS, make_rules
from smear_env.vector import SelfPlayVectorEnv
from tests.test_vector import choose

GAMES = pytest.mark.parametrize("game", PRESETS)


def some_deals(game: str, count: int, seed: int = 0) -> tuple[Any, Any]:
    rules, rng = make_rules(game), np.random.default_rng(seed)
    orders = rng.permuted(np.tile(np.arange(len(rules.card_names)), (count, 1)), axis=1)
    return orders, rng.integers(rules.players, size=count)


@GAMES
def test_given_deals__are_dealt_hand_by_hand_then_the_stock(game: str) -> None:
    rules, (orders, dealers) = make_rules(game), some_deals(game, 5)
    env = SelfPlayVectorEnv(5, game, seed=1, episode="deal")
    shown = env.reset(deals=(orders, dealers))
    seen = pieces(env.state(), state_layout(rules))
    size = rules.hand_size
    for deal in range(5):
        for seat in range(rules.players):
            hand = orders[deal, seat * size : (seat + 1) * size]
            assert set(np.flatnonzero(seen["hand"][deal, seat])) == set(hand)
        assert seen["dealer"][deal].argmax() == dealers[deal]
    np.testing.assert_array_equal(shown.seat, (dealers + 1) % rules.players)


@GAMES
def test_given_deals__play_as_the_same_deal_of_the_single_match_does(game: str) -> None:
    rules, (orders, dealers) = make_rules(game), some_deals(game, 4, seed=1)
    names = np.array(rules.card_names)
    env = SelfPlayVectorEnv(4, game, seed=3, episode="deal", reward="points")
    shown = env.reset(deals=(orders, dealers))
    singles = []
    for order, dealer in zip(orders, dealers, strict=True):
        hands = np.split(names[order[: rules.players * rules.hand_size]], rules.players)
        one = single_env(rules=game, episode="deal", reward="points")
        stock = names[order[rules.players * rules.hand_size :]]
        deal = {"dealer": int(dealer), "hands": [" ".join(h) for h in hands], "stock": " ".join(stock)}
        one.reset(seed=9, options={"deal": deal})
        singles.append(one)
    rng, going = np.random.default_rng(5), np.ones(4, bool)
    while going.any():
        actions = choose(shown.mask, rng)
        for slot in np.flatnonzero(going):
            observed = singles[slot].last()[0]
            np.testing.assert_array_equal(observed["observation"], shown.observation[slot])
            np.testing.assert_array_equal(observed["action_mask"], shown.mask[slot])
            singles[slot].step(int(actions[slot]))
        shown = env.step_some(np.where(going, actions, -1))
        for slot in np.flatnonzero(shown.terminated):
            rewards = singles[slot].rewards
            np.testing.assert_allclose([rewards[f"seat_{t}"] for t in range(rules.teams)], shown.reward[slot])
        going &= ~shown.terminated


def test_given_deals__are_one_deal_each_and_then_the_seeds_games_follow() -> None:
    plain, given = (SelfPlayVectorEnv(3, seed=4, episode="deal", copy=True) for _ in range(2))
    first = plain.reset()
    shown = given.reset(deals=some_deals("four_point", 3))
    assert (first.observation != shown.observation).any(axis=1).all()
    rng = np.random.default_rng(0)
    while not shown.terminated[0]:
        shown = given.step_some(np.where([True, False, False], choose(shown.mask, rng), -1))
    # Slot 0 plays game 0 on a given deal, then game 3 of the seed.
    np.testing.assert_array_equal(
        shown.observation[0],
        SelfPlayVectorEnv(1, seed=4, first_game=3, episode="deal").reset().observation[0],
    )


def changed(deals: tuple[Any, Any], part: int, at: Any, value: int) -> tuple[Any, Any]:
    copies = tuple(array.copy() for array in deals)
    copies[part][at] = value
    return copies[0], copies[1]


ORDERS, DEALERS = some_deals("four_point", 3)


@pytest.mark.parametrize(
    ("deals", "named"),
    [
        (changed((ORDERS, DEALERS), 0, (1, 2), int(ORDERS[1, 3])), "order 1 is"),
        (changed((ORDERS, DEALERS), 0, (2, 0), 99), "order 2 is"),
        (changed((ORDERS, DEALERS), 0, (2, 0), 256 + int(ORDERS[2, 0])), "order 2 is"),
        (changed((ORDERS, DEALERS), 1, 0, 4), "dealer 0 is 4"),
        (changed((ORDERS, DEALERS), 1, 1, -1), "dealer 1 is -1"),
        ((ORDERS[:2], DEALERS), r"orders of type int64 and shape \(2, 32\)"),
        ((ORDERS.astype(float), DEALERS), "orders of type float64"),
        ((ORDERS, DEALERS[:1]), "dealers of type"),
        (ORDERS, "must be a tuple"),
    ],
)
def test_given_deals__that_make_no_sense_are_refused_and_change_nothing(deals: Any, named: str) -> None:
    env = SelfPlayVectorEnv(3, seed=5, copy=True)
    shown = env.reset()
    with pytest.raises(ValueError, match=named):
        env.reset(deals=deals)
    np.testing.assert_array_equal(env.step_some(np.full(3, -1)).observation, shown.observation)
