"""From values of actions in several worlds to one action."""

from __future__ import annotations

import numpy as np

from smear_env._typing import Float32Array, Float64Array, Int8Array


def choose(
    values: Float32Array, legal: Int8Array, preferred: int, doubt: float, weights: Float64Array | None = None
) -> int:
    """The action of the best mean value, unless `preferred` may well be as good.

    values: [W, n] in the same worlds for every action. legal: [n]. weights: [W] of the worlds, equal if None. The preferred action stands
    unless the mean difference exceeds `doubt` of its standard errors, over worlds.
    """
    actions = np.flatnonzero(legal)
    shares = np.full(len(values), 1 / len(values)) if weights is None else weights / weights.sum()
    means = shares @ values[:, actions]
    best = int(actions[means.argmax()])
    difference = (values[:, best] - values[:, preferred]).astype(np.float64)
    mean = float(shares @ difference)
    variance = float(shares @ (difference - mean) ** 2)
    effective = 1 / float((shares**2).sum())
    error = np.sqrt(variance / max(1.0, effective - 1))
    return best if mean > doubt * error + 1e-6 else preferred
