"""Stable-Baselines3: the vector environment as its `VecEnv`, and its policies as checkpoints of ours.

A single environment needs no adapter: SB3 takes Gymnasium's, and sb3-contrib finds `action_masks()`. Of many, SB3 would
step one Python object after another; `SmearVecEnv` steps all games, and what the other seats do in them, by kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.torch_layers import FlattenExtractor
from stable_baselines3.common.vec_env import VecEnv

from smear_env._typing import BoolArray, Float32Array, Int8Array
from smear_env.interop.checkpoint import save_layers
from smear_env.interop.ordered import OrderedView, Seen
from smear_env.rules import Rules
from smear_env.single import SmearSingleVectorEnv


class SmearVecEnv(VecEnv):
    """`num_envs` learners in games of their own, with the arguments of `SmearSingleVectorEnv`.

    Observations, masks and actions have suits in order (`smear_env.interop.ordered`), [N, d + f] float32.
    `env_method("action_masks")` gives the masks, as sb3-contrib asks for them.
    """

    def __init__(self, num_envs: int, rules: str | Rules = "four_point", **arguments: Any) -> None:
        self.games = SmearSingleVectorEnv(num_envs, rules, **arguments)
        self.rules = self.games.rules
        self.view = OrderedView(self.rules)
        self._actions: Any = None
        self._seen: Seen | None = None
        super().__init__(num_envs, self.view.space, self.games.single_action_space)

    def reset(self) -> Float32Array:
        """Start the next game in every environment, or by the seed that `seed` was told; observations [N, d + f]."""
        # SB3 seeds environment i with seed + i; here one seed is that of all games.
        observation, info = self.games.reset(seed=self._seeds[0])
        self.reset_infos = [{"seat": int(seat)} for seat in info["seat"]]
        self._reset_seeds()
        self._reset_options()
        return self._show(observation, info)

    def step_async(self, actions: Any) -> None:
        """Keep the learners' actions [N] for `step_wait`."""
        self._actions = np.asarray(actions, np.int64)

    def step_wait(self) -> tuple[Float32Array, Float32Array, BoolArray, list[dict[str, Any]]]:
        """Apply them: observations [N, d + f], rewards [N], whether episodes ended [N], and an info for each."""
        if self._seen is None:
            raise RuntimeError("call reset() before step()")
        chosen = self.view.actions(self._actions, self._seen.order)
        observation, reward, terminated, truncated, info = self.games.step(chosen)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        done = terminated | truncated
        ended = np.flatnonzero(done)
        if len(ended):
            last = np.stack(list(info["final_obs"][ended]))
            ends = self.view.see(last, np.zeros((len(ended), len(self.rules.action_names)), np.int8)).inputs
            for i, end in zip(ended, ends, strict=True):
                cut_off = bool(truncated[i] and not terminated[i])
                infos[i] = {"terminal_observation": end, "TimeLimit.truncated": cut_off}
        return self._show(observation, info), reward.astype(np.float32), done, infos

    def action_masks(self) -> Int8Array:
        """Legal actions of the learners, [N, n] int8; `RuntimeError` before `reset`."""
        if self._seen is None:
            raise RuntimeError("call reset() before action_masks()")
        return self._seen.mask

    def close(self) -> None:
        """Nothing is held open."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The attribute of the games, the same for each of `indices`."""
        value = getattr(self if attr_name == "action_masks" else self.games, attr_name)
        return [value for _ in self._chosen(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:  # noqa: ARG002  # SB3's signature
        """Refused: all games are stepped as one."""
        raise ValueError(
            f"{attr_name}={value!r}: the games share what they are made with; make another SmearVecEnv"
        )

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **_: Any) -> list[Any]:
        """`action_masks`, one [n] for each of `indices`; ValueError for another method."""
        if method_name != "action_masks" or method_args:
            raise ValueError(f"method_name={method_name!r}: SmearVecEnv has action_masks() alone")
        masks = self.action_masks()
        return [masks[i] for i in self._chosen(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:  # noqa: ARG002  # likewise
        """No game has a wrapper of its own."""
        return [False for _ in self._chosen(indices)]

    def _show(self, observation: Int8Array, info: dict[str, Any]) -> Float32Array:
        self._seen = self.view.see(observation, info["action_mask"])
        return self._seen.inputs

    def _chosen(self, indices: Any) -> Sequence[int]:
        return list(self._get_indices(indices))


def save_policy(folder: str | Path, model: Any, rules: str | Rules, **described: Any) -> Path:
    """Write the policy of a PPO or MaskablePPO model as a checkpoint that `load_policy` plays; the folder.

    It must be an "MlpPolicy" with ReLU (`policy_kwargs={"activation_fn": torch.nn.ReLU}`), trained on
    `SmearVecEnv`, `SmearSingleEnv` as it is, `OrderedSuits` or `ScaledObservation`. `described` goes to `save_layers`.
    Raises ValueError for another network, and for one whose observations `VecNormalize` normalised.
    """
    try:
        extractor, stack = model.policy.features_extractor, list(model.policy.mlp_extractor.policy_net)
    except AttributeError as error:
        raise ValueError(f"model={type(model).__name__} has no policy of PPO's kind: {error}") from error
    odd = {type(layer).__name__ for layer in stack} - {"Linear", "ReLU"}
    if type(extractor) is not FlattenExtractor:
        odd.add(type(extractor).__name__)
    if odd:
        raise ValueError(
            f"the policy has layers {', '.join(sorted(odd))}: train an 'MlpPolicy' with "
            "policy_kwargs={'activation_fn': torch.nn.ReLU}"
        )
    normalised = model.get_vec_normalize_env()
    if normalised is not None and normalised.norm_obs:
        raise ValueError(
            "model was trained on what VecNormalize made of observations, which a checkpoint does not: "
            "make it with norm_obs=False, observations are about -1..1 as they are"
        )
    linear = [layer for layer in (*stack, model.policy.action_net) if hasattr(layer, "weight")]
    layers = [(one.weight.detach().cpu().numpy(), one.bias.detach().cpu().numpy()) for one in linear]
    # The plain environment's int8 goes into the network unscaled; every view of ours is float32.
    described = {"scaled": model.observation_space.dtype != np.int8, **described}
    return save_layers(folder, rules, layers, decisions=int(model.num_timesteps), **described)


__all__ = ["SmearVecEnv", "save_policy"]
