"""Policies in files of other programs: the same probabilities there, and as agents again here."""

from __future__ import annotations

import copy
import io
import json
import pickle
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smear_env import ONNX_METADATA, PRESETS, CheckpointError, load_policy, make_agent, make_rules

pytest.importorskip("torch")
pytest.importorskip("onnx")
pytest.importorskip("onnxscript")
pytest.importorskip("onnxruntime")

import onnx
import onnxruntime
import torch

from smear_env.agents.onnx_policy import OnnxPolicy
from tests.training_runs import ROOT
from tests.travelling import fresh_policy, reached
from training.evaluate import evaluate
from training.export import DESCRIBED, OPSET, export, exported_program, main

KINDS = {
    "four_point": {"features": True},
    "schmier": {"features": True, "suits": "as_dealt"},
    "six_point": {},
    "mini": {},
    "features of mini": {"features": True},
}
"""Networks that are exported from fresh weights; the shipped ones beside them."""


class Exported:
    """One checkpoint and its ONNX file."""

    def __init__(self, folder: Path, name: str) -> None:
        self.preset = name.rsplit(maxsplit=1)[-1]
        shipped = name.startswith("shipped")
        self.checkpoint = (
            self.preset if shipped else fresh_policy(folder / "policy", self.preset, **KINDS[name])
        )
        self.file, self.difference = export(self.checkpoint, "onnx", folder / "one.onnx")


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Exported]:
    """Exports by name, each made once."""
    return cache(lambda name: Exported(tmp_path_factory.mktemp("export"), name))


# An export with features takes seconds; what is in the graph is compared in `test_graph.py`.
@pytest.fixture(
    params=[
        "features of mini",
        "shipped schmier",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("four_point", "schmier", "six_point", "shipped four_point")
        ),
    ]
)
def exported(request: pytest.FixtureRequest, make: Callable[[str], Exported]) -> Exported:
    return make(request.param)


@pytest.fixture
def mini(make: Callable[[str], Exported]) -> Exported:
    return make("mini")


# ------------------------------------------------------------------------------------------------ the files


def test_onnx__gives_the_probabilities_of_load_policy_for_any_number_of_rows(exported: Exported) -> None:
    observation, mask = reached(exported.preset)
    wanted = load_policy(exported.checkpoint).probabilities(observation, mask)
    session = onnxruntime.InferenceSession(str(exported.file), providers=["CPUExecutionProvider"])
    assert [one.shape[0] for one in (*session.get_inputs(), *session.get_outputs())] == ["batch"] * 4
    for rows in (slice(None), slice(7, 8), slice(3, 20), slice(0, 0)):
        found, logits = session.run(
            ["probabilities", "logits"], {"observation": observation[rows], "mask": mask[rows]}
        )
        assert found.dtype == logits.dtype == np.float32
        np.testing.assert_allclose(found, wanted[rows], atol=1e-5)
        assert not found[mask[rows] == 0].any()
        np.testing.assert_array_equal(np.isneginf(logits), mask[rows] == 0)
    assert exported.difference <= 1e-5


def test_onnx__is_a_sound_model_that_names_its_game(exported: Exported) -> None:
    model = onnx.load(exported.file)
    onnx.checker.check_model(model, full_check=True)
    assert [(one.domain, one.version) for one in model.opset_import] == [("", OPSET)]
    rules, description = PRESETS[exported.preset], load_policy(exported.checkpoint).description
    found = {entry.key: entry.value for entry in model.metadata_props}
    assert found["preset"] == exported.preset
    assert found["layout"] == description["layout"]
    assert json.loads(found["decisions"]) == description["decisions"]
    assert json.loads(found["options"]) == description["options"]
    assert json.loads(found["action_names"]) == list(rules.action_names)
    assert json.loads(found[ONNX_METADATA]) == {**description, "action_names": list(rules.action_names)}


def test_onnx__says_nothing_of_the_machine_it_was_made_on(exported: Exported) -> None:
    assert str(Path(__file__).resolve().parent.parent).encode() not in exported.file.read_bytes()


@pytest.mark.parametrize("preset", ["six_point", pytest.param("schmier", marks=pytest.mark.slow)])
def test_torch_export__gives_the_probabilities_of_load_policy(tmp_path: Path, preset: str) -> None:
    folder = fresh_policy(tmp_path / "policy", preset, **KINDS[preset])
    file, difference = export(folder, "torch-export", tmp_path / "one.pt2")
    assert difference <= 1e-5
    extra = {DESCRIBED: ""}
    module = torch.export.load(io.BytesIO(file.read_bytes()), extra_files=extra).module()
    described = json.loads(extra[DESCRIBED])
    assert described["preset"] == preset
    assert described["action_names"] == list(PRESETS[preset].action_names)
    observation, mask = reached(preset)
    wanted = load_policy(folder).probabilities(observation, mask)
    for rows in (slice(None), slice(7, 8), slice(0, 0)):
        found, _ = module(torch.from_numpy(observation[rows]), torch.from_numpy(mask[rows]))
        np.testing.assert_allclose(found.numpy(), wanted[rows], atol=1e-5)


