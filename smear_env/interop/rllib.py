"""Ray RLlib, new API stack: the games as its `MultiAgentEnv`, a module for them, its policies as checkpoints of ours.

RLlib's action-masking module wants observations under `observations`, not under `observation` as PettingZoo has it, in
float32 beside a float32 mask. Its check of environments draws a step without looking at the mask, which may be illegal:
that ends the episode, as with `smear_env.env(illegal="terminate")`, and is no error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from ray.rllib.core.rl_module import RLModule, RLModuleSpec
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from smear_env.aec import SmearEnv
from smear_env.interop.checkpoint import save_layers
from smear_env.interop.ordered import OrderedView, Seen
from smear_env.rules import Rules

Shown = dict[str, dict[str, Any]]
"""Observation dictionaries by seat."""


class SmearMultiAgentEnv(MultiAgentEnv):
    """A match or a deal with a policy in every seat: `seat_0`, `seat_1`, ... by turns.

    Observations are `{"observations": [d + f] float32, "action_mask": [n] float32}`, with suits in order as
    `smear_env.interop.ordered` has them, which names actions too. The seat to act has one, and at the end every seat.
    Decisions with one legal action are not asked for. Rewards are given to every seat when they fall due; RLlib adds
    them up between a seat's own turns.

    Args:
        config: `rules`, a preset name, a `Rules`, or a list of these, of one preset, that episodes take in turn; and
            the arguments of `smear_env.env`, `episode` being "deal" and `reward` "points" if they are not given.

    `reset(seed=k)` begins deals that depend on k and on which of RLlib's env runners it is.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        arguments = {"episode": "deal", "reward": "points", **(config or {})}
        rules = arguments.pop("rules", "four_point")
        several = [rules] if isinstance(rules, str | Rules) else list(rules)
        self.games = [SmearEnv(one, **arguments) for one in several]
        """One for each of the rules."""
        self.rules = self.games[0].rules
        self.view = OrderedView(self.rules)
        self._runner = int(getattr(config, "worker_index", 0) or 0)
        self._seeds: list[int | None] = [None] * len(several)
        self._turn = -1
        self.agents = self.possible_agents = list(self.games[0].possible_agents)
        space = spaces.Dict(
            {
                "observations": self.view.space,
                "action_mask": spaces.Box(0, 1, (len(self.rules.action_names),), np.float32),
            }
        )
        self.observation_spaces = dict.fromkeys(self.agents, space)
        self.action_spaces = dict(self.games[0].action_spaces)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Shown, dict[str, Any]]:
        """Start the next episode, or the first one of `seed`; what the seat to act sees. `options` go to `SmearEnv`."""
        if seed is not None:
            mixed = np.random.SeedSequence([seed, self._runner]).generate_state(1, np.uint64)
            self._seeds = [int(mixed[0])] * len(self.games)
        self._turn = (self._turn + 1) % len(self.games)
        game = self.games[self._turn]
        game.reset(self._seeds[self._turn], options or None)
        self._seeds[self._turn] = None
        rewards = dict.fromkeys(self.agents, 0.0)
        self._skip_forced(rewards)
        return self._shown(), {}

    def step(
        self, action_dict: Mapping[str, Any]
    ) -> tuple[Shown, dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Apply the action of the seat to act; a dictionary each of what is seen, earned, ended and cut off."""
        game = self.games[self._turn]
        # As it was shown: the order of suits is a function of the position.
        order = self._see(game.agent_selection).order
        game.step(int(self.view.actions([action_dict[game.agent_selection]], order)[0]))
        rewards = dict(game.rewards)
        self._skip_forced(rewards)
        terminated = {"__all__": any(game.terminations.values())}
        truncated = {"__all__": any(game.truncations.values())}
        return self._shown(), rewards, terminated, truncated, {}

    def render(self) -> Any:
        """As `SmearEnv.render`."""
        return self.games[self._turn].render()

    @property
    def _over(self) -> bool:
        game = self.games[self._turn]
        return any(game.terminations.values()) or any(game.truncations.values())

    def _skip_forced(self, rewards: dict[str, float]) -> None:
        """Take decisions with one legal action, adding what they earn to `rewards`."""
        game = self.games[self._turn]
        while not self._over:
            legal = np.flatnonzero(game.observe(game.agent_selection)["action_mask"])
            if len(legal) > 1:
                return
            game.step(int(legal[0]))
            for seat, earned in game.rewards.items():
                rewards[seat] += earned

    def _shown(self) -> Shown:
        game = self.games[self._turn]
        return {seat: self._view(seat) for seat in (self.agents if self._over else [game.agent_selection])}

    def _view(self, seat: str) -> dict[str, Any]:
        seen = self._see(seat)
        return {"observations": seen.inputs[0], "action_mask": seen.mask[0].astype(np.float32)}

    def _see(self, seat: str) -> Seen:
        shown = self.games[self._turn].observe(seat)
        return self.view.see(shown["observation"][None], shown["action_mask"][None])


def module_spec(hidden: Sequence[int] = (256, 256)) -> Any:
    """A module for PPO that checkpoints of ours can be made of: masked, ReLU, and a critic of its own."""
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig

    shape = DefaultModelConfig(fcnet_hiddens=list(hidden), fcnet_activation="relu", vf_share_layers=False)
    return RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=shape)


def save_policy(
    folder: str | Path,
    source: Any,
    rules: str | Rules | Sequence[str | Rules],
    *,
    module_id: str = "main",
    **described: Any,
) -> Path:
    """Write a policy as a checkpoint that `load_policy` plays; the folder.

    Args:
        folder: where to.
        source: a module of `module_spec`, as `algorithm.get_module(...)` gives it, or the path of RLlib's checkpoint.
        rules: what it was trained on.
        module_id: which module of RLlib's checkpoint.
        described: goes to `save_layers`.

    Raises ValueError for a module of another kind.
    """
    module = source
    if isinstance(source, str | Path):
        module = RLModule.from_checkpoint(
            Path(source) / "learner_group" / "learner" / "rl_module" / module_id
        )
    try:
        parts = [*module.encoder.actor_encoder.modules(), *module.pi.modules()]
    except AttributeError as error:
        raise ValueError(
            f"source is a {type(module).__name__}, not a module of module_spec(): {error}"
        ) from error
    odd = {type(part).__name__ for part in parts if not list(part.children())} - {"Linear", "ReLU"}
    if odd:
        raise ValueError(f"the module has layers {', '.join(sorted(odd))}: make it by module_spec()")
    linear = [part for part in parts if type(part).__name__ == "Linear"]
    layers = [(one.weight.detach().cpu().numpy(), one.bias.detach().cpu().numpy()) for one in linear]
    return save_layers(folder, rules, layers, **described)


__all__ = ["SmearMultiAgentEnv", "module_spec", "save_policy"]
