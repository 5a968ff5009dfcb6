"""One PPO update: epochs of minibatches over a rollout (Schulman et al., "Proximal policy optimization", 2017)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from training.network import Network
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
    epochs: int


@dataclass(frozen=True)
class Losses:
    """Terms of one minibatch; scalars."""

    total: Tensor
    policy: Tensor
    value: Tensor
    entropy: Tensor  # mean over the decisions, nats; every stored decision has a choice
    kl: Tensor  # estimate of KL(old, new), Schulman's (r - 1) - log r
    clipped: Tensor  # share of ratios outside the clip range


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
) -> Losses:
    """PPO's clipped surrogate, squared error of the values by team, and entropy, over a minibatch of B decisions.

    bidding: [B] bool, the decision is a bid or a pass. by_chance: [B] bool, it was drawn and not the policy's: it has
    no surrogate, and the policy learns to draw it as often, so that it begins with sensible calls.
    """
    log_probabilities, values = network(observation, mask), network.values(state)
    chosen = log_probabilities.gather(1, action[:, None])[:, 0]
    log_ratio = chosen - old_log_probability
    ratio = log_ratio.exp()
    surrogate = torch.minimum(
        ratio * advantage, ratio.clamp(1 - settings.clip, 1 + settings.clip) * advantage
    )
    own = ~by_chance
    policy = -(surrogate * own).sum() / own.sum().clamp_min(1)
    value = 0.5 * (values - returns).square().mean()
    # exp(MASKED) is exactly 0 and MASKED finite, so illegal actions add 0 and never NaN.
    entropies = -(log_probabilities.exp() * log_probabilities).sum(dim=-1)
    bonus = torch.where(bidding, settings.bid_entropy, settings.entropy) * entropies
    imitation = -(chosen * by_chance).mean()
    with torch.no_grad():
        kl = ((ratio - 1 - log_ratio) * own).sum() / own.sum().clamp_min(1)
        clipped = (((ratio - 1).abs() > settings.clip) & own).sum() / own.sum().clamp_min(1)
    total = policy + settings.value_weight * value + imitation - (bonus * own).mean()
    return Losses(total, policy, value, entropies.mean(), kl, clipped)


def update(
    network: Network,
    optimizer: torch.optim.Optimizer,
    rollout: Rollout,
    settings: UpdateSettings,
    generator: torch.Generator,
) -> dict[str, float]:
    """Improve the network on one rollout; returns the documented `loss/...` and `policy/...` metrics."""
    device = network.scale.device
    size = rollout.action.size
    observation = torch.from_numpy(rollout.observation.reshape(size, -1))
    mask = torch.from_numpy(rollout.mask.reshape(size, -1))
    state = torch.from_numpy(rollout.state.reshape(size, -1))
    action = torch.from_numpy(rollout.action.reshape(size))
    old = torch.from_numpy(rollout.log_probability.reshape(size))
    returns = torch.from_numpy(rollout.returns.reshape(size, -1))
    by_chance = torch.from_numpy(rollout.by_chance.reshape(size))
    advantage = torch.from_numpy(rollout.advantage.reshape(size))
    own = advantage[~by_chance]
    if len(own) > 1:  # otherwise there is no policy to improve, and no spread either
        advantage = (advantage - own.mean()) / (own.std() + 1e-8)
    bidding = observation[:, network.bidding_flag] == 1
    decisions = (observation, mask, state, action, old, advantage, returns, bidding, by_chance)
    for group in optimizer.param_groups:
        group["lr"] = settings.learning_rate
    totals: dict[str, float] = {}
    steps = 0
    for _ in range(settings.epochs):
        order = torch.randperm(size, generator=generator)
        # What does not fill a minibatch is left to the next epoch's order.
        for start in range(0, size - settings.minibatch + 1, settings.minibatch):
            rows = order[start : start + settings.minibatch]
            terms = losses(network, *(part[rows].to(device) for part in decisions), settings=settings)
            optimizer.zero_grad(set_to_none=True)
            terms.total.backward()
            norm = nn.utils.clip_grad_norm_(network.parameters(), settings.max_gradient_norm)
            optimizer.step()
            steps += 1
            for name, value in (
                ("loss/policy", terms.policy),
                ("loss/value", terms.value),
                ("policy/entropy", terms.entropy),
                ("policy/kl", terms.kl),
                ("policy/clip_share", terms.clipped),
                ("loss/gradient_norm", norm),
            ):
                totals[name] = totals.get(name, 0.0) + value.detach().item()
    metrics = {name: value / steps for name, value in totals.items()}
    metrics["loss/explained_variance"] = explained_variance(rollout)
    return metrics


def explained_variance(rollout: Rollout) -> float:
    """1 - Var(returns - values) / Var(returns), of the deciding team; 0 is no better than a constant."""
    own = (rollout.seat % rollout.value.shape[-1])[..., None]
    values = np.take_along_axis(rollout.value, own, axis=-1)[..., 0]
    spread = float(rollout.returns[..., 0].var())
    return 1 - float((rollout.returns[..., 0] - values).var()) / spread if spread > 0 else 0.0