def test_export__compares_before_it_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.export.largest_difference", lambda run, folder: float("nan"))
    with pytest.raises(RuntimeError, match="is not written"):
        export(fresh_policy(tmp_path / "policy", "mini"), "torch-export", tmp_path / "one.pt2")
    assert not (tmp_path / "one.pt2").exists()


# ------------------------------------------------------------------------------------------------ as agents


def test_policy__from_onnx_decides_as_its_checkpoint(exported: Exported) -> None:
    rules = PRESETS[exported.preset]
    observation, mask = reached(exported.preset)
    for sample in (False, True):
        agents = [load_policy(one, sample=sample) for one in (exported.checkpoint, exported.file)]
        for agent in agents:
            agent.reset(rules, -1, 7)
        chances = [agent.probabilities(observation, mask) for agent in agents]
        np.testing.assert_allclose(chances[1], chances[0], atol=1e-5)
        ours, theirs = (agent.act_batch(observation, mask) for agent in agents)
        # Draws and ties closer than rounding may fall either way.
        assert (ours == theirs).mean() > 0.999
        few = [[agent.act(*row) for row in zip(observation[:60], mask[:60], strict=True)] for agent in agents]
        assert np.equal(*few).mean() > 0.98


def test_policy__from_onnx_says_what_it_is(mini: Exported) -> None:
    agent, checkpoint = load_policy(mini.file), load_policy(mini.checkpoint)
    assert isinstance(agent, OnnxPolicy)
    assert agent.name == "one"
    different = {"weights", "weights_sha256", "action_names"}
    assert {k: v for k, v in agent.description.items() if k not in different} == {
        k: v for k, v in checkpoint.description.items() if k not in different
    }
    assert agent.description["weights_sha256"] != checkpoint.description["weights_sha256"]
    assert isinstance(make_agent(str(mini.file)), OnnxPolicy)


def test_policy__from_onnx_is_for_its_game_and_options(mini: Exported) -> None:
    agent = load_policy(mini.file)
    with pytest.raises(ValueError, match="plays mini with that preset's layout"):
        agent.reset(PRESETS["schmier"], -1, 0)
    with pytest.warns(UserWarning, match="not trained on target=5"):
        agent.reset(make_rules("mini", target=5), -1, 0)


@pytest.mark.parametrize("copier", [copy.deepcopy, lambda agent: pickle.loads(pickle.dumps(agent))])
def test_policy__from_onnx_copies_act_alike_and_apart(mini: Exported, copier: Callable[[Any], Any]) -> None:
    agent = load_policy(mini.file, sample=True)
    other, rows = copier(agent), reached("mini")
    for _ in range(3):
        np.testing.assert_array_equal(agent.act_batch(*rows), other.act_batch(*rows))


def test_policy__from_onnx_refuses_what_is_no_decision(mini: Exported) -> None:
    agent = load_policy(mini.file)
    observation, mask = (part[:3] for part in reached("mini"))
    for act in (agent.act_batch, agent.probabilities):
        with pytest.raises(ValueError, match="allows no action"):
            act(observation, np.zeros_like(mask))
        with pytest.raises(ValueError, match="observations of shape"):
            act(observation[:, 1:], mask)
        with pytest.raises(ValueError, match="no mask"):
            act(observation, None)
    with pytest.raises(ValueError, match="no mask"):
        agent.act(observation[0], None)
    expected = agent.act_batch(observation, mask).tolist()
    assert agent.act_batch(observation.astype(np.float64), mask != 0).tolist() == expected


def test_policy__from_onnx_is_evaluated_by_its_path(mini: Exported) -> None:
    rules = PRESETS["mini"]
    agents = (str(mini.file), str(mini.checkpoint))
    found, wanted = (evaluate(name, "passer", rules, pairs=20, seed=3) for name in agents)
    assert found["points_per_deal"] == wanted["points_per_deal"]


def test_policy__from_onnx_is_not_searched_with_or_trained_on(mini: Exported) -> None:
    searching = make_agent(f"{mini.file}+search-5")
    with pytest.raises(CheckpointError, match="for playing alone"):
        searching.reset(PRESETS["mini"], -1, 0)
    with pytest.raises(CheckpointError, match="give the checkpoint that it was made of"):
        export(mini.file, "onnx")


# ------------------------------------------------------------------------------------------------ what is wrong


def changed(mini: Exported, folder: Path, change: Callable[[onnx.ModelProto], None]) -> Path:
    model = onnx.load(mini.file)
    change(model)
    onnx.save(model, folder / "changed.onnx")
    return folder / "changed.onnx"


def described(model: onnx.ModelProto, **fields: Any) -> None:
    (entry,) = (one for one in model.metadata_props if one.key == ONNX_METADATA)
    entry.value = json.dumps({**json.loads(entry.value), **fields})


