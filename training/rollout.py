"""Playing: the current policy in every seat of every game, its decisions kept for one update."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from smear_env import SelfPlayVectorEnv, VectorStep
from training.arrays import BoolArray, Float32Array, Int8Array, Int64Array
from training.gae import advantages, own_first, team_values
from training.metrics import DealCounts
from training.network import Network


@dataclass
class Rollout:
    """T decisions of each of N games, allocated once and overwritten by each `collect`."""

    observation: Int8Array  # [T, N, d]
    mask: Int8Array  # [T, N, n]
    seat: Int64Array  # [T, N]
    action: Int64Array  # [T, N]
    log_probability: Float32Array  # [T, N] of the action when it was chosen
    value: Float32Array  # [T, N, teams] by team, before the decision
    reward: Float32Array  # [T, N, teams] by team, up to the next decision
    ended: BoolArray  # [T, N] the episode ended
    advantage: Float32Array  # [T, N] for the team of the seat that decided
    returns: Float32Array  # [T, N, teams] value target, own team first

    @classmethod
    def empty(cls, steps: int, shown: VectorStep) -> Rollout:
        """Room for `steps` decisions of games that look like `shown`."""
        size, teams = (steps, len(shown.seat)), shown.reward.shape[1]
        return cls(
            observation=np.zeros((*size, shown.observation.shape[1]), np.int8),
            mask=np.zeros((*size, shown.mask.shape[1]), np.int8),
            seat=np.zeros(size, np.int64),
            action=np.zeros(size, np.int64),
            log_probability=np.zeros(size, np.float32),
            value=np.zeros((*size, teams), np.float32),
            reward=np.zeros((*size, teams), np.float32),
            ended=np.zeros(size, np.bool_),
            advantage=np.zeros(size, np.float32),
            returns=np.zeros((*size, teams), np.float32),
        )


@torch.inference_mode()
def choose(network: Network, shown: VectorStep, generator: torch.Generator) -> tuple[Int64Array, Float32Array, Float32Array]:
    """Sampled actions [N], their log-probabilities [N] and values [N, teams] seen from the seat to act."""
    device = network.scale.device
    log_probabilities, values = network(
        torch.from_numpy(shown.observation).to(device), torch.from_numpy(shown.mask).to(device)
    )
    log_probabilities = log_probabilities.cpu()
    # Gumbel-max: the largest of log p + G falls on each action with its probability.
    noise = torch.empty_like(log_probabilities).exponential_(generator=generator).log_()
    actions = torch.argmax(log_probabilities - noise, dim=-1)
    chosen = log_probabilities.gather(1, actions[:, None])[:, 0]
    return actions.numpy(), chosen.numpy(), values.cpu().numpy()


def collect(
    env: SelfPlayVectorEnv,
    network: Network,
    shown: VectorStep,
    rollout: Rollout,
    generator: torch.Generator,
    gae_lambda: float,
    counts: DealCounts,
) -> VectorStep:
    """Fill the rollout with decisions from what the games show now; returns what they show afterwards.

    Forced moves never appear: the env steps through them. Bids and finished deals are added to `counts`.
    """
    teams = env.teams
    for step in range(len(rollout.seat)):
        actions, chosen, values = choose(network, shown, generator)
        rollout.observation[step] = shown.observation
        rollout.mask[step] = shown.mask
        rollout.seat[step] = shown.seat
        rollout.action[step] = actions
        rollout.log_probability[step] = chosen
        rollout.value[step] = team_values(values, shown.seat, teams)
        shown = env.step(actions)
        rollout.reward[step] = shown.reward
        rollout.ended[step] = shown.terminated | shown.truncated
        counts.add_deals(env)
    _, _, last = choose(network, shown, generator)
    by_team = advantages(
        rollout.reward, rollout.value, team_values(last, shown.seat, teams), rollout.ended, gae_lambda
    )
    own = (rollout.seat % teams)[..., None]
    rollout.advantage[:] = np.take_along_axis(by_team, own, axis=-1)[..., 0]
    rollout.returns[:] = own_first(by_team + rollout.value, rollout.seat, teams)
    counts.add_bids(rollout.observation, rollout.action)
    return shown
