"""Decisions of a network in one kernel, from positions as they are shown to actions.

Most entries of an observation are 0, and so is half of what a hidden layer gives. To add the weights of the others
alone takes a few microseconds, where NumPy needs as long to begin a product of matrices; in batches too it is as fast,
up to layers of about a thousand. What a row gives does not depend on the rows beside it.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from smear_env._jit import kernel
from smear_env._typing import Float32Array, Int8Array, Int64Array
from smear_env.suits import SUITS, Bytes, see_rows

Layer = tuple[Float32Array, Float32Array]
"""Weights [inputs, outputs] and biases [outputs]."""

_TINY = np.finfo(np.float32).tiny


def flatten(layers: list[Layer]) -> tuple[Int64Array, Float32Array]:
    """Layers as the kernels take them, whatever their number: all widths, and each one's weights and biases in turn."""
    widths = [len(layers[0][0]), *(len(bias) for _, bias in layers)]
    assert [weight.shape for weight, _ in layers] == list(pairwise(widths)), (
        "each layer takes what the last gives"
    )
    flat = np.concatenate([part.ravel() for layer in layers for part in layer])
    return np.array(widths, np.int64), flat.astype(np.float32)


@kernel
def decide(
    suits: Bytes,
    observation: Int8Array,
    mask: Int8Array,
    widths: Int64Array,
    weights: Float32Array,
    draws: Float32Array,
) -> int:
    """The action for one observation [d] and mask [n]; `draws` [n] and what is returned are those of `choose`."""
    logits = np.empty((1, len(mask)), np.float32)
    actions = np.empty(1, np.int64)
    evaluate(suits, observation.reshape(1, -1), mask.reshape(1, -1), widths, weights, logits)
    choose(logits, draws.reshape(1, -1), actions)
    return actions[0]


@kernel
def choose(logits: Float32Array, draws: Float32Array, actions: Int64Array) -> None:
    """Write the most probable action of each row, of equals the first; -1 where none is legal.

    With `draws` [B, n] of the distribution Exp(1), if they are not of width 0, each action comes with its probability:
    the largest of probability / Exp(1) does.
    """
    for i in range(len(logits)):
        best, chosen = -np.inf, -1
        for action in range(logits.shape[1]):
            score = logits[i, action]
            if draws.shape[1] > 0:
                # NumPy draws an exact 0 once in ten million.
                score -= np.log(max(draws[i, action], _TINY))
            if score > best:
                best, chosen = score, action
        actions[i] = chosen


@kernel
def evaluate(
    suits: Bytes,
    observations: Int8Array,
    masks: Int8Array,
    widths: Int64Array,
    weights: Float32Array,
    logits: Float32Array,
) -> None:
    """Write the logits [B, n] of observations [B, d] as they are shown, minus infinity where the mask [B, n] is 0."""
    u = suits.view(SUITS)[0]
    order = np.empty((len(observations), u.suits), np.int64)
    seen = np.empty((len(observations), widths[0]), np.int8)
    see_rows(u, observations, order, seen)
    for i in range(len(observations)):
        outputs = forward(seen[i], widths, weights)
        for action in range(masks.shape[1]):
            original = u.named[order[i, u.place[action]], action]
            logits[i, original] = outputs[action] if masks[i, original] != 0 else -np.inf


@kernel
def forward(observation: Int8Array, widths: Int64Array, weights: Float32Array) -> Float32Array:
    """What a stack of ReLU layers gives, the last without ReLU, in the first entries of a buffer."""
    widest = max(widths)
    inputs, outputs = np.empty(widest, np.float32), np.empty(widest, np.float32)
    active = np.empty(widest + 1, np.int64)
    for i in range(len(observation)):
        inputs[i] = observation[i]
    start = 0
    for layer in range(len(widths) - 1):
        rows, columns = widths[layer], widths[layer + 1]
        end = start + rows * columns
        found = 0
        for i in range(rows):
            active[found] = i
            # Numbers of an observation may be negative; what a layer gives counts above 0.
            found += 1 if inputs[i] > 0 or (layer == 0 and inputs[i] < 0) else 0
        for j in range(columns):
            outputs[j] = weights[end + j]
        add_rows(inputs, active[:found], weights[start:end].reshape(rows, columns), outputs)
        inputs, outputs = outputs, inputs
        start = end + columns
    return inputs


@kernel
def add_rows(inputs: Float32Array, active: Int64Array, weights: Float32Array, outputs: Float32Array) -> None:
    """Add to `outputs` the rows of `weights` that `active` names, each times its input."""
    columns = weights.shape[1]
    # Four at a time, so that outputs are read and written a quarter as often.
    whole = len(active) - len(active) % 4
    for k in range(0, whole, 4):
        a, b, c, d = active[k], active[k + 1], active[k + 2], active[k + 3]
        x, y, z, w = inputs[a], inputs[b], inputs[c], inputs[d]
        row_a, row_b, row_c, row_d = weights[a], weights[b], weights[c], weights[d]
        for j in range(columns):
            outputs[j] += (x * row_a[j] + y * row_b[j]) + (z * row_c[j] + w * row_d[j])
    for k in range(whole, len(active)):
        row, x = weights[active[k]], inputs[active[k]]
        for j in range(columns):
            outputs[j] += x * row[j]