def without_metadata(model: onnx.ModelProto) -> None:
    del model.metadata_props[:]


def with_text(model: onnx.ModelProto) -> None:
    (entry,) = (one for one in model.metadata_props if one.key == ONNX_METADATA)
    entry.value = "{"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without_metadata, f"lack '{ONNX_METADATA}': export the checkpoint with"),
        (with_text, "not readable as JSON"),
        (lambda model: described(model, layout="0" * 16), "field 'layout' is '0000000000000000'"),
        (lambda model: described(model, format="smear-policy/9"), "field 'format'"),
        (lambda model: described(model, decisions="many"), "field 'decisions' is 'many', expected int"),
        (lambda model: described(model, options={}), "field 'options' lacks"),
        (
            lambda model: described(
                model, preset="four_point", layout=load_policy("four_point").description["layout"]
            ),
            "the graph has .* expected",
        ),
    ],
)
def test_onnx__that_is_no_policy_of_ours_is_refused(
    mini: Exported, tmp_path: Path, change: Callable[[onnx.ModelProto], None], message: str
) -> None:
    with pytest.raises(CheckpointError, match=f"changed.onnx.*{message}"):
        load_policy(changed(mini, tmp_path, change))


def test_onnx__damaged_or_absent_is_refused(mini: Exported, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"absent\.onnx: not readable"):
        load_policy(tmp_path / "absent.onnx")
    (tmp_path / "half.onnx").write_bytes(mini.file.read_bytes()[:2000])
    with pytest.raises(CheckpointError, match=r"half\.onnx: not readable as ONNX"):
        load_policy(tmp_path / "half.onnx")


def test_onnx__without_onnxruntime_names_the_extra(mini: Exported, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ImportError, match=r'pip install "smear-env\[export\]"'):
        load_policy(mini.file)


# ------------------------------------------------------------------------------------------------ the command


def test_command__writes_and_says_how_close(
    mini: Exported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["export", str(mini.checkpoint), "--format", "torch-export"])
    main()
    assert "policy.pt2: " in capsys.readouterr().out
    assert (tmp_path / "policy.pt2").is_file()


@pytest.mark.parametrize(("given", "where"), [(".", "checkpoint"), ("checkpoint", "."), (".", ".")])
def test_export__names_the_file_after_the_run_it_stands_in(
    given: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh_policy(tmp_path / "my_run" / "checkpoint", "mini")
    monkeypatch.chdir(tmp_path / "my_run" / where)
    path, _ = export(given, "torch-export")
    assert path == Path("my_run.pt2")


def test_export__of_a_run_that_goes_on_is_of_the_checkpoint_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = fresh_policy(tmp_path / "policy", "mini")
    before = load_policy(folder).description
    program = exported_program

    def meanwhile(kept: Path) -> Any:
        fresh_policy(folder, "mini", suits="as_dealt")
        return program(kept)

    monkeypatch.setattr("training.export.exported_program", meanwhile)
    path, difference = export(folder, "torch-export", tmp_path / "one.pt2")
    assert difference <= 1e-5
    extra = {DESCRIBED: ""}
    torch.export.load(io.BytesIO(path.read_bytes()), extra_files=extra)
    described = json.loads(extra[DESCRIBED])
    assert described["weights"] == before["weights"]
    assert described["network"]["suits"] == "ordered" != load_policy(folder).description["network"]["suits"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nobody"], "no checkpoint 'nobody'"),
        (["four_point.pt2"], "is a program of torch, for torch.export.load: give the checkpoint"),
        (["four_point", "--out", "one.pt2"], "out='one.pt2' must end with .onnx"),
    ],
)
def test_command__names_what_is_wrong(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["export", *arguments])
    with pytest.raises(SystemExit, match=message):
        main()
    assert not list(tmp_path.iterdir())


# ------------------------------------------------------------------------------------------------ the page


def test_docs__show_how_to_run_the_files(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    make: Callable[[str], Exported],
) -> None:
    page = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")
    with_onnx, with_torch = re.findall(r"^```py\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    shown = make("mini")
    (tmp_path / "four_point.onnx").write_bytes(shown.file.read_bytes())
    export(shown.checkpoint, "torch-export", tmp_path / "four_point.pt2")
    names: dict[str, Any] = {}
    exec(with_onnx, names)
    assert capsys.readouterr().out.strip() in PRESETS["mini"].action_names
    by_onnx = names["probabilities"]
    inputs = {"observation": names["rows"]["observation"], "mask": names["rows"]["mask"]}
    names |= {name: torch.from_numpy(np.array(rows)) for name, rows in inputs.items()}
    exec(with_torch, names)
    np.testing.assert_allclose(names["probabilities"].numpy(), by_onnx, atol=1e-5)
    assert json.loads(names["extra"][DESCRIBED])["preset"] == "mini"
