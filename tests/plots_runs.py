"""Tiny runs as a trainer leaves them, and what was drawn, for the tests of pictures."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from torch.utils.tensorboard import SummaryWriter

from smear_env import checkpoints_folder

Points = Mapping[int, float]
"""Values by decisions."""


def write_events(folder: Path, series: Mapping[str, Points], purge_step: int | None = None) -> None:
    """Log scalars as the trainer's tracker does, into one file more."""
    logs = folder / "tensorboard"
    before = set(logs.glob("*"))
    with SummaryWriter(str(logs), purge_step=purge_step) as writer:
        for tag, points in series.items():
            for step, value in points.items():
                writer.add_scalar(tag, value, step)
    # Files are read by name, which orders them by the second and then by a counter without leading zeros.
    (written,) = set(logs.glob("*")) - before
    written.rename(logs / f"events.out.tfevents.{len(before):04d}")


def write_run(folder: Path, seed: int, series: Mapping[str, Points], **config: Any) -> Path:
    """A run's folder: its scalars, and a checkpoint's description with a configuration."""
    write_events(folder, series)
    described = json.loads((checkpoints_folder() / "four_point" / "policy.json").read_text())
    described["seed"] = seed
    described["training"] |= {
        "seed": seed,
        "run_dir": str(folder),
        "baselines": ["greedy"],
        "entropy": 0.05,
    } | config
    (folder / "checkpoint").mkdir()
    (folder / "checkpoint" / "policy.json").write_text(json.dumps(described))
    return folder


@contextmanager
def drawn(module: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Figure]]:
    """The figures that a module saves, as well as what it writes."""
    figures: list[Figure] = []
    save = module.save

    def keep(figure: Figure, paths: Any) -> None:
        figures.append(figure)
        save(figure, paths)

    monkeypatch.setattr(module, "save", keep)
    yield figures


def end_of(monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    """What `python -m training.plots` ends with when it is told nonsense."""
    from training.plots.__main__ import main

    monkeypatch.setattr("sys.argv", ["plots", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert str(ended.value.code).startswith("error: ")
    return str(ended.value.code)
