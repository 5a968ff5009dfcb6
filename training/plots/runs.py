"""What runs have logged, by seed and configuration: from their folders, or from a file that keeps what a picture needs.

Runs are of one group where every field of their configuration is equal but `seed` and `run_dir`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from smear_env import read_policy
from training.arrays import Float64Array, Int64Array
from training.evaluation.players import label

FORMAT = "smear-curves/1"
OWN_FIELDS = ("seed", "run_dir")
"""In which runs of one configuration differ."""
WATCHING = (
    *(
        "baselines",
        "checkpoint_minutes",
        "device",
        "evaluate_pairs",
        "plugins",
        "stop_after",
        "threads",
        "tracker",
    ),
    *("watch_every", "watch_pairs"),
)
"""Fields that change how a run is watched or where it works, and little of what it learns: they name no group."""
MOST_NAMED = 3
"""Groups that differ in more fields are called by their runs."""


@dataclass(frozen=True)
class Series:
    """One metric of a run."""

    decisions: Int64Array
    """[points] rising"""
    values: Float64Array
    """[points] finite"""


@dataclass(frozen=True)
class Run:
    """A run, or as much of it as there is."""

    name: str
    seed: int
    config: dict[str, Any]
    """Without the fields that only this run has."""
    commit: str
    """Of the source that trained it."""
    series: dict[str, Series]
    """By metric."""


@dataclass(frozen=True)
class Group:
    """Runs of one configuration, by seed."""

    name: str
    runs: tuple[Run, ...]


def read_runs(paths: Sequence[Path], tags: Sequence[str]) -> list[Run]:
    """The runs in folders, and in files that `as_plain` was written to, with those of their metrics that `tags` match.

    tags: names or patterns, as `strength/*`. Raises ValueError naming the path and what is missing: no run's folder, no
    checkpoint, no TensorBoard files, none of the metrics, the same seed of a configuration twice.
    """
    if not paths:
        raise ValueError("runs=() says nothing to draw: give folders of runs, or a file of exported curves")
    runs = [
        run for path in paths for run in (_read_file(path) if path.is_file() else [_read_folder(path, tags)])
    ]
    seen: dict[tuple[str, int], Run] = {}
    for run in runs:
        chosen = {tag for tag in run.series if any(fnmatchcase(tag, one) for one in tags)}
        if not chosen:
            there = ", ".join(sorted(run.series)) or "none"
            raise ValueError(
                f"run {run.name!r} has no metric like {' or '.join(tags)}; it has: {there}. Strength is logged with "
                "--watch-every, and at the end of a run"
            )
        other = seen.setdefault((_key(run), run.seed), run)
        if other is not run:
            raise ValueError(
                f"runs {other.name!r} and {run.name!r} have one configuration and seed={run.seed}: the second says "
                "nothing new, leave it away"
            )
    return runs


def group_runs(runs: Iterable[Run], names: Sequence[str] = ()) -> list[Group]:
    """Runs by configuration, in the order given; `names` are for the groups, ValueError unless one for each."""
    by_key: dict[str, list[Run]] = {}
    for run in runs:
        by_key.setdefault(_key(run), []).append(run)
    members = [tuple(sorted(group, key=lambda run: run.seed)) for group in by_key.values()]
    if names and len(names) != len(members):
        told = "; ".join(" ".join(run.name for run in group) for group in members)
        raise ValueError(
            f"names={' '.join(names)!r} must be one for each of {len(members)} configurations: {told}"
        )
    return [Group(*pair) for pair in zip(names or _names(members), members, strict=True)]


def as_plain(runs: Iterable[Run]) -> dict[str, Any]:
    """Runs as JSON has them, for a file to draw from again."""
    return {
        "format": FORMAT,
        "runs": [
            {
                "name": run.name,
                "seed": run.seed,
                "commit": run.commit,
                "config": run.config,
                "series": {
                    tag: {
                        "decisions": one.decisions.tolist(),
                        # TensorBoard keeps 32 bits.
                        "values": [float(f"{value:.7g}") for value in one.values],
                    }
                    for tag, one in sorted(run.series.items())
                },
            }
            for run in runs
        ],
    }


def _key(run: Run) -> str:
    return json.dumps(run.config, sort_keys=True)


def _names(members: Sequence[tuple[Run, ...]]) -> list[str]:
    """Names of groups: the values of the few fields in which they differ, or else the runs."""
    fields = sorted({field for group in members for field in group[0].config} - {*WATCHING})
    found = [[_short(group[0].config.get(field)) for group in members] for field in fields]
    differing = [(field, values) for field, values in zip(fields, found, strict=True) if len(set(values)) > 1]
    if len(members) == 1 and len(members[0]) > 1:
        return [str(members[0][0].config.get("rules", "one configuration"))]
    if not 0 < len(differing) <= MOST_NAMED:
        return [", ".join(run.name for run in group[:MOST_NAMED]) for group in members]
    return [
        ", ".join(f"{field}={values[index]}" for field, values in differing) for index in range(len(members))
    ]


def _short(value: Any) -> str:
    """A configuration's value in a few letters; of a path the last part."""
    if isinstance(value, list):
        return "x".join(map(_short, value)) or "none"
    if isinstance(value, str):
        return (Path(value).name if "/" in value else value) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _read_folder(folder: Path, tags: Sequence[str]) -> Run:
    """A run by its folder, which holds `checkpoint` and `tensorboard`."""
    if not any((folder / "tensorboard").glob("events.out.tfevents.*")):
        raise ValueError(
            f"run {str(folder)!r} has no TensorBoard files (tensorboard/events.out.tfevents...): give the folder of a "
            "run with --tracker tensorboard, or a file of exported curves"
        )
    if not (folder / "checkpoint").is_dir():
        raise ValueError(
            f"run {str(folder)!r} has no checkpoint yet, which says its configuration: wait for the first"
        )
    description = read_policy(folder / "checkpoint")
    return Run(
        name=label(str(folder)),
        seed=description["seed"],
        config={name: v for name, v in description["training"].items() if name not in OWN_FIELDS},
        commit=description["commit"],
        series=_read_events(folder / "tensorboard", tags),
    )


