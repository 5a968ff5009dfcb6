"""Who is told how a run goes: what trackers hear and when, and what TensorBoard keeps of it."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from smear_env import FOUR_POINT, PRESETS, load_policy, record_match, show_match

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams import plugin_data_pb2

from tests.training_runs import ROOT, logged, quiet, tiny
from training.evaluation.players import strength_name
from training.metrics import DealCounts
from training.plots.baselines import baselines_image
from training.ppo import main, train
from training.trackers import METHODS, Tracker, Trackers, make_trackers
from training.trainer import Trainer


class Recorder(Tracker):
    """Keeps every call."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def __getattribute__(self, name: str) -> Any:
        if name not in METHODS:
            return super().__getattribute__(name)
        return lambda *arguments: self.calls.append((name, *arguments))

    def of(self, method: str) -> list[tuple[Any, ...]]:
        return [call[1:] for call in self.calls if call[0] == method]


class Failing(Tracker):
    """Cannot be told of an update."""

    def on_update(self, decisions: int, metrics: Any) -> None:
        raise ConnectionError("no network")

    def on_end(self, results: Any) -> None:
        raise AssertionError("told after it had failed")


class Unwilling(Tracker):
    """Cannot begin."""

    def on_start(self, config: Any, decisions: int) -> None:
        raise PermissionError("not signed in")


made: list[Recorder] = []


def make_recorder() -> Recorder:
    made.append(Recorder())
    return made[-1]


RECORDER = f"{__name__}:make_recorder"


@pytest.fixture(autouse=True)
def no_recorders() -> None:
    made.clear()


# ------------------------------------------------------------------------------------------------ what is told


def test_tracker__is_told_the_run_in_order(tmp_path: Path) -> None:
    config = tiny(
        tmp_path, tracker=("tensorboard", RECORDER), evaluate_pairs=4, baselines=("passer", "random")
    )
    results = train(config, console=quiet())
    (told,) = made
    assert told.calls[0] == ("on_start", config, 0)
    assert told.calls[-1] == ("on_end", results)
    assert len(told.of("on_start")) == len(told.of("on_end")) == 1
    assert [one["against"] for one in results] == ["passer", "random"]
    # The metrics are those that TensorBoard has, at the same decisions.
    steps: dict[str, list[int]] = {}
    for decisions, metrics in told.of("on_update"):
        for name in metrics:
            steps.setdefault(name, []).append(decisions)
    assert steps == logged(tmp_path)
    assert steps["loss/value"] == [512, 1024, 1536, 2048]
    last = dict(told.of("on_update"))[2048]
    assert (last["strength/random"], last["strength/random_low"], last["strength/random_high"]) == (
        results[1]["points_per_deal"],
        *results[1]["interval"],
    )
    ((decisions, name, image),) = told.of("on_image")
    assert (decisions, name, image.dtype, image.shape[2]) == (2048, "strength/table", np.uint8, 3)


def test_tracker__is_told_all_calls_as_histograms(tmp_path: Path) -> None:
    train(tiny(tmp_path, tracker=(RECORDER,), auction_by_chance=1.0), console=quiet())
    found = made[0].of("on_histogram")
    assert [(decisions, name) for decisions, name, *_ in found] == [
        (decisions, f"calls/seat_{seat}") for decisions in (512, 1024, 1536, 2048) for seat in (1, 2, 3, 4)
    ]
    for _, _, values, counts in found:
        assert values.tolist() == [0, 2, 3, 4]
        assert counts.shape == (4,)
    assert sum(counts.sum() for *_, counts in found) > 200
    assert not (tmp_path / "tensorboard").exists()


def test_histograms__count_every_call_of_a_seat() -> None:
    counts = DealCounts("schmier", np.ones(1, np.bool_))
    counts.calls[1, 3, 0], counts.calls[1, 5, 0], counts.calls[1, 5, 2] = 4, 3, 2
    found = counts.histograms()
    rules = PRESETS["schmier"]
    assert list(found) == [f"calls/seat_{seat}" for seat in range(1, 7)]
    values, times = found["calls/seat_2"]
    assert values.tolist() == [0, *range(rules.min_bid, rules.max_bid + 1)]
    assert dict(zip(values.tolist(), times.tolist(), strict=True)) == {
        **dict.fromkeys(values.tolist(), 0),
        0: 7,
        rules.min_bid + 1: 2,
    }


def test_tracker__is_shown_a_deal_played_by_the_policy_that_was_saved(tmp_path: Path) -> None:
    train(tiny(tmp_path, tracker=(RECORDER,), seed=3, checkpoint_minutes=1e-9), console=quiet())
    texts = made[0].of("on_text")
    assert [(decisions, name) for decisions, name, _ in texts] == [
        (decisions, "deal/sample") for decisions in (512, 1024, 1536, 2048, 2048)
    ]
    deal = record_match(FOUR_POINT, 3, agents=load_policy(tmp_path), max_deals=1)
    assert texts[-1][2] == show_match(deal)
    hands = {tuple(re.findall(r"seat \d \(team.*", text)) for *_, text in texts}
    assert len(hands) == 1, "the same cards each time"
    assert len(hands.pop()) == 4


