"""Playing: the current policy in every seat of every game, its decisions kept for one update."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from smear_env import SelfPlayVectorEnv, VectorStep, original_actions
from training.arrays import BoolArray, Float32Array, Float64Array, Int8Array, Int64Array
from training.choices import choose, judge
from training.gae import advantages, own_first, team_values
from training.metrics import DealCounts
from training.network import Network
from training.noise import ACTION, LESSON, LEVEL, PASS, Noise
from training.others import LEARNER, Others
from training.teacher import Teacher

SURE = math.log(0.95)
"""The policy counts as sure where the action drawn has this log-probability or more, which is its favourite then."""


@dataclass
class Rollout:
    """T decisions of each of N games, their suits in order; allocated once and overwritten by each `collect`."""

    observation: Int8Array  # [T, N, inputs] as the network takes it, the observation first
    mask: Int8Array  # [T, N, n]
    state: Int8Array  # [T, N, c] what the critic sees
    seat: Int64Array  # [T, N]
    action: Int64Array  # [T, N]
    log_probability: (
        Float32Array  # [T, N] of the action when it was chosen; 0 where others decide, as the values
    )
    value: Float32Array  # [T, N, teams] by team, before the decision
    reward: Float32Array  # [T, N, teams] by team, up to the next decision
    ended: BoolArray  # [T, N] the episode ended
    advantage: Float32Array  # [T, N] for the team of the seat that decided
    returns: Float32Array  # [T, N, teams] value target, own team first
    by_chance: BoolArray  # [T, N] the action was drawn, so the policy learns nothing from it
    learns: BoolArray  # [T, N] the decision is the learner's; of those of others nothing is learnt
    taught: BoolArray  # [T, N] there is a lesson
    lesson: Float32Array  # [T, N, n] what each legal card brings, as rewards are; [0, 0, n] without

    @classmethod
    def empty(cls, steps: int, shown: VectorStep, network: Network, *, lessons: bool = False) -> Rollout:
        """Room for `steps` decisions of games that look like `shown` by a network, and lessons or none."""
        size, teams = (steps, len(shown.seat)), shown.reward.shape[1]
        actions = shown.mask.shape[1]
        return cls(
            observation=np.zeros((*size, len(network.scale)), np.int8),
            mask=np.zeros((*size, shown.mask.shape[1]), np.int8),
            state=np.zeros((*size, len(network.critic_scale)), np.int8),
            seat=np.zeros(size, np.int64),
            action=np.zeros(size, np.int64),
            log_probability=np.zeros(size, np.float32),
            value=np.zeros((*size, teams), np.float32),
            reward=np.zeros((*size, teams), np.float32),
            ended=np.zeros(size, np.bool_),
            advantage=np.zeros(size, np.float32),
            returns=np.zeros((*size, teams), np.float32),
            by_chance=np.zeros(size, np.bool_),
            learns=np.ones(size, np.bool_),
            taught=np.zeros(size, np.bool_),
            lesson=np.zeros((*size, actions) if lessons else (0, 0, actions), np.float32),
        )


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
    others: Others | None = None,
    teacher: Teacher | None = None,
    pay: Callable[[SelfPlayVectorEnv], Float32Array] | None = None,
) -> VectorStep:
    """Fill the rollout with decisions from what the games show now; returns what they show afterwards.

    Forced moves never appear: the env steps through them. Bids and finished deals are added to `counts`. With
    `auction_by_chance` calls are drawn, not chosen by the policy. `others` play their seats, and the learner the rest.
    `teacher` gives a share of the learner's decisions a lesson. `pay` gives what the last step earned each team,
    [N, teams], in place of the env's own reward.
    """
    teams = env.teams
    rows: slice | Int64Array = slice(None)
    for step in range(len(rollout.seat)):
        seen = network.see(shown.observation, shown.mask, (rollout.observation[step], rollout.mask[step]))
        full = env.state(relative=True)
        state = network.critic_sees(full, seen, rollout.state[step])
        uniforms, actions = noise.uniforms(len(shown.seat)), rollout.action[step]
        if others:
            turns = others.turns(shown.seat)
            others.act(shown, seen, turns, uniforms[:, ACTION], actions)
            rollout.learns[step] = turns == LEARNER
            rollout.log_probability[step], rollout.value[step] = 0, 0
            rows = np.flatnonzero(turns == LEARNER)
        mask = seen.mask[rows]
        chosen, log_probability = choose(network, seen.observation[rows], mask, uniforms[rows, ACTION])
        rollout.log_probability[step, rows] = log_probability
        rollout.taught[step] = False
        if teacher:
            sure = rollout.learns[step] & (rollout.log_probability[step] >= SURE)
            rollout.taught[step] = teacher.teach(
                *(env, network, shown, seen, full),
                *(rollout.learns[step], sure, uniforms[:, LESSON], rollout.lesson[step]),
            )
        rollout.by_chance[step] = False
        if auction_by_chance:
            bidding = seen.observation[rows, network.bidding_flag] == 1
            chosen = np.where(bidding, chance_calls(mask, env, uniforms[rows]), chosen)
            rollout.by_chance[step, rows] = bidding
        actions[rows] = chosen
        rollout.seat[step] = shown.seat
        rollout.value[step, rows] = team_values(judge(network, state[rows]), shown.seat[rows], teams)
        shown = env.step(original_actions(actions, seen.order, env.rules))
        rollout.reward[step] = pay(env) if pay else shown.reward
        rollout.ended[step] = shown.terminated | shown.truncated
        counts.add_deals(env)
    seen = network.see(shown.observation, shown.mask)
    last = judge(network, network.critic_sees(env.state(relative=True), seen))
    known = others.turns(shown.seat) == LEARNER if others else np.ones(len(shown.seat), np.bool_)
    by_team = advantages(
        *(rollout.reward, rollout.value, team_values(last, shown.seat, teams), rollout.ended),
        *(gae_lambda, rollout.learns, known),
    )
    own = (rollout.seat % teams)[..., None]
    rollout.advantage[:] = np.take_along_axis(by_team, own, axis=-1)[..., 0]
    rollout.returns[:] = own_first(by_team + rollout.value, rollout.seat, teams)
    counts.add_bids(rollout.observation, rollout.action)
    return shown
