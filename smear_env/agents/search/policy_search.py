"""`CHECKPOINT+search-N`: a trained policy that tries its own likely actions before it takes one.

Worlds are drawn by what the others did (`posterior`); in each the actions are tried and the deal is played on by
the policy in all seats (`network_play`), each seat seeing only what it would see. So the value of an action
is what it brings among players like itself, that know no more than they would: one step of policy improvement, without
the fault of players that solve worlds, which never play to find out nor to hide.

The policy's own action stands unless another is surely better, so that noise cannot make it worse.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from smear_env._jit import announce_part
from smear_env._typing import Float32Array, Float64Array, Int8Array, Int64Array, RecordArray
from smear_env.agents.base import refuse_empty
from smear_env.agents.policy import PolicyAgent
from smear_env.agents.search.base import SearchAgent
from smear_env.agents.search.likelihood import begin_all, resample
from smear_env.agents.search.network_play import Net, values_by_network
from smear_env.agents.search.posterior import effective, tempered, weigh
from smear_env.agents.search.worlds import ANNOUNCED, Worlds, fill_worlds, sample_worlds
from smear_env.agents.seen import kernel_tables
from smear_env.engine.state import new_states
from smear_env.rules import Rules

POOL = 4
"""Worlds weighed for each that is drawn."""
FLOOR = 0.02
"""Share of the policy's probabilities that is spread over all legal actions: others are not quite like it."""
LEAST = 0.5
"""Worlds that must remain in effect, as a share of those tried; otherwise weights are made more even."""
RARE = 0.01
"""Actions that the policy takes less often are not tried."""
DOUBT = 1.0
"""Standard errors by which an action must be better than the policy's."""
ODDS = 0.03
"""Points by which an action must be better for each factor e by which the policy takes it less often."""
TEMPERATURE = 0.25
"""Points that an action must gain for `improved` to make it e times as likely as the policy does."""


class Trial(NamedTuple):
    """What a search found about one decision; A actions that were tried, in W worlds."""

    actions: Int64Array
    """[A] ids."""
    prior: Float64Array
    """[A] the policy's probabilities."""
    values: Float64Array
    """[W, A] points, own score change less the others' mean."""
    weights: Float64Array
    """[W] of the worlds, summing to 1."""
    effective: float
    """As many worlds, evenly drawn, would say as much."""

    def gains(self) -> tuple[Float64Array, Float64Array]:
        """How much better than the policy's most probable action each is in the mean, and its standard error, [A]."""
        first = self.prior.argmax()
        gains = self.values - self.values[:, first : first + 1]
        mean = self.weights @ gains
        deviation = np.sqrt(self.weights @ (gains - mean) ** 2)
        return mean, deviation / np.sqrt(max(1.0, self.effective - 1.0))


