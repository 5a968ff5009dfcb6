"""Checkpoints: what they hold, what is refused, and that a kill at any moment leaves a complete one."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smear_env import CheckpointError, layout_hash, load_policy, make_agent, make_rules

pytest.importorskip("torch")

import torch
from safetensors.torch import load_file, save_file

from training.checkpoint import load_resume, save_policy, save_resume
from training.config import TrainConfig
from training.files import write_atomically
from training.network import Network, load_network

CONFIG = TrainConfig(
    rules="four_point",
    options=("stock_to_bidder=2,3",),
    hidden=(8,),
    critic_hidden=(6,),
    games=8,
    steps=1,
    minibatch=8,
    seed=4,
)


def network(seed: int = 0, preset: str = "four_point") -> Network:
    torch.manual_seed(seed)
    return Network(preset, (8,), (6,), 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A complete checkpoint."""
    save_policy(tmp_path / "made", network(), CONFIG, 100, [{"against": "greedy", "points_per_deal": 0.5}])
    return tmp_path / "made"


def description(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "policy.json").read_text())


def weights(folder: Path) -> Path:
    return folder / description(folder)["weights"]


def describe(folder: Path, **changed: Any) -> None:
    (folder / "policy.json").write_text(json.dumps({**description(folder), **changed}))


