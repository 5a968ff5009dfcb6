"""Pictures of results and positions: what is in them, that both kinds are written, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

import matplotlib as mpl

from smear_env import make_rules, record_match
from tests.plots_runs import drawn, end_of
from tests.training_runs import ROOT
from training.plots import crosstable, position
from training.plots.__main__ import main
from training.plots.crosstable import read_result, table_of
from training.plots.position import position_of
from training.plots.style import SHADES, STROKES

RESULT = ROOT / "benchmarks" / "results" / "four_point.json"


def command(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    monkeypatch.setattr("sys.argv", ["plots", *words])
    main()


# ------------------------------------------------------------------------------------------------ style


def test_strokes__are_parted_without_colour() -> None:
    assert len({str(one["linestyle"]) for one in STROKES}) == len(STROKES)
    assert len({one["marker"] for one in STROKES}) == len(STROKES)


def test_shades__rise_in_lightness() -> None:
    colours = mpl.colormaps[SHADES](np.linspace(0, 1, 64))[:, :3]
    assert (np.diff(colours @ [0.299, 0.587, 0.114]) > 0).all()


# ------------------------------------------------------------------------------------------------ cross tables


def crossplay() -> dict[str, Any]:
    def couple(first: str, second: str, points: float) -> dict[str, Any]:
        interval = [points - 0.1, points + 0.1]
        return {"agents": [first, second], "points_per_deal": points, "interval": interval}

    return {
        "format": "smear-crossplay/1",
        "rules": "four_point",
        "pairs": 20,
        "deals": {"seed": 1},
        "agents": ["a", "b", "c"],
        "partners": ["expert"],
        "gap": {"points_per_deal": 0.2, "interval": [0.1, 0.3]},
        "couples": [
            couple("a", "b", -0.1),
            couple("a", "c", -0.2),
            couple("b", "c", -0.3),
            *(couple(one, "expert", -1.0) for one in "abc"),
        ],
    }


def test_cross_table__of_a_tournament_is_row_against_column_best_first() -> None:
    result = read_result(RESULT)
    table = table_of(result)
    assert table.rows == table.columns == tuple(one["agent"] for one in result["ratings"])
    assert np.isnan(table.points.diagonal()).all()
    np.testing.assert_allclose(
        table.points + table.points.T, np.where(np.eye(len(table.rows)), np.nan, 0), atol=1e-9
    )
    row, column = table.rows.index("passer"), table.columns.index("greedy")
    (cell,) = (one for one in result["cells"] if one["agent"] == "passer" and one["against"] == "greedy")
    assert table.points[row, column] == cell["points_per_deal"]
    assert [table.low[row, column], table.high[row, column]] == cell["interval"]


def test_cross_table__of_cross_play_is_of_partners_in_either_order() -> None:
    table = table_of(crossplay())
    assert table.rows == ("a", "b", "c")
    assert table.columns == ("a", "b", "c", "expert")
    nan = np.nan
    expected = [[nan, -0.1, -0.2, -1], [-0.1, nan, -0.3, -1], [-0.2, -0.3, nan, -1]]
    np.testing.assert_array_equal(table.points, expected)


@pytest.mark.parametrize("kind", ["tournament", "crossplay"])
def test_cross_table__is_drawn_with_every_figure_and_interval(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "result.json"
    path.write_text(RESULT.read_text() if kind == "tournament" else json.dumps(crossplay()))
    with drawn(crosstable, monkeypatch) as figures:
        command(monkeypatch, "crosstable", str(path), "--out", str(tmp_path / "table"))
    assert (tmp_path / "table.png").read_bytes().startswith(b"\x89PNG")
    assert "<text" not in (tmp_path / "table.svg").read_text()
    texts = [text.get_text() for axes in figures[0].axes for text in axes.texts]
    table = table_of(read_result(path))
    for row, column in np.argwhere(~np.isnan(table.points)):
        assert f"{table.points[row, column]:+.2f}" in texts
        assert f"{table.low[row, column]:+.2f} to {table.high[row, column]:+.2f}" in texts


def test_same_result__gives_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "result.json"
    path.write_text(json.dumps(crossplay()))
    for name in ("one", "two"):
        command(monkeypatch, "crosstable", str(path), "--out", str(tmp_path / name))
    for ending in (".png", ".svg"):
        assert (tmp_path / f"one{ending}").read_bytes() == (tmp_path / f"two{ending}").read_bytes()


def test_cross_table__names_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text.json").write_text("points")
    (tmp_path / "other.json").write_text('{"format": "smear-evaluation/1"}')
    (tmp_path / "half.json").write_text('{"format": "smear-tournament/1", "ratings": []}')
    for name, named in (
        ("nowhere.json", "nowhere.json' is not readable"),
        ("text.json", "text.json' is not readable as JSON"),
        ("other.json", "format='smear-evaluation/1'"),
        ("half.json", "not whole"),
    ):
        assert named in end_of(
            monkeypatch, "crosstable", str(tmp_path / name), "--out", str(tmp_path / "x.png")
        )


# ------------------------------------------------------------------------------------------------ match equity


def test_equity__names_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "must hold one table, name the file: none" in end_of(monkeypatch, "equity", str(tmp_path))
    for stock in (2, 3):
        (tmp_path / f"equity-stock_to_bidder={stock}.json").write_text("{}")
    told = end_of(monkeypatch, "equity", str(tmp_path))
    assert "equity-stock_to_bidder=2.json, equity-stock_to_bidder=3.json" in told
    assert "stock_to_bidder=2.json" in end_of(
        monkeypatch,
        "equity",
        str(tmp_path / "equity-stock_to_bidder=2.json"),
        "--out",
        str(tmp_path / "x.png"),
    )


# ------------------------------------------------------------------------------------------------ positions


@pytest.mark.parametrize("preset", ["four_point", "schmier"])
def test_position__has_the_legal_actions_and_the_players_probabilities(preset: str) -> None:
    match = record_match(preset, 5, agents="greedy", legal=True, max_deals=3)
    deal = match["deals"][1]
    for step, (seat, action) in enumerate(deal["actions"]):
        found = position_of(match, 1, step, ["random", "greedy"])
        assert " ".join(sorted(found.actions)) == deal["legal"][step]
        assert found.taken == action
        assert f"seat {seat} to act" in found.table[0]
        np.testing.assert_allclose(found.probabilities[0], 1 / len(found.actions), rtol=1e-6)
        assert found.actions[found.probabilities[1].argmax()] == action, "greedy does again what it did"


def test_position__begins_with_the_scores_before_the_deal() -> None:
    match = record_match("four_point", 5, agents="greedy", max_deals=3)
    scores = match["deals"][1]["scores"]
    (line,) = (line for line in position_of(match, 2, 0, ["greedy"]).table if line.startswith("to 15"))
    assert line.endswith(f"seats 0+2: {scores[0]}  seats 1+3: {scores[1]}")


def test_position__shows_no_card_that_the_seat_does_not_see() -> None:
    match = record_match("schmier", 2, agents="greedy", max_deals=1)
    deal = match["deals"][0]
    rules = make_rules("schmier")
    seen_cards: set[str] = set()
    for step, (seat, _) in enumerate(deal["actions"]):
        text = " ".join(position_of(match, 0, step, ["random"]).table).split()
        named = {word.strip(",()") for word in text} & set(rules.card_names)
        played = {card for _, card in deal["actions"][-rules.players * rules.hand_size :][: max(step, 0)]}
        own = set(deal["hands"][seat].split()) | set(deal["stock"].split())
        seen_cards |= named
        assert named <= own | played, step
    assert seen_cards


def test_position__is_drawn_with_a_bar_for_each_action(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "match.jsonl"
    match = record_match("four_point", 5, agents="greedy", max_deals=1)
    path.write_text(json.dumps(match) + "\n")
    words = [
        "position",
        "greedy",
        "random",
        "--transcript",
        str(path),
        "--step",
        "1",
        "--out",
        str(tmp_path / "p"),
    ]
    with drawn(position, monkeypatch) as figures:
        command(monkeypatch, *words)
    expected = position_of(match, 0, 1, ["greedy", "random"])
    order = np.argsort(-expected.probabilities[0], kind="stable")
    for axes, chances in zip(figures[0].axes, expected.probabilities, strict=True):
        np.testing.assert_allclose([bar.get_width() for bar in axes.patches], chances[order])
    names = [label.get_text() for label in figures[0].axes[0].get_yticklabels()]
    assert names == [expected.actions[one] for one in order]
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "p.svg").read_text()


def test_position__of_a_seed_is_of_the_match_that_the_player_plays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with drawn(position, monkeypatch) as figures:
        words = ["--rules", "mini", "--options", "stock_to_bidder=0", "--seed", "4", "--match", "1"]
        command(monkeypatch, "position", "greedy", *words, "--out", str(tmp_path / "p.png"))
    rules = make_rules("mini", stock_to_bidder=0)
    match = record_match(rules, 4, 1, agents="greedy")
    told = figures[0].get_suptitle()
    assert all(
        card in told for card in match["deals"][0]["hands"][match["deals"][0]["actions"][0][0]].split()
    )


def test_position__names_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "match.jsonl"
    match = record_match("four_point", 5, agents="greedy", max_deals=1)
    path.write_text(json.dumps(match) + "\n")
    false = tmp_path / "false.jsonl"
    false.write_text(json.dumps({**match, "winner": 1}) + "\n")
    given = ["--transcript", str(path)]
    for words, named in (
        ([], "players=()"),
        (["greedy"], "rules='' and 'greedy' is no checkpoint"),
        (["nobody", *given], "'nobody'"),
        (["greedy", *given, "--match", "1"], "match=1"),
        (["greedy", *given, "--deal", "4"], "deal=4"),
        (["greedy", *given, "--step", "400"], "step=400"),
        (["greedy", *given, "--step", "-1"], "step=-1"),
        (["greedy", "--transcript", str(tmp_path / "no")], "no' is not readable"),
        (["greedy", "--transcript", str(RESULT)], "no JSON"),
        (["greedy", "--transcript", str(false)], "winner"),
        (["schmier", *given], "schmier"),
    ):
        assert named in end_of(monkeypatch, "position", *words, "--out", str(tmp_path / "x.png")), named