def test_tracker__of_a_run_that_goes_on_is_told_where(tmp_path: Path) -> None:
    train(tiny(tmp_path, tracker=(RECORDER,), stop_after=1), console=quiet())
    assert made[0].of("on_end") == [([],)]
    # Resumed, the run has the trackers it was started with, or those that are given.
    train(tiny(tmp_path, stop_after=1), resume=True, console=quiet())
    config = tiny(tmp_path, tracker=(RECORDER, RECORDER))
    train(config, resume=True, given=frozenset({"tracker"}), console=quiet())
    assert [told.of("on_start")[0][1] for told in made] == [0, 512, 1024, 1024]
    assert [len(told.of("on_update")) for told in made] == [1, 1, 2, 2]


def test_tracker__is_told_the_end_of_a_run_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(Trainer, "iterate", fails)
    with pytest.raises(RuntimeError, match="out of memory"):
        train(tiny(tmp_path, tracker=(RECORDER,)), console=quiet())
    assert [call[0] for call in made[0].calls] == ["on_start", "on_end"]
    assert made[0].of("on_end") == [([],)]


# ------------------------------------------------------------------------------------------------ what goes wrong


def test_tracker__that_fails_is_told_no_more_and_the_run_goes_on(tmp_path: Path) -> None:
    console = quiet()
    train(tiny(tmp_path, tracker=(f"{__name__}:Failing", RECORDER)), console=console)
    assert len(made[0].of("on_update")) == 4
    said = console.file.getvalue()
    assert said.count("tracker Failing failed and is told no more: ConnectionError: no network") == 1


def test_tracker__that_cannot_begin_ends_the_run_before_it_trains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Trainer, "iterate", lambda *_: pytest.fail("it trains"))
    with pytest.raises(PermissionError, match="not signed in"):
        train(tiny(tmp_path, tracker=(RECORDER, f"{__name__}:Unwilling")), console=quiet())
    assert made[0].of("on_end") == [([],)], "the one that had begun is told"


def test_trackers__of_none_are_told_nothing() -> None:
    nobody = Trackers((), quiet())
    assert not nobody
    nobody.on_update(3, {})
    nobody.on_end([])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wandb", "tracker='wandb' is neither 'tensorboard' nor module:function"),
        ("no-module:make", "is neither"),
        (":make", "is neither"),
        ("absent_module:make", "tracker='absent_module:make' is not there: No module named"),
        (f"{__name__}:absent", "is not there: .* no attribute 'absent'"),
        (f"{__name__}:RECORDER", "is no function that returns a tracker"),
        ("builtins:dict", "returned {}, which lacks on_start, on_update, .*: derive it from"),
    ],
)
def test_tracker__that_is_none_is_refused_before_training(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match=message):
        make_trackers([name])
    monkeypatch.setattr(Trainer, "__init__", lambda *_: pytest.fail("it begins"))
    monkeypatch.setattr(sys, "argv", ["ppo", "--run-dir", str(tmp_path), "--tracker", "tensorboard", name])
    with pytest.raises(SystemExit, match=f"error: .*{message}"):
        main()


def test_tracker__hears_every_method_as_the_base_has_it() -> None:
    for method in METHODS:
        theirs, ours = (inspect.signature(getattr(one, method)) for one in (Tracker, Trackers))
        assert theirs == ours
    assert {name for name in vars(Tracker) if name.startswith("on_")} == set(METHODS)


# ------------------------------------------------------------------------------------------------ TensorBoard


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> EventAccumulator:
    folder = tmp_path_factory.mktemp("run")
    train(tiny(folder, evaluate_pairs=4, baselines=("passer",), auction_by_chance=1.0), console=quiet())
    accumulator = EventAccumulator(str(folder / "tensorboard"), size_guidance={"histograms": 0})
    accumulator.Reload()
    return accumulator


def test_tensorboard__has_the_configuration_as_hyperparameters(events: EventAccumulator) -> None:
    found = {
        name.rpartition("/")[2]: plugin_data_pb2.HParamsPluginData.FromString(data.plugin_data.content)
        for name, data in events.summary_metadata.items()
        if name.startswith("_hparams_")
    }
    assert set(found) == {"experiment", "session_start_info", "session_end_info"}
    values = found["session_start_info"].session_start_info.hparams
    assert values["learning_rate"].number_value == 1e-3
    assert values["hidden"].string_value == "16"
    assert values["draw_scores"].number_value == 1
    tags = {metric.name.tag for metric in found["experiment"].experiment.metric_infos}
    assert {"strength/passer", "policy/entropy"} <= tags <= set(events.Tags()["scalars"])