def reweigh(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the tensors and describe the file truthfully."""
    tensors = load_file(weights(folder))
    change(tensors)
    save_file(tensors, weights(folder))
    describe(folder, weights_sha256=hashlib.sha256(weights(folder).read_bytes()).hexdigest())


def test_description__holds_what_a_reader_needs(folder: Path) -> None:
    found = description(folder)
    assert found["format"] == "smear-policy/1"
    assert found["preset"] == "four_point"
    assert found["layout"] == layout_hash(make_rules("four_point"))
    assert found["network"] == {
        "hidden": [8],
        "critic_hidden": [6],
        "teams": 2,
        "suits": "ordered",
        "critic_view": "state",
    }
    assert found["seed"] == 4
    assert found["decisions"] == 100
    assert found["training"]["learning_rate"] == CONFIG.learning_rate
    assert found["evaluation"] == [{"against": "greedy", "points_per_deal": 0.5}]
    assert len(found["commit"].rstrip("+")) == 40 or found["commit"] == "unknown"
    # The range of options trained on, each option with its values.
    assert found["options"]["stock_to_bidder"] == [2, 3]
    assert found["options"]["all_pass"] == ["dealer_bids", "same_dealer"]
    assert found["options"]["may_trump"] == [True]


def test_checkpoint__is_json_and_safetensors_and_nothing_else(folder: Path) -> None:
    assert sorted(path.suffix for path in folder.iterdir()) == [".json", ".safetensors"]
    content = weights(folder).read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    assert {entry["dtype"] for entry in header.values()} == {"F32"}
    assert hashlib.sha256(content).hexdigest() == description(folder)["weights_sha256"]


def test_checkpoint__replaces_the_one_before(folder: Path) -> None:
    save_policy(folder, network(1), CONFIG, 200, [])
    assert len(list(folder.iterdir())) == 2
    assert load_policy(folder).description["decisions"] == 200


def test_layout__of_another_version_is_refused_with_the_remedy(folder: Path) -> None:
    describe(folder, layout="0123456789abcdef")
    with pytest.raises(
        CheckpointError, match=r"'layout' is '0123456789abcdef'.*train the policy again, or install"
    ):
        load_policy(folder)


def test_rules__of_another_game_are_refused(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"plays four_point .*, not schmier"):
        load_policy(folder).reset(make_rules("schmier"), 0, 0)


def test_option__outside_the_range_warns_and_names_it(folder: Path) -> None:
    agent = load_policy(folder)
    with pytest.warns(UserWarning, match=r"not trained on stock_to_bidder=0, only on \[2, 3\]"):
        agent.reset(make_rules("four_point", stock_to_bidder=0), 0, 0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("cards", [2, 3])
def test_option__within_the_range_does_not_warn(folder: Path, cards: int) -> None:
    load_policy(folder).reset(make_rules("four_point", stock_to_bidder=cards), 0, 0)


FIELDS = (
    *("format", "preset", "options", "layout", "weights", "weights_sha256"),
    *("network", "training", "seed", "commit", "decisions", "evaluation"),
)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("value", ["missing", None, True, 1.5, -1, "nonsense", [], {}, [[]], {"hidden": 3}])
def test_description__with_a_damaged_field_is_refused_or_harmless(
    folder: Path, field: str, value: Any
) -> None:
    kept = description(folder)
    if value == "missing":
        del kept[field]
    else:
        kept[field] = value
    (folder / "policy.json").write_text(json.dumps(kept))
    same_type = {
        "training": dict,
        "evaluation": list,
        "commit": str,
        "seed": int,
        "decisions": int,
    }
    if type(value) is same_type.get(field) and value != "missing":
        load_policy(folder)  # they describe where the policy comes from, not how to read it
        return
    with pytest.raises(CheckpointError, match=field) as caught:
        load_policy(folder)
    assert str(folder) in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("network", {"hidden": [8], "teams": 1}, "network.teams"),
        ("network", {"hidden": [8], "teams": True}, "network.teams"),
        ("network", {"hidden": [], "teams": 2}, "network.hidden"),
        ("network", {"hidden": [8, -8], "teams": 2}, "network.hidden"),
        ("network", {"hidden": ["8"], "teams": 2}, "network.hidden"),
        ("network", {"hidden": [10**15], "teams": 2}, "trunk.0.weight"),
        ("options", {"colour": ["red"]}, "options.colour"),
        ("options", {"target": 15}, "options.target"),
        ("weights", "../other/policy.safetensors", "weights"),
        ("weights", "/policy.safetensors", "weights"),
        ("weights", "..", "not readable"),
        ("weights", "", "not readable"),
        ("weights", "a\0b", "not readable"),
        ("weights", "absent.safetensors", "absent.safetensors"),
        ("preset", "whist", "preset"),
        ("format", "smear-policy/9", "format"),
        ("weights_sha256", "0" * 64, "weights_sha256"),
    ],
)
def test_description__value_that_cannot_be_is_named(folder: Path, field: str, value: Any, named: str) -> None:
    describe(folder, **{field: value})
    with pytest.raises(CheckpointError, match=named):
        load_policy(folder)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"3",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"format": ' + b"9" * 10_000 + b"}",
        b"\0" * 99,
    ],
    ids=["empty", "cut", "list", "number", "null", "bytes", "deep", "long", "zeros"],
)
def test_description__that_is_no_json_object_is_refused(folder: Path, text: bytes) -> None:
    (folder / "policy.json").write_bytes(text)
    with pytest.raises(CheckpointError, match=r"policy\.json"):
        load_policy(folder)


def test_weights__truncated_anywhere_are_refused(folder: Path) -> None:
    content = weights(folder).read_bytes()
    for length in (0, 1, 7, 8, 60, len(content) // 2, len(content) - 1):
        weights(folder).write_bytes(content[:length])
        with pytest.raises(CheckpointError, match=r"policy-100.*\.safetensors"):
            load_policy(folder)


def test_weights__with_a_flipped_byte_are_refused(folder: Path) -> None:
    content = weights(folder).read_bytes()
    for place in (0, 3, 9, 40, len(content) // 2, len(content) - 1):
        weights(folder).write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(CheckpointError, match=r"policy-100.*\.safetensors"):
            load_policy(folder)


def test_weights__missing_file_is_named(folder: Path) -> None:
    weights(folder).unlink()
    with pytest.raises(CheckpointError, match=r"policy-100.*\.safetensors"):
        load_policy(folder)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda t: t.pop("policy.bias"), r"'policy.bias' is missing"),
        (
            lambda t: t.update({"policy.bias": torch.zeros(3)}),
            r"'policy.bias' is float32 \(3,\), expected float32 \(36,\)",
        ),
        (lambda t: t.update({"policy.bias": torch.zeros(36).double()}), r"'policy.bias' is float64"),
        (lambda t: t.update({"policy.bias": torch.zeros(36).bfloat16()}), r"\.safetensors"),
        (
            lambda t: t["trunk.0.weight"].fill_(float("nan")),
            r"'trunk.0.weight' holds numbers that are not finite",
        ),
    ],
    ids=["missing", "shape", "double", "bfloat16", "nan"],
)
def test_weights__of_another_network_are_named(folder: Path, change: Any, named: str) -> None:
    reweigh(folder, change)
    with pytest.raises(CheckpointError, match=named):
        load_policy(folder)
    with pytest.raises(CheckpointError, match=named):
        load_network(folder)


CRITIC = ["critic_trunk.0.bias", "critic_trunk.0.weight", "value.bias", "value.weight"]


def test_weights__the_critics_are_not_needed_to_play(folder: Path) -> None:
    before = bias(folder)
    players = {"policy.bias", "policy.weight", "trunk.0.bias", "trunk.0.weight"}
    assert set(load_file(weights(folder))) == players | set(CRITIC)
    reweigh(folder, lambda t: [t.pop(name) for name in CRITIC])
    assert bias(folder) == before


@pytest.mark.parametrize("name", CRITIC)
@pytest.mark.parametrize("change", ["missing", "shape"])
def test_weights__of_another_critic_play_and_are_named_to_the_trainer(
    folder: Path, name: str, change: str
) -> None:
    load_network(folder)
    reweigh(folder, lambda t: t.pop(name) if change == "missing" else t.update({name: t[name][:1].clone()}))
    load_policy(folder)
    with pytest.raises(
        CheckpointError, match=rf"(?s)policy-100.*\.safetensors: holds no critic.*{name}"
    ) as caught:
        load_network(folder)
    assert str(folder) in str(caught.value)


def test_load_policy__of_nothing_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"no checkpoint .*policy\.json, or a shipped name"):
        load_policy(tmp_path)


def test_make_agent__loads_a_checkpoint_and_names_what_is_damaged(folder: Path) -> None:
    assert make_agent(str(folder)).name == "made"
    describe(folder, seed="x")
    with pytest.raises(CheckpointError, match="'seed'"):
        make_agent(str(folder))


# ------------------------------------------------------------------------------------------------ resuming


def resume_state(value: float) -> tuple[dict[str, Any], dict[str, Any]]:
    return {"weights": torch.full((50,), value)}, {"updates": int(value), "config": {}}


@pytest.mark.parametrize("field", ["format", "tensors", "tensors_sha256", "updates", "config"])
@pytest.mark.parametrize("value", ["missing", None, [], 1.5])
def test_resume__damaged_field_is_named(tmp_path: Path, field: str, value: Any) -> None:
    save_resume(tmp_path, *resume_state(3))
    kept = json.loads((tmp_path / "resume.json").read_text())
    kept[field] = value
    if value == "missing":
        del kept[field]
    (tmp_path / "resume.json").write_text(json.dumps(kept))
    with pytest.raises(CheckpointError, match=rf"resume\.json: field '{field}'"):
        load_resume(tmp_path)


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"{", b"\xff", b"[" * 100_000], ids=["empty", "list", "cut", "bytes", "deep"]
)
def test_resume__that_is_no_json_object_is_refused(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "resume.json").write_bytes(text)
    with pytest.raises(CheckpointError, match=r"resume\.json"):
        load_resume(tmp_path)


def test_resume__damaged_tensors_are_refused(tmp_path: Path) -> None:
    save_resume(tmp_path, *resume_state(3))
    file = next(tmp_path.glob("*.safetensors"))
    content = file.read_bytes()
    for damaged in (content[:-1], content[:20], content[:-1] + bytes([content[-1] ^ 1])):
        file.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=file.name):
            load_resume(tmp_path)


# ------------------------------------------------------------------------------------------------ kills


class Killed(BaseException):
    """Not an Exception: no handler may take it."""


@pytest.fixture
def kill_at(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Arms a kill before operation k on files, counted from 0."""
    left = [10**9]

    def counted(operation: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            return operation(*args, **kwargs)

        return call

    for owner, name in ((os, "fsync"), (Path, "replace"), (Path, "open"), (Path, "unlink"), (Path, "mkdir")):
        monkeypatch.setattr(owner, name, counted(getattr(owner, name)))
    yield lambda k: left.__setitem__(0, k)
    left[0] = 10**9


def bias(folder: Path) -> float:
    """What tells the networks of these tests apart, read back from the whole checkpoint."""
    agent = load_policy(folder)
    return float(agent._weights.sum())


@pytest.mark.parametrize("decisions", [100, 200], ids=["same_count", "later"])
def test_policy__kill_at_any_moment_leaves_a_complete_one(
    tmp_path: Path, kill_at: Callable[[int], None], decisions: int
) -> None:
    folder = tmp_path / "run"
    save_policy(folder, network(0), CONFIG, 100, [])
    old = bias(folder)
    save_policy(tmp_path / "new", network(1), CONFIG, decisions, [])
    new = bias(tmp_path / "new")
    assert old != new
    outcomes = []
    for k in range(100):
        shutil.rmtree(folder)
        save_policy(folder, network(0), CONFIG, 100, [])
        kill_at(k)
        try:
            save_policy(folder, network(1), CONFIG, decisions, [])
        except Killed:
            finished = False
        else:
            finished = True
        kill_at(10**9)
        outcomes.append(bias(folder))
        save_policy(folder, network(2), CONFIG, 300, [])
        assert len(list(folder.iterdir())) == 2, "what the kill left half written is cleared away"
        if finished:
            break
    assert len(outcomes) >= 8
    assert set(outcomes) == {old, new}
    assert outcomes == sorted(outcomes, key=lambda found: found == new), "once the new one stands, it stays"


def test_resume__kill_at_any_moment_leaves_a_complete_one(
    tmp_path: Path, kill_at: Callable[[int], None]
) -> None:
    outcomes = []
    for k in range(100):
        folder = tmp_path / str(k)
        save_resume(folder, *resume_state(1))
        kill_at(k)
        try:
            save_resume(folder, *resume_state(2))
        except Killed:
            finished = False
        else:
            finished = True
        kill_at(10**9)
        tensors, description = load_resume(folder)
        assert np.all(tensors["weights"].numpy() == description["updates"])
        outcomes.append(description["updates"])
        if finished:
            break
    assert set(outcomes) == {1, 2}
    assert outcomes == sorted(outcomes)


def test_write_atomically__reader_finds_old_or_new(tmp_path: Path, kill_at: Callable[[int], None]) -> None:
    path = tmp_path / "result.json"
    write_atomically(path, b"old")
    for k in range(100):
        kill_at(k)
        try:
            write_atomically(path, b"new")
        except Killed:
            kill_at(10**9)
            assert path.read_bytes() == b"old"
        else:
            break
    kill_at(10**9)
    assert path.read_bytes() == b"new"
