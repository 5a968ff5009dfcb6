"""`standings`: scores, winner and next dealer after deals that were not played, as the engine and the reference say."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from smear_env import SelfPlayVectorEnv, make_rules, standings
from tests.engine_match import options_of, rules_of
from tests.reference import random_options, scoring

ENDINGS = ("any", "made_deal", "made_bid", "cap")


@pytest.mark.parametrize(
    ("options", "scores", "delta", "bidder", "made", "after", "winner"),
    [
        ({}, [14, 14], [2, 2], 1, True, [16, 16], 1),
        ({}, [14, 14], [2, 1], 1, True, [16, 15], 0),
        ({"both_out": "bidder"}, [14, 14], [2, 1], 1, True, [16, 15], 1),
        ({"ending": "made_deal"}, [14, 14], [1, -2], 1, False, [15, 12], -1),
        ({"ending": "made_deal"}, [14, 10], [1, 3], 1, True, [15, 13], 0),
        ({"ending": "made_bid"}, [14, 10], [1, 3], 1, True, [15, 13], -1),
        ({"ending": "cap"}, [14, 14], [4, 2], 1, True, [15, 16], 1),
        ({}, [14, 8], [0, 4], 1, True, [14, 12], -1),
    ],
)
def test_standing__is_hand_worked(options, scores, delta, bidder, made, after, winner) -> None:
    stand = standings(make_rules("four_point", **options), [scores], [delta], [bidder], [made])
    assert stand.scores.tolist() == [after]
    assert stand.winner.tolist() == [winner]
    assert stand.deal_passes.tolist() == [True]


@pytest.mark.parametrize(("all_pass", "passes"), [("same_dealer", False), ("next_dealer", True)])
def test_deal_passed_out__scores_nothing_and_ends_nothing(all_pass: str, passes: bool) -> None:
    rules = make_rules("schmier", all_pass=all_pass)
    stand = standings(rules, [[21, 21, 3]], [[0, 0, 0]], [-1], [False])
    assert stand.scores.tolist() == [[21, 21, 3]]
    assert stand.winner.tolist() == [-1]
    assert stand.deal_passes.tolist() == [passes]


def test_level_teams_that_did_not_bid__play_on() -> None:
    stand = standings(make_rules("schmier"), [[20, 20, 10]], [[2, 2, 2]], [2], [True])
    assert stand.winner.tolist() == [-1]


@pytest.mark.parametrize("seed", range(40))
def test_standing__is_the_references(seed: int) -> None:
    random = Random(seed)
    rules = rules_of(random_options(random, random.choice(["four_point", "schmier"])))
    options, teams = options_of(rules), rules.teams
    rows = [
        (
            [random.randrange(rules.target - 8, rules.target + 3) for _ in range(teams)],
            [random.randrange(-4, 7) for _ in range(teams)],
            random.randrange(teams),
            random.random() < 0.5,
        )
        for _ in range(200)
    ]
    stand = standings(rules, *(list(column) for column in zip(*rows, strict=True)))
    for i, (scores, delta, bidder, made) in enumerate(rows):
        after = scoring.new_scores(options, bidder, scores, delta)
        winner = scoring.match_winner(options, bidder, made, after)
        assert stand.scores[i].tolist() == after
        assert stand.winner[i] == (-1 if winner is None else winner)


@pytest.mark.parametrize("ending", ENDINGS)
def test_standing__is_that_of_deals_played(ending: str) -> None:
    rules = make_rules("four_point", ending=ending, all_pass="next_dealer")
    env = SelfPlayVectorEnv(64, rules, seed=3, start_scores=[13, 14], max_deals=3)
    shown, generator = env.reset(), np.random.default_rng(0)
    seen = 0
    for _ in range(150):
        shown = env.step(np.argmax(generator.random(shown.mask.shape) * shown.mask, axis=1))
        deals = env.deals[env.deal_ended]
        bidders = np.where(deals.bidder < 0, -1, deals.bidder % 2)
        stand = standings(
            rules, deals.scores_before[:, :2], deals.delta[:, :2], bidders, deals.made.astype(bool)
        )
        assert np.array_equal(stand.scores, deals.scores[:, :2])
        assert np.array_equal(stand.winner, deals.winner)
        seen += len(deals)
    assert seen > 200


def test_arrays_that_do_not_fit__are_refused() -> None:
    rules = make_rules("four_point")
    with pytest.raises(ValueError, match=r"delta of shape \(1, 3\), expected \(1, 2\)"):
        standings(rules, [[0, 0]], [[0, 0, 0]], [0], [True])
    with pytest.raises(ValueError, match="bidding_team"):
        standings(rules, [[0, 0]], [[0, 0]], [2], [True])
