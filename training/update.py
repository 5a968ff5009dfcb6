"""One PPO update: epochs of minibatches over a rollout (Schulman et al., "Proximal policy optimization", 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from training.arrays import Float64Array, Int64Array
from training.network import Network
from training.peers import ALONE, Gradients, Peers
from training.rollout import Rollout


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


@dataclass(frozen=True)
class Losses:
    """Terms of one minibatch; scalars."""

    total: Tensor
    policy: Tensor
    value: Tensor
    entropy: Tensor  # mean over the decisions, nats; every stored decision has a choice
    kl: Tensor  # estimate of KL(old, new), Schulman's (r - 1) - log r
    clipped: Tensor  # share of ratios outside the clip range


@dataclass(frozen=True)
class Counts:
    """How many decisions the means of a minibatch are over, in all processes together."""

    decisions: int
    own: int
    """Those that the policy chose."""


def losses(
    network: Network,
    observation: Tensor,
    mask: Tensor,
    state: Tensor,
    action: Tensor,
    old_log_probability: Tensor,
    advantage: Tensor,
    returns: Tensor,
    bidding: Tensor,
    by_chance: Tensor,
    *,
    settings: UpdateSettings,
    counts: Counts | None = None,
) -> Losses:
    """PPO's clipped surrogate, squared error of the values by team, and entropy, over a minibatch of B decisions.

    bidding: [B] bool, the decision is a bid or a pass. by_chance: [B] bool, it was drawn and not the policy's: it has
    no surrogate, and the policy learns to draw it as often, so that it begins with sensible calls. counts: of the whole
    minibatch where this is only a process's part of it, whose terms then add up to the minibatch's.
    """
    own = ~by_chance
    counts = counts or Counts(len(action), int(own.sum()))
    decisions, chosen_by_policy = counts.decisions, max(counts.own, 1)
    log_probabilities, values = network(observation, mask), network.values(state)
    chosen = log_probabilities.gather(1, action[:, None])[:, 0]
    log_ratio = chosen - old_log_probability
    ratio = log_ratio.exp()
    surrogate = torch.minimum(
        ratio * advantage, ratio.clamp(1 - settings.clip, 1 + settings.clip) * advantage
    )
    policy = -(surrogate * own).sum() / chosen_by_policy
    value = 0.5 * (values - returns).square().sum() / (decisions * values.shape[1])
    # A probability of 0 meets a finite MASKED, so illegal actions add 0 and never NaN. `exp` would give the same, by a
    # slow path that it takes for numbers like MASKED.
    entropies = -(torch.softmax(log_probabilities, dim=-1) * log_probabilities).sum(dim=-1)
    bonus = torch.where(bidding, settings.bid_entropy, settings.entropy) * entropies
    imitation = -(chosen * by_chance).sum() / decisions
    with torch.no_grad():
        kl = ((ratio - 1 - log_ratio) * own).sum() / chosen_by_policy
        clipped = (((ratio - 1).abs() > settings.clip) & own).sum() / chosen_by_policy
    total = policy + settings.value_weight * value + imitation - (bonus * own).sum() / decisions
    return Losses(total, policy, value, entropies.sum() / decisions, kl, clipped)


def update(
    network: Network,
    optimizer: torch.optim.Optimizer,
    rollout: Rollout,
    settings: UpdateSettings,
    orders: Sequence[Int64Array],
    gradients: Gradients | None = None,
) -> dict[str, float]:
    """Improve the network on one rollout; returns the documented `loss/...` and `policy/...` metrics.

    orders: for each epoch, a permutation [T * N] of the decisions. gradients: of the network, where there are several
    processes: each has a rollout and orders of its own, a gradient step is on the minibatches of all, and all networks
    stay equal.
    """
    gradients = gradients or Gradients(ALONE, network)
    peers = gradients.peers
    device = network.scale.device
    size = rollout.action.size
    by_chance = torch.from_numpy(rollout.by_chance.reshape(size))
    observation = torch.from_numpy(rollout.observation.reshape(size, -1))
    decisions = (
        observation,
        torch.from_numpy(rollout.mask.reshape(size, -1)),
        torch.from_numpy(rollout.state.reshape(size, -1)),
        torch.from_numpy(rollout.action.reshape(size)),
        torch.from_numpy(rollout.log_probability.reshape(size)),
        normalised(torch.from_numpy(rollout.advantage.reshape(size)), ~by_chance, peers),
        torch.from_numpy(rollout.returns.reshape(size, -1)),
        observation[:, network.bidding_flag] == 1,
        by_chance,
    )
    for group in optimizer.param_groups:
        group["lr"] = settings.learning_rate
    # What does not fill a minibatch is left to the next epoch's order.
    whole = size // settings.minibatch * settings.minibatch
    minibatches = [
        rows for order in orders for rows in torch.from_numpy(order)[:whole].split(settings.minibatch)
    ]
    own = peers.sum(torch.tensor([int((~by_chance)[rows].sum()) for rows in minibatches]))
    totals = torch.zeros(len(_METRICS), device=device)
    for rows, chosen_by_policy in zip(minibatches, own.tolist(), strict=True):
        terms = losses(
            network,
            # `index_select` copies whole rows, indexing entry by entry.
            *(part.index_select(0, rows).to(device) for part in decisions),
            settings=settings,
            counts=Counts(peers.size * settings.minibatch, chosen_by_policy),
        )
        gradients.clear()
        terms.total.backward()
        gradients.add_up()
        norm = nn.utils.clip_grad_norm_(network.parameters(), settings.max_gradient_norm)
        optimizer.step()
        parts = (terms.policy, terms.value, terms.entropy, terms.kl, terms.clipped, norm / peers.size)
        totals += torch.stack(parts).detach()
    means = (peers.sum(totals) / len(minibatches)).tolist()
    metrics = dict(zip(_METRICS, means, strict=True))
    metrics["loss/explained_variance"] = explained_variance(rollout, peers)
    return metrics


_METRICS = (
    *("loss/policy", "loss/value", "policy/entropy", "policy/kl", "policy/clip_share"),
    "loss/gradient_norm",
)


def normalised(advantage: Tensor, own: Tensor, peers: Peers = ALONE) -> Tensor:
    """Advantages [B] less the mean, by the deviation, of the policy's own decisions [B] bool in all processes."""
    chosen = advantage[own].double()
    count, total = peers.sum(torch.stack([torch.tensor(float(len(chosen))).double(), chosen.sum()])).tolist()
    if count < 2:  # there is no policy to improve, and no spread either
        return advantage
    mean = total / count
    deviation = float(peers.sum((chosen - mean).square().sum())) / (count - 1)
    return (advantage - mean) / (deviation**0.5 + 1e-8)


def explained_variance(rollout: Rollout, peers: Peers = ALONE) -> float:
    """1 - Var(returns - values) / Var(returns), of the deciding team; 0 is no better than a constant."""
    own = (rollout.seat % rollout.value.shape[-1])[..., None]
    returns = rollout.returns[..., 0].astype(np.float64)
    errors = returns - np.take_along_axis(rollout.value, own, axis=-1)[..., 0]
    sums = [returns.size, *(f(part) for part in (returns, errors) for f in (np.sum, _sum_of_squares))]
    count, *moments = peers.sum(torch.tensor(sums, dtype=torch.float64)).tolist()
    spread, unexplained = (
        squares / count - (total / count) ** 2 for total, squares in (moments[:2], moments[2:])
    )
    return 1 - unexplained / spread if spread > 0 else 0.0


def _sum_of_squares(values: Float64Array) -> float:
    return float(np.square(values).sum())
