"""Tables of match equity from self-play: counts, symmetry, monotony, agreement with play, and the command."""

from __future__ import annotations

import dataclasses
import json
import sys
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")
pytest.importorskip("rich")

from smear_env import Rules, SelfPlayVectorEnv, load_policy, make_rules
from training.equity import MatchEquity, load_equity
from training.equity.__main__ import main, parse_scores
from training.equity.build import build_equity
from training.equity.calls import count_calls
from training.equity.check import Matches, by_decile, check_against_play
from training.equity.grid import make_grid
from training.equity.outcomes import collect_outcomes
from training.equity.selfplay import make_chooser, play_on

BINS = (-4, 4, 8, 11, 13, 14)


@lru_cache
def greedy_table() -> MatchEquity:
    rules = make_rules("four_point")
    return build_equity("greedy", rules, make_grid(rules, bins=BINS), deals=64, seed=7, replicates=4)


def test_every_start__plays_the_same_number_of_deals() -> None:
    """Otherwise deals that are over soon, as those passed out, would be counted too often."""
    rules = make_rules("four_point")
    grid = make_grid(rules, bins=(0, 14))
    outcomes = collect_outcomes(make_chooser("greedy", rules), rules, grid, 24, 3, games=32)
    per_bin = np.bincount(outcomes.coarse, outcomes.count, minlength=grid.coarse_cells)
    assert set(per_bin) == {24.0}
    assert (outcomes.bidding_team < 0).any() or (outcomes.delta.any(axis=1)).all()


def test_outcomes__are_what_deals_can_bring() -> None:
    rules = make_rules("schmier")
    grid = make_grid(rules, bins=(0, 20))
    outcomes = collect_outcomes(make_chooser("greedy", rules), rules, grid, 20, 3)
    bid = outcomes.bidding_team >= 0
    own = np.take_along_axis(outcomes.delta, np.maximum(outcomes.bidding_team, 0)[:, None], axis=1)[:, 0]
    assert (own[bid & outcomes.made] >= rules.min_bid).all()
    assert (own[bid & ~outcomes.made] <= -rules.min_bid).all()
    assert not outcomes.delta[~bid].any()


def test_probabilities__sum_to_one_and_rise_with_the_own_score() -> None:
    equity = greedy_table()
    generator = np.random.default_rng(0)
    scores = generator.integers(-10, 15, size=(500, 2))
    values = equity.values(scores, generator.integers(4, size=500))
    assert values.sum(axis=1) == pytest.approx(np.ones(500), abs=1e-5)
    grid = equity.grid
    block = equity.table.reshape(grid.shape)[..., 0][
        : grid.last - grid.floor + 1, : grid.last - grid.floor + 1
    ]
    # Over all scores of the other team sampling noise is small; cell by cell it is told by the errors.
    assert (np.diff(block.mean(axis=1)) > -0.02).all()
    assert (np.diff(block.mean(axis=0)) < 0.02).all()
    assert (block.mean(axis=1)[4:] > block.mean(axis=1)[:-4]).all()
    assert (block.mean(axis=0)[4:] < block.mean(axis=0)[:-4]).all()
    errors = equity.standard_error.reshape(grid.shape)[..., 0][: len(block), : len(block)]
    assert (np.diff(block, axis=0) > -5 * errors[1:]).mean() > 0.99


def test_table__agrees_with_matches_played() -> None:
    equity = greedy_table()
    check = check_against_play(equity, make_chooser("greedy", equity.rules), 600, 8)
    assert check["matches"] == 600
    assert sum(one["teams"] for one in check["deciles"]) == 1200
    # Of the standard errors of ten deciles none is passed far; the table's own error adds to them.
    for one in check["deciles"]:
        assert abs(one["observed"] - one["predicted"]) < 4.5 * one["standard_error"] + 0.03


def test_deciles__show_a_table_that_is_wrong() -> None:
    equity = greedy_table()
    wrong = dataclasses.replace(equity, table=1 - equity.table)
    check = check_against_play(wrong, make_chooser("greedy", equity.rules), 200, 8)
    assert not check["holds"]
    assert check["largest_difference"] > 0.2


def test_deciles__are_tenths_by_prediction() -> None:
    predicted = np.linspace(0.005, 0.995, 100)
    matches = Matches(np.stack([predicted, 1 - predicted], axis=1), np.tile([1.0, 0.0], (100, 1)))
    deciles = by_decile(matches)
    assert [one["teams"] for one in deciles] == [20] * 10
    assert deciles[0]["predicted"] == pytest.approx(0.05)
    assert deciles[0]["observed"] == pytest.approx(0.5)


def rules_and_shown(name: str) -> tuple[Rules, SelfPlayVectorEnv]:
    rules = make_rules(name)
    return rules, SelfPlayVectorEnv(32, rules, seed=1, skip_forced=True, copy=True)


