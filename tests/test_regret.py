"""Double-dummy regret: what each decision lost, against plain exhaustive search and by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smear_env import (
    Rules,
    SelfPlayVectorEnv,
    VectorStep,
    make_agent,
    make_rules,
    observation_layout,
    pieces,
    play_values,
)

pytest.importorskip("torch")

from training.evaluate import compare
from training.evaluation.deals import Deals
from training.regret import Decision, main, regret, regrets, summarize
from training.variates.luck import replay


class Exhaustive:
    """Every action of every position of a deal tried, by the environment alone."""

    def __init__(self, rules: Rules) -> None:
        self.env = SelfPlayVectorEnv(1, rules, seed=0, episode="deal", reward="points", skip_forced=True)
        self.env.reset()

    def values(self, snapshot: dict[str, Any]) -> dict[int, float]:
        """Points of team 0 after each legal action, all playing as well as can be from there."""
        shown = self.env.restore(snapshot)
        legal = [int(action) for action in np.flatnonzero(shown.mask[0])]
        return {action: self.after(snapshot, action) for action in legal}

    def after(self, snapshot: dict[str, Any], action: int) -> float:
        self.env.restore(snapshot)
        shown = self.env.step(np.array([action]))
        reward = float(shown.reward[0, 0])
        if shown.terminated[0]:
            return reward
        seat = int(shown.seat[0])
        choices = self.values(self.env.snapshot()).values()
        return reward + (max(choices) if seat % 2 == 0 else min(choices))


@pytest.mark.parametrize("options", [{}, {"low_to": "winner", "failed_bid": "points"}])
def test_regret__is_what_exhaustive_search_says_for_every_decision(options: dict[str, Any]) -> None:
    rules, count = make_rules("mini", **options), 30
    deals = Deals(4)
    comparison = compare(make_agent("random"), make_agent("random"), rules, count, 4)
    found = regrets(comparison, rules, deals, rules.hand_size)
    search = Exhaustive(rules)
    expected: list[Decision] = []
    for side, plays in enumerate(comparison.plays):
        env, shown = deals.begin(rules, 0, count, skip_forced=True)

        def look(view: VectorStep, chosen: Any, env: Any = env, side: int = side) -> None:
            phase = pieces(view.observation, observation_layout(rules))["phase"].argmax(axis=1)
            snapshot = env.snapshot()
            for row in np.flatnonzero((chosen >= 0) & (view.seat == side) & (phase > 0)):
                values = search.values({**snapshot, "states": snapshot["states"][row : row + 1]})
                sign = 1 if side == 0 else -1
                lost = max(sign * v for v in values.values()) - sign * values[int(chosen[row])]
                expected.append(Decision(int(row), side, "", lost))

        replay(env, shown, plays.actions, look)
    by_deal = [sorted((d.deal, d.side, d.lost) for d in some) for some in (found, expected)]
    assert by_deal[0] == by_deal[1]
    assert len(found) > 45
    assert sum(one.lost > 0 for one in found) > 10
    assert {one.phase for one in found} <= {"discard", "opening lead", "trick 1 follow"}


def test_discards__lose_in_all_what_the_best_ones_would_have_brought_more() -> None:
    rules, count = make_rules("four_point"), 3
    comparison = compare(make_agent("random"), make_agent("random"), rules, count, 2)
    found = [one for one in regrets(comparison, rules, Deals(2), 0) if one.phase == "discard"]
    assert len(found) >= 6
    assert min(one.lost for one in found) >= 0
    assert max(one.lost for one in found) > 0


def test_phases__are_the_agents_own_and_only_the_last_tricks_where_so_many_are_asked_for() -> None:
    result = regret("greedy", "passer", make_rules("four_point"), deals=6, tricks=2)
    assert set(result["regret"]) <= {"discard", "trick 5 lead", "trick 5 follow", "all"}
    none = regret("passer", "passer", make_rules("four_point"), deals=3)
    assert none["regret"]["all"]["decisions"] == 0
    paranoid = regret("greedy", "greedy", make_rules("schmier"), deals=2)
    assert (paranoid["solver"], paranoid["tricks"]) == ("paranoid", 4)
    assert {int(name.split()[1]) for name in paranoid["regret"] if name.startswith("trick")} <= {3, 4, 5}


def test_summary__is_a_mean_by_decision_and_by_deal_over_sides() -> None:
    found = [
        Decision(0, 0, "trick 2 lead", 1.0),
        Decision(0, 1, "trick 2 lead", 0.0),
        Decision(1, 0, "opening lead", 3.0),
        Decision(1, 1, "discard", 0.0),
    ]
    figures = summarize(found, 4, 2, 0)
    assert list(figures) == ["discard", "opening lead", "trick 2 lead", "all"]
    assert figures["trick 2 lead"]["per_decision"] == 0.5
    assert figures["trick 2 lead"]["per_deal"] == 1 / 8
    assert figures["all"]["per_decision"] == 1
    assert figures["all"]["per_deal"] == 0.5
    assert figures["all"]["decisions"] == 4
    low, high = figures["all"]["per_deal_interval"]
    assert 0 <= low < 0.5 < high <= 1.5


def test_solver_of_snapshots__refuses_other_arrays_and_phases() -> None:
    env = SelfPlayVectorEnv(2, "four_point", seed=0)
    env.reset()
    with pytest.raises(ValueError, match="phase 'bid'"):
        play_values(env.snapshot()["states"], env.rules)
    with pytest.raises(ValueError, match="uint8"):
        play_values(env.state(), env.rules)


def test_command__writes_the_json_and_shows_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "regret.json"
    given = (
        "--agent",
        "greedy",
        "--deals",
        "3",
        "--tricks",
        "2",
        "--runs",
        str(tmp_path),
        "--json",
        str(path),
    )
    monkeypatch.setattr("sys.argv", ["regret", *given])
    main()
    result = json.loads(path.read_text())
    assert (result["format"], result["against"], result["sets"]) == ("smear-regret/1", "greedy", 3)
    said = capsys.readouterr().out
    assert "trick 5" in said
    monkeypatch.setattr("sys.argv", ["regret", "--agent", "greedy", "--tricks", "9"])
    with pytest.raises(SystemExit, match="tricks=9"):
        main()
