"""Who is told how a run goes: a tracker's methods are called with its configuration, metrics, pictures and results.

TensorBoard is the one that is told by default. `--tracker module:function` names others; a function that takes nothing
returns an object with these methods, as `Tracker` has them. docs/metrics.md
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from training.arrays import Int64Array
from training.config import TrainConfig
from training.evaluation.players import strength_name

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

Image = NDArray[np.uint8]
"""[height, width, 3] RGB."""

TENSORBOARD = "tensorboard"
"""Name of the tracker that is told unless others are named."""


class Tracker:
    """What a run tells. Nothing is done with it here: a tracker overrides what it wants to hear.

    It is called in the first process of a run alone, between updates, so that it holds up the training while it works.
    """

    def on_start(self, config: TrainConfig, decisions: int) -> None:
        """The run begins, or goes on where it has trained on `decisions` already; an exception here ends it."""

    def on_update(self, decisions: int, metrics: Mapping[str, float]) -> None:
        """An update is done, at `decisions` in all: the documented metrics, by name.

        Called again at the same number where there was an evaluation, with `strength/...`.
        """

    def on_histogram(self, decisions: int, name: str, values: Int64Array, counts: Int64Array) -> None:
        """How often each of `values` [k], rising, came up in the update."""

    def on_text(self, decisions: int, name: str, text: str) -> None:
        """Lines of fixed width."""

    def on_image(self, decisions: int, name: str, image: Image) -> None:
        """A picture."""

    def on_end(self, results: Sequence[dict[str, Any]]) -> None:
        """The run is over: `evaluate`'s result for each baseline; none where it was stopped, or failed."""


METHODS = ("on_start", "on_update", "on_histogram", "on_text", "on_image", "on_end")


class Trackers(Tracker):
    """Several trackers as one, which is told the end whatever happens; a context manager.

    One that fails after the start is left out from then on, and the console says so: what has been trained for hours
    does not end with somebody's connection.
    """

    def __init__(self, trackers: Sequence[Tracker], console: Console) -> None:
        self._trackers = list(trackers)
        self._console = console
        self._started = False

    def __bool__(self) -> bool:
        return bool(self._trackers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.on_end([])

    def on_start(self, config: TrainConfig, decisions: int) -> None:
        """See `Tracker`."""
        self._started = True
        for tracker in self._trackers:
            tracker.on_start(config, decisions)

    def on_update(self, decisions: int, metrics: Mapping[str, float]) -> None:
        """See `Tracker`."""
        self._tell(lambda tracker: tracker.on_update(decisions, metrics))

    def on_histogram(self, decisions: int, name: str, values: Int64Array, counts: Int64Array) -> None:
        """See `Tracker`."""
        self._tell(lambda tracker: tracker.on_histogram(decisions, name, values, counts))

    def on_text(self, decisions: int, name: str, text: str) -> None:
        """See `Tracker`."""
        self._tell(lambda tracker: tracker.on_text(decisions, name, text))

    def on_image(self, decisions: int, name: str, image: Image) -> None:
        """See `Tracker`."""
        self._tell(lambda tracker: tracker.on_image(decisions, name, image))

    def on_end(self, results: Sequence[dict[str, Any]]) -> None:
        """See `Tracker`; the first call counts."""
        if self._started:
            self._tell(lambda tracker: tracker.on_end(results))
        self._trackers = []

    def _tell(self, call: Callable[[Tracker], None]) -> None:
        for tracker in tuple(self._trackers):
            try:
                call(tracker)
            except Exception as error:  # noqa: BLE001 - whatever goes wrong in code that is not ours
                self._trackers.remove(tracker)
                self._console.print(
                    f"tracker {type(tracker).__name__} failed and is told no more: {type(error).__name__}: {error}",
                    highlight=False,
                    soft_wrap=True,
                )


def make_trackers(names: Sequence[str]) -> list[Tracker]:
    """Trackers by name, `tensorboard` or `module:function`; ValueError naming the one that is none."""
    return [TensorBoardTracker() if name == TENSORBOARD else _outside(name) for name in names]


def _outside(name: str) -> Tracker:
    module, colon, function = name.partition(":")
    if not (colon and function.isidentifier() and all(map(str.isidentifier, module.split(".")))):
        raise ValueError(f"tracker={name!r} is neither {TENSORBOARD!r} nor module:function")
    try:
        make = getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"tracker={name!r} is not there: {error}") from error
    if not callable(make):
        raise ValueError(f"tracker={name!r} is no function that returns a tracker")
    made = make()
    missing = [method for method in METHODS if not callable(getattr(made, method, None))]
    if missing:
        raise ValueError(
            f"tracker={name!r} returned {made!r}, which lacks {', '.join(missing)}: "
            "derive it from training.trackers.Tracker"
        )
    return made


class TensorBoardTracker(Tracker):
    """Event files in the run's folder: scalars, histograms, texts, images, and the configuration as hyperparameters."""

    _writer: SummaryWriter

    def on_start(self, config: TrainConfig, decisions: int) -> None:
        """See `Tracker`."""
        from torch.utils.tensorboard import SummaryWriter
        from torch.utils.tensorboard.summary import hparams

        # What was logged after the checkpoint gone on from is hidden, its own update is not.
        purge = decisions + 1 if decisions else None
        self._writer = SummaryWriter(str(config.folder / "tensorboard"), purge_step=purge)
        values = {
            name: value if isinstance(value, bool | int | float | str) else " ".join(map(str, value))
            for name, value in dataclasses.asdict(config).items()
        }
        watched = [strength_name(one) for one in config.baselines]
        columns = dict.fromkeys([*watched, "policy/entropy", "deals/bids_made", "deals/passed_out"], 0.0)
        # `SummaryWriter.add_hparams` would begin a second run in a folder of its own.
        experiment, begun, self._ended = hparams(values, columns)
        for summary in (experiment, begun):
            self._add(summary)

    def on_update(self, decisions: int, metrics: Mapping[str, float]) -> None:
        """See `Tracker`."""
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, decisions)

    def on_histogram(self, decisions: int, name: str, values: Int64Array, counts: Int64Array) -> None:
        """See `Tracker`."""
        total = int(counts.sum())
        if total:
            self._writer.add_histogram_raw(
                name,
                min=float(values[0]),
                max=float(values[-1]),
                num=total,
                sum=float(counts @ values),
                sum_squares=float(counts @ np.square(values)),
                bucket_limits=(values + 0.5).tolist(),
                bucket_counts=counts.tolist(),
                global_step=decisions,
            )

    def on_text(self, decisions: int, name: str, text: str) -> None:
        """See `Tracker`."""
        # Four spaces are what Markdown takes for lines of fixed width.
        self._writer.add_text(name, "\n".join(f"    {line}" for line in text.splitlines()), decisions)

    def on_image(self, decisions: int, name: str, image: Image) -> None:
        """See `Tracker`."""
        self._writer.add_image(name, image, decisions, dataformats="HWC")

    def on_end(self, results: Sequence[dict[str, Any]]) -> None:  # noqa: ARG002 - the metrics have them
        """See `Tracker`."""
        self._add(self._ended)
        self._writer.close()

    def _add(self, summary: Any) -> None:
        file: Any = self._writer.file_writer  # torch's annotations know it as None alone
        file.add_summary(summary)
