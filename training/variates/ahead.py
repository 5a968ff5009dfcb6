"""Values one action ahead, by the critic of a checkpoint: how lucky a sampled choice was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from smear_env import Rules, SelfPlayVectorEnv, VectorStep, read_policy
from training.arrays import Float64Array, Int64Array
from training.network import Network, load_network

AHEAD = 2048
"""Positions one action ahead that are evaluated at once."""


class Lookahead:
    """Plays every legal action by the engine and asks a critic, which sees all hands, what each team can expect then.

    Args:
        critic: a checkpoint's network, or its folder.
        rules: of the deals.
    """

    def __init__(self, critic: Network | Path, rules: Rules) -> None:
        self._network = load_network(critic) if isinstance(critic, Path) else critic
        self.sha256 = read_policy(critic)["weights_sha256"] if isinstance(critic, Path) else ""
        """Hash of the checkpoint's weights."""
        self._env = SelfPlayVectorEnv(AHEAD, rules, episode="deal", reward="points", skip_forced=True, seed=0)
        self._env.reset()

    def choice_luck(
        self, env: SelfPlayVectorEnv, shown: VectorStep, rows: Int64Array, chosen: Int64Array, chances: Any
    ) -> Float64Array:
        """Value of what was chosen less the mean by the chances of choosing, [rows, teams] by absolute team.

        shown: of env. chosen: [rows] actions. chances: [rows, n] probabilities that the actions were drawn from.
        """
        game, action = np.nonzero(shown.mask[rows])
        snapshot = env.snapshot()
        parts = [slice(first, first + AHEAD) for first in range(0, len(game), AHEAD)]
        values = np.concatenate([self._after(snapshot, rows[game[part]], action[part]) for part in parts])
        exact = np.asarray(chances, np.float64)
        exact /= exact.sum(axis=1, keepdims=True)  # those of a policy are float32
        weights = (action == chosen[game]) - exact[game, action]
        luck = np.zeros((len(rows), env.teams))
        np.add.at(luck, game, weights[:, None] * values)
        return luck

    def _after(self, snapshot: dict[str, Any], rows: Int64Array, actions: Int64Array) -> Float64Array:
        """Points by absolute team [B, teams] expected once each action is taken in its game."""
        env, count = self._env, len(rows)
        env.restore({"states": snapshot["states"][np.resize(rows, AHEAD)], "seed": snapshot["seed"]})
        taken = np.full(AHEAD, -1)
        taken[:count] = actions
        shown = env.step_some(taken)
        values = shown.reward[:count].astype(np.float64)
        going = np.flatnonzero(~shown.terminated[:count])
        if len(going):
            seen = self._network.see(shown.observation[going], shown.mask[going])
            full = self._network.critic_sees(env.state(relative=True)[going], seen)
            with torch.no_grad():
                own_first = self._network.values(torch.from_numpy(full))
            turned = (np.arange(env.teams) - shown.seat[going, None]) % env.teams
            values[going] = np.take_along_axis(own_first.double().numpy(), turned, axis=1)
        return values
