"""How much of what a play paid was luck: corrections of mean exactly 0, found by replaying recorded actions.

Two kinds of chance are taken out. The draw from the stock: see the package. And the choices of sampled policies, whose
probabilities are known: `q(a) - sum p(a) q(a)` has mean 0 for any `q` that looks at the state before the choice; here it
is the critic of a checkpoint, one action ahead. Greedy play chooses without chance and has no such term.

Both need agents that do not see the stock: a clairvoyant one bids by it, and is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from smear_env import PolicyAgent, Rules, SelfPlayVectorEnv, VectorStep, order_suits, rename_suits
from training.arrays import Float64Array, Int8Array, Int64Array
from training.network import Network, critic_input
from training.variates.draws import other_draws, read_draws
from training.variates.value import Value

SAMPLES = 48
"""Draws that stand for all where those are too many; the mean stays exactly 0, the noise of the others' mean grows."""
DEALS = 1024
"""Deals whose draws are evaluated at once."""
AHEAD = 4096
"""Positions one action ahead that are evaluated at once."""


@dataclass(frozen=True)
class Variates:
    """What corrects: a value of the draw, and a critic for sampled choices; each may be missing."""

    draw: Value | None = None
    critic: Network | None = None


def play_luck(
    env: SelfPlayVectorEnv,
    shown: VectorStep,
    actions: Int8Array,
    variates: Variates,
    sampled: Mapping[int, PolicyAgent],
    seed: int,
) -> Float64Array:
    """Points by team [N, teams] that chance gave in plays of one deal each, to be taken off what they paid.

    env, shown: at the beginning of the deals, forced moves skipped. actions: [N, moves] int8, -1 behind a play's end; a play
    cut short by a forfeit is corrected as far as it went. sampled: by team, policies whose choices were drawn from their
    `probabilities`. seed: of the sampled draws.
    """
    luck = np.zeros((env.num_games, env.teams))
    critic = Lookahead(variates.critic, env.rules) if variates.critic is not None and sampled else None
    final = np.empty_like(env.final_state)
    over = np.zeros(env.num_games, bool)
    for column in actions.T:
        chosen = column.astype(np.int64)
        if np.all(chosen < 0):
            break
        if critic is not None:
            for team, agent in sampled.items():
                rows = np.flatnonzero((chosen >= 0) & (shown.seat % env.teams == team))
                if len(rows):
                    chances = agent.probabilities(shown.observation[rows], shown.mask[rows])
                    luck[rows] += critic.choice_luck(env, shown, rows, chosen[rows], chances)
        shown = env.step_some(chosen)
        final[shown.terminated] = env.final_state[shown.terminated]
        over |= shown.terminated
    if variates.draw is not None:
        final[~over] = env.state()[~over]
        luck += draw_luck(variates.draw, final, seed)
    return luck


def draw_luck(value: Value, states: Int8Array, seed: int) -> Float64Array:
    """What the draw from the stock was worth to each team, [N, teams], of mean exactly 0; 0 where none was made.

    states: [N, s] int8, the end of one deal each, or a later moment than its draw; absolute seats.
    """
    out = np.zeros((len(states), value.rules.teams))
    generator = np.random.default_rng([seed, 77])
    for first in range(0, len(states), DEALS):
        draws = read_draws(states[first : first + DEALS], value.rules)
        drew = np.flatnonzero(draws.drawn.any(axis=(1, 2)))
        if len(drew) == 0:
            continue
        draws = draws.of(drew)
        others, _ = other_draws(draws, SAMPLES, generator)
        mean = value.of_draws(draws, others).mean(axis=1)
        out[first + drew] = value.of_draws(draws, draws.drawn[:, None])[:, 0] - mean
    return out


class Lookahead:
    """Values one action ahead, by a critic on the full state; the action is played by the engine.

    Args:
        network: a checkpoint's, with its critic.
        rules: of the deals.
    """

    def __init__(self, network: Network, rules: Rules) -> None:
        self._network = network
        self._env = SelfPlayVectorEnv(AHEAD, rules, episode="deal", reward="points", skip_forced=True, seed=0)
        self._env.reset()

    def choice_luck(
        self,
        env: SelfPlayVectorEnv,
        shown: VectorStep,
        rows: Int64Array,
        chosen: Int64Array,
        chances: Any,
    ) -> Float64Array:
        """Value of what was chosen less the mean by the chances of choosing, [rows, teams] by absolute team.

        chosen: [rows] actions. chances: [rows, n] probabilities that the actions were drawn from.
        """
        game, action = np.nonzero(shown.mask[rows])
        snapshot = env.snapshot()
        values = np.concatenate(
            [
                self._after(snapshot, rows[game[part]], action[part])
                for part in (slice(k, k + AHEAD) for k in range(0, len(game), AHEAD))
            ]
        )
        weights = (action == chosen[game]) - np.asarray(chances, np.float64)[game, action]
        luck = np.zeros((len(rows), env.teams))
        np.add.at(luck, game, weights[:, None] * values)
        return luck

    def _after(self, snapshot: dict[str, Any], rows: Int64Array, actions: Int64Array) -> Float64Array:
        """Points by absolute team [B, teams] expected once each action is taken in its game."""
        env, count = self._env, len(rows)
        filled = np.resize(rows, AHEAD)
        env.restore({"states": snapshot["states"][filled], "seed": snapshot["seed"]})
        taken = np.full(AHEAD, -1)
        taken[:count] = actions
        shown = env.step_some(taken)
        values = shown.reward[:count].astype(np.float64)
        going = np.flatnonzero(~shown.terminated[:count])
        if len(going):
            rules = env.rules
            order = order_suits(shown.observation[going], shown.mask[going], rules).order
            states = rename_suits(env.state(relative=True)[going], order, rules)
            with torch.no_grad():
                own_first = self._network.values(torch.from_numpy(critic_input(states, rules.name)))
            turned = (np.arange(env.teams) - shown.seat[going, None]) % env.teams
            values[going] += np.take_along_axis(own_first.double().numpy(), turned, axis=1)
        return values
