"""A tracker of your own: a run's metrics as CSV, one row for each, with nothing to sign up for.

PYTHONPATH=examples python -m training.ppo --tracker tensorboard tracker:csv_tracker

writes `metrics.csv` into the run's folder, beside what TensorBoard gets. Run by itself, this file trains for a moment.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from training.config import TrainConfig
from training.ppo import train
from training.trackers import Tracker

FILE = "metrics.csv"


class CsvTracker(Tracker):
    """Rows of decisions, name and value: an update leaves out what it has no share of, so that columns would vary."""

    def on_start(self, config: TrainConfig, decisions: int) -> None:
        """Begin the file, or go on with it."""
        self._path = config.folder / FILE
        self._path.parent.mkdir(parents=True, exist_ok=True)
        if not decisions:
            self._path.write_text("decisions,name,value\n", encoding="utf-8")

    def on_update(self, decisions: int, metrics: Mapping[str, float]) -> None:
        """Add a row for each metric."""
        with self._path.open("a", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows((decisions, name, value) for name, value in metrics.items())

    def on_end(self, results: Sequence[dict[str, Any]]) -> None:
        """Say where the file is."""
        print(f"{self._path.name}: {len(self._path.read_text(encoding='utf-8').splitlines()) - 1} rows")
        for result in results:
            print(f"{result['points_per_deal']:+.2f} points per deal against {result['against']}")


def csv_tracker() -> CsvTracker:
    """What `--tracker tracker:csv_tracker` calls."""
    return CsvTracker()


def main() -> None:
    """Train a tiny network for four updates and follow it."""
    with tempfile.TemporaryDirectory() as folder:
        config = TrainConfig(
            games=64,
            steps=16,
            minibatch=256,
            total_decisions=4096,
            hidden=(16,),
            critic_hidden=(16,),
            evaluate_pairs=20,
            baselines=("passer",),
            run_dir=str(Path(folder) / "run"),
            tracker=("__main__:csv_tracker",),
        )
        train(config)


if __name__ == "__main__":
    main()
