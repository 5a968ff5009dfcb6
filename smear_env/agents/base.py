"""The protocol of agents, and what they share: checking what they are given, one-hot probabilities."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from smear_env._typing import Float32Array, Int8Array, Int64Array
from smear_env.layout import observation_layout, vector_size
from smear_env.rules import Rules

ANY_SEAT = -1
"""In place of a seat: the agent decides for whichever seat an observation is seen from."""


@runtime_checkable
class Agent(Protocol):
    """Decides from a seat's observation and mask alone; keeps nothing but rules, seat and its generator.

    d entries of an observation, n actions, B decisions at once. Every method raises `ValueError` for a mask that
    is missing or without a legal action, and for arrays of another shape.
    """

    def reset(self, rules: Rules, seat: int, seed: int) -> None:
        """Begin a game by these rules at `seat` (-1: any) and seed the generator."""

    def act(self, observation: Int8Array, mask: Int8Array) -> int:
        """A legal action for one decision, [d] int8 and [n] int8."""

    def act_batch(self, observations: Int8Array, masks: Int8Array) -> Int64Array:
        """Legal actions [B] int64 for [B, d] int8 and [B, n] int8."""

    def probabilities(self, observations: Int8Array, masks: Int8Array) -> Float32Array:
        """How likely each action is, [B, n] float32, rows summing to 1 and 0 where illegal."""


class BaseAgent:
    """Holds rules, seat and generator, and leaves `act_batch` and `probabilities` to the agent."""

    def __init__(self) -> None:
        self._rules: Rules | None = None
        self.seat = ANY_SEAT
        self._generator = np.random.default_rng(0)

    @property
    def rules(self) -> Rules:
        """The rules of the game begun; RuntimeError before `reset`."""
        if self._rules is None:
            raise RuntimeError(f"call reset(rules, seat, seed) before {type(self).__name__} acts")
        return self._rules

    def reset(self, rules: Rules, seat: int, seed: int) -> None:
        """Begin a game by these rules at `seat` (-1: any) and seed the generator; ValueError for no such seat."""
        if not ANY_SEAT <= seat < rules.players:
            raise ValueError(f"seat={seat} is none of 0..{rules.players - 1}, and not -1 for any")
        self._rules = rules
        self.seat = seat
        self._generator = np.random.default_rng(seed)

    def act(self, observation: Int8Array, mask: Int8Array) -> int:
        """A legal action for [d] int8 and [n] int8; ValueError for a missing or empty mask."""
        if mask is None:
            raise ValueError("no mask: an agent needs the mask of legal actions beside the observation")
        return int(self.act_batch(np.asarray(observation)[None], np.asarray(mask)[None])[0])

    def act_batch(self, observations: Int8Array, masks: Int8Array) -> Int64Array:
        """Legal actions [B] int64; see `Agent`."""
        raise NotImplementedError

    def probabilities(self, observations: Int8Array, masks: Int8Array) -> Float32Array:
        """One-hot rows [B, n] float32 of `act_batch`, as fits an agent without chance."""
        return one_hot(self.act_batch(observations, masks), np.asarray(masks).shape[1])

    def checked(self, observations: Any, masks: Any) -> tuple[Int8Array, Int8Array]:
        """The arguments as contiguous int8 arrays [B, d] and [B, n]; ValueError naming what is wrong.

        Whether a row of the mask is empty is left to `refuse_empty`, on the actions chosen.
        """
        rules = self.rules
        if masks is None:
            raise ValueError("no mask: an agent needs the mask of legal actions beside the observation")
        seen = np.ascontiguousarray(observations, np.int8)
        legal = np.ascontiguousarray(masks, np.int8)
        if seen.ndim != 2 or seen.shape[1] != vector_size(observation_layout(rules)):
            expected = vector_size(observation_layout(rules))
            raise ValueError(f"observations of shape {seen.shape}, expected [B, {expected}] for {rules.name}")
        if legal.shape != (len(seen), len(rules.action_names)):
            expected = len(rules.action_names)
            raise ValueError(
                f"masks of shape {legal.shape}, expected [{len(seen)}, {expected}] for {rules.name}"
            )
        return seen, legal


def refuse_empty(masks: Int8Array) -> None:
    """ValueError naming the first row of [B, n] without a legal action."""
    empty = np.flatnonzero(~masks.any(axis=1))
    if len(empty):
        raise ValueError(f"the mask of row {empty[0]} has no legal action: only the seat to act can be asked")


def chosen_by(agent: Any, actions: Any, masks: Int8Array) -> Int64Array:
    """The actions [B] int64 that an agent, or one of this name, gave for masks [B, n]; ValueError naming what is wrong.

    An environment would take -1 for waiting, and NumPy 3.7 for 3.
    """
    who = agent if isinstance(agent, str) else str(getattr(agent, "name", type(agent).__name__))
    found = np.asarray(actions)
    if found.shape != (len(masks),) or found.dtype.kind not in "iu":
        raise ValueError(
            f"agent {who!r} gave actions of shape {found.shape} and type {found.dtype}, "
            f"expected [{len(masks)}] integers"
        )
    rows, inside = np.arange(len(masks)), (found >= 0) & (found < masks.shape[1])
    wrong = np.flatnonzero(~inside | (masks[rows, np.where(inside, found, 0)] == 0))
    if len(wrong):
        row = wrong[0]
        legal = np.flatnonzero(masks[row]).tolist()
        raise ValueError(f"agent {who!r} chose action {found[row]} in row {row}, where {legal} are legal")
    return found.astype(np.int64)


def one_hot(actions: Int64Array, count: int) -> Float32Array:
    """Probabilities [B, count] float32 of agents that are sure, from their actions [B]."""
    rows = np.zeros((len(actions), count), np.float32)
    rows[np.arange(len(actions)), actions] = 1
    return rows