class PolicySearchAgent(SearchAgent):
    """Tries actions in `worlds` worlds at every decision.

    Args:
        policy: what is searched with, for all seats.
        worlds: how many are played out for each action.
        pool: worlds that are weighed for each of them; 0 to draw all evenly.
        floor: see `FLOOR`.
        doubt: standard errors by which an action must be better than the policy's.
    """

    kernels = (fill_worlds, weigh, values_by_network)

    def __init__(
        self,
        policy: PolicyAgent,
        worlds: int,
        *,
        pool: int = POOL,
        floor: float = FLOOR,
        doubt: float = DOUBT,
    ) -> None:
        super().__init__()
        if worlds < 1:
            raise ValueError(f"worlds={worlds} must be at least 1")
        if pool < 0:
            raise ValueError(f"pool={pool} must be at least 0")
        if not 0.0 <= floor <= 1.0:
            raise ValueError(f"floor={floor} must be from 0 to 1")
        if not doubt >= 0.0:
            raise ValueError(f"doubt={doubt} must be at least 0")
        self.policy, self.worlds = policy, worlds
        self.pool, self.floor, self.doubt = pool, floor, doubt

    def reset(self, rules: Rules, seat: int, seed: int) -> None:
        """Begin a game; see `Agent`, and for other rules than the policy's `PolicyAgent.reset`."""
        self.policy.reset(rules, seat, seed)
        super().reset(rules, seat, seed)
        tables, starts = kernel_tables(rules)
        self._net = Net(tables, starts, *self.policy.network)

    def decide(self, row: Int8Array, mask: Int8Array) -> int:
        """The action that gains most, less `doubt` standard errors and `ODDS`; the policy's own gains 0."""
        trial = self.try_actions(row, mask)
        mean, error = trial.gains()
        best = trial.prior.argmax()
        surely = mean - self.doubt * error + ODDS * np.log(trial.prior / trial.prior[best])
        # Of equals it is the policy's.
        surely[best] = 1e-6
        return int(trial.actions[surely.argmax()])

    def improved(
        self, observations: Int8Array, masks: Int8Array, temperature: float = TEMPERATURE
    ) -> Float32Array:
        """Better probabilities than the policy's, [B, n] float32, for it to learn from: each action's times
        e^(gain / temperature).

        Gains, in points, are held back by as much as chance may have made them: multiplied by the share of their
        square that is not the square of their standard error. Raises ValueError as `act_batch` does.
        """
        seen, legal = self.checked(observations, masks)
        refuse_empty(legal)
        announce_part(*ANNOUNCED, *self.kernels)
        out = self.policy.probabilities(seen, legal)
        for row, mask, chances in zip(seen, legal, out, strict=True):
            trial = self.try_actions(row, mask)
            mean, error = trial.gains()
            held = mean * np.maximum(0.0, 1.0 - error**2 / np.maximum(mean**2, 1e-12))
            scores = np.log(trial.prior) + held / temperature
            better = np.exp(scores - scores.max())
            chances[trial.actions] = trial.prior.sum() * better / better.sum()
        return out

    def try_actions(self, row: Int8Array, mask: Int8Array) -> Trial:
        """Try what the policy may do, by observation [d] and mask [n], in worlds that fit."""
        prior = self.policy.probabilities(row[None], mask[None])[0].astype(np.float64)
        actions = np.flatnonzero((mask != 0) & (prior >= min(RARE, prior.max())))
        if len(actions) == 1:
            return Trial(actions, prior[actions], np.zeros((1, 1)), np.ones(1), 1.0)
        states, weights, effect = self.draw(row)
        values = np.empty((len(states), len(actions)))
        values_by_network(self._net, states, actions, values)
        return Trial(actions, prior[actions], values, weights, effect)

    def draw(self, row: Int8Array) -> tuple[RecordArray, Float64Array, float]:
        """Worlds [W] that fit an observation [d], drawn by how likely they are by what the others did: each but once,
        with its share of the draws [W]; and how many even draws would say as much.
        """
        seed = self.seed_of(row)
        if self.pool == 0:
            states = sample_worlds(row, self.rules, self.worlds, seed).states.view(np.ndarray)
            return states, np.full(len(states), 1 / len(states)), float(len(states))
        states, logs = self.weighed(row, sample_worlds(row, self.rules, self.pool * self.worlds, seed), seed)
        weights = tempered(logs, LEAST * self.worlds)
        drawn, times = np.unique(resample(weights, self.worlds, seed), return_counts=True)
        # Chance lies in which worlds were weighed, and in which of them were drawn.
        effect = 1.0 / (1.0 / effective(weights) + 1.0 / self.worlds)
        return states[drawn], times / self.worlds, effect

    def weighed(self, row: Int8Array, worlds: Worlds, seed: int) -> tuple[RecordArray, Float64Array]:
        """The worlds [W] with discards drawn again, and logarithms [W] of their weights."""
        states = new_states(len(worlds.states))
        for field in ("dealer", "one_deal", "max_deals", "scores", "winner"):
            states[field] = worlds.states[field]
        plain = states.view(np.ndarray)
        begin_all(self._net.tables, worlds.orders, plain)
        logs = np.empty(len(plain))
        weigh(
            *(self._net, row, np.uint64(seed), True, self.floor),
            *(worlds.actions, plain, logs),
        )
        return plain, logs
