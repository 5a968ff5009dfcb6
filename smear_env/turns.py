"""The order of calls: whose turn it is, round by round, and PettingZoo's check that `reset` and `step` come in time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pettingzoo.utils.env import AECIterable
from pettingzoo.utils.wrappers import BaseWrapper, OrderEnforcingWrapper

from smear_env._typing import Int8Array

Observation = dict[str, Int8Array]
"""`observation` [d] int8 and `action_mask` [n] int8, in this order."""

_KEEPS_COPIES = "agent_selection" in BaseWrapper.step.__code__.co_names
"""Before PettingZoo 1.24.3 a wrapper has copies of the environment's attributes, which its own `step` renews."""


class Turns(AECIterable[str, Observation, "int | None"]):  # type: ignore[misc]
    """The seat to act, over and over; generators, since a loop is sooner back in their frames than in a `__next__`."""

    def __iter__(self) -> Iterator[str]:
        env, left = self.env, self.max_iter
        while left > 0 and env.agents:
            left -= 1
            yield env.agent_selection


class OrderedTurns(Turns):
    """The same for an `OrderedEnv`, with the check that each round steps or resets."""

    def __iter__(self) -> Iterator[str]:
        ordered = self.env
        for agent in Turns(ordered.env, self.max_iter):
            assert ordered._has_updated, "need to call step() or reset() in a loop over `agent_iter`"
            ordered._has_updated = False
            yield agent


class OrderedEnv(OrderEnforcingWrapper[str, Observation, "int | None"]):  # type: ignore[misc]
    """PettingZoo's wrapper that refuses calls before `reset`, with a short way to the environment after it.

    The wrapper itself comes by each attribute of the environment by failing to find it in its own, which takes more
    time than the game.
    """

    def step(self, action: int | None) -> None:
        """As the environment's; only a warning when no agent is left."""
        if self._has_reset and self.env.agents and not _KEEPS_COPIES:
            self._has_updated = True
            self.env.step(action)
        else:
            super().step(action)

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Observation, reward since it last acted, terminated, truncated and info of the seat to act."""
        return self.env.last(observe) if self._has_reset else super().last(observe)

    def agent_iter(self, max_iter: int = 2**63) -> Turns:
        """The seat to act, until no agent is left; a round without `step` or `reset` is an error."""
        return OrderedTurns(self, max_iter) if self._has_reset else super().agent_iter(max_iter)

    def __str__(self) -> str:
        return str(self.env)
