"""Cross-play: mixed teams by seat, and a gap that is nothing between twins."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from smear_env import make_rules

pytest.importorskip("scipy")
pytest.importorskip("rich")

from training.crossplay import crossplay, main, mixed_lineups, table
from training.evaluate import evaluate
from training.evaluation.deals import Deals
from training.evaluation.players import Player
from training.evaluation.plays import play

GAMES = pytest.mark.parametrize("preset", ["four_point", "schmier"])


@GAMES
def test_mixed_lineups__every_place_both_orders_both_opponents(preset: str) -> None:
    rules = make_rules(preset)
    one, other = Player("greedy"), Player("expert")
    lineups = mixed_lineups(one, other, rules)
    assert len(lineups) == 4 * rules.teams
    for lineup, team in lineups.items():
        assert len(lineup) == rules.players
        assert {lineup[team], lineup[team + rules.teams]} == {one, other}
        rest = [lineup[seat] for seat in range(rules.players) if seat % rules.teams != team]
        assert len(set(rest)) == 1


@GAMES
def test_play__of_a_lineup_by_seat_is_that_by_team(preset: str) -> None:
    from smear_env import make_agent

    rules = make_rules(preset)
    agents = [make_agent("greedy"), *[make_agent("expert")] * (rules.teams - 1)]
    for agent in agents:
        agent.reset(rules, -1, 0)
    by_team = play(agents, rules, Deals(3), 0, 40)
    by_seat = play(agents * 2, rules, Deals(3), 0, 40)
    np.testing.assert_array_equal(by_team.points, by_seat.points)
    np.testing.assert_array_equal(by_team.actions, by_seat.actions)


def test_crossplay__stranger_who_always_passes_costs_what_it_must() -> None:
    # A mixed team of `expert` and `passer` lies between both: neither gap nor gain is the whole difference.
    rules = make_rules("four_point")
    result = crossplay(["expert", "greedy"], rules, partners=["passer"], pairs=60, seed=5)
    couples = {tuple(one["agents"]): one["points_per_deal"] for one in result["couples"]}
    assert set(couples) == {("expert", "greedy"), ("expert", "passer"), ("greedy", "passer")}
    assert result["gap"]["points_per_deal"] == pytest.approx(-couples["expert", "greedy"])
    passing = np.mean([couples["expert", "passer"], couples["greedy", "passer"]])
    assert result["gaps"]["passer"]["points_per_deal"] == pytest.approx(-passing)
    whole = evaluate("expert", "passer", rules, pairs=60, seed=5)["points_per_deal"]
    assert abs(couples["expert", "passer"]) < whole / 2
    low, high = result["gap"]["interval"]
    assert low < result["gap"]["points_per_deal"] < high
    assert "gap" in str(table(result).title)


@GAMES
def test_crossplay__of_twins_has_no_gap(preset: str) -> None:
    # `cautious` under two names would be refused as given twice: a checkpoint and its name are the same policy.
    from smear_env import checkpoints_folder

    twin = str(checkpoints_folder() / preset)
    result = crossplay([preset, twin], make_rules(preset), pairs=30, seed=2)
    assert result["gap"]["points_per_deal"] == pytest.approx(0, abs=1e-9)


def test_crossplay__refuses_what_makes_no_sense() -> None:
    rules = make_rules("four_point")
    for agents, partners in (
        (["greedy"], []),
        (["greedy", "greedy"], []),
        (["greedy", "expert"], ["expert"]),
    ):
        with pytest.raises(ValueError, match="must be two or more, each once"):
            crossplay(agents, rules, partners=partners)
    with pytest.raises(ValueError, match="cross-play is of teams of two"):
        crossplay(["greedy", "expert"], make_rules("schmier", teams=2))


def test_command__writes_its_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    to = tmp_path / "found.json"
    flags = ["--agents", "greedy", "expert", "--pairs", "20", "--processes", "1", "--json", str(to)]
    monkeypatch.setattr("sys.argv", ["crossplay", *flags, "--runs", str(tmp_path / "runs")])
    main()
    assert json.loads(to.read_text())["pairs"] == 20
    assert "mixed teams" in capsys.readouterr().out
