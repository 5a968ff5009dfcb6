"""One PPO update the slow way: a decision at a time, derivatives by hand, Adam as its paper writes it.

Nothing here is shared with the trainer. Numbers are double precision. A network is a list of (weight [outputs, inputs],
bias [outputs]) with a ReLU between two of them; the policy's ends in logits, the critic's in values by team.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Layer = tuple[Array, Array]


@dataclass(frozen=True)
class Decision:
    """One decision to learn from."""

    observation: Array  # scaled
    state: Array  # scaled
    legal: list[int]
    action: int
    old_log_probability: float
    advantage: float
    returns: Array  # by team
    bidding: bool
    by_chance: bool


@dataclass(frozen=True)
class Settings:
    """Constants of an update."""

    learning_rate: float
    entropy: float
    bid_entropy: float
    clip: float
    value_weight: float
    max_gradient_norm: float
    adam_epsilon: float


@dataclass
class Learner:
    """Two networks and Adam's moments."""

    policy: list[Layer]
    critic: list[Layer]
    steps: int = 0
    moments: list[tuple[Array, Array]] = field(default_factory=list)

    def parameters(self) -> list[Array]:
        """Every array that learns."""
        return [part for layer in (*self.policy, *self.critic) for part in layer]


def forward(layers: Sequence[Layer], x: Array) -> list[Array]:
    """The input of each layer, and behind them the output."""
    seen = [x]
    for index, (weight, bias) in enumerate(layers):
        y = weight @ seen[-1] + bias
        seen.append(np.maximum(y, 0) if index + 1 < len(layers) else y)
    return seen


def backward(layers: Sequence[Layer], seen: Sequence[Array], slope: Array) -> list[Array]:
    """Derivatives of weights and biases, layer by layer, from that of the output."""
    parts: list[Array] = []
    for index in range(len(layers) - 1, -1, -1):
        parts = [np.outer(slope, seen[index]), slope, *parts]
        slope = (layers[index][0].T @ slope) * (seen[index] > 0)
    return parts


def policy_slope(logits: Array, one: Decision, settings: Settings, decisions: int, own: int) -> Array:
    """Derivative of the loss by the logits."""
    weights = np.exp(logits[one.legal] - logits[one.legal].max())
    chances = weights / weights.sum()
    logs = np.log(chances)
    place = one.legal.index(one.action)
    toward = -chances
    toward[place] += 1  # of the log-probability of the action
    if one.by_chance:
        slope = -toward / decisions
    else:
        ratio = np.exp(logs[place] - one.old_log_probability)
        held = min(max(ratio, 1 - settings.clip), 1 + settings.clip)
        slope = np.zeros_like(toward)
        if ratio * one.advantage <= held * one.advantage:
            slope = -one.advantage * ratio * toward / own
        bonus = settings.bid_entropy if one.bidding else settings.entropy
        entropy = -(chances * logs).sum()
        slope += bonus / decisions * chances * (logs + entropy)
    full = np.zeros_like(logits)
    full[one.legal] = slope
    return full


def value_slope(raw: Array, one: Decision, settings: Settings, decisions: int) -> Array:
    """Derivative of the loss by the critic's output, which is shown less its mean."""
    error = settings.value_weight * (raw - raw.mean() - one.returns) / (decisions * len(raw))
    return error - error.mean()


def gradient_step(learner: Learner, batch: Sequence[Decision], settings: Settings) -> None:
    """One step of Adam on a minibatch."""
    own = max(1, sum(not one.by_chance for one in batch))
    total = [np.zeros_like(part) for part in learner.parameters()]
    for one in batch:
        seen = forward(learner.policy, one.observation)
        parts = backward(learner.policy, seen, policy_slope(seen[-1], one, settings, len(batch), own))
        seen = forward(learner.critic, one.state)
        parts += backward(learner.critic, seen, value_slope(seen[-1], one, settings, len(batch)))
        total = [sums + part for sums, part in zip(total, parts, strict=True)]
    norm = np.sqrt(sum(float((part**2).sum()) for part in total))
    scale = min(1.0, settings.max_gradient_norm / (norm + 1e-6))
    learner.steps += 1
    if not learner.moments:
        learner.moments = [(np.zeros_like(part), np.zeros_like(part)) for part in total]
    for parameter, part, (first, second) in zip(learner.parameters(), total, learner.moments, strict=True):
        first[...] = 0.9 * first + 0.1 * scale * part
        second[...] = 0.999 * second + 0.001 * (scale * part) ** 2
        mean, square = first / (1 - 0.9**learner.steps), second / (1 - 0.999**learner.steps)
        parameter[...] -= settings.learning_rate * mean / (np.sqrt(square) + settings.adam_epsilon)


def normalise(advantages: Sequence[float], own: Sequence[bool]) -> list[float]:
    """Advantages less the mean, by the deviation, of the policy's own decisions."""
    chosen = [value for value, is_own in zip(advantages, own, strict=True) if is_own]
    mean = sum(chosen) / len(chosen)
    deviation = (sum((value - mean) ** 2 for value in chosen) / (len(chosen) - 1)) ** 0.5
    return [(value - mean) / (deviation + 1e-8) for value in advantages]
