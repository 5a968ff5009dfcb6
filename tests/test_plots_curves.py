"""Learning curves: which runs are seeds of one configuration, what their mean and band are, and what is drawn."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")
pytest.importorskip("tensorboard")

from tests.plots_runs import drawn, end_of, write_events, write_run
from training.plots import curves
from training.plots.__main__ import main
from training.plots.curves import TAGS, Curve, curve_of, draw_curves, panels_of
from training.plots.runs import as_plain, group_runs, read_runs

STRENGTH = "strength/greedy"


def three_seeds(folder: Path) -> list[Path]:
    """Three seeds whose strength is 1, 2, 3 and then 2, 4, 6."""
    return [
        write_run(folder / f"run-{seed}", seed, {STRENGTH: {100: seed + 1.0, 200: 2 * (seed + 1.0)}})
        for seed in range(3)
    ]


def curve(paths: list[Path], tag: str = STRENGTH) -> Curve:
    (group,) = group_runs(read_runs(paths, TAGS))
    found = curve_of(group.runs, tag)
    assert found is not None
    return found


def test_curve__is_the_mean_of_the_seeds_with_students_interval(tmp_path: Path) -> None:
    found = curve(three_seeds(tmp_path))
    np.testing.assert_array_equal(found.decisions, [100, 200])
    np.testing.assert_allclose(found.mean, [2, 4])
    # t(0.975, 2 degrees of freedom) = 4.302653; standard deviations 1 and 2 over the root of 3.
    half = 4.302653 / np.sqrt(3)
    np.testing.assert_allclose(found.low, [2 - half, 4 - 2 * half], rtol=1e-6)
    np.testing.assert_allclose(found.high, [2 + half, 4 + 2 * half], rtol=1e-6)
    assert [seed.values[0] for seed in found.seeds] == [1, 2, 3]


def test_curve__of_one_seed_has_the_interval_of_its_evaluation(tmp_path: Path) -> None:
    bounds = {f"{STRENGTH}_low": {100: 0.5}, f"{STRENGTH}_high": {100: 1.75}}
    found = curve([write_run(tmp_path / "run", 0, {STRENGTH: {100: 1.0, 200: 2.0}, **bounds})])
    np.testing.assert_array_equal(found.low, [0.5, np.nan])
    np.testing.assert_array_equal(found.high, [1.75, np.nan])


def test_curve__ends_where_the_shortest_seed_does(tmp_path: Path) -> None:
    long = write_run(tmp_path / "a", 0, {STRENGTH: {100: 1.0, 200: 2.0, 300: 3.0}})
    short = write_run(tmp_path / "b", 1, {STRENGTH: {100: 3.0, 200: 4.0}})
    found = curve([long, short])
    np.testing.assert_array_equal(found.decisions, [100, 200])
    np.testing.assert_allclose(found.mean, [2, 3])
    assert found.seeds[0].decisions[-1] == 300


def test_curve__of_seeds_without_a_common_point_is_refused(tmp_path: Path) -> None:
    paths = [write_run(tmp_path / str(seed), seed, {STRENGTH: {100 + seed: 1.0}}) for seed in range(2)]
    with pytest.raises(ValueError, match="same numbers of decisions"):
        curve(paths)


def test_resumed_run__counts_what_was_trained_again_once(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", 0, {STRENGTH: {100: 1.0, 200: 2.0, 300: 3.0, 400: 4.0}})
    write_events(folder, {STRENGTH: {300: 30.0, 500: 50.0}}, purge_step=201)
    found = curve([folder])
    np.testing.assert_array_equal(found.decisions, [100, 200, 300, 500])
    np.testing.assert_array_equal(found.mean, [1, 2, 30, 50])


def test_evaluation_at_the_end__holds_over_one_before_at_the_same_decisions(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", 0, {STRENGTH: {100: 1.0}})
    write_events(folder, {STRENGTH: {100: 1.5}})
    np.testing.assert_array_equal(curve([folder]).mean, [1.5])


def test_groups__are_of_equal_configuration_whatever_seed_and_folder(tmp_path: Path) -> None:
    runs = three_seeds(tmp_path)
    runs.append(write_run(tmp_path / "other", 0, {STRENGTH: {100: 1.0}}, entropy=0.01))
    groups = group_runs(read_runs(runs, TAGS))
    assert [[run.seed for run in group.runs] for group in groups] == [[0, 1, 2], [0]]
    assert [group.name for group in groups] == ["entropy=0.05", "entropy=0.01"]
    named = group_runs(read_runs(runs, TAGS), ["usual", "less"])
    assert [group.name for group in named] == ["usual", "less"]


def test_groups__that_differ_in_much_are_called_by_their_runs(tmp_path: Path) -> None:
    much = {"entropy": 0.01, "clip": 0.1, "epochs": 7, "games": 64}
    runs = [write_run(tmp_path / "one", 0, {STRENGTH: {1: 1.0}})]
    runs.append(write_run(tmp_path / "two", 0, {STRENGTH: {1: 1.0}}, **much))
    assert [group.name for group in group_runs(read_runs(runs, TAGS))] == ["one", "two"]


def test_panels__are_strength_first_without_what_no_run_has(tmp_path: Path) -> None:
    series = {
        "policy/regret": {1: 0.0, 2: 0.0},
        "policy/entropy": {1: 1.0, 2: 0.5},
        "strength/expert": {2: -1.0},
        STRENGTH: {2: 1.0},
        f"{STRENGTH}_low": {2: 0.5},
        "loss/value": {1: 3.0},
    }
    run = write_run(tmp_path / "run", 0, series, baselines=["greedy", "expert"])
    groups = group_runs(read_runs([run], TAGS))
    assert panels_of(groups) == [STRENGTH, "strength/expert", "policy/entropy"]
    assert panels_of(group_runs(read_runs([run], ["loss/*"]))) == ["loss/value"]
    taught = write_run(tmp_path / "taught", 0, series | {"policy/regret": {1: 0.25}}, teacher=1.0)
    groups = group_runs(read_runs([run, taught], TAGS))
    assert panels_of(groups)[-1] == "policy/regret"
    assert [curve_of(group.runs, "policy/regret") is None for group in groups] == [True, False]


def test_picture__shows_mean_seeds_and_band(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    groups = group_runs(read_runs(three_seeds(tmp_path), TAGS))
    with drawn(curves, monkeypatch) as figures:
        draw_curves(groups, [tmp_path / "curves.png", tmp_path / "curves.svg"])
    (figure,) = figures
    (axes,) = figure.axes
    shown = [np.asarray(line.get_ydata()).tolist() for line in axes.lines]
    assert shown[:4] == [[1, 2], [2, 4], [3, 6], [2, 4]]
    assert np.asarray(axes.lines[3].get_xdata()).tolist() == [1e-4, 2e-4]
    (band,) = axes.collections
    edges = band.get_paths()[0].vertices
    assert np.asarray(edges)[:, 1].max() == pytest.approx(4 + 2 * 4.302653 / np.sqrt(3))
    assert axes.get_title() == "against greedy"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["four_point (3 seeds)"]


def test_command__writes_both_kinds_and_the_data_to_draw_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, data = three_seeds(tmp_path), tmp_path / "data.json"
    words = [str(run) for run in runs]
    monkeypatch.setattr(
        "sys.argv", ["plots", "curves", *words, "--json", str(data), "--out", str(tmp_path / "a")]
    )
    main()
    assert "a.png" in capsys.readouterr().out
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    drawing = (tmp_path / "a.svg").read_text()
    assert "<svg" in drawing
    assert "<text" not in drawing, "letters are outlines, so that no font is needed"
    assert str(tmp_path) not in data.read_text(), "where a run lay on this machine is nobody's concern"
    again = read_runs([data], TAGS)
    assert as_plain(again) == json.loads(data.read_text()) == as_plain(read_runs(runs, TAGS))
    monkeypatch.setattr("sys.argv", ["plots", "curves", str(data), "--out", str(tmp_path / "b.svg")])
    main()
    assert (tmp_path / "b.svg").read_text() == drawing
    assert not (tmp_path / "b.png").exists()


def test_command__names_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = write_run(tmp_path / "run", 0, {"loss/value": {1: 1.0}})
    good = write_run(tmp_path / "good", 0, {STRENGTH: {1: 1.0}})
    twin = write_run(tmp_path / "twin", 0, {STRENGTH: {1: 1.0}})
    (tmp_path / "empty" / "tensorboard").mkdir(parents=True)
    write_events(tmp_path / "begun", {STRENGTH: {1: 1.0}})
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"format": "smear-tournament/1"}')
    damaged = tmp_path / "damaged.json"
    damaged.write_text('{"format": "smear-curves/1", "runs": [{"name": "a"}]}')
    for words, named in (
        ([], "runs=()"),
        ([tmp_path / "nowhere"], "nowhere' has no TensorBoard files"),
        ([tmp_path / "empty"], "empty' has no TensorBoard files"),
        ([tmp_path / "begun"], "begun' has no checkpoint yet"),
        ([run], "'run' has no metric like strength/*"),
        ([good, "--tags", "policy/entropy"], "'good' has no metric like policy/entropy"),
        ([good, twin], "'good' and 'twin' have one configuration and seed=0"),
        ([good, "--names", "a", "b"], "names='a b'"),
        ([wrong], "format='smear-tournament/1', expected 'smear-curves/1'"),
        ([damaged], "is not whole"),
        ([tmp_path / "good" / "checkpoint" / "policy.json"], "format='smear-policy/1'"),
        ([good, "--out", tmp_path / "curves.pdf"], "curves.pdf' must end with .png or .svg"),
    ):
        assert named in end_of(monkeypatch, "curves", *map(str, words)), named
