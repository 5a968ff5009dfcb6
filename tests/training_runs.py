"""Small training runs for tests, in this process and as the command."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from training.config import TrainConfig

ROOT = Path(__file__).resolve().parent.parent
GAMES = pytest.mark.parametrize("preset", ["four_point", "schmier", "mini"])

TINY = """
games = 48
steps = 16
total_decisions = 3072
hidden = [16]
critic_hidden = [16]
minibatch = 256
evaluate_pairs = 20
threads = 1
"""


def tiny(folder: Path, **changed: Any) -> TrainConfig:
    """Four updates in two seconds."""
    given = {
        "games": 32,
        "steps": 16,
        "total_decisions": 2048,
        "hidden": (16,),
        "critic_hidden": (12,),
        "minibatch": 128,
        "evaluate_pairs": 0,
        "threads": 1,
        "run_dir": str(folder),
    }
    return TrainConfig(**{**given, **changed})


def quiet() -> Console:
    return Console(file=io.StringIO(), markup=False)


def start(*arguments: str, folder: Path) -> subprocess.Popen[str]:
    environment = {
        k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE")
    }
    environment |= {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "training.ppo", *arguments]
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def logged(run: Path) -> dict[str, list[int]]:
    """Names in a run's TensorBoard logs, with the steps they were logged at."""
    accumulator = EventAccumulator(str(run / "tensorboard"), size_guidance={"scalars": 0})
    accumulator.Reload()
    return {
        name: [event.step for event in accumulator.Scalars(name)] for name in accumulator.Tags()["scalars"]
    }
