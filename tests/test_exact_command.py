"""The commands over the exact analysis: figures of agents, and the curve over a training run."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("scipy")
pytest.importorskip("tyro")
pytest.importorskip("tensorboard")

from benchmarks.exploitability import Options, curve, draw
from smear_env import load_policy, make_agent
from tests.exact_games import tree_of
from tests.training_runs import tiny
from training.exact import exploitability, of_agent
from training.exact.__main__ import main


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["training.exact", *arguments])
    main()


def test_command__states_what_the_library_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "exact.json"
    command(monkeypatch, "--agents", "greedy", "--options", "stock_to_bidder=0", "--json", str(file))
    result = json.loads(file.read_text())
    tree = tree_of(stock_to_bidder=0)
    found = exploitability(tree, of_agent(tree, make_agent("greedy")))
    assert [row["play"] for row in result["agents"]] == ["sampled", "greedy"]
    assert all(row["exploitability"] == found.mean for row in result["agents"])
    assert result["options"] == {"stock_to_bidder": 0}
    assert result["game_value"] == pytest.approx(0.5511904761904762, abs=1e-9)
    assert f"{found.mean:.5f}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "named"),
    [(("--rules", "four_point"), "error: rules: players=4"), (("--agents", "nobody"), "error: 'nobody'")],
)
def test_command__what_is_wrong_is_named(
    arguments: tuple[str, ...], named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit) as ended:
        command(monkeypatch, *arguments)
    assert str(ended.value).startswith(named)


@pytest.mark.integration
def test_curve__goes_to_the_end_of_the_run_and_no_further(tmp_path: Path) -> None:
    run = tmp_path / "run"
    config = tiny(run, rules="mini", draw_scores=False)
    options = Options(points=2, run_dir=run)
    result = curve(options, config)
    decisions = [point["decisions"] for point in result["points"]]
    assert decisions == sorted(set(decisions))
    assert decisions[-1] == config.total_decisions
    tree = tree_of()
    final = exploitability(tree, of_agent(tree, load_policy(run / "checkpoint")))
    assert result["points"][-1]["sampled"]["exploitability"] == final.mean
    assert curve(options, config) == result
    picture = tmp_path / "curve.png"
    draw(result, picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
