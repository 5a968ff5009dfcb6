"""Policies that a learner imitates before it goes its own way: several in the mean are stronger than each of them.

What their mean knows one network learns in a fraction of the decisions that they took, and a wider one can begin so
(Schmitt et al., "Kickstarting deep reinforcement learning", 2018).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from training.arrays import Float32Array
from training.network import Network

AT_ONCE = 8192
"""Positions run at once."""


class Tutors:
    """The mean of networks that see positions alike: their logits in the mean, a geometric mean of probabilities."""

    def __init__(self, networks: Sequence[Network]) -> None:
        self.networks = list(networks)

    @torch.no_grad()
    def logits(self, observation: Tensor) -> Float32Array:
        """Of positions [S, d] int8 as the networks see them, [S, n]: legal or not."""
        parts = [
            torch.stack([one.logits(part.to(one.scale.device)) for one in self.networks]).mean(dim=0).cpu()
            for part in observation.split(AT_ONCE)
        ]
        return np.concatenate([part.numpy() for part in parts])