@pytest.mark.parametrize("name", ["four_point", "schmier"])
def test_checkpoint__chooses_as_the_policy_does(name: str) -> None:
    rules, env = rules_and_shown(name)
    choose, policy = make_chooser(name, rules), load_policy(name)
    policy.reset(rules, -1, 0)
    shown, close = env.reset(), []
    for _ in range(20):
        actions = choose(shown.observation, shown.mask)
        likely = policy.probabilities(shown.observation, shown.mask)
        rows = np.arange(len(actions))
        assert (shown.mask[rows, actions] == 1).all()
        close.append(likely[rows, actions] > 0.97 * likely.max(axis=1))
        shown = env.step(actions)
    # In bfloat16 actions that are as good as equal may change places.
    assert np.mean(close) > 0.995


def test_sampled_checkpoint__draws_by_the_policys_probabilities() -> None:
    rules, env = rules_and_shown("four_point")
    shown = env.reset()
    row = np.repeat(shown.observation[:1], 4000, axis=0), np.repeat(shown.mask[:1], 4000, axis=0)
    actions = make_chooser("four_point", rules, sampled=True, seed=3)(*row)
    policy = load_policy("four_point")
    policy.reset(rules, -1, 0)
    expected = policy.probabilities(row[0][:1], row[1][:1])[0]
    assert np.bincount(actions, minlength=len(expected)) / 4000 == pytest.approx(expected, abs=0.04)


def test_games_that_have_played_their_share__wait() -> None:
    rules = make_rules("four_point")
    env = SelfPlayVectorEnv(16, rules, seed=1, episode="deal", skip_forced=True)
    ended = sum(over.astype(int) for over in play_on(env, make_chooser("greedy", rules), 3))
    assert (ended == 3).all()


def test_calls__are_those_of_seats_that_see_the_scores_on_the_same_deals() -> None:
    rules = make_rules("four_point")
    level, ahead, behind = count_calls(
        make_chooser("greedy", rules), rules, [(5, 5), (14, 8), (8, 14)], 120, 2
    )
    # `greedy` does not look at the score, and the deals are the same: one team's calls, of level scores both teams'.
    assert np.array_equal(ahead.counts, behind.counts)
    assert np.array_equal(ahead.contracts, behind.contracts)
    assert (ahead.counts <= level.counts).all()
    assert 0 < ahead.counts[0].sum() < 120
    assert level.counts[0].sum() == level.deals == 120  # the eldest hand always speaks
    assert level.contracts.sum() + level.passed_out == level.deals
    assert (level.made <= level.contracts).all()


def test_calls_at_scores_of_another_number_of_teams__are_refused() -> None:
    rules = make_rules("schmier")
    with pytest.raises(ValueError, match=r"scores=\(14, 8\) must be 3"):
        count_calls(make_chooser("greedy", rules), rules, [(14, 8)], 10, 2)


def test_command__makes_shows_and_counts(tmp_path: Path, monkeypatch, capsys) -> None:
    common = ["greedy", "--rules", "four_point", "--options", "stock_to_bidder=2"]
    make = [*common, "--deals", "8", "--bins", "0", "8", "14", "--check", "50", "--measure-bins"]
    monkeypatch.setattr(sys, "argv", ["equity", *make, "--replicates", "2", "--out", str(tmp_path)])
    main()
    made = capsys.readouterr().out
    assert "stock_to_bidder=2: greedy, greedy play" in made
    assert "50 matches from drawn scores" in made
    described = json.loads((tmp_path / "equity-stock_to_bidder=2.json").read_text())
    assert described["residual"] < 1e-4
    assert described["check"]["matches"] == 50
    assert [one["boundary"] for one in described["bin_losses"]] == [0, 8, 14]
    assert described["command"].startswith("python -m training.equity")
    assert (tmp_path / "equity-stock_to_bidder=2.png").read_bytes()[:4] == b"\x89PNG"
    monkeypatch.setattr(sys, "argv", ["equity", *common, "--show", "--out", str(tmp_path)])
    main()
    assert capsys.readouterr().out == made
    counts = tmp_path / "calls.json"
    calls = [*common, "--calls", "--scores", "14:8", "--deals", "40", "--json", str(counts)]
    monkeypatch.setattr(sys, "argv", ["equity", *calls])
    main()
    assert "14 - 8" in capsys.readouterr().out
    assert json.loads(counts.read_text())["scores"][0]["deals"] == 40
    assert load_equity(tmp_path, make_rules("four_point", stock_to_bidder=2)).grid.bins == (-15, 0, 8, 14)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["greedy"], "is no checkpoint to put a table beside"),
        (["greedy", "--rules", "mini", "--out", "nowhere"], "one deal"),
        (["nobody"], "nobody"),
        (["greedy", "--calls", "--scores", "14-8"], "as 14:8"),
        (["clairvoyant", "--out", "nowhere"], "sees all hands"),
        (["passer", "--out", "nowhere", "--deals", "1", "--bins", "0"], "hardly end"),
        (["greedy", "--out", "nowhere", "--deals", "0"], "deals=0"),
        (["four_point", "--show", "--out", "nowhere"], "no match equity to read"),
    ],
)
def test_command__says_what_is_wrong(arguments: list[str], message: str, monkeypatch) -> None:
    monkeypatch.setattr(sys, "argv", ["equity", *arguments])
    with pytest.raises(SystemExit, match=message):
        main()


def test_scores__are_read_from_text() -> None:
    assert parse_scores("14:-3:0") == (14, -3, 0)
