"""Advice: the policy's own probabilities, and what the chance of winning the match makes of a deal."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("tyro")
pytest.importorskip("rich")

import tyro

from smear_env import MatchEquity, ScoreGrid, decode, load_policy, make_rules
from smear_table.advice import Adviser, _chances, advise, adviser_of
from smear_table.cli.advise import Options, answer, asked_position
from smear_table.cli.commands import CONFIG
from smear_table.cli.show import told_flags
from smear_table.told.reading import read_told, told_of
from smear_table.told.words import Told
from tests.told_positions import GOLDEN, Shown, golden_positions

FOUR = Told(hand="AS KS TS 9S 7D 8C", bids="pass 2", scores="9,12")


def rules_options(shown: Shown) -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name, value in shown.rules.options().items())


def agrees(shown: Shown, options: Options) -> None:
    """What the command says of a position in words is what the policy does with what the engine shows."""
    asked = asked_position(options)
    assert asked.rules == shown.rules
    assert np.array_equal(asked.observation, shown.observation)
    assert np.array_equal(asked.mask, shown.mask)
    policy = load_policy(shown.rules.name)
    policy.reset(shown.rules, -1, 0)
    found, names = answer(options, asked), shown.rules.action_names
    chances = policy.probabilities(shown.observation[None], shown.mask[None])[0]
    assert found["adviser"] == shown.rules.name
    assert {row["action"]: row["probability"] for row in found["actions"]} == {
        names[action]: float(chances[action]) for action in np.flatnonzero(shown.mask)
    }
    greedy = int(policy.act_batch(shown.observation[None], shown.mask[None])[0])
    assert found["choice"] == found["actions"][0]["action"] == names[greedy]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("game", ["four_point", "schmier"])
def test_advise__agrees_with_the_policy_on_positions_of_transcripts(game: str) -> None:
    """250 of each game; of each tenth the words go through the command line itself."""
    files = [f"{game}.jsonl", f"{game}-failed_bid=points.jsonl"]
    for file in files:
        for number, shown in enumerate(golden_positions(file, 125)):
            told = told_of(decode(shown.observation, shown.rules), shown.rules, shown.position.seat)
            options = Options(position=told, rules=game, options=rules_options(shown), worlds=0)
            if number % 10 == 0:
                words = ["--rules", game, "--options", *rules_options(shown), "--worlds", "0"]
                if not rules_options(shown):
                    words.remove("--options")
                parsed = tyro.cli(Options, args=[*words, *told_flags(told)], config=CONFIG)
                assert parsed == options
            agrees(shown, options)


def test_advise__takes_a_place_in_a_transcript(tmp_path: Path) -> None:
    shown = golden_positions("four_point.jsonl", 1)[0]
    file, place = GOLDEN / "four_point.jsonl", shown.position
    match = next(
        index
        for index, line in enumerate(file.read_text().splitlines())
        if place.deal < len(json.loads(line)["deals"])
        and np.array_equal(_place(file, index, place.deal, place.step), shown.observation)
    )
    agrees(shown, Options(transcript=file, match=match, deal=place.deal, step=place.step, worlds=0))


def _place(file: Path, match: int, deal: int, step: int) -> Any:
    try:
        return asked_position(Options(transcript=file, match=match, deal=deal, step=step)).observation
    except ValueError:
        return None


def line_equity(rules: Any, worth: float) -> MatchEquity:
    """A table in which every point of lead is worth so much."""
    grid = ScoreGrid(rules.teams, -rules.target, rules.target + 4, (-rules.target,), rules.target - 1)
    scores = grid.scores().astype(np.float32)
    mean = (scores.sum(axis=1, keepdims=True) - scores) / (rules.teams - 1)
    table = (1 / rules.teams + worth * (scores - mean)).astype(np.float32)
    return MatchEquity(rules, grid, table, np.zeros_like(table), 1.0)


def test_match_equity__pays_points_where_every_point_is_worth_the_same() -> None:
    rules = make_rules("four_point")
    observation, mask = read_told(replace(FOUR, scores="0,0"), rules)
    shipped = adviser_of(rules)
    adviser = Adviser(shipped.name, shipped.agent, line_equity(rules, 0.01))
    for one in advise(observation, mask, rules, 24, adviser=adviser):
        assert one.win_change == pytest.approx(0.01 * one.points, abs=1e-5)
        assert one.win == pytest.approx(0.5 + 0.01 * one.points, abs=1e-5)
        assert one.win_error == pytest.approx(0.01 * one.error, abs=1e-5)


def test_won_match__counts_as_one_and_lost_as_none() -> None:
    equity = line_equity(make_rules("four_point"), 0.01)
    deals = SimpleNamespace(
        ended=np.array([2, 2, 2, 1]),
        dealer=np.array([0, 1, 2, 3], np.int8),
        scores=np.array([[16, 3], [3, 16], [5, 3], [4, 9]]),
        winner=np.array([0, 1, -1, -1]),
    )
    assert _chances(deals, equity) == pytest.approx([1.0, 0.0, 0.52, 0.45])


def test_advice_without_a_table__has_no_chance_of_winning() -> None:
    rules = make_rules("four_point", target=11)
    observation, mask = read_told(replace(FOUR, scores="0,0"), rules)
    assert adviser_of(rules).equity is None
    assert all(one.win is None and one.win_change is None for one in advise(observation, mask, rules, 24))


def test_bid__is_made_less_often_when_it_is_higher() -> None:
    rules = make_rules("four_point")
    names = rules.action_names
    made = {names[one.action]: one.make for one in advise(*read_told(FOUR, rules), rules, 48)}
    assert made["pass"] is None
    assert made["3"] is not None
    assert made["4"] is not None
    assert made["3"] > made["4"]
