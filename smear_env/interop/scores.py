"""An agent from whatever gives actions scores, as networks of other libraries do: `ScoresAgent(scores)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from smear_env._typing import Float32Array, Int8Array, Int64Array
from smear_env.agents.base import BaseAgent, refuse_empty
from smear_env.interop.ordered import OrderedView
from smear_env.rules import Rules

Scores = Callable[[Any, Int8Array], Any]
"""Observations [B, d] int8, or inputs in order, and masks [B, n] int8, to scores [B, n]: logits or values.

Those of illegal actions are not read.
"""


class ScoresAgent(BaseAgent):
    """Takes the legal action of the highest score, or draws by the softmax of the scores.

    Args:
        scores: function of observations and masks; a tensor that NumPy can read will do.
        sampled: draw; otherwise the best.
        ordered: the function is given positions with suits in order, as `OrderedView` shows them: inputs [B, d + f]
            float32, masks and scores by their names in that order.
    """

    def __init__(self, scores: Scores, *, sampled: bool = False, ordered: bool = False) -> None:
        super().__init__()
        self._scores = scores
        self._sampled = sampled
        self._ordered = ordered

    def reset(self, rules: Rules, seat: int, seed: int) -> None:
        """Begin a game by these rules; see `BaseAgent`."""
        super().reset(rules, seat, seed)
        self._view = OrderedView(rules) if self._ordered else None

    def act_batch(self, observations: Int8Array, masks: Int8Array) -> Int64Array:
        """Legal actions [B] int64; see `Agent`."""
        legal_scores = self._legal_scores(observations, masks)
        if self._sampled:
            # Gumbel noise makes the highest a draw from the softmax.
            legal_scores = legal_scores + self._generator.gumbel(size=legal_scores.shape)
        return np.asarray(legal_scores.argmax(axis=1), np.int64)

    def probabilities(self, observations: Int8Array, masks: Int8Array) -> Float32Array:
        """The softmax of the legal actions' scores, [B, n] float32; see `Agent`."""
        scores = self._legal_scores(observations, masks)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True), np.float32)

    def _legal_scores(self, observations: Int8Array, masks: Int8Array) -> Any:
        """[B, n] float64, minus infinity where illegal; ValueError for scores of another shape or not finite."""
        seen, legal = self.checked(observations, masks)
        refuse_empty(legal)
        shown = self._view.see(seen, legal) if self._view else None
        given = self._scores(seen, legal) if shown is None else self._scores(shown.inputs, shown.mask)
        scores = np.asarray(given, np.float64)
        if scores.shape != legal.shape:
            raise ValueError(f"scores of shape {scores.shape}, expected {legal.shape}: one for each action")
        if shown is not None and self._view is not None:
            scores = _by_name(scores, self._view, shown.order)
        if not np.isfinite(scores[legal != 0]).all():
            raise ValueError("scores: some of a legal action are not finite")
        return np.where(legal != 0, scores, -np.inf)


def _by_name(scores: Any, view: OrderedView, order: Int64Array) -> Any:
    """Scores [B, n] of actions in order as those of the environment's actions."""
    rows, actions = scores.shape
    ids = view.actions(np.tile(np.arange(actions), rows), np.repeat(order, actions, axis=0))
    by_name = np.empty_like(scores)
    np.put_along_axis(by_name, ids.reshape(scores.shape), scores, axis=1)
    return by_name


__all__ = ["Scores", "ScoresAgent"]
