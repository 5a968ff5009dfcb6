"""A run repeats, stops and goes on: the same weights, whatever interrupts it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smear_env import CheckpointError, load_policy

pytest.importorskip("torch")

import torch

from tests.training_runs import GAMES, TINY, logged, quiet, start, tiny
from training.checkpoint import load_resume
from training.config import TrainConfig
from training.metrics import DealCounts
from training.ppo import main, train
from training.trainer import Trainer


def everything(folder: Path) -> dict[str, Any]:
    """Weights, optimiser, games and generator of a run, and how far it is."""
    tensors, description = load_resume(folder / "resume")
    return {**{name: tensor.numpy() for name, tensor in tensors.items()}, "updates": description["updates"]}


def assert_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one.keys() == other.keys()
    for name, part in one.items():
        np.testing.assert_array_equal(part, other[name], err_msg=name)


@GAMES
def test_run__repeats_bit_for_bit_with_the_same_seed(preset: str, tmp_path: Path) -> None:
    for name, seed in (("first", 1), ("again", 1), ("other", 2)):
        train(tiny(tmp_path / name, rules=preset, seed=seed, total_decisions=1024), console=quiet())
    first, again, other = (everything(tmp_path / name) for name in ("first", "again", "other"))
    assert_same(first, again)
    assert np.any(first["network.policy.weight"] != other["network.policy.weight"])


@GAMES
def test_resume__n_and_n_updates_equal_2n_bit_for_bit(preset: str, tmp_path: Path) -> None:
    train(tiny(tmp_path / "whole", rules=preset), console=quiet())
    console = quiet()
    train(tiny(tmp_path / "parts", rules=preset, stop_after=2), console=console)
    assert "stopped at 1,024 decisions; go on with --resume" in console.file.getvalue()
    assert everything(tmp_path / "parts")["updates"] == 2
    # Where it was started from and what it is told now do not matter: the run goes on with its own configuration.
    train(TrainConfig(run_dir=str(tmp_path / "parts"), seed=99), resume=True, console=quiet())
    assert_same(everything(tmp_path / "whole"), everything(tmp_path / "parts"))
    assert everything(tmp_path / "whole")["updates"] == 4
    whole, parts = (load_policy(tmp_path / name).description for name in ("whole", "parts"))
    assert whole["weights_sha256"] == parts["weights_sha256"]
    # Every update is logged once, whichever of the two it was made in.
    assert logged(tmp_path / "whole")["loss/value"] == logged(tmp_path / "parts")["loss/value"]


def test_resume__next_rollout_and_update_are_those_of_the_run_that_went_on(tmp_path: Path) -> None:
    config = tiny(
        tmp_path,
        options=("stock_to_bidder=0,2,3",),
        total_decisions=5120,
        auction_by_chance=0.1,
        magnet=0.1,
        past_share=0.25,
        past_every=1,
        past_kept=2,
    )
    on = Trainer(config)
    for _ in range(4):
        on.iterate(DealCounts(config.rules, on.free))
    on.save(tmp_path)
    off = Trainer(config)
    off.resume(tmp_path)
    assert off.settings() == on.settings()
    for _ in range(2):
        metrics = [t.iterate(DealCounts(config.rules, t.free)) for t in (on, off)]
        for name, part in vars(on.rollout).items():
            np.testing.assert_array_equal(part, getattr(off.rollout, name), err_msg=name)
        for one, other in zip(on.network.parameters(), off.network.parameters(), strict=True):
            assert torch.equal(one, other)
        steady = [{k: v for k, v in part.items() if not k.startswith("speed/")} for part in metrics]
        assert steady[0] == steady[1]


def test_resume__of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"resume\.json: nothing to resume"):
        train(tiny(tmp_path / "none"), resume=True, console=quiet())


def test_resume__names_what_does_not_fit(tmp_path: Path) -> None:
    train(tiny(tmp_path, stop_after=1), console=quiet())
    path = tmp_path / "resume" / "resume.json"
    kept = json.loads(path.read_text())
    for field, value, named in (
        ("hidden", [8], "does not fit"),
        ("critic_hidden", [8], "does not fit"),
        ("games", 16, "does not fit"),
        ("clip", -1, "clip"),
        ("gmaes", 3, "gmaes"),
    ):
        path.write_text(json.dumps({**kept, "config": {**kept["config"], field: value}}))
        with pytest.raises(ValueError, match=rf"resume.*{named}"):
            train(tiny(tmp_path), resume=True, console=quiet())


def test_resume__with_another_value_than_the_run_was_started_with_is_refused(tmp_path: Path) -> None:
    train(tiny(tmp_path, stop_after=1), console=quiet())
    with pytest.raises(ValueError, match="seed=7: the run was started with 0"):
        train(tiny(tmp_path, seed=7), resume=True, given=frozenset({"seed"}), console=quiet())
    train(tiny(tmp_path, seed=7), resume=True, given=frozenset({"run_dir"}), console=quiet())


def test_resume__of_a_finished_run_shows_its_results_and_trains_no_more(tmp_path: Path) -> None:
    config = tiny(tmp_path, evaluate_pairs=4, baselines=("passer",))
    results = train(config, console=quiet())
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    assert train(config, resume=True, console=quiet()) == results
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()} == before


# ------------------------------------------------------------------------------------------------ stopping


def wait_for(process: subprocess.Popen[str], text: str) -> str:
    """Read until a line holds `text`."""
    assert process.stdout is not None
    read = []
    for line in process.stdout:
        read.append(line)
        if text in line:
            return "".join(read)
    raise AssertionError("".join(read))


LONG = ("--config", "tiny.toml", "--total-decisions", "100000000", "--run-dir", "made")


def test_interrupt__saves_the_checkpoint_and_ends_cleanly(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    process = start(*LONG, folder=tmp_path)
    wait_for(process, "M decisions")
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == 0, rest
    assert "stopping after this update" in rest
    assert re.search(r"stopped at [\d,]+ decisions; go on with --resume", rest)
    assert "Traceback" not in rest
    description = load_policy(tmp_path / "made").description
    assert description["decisions"] == everything(tmp_path / "made")["updates"] * 768 > 0
    train(TrainConfig(run_dir=str(tmp_path / "made"), stop_after=1), resume=True, console=quiet())
    assert load_policy(tmp_path / "made").description["decisions"] == description["decisions"] + 768


@pytest.mark.integration
@pytest.mark.parametrize("patience", [0.0, 0.03, 0.1, 0.25, 0.5, 1.0])
def test_kill__at_any_moment_leaves_a_run_that_goes_on(tmp_path: Path, patience: float) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    process = start(*LONG, "--checkpoint-minutes", "0.000001", folder=tmp_path)
    deadline = time.monotonic() + 120
    while not (tmp_path / "made" / "resume" / "resume.json").exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(patience)
    process.kill()
    process.communicate()
    time.sleep(1)  # log files are ordered by the second in which they were begun
    assert load_policy(tmp_path / "made").description["decisions"] > 0
    done = everything(tmp_path / "made")["updates"]
    train(TrainConfig(run_dir=str(tmp_path / "made"), stop_after=2), resume=True, console=quiet())
    assert everything(tmp_path / "made")["updates"] == done + 2
    steps = logged(tmp_path / "made")["loss/value"]
    assert steps[-2:] == [(done + 1) * 768, (done + 2) * 768]
    assert not list((tmp_path / "made").rglob(".*")), "nothing half written is left"


def test_interrupt__twice_ends_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupted(*_: Any, **__: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("still there")

    monkeypatch.setattr(Trainer, "iterate", interrupted)
    arguments = (
        "--games",
        "8",
        "--steps",
        "2",
        "--minibatch",
        "8",
        "--threads",
        "1",
        "--run-dir",
        str(tmp_path / "run"),
    )
    monkeypatch.setattr(sys, "argv", ["ppo", *arguments, "--evaluate-pairs", "0"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert "--resume" in str(ended.value.code)