def test_tensorboard__has_histograms_of_calls(events: EventAccumulator) -> None:
    assert events.Tags()["histograms"] == [f"calls/seat_{seat}" for seat in (1, 2, 3, 4)]
    whole = 0.0
    for name in events.Tags()["histograms"]:
        for event in events.Histograms(name):
            found = event.histogram_value
            assert found.bucket_limit == [0.5, 2.5, 3.5, 4.5]
            assert sum(found.bucket) == found.num
            assert found.sum == np.dot(found.bucket, [0, 2, 3, 4])
            whole += found.num
    assert whole > 200


def test_tensorboard__has_the_text_of_a_deal_and_the_table_of_results(events: EventAccumulator) -> None:
    (text,) = events.Tensors("deal/sample/text_summary")
    lines = text.tensor_proto.string_val[0].decode().splitlines()
    assert all(line.startswith("    ") for line in lines)
    assert any("auction" in line for line in lines)
    (image,) = events.Images("strength/table")
    assert image.step == 2048
    assert image.encoded_image_string.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("baseline", "name"),
    [
        ("greedy", "greedy"),
        ("runs/first", "first"),
        ("runs/first/checkpoint", "first"),
        ("files/first.onnx", "first.onnx"),
    ],
)
def test_strength__is_named_after_the_baseline(baseline: str, name: str) -> None:
    assert strength_name(baseline) == f"strength/{name}"


def test_strength__of_two_baselines_under_one_name_is_refused(tmp_path: Path) -> None:
    config = tiny(
        tmp_path, tracker=(), evaluate_pairs=4, baselines=("one/run", "passer", "other/run/checkpoint")
    )
    told = "baselines='one/run' and 'other/run/checkpoint' would both be logged as 'strength/run'"
    with pytest.raises(ValueError, match=told):
        train(config, console=quiet())


@pytest.mark.parametrize("teams", [2, 3])
def test_table_of_results__is_a_picture_of_its_figures(teams: int) -> None:
    def one(against: str, points: float) -> dict[str, Any]:
        return {
            "against": against,
            "rules": "four_point",
            "pairs": 10,
            "points_per_deal": points,
            "interval": [points - 0.1, points + 0.1],
            "by_team": [points] * teams,
        }

    low, high, equal = (
        baselines_image([one("passer", 1.0), one("greedy", points)]) for points in (-1.0, 0.5, -1.0)
    )
    assert low.shape == high.shape
    assert len(np.unique(low.reshape(-1, 3), axis=0)) > 10
    assert (low != high).any()
    np.testing.assert_array_equal(low, equal)
    assert baselines_image([one("passer", 0.0)]).shape[1] < low.shape[1]


# ------------------------------------------------------------------------------------------------ trackers of others


def test_example__keeps_what_it_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location("tracker_example", ROOT / "examples" / "tracker.py")
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "tracker_example", example)
        spec.loader.exec_module(example)
        config = tiny(tmp_path, tracker=("tracker_example:csv_tracker", RECORDER))
        train(config, console=quiet())
    rows = (tmp_path / example.FILE).read_text().splitlines()
    assert rows[0] == "decisions,name,value"
    expected = [
        f"{decisions},{name},{value}"
        for decisions, metrics in made[0].of("on_update")
        for name, value in metrics.items()
    ]
    assert rows[1:] == expected
    assert f"metrics.csv: {len(expected)} rows" in capsys.readouterr().out


def test_docs__weights_and_biases_tracker_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```py\n(import wandb\n.*?)^```", page, re.MULTILINE | re.DOTALL)
    calls: list[tuple[str, Any]] = []

    class Run:
        def log(self, values: dict[str, Any], step: int) -> None:
            calls.append((f"log {step}", values))

        def finish(self) -> None:
            calls.append(("finish", None))

    def init(*, project: str, config: dict[str, Any]) -> Run:
        calls.append((f"init {project}", config))
        return Run()

    theirs, ours = ModuleType("wandb"), ModuleType("my_tracker")
    init_of: Callable[..., Run] = init
    theirs.init = init_of  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wandb", theirs)
    exec(compile(code, "metrics.md", "exec"), ours.__dict__)
    monkeypatch.setitem(sys.modules, "my_tracker", ours)
    train(tiny(tmp_path, tracker=("my_tracker:WandbTracker",)), console=quiet())
    assert [name for name, _ in calls] == [
        "init smear",
        *(f"log {step}" for step in (512, 1024, 1536, 2048)),
        "finish",
    ]
    assert calls[0][1]["hidden"] == [16]
    assert "policy/entropy" in calls[1][1]
