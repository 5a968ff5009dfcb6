"""Duplicate deals from every side, and the interval beside the figure."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smear_env import Rules, make_agent, make_rules, observation_layout, pieces

pytest.importorskip("torch")

from training.evaluate import Comparison, compare, describe, evaluate, interval, main, summarize
from training.evaluation import figures

GAMES = pytest.mark.parametrize("preset", ["four_point", "schmier"])
TWO_TEAMS = pytest.mark.parametrize(
    "rules", [make_rules("four_point"), make_rules("schmier", teams=2)], ids=["four_point", "schmier-2"]
)


@pytest.fixture(autouse=True)
def fewer_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "RESAMPLES", 500)


# ------------------------------------------------------------------------------------------------ sides


@TWO_TEAMS
@pytest.mark.parametrize("name", ["passer", "greedy"])
def test_pairs__agent_without_chance_is_exactly_even_with_itself(rules: Rules, name: str) -> None:
    comparison = compare(make_agent(name), make_agent(name), rules, 150, 1, matches=5)
    figures = summarize(comparison, 1)
    assert np.all(comparison.points.mean(axis=1) == 0)
    assert (figures["points_per_deal"], figures["interval"]) == (0, [0, 0])
    assert figures["matches_won"] == 0.5
    assert np.abs(comparison.points).max() > 0 or name == "passer"


def test_triples__agent_without_chance_is_even_with_itself() -> None:
    comparison = compare(make_agent("greedy"), make_agent("greedy"), make_rules("schmier"), 100, 1)
    # Every play is the same, seen by each team in turn, and what the teams earn sums to zero.
    np.testing.assert_allclose(comparison.points.sum(axis=1), 0, atol=1e-5)


@TWO_TEAMS
def test_pairs__exchanging_agent_and_opponent_flips_the_sign(rules: Rules) -> None:
    there = compare(make_agent("greedy"), make_agent("passer"), rules, 200, 1)
    back = compare(make_agent("passer"), make_agent("greedy"), rules, 200, 1)
    assert there.points.mean() > 0
    np.testing.assert_array_equal(there.points, -back.points[:, ::-1])
    np.testing.assert_array_equal(there.passed, back.passed[:, ::-1])
    assert summarize(there, 1)["points_per_deal"] == -summarize(back, 1)["points_per_deal"]


class Spy:
    """Plays as `name` does and keeps what it is shown before its first play of a deal: seat, dealer, hand."""

    def __init__(self, name: str) -> None:
        self.agent = make_agent(name)
        self.seeds: list[int] = []
        self.seen: list[np.ndarray] = []

    def reset(self, rules: Rules, seat: int, seed: int) -> None:
        self.rules = rules
        self.seeds.append(seed)
        self.agent.reset(rules, seat, seed)

    def act(self, observation: Any, mask: Any) -> int:
        return int(self.act_batch(observation[None], mask[None])[0])

    def act_batch(self, observations: Any, masks: Any) -> Any:
        self.seen.extend(observations.copy())
        return self.agent.act_batch(observations, masks)

    def probabilities(self, observations: Any, masks: Any) -> Any:
        return self.agent.probabilities(observations, masks)

    def hands(self) -> set[tuple[int, bytes]]:
        """Seat from the dealer's left and hand, of everything shown in the auction."""
        layout = observation_layout(self.rules)
        shown = pieces(np.array(self.seen), layout)
        place = (-shown["dealer"].argmax(axis=1) - 1) % self.rules.players
        auction = shown["phase"][:, 0] == 1
        return {
            (int(p), hand.tobytes()) for p, hand in zip(place[auction], shown["hand"][auction], strict=True)
        }


@GAMES
def test_sets__every_side_is_dealt_the_same_cards_by_the_same_dealer(preset: str) -> None:
    rules, pairs = make_rules(preset), 40
    agent, against = Spy("passer"), Spy("passer")
    compare(agent, against, rules, pairs, 7)
    # Everybody passes, so each deal shows each hand once a side: the agent has sat in every seat of every deal, and
    # has held exactly the hands that its opponents held when they had those seats.
    assert len(agent.hands()) == len(against.hands()) == pairs * rules.players
    assert agent.hands() == against.hands()
    assert len(agent.seen) == pairs * rules.players
    assert len(against.seen) == pairs * rules.players * (rules.teams - 1)


def test_deals__do_not_depend_on_the_agents() -> None:
    rules = make_rules("four_point")
    spies = [Spy("passer"), Spy("greedy")]
    for spy in spies:
        compare(spy, make_agent("greedy"), rules, 30, 7)
    quiet, loud = (spy.hands() for spy in spies)
    # What one saw of an auction, of the same hands; a bid of 4 keeps the last seats from speaking.
    assert quiet <= loud or loud <= quiet or len(quiet & loud) > 0.8 * max(len(quiet), len(loud))
    other = Spy("passer")
    compare(other, make_agent("greedy"), rules, 30, 8)
    assert not quiet & other.hands()


