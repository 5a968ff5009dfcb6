"""A game of two choices for tests of learning: what is right is known, and who earns never moves last."""

from __future__ import annotations

from typing import Any

import numpy as np

from smear_env import PRESETS, VectorStep, observation_layout, observation_scale, state_layout, state_scale


class Bandit:
    """Two choices; `good` pays the team that made it, but only after the next seat has made a choice without effect.

    So the seat that earns never moves last. It offers what `collect` asks of an environment.
    """

    def __init__(self, preset: str, games: int) -> None:
        self.rules = rules = PRESETS[preset]
        self.teams, self.seats, self.games = rules.teams, rules.players, games
        self.bad, self.good = len(rules.card_names), len(rules.card_names) + 1  # pass, or the lowest bid
        self.width = len(observation_scale(rules))
        self.actions = len(rules.action_names)
        self.first = np.arange(games) % self.seats
        self.chosen = np.zeros(games, np.int64)
        self.late = False

    def show(self, reward: Any, ended: Any) -> VectorStep:
        seat = (self.first + self.late) % self.seats
        observation = np.zeros((self.games, self.width), np.int8)
        layout = observation_layout(self.rules)
        observation[np.arange(self.games), layout["leader"].start + seat] = 1
        observation[:, layout["tricks_done"].start] = self.late
        mask = np.zeros((self.games, self.actions), np.int8)
        mask[:, [self.good, self.bad]] = 1
        return VectorStep(observation, mask, seat, reward, ended, np.zeros(self.games, bool))

    def state(self, *, relative: bool) -> Any:
        """As the observation: which seat decides, and whether late."""
        assert relative
        layout = state_layout(self.rules)
        full = np.zeros((self.games, len(state_scale(self.rules))), np.int8)
        seat = (self.first + self.late) % self.seats
        full[np.arange(self.games), layout["leader"].start + seat] = 1
        full[:, layout["tricks_done"].start] = self.late
        return full

    def reset(self) -> VectorStep:
        return self.show(np.zeros((self.games, self.teams), np.float32), np.zeros(self.games, bool))

    def step(self, actions: Any) -> VectorStep:
        if not self.late:
            self.chosen, self.late = actions.copy(), True
            return self.reset()
        gain = np.where(self.chosen == self.good, 1.0, -1.0)
        reward = np.repeat(-gain[:, None] / (self.teams - 1), self.teams, axis=1).astype(np.float32)
        reward[np.arange(self.games), self.first % self.teams] = gain
        self.first, self.late = (self.first + 1) % self.seats, False
        return self.show(reward, np.ones(self.games, bool))
