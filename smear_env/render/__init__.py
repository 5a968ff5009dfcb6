"""A table as text and as a picture.

Knows card names and seats, not the rules: whoever steps a game fills in a `TableView`. Text needs the
standard library only, the picture Pillow (`pip install "smear-env[render]"`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smear_env.render.text import to_text
from smear_env.render.view import TableView

__all__ = ["TableView", "to_image", "to_text"]


def to_image(view: TableView, width: int = 960, height: int = 720) -> NDArray[np.uint8]:
    """The table as a picture: uint8 [height, width, 3], RGB.

    The same view gives the same pixels. Laid out for 4:3; other shapes get a wider margin.
    """
    try:
        from smear_env.render.picture import draw
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "PIL":
            raise
        raise ImportError('pictures need Pillow: pip install "smear-env[render]"') from error
    return draw(view, width, height)
