"""Playing: the current policy in every seat of every game, its decisions kept for one update."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from smear_env import SelfPlayVectorEnv, VectorStep, order_suits, original_actions, rename_suits
from training.arrays import BoolArray, Float32Array, Float64Array, Int8Array, Int64Array
from training.gae import advantages, own_first, team_values
from training.metrics import DealCounts
from training.network import Network, critic_input
from training.noise import ACTION, LEVEL, PASS, Noise, draw_actions


@dataclass
class Rollout:
    """T decisions of each of N games, their suits in order; allocated once and overwritten by each `collect`."""

    observation: Int8Array  # [T, N, d]
    mask: Int8Array  # [T, N, n]
    state: Int8Array  # [T, N, c] what the critic sees
    seat: Int64Array  # [T, N]
    action: Int64Array  # [T, N]
    log_probability: Float32Array  # [T, N] of the action when it was chosen
    value: Float32Array  # [T, N, teams] by team, before the decision
    reward: Float32Array  # [T, N, teams] by team, up to the next decision
    ended: BoolArray  # [T, N] the episode ended
    advantage: Float32Array  # [T, N] for the team of the seat that decided
    returns: Float32Array  # [T, N, teams] value target, own team first
    by_chance: BoolArray  # [T, N] the action was drawn, so the policy learns nothing from it

    @classmethod
    def empty(cls, steps: int, shown: VectorStep, critic_size: int) -> Rollout:
        """Room for `steps` decisions of games that look like `shown`, and critic inputs of a size."""
        size, teams = (steps, len(shown.seat)), shown.reward.shape[1]
        return cls(
            observation=np.zeros((*size, shown.observation.shape[1]), np.int8),
            mask=np.zeros((*size, shown.mask.shape[1]), np.int8),
            state=np.zeros((*size, critic_size), np.int8),
            seat=np.zeros(size, np.int64),
            action=np.zeros(size, np.int64),
            log_probability=np.zeros(size, np.float32),
            value=np.zeros((*size, teams), np.float32),
            reward=np.zeros((*size, teams), np.float32),
            ended=np.zeros(size, np.bool_),
            advantage=np.zeros(size, np.float32),
            returns=np.zeros((*size, teams), np.float32),
            by_chance=np.zeros(size, np.bool_),
        )


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
def judge(network: Network, state: Int8Array) -> Float32Array:
    """Values [N, teams] of critic inputs [N, c], the team of the seat to act first."""
    return network.values(torch.from_numpy(state).to(network.scale.device)).cpu().numpy()


def chance_calls(mask: Int8Array, env: SelfPlayVectorEnv, uniforms: Float64Array) -> Int64Array:
    """A call for each row in the auction, [N]: so many passes that the bidder may be any seat, and mostly low bids.

    uniforms: [N, noise.COLUMNS] in [0, 1).
    """
    passing = len(env.rules.card_names)
    calls = mask[:, passing:]
    # From the lowest legal bid on, each next one a quarter as likely.
    steps = np.minimum(
        np.floor(np.log(np.maximum(uniforms[:, LEVEL], 1e-6)) / np.log(0.25)), calls[:, 1:].sum(axis=1) - 1
    )
    bids = 1 + np.argmax(calls[:, 1:] != 0, axis=1) + steps.astype(np.int64)
    passes = (calls[:, 0] != 0) & (uniforms[:, PASS] > 1 / env.rules.players)
    return np.where(passes, passing, passing + bids)


def collect(
    env: SelfPlayVectorEnv,
    network: Network,
    shown: VectorStep,
    rollout: Rollout,
    noise: Noise,
    gae_lambda: float,
    counts: DealCounts,
    *,
    auction_by_chance: bool = False,
) -> VectorStep:
    """Fill the rollout with decisions from what the games show now; returns what they show afterwards.

    Forced moves never appear: the env steps through them. Bids and finished deals are added to `counts`. With
    `auction_by_chance` calls are drawn, not chosen by the policy.
    """
    teams = env.teams
    for step in range(len(rollout.seat)):
        places = (rollout.observation[step], rollout.mask[step])
        seen = order_suits(shown.observation, shown.mask, env.rules, out=places)
        uniforms = noise.uniforms(len(shown.seat))
        actions, chosen = choose(network, seen.observation, seen.mask, uniforms[:, ACTION])
        _full_view(env, seen.order, rollout.state[step])
        bidding = (seen.observation[:, network.bidding_flag] == 1) & auction_by_chance
        if auction_by_chance:
            actions = np.where(bidding, chance_calls(seen.mask, env, uniforms), actions)
        rollout.by_chance[step] = bidding
        rollout.seat[step] = shown.seat
        rollout.action[step] = actions
        rollout.log_probability[step] = chosen
        rollout.value[step] = team_values(judge(network, rollout.state[step]), shown.seat, teams)
        shown = env.step(original_actions(actions, seen.order, env.rules))
        rollout.reward[step] = shown.reward
        rollout.ended[step] = shown.terminated | shown.truncated
        counts.add_deals(env)
    seen = order_suits(shown.observation, shown.mask, env.rules)
    last = judge(network, _full_view(env, seen.order))
    by_team = advantages(
        rollout.reward, rollout.value, team_values(last, shown.seat, teams), rollout.ended, gae_lambda
    )
    own = (rollout.seat % teams)[..., None]
    rollout.advantage[:] = np.take_along_axis(by_team, own, axis=-1)[..., 0]
    rollout.returns[:] = own_first(by_team + rollout.value, rollout.seat, teams)
    counts.add_bids(rollout.observation, rollout.action)
    return shown


def _full_view(env: SelfPlayVectorEnv, order: Int64Array, out: Int8Array | None = None) -> Int8Array:
    return critic_input(rename_suits(env.state(relative=True), order, env.rules), env.rules.name, out)
