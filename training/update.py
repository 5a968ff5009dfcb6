"""One PPO update: epochs of minibatches over a rollout (Schulman et al., "Proximal policy optimization", 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from training.adam import Adam
from training.arrays import Float64Array, Int64Array
from training.loss import TERMS, Counts, Decisions, Weights, differentiate
from training.network import Network, centred
from training.peers import ALONE, Peers
from training.rollout import Rollout
from training.tutors import Tutors


@dataclass(frozen=True)
class UpdateSettings:
    """What an update needs of the configuration, with the schedules evaluated."""

    learning_rate: float
    entropy: float  # of decisions outside the auction
    bid_entropy: float  # of bids
    clip: float
    value_weight: float
    max_gradient_norm: float
    minibatch: int
    magnet: float = 0.0
    teacher: float = 0.0
    softness: float = 1.0
    tutors: float = 0.0


@torch.no_grad()
def update(
    network: Network,
    optimizer: Adam,
    rollout: Rollout,
    settings: UpdateSettings,
    orders: Sequence[Int64Array],
    magnet: Network | None = None,
    tutors: Tutors | None = None,
) -> dict[str, float]:
    """Improve the network on one rollout; returns the documented `loss/...` and `policy/...` metrics.

    orders: for each epoch, a permutation [T * N] of the decisions. Where there are several processes each has a rollout
    and orders of its own, a gradient step is on the minibatches of all, and all networks stay equal. magnet and
    tutors: needed where their weight is not 0.
    """
    gradients, peers, device = optimizer.gradients, optimizer.gradients.peers, network.scale.device
    size = rollout.action.size
    observation = torch.from_numpy(rollout.observation.reshape(size, -1))
    state = torch.from_numpy(rollout.state.reshape(size, -1))
    learns = rollout.learns.reshape(size)
    own = learns & ~rollout.by_chance.reshape(size)
    advantage, deviation = normalised(
        torch.from_numpy(rollout.advantage.reshape(size)), torch.from_numpy(own), peers
    )
    decisions = Decisions(
        mask=rollout.mask.reshape(size, -1),
        action=rollout.action.reshape(size),
        log_probability=rollout.log_probability.reshape(size),
        advantage=advantage.numpy(),
        returns=rollout.returns.reshape(size, -1),
        bidding=observation[:, network.bidding_flag].numpy() == 1,
        by_chance=rollout.by_chance.reshape(size),
        taught=rollout.taught.reshape(size),
        lesson=rollout.lesson.reshape(-1, rollout.lesson.shape[-1]),
    )
    weights = Weights(
        *(settings.clip, settings.entropy, settings.bid_entropy, settings.value_weight, settings.magnet),
        *(settings.teacher, 1 / deviation, settings.softness, settings.tutors),
    )
    # What does not fill a minibatch is left to the next epoch's order; all processes take as many steps.
    fewest = int(peers.gather(torch.tensor([int(learns.sum())])).min())
    steps = fewest // settings.minibatch
    if steps == 0:
        raise ValueError(f"minibatch={settings.minibatch} is more than the {fewest} decisions to learn from")
    minibatches = [
        rows
        for order in orders
        for rows in np.split(order[learns[order]][: steps * settings.minibatch], steps)
    ]
    counted = [(int(own[rows].sum()), int(decisions.taught[rows].sum())) for rows in minibatches]
    counted = peers.sum(torch.tensor(counted)).tolist()
    policy, critic = network.policy_stack(), network.critic_stack()
    holding = magnet.policy_stack() if magnet and settings.magnet else None
    told = tutors.logits(observation) if tutors and settings.tutors else None
    no_logits = np.empty((0, rollout.mask.shape[-1]), np.float32)
    terms = np.zeros(len(TERMS))
    norms = 0.0
    for rows, (chosen, taught) in zip(minibatches, counted, strict=True):
        gradients.begin()
        # `index_select` copies whole rows, indexing entry by entry.
        shown, full = (
            part.index_select(0, torch.from_numpy(rows)).to(device) for part in (observation, state)
        )
        acted, judged = policy.forward(shown), critic.forward(full)
        logits, values = acted.outputs.cpu(), centred(judged.outputs).cpu()
        by_logits, by_values = torch.empty_like(logits), torch.empty_like(values)
        differentiate(
            *(decisions, rows, logits.numpy(), values.numpy()),
            holding.forward(shown).outputs.cpu().numpy() if holding else no_logits,
            told[rows] if told is not None else no_logits,
            *(weights, Counts(peers.size * settings.minibatch, chosen, taught)),
            *(by_logits.numpy(), by_values.numpy(), terms),
        )
        policy.backward(acted, by_logits.to(device))
        critic.backward(judged, centred(by_values.to(device)))
        norms += optimizer.step(settings.learning_rate, settings.max_gradient_norm)
    sums = peers.sum(torch.from_numpy(terms)).tolist()
    metrics = {name: total / len(minibatches) for name, total in zip(TERMS, sums, strict=True)}
    metrics["loss/gradient_norm"] = norms / len(minibatches)
    metrics["loss/explained_variance"] = explained_variance(rollout, peers)
    return metrics


def normalised(advantage: Tensor, own: Tensor, peers: Peers = ALONE) -> tuple[Tensor, float]:
    """Advantages [B] less their mean by their deviation, and the deviation.

    Mean and deviation are of the policy's own decisions [B] bool in all processes.
    """
    chosen = advantage[own].double()
    count, total = peers.sum(torch.stack([torch.tensor(float(len(chosen))).double(), chosen.sum()])).tolist()
    if count < 2:  # there is no policy to improve, and no spread either
        return advantage, 1.0
    mean = total / count
    variance = float(peers.sum((chosen - mean).square().sum())) / (count - 1)
    deviation = variance**0.5 + 1e-8
    return (advantage - mean) / deviation, deviation


def explained_variance(rollout: Rollout, peers: Peers = ALONE) -> float:
    """1 - Var(returns - values) / Var(returns), of the deciding team; 0 is no better than a constant."""
    own = (rollout.seat % rollout.value.shape[-1])[..., None]
    returns = rollout.returns[..., 0].astype(np.float64)[rollout.learns]
    errors = returns - np.take_along_axis(rollout.value, own, axis=-1)[rollout.learns, 0]
    sums = [returns.size, *(f(part) for part in (returns, errors) for f in (np.sum, _sum_of_squares))]
    count, *moments = peers.sum(torch.tensor(sums, dtype=torch.float64)).tolist()
    spread, unexplained = (
        squares / count - (total / count) ** 2 for total, squares in (moments[:2], moments[2:])
    )
    return 1 - unexplained / spread if spread > 0 else 0.0


def _sum_of_squares(values: Float64Array) -> float:
    return float(np.square(values).sum())
