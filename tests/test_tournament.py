"""Tournaments: who meets whom, cells that are the evaluations, ratings that recover the truth, table and picture."""

from __future__ import annotations

import io
import json
from collections import Counter
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smear_env import make_rules

pytest.importorskip("scipy")

from rich.console import Console

from training.evaluate import evaluate
from training.evaluation import figures
from training.evaluation.players import Player
from training.evaluation.ratings import rate
from training.evaluation.run import Means
from training.evaluation.tables import print_tables
from training.leaderboard import leaderboard
from training.tournament import lineups_of, main, tournament

NAMES = ("passer", "greedy", "random")


@pytest.fixture(autouse=True)
def fewer_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "RESAMPLES", 300)


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    before, figures.RESAMPLES = figures.RESAMPLES, 300
    found = {
        preset: tournament(NAMES, make_rules(preset), pairs=40, matches=matches, deals="fixed")
        for preset, matches in (("four_point", 0), ("schmier", 4), ("mini", 0))
    }
    figures.RESAMPLES = before
    return found


# ------------------------------------------------------------------------------------------------ who meets whom


@pytest.mark.parametrize("teams", [2, 3])
def test_lineups__seat_everybody_everywhere_alike(teams: int) -> None:
    players = [Player(name) for name in ("a", "b", "c", "d")]
    lineups = lineups_of(players, teams)
    assert len(set(lineups)) == len(lineups)
    seats = Counter((player, team) for lineup in lineups for team, player in enumerate(lineup))
    assert len(set(seats.values())) == 1
    meetings = Counter(pair for lineup in lineups for pair in permutations(set(lineup), 2))
    assert len(set(meetings.values())) == 1
    if teams == 3:
        for trio in combinations(players, 3):
            assert sum(set(lineup) == set(trio) for lineup in lineups) == 6


@pytest.mark.parametrize("preset", ["four_point", "schmier", "mini"])
def test_cells__are_what_evaluate_says(preset: str, results: dict[str, Any]) -> None:
    cells = {(one["agent"], one["against"]): one for one in results[preset]["cells"]}
    assert set(cells) == set(permutations(NAMES, 2))
    matches = results[preset]["matches"]
    for pair in (("greedy", "passer"), ("random", "greedy")):
        alone = evaluate(*pair, make_rules(preset), pairs=40, matches=matches, deals="fixed")
        shared = cells[pair].keys() & alone.keys()
        assert {key: cells[pair][key] for key in shared} == {key: alone[key] for key in shared}
        assert "interval" in shared


def test_cells__of_two_teams_are_each_others_negative(results: dict[str, Any]) -> None:
    cells = {(one["agent"], one["against"]): one["points_per_deal"] for one in results["four_point"]["cells"]}
    for pair, points in cells.items():
        assert points == pytest.approx(-cells[pair[::-1]])


def test_triples__share_points_and_matches_among_three(results: dict[str, Any]) -> None:
    (triple,) = results["schmier"]["triples"]
    assert triple["agents"] == list(NAMES)
    assert sum(triple["points_per_deal"]) == pytest.approx(0, abs=1e-9)
    assert sum(triple["equity"]) == pytest.approx(1)
    by_name = dict(zip(NAMES, triple["points_per_deal"], strict=True))
    assert by_name["greedy"] > by_name["passer"] > by_name["random"]
    assert triple["equity"][1] > 0.5
    for value, (low, high) in zip(triple["equity"], triple["equity_intervals"], strict=True):
        assert low <= value <= high
    assert "triples" not in results["four_point"]


def test_tournament__is_resumed_and_repeats(tmp_path: Path, results: dict[str, Any]) -> None:
    rules = make_rules("four_point")
    tournament(NAMES[:2], rules, pairs=40, deals="fixed", means=Means(folder=tmp_path))
    few = set(tmp_path.rglob("*.safetensors"))
    again = tournament(NAMES, rules, pairs=40, deals="fixed", means=Means(folder=tmp_path))
    assert len(few) == 2
    assert len(set(tmp_path.rglob("*.safetensors"))) == 6
    assert again == results["four_point"]


# ------------------------------------------------------------------------------------------------ ratings


@pytest.mark.parametrize("teams", [2, 3])
def test_ratings__recover_true_ones_with_errors_that_hold(teams: int) -> None:
    players = [Player(name) for name in ("a", "b", "c", "d")]
    true = np.array([1.5, 0.2, -0.4, -1.3])
    lineups, covered, errors = lineups_of(players, teams), 0, []
    for repetition in range(60):
        rng = np.random.default_rng(repetition)
        points = {}
        # Luck of a deal that all its tables share, and of each table.
        shared = rng.normal(0, 1, (80, len(players)))
        for lineup in lineups:
            strength = np.array([(true + shared)[:, players.index(one)] for one in lineup]).T
            strength += rng.normal(0, 2, strength.shape)
            points[lineup] = strength - (strength.sum(axis=1, keepdims=True) - strength) / (teams - 1)
        rated = rate(points, players, repetition)
        assert rated.mean.sum() == pytest.approx(0, abs=1e-9)
        covered += int(((rated.low <= true) & (true <= rated.high)).sum())
        errors.append((rated.mean - true) / rated.error)
    assert 0.89 <= covered / (60 * 4) <= 0.98
    assert 0.85 <= np.std(errors) <= 1.15


def test_ratings__of_those_who_never_met_are_refused() -> None:
    a, b, c, d = (Player(name) for name in "abcd")
    points = np.zeros((5, 2))
    with pytest.raises(ValueError, match="cannot be rated together"):
        rate({(a, b): points, (c, d): points}, [a, b, c, d], 1)