@GAMES
def test_deal_passed_out__counts_0_and_is_not_redealt(preset: str) -> None:
    rules = make_rules(preset)
    spy = Spy("passer")
    comparison = compare(spy, spy, rules, 25, 1)
    assert np.all(comparison.passed)
    assert np.all(comparison.points == 0)
    assert not comparison.bid.any()
    assert len(spy.seen) == 25 * rules.teams * rules.players
    figures = summarize(comparison, 1)
    assert figures["passed_out"] == 1
    assert figures["bids_made"] is None
    assert figures["bids_set"] is None


def test_sides__schmier_takes_each_of_the_three_teams() -> None:
    rules = make_rules("schmier")
    spy = Spy("greedy")
    comparison = compare(spy, make_agent("passer"), rules, 60, 1)
    assert comparison.points.shape == (60, 3)
    assert np.all(comparison.points.mean(axis=0) > 0)
    assert {place for place, _ in spy.hands()} == set(range(6))
    assert len(summarize(comparison, 1)["by_team"]) == 3


def test_points__are_own_score_change_less_the_mean_of_the_others() -> None:
    # The passer never bids: with greedy bidding alone, a bid made pays at least the bid, one that failed costs it.
    rules = make_rules("schmier", all_pass="dealer_bids")
    comparison = compare(make_agent("greedy"), make_agent("passer"), rules, 60, 1)
    made = comparison.points[comparison.made]
    failed = comparison.points[comparison.bid & ~comparison.made]
    assert made.min() >= 0  # six points at most: three made leave the others three, on average no more
    assert failed.max() <= -rules.min_bid
    assert not comparison.passed.any()


def test_greedy__is_ahead_of_passer_and_the_interval_says_so() -> None:
    figures = evaluate("greedy", "passer", make_rules("four_point"), pairs=400)
    low, high = figures["interval"]
    assert 0 < low < figures["points_per_deal"] < high
    assert figures["bid"] > 0.3
    assert figures["bids_made"] + figures["bids_set"] == pytest.approx(1)


# ------------------------------------------------------------------------------------------------ repeating


@GAMES
def test_evaluate__repeats_with_the_same_seed(preset: str) -> None:
    first, again, other = (
        evaluate("random", "greedy", make_rules(preset), pairs=40, seed=seed, matches=2) for seed in (3, 3, 4)
    )
    assert first == again
    assert first["points_per_deal"] != other["points_per_deal"]


def test_agents__draw_from_generators_of_their_own() -> None:
    # Seeds differ between the two agents, the sides, the seeds of the evaluation and the shards of deals.
    seeds = []
    for seed in (1, 2, 3):
        agent, against = Spy("passer"), Spy("passer")
        compare(agent, against, make_rules("four_point"), 6, seed, shard=3)
        seeds += [*agent.seeds, *against.seeds]
    assert len(set(seeds)) == len(seeds) == 3 * 2 * 2 * 2


def test_agents__draws_of_one_do_not_move_the_other() -> None:
    class Wasteful(Spy):
        def act_batch(self, observations: Any, masks: Any) -> Any:
            np.random.default_rng().random(10)
            self.other.probabilities(observations, masks)
            return super().act_batch(observations, masks)

    rules = make_rules("four_point")
    plain = compare(Spy("random"), Spy("random"), rules, 30, 1)
    wasteful = Wasteful("random")
    wasteful.other = make_agent("random")
    wasteful.other.reset(rules, -1, 5)
    np.testing.assert_array_equal(plain.points, compare(wasteful, Spy("random"), rules, 30, 1).points)


@pytest.mark.parametrize("deals", [None, "fixed"])
def test_shards__are_stretches_of_the_same_deals(deals: str | None) -> None:
    spies = [Spy("passer"), Spy("passer")]
    for spy, shard in zip(spies, (7, 40), strict=True):
        compare(spy, make_agent("passer"), make_rules("four_point"), 40, 1, deals=deals, shard=shard)
    assert len(spies[0].hands()) == 40 * 4
    assert spies[0].hands() == spies[1].hands()


# ------------------------------------------------------------------------------------------------ interval


def test_interval__covers_the_mean_as_often_as_it_says() -> None:
    generator = np.random.default_rng(0)
    covered = 0
    for number in range(200):
        low, high = interval(generator.normal(0.3, 1.35, size=300), number)
        covered += low <= 0.3 <= high
    # 95 % of 200 are 190, with a standard deviation of 3.1.
    assert 178 <= covered <= 199


