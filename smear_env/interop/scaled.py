"""The Gymnasium environment with observations about -1..1, as libraries want them that feed a network unchanged."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from smear_env._typing import Float32Array, Int8Array
from smear_env.layout import observation_scale
from smear_env.rules import Rules


def scaled_space(rules: Rules) -> spaces.Box:
    """The space of `observation * observation_scale(rules)`, float32 [d]."""
    # Where an observation saturates at 100, what a number is divided by bounds it.
    bound = np.maximum(100 * observation_scale(rules), 1).astype(np.float32)
    return spaces.Box(-bound, bound, dtype=np.float32)


class ScaledObservation(gymnasium.ObservationWrapper[Any, Any, Any]):
    """`observation * observation_scale(rules)`, [d] float32; mask, seat and `action_masks()` as they were."""

    def __init__(self, env: gymnasium.Env[Int8Array, Any]) -> None:
        super().__init__(env)
        rules: Rules = env.get_wrapper_attr("rules")
        self._scale = observation_scale(rules)
        self.observation_space = scaled_space(rules)

    def observation(self, observation: Int8Array) -> Float32Array:
        """The observation in float32, scaled."""
        return observation * self._scale


__all__ = ["ScaledObservation", "scaled_space"]
