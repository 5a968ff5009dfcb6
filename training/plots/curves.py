"""Learning curves: strength against each baseline, entropy and regret, by configuration, over seeds.

A curve is the mean over the seeds of a configuration, with the 95 % interval of Student's t around it; seeds differ by
more than an evaluation errs. One seed alone has the interval of its evaluations, where there are any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

from training.arrays import Float64Array, Int64Array
from training.evaluation.players import strength_name
from training.plots.runs import Group, Run, Series
from training.plots.style import FAINT, drawing, save, stroke

TAGS = ("strength/*", "policy/entropy", "policy/regret")
"""Metrics that are drawn unless others are asked for."""
CONFIDENCE = 0.95
BOUNDS = ("_low", "_high")
"""Behind a metric's name, the ends of its interval."""
UNITS = {
    "strength": "points per deal",
    "policy/entropy": "nats",
    "policy/regret": "points",
    "returns": "points",
    "speed": "decisions a second",
}
"""Of metrics, by name or by what stands before the stroke (docs/metrics.md); of others the name says enough."""
MOST_COLUMNS = 3
MARKERS = 16
"""As many on a line of many points."""
ROOM = 2.0
"""Of the height of a panel's lines that intervals may add on each side: those of two seeds are as wide as they like."""
ABSENT_AS_ZERO = ("policy/magnet_kl", "policy/regret")
"""Metrics of what a run may be without, logged as 0 then (docs/metrics.md)."""
LETTERS = 13
"""Of a legend on an inch."""


@dataclass(frozen=True)
class Curve:
    """A metric of a group of runs."""

    decisions: Int64Array
    """[points] those that every seed has"""
    mean: Float64Array
    """[points] over the seeds"""
    low: Float64Array
    """[points] lower end of the 95 % interval, NaN where there is none"""
    high: Float64Array
    """[points] upper end"""
    seeds: tuple[Series, ...]
    """Each seed's own, whole."""


def curve_of(runs: Sequence[Run], tag: str) -> Curve | None:
    """The curve of a metric over the seeds that have it; None without any, ValueError where those share no point."""
    having = [run for run in runs if tag in run.series and not _is_absent(run, tag)]
    if not having:
        return None
    seeds = tuple(run.series[tag] for run in having)
    decisions = reduce(np.intersect1d, (one.decisions for one in seeds))
    if not len(decisions):
        names = ", ".join(run.name for run in having)
        raise ValueError(f"{tag}: the runs {names} were not logged at the same numbers of decisions")
    values = np.stack([one.values[np.isin(one.decisions, decisions)] for one in seeds])
    mean = values.mean(axis=0)
    if len(seeds) > 1:
        factor = student.ppf((1 + CONFIDENCE) / 2, len(seeds) - 1)
        half = factor * values.std(axis=0, ddof=1) / np.sqrt(len(seeds))
        return Curve(decisions, mean, mean - half, mean + half, seeds)
    low, high = (_values_at(having[0].series.get(tag + bound), decisions) for bound in BOUNDS)
    return Curve(decisions, mean, low, high, seeds)


def panels_of(groups: Sequence[Group]) -> list[str]:
    """The metrics to draw: first strength, in the order of the baselines, and none of what every run is without."""
    found: dict[str, None] = {}
    for group in groups:
        for run in group.runs:
            watched = [strength_name(one) for one in run.config.get("baselines", ())]
            found |= dict.fromkeys(tag for tag in watched if tag in run.series)
    for group in groups:
        for run in group.runs:
            found |= dict.fromkeys(run.series)
    strength = [tag for tag in found if tag.startswith("strength/") and not _is_bound(tag, found)]
    others = sorted(tag for tag in found if not tag.startswith("strength/") and not _is_bound(tag, found))
    having = [run for group in groups for run in group.runs]
    return [
        tag
        for tag in (*strength, *others)
        if any(tag in one.series and not _is_absent(one, tag) for one in having)
    ]


