"""Policies with preferences as checkpoints, and positions, for tests of what is exported."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from smear_env import PRESETS
from training.checkpoint import save_policy
from training.config import TrainConfig
from training.export import positions
from training.network import Network


@cache
def reached(preset: str) -> tuple[np.ndarray, np.ndarray]:
    """Observations and masks of random play, forced moves included, under several options; thousands of rows."""
    rows = [positions(PRESETS[preset], games=64, steps=60)]
    return tuple(np.concatenate(part) for part in zip(*rows, strict=True))


def fresh_policy(folder: Path, preset: str, *, suits: str = "ordered", features: bool = False) -> Path:
    """A checkpoint of random weights that prefer some actions clearly."""
    torch.manual_seed(3)
    network = Network(preset, (24, 20), (8,), PRESETS[preset].teams, suits, features=features)
    with torch.no_grad():
        network.policy.weight.mul_(400)
        for layer in (*network.trunk, network.policy):
            layer.bias.normal_(0, 0.5)
    config = TrainConfig(
        rules=preset, hidden=(24, 20), critic_hidden=(8,), suits=suits, features=features, run_dir=str(folder)
    )
    save_policy(folder, network, config, 1234, [])
    return folder
