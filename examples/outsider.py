"""A player from outside for `python -m training.evaluate --agent outsider:choose`: any legal action, evenly.

`outsider:Careful` keeps something from decision to decision: it is a class, and its object is called.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np


def choose(observation: Any, mask: Any) -> int:
    """An action's id, for the observation [d] and the mask of legal actions [n]."""
    return int(random.choice(np.flatnonzero(mask)))


class Careful:
    """Passes if it may, and otherwise plays the first legal action, by name; `info` says what they are called."""

    def __init__(self) -> None:
        self.decisions = 0

    def __call__(self, observation: Any, mask: Any, info: dict[str, Any]) -> str:
        """An action's name."""
        self.decisions += 1
        legal: list[str] = info["legal"]
        return "pass" if "pass" in legal else legal[0]


if __name__ == "__main__":
    print("action", choose(np.zeros(10), np.array([0, 1, 0, 1])), "of 1 and 3")