def draw_curves(groups: Sequence[Group], paths: Sequence[Path]) -> None:
    """Draw every metric of `panels_of` in a panel of its own; ValueError without any."""
    tags = panels_of(groups)
    if not tags:
        raise ValueError("tags: the runs have nothing of it, so that there is nothing to draw")
    columns = 2 if len(tags) == 4 else min(len(tags), MOST_COLUMNS)
    rows, width = -(-len(tags) // columns), 1.2 + 3.3 * columns
    last = max(one.decisions[-1] for group in groups for run in group.runs for one in run.series.values())
    with drawing(width, 1.1 + 2.6 * rows, rows, columns) as (figure, panels):
        handles: dict[str, Any] = {}
        for axes, tag in zip(panels.flat, tags, strict=False):
            for index, group in enumerate(groups):
                curve = curve_of(group.runs, tag)
                if curve:
                    handles.setdefault(_legend(group), _draw(axes, curve, stroke(index)))
            _dress(axes, tag)
            axes.set_xlim(0, 1.02 * last / 1e6)
        for axes in panels.flat[len(tags) :]:
            axes.remove()
        beside = int(width * LETTERS // (max(map(len, handles)) + 7))
        figure.legend(
            handles.values(), handles, loc="outside upper center", ncols=max(1, min(len(handles), beside))
        )
        figure.supxlabel(f"million decisions\n{_told(groups)}", fontsize=9)
        save(figure, paths)


def _values_at(series: Series | None, decisions: Int64Array) -> Float64Array:
    """[points] the values of a series there, NaN where it has none."""
    found = np.full(len(decisions), np.nan)
    if series is not None:
        at = np.isin(decisions, series.decisions)
        found[at] = series.values[np.isin(series.decisions, decisions)]
    return found


def _is_bound(tag: str, tags: Any) -> bool:
    return any(tag.endswith(bound) and tag.removesuffix(bound) in tags for bound in BOUNDS)


def _is_absent(run: Run, tag: str) -> bool:
    return tag in ABSENT_AS_ZERO and not run.series[tag].values.any()


def _draw(axes: Any, curve: Curve, how: dict[str, Any]) -> Any:
    if len(curve.seeds) > 1:
        for seed in curve.seeds:
            axes.plot(seed.decisions / 1e6, seed.values, color=how["color"], linewidth=0.6, alpha=0.6)
    millions = curve.decisions / 1e6
    axes.fill_between(millions, curve.low, curve.high, color=how["color"], alpha=0.18, linewidth=0)
    every = -(-len(millions) // MARKERS)
    # Of a long series the strokes of neighbours would run together.
    (line,) = axes.plot(
        millions, curve.mean, markevery=every, **how, **({"linewidth": 1.1} if every > 3 else {})
    )
    return line


def _dress(axes: Any, tag: str) -> None:
    """Limits by the lines, names and units."""
    values = np.concatenate([line.get_ydata() for line in axes.lines])
    low, high = float(values.min()), float(values.max())
    room = ROOM * ((high - low) or abs(high) or 1.0)
    shown = axes.get_ylim()
    axes.set_ylim(max(shown[0], low - room), min(shown[1], high + room))
    kind, _, name = tag.partition("/")
    if kind == "strength":
        axes.axhline(0, color="0.6", linewidth=0.8, zorder=0)
    axes.set_title({"strength": f"against {name}", "policy": name}.get(kind, tag))
    axes.set_ylabel(UNITS.get(tag, UNITS.get(kind, "")))
    axes.grid(axis="y", color=FAINT)


def _legend(group: Group) -> str:
    count = len(group.runs)
    return f"{group.name} ({count} seed{'s' if count > 1 else ''})"


def _told(groups: Sequence[Group]) -> str:
    """What lines and bands are."""
    said = []
    if any(len(group.runs) > 1 for group in groups):
        said.append("mean of the seeds with its 95 % interval; thin: each seed")
    if any(len(group.runs) == 1 for group in groups):
        said.append("one seed: its 95 % interval is of the evaluation alone")
    return "; ".join(said)
