"""Cross tables in shades that also grey shows: of a tournament with its ratings, and of cross-play."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from training.arrays import Float64Array
from training.crossplay import FORMAT as CROSSPLAY
from training.evaluation.players import label
from training.plots.style import SHADES, drawing, legible, plain_shades, save
from training.tournament import FORMAT as TOURNAMENT


@dataclass(frozen=True)
class CrossTable:
    """Figures of rows against columns, points per deal; NaN where the two did not meet."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    points: Float64Array
    """[rows, columns]"""
    low: Float64Array
    """[rows, columns] lower end of the 95 % interval"""
    high: Float64Array
    """[rows, columns] upper end"""


def read_result(path: Path) -> dict[str, Any]:
    """The result of a tournament or of cross-play in a file; ValueError naming the file and what is wrong with it."""
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"result={str(path)!r} is not readable as JSON: {error}") from error
    kind = result.get("format") if isinstance(result, dict) else None
    if kind not in (TOURNAMENT, CROSSPLAY):
        raise ValueError(
            f"result={str(path)!r} has format={kind!r}, expected {TOURNAMENT!r} or {CROSSPLAY!r}: give a file that "
            "training.tournament or training.crossplay wrote with --json"
        )
    return result


def table_of(result: dict[str, Any]) -> CrossTable:
    """The cross table of a result, a tournament's best first; ValueError where the result is not whole.

    In a tournament the row's agent plays against the column's. In cross-play the two are partners, and the figure is
    what they score against teams of either alone; it has a row for each agent, and columns for the partners too.
    """
    try:
        if result["format"] == TOURNAMENT:
            rows = columns = [one["agent"] for one in result["ratings"]]
            met = {(one["agent"], one["against"]): one for one in result["cells"]}
        else:
            rows, columns = result["agents"], [*result["agents"], *result["partners"]]
            met = {tuple(one["agents"]): one for one in result["couples"]}
            met |= {(second, first): one for (first, second), one in met.items()}
        found = np.full((3, len(rows), len(columns)), np.nan)
        for row, name in enumerate(rows):
            for column, other in enumerate(columns):
                if one := met.get((name, other)):
                    found[:, row, column] = (one["points_per_deal"], *one["interval"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"the result is not whole: {error!r}; make it again") from error
    return CrossTable(tuple(map(label, rows)), tuple(map(label, columns)), *found)


def draw_crosstable(result: dict[str, Any], paths: Sequence[Path]) -> None:
    """Draw the cross table of a result, a tournament's beside its ratings."""
    table = table_of(result)
    rated = result["format"] == TOURNAMENT
    across, down = 1.25 * len(table.columns), 0.78 * len(table.rows)
    with drawing(
        (4.2 if rated else 3.2) + across,
        1.9 + down,
        columns=2 if rated else 1,
        width_ratios=(3.0, across) if rated else None,
        sharey=True,
    ) as (figure, panels):
        cross = panels[0, -1]
        _draw_cross(
            cross, table, "points per deal of the row's agent" if rated else "points per deal of the partners"
        )
        cross.set_xlabel("against" if rated else "partner")
        if rated:
            cross.tick_params(axis="y", left=False, labelleft=False)
            _draw_ratings(panels[0, 0], result)
        figure.suptitle(_title(result), fontsize=12)
        save(figure, paths)


def _title(result: dict[str, Any]) -> str:
    deals = result["deals"]
    where = f"fixed deals {deals['sha256'][:8]}" if "fixed" in deals else f"fresh deals, seed {deals['seed']}"
    what = f"{result['rules']}: {result['pairs']} duplicate sets, {where}"
    if result["format"] == TOURNAMENT:
        return what
    low, high = result["gap"]["interval"]
    gap = f"gap {result['gap']['points_per_deal']:+.2f} ({low:+.2f} to {high:+.2f})"
    return f"{what}\nmixed teams against teams of either player, {gap}"


def _draw_ratings(axes: Any, result: dict[str, Any]) -> None:
    ratings = result["ratings"]
    means = [one["rating"] for one in ratings]
    ends = np.array([one["interval"] for one in ratings])
    spans = np.abs(ends.T - np.array(means))
    axes.errorbar(means, range(len(ratings)), xerr=spans, fmt="o", color="black", capsize=3)
    for row, one in enumerate(ratings):
        text = f"{one['rating']:+.2f} ± {one['standard_error']:.2f}"
        axes.annotate(
            text, (one["rating"], row), xytext=(0, 8), textcoords="offset points", ha="center", fontsize=8
        )
    axes.axvline(0, color="0.7", linewidth=0.8, zorder=0)
    axes.set_yticks(range(len(ratings)), [label(one["agent"]) for one in ratings])
    axes.set_xlabel("rating, points per deal\n± standard error, with 95 % interval")
    axes.margins(x=0.25)
    axes.grid(axis="x")
    axes.tick_params(axis="y", which="minor", length=0)


def _draw_cross(axes: Any, table: CrossTable, told: str) -> None:
    known = np.abs(table.points[~np.isnan(table.points)])
    most = float(known.max(initial=0.0)) or 1.0
    image = axes.imshow(table.points, cmap=SHADES, vmin=-most, vmax=most, aspect="auto")
    for row, column in np.argwhere(~np.isnan(table.points)):
        value = table.points[row, column]
        span = f"{table.low[row, column]:+.2f} to {table.high[row, column]:+.2f}"
        centred = {"ha": "center", "va": "center", "color": legible(image, value)}
        axes.text(column, row - 0.12, f"{value:+.2f}", fontsize=11, **centred)
        axes.text(column, row + 0.22, span, fontsize=7, **centred)
    axes.set_xticks(range(len(table.columns)), table.columns, rotation=20, ha="right")
    axes.set_yticks(range(len(table.rows)), table.rows)
    plain_shades(axes)
    axes.figure.colorbar(image, ax=axes, label=told)
