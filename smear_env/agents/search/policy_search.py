"""`POLICY+search-N`: a trained policy that tries its likely actions in worlds drawn by its own judgement of the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from smear_env._typing import Float32Array, Float64Array, Int8Array, Int64Array, RecordArray
from smear_env.agents.policy import PolicyAgent
from smear_env.agents.search.base import SearchAgent, workspace
from smear_env.agents.search.likelihood import begin_all, resample
from smear_env.agents.search.network_play import Net, play_by_network, values_by_network
from smear_env.agents.search.playout import values_by_solver
from smear_env.agents.search.posterior import log_likelihoods, tempered
from smear_env.agents.search.worlds import Worlds, fill_worlds, sample_worlds
from smear_env.agents.seen import kernel_tables
from smear_env.engine.state import PLAY, new_states
from smear_env.layout import observation_layout
from smear_env.rules import Rules

POOL = 4
"""Worlds weighed for each that is drawn."""
FLOOR = 0.02
"""Share of the policy's probabilities that is spread over all legal actions: others are not quite like it."""
LEAST = 0.1
"""Worlds that must remain in effect, as a share of those drawn; otherwise weights are made more even."""
RARE = 0.01
"""Actions that the policy takes less often are not tried."""
DOUBT = 1.0
"""Standard errors by which an action must be better than the policy's."""
SOLVED_CARDS = 0
"""With at most so many cards in all hands a position is solved instead of played out."""


class Improvement(NamedTuple):
    """What a search found about one decision; A actions that were tried."""

    actions: Int64Array  # [A]
    prior: Float64Array  # [A] the policy's probabilities
    values: Float64Array  # [W, A] points, own score change less the others' mean, in each world


class PolicySearchAgent(SearchAgent):
    """Searches `worlds` worlds at every decision, starting from a policy."""

    kernels = (fill_worlds, play_by_network, log_likelihoods)

    def __init__(
        self,
        policy: PolicyAgent,
        worlds: int,
        *,
        pool: int = POOL,
        floor: float = FLOOR,
        power: float = 1.0,
        least: float = LEAST,
        rare: float = RARE,
        doubt: float = DOUBT,
        solved_cards: int = SOLVED_CARDS,
    ) -> None:
        super().__init__()
        if worlds < 1:
            raise ValueError(f"worlds={worlds} must be at least 1")
        self.policy, self.worlds, self.pool = policy, worlds, pool
        self.floor, self.power, self.least, self.rare, self.doubt = floor, power, least, rare, doubt
        self.solved_cards = solved_cards

    def reset(self, rules: Rules, seat: int, seed: int) -> None:
        """Begin a game; see `Agent`."""
        super().reset(rules, seat, seed)
        self.policy.reset(rules, seat, seed)
        tables, starts = kernel_tables(rules)
        self.net = Net(tables, starts, *self.policy.network)

    def decide(self, row: Int8Array, mask: Int8Array) -> int:
        """The policy's action, unless another is surely better."""
        found = self.improve(row, mask)
        best = int(found.prior.argmax())
        if len(found.actions) > 1:
            gains = found.values - found.values[:, best : best + 1]
            mean = gains.mean(axis=0)
            error = gains.std(axis=0) / np.sqrt(max(1, len(gains) - 1))
            lead = mean - self.doubt * error
            lead[best] = 0
            best = int(lead.argmax())
        return int(found.actions[best])

    def improve(self, row: Int8Array, mask: Int8Array) -> Improvement:
        """Try what the policy may do in worlds that fit an observation [d]."""
        prior = self.policy.probabilities(row[None], mask[None])[0].astype(np.float64)
        actions = np.flatnonzero((mask != 0) & (prior >= min(self.rare, prior.max())))
        if len(actions) == 1:
            return Improvement(actions, prior[actions], np.zeros((1, 1)))
        states = self.draw(row)
        values = np.zeros((len(states), len(mask)), np.float32)
        tried = np.zeros(len(mask), np.int8)
        tried[actions] = 1
        if 0 < self._cards_left(row) <= self.solved_cards:
            values_by_solver(self.net.tables, states, tried, workspace(), values)
            values /= self.rules.teams - 1
        else:
            values_by_network(self.net, states, actions, values)
        return Improvement(actions, prior[actions], values[:, actions].astype(np.float64))

    def draw(self, row: Int8Array) -> RecordArray:
        """Worlds [W] drawn by how likely the policy makes what the others did."""
        seed = self.seed_of(row)
        if not self.pool:
            return sample_worlds(row, self.rules, self.worlds, seed).states.view(np.ndarray)
        drawn = sample_worlds(row, self.rules, self.pool * self.worlds, seed)
        weights = tempered(self.power * self.logs(drawn).sum(axis=1), self.least * self.worlds)
        return drawn.states.view(np.ndarray)[resample(weights, self.worlds, seed)]

    def logs(self, worlds: Worlds) -> Float64Array:
        """Logarithms [W, PARTS] of how likely the policy makes what the others did."""
        states = new_states(len(worlds.states))
        for field in ("dealer", "one_deal", "max_deals", "scores"):
            states[field] = worlds.states[field]
        states["winner"] = -1
        plain = states.view(np.ndarray)
        begin_all(self.net.tables, worlds.orders, plain)
        logs = np.zeros((len(plain), 3))
        log_likelihoods(self.net, worlds.actions, plain, self.floor, logs)
        return logs

    def _cards_left(self, row: Int8Array) -> int:
        """Cards in all hands in play, 0 before."""
        layout = observation_layout(self.rules)
        if not row[layout["phase"].start + PLAY]:
            return 0
        return self.rules.players * self.rules.hand_size - int(np.count_nonzero(row[layout["trick_of"].slice]))