def test_interval__is_as_wide_as_the_normal_one_and_wider_with_fewer_pairs() -> None:
    values = np.random.default_rng(1).normal(0, 2, size=4000)
    low, high = interval(values, 0)
    assert (high - low) / 2 == pytest.approx(1.96 * values.std() / math.sqrt(4000), rel=0.15)
    fewer = interval(values[:250], 0)
    assert fewer[1] - fewer[0] > 3 * (high - low)


def test_interval__is_the_mean_where_nothing_varies_and_repeats() -> None:
    assert interval(np.full(10, 0.25), 1) == (0.25, 0.25)
    values = np.random.default_rng(2).normal(size=100)
    assert interval(values, 4) == interval(values, 4)


def test_interval__unit_is_the_pair() -> None:
    # Each pair cancels out, however much its two deals vary.
    points = np.random.default_rng(0).normal(size=(100, 1)) * np.array([[1, -1]])
    none = np.zeros((100, 2), bool)
    comparison = Comparison(points, none, none, none, np.empty((0, 2)))
    assert summarize(comparison, 1)["interval"] == [0, 0]


# ------------------------------------------------------------------------------------------------ the command


def run_main(monkeypatch: pytest.MonkeyPatch, folder: Path, *arguments: str) -> None:
    monkeypatch.setattr("sys.argv", ["evaluate", "--runs", str(folder), *arguments])
    main()


def test_command__writes_the_json_and_says_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "made" / "result.json"
    given = ("--agent", "greedy", "--against", "passer", "--pairs", "60", "--seed", "5", "--matches", "3")
    run_main(monkeypatch, tmp_path / "runs", *given, "--options", "stock_to_bidder=2", "--json", str(path))
    result = json.loads(path.read_text())
    assert result["agent"] == "greedy"
    assert result["against"] == "passer"
    assert result["rules"] == "four_point"
    assert result["options"] == {"stock_to_bidder": 2}
    assert (result["pairs"], result["seed"], result["play"]) == (60, 5, "greedy")
    assert len(result["interval"]) == 2
    assert result["interval"][0] <= result["points_per_deal"] <= result["interval"][1]
    assert 0 <= result["matches_won"] <= 1
    assert {"bid", "bids_made", "bids_set", "passed_out", "commit", "deviation"} <= set(result)
    assert [file.name for file in path.parent.iterdir()] == ["result.json"], "no half-written file is left"
    said = capsys.readouterr().out
    assert f"{result['points_per_deal']:+.3f} points per deal [" in said
    assert "60 sets" in said


def test_json__has_no_matches_where_none_are_played() -> None:
    result = evaluate("passer", "greedy", make_rules("schmier"), pairs=5)
    assert not {"matches", "matches_won"} & set(result)
    assert "matches" not in describe(result)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--agent", "nobody", "--against", "greedy"), "'nobody'"),
        (("--agent", "greedy", "--against", "passer", "--pairs", "1"), "pairs=1"),
        (("--agent", "greedy", "--against", "passer", "--matches", "-1"), "matches=-1"),
        (("--agent", "greedy", "--against", "passer", "--seed", "-1"), "seed=-1"),
        (("--agent", "greedy", "--against", "passer", "--rules", "whist"), "'whist'"),
        (("--agent", "greedy", "--against", "passer", "--options", "colour=red"), "'colour'"),
        (("--agent", "greedy", "--against", "passer", "--options", "stock_to_bidder=9"), "stock_to_bidder=9"),
        (("--agent", "greedy", "--against", "passer", "--pairs", "2", "--json", "/dev/null/x"), "/dev/null"),
        (("--agent", "greedy", "--against", "passer", "--deals", "mine"), "deals='mine'"),
        (("--agent", "greedy", "--against", "passer", "--deals", "schmier"), "53 cards and 6 seats"),
        (("--agent", "greedy", "--against", "passer", "--deals", "fixed", "--pairs", "10001"), "pairs=10001"),
        (("--agent", "greedy", "--against", "passer", "--processes", "-1"), "processes=-1"),
    ],
)
def test_command__names_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], named: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        run_main(monkeypatch, tmp_path, *arguments)
    assert str(ended.value.code).startswith("error: ")
    assert named in str(ended.value.code)


def test_matches__won_by_the_better_agent() -> None:
    result = evaluate("greedy", "random", make_rules("four_point"), pairs=2, matches=12)
    assert result["matches_won"] > 0.8
    assert result["matches"] == 12
    assert "wins" in describe(result)


@pytest.mark.slow
@GAMES
def test_pairs__exchanging_seats_takes_away_what_the_cards_give(preset: str) -> None:
    comparison = compare(make_agent("greedy"), make_agent("passer"), make_rules(preset), 3000, 1)
    single, paired = comparison.points.std(), comparison.points.mean(axis=1).std()
    assert paired < single / math.sqrt(comparison.points.shape[1])
