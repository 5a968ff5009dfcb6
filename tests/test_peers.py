"""Several processes train as one that plays all their games would."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from tests.training_runs import ROOT, logged, quiet, tiny
from training import peers
from training.checkpoint import load_resume
from training.noise import Noise
from training.peers import ALONE, Meeting, Peers
from training.ppo import train
from training.update import normalised

GAMES = pytest.mark.parametrize("preset", ["four_point", "schmier"])


def two_ranks(folder: Path, *flags: str) -> str:
    """Train with two processes; returns what they printed."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(  # noqa: PLW1510 what it printed says more than its exit status
        [*command, "-m", "training.ppo", "--run-dir", str(folder), *flags],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def flags_of(preset: str, **changed: Any) -> list[str]:
    """Two updates of 2 x 24 games, in minibatches of all decisions: then both ways have the same minibatches."""
    given: dict[str, Any] = {
        "rules": preset,
        "games": 24,
        "steps": 8,
        "minibatch": 192,
        "total_decisions": 768,
    }
    given |= {"hidden": (16,), "critic_hidden": (12,), "precision": "float32", "evaluate_pairs": 0, **changed}
    flags = []
    for name, value in given.items():
        values = value if isinstance(value, tuple) else (value,)
        flags += ["--" + name.replace("_", "-"), *map(str, values)]
    return flags


def tensors(folder: Path) -> dict[str, np.ndarray]:
    """All that a run goes on with."""
    return {name: tensor.numpy() for name, tensor in load_resume(folder / "resume")[0].items()}


@GAMES
def test_two_ranks__learn_what_one_process_learns_on_all_their_games(preset: str, tmp_path: Path) -> None:
    printed = two_ranks(tmp_path / "two", *flags_of(preset, total_decisions=384))
    assert "2 processes of 1 thread\n" in printed
    both = {"games": 48, "steps": 8, "minibatch": 384, "total_decisions": 384}
    train(tiny(tmp_path / "one", rules=preset, precision="float32", **both), console=quiet())
    two, alone = tensors(tmp_path / "two"), tensors(tmp_path / "one")
    assert two.keys() == alone.keys()
    for name, expected in alone.items():
        np.testing.assert_allclose(two[name], expected, atol=1e-5, err_msg=name)
    np.testing.assert_array_equal(two["env.states"], alone["env.states"])
    for name in logged(tmp_path / "one"):
        assert logged(tmp_path / "two")[name] == [384], "each update is logged once"


@pytest.mark.integration
def test_two_ranks__stop_and_go_on_where_they_were(tmp_path: Path) -> None:
    two_ranks(tmp_path / "whole", *flags_of("four_point"))
    two_ranks(tmp_path / "parts", *flags_of("four_point", stop_after=1))
    two_ranks(tmp_path / "parts", "--resume")
    whole, parts = tensors(tmp_path / "whole"), tensors(tmp_path / "parts")
    for name, expected in whole.items():
        np.testing.assert_array_equal(parts[name], expected, err_msg=name)


@pytest.mark.integration
def test_two_ranks__cannot_be_gone_on_with_by_one(tmp_path: Path) -> None:
    two_ranks(tmp_path, *flags_of("four_point", stop_after=1))
    with pytest.raises(ValueError, match="48 games, 1 processes of 24 play others"):
        train(tiny(tmp_path), resume=True, console=quiet())


def test_noise__of_a_slot_does_not_depend_on_the_process_that_plays_it() -> None:
    whole, part = Noise(7), Noise(7, first_slot=5)
    for _ in range(3):
        np.testing.assert_array_equal(part.uniforms(4), whole.uniforms(12)[5:9])


def test_noise__differs_by_seed_decision_and_slot() -> None:
    drawn = [Noise(seed, draws=draws).uniforms(50) for seed in (0, 1) for draws in (0, 1)]
    assert len(np.unique(np.concatenate(drawn))) == 4 * 50 * 4


def test_alone__nothing_is_exchanged() -> None:
    given = torch.arange(4.0)
    assert ALONE.sum(given) is given
    assert ALONE.gather(given) is given
    assert torch.equal(ALONE.own(given), given)
    assert ALONE.any(True) and not ALONE.any(False)  # noqa: PT018


def test_own__is_each_ranks_part_in_order() -> None:
    whole = torch.arange(6)
    assert [Peers(rank, 3).own(whole).tolist() for rank in range(3)] == [[0, 1], [2, 3], [4, 5]]


def test_normalised__by_the_policys_own_decisions() -> None:
    own = torch.tensor([True, True, False, True])
    found, deviation = normalised(torch.tensor([2.0, 4.0, 100.0, 6.0]), own)
    assert found[own].tolist() == pytest.approx([-1, 0, 1])
    assert found[2] == pytest.approx(48)
    assert deviation == pytest.approx(2)
    few = torch.tensor([4.0, 5.0])
    unchanged, one = normalised(few, torch.tensor([True, False]))
    assert unchanged is few
    assert one == 1


def meetings(size: int) -> list[Meeting]:
    """Where so many processes meet, each one's own."""
    memory = torch.zeros(size * peers.LINE)
    return [Meeting(Peers(rank, size), memory) for rank in range(size)]


def test_meeting__nobody_goes_on_before_all_have_come() -> None:
    order: list[str] = []
    mine, others = meetings(2)

    def late() -> None:
        for turn in range(3):
            time.sleep(0.02)
            order.append(f"other comes to {turn}")
            others.wait()

    thread = threading.Thread(target=late)
    thread.start()
    for turn in range(3):
        mine.wait()
        order.append(f"first goes on from {turn}")
    thread.join()
    for turn in range(3):
        assert order.index(f"other comes to {turn}") < order.index(f"first goes on from {turn}")


def test_meeting__names_the_ranks_that_do_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "PATIENCE", 0.01)
    first, second, _ = meetings(3)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(second.wait)
        with pytest.raises(RuntimeError, match=r"ranks \[2\] stopped answering"):
            first.wait()
        assert isinstance(waiting.exception(), RuntimeError)


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.mark.integration
def test_two_machines__learn_the_same_as_two_processes_of_one(tmp_path: Path) -> None:
    # Each process is told that it is alone on its machine, so that gradients go over the network.
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "training.ppo",
        "--run-dir",
        str(tmp_path / "apart"),
        *flags_of("four_point"),
    ]
    processes = [
        subprocess.Popen(
            command,
            cwd=ROOT,
            env={
                **os.environ,
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(port),
                "RANK": str(rank),
                "WORLD_SIZE": "2",
                "LOCAL_RANK": "0",
                "LOCAL_WORLD_SIZE": "1",
            },
        )
        for rank in range(2)
    ]
    assert [process.wait(timeout=300) for process in processes] == [0, 0]
    two_ranks(tmp_path / "together", *flags_of("four_point"))
    apart, together = tensors(tmp_path / "apart"), tensors(tmp_path / "together")
    for name, expected in together.items():
        np.testing.assert_allclose(apart[name], expected, atol=1e-6, err_msg=name)
