"""PPO's loss over a minibatch and its derivative, worked out decision by decision in one kernel.

The terms (Schulman et al., "Proximal policy optimization", 2017): the clipped surrogate of the decisions that the
policy made, the squared error of the values by team, an entropy bonus, and if it is asked for the distance
KL(policy, magnet) to a slow average of past policies, which keeps self-play from going round in circles (Sokota et al.,
"A unified approach to reinforcement learning, quantal response equilibria, and two-player zero-sum games", 2023). A
call that was drawn by chance has no surrogate, bonus or magnet: the policy learns to draw it as often, and so begins
with sensible calls. Where there is a lesson (`training.teacher`), what softmax(logits / softness) earns by it, times
softness, takes the place of a part of surrogate and bonus: all actions are weighed at once, and softened, since nothing
is learnt where the policy is sure and wrong. Tutors (Schmitt et al., "Kickstarting deep reinforcement learning", 2018)
take the place of a share of all these: softness squared times KL(tutors, policy), both with logits divided by softness
(Hinton et al., "Distilling the knowledge in a neural network", 2015).

The same by a tensor library takes some fifty calls on small tensors, as long as a small minibatch's matrix products.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from training.arrays import BoolArray, Float32Array, Float64Array, Int8Array, Int64Array

TERMS = (
    "loss/policy",
    "loss/value",
    "policy/entropy",
    "policy/kl",
    "policy/clip_share",
    "policy/magnet_kl",
    "policy/regret",
    "policy/tutors_kl",
)
POLICY, VALUE, ENTROPY, KL, CLIPPED, MAGNET, REGRET, TUTORS = range(len(TERMS))
"""Terms of a minibatch. Entropy is the mean over all decisions, nats; every stored decision has a choice. KL is the
estimate (r - 1) - log r of KL(old, new); the clip share is that of ratios outside the clip range; KL(policy, magnet) is
0 where its weight is, and so are the regret, what a lesson's best card brings more than the policy's mean, points, and
KL(tutors, policy) of softened policies, nats."""


class Decisions(NamedTuple):
    """What the loss needs of S stored decisions, of which a minibatch takes some."""

    mask: Int8Array  # [S, n] a legal action in every row
    action: Int64Array  # [S]
    log_probability: Float32Array  # [S] of the action when it was chosen
    advantage: Float32Array  # [S]
    returns: Float32Array  # [S, teams] own team first
    bidding: BoolArray  # [S] the decision is a bid or a pass
    by_chance: BoolArray  # [S] it was drawn, and not the policy's
    taught: BoolArray  # [S] there is a lesson
    lesson: Float32Array  # [S, n] points of each legal action; [0, n] where none is taught


class Weights(NamedTuple):
    """What each term counts."""

    clip: float
    entropy: float  # of decisions outside the auction
    bid_entropy: float
    value: float
    magnet: float = 0.0
    teacher: float = 0.0  # of a lesson, and so much less of the surrogate
    point: float = 1.0  # what a point is in normalised advantages
    softness: float = 1.0  # what logits are divided by in a lesson and before tutors
    tutors: float = 0.0  # the share of all but the value's loss that is theirs


class Counts(NamedTuple):
    """How many decisions the means of a minibatch are over, in all processes together."""

    decisions: int
    own: int
    """Those that the policy chose."""
    taught: int = 0
    """Those with a lesson."""


@numba.njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def differentiate(
    decisions: Decisions,
    rows: Int64Array,
    logits: Float32Array,
    values: Float32Array,
    magnet_logits: Float32Array,
    tutor_logits: Float32Array,
    weights: Weights,
    counts: Counts,
    logit_gradient: Float32Array,
    value_gradient: Float32Array,
    terms: Float64Array,
) -> None:
    """Add a minibatch's terms to `terms`, [TERMS], and write the loss's derivative by logits and values.

    rows: [B] of the decisions; logits: [B, n], legal or not; values: [B, teams]; the gradients have their shapes;
    magnet_logits and tutor_logits: [B, n], or [0, n] where the weight is 0.
    Where an action is not legal its logit counts for nothing and its derivative is 0. counts: of the whole minibatch
    where this is a process's part of it, whose terms then add up to the minibatch's.
    """
    teams = values.shape[1]
    chances, logs = np.empty(logits.shape[1]), np.empty(logits.shape[1])
    soft_chances, soft_logs = np.empty(logits.shape[1]), np.empty(logits.shape[1])
    other_chances, other_logs = np.empty(logits.shape[1]), np.empty(logits.shape[1])
    tutor_chances, tutor_logs = np.empty(logits.shape[1]), np.empty(logits.shape[1])
    chosen_by_policy = max(counts.own, 1)
    for i in range(len(rows)):
        row = rows[i]
        mask, action, own = decisions.mask[row], decisions.action[row], not decisions.by_chance[row]
        entropy = _distribution(logits[i], mask, chances, logs)
        terms[ENTROPY] += entropy / counts.decisions
        if own:
            log_ratio = logs[action] - decisions.log_probability[row]
            ratio, advantage = np.exp(log_ratio), decisions.advantage[row]
            held = min(max(ratio, 1 - weights.clip), 1 + weights.clip)
            terms[POLICY] -= min(ratio * advantage, held * advantage) / chosen_by_policy
            terms[KL] += (ratio - 1 - log_ratio) / chosen_by_policy
            terms[CLIPPED] += (abs(ratio - 1) > weights.clip) / chosen_by_policy
            # Where the clipped side is the smaller, nothing pulls the policy further.
            pull = ratio * advantage / chosen_by_policy if ratio * advantage <= held * advantage else 0.0
            bonus = (weights.bid_entropy if decisions.bidding[row] else weights.entropy) / counts.decisions
        else:
            pull, bonus = 1 / counts.decisions, 0.0
        lesson, level = weights.teacher / chosen_by_policy if own and decisions.taught[row] else 0.0, 0.0
        hold, distance = weights.magnet / counts.decisions if own else 0.0, 0.0
        told = weights.tutors * weights.softness / counts.decisions if own else 0.0
        if lesson > 0 or told > 0:
            _distribution(logits[i] / weights.softness, mask, soft_chances, soft_logs)
        if lesson > 0:
            pull, bonus = pull * (1 - weights.teacher), bonus * (1 - weights.teacher)
            mean, best = _expected(decisions.lesson[row], mask, chances)
            terms[REGRET] += (best - mean) / max(counts.taught, 1)
            level, _ = _expected(decisions.lesson[row], mask, soft_chances)
        if hold > 0:
            _distribution(magnet_logits[i], mask, other_chances, other_logs)
            distance = -entropy - _expected(other_logs, mask, chances)[0]
            terms[MAGNET] += distance / counts.decisions
        if told > 0:
            left = 1 - weights.tutors
            pull, bonus, lesson, hold = pull * left, bonus * left, lesson * left, hold * left
            order = _distribution(tutor_logits[i] / weights.softness, mask, tutor_chances, tutor_logs)
            terms[TUTORS] -= (order + _expected(soft_logs, mask, tutor_chances)[0]) / counts.decisions
        for k in range(len(mask)):
            if mask[k] != 0:
                slope = chances[k] * (pull + bonus * (logs[k] + entropy))
                if lesson > 0:
                    better = decisions.lesson[row, k] - level
                    slope -= lesson * weights.point * soft_chances[k] * better
                if hold > 0:
                    slope += hold * chances[k] * (logs[k] - other_logs[k] - distance)
                if told > 0:
                    slope += told * (soft_chances[k] - tutor_chances[k])
                logit_gradient[i, k] = slope - (pull if k == action else 0.0)
            else:
                logit_gradient[i, k] = 0
        for team in range(teams):
            error = values[i, team] - decisions.returns[row, team]
            terms[VALUE] += 0.5 * error**2 / (counts.decisions * teams)
            value_gradient[i, team] = weights.value * error / (counts.decisions * teams)


@numba.njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _distribution(logits: Float32Array, mask: Int8Array, chances: Float64Array, logs: Float64Array) -> float:
    """Write the probability and log-probability of each legal action; returns the entropy."""
    highest = -np.inf
    for k in range(len(mask)):
        if mask[k] != 0 and logits[k] > highest:
            highest = np.float64(logits[k])
    total = 0.0
    for k in range(len(mask)):
        if mask[k] != 0:
            chances[k] = np.exp(logits[k] - highest)
            total += chances[k]
    entropy, size = 0.0, np.log(total)
    for k in range(len(mask)):
        if mask[k] != 0:
            chances[k] /= total
            logs[k] = logits[k] - highest - size
            entropy -= chances[k] * logs[k]
    return entropy


@numba.njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _expected(numbers: Float64Array, mask: Int8Array, chances: Float64Array) -> tuple[float, float]:
    """The mean of the legal actions' numbers by their chances, and the largest number."""
    mean, most = 0.0, -np.inf
    for k in range(len(mask)):
        if mask[k] != 0:
            mean += chances[k] * numbers[k]
            most = max(most, np.float64(numbers[k]))
    return mean, most
