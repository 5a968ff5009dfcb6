"""What the committed deals say of themselves: values by the solver, and the par of the auction."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from smear_env import make_rules

pytest.importorskip("torch")

from benchmarks.deals.values import contract_values, expert_values, par
from training.evaluation.deals import load_deals


def plain_par(contracts: np.ndarray, dealer: int, *, dealer_bids: bool) -> int:
    """Par of one deal, the auction told seat by seat."""
    seats, bids = contracts.shape

    def speak(place: int, high: int, holder: int | None) -> int:
        if place == seats or high == bids - 1:
            return 0 if holder is None else int(contracts[holder, high]) * (1 if holder % 2 == 0 else -1)
        seat = (dealer + 1 + place) % seats
        results = (
            [] if dealer_bids and seat == dealer and holder is None else [speak(place + 1, high, holder)]
        )
        results += [speak(place + 1, bid, seat) for bid in range(high + 1, bids)]
        return max(results) if seat % 2 == 0 else min(results)

    return speak(0, -1, None)


def test_par__is_the_auction_played_by_all_knowing_all() -> None:
    generator = np.random.default_rng(0)
    contracts = generator.integers(-5, 6, size=(200, 4, 3)).astype(np.int8)
    dealers = generator.integers(0, 4, size=200)
    for dealer_bids in (False, True):
        expected = [
            plain_par(*pair, dealer_bids=dealer_bids) for pair in zip(contracts, dealers, strict=True)
        ]
        np.testing.assert_array_equal(par(contracts, dealers, dealer_bids=dealer_bids), expected)


def test_par__by_hand() -> None:
    # Dealer 3, seat 0 speaks first. It makes 2 for itself, but seat 1 then overbids at a profit.
    contracts = np.full((1, 4, 3), -4, np.int8)
    assert par(contracts, [3]) == 0  # every contract costs its bidder: passed out
    contracts[0, 0] = (2, 2, -4)
    assert par(contracts, [3]) == 2
    contracts[0, 1, 2] = 1
    assert par(contracts, [3]) == -1
    contracts[0, 0, 2] = 2  # bidding 4 at once ends the auction
    assert par(contracts, [3]) == 2


@pytest.mark.parametrize(("name", "some"), [("four_point", 6), ("mini", 40)])
def test_committed_values__are_what_the_solver_says(name: str, some: int) -> None:
    rules, deals = make_rules(name), load_deals(name)
    orders, dealers = deals.orders[:some], deals.dealers[:some]
    np.testing.assert_array_equal(deals.columns["expert"][:some], expert_values(rules, orders, dealers))
    np.testing.assert_array_equal(deals.columns["contracts"][:some], contract_values(rules, orders, dealers))
    recomputed = par(deals.columns["contracts"], deals.dealers, dealer_bids=name == "mini")
    np.testing.assert_array_equal(deals.columns["par"], recomputed)


def test_committed_values__cover_every_deal_and_are_scores_of_the_game() -> None:
    four_point, schmier = load_deals("four_point"), load_deals("schmier")
    assert four_point.columns["expert"].shape == (10_000, 3)
    assert four_point.columns["contracts"].shape == (10_000, 4, 3)
    assert schmier.columns["expert"].shape == (2_000, 3)
    for seat, bid in itertools.product(range(4), range(3)):
        value = four_point.columns["contracts"][:, seat, bid]
        # A bid made scores 2 to 4 and leaves the rest, one that failed costs it and leaves up to 4.
        assert value.min() >= -(bid + 2) - 4
        assert value.max() <= 4
    # A higher bid pays its bidder no more, except where `expert` happens to discard better for it.
    steps = np.diff(four_point.columns["contracts"].astype(int), axis=2)
    assert np.mean(steps > 0) < 0.05
    assert four_point.columns["par"].std() > 1
    passed = schmier.columns["expert"][:, 0] < 0
    assert not schmier.columns["expert"][passed, 1:].any()
