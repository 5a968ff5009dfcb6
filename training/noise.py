"""Chance in the trainer: numbers that depend on the run's seed, the game's slot and the decision alone.

So a game is played the same whichever process plays it, and a run that is gone on with needs no generator's state.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from training.arrays import Float32Array, Float64Array, Int8Array, Int64Array

COLUMNS = 4
"""Numbers for each decision: as many as one step of the counter gives."""
ACTION, PASS, LEVEL, LESSON = range(COLUMNS)
"""Columns: which action the policy takes; whether a call by chance is a pass, and how high it bids; whether the teacher
has its say."""


@dataclass
class Noise:
    """Uniform numbers from Philox, a counter-based generator (Salmon et al., 2011): key (seed, draw), counter the slot.

    Args:
        seed: of the run.
        first_slot: slot of the first row among all processes.
        draws: decisions of each slot drawn for so far.
    """

    seed: int
    first_slot: int = 0
    draws: int = 0

    def uniforms(self, rows: int) -> Float64Array:
        """The next decision's numbers of so many slots, [rows, COLUMNS] in [0, 1)."""
        key = np.array([self.seed, self.draws], np.uint64)
        self.draws += 1
        return np.random.Generator(np.random.Philox(key=key, counter=self.first_slot)).random((rows, COLUMNS))


def minibatch_order(seed: int, rank: int, update: int, epoch: int, size: int) -> Int64Array:
    """A permutation of the decisions of one process for one epoch, [size]."""
    return np.random.default_rng([seed, rank, update, epoch]).permutation(size)


@numba.njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def draw_actions(
    logits: Float32Array,
    masks: Int8Array,
    uniforms: Float64Array,
    actions: Int64Array,
    log_probabilities: Float32Array,
) -> None:
    """An action of each row by the softmax of its legal logits, and the log-probability of it.

    logits: [B, n]; masks: [B, n], a legal action in every row; uniforms: [B] in [0, 1); actions and log_probabilities:
    [B], written. The distribution function is inverted: one number for a decision, where Gumbel-max needs one for
    each action.
    """
    rows, count = logits.shape
    weights = np.empty(count, np.float64)
    for i in range(rows):
        top = -np.inf
        for action in range(count):
            if masks[i, action] != 0 and logits[i, action] > top:
                top = logits[i, action]
        total = 0.0
        for action in range(count):
            weights[action] = 0.0
            if masks[i, action] != 0:
                weights[action] = np.exp(np.float64(logits[i, action]) - top)
                total += weights[action]
        left = uniforms[i] * total
        chosen = -1
        for action in range(count):
            # Where rounding leaves something over, the last action that can be chosen takes it.
            if weights[action] > 0.0:
                chosen = action
                left -= weights[action]
                if left < 0.0:
                    break
        actions[i] = chosen
        log_probabilities[i] = logits[i, chosen] - top - np.log(total)
