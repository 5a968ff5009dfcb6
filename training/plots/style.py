"""What every picture looks like, and how it is written: read in grey, by all eyes, and the same bytes each time.

Lines are told apart by lightness, stroke and marker, areas by one scale whose lightness rises evenly. Figures are made
without pyplot, whose state belongs to the program that draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from training.files import write_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHADES = "cividis"
"""Lightness rises evenly, so that it is read in grey and by all eyes."""
STROKES: tuple[dict[str, Any], ...] = (
    {"color": "#000000", "linestyle": "-", "marker": "o"},
    {"color": "#0072B2", "linestyle": "--", "marker": "s"},
    {"color": "#D55E00", "linestyle": "-.", "marker": "^"},
    {"color": "#009E73", "linestyle": ":", "marker": "D"},
    {"color": "#CC79A7", "linestyle": (0, (5, 1, 1, 1, 1, 1)), "marker": "v"},
    {"color": "#E69F00", "linestyle": (0, (8, 2)), "marker": "P"},
)
"""Of lines in one panel: colours of Okabe and Ito, which colour-blind eyes part, and what parts them in grey."""
FAINT = "0.85"
"""Of grids and of lines to compare with."""
ENDINGS = (".png", ".svg")
DPI = 150

_SETTINGS: Any = {
    "axes.axisbelow": True,
    "axes.grid": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that it is there
    "font.size": 10,
    "grid.color": FAINT,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 4,
    "svg.fonttype": "path",  # letters as outlines: they look alike where the font is not installed
    "svg.hashsalt": "smear",  # the same picture has the same names inside
}


@contextmanager
def drawing(
    width: float, height: float, rows: int = 1, columns: int = 1, **layout: Any
) -> Iterator[tuple[Figure, NDArray[Any]]]:
    """A figure of so many inches and its panels [rows, columns]; written inside the `with`, where the style holds.

    layout: for `Figure.subplots`, such as `sharey` and `width_ratios`.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_SETTINGS):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure, figure.subplots(rows, columns, squeeze=False, **layout)


def save(figure: Figure, paths: Sequence[Path]) -> None:
    """Write a figure to each of the paths, as its ending says."""
    # The layout settles once, so that a kind of file does not depend on what was written before it.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for path in paths:
        write_figure(path, figure, dpi=DPI)


def pixels(figure: Figure) -> NDArray[np.uint8]:
    """A figure as [height, width, 3] uint8 RGB."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    drawn = canvas.buffer_rgba()  # type: ignore[no-untyped-call]
    return np.asarray(drawn)[..., :3].copy()


def check_picture(path: Path, name: str = "picture") -> Path:
    """The path of a picture, if its ending says what kind it is; ValueError naming the option otherwise."""
    if path.suffix not in ENDINGS:
        raise ValueError(f"{name}={str(path)!r} must end with .png or .svg")
    return path


def out_paths(out: Path) -> tuple[Path, ...]:
    """The files that `--out` asks for: by its ending, or both kinds without one; ValueError for other endings."""
    if not out.suffix:
        return tuple(out.with_suffix(ending) for ending in ENDINGS)
    return (check_picture(out, "out"),)


def stroke(index: int) -> dict[str, Any]:
    """How the line of this number is drawn; after the last they come again."""
    return STROKES[index % len(STROKES)]


def legible(image: Any, value: float) -> str:
    """The colour of text on the shade that an image gives to a value."""
    red, green, blue, _ = image.cmap(image.norm(value))
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"


def plain_shades(axes: Axes) -> None:
    """Frame and ticks of a table of shades: none, and white lines between its cells."""
    rows, columns = axes.images[0].get_size()
    axes.set_xticks(np.arange(columns + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(rows + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1.5)
    axes.tick_params(which="minor", length=0)
    axes.spines[:].set_visible(False)
