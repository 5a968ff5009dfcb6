"""What networks choose and expect, from positions as they take them."""

from __future__ import annotations

import numpy as np
import torch

from training.arrays import Float32Array, Float64Array, Int8Array, Int64Array
from training.network import Network
from training.noise import draw_actions


@torch.inference_mode()
def choose(
    network: Network, observation: Int8Array, mask: Int8Array, uniforms: Float64Array
) -> tuple[Int64Array, Float32Array]:
    """Sampled actions [N] and their log-probabilities [N], by numbers [N] uniform in [0, 1)."""
    logits = network.logits(torch.from_numpy(observation).to(network.scale.device)).cpu().numpy()
    actions, chosen = np.empty(len(mask), np.int64), np.empty(len(mask), np.float32)
    draw_actions(logits, mask, uniforms, actions, chosen)
    return actions, chosen


@torch.inference_mode()
def most_probable(network: Network, observation: Int8Array, mask: Int8Array) -> Int64Array:
    """The most probable actions [N]."""
    logits = network.logits(torch.from_numpy(observation).to(network.scale.device)).cpu().numpy()
    return np.where(mask != 0, logits, -np.inf).argmax(axis=1)


@torch.inference_mode()
def judge(network: Network, state: Int8Array) -> Float32Array:
    """Values [N, teams] of critic inputs [N, c], the team of the seat to act first."""
    return network.values(torch.from_numpy(state).to(network.scale.device)).cpu().numpy()