def test_ratings__are_best_first_and_in_the_order_of_strength(results: dict[str, Any]) -> None:
    for preset in ("four_point", "schmier"):
        assert [one["agent"] for one in results[preset]["ratings"]] == ["greedy", "passer", "random"]
        assert all(one["standard_error"] > 0 for one in results[preset]["ratings"])


# ------------------------------------------------------------------------------------------------ what is shown


def test_command__writes_json_picture_and_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    for name in ("table.png", "table.svg"):
        words = ["--agents", *NAMES, "--pairs", "20", "--runs", str(tmp_path / "runs"), "--rules", "schmier"]
        words += [
            "--json",
            str(tmp_path / "result.json"),
            "--picture",
            str(tmp_path / name),
            "--matches",
            "2",
        ]
        monkeypatch.setattr("sys.argv", ["tournament", *words])
        main()
    said = capsys.readouterr().out
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["format"] == "smear-tournament/1"
    for one in result["ratings"]:
        assert f"{one['rating']:+.2f} ± {one['standard_error']:.2f}" in said
    assert "equity" in said
    assert (tmp_path / "table.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "table.svg").read_text()
    assert (tmp_path / "table.svg").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--agents", "greedy"], "agents='greedy'"),
        (["--agents", "greedy", "greedy"], "agents='greedy greedy'"),
        (["--agents", "greedy", "nobody"], "'nobody'"),
        (["--agents", "greedy", "passer", "--matches", "1"], "matches=1"),
        (["--agents", "greedy", "passer", "--pairs", "20000"], "pairs=20000"),
        (["--agents", "greedy", "passer", "--picture", "table.pdf"], "'table.pdf'"),
    ],
)
def test_command__names_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], named: str
) -> None:
    monkeypatch.setattr("sys.argv", ["tournament", *words, "--runs", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert str(ended.value.code).startswith("error: ")
    assert named in str(ended.value.code)


def test_leaderboard__has_every_result_and_nothing_else(tmp_path: Path, results: dict[str, Any]) -> None:
    assert "No results" in leaderboard(tmp_path)
    (tmp_path / "a.json").write_text(json.dumps(results["four_point"]))
    (tmp_path / "b.json").write_text(json.dumps(results["schmier"]))
    single = evaluate("greedy", "passer", make_rules("mini"), pairs=30)
    (tmp_path / "c.json").write_text(json.dumps(single))
    (tmp_path / "timing.json").write_text(json.dumps({"rows": []}))
    page = leaderboard(tmp_path)
    assert page.index("## `four_point`") < page.index("## `schmier`") < page.index("## Single comparisons")
    for result in (results["four_point"], results["schmier"]):
        assert result["deals"]["sha256"][:8] in page
        for cell in result["cells"]:
            low, high = cell["interval"]
            assert f"{cell['points_per_deal']:+.2f} [{low:+.2f}, {high:+.2f}]" in page
        for one in result["ratings"]:
            assert f"{one['rating']:+.2f} ± {one['standard_error']:.2f}" in page
    assert f"{single['points_per_deal']:+.3f} [" in page
    assert "equity" in page
    (tmp_path / "d.json").write_text("{")
    with pytest.raises(ValueError, match=r"d\.json: no JSON"):
        leaderboard(tmp_path)


def test_forfeits__are_shown_where_the_figures_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wrong_player.py").write_text("def choose(observation, mask):\n    return 10**6\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    result = tournament(("passer", "wrong_player:choose"), make_rules("mini"), pairs=3)
    assert result["forfeits"]["wrong_player:choose"]["count"] == 6
    (tmp_path / "a.json").write_text(json.dumps(result))
    assert "`wrong_player:choose` 6 plays" in leaderboard(tmp_path)
    file = io.StringIO()
    print_tables(result, Console(file=file, width=200))
    assert "wrong_player:choose forfeited 6 plays (6 illegal)" in file.getvalue()


def test_leaderboard__counts_forfeits_of_deals_and_matches_and_keeps_cells_whole(tmp_path: Path) -> None:
    result = {
        "format": "smear-evaluation/2",
        "agent": "process:a | b",
        "against": "greedy",
        "rules": "mini",
        "options": {},
        "deals": {"fresh": True, "seed": 1},
        "pairs": 2,
        "commit": "0" * 40,
        "points_per_deal": 0.0,
        "interval": [0.0, 0.0],
        "forfeits": {"agent": {"count": 3}},
    }
    (tmp_path / "one.json").write_text(json.dumps(result))
    assert r"| `process:a \| b` | `greedy` | mini |" in leaderboard(tmp_path)
    assert "| 3 | `000000000000` |" in leaderboard(tmp_path)
    (tmp_path / "one.json").write_text(json.dumps({"format": "smear-evaluation/2"}))
    with pytest.raises(ValueError, match=r"one\.json: no whole result"):
        leaderboard(tmp_path)
    (tmp_path / "one.json").write_text(json.dumps({"format": "smear-tournament/1"}))
    with pytest.raises(ValueError, match=r"one\.json: no whole result"):
        leaderboard(tmp_path)


def test_tables__show_names_as_they_are(results: dict[str, Any]) -> None:
    text = json.dumps(results["schmier"]).replace('"greedy"', '"process:a [/b] [red]"')
    named = json.loads(text) | {"forfeits": {}}
    console = Console(file=io.StringIO(), width=200)
    print_tables(named, console)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().count("process:a [/b] [red]") >= 3
