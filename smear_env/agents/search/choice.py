"""From values of actions in several worlds to one action."""

from __future__ import annotations

import numpy as np

from smear_env._typing import Float32Array, Int8Array


def choose(values: Float32Array, legal: Int8Array, preferred: int, doubt: float) -> int:
    """The action of the best mean value, unless `preferred` may well be as good.

    values: [W, n] in the same worlds for every action. legal: [n]. The preferred action stands unless the mean
    of the differences exceeds `doubt` of its standard errors, over worlds.
    """
    actions = np.flatnonzero(legal)
    best = int(actions[values[:, actions].mean(axis=0, dtype=np.float64).argmax()])
    difference = (values[:, best] - values[:, preferred]).astype(np.float64)
    error = difference.std() / np.sqrt(max(1, len(values) - 1))
    return best if difference.mean() > doubt * error + 1e-6 else preferred
