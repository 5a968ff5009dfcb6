"""Positions as our own networks see them: suits in order, features beside the observation, all about -1..1.

Suits are interchangeable. In the order of `smear_env.order_suits`, trump or the own best suit first, positions that
differ in suits' names alone are one, so that a network learns in some 60,000 decisions what takes several hundred
thousand with suits as dealt. Masks have that order too, and actions are named by it: `OrderedView` translates.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space

from smear_env._typing import Float32Array, Int8Array, Int64Array
from smear_env.features import feature_scale
from smear_env.layout import observation_scale
from smear_env.rules import Rules
from smear_env.single import LegalDiscrete, SmearSingleVectorEnv
from smear_env.suits import order_suits, original_actions


class Seen(NamedTuple):
    """Positions as a network takes them; B positions."""

    inputs: Float32Array
    """[B, d + f] float32: observations with their features, scaled."""
    mask: Int8Array
    """[B, n] int8, legal actions by their names in this order."""
    order: Int64Array
    """[B, suits] which suit stands in each place, for `OrderedView.actions`."""


class OrderedView:
    """Shows positions of one game with their suits in order, and names actions back."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.scale = np.concatenate([observation_scale(rules), feature_scale(rules)])
        """Factor for each input."""
        # Whatever is counted saturates at 100.
        bound = np.maximum(100 * self.scale, 1).astype(np.float32)
        self.space = spaces.Box(-bound, bound, dtype=np.float32)
        """Of the inputs of one position."""

    def see(self, observations: Int8Array, masks: Int8Array) -> Seen:
        """Positions [B, d] and [B, n] int8 in order."""
        seen = order_suits(observations, masks, self.rules, features=True)
        return Seen(seen.observation * self.scale, seen.mask, seen.order)

    def actions(self, chosen: Any, order: Int64Array) -> Int64Array:
        """Actions [B] that were chosen in order, as ids of the environment."""
        return original_actions(np.asarray(chosen, np.int64), order, self.rules)


class OrderedSuits(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The single Gymnasium environment with suits in order: observations, masks and actions."""

    def __init__(self, env: gymnasium.Env[Int8Array, Any]) -> None:
        super().__init__(env)
        self.view = OrderedView(env.get_wrapper_attr("rules"))
        self.observation_space = self.view.space
        # The environment's own space draws by masks that are not in order.
        self._sampler = LegalDiscrete(len(self.view.rules.action_names), self._legal)
        self.action_space = self._sampler
        self._seen: Seen | None = None
        self._first = True

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Float32Array, dict[str, Any]]:
        """As the environment's."""
        self._first = True
        return self._show(*self.env.reset(seed=seed, options=options))

    def step(self, action: Any) -> tuple[Float32Array, float, bool, bool, dict[str, Any]]:
        """As the environment's; the action is one of the mask that was shown."""
        if self._seen is None:
            raise RuntimeError("call reset() before step()")
        (chosen,) = self.view.actions([int(action)], self._seen.order)
        observation, reward, terminated, truncated, info = self.env.step(int(chosen))
        self._first = False
        inputs, info = self._show(observation, info)
        return inputs, float(reward), terminated, truncated, info

    def action_masks(self) -> Int8Array:
        """Legal actions in order, a fresh [n] int8; `RuntimeError` before `reset`."""
        if self._seen is None:
            raise RuntimeError("call reset() before action_masks()")
        return self._seen.mask[0].copy()

    def _legal(self, seeded: int | None) -> Int8Array:
        """What `action_space` samples from; see `LegalDiscrete` for one that has been seeded."""
        if seeded is None or self._first:
            return self.action_masks()
        first, info = copy.deepcopy(self.env).reset(seed=seeded)
        return self.view.see(first[None], info["action_mask"][None]).mask[0]

    def _show(self, observation: Int8Array, info: dict[str, Any]) -> tuple[Float32Array, dict[str, Any]]:
        self._sampler.seeded = None
        self._seen = self.view.see(observation[None], info["action_mask"][None])
        return self._seen.inputs[0], {**info, "action_mask": self.action_masks()}


class OrderedVectorEnv(gymnasium.vector.VectorWrapper):
    """`SmearSingleVectorEnv`, made with the same arguments, with suits in order: observations, masks and actions.

    Observations are [N, d + f] float32, also those of `info["final_obs"]`.
    """

    def __init__(self, num_envs: int = 1, rules: str | Rules = "four_point", **arguments: Any) -> None:
        self.games = SmearSingleVectorEnv(num_envs, rules, **arguments)
        super().__init__(self.games)
        self.rules = self.games.rules
        self.view = OrderedView(self.rules)
        self.single_observation_space = self.view.space
        self.observation_space = batch_space(self.view.space, num_envs)
        self._seen: Seen | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Float32Array, dict[str, Any]]:
        """As the environment's."""
        return self._show(*self.games.reset(seed=seed, options=options))

    def step(self, actions: Any) -> tuple[Float32Array, Any, Any, Any, dict[str, Any]]:
        """As the environment's; actions [N] are of the masks that were shown."""
        if self._seen is None:
            raise RuntimeError("call reset() before step()")
        chosen = self.view.actions(actions, self._seen.order)
        observation, reward, terminated, truncated, info = self.games.step(chosen)
        for game in np.flatnonzero(info.get("_final_obs", False)):
            nothing_legal = np.zeros((1, len(self.rules.action_names)), np.int8)
            info["final_obs"][game] = self.view.see(info["final_obs"][game][None], nothing_legal).inputs[0]
        inputs, info = self._show(observation, info)
        return inputs, reward, terminated, truncated, info

    def action_masks(self) -> Int8Array:
        """Legal actions in order, a fresh [N, n] int8; `RuntimeError` before `reset`."""
        if self._seen is None:
            raise RuntimeError("call reset() before action_masks()")
        return self._seen.mask.copy()

    def _show(self, observation: Int8Array, info: dict[str, Any]) -> tuple[Float32Array, dict[str, Any]]:
        self._seen = self.view.see(observation, info["action_mask"])
        return self._seen.inputs, {**info, "action_mask": self.action_masks()}


__all__ = ["OrderedSuits", "OrderedVectorEnv", "OrderedView", "Seen"]
