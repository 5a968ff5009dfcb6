"""Players of either side on the other: agents of ours in OpenSpiel, bots and policies of OpenSpiel as agents.

Ours see the observation of the seat to act, never the state. OpenSpiel's are given states, in which nothing is hidden;
here such a state is drawn anew for each decision from all that fit the observation (`state_showing`), so that they
cannot peek either: what plays by information states plays as it does in OpenSpiel, and what searches the state it is
given, as `MCTSBot` does, searches a world that might be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.policy import Policy

from smear_env._typing import Float32Array, Int8Array, Int64Array
from smear_env.agents.base import ANY_SEAT, Agent, BaseAgent, refuse_empty
from smear_env.interop.openspiel.game import SmearGame, SmearState, game_of, state_showing
from smear_env.rules import Rules

MakeBot = Callable[[SmearGame, int, int], Any]
"""(game, player, seed below 2**31) to a bot."""


class AgentPolicy(Policy):  # type: ignore[misc]  # pyspiel has no annotations
    """An agent of ours as an OpenSpiel policy in every seat, its probabilities scaled to sum to 1 exactly."""

    def __init__(self, game: SmearGame, agent: Agent) -> None:
        super().__init__(game, list(range(game.num_players())))
        agent.reset(game.rules, ANY_SEAT, 0)
        self._agent = agent

    def action_probabilities(self, state: SmearState, player_id: int | None = None) -> dict[int, float]:
        """Probability of each legal action of the seat to act."""
        return _chances(self._agent, state, state.current_player() if player_id is None else player_id)


class AgentBot(pyspiel.Bot):  # type: ignore[misc]  # as AgentPolicy
    """An agent of ours as an OpenSpiel bot in one seat; each bot needs an agent of its own.

    It plays as the agent does, and states the agent's probabilities as its policy.
    """

    def __init__(self, game: SmearGame, player: int, agent: Agent, seed: int = 0) -> None:
        super().__init__()
        agent.reset(game.rules, player, seed)
        self._agent = agent
        self._player = player

    def player_id(self) -> int:
        """The seat that it plays."""
        return self._player

    def restart_at(self, state: SmearState) -> None:
        """Nothing: an agent keeps nothing of a deal."""

    def restart(self) -> None:
        """As `restart_at`."""

    def provides_policy(self) -> bool:
        """It does."""
        return True

    def step(self, state: SmearState) -> int:
        """The agent's action."""
        return self._agent.act(*state.view(self._player))

    def get_policy(self, state: SmearState) -> list[tuple[int, float]]:
        """(action, probability) for each legal action."""
        return list(_chances(self._agent, state, self._player).items())

    def step_with_policy(self, state: SmearState) -> tuple[list[tuple[int, float]], int]:
        """Both."""
        return self.get_policy(state), self.step(state)


def _chances(agent: Agent, state: SmearState, seat: int) -> dict[int, float]:
    observation, mask = state.view(seat)
    legal = np.flatnonzero(mask)
    if len(legal) == 1:
        return {int(legal[0]): 1.0}
    chances = np.asarray(agent.probabilities(observation[None], mask[None])[0], np.float64)[legal]
    return dict(zip(legal.tolist(), (chances / chances.sum()).tolist(), strict=True))


class BotAgent(BaseAgent):
    """An OpenSpiel bot as an agent: `make(game, player, seed)` makes it for a game, at `reset`.

    It is restarted for each decision, in a state drawn to fit the observation. Match scores are not in an OpenSpiel
    game, so that it plays as at level scores.
    """

    def __init__(self, make: MakeBot) -> None:
        super().__init__()
        self._make = make

    def reset(self, rules: Rules, seat: int, seed: int) -> None:
        """Begin a game by these rules; see `BaseAgent`."""
        super().reset(rules, seat, seed)
        self._game = game_of(rules)
        self._bot = self._make(self._game, 0, seed % 2**31)
        # What has no `restart_at` of its own keeps nothing of a deal, and raises an error when called.
        self._restarts = type(self._bot).restart_at is not pyspiel.Bot.restart_at

    def act_batch(self, observations: Int8Array, masks: Int8Array) -> Int64Array:
        """Legal actions [B] int64; see `Agent`."""
        seen, legal = self.checked(observations, masks)
        refuse_empty(legal)
        forced = legal.argmax(axis=1)
        free = np.flatnonzero(legal.sum(axis=1) > 1)
        actions = np.asarray(forced, np.int64)
        for row in free:
            state = state_showing(self._game, seen[row], int(self._generator.integers(2**53)))
            if self._restarts:
                self._bot.restart_at(state)
            actions[row] = self._bot.step(state)
        return actions


class StrategyAgent(BaseAgent):
    """An OpenSpiel policy, found by one of its algorithms for `game`, as an agent.

    Args:
        game: that it is a policy of; `reset` refuses rules that are others with a ValueError.
        policy: anything with `action_probabilities(state, player_id)`.
        sampled: draw from the probabilities; otherwise the most probable action.
    """

    def __init__(self, game: SmearGame, policy: Any, *, sampled: bool = False) -> None:
        super().__init__()
        self._game = game
        self._policy = policy
        self._sampled = sampled

    def reset(self, rules: Rules, seat: int, seed: int) -> None:
        """Begin a game by the rules of the policy; see `BaseAgent`."""
        if rules != self._game.rules:
            raise ValueError(
                f"rules {rules.name} {rules.options()} are not those of the policy, "
                f"{self._game.rules.name} {self._game.rules.options()}: train it for them"
            )
        super().reset(rules, seat, seed)

    def act_batch(self, observations: Int8Array, masks: Int8Array) -> Int64Array:
        """Legal actions [B] int64; see `Agent`."""
        chances = np.asarray(self.probabilities(observations, masks), np.float64)
        if not self._sampled:
            return np.asarray(chances.argmax(axis=1), np.int64)
        # The first action at which the chances so far exceed a uniform number.
        drawn = self._generator.random(len(chances))[:, None] * chances.sum(axis=1, keepdims=True)
        return np.asarray((chances.cumsum(axis=1) > drawn).argmax(axis=1), np.int64)

    def probabilities(self, observations: Int8Array, masks: Int8Array) -> Float32Array:
        """The policy's, [B, n] float32; see `Agent`."""
        seen, legal = self.checked(observations, masks)
        refuse_empty(legal)
        chances = np.zeros(legal.shape, np.float32)
        for row, mask in enumerate(legal):
            if mask.sum() == 1:
                chances[row] = mask
                continue
            # What an information state is made of is the same in every state that may be drawn.
            state = state_showing(self._game, seen[row], row)
            for action, chance in self._policy.action_probabilities(state, state.current_player()).items():
                chances[row, action] = chance
        return chances


__all__ = ["AgentBot", "AgentPolicy", "BotAgent", "MakeBot", "StrategyAgent"]
