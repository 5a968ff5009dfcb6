"""A run's evaluation at its end as a picture for trackers: each baseline, with what was made as each team."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.evaluation.players import label
from training.plots.style import SHADES, drawing, legible, pixels


def baselines_image(results: list[dict[str, Any]]) -> NDArray[np.uint8]:
    """One player's `evaluate` results against each of its opponents as a picture, [height, width, 3] uint8 RGB.

    The upper row is the figure with its interval, the rows below what it made as each team.
    """
    teams = len(results[0]["by_team"])
    values = np.array([[one["points_per_deal"], *one["by_team"]] for one in results]).T
    with drawing(2.2 + 1.4 * len(results), 1.1 + 0.6 * (1 + teams)) as (figure, panels):
        axes = panels[0, 0]
        most = float(np.abs(values).max()) or 1.0
        image = axes.imshow(values, cmap=SHADES, vmin=-most, vmax=most, aspect="auto")
        for column, one in enumerate(results):
            low, high = one["interval"]
            for row, value in enumerate(values[:, column]):
                text = f"{value:+.2f}" + (f"\n{low:+.2f} to {high:+.2f}" if row == 0 else "")
                axes.text(
                    column, row, text, ha="center", va="center", color=legible(image, value), fontsize=8
                )
        axes.set_xticks(range(len(results)), [label(one["against"]) for one in results])
        axes.set_yticks(range(1 + teams), ["either side", *(f"as team {team}" for team in range(teams))])
        axes.set_title(f"{results[0]['rules']}: points per deal, {results[0]['pairs']} sets", fontsize=9)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, labelsize=8)
        return pixels(figure)
