"""A picture of a tournament: the cross table in shades that also grey shows, and the ratings with their errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.evaluation.players import label
from training.files import write_figure

SHADES = "cividis"
"""Lightness rises evenly, so that it is read in grey and by all eyes."""


def write_picture(result: dict[str, Any], path: Path) -> None:
    """Write the picture of a tournament's result as PNG or SVG, by the path's ending."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    names = [one["agent"] for one in result["ratings"]]
    count = len(names)
    # The same result gives the same file.
    with mpl.rc_context({"svg.hashsalt": "smear", "font.family": "DejaVu Sans", "font.size": 10}):
        figure, (ratings, cross) = plt.subplots(
            1,
            2,
            figsize=(4.2 + 1.25 * count, 1.9 + 0.78 * count),
            width_ratios=(3.0, 1.25 * count),
            layout="constrained",
            sharey=True,
        )
        _draw_cross(cross, result, names)
        _draw_ratings(ratings, result)
        deals = result["deals"]
        what = (
            f"fixed deals {deals['sha256'][:8]}" if "fixed" in deals else f"fresh deals, seed {deals['seed']}"
        )
        figure.suptitle(f"{result['rules']}: {result['pairs']} duplicate sets, {what}", fontsize=12)
        write_figure(path, figure, dpi=150)
        plt.close(figure)


def _draw_ratings(axes: Any, result: dict[str, Any]) -> None:
    ratings = result["ratings"]
    means = [one["rating"] for one in ratings]
    ends = np.array([one["interval"] for one in ratings])
    spans = np.abs(ends.T - np.array(means))
    axes.errorbar(means, range(len(ratings)), xerr=spans, fmt="o", color="black", capsize=3, markersize=4)
    for row, one in enumerate(ratings):
        text = f"{one['rating']:+.2f} ± {one['standard_error']:.2f}"
        axes.annotate(
            text, (one["rating"], row), xytext=(0, 8), textcoords="offset points", ha="center", fontsize=8
        )
    axes.axvline(0, color="0.7", linewidth=0.8, zorder=0)
    axes.set_yticks(range(len(ratings)), [label(one["agent"]) for one in ratings])
    axes.set_xlabel("rating, points per deal\n± standard error, with 95 % interval")
    axes.margins(x=0.25)
    axes.grid(axis="x", color="0.9")
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", which="minor", length=0)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_cross(axes: Any, result: dict[str, Any], names: list[str]) -> None:
    count = len(names)
    values = np.full((count, count), np.nan)
    texts = {}
    for cell in result["cells"]:
        row, column = names.index(cell["agent"]), names.index(cell["against"])
        values[row, column] = cell["points_per_deal"]
        low, high = cell["interval"]
        texts[row, column] = (f"{cell['points_per_deal']:+.2f}", f"{low:+.2f} to {high:+.2f}")
    most = float(np.nanmax(np.abs(values))) or 1.0
    image = axes.imshow(values, cmap=SHADES, vmin=-most, vmax=most, aspect="auto")
    for (row, column), (figure, span) in texts.items():
        colour = _legible(image, values[row, column])
        axes.text(column, row - 0.12, figure, ha="center", va="center", color=colour, fontsize=11)
        axes.text(column, row + 0.22, span, ha="center", va="center", color=colour, fontsize=7)
    axes.set_xticks(range(count), [label(name) for name in names], rotation=20, ha="right")
    axes.set_xlabel("against")
    axes.set_xticks(np.arange(count + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(count + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1.5)
    axes.tick_params(which="minor", length=0)
    axes.tick_params(axis="y", left=False, labelleft=False)
    axes.spines[:].set_visible(False)
    axes.figure.colorbar(image, ax=axes, label="points per deal of the row's agent")


def _legible(image: Any, value: float) -> str:
    """The colour of text on the shade of a value."""
    red, green, blue, _ = image.cmap(image.norm(value))
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"


def baselines_image(results: list[dict[str, Any]]) -> NDArray[np.uint8]:
    """One player's `evaluate` results against each of its opponents as a picture, [height, width, 3] uint8 RGB.

    The upper row is the figure with its interval, the rows below what it made as each team.
    """
    # Not by pyplot, whose state belongs to the program that trains.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    teams = len(results[0]["by_team"])
    values = np.array([[one["points_per_deal"], *one["by_team"]] for one in results]).T
    figure = Figure(
        figsize=(2.2 + 1.4 * len(results), 1.1 + 0.6 * (1 + teams)), dpi=100, layout="constrained"
    )
    canvas, axes = FigureCanvasAgg(figure), figure.subplots()
    most = float(np.abs(values).max()) or 1.0
    image = axes.imshow(values, cmap=SHADES, vmin=-most, vmax=most, aspect="auto")
    for column, one in enumerate(results):
        low, high = one["interval"]
        for row, value in enumerate(values[:, column]):
            text = f"{value:+.2f}" + (f"\n{low:+.2f} to {high:+.2f}" if row == 0 else "")
            axes.text(column, row, text, ha="center", va="center", color=_legible(image, value), fontsize=8)
    axes.set_xticks(range(len(results)), [label(one["against"]) for one in results])
    axes.set_yticks(range(1 + teams), ["either side", *(f"as team {team}" for team in range(teams))])
    axes.set_title(f"{results[0]['rules']}: points per deal, {results[0]['pairs']} sets", fontsize=9)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelsize=8)
    canvas.draw()  # type: ignore[no-untyped-call]
    pixels = canvas.buffer_rgba()  # type: ignore[no-untyped-call]
    return np.asarray(pixels)[..., :3].copy()
