"""Adam (Kingma and Ba, "Adam: a method for stochastic optimization", 2015), its gradient clipped to a norm.

Clipping and stepping are one pass over memory on a CPU, where they take half as long as by a tensor library's calls.
"""

from __future__ import annotations

import math

import numba
import numpy as np
import torch
from torch import Tensor

from training.arrays import Float32Array
from training.peers import Gradients

MEAN_DECAY, SQUARE_DECAY = 0.9, 0.999


class Adam:
    """Steps a network's parameters against their gradients.

    Args:
        gradients: of the network, the parameters as one among them.
        epsilon: added to the root of the mean square.
    """

    def __init__(self, gradients: Gradients, epsilon: float = 1e-5) -> None:
        self.gradients = gradients
        self.epsilon = epsilon
        self.steps = 0
        self._mean = torch.zeros_like(gradients.whole)
        self._square = torch.zeros_like(gradients.whole)

    def step(self, rate: float, limit: float) -> float:
        """Step at a rate, by the gradients of all processes shrunk to a norm of at most `limit`; returns the norm.

        rate and limit: above 0. The gradients themselves are not changed.
        """
        gradient = self.gradients.add_up()
        self.steps += 1
        norm = _norm(gradient)
        factor = min(1.0, limit / (norm + 1e-6))
        size = rate / (1 - MEAN_DECAY**self.steps)
        root = 1 / math.sqrt(1 - SQUARE_DECAY**self.steps)
        parts = (self.gradients.whole, gradient, self._mean, self._square)
        if gradient.device.type == "cpu":
            _step(*(part.numpy() for part in parts), *map(np.float32, (factor, size, root, self.epsilon)))
        else:
            _step_by_tensors(*parts, factor, size, root, self.epsilon)
        return norm

    def tensors(self) -> dict[str, Tensor]:
        """All that `restore` needs."""
        return {"mean": self._mean, "square": self._square, "steps": torch.tensor(self.steps)}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Go on where `tensors` were taken; KeyError for one that is missing, RuntimeError for one of another size."""
        self._mean.copy_(tensors["mean"])
        self._square.copy_(tensors["square"])
        self.steps = int(tensors["steps"])


def _norm(gradient: Tensor) -> float:
    if gradient.device.type == "cpu":
        return math.sqrt(_sum_of_squares(gradient.numpy()))
    return float(gradient.norm())


# Summed in any order, so that many numbers are added at once.
@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})  # type: ignore[untyped-decorator]
def _sum_of_squares(gradient: Float32Array) -> np.float32:
    total = np.float32(0)
    for i in range(len(gradient)):
        total += gradient[i] * gradient[i]
    return total


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})  # type: ignore[untyped-decorator]
def _step(
    whole: Float32Array,
    gradient: Float32Array,
    mean: Float32Array,
    square: Float32Array,
    factor: np.float32,
    size: np.float32,
    root: np.float32,
    epsilon: np.float32,
) -> None:
    to_mean, keep, to_square = (
        np.float32(1 - MEAN_DECAY),
        np.float32(SQUARE_DECAY),
        np.float32(1 - SQUARE_DECAY),
    )
    for i in range(len(whole)):
        slope = gradient[i] * factor
        mean[i] += (slope - mean[i]) * to_mean
        square[i] = square[i] * keep + slope * slope * to_square
        whole[i] -= size * mean[i] / (np.sqrt(square[i]) * root + epsilon)


def _step_by_tensors(
    whole: Tensor,
    gradient: Tensor,
    mean: Tensor,
    square: Tensor,
    factor: float,
    size: float,
    root: float,
    epsilon: float,
) -> None:
    slope = gradient * factor
    mean.lerp_(slope, 1 - MEAN_DECAY)
    square.mul_(SQUARE_DECAY).addcmul_(slope, slope, value=1 - SQUARE_DECAY)
    whole.addcdiv_(mean, square.sqrt().mul_(root).add_(epsilon), value=-size)
