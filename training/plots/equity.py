"""Match equity as a heat map: shades by score, with lines of equal chances that also grey print shows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from training.equity.report import plane, slices
from training.equity.table import MatchEquity
from training.evaluation.players import label
from training.plots.style import SHADES, drawing, save

LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)


def draw_equity(equity: MatchEquity, paths: Sequence[Path]) -> None:
    """Draw the dealer's team's chances by both scores; of three teams, for some scores of the third."""
    thirds = slices(equity)
    with drawing(1.6 + 5.2 * len(thirds), 5.4, columns=len(thirds)) as (figure, panels):
        for axes, third in zip(panels[0], thirds, strict=True):
            shown = _draw(axes, equity, third)
        bar = figure.colorbar(shown, ax=list(panels[0]), ticks=[0, *LEVELS, 1], shrink=0.9)
        bar.set_label("probability that the dealer's team wins the match")
        figure.set_layout_engine("constrained", h_pad=0.06)
        options = "".join(f", {name}={value}" for name, value in equity.rules.options().items())
        name = label(equity.description.get("player", {}).get("name", ""))
        figure.suptitle(f"{equity.rules.name}{options}: {name} in every seat", fontsize=12)
        save(figure, paths)


def _draw(axes: Any, equity: MatchEquity, third: int | None) -> Any:
    grid = equity.grid
    low = max(grid.floor, -(equity.rules.target // 2))
    scores = np.arange(low, grid.last + 1)
    part = slice(low - grid.floor, grid.last - grid.floor + 1)
    values = plane(equity, equity.table, third)[part, part]
    edges = (low - 0.5, grid.last + 0.5)
    shown = axes.imshow(values, cmap=SHADES, vmin=0, vmax=1, origin="lower", extent=(*edges, *edges))
    light = ["white" if level < 0.6 else "black" for level in LEVELS]
    lines = axes.contour(scores, scores, values, levels=LEVELS, colors=light, linewidths=1.2)
    axes.clabel(lines, fmt=lambda level: f"{100 * level:.0f} %", fontsize=9)
    axes.set_xlabel("score of the next team" if third is not None else "score of the other team")
    axes.set_ylabel("score of the dealer's team")
    if third is not None:
        axes.set_title(f"third team at {third}")
    steps = [score for score in scores if score % 3 == 0]
    axes.set_xticks(steps)
    axes.set_yticks(steps)
    axes.spines[:].set_visible(True)
    return shown