def _read_events(folder: Path, tags: Sequence[str]) -> dict[str, Series]:
    """The scalars of TensorBoard's files that match; what a resumed run has gone over again counts once."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    series = {}
    for tag in events.Tags()["scalars"]:
        if not any(fnmatchcase(tag, pattern) for pattern in tags):
            continue
        # Of two at one step the later holds: the evaluation at the end has more deals than those before.
        by_step = {event.step: event.value for event in events.Scalars(tag) if np.isfinite(event.value)}
        if by_step:
            steps = sorted(by_step)
            series[tag] = Series(np.array(steps, np.int64), np.array([by_step[step] for step in steps]))
    return series


def _read_file(path: Path) -> list[Run]:
    """The runs of a file of exported curves."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(
            f"run {str(path)!r} is neither a run's folder nor readable as JSON: {error}"
        ) from error
    kind = content.get("format") if isinstance(content, dict) else None
    if kind != FORMAT:
        raise ValueError(
            f"run {str(path)!r} has format={kind!r}, expected {FORMAT!r}: give a file that `curves --json` wrote"
        )
    try:
        runs = [
            Run(
                name=one["name"],
                seed=int(one["seed"]),
                config=dict(one["config"]),
                commit=one["commit"],
                series={
                    tag: Series(
                        np.array(series["decisions"], np.int64), np.array(series["values"], np.float64)
                    )
                    for tag, series in one["series"].items()
                },
            )
            for one in content["runs"]
        ]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"run {str(path)!r} is not whole: {error!r}; export it again") from error
    for run in runs:
        for tag, series in run.series.items():
            if series.decisions.shape != series.values.shape or np.any(np.diff(series.decisions) <= 0):
                raise ValueError(
                    f"run {run.name!r} in {str(path)!r}: {tag} must have a value for each rising decision"
                )
    if not runs:
        raise ValueError(f"run {str(path)!r} holds no runs: export it again")
    return runs
