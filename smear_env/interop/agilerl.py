"""AgileRL: collecting for its PPO from the vector environment, and what it has learnt as an agent.

    env = OrderedVectorEnv(64, "four_point", opponents="passer", partner="passer", episode="deal", reward="points")
    learner = PPO(env.single_observation_space, env.single_action_space, num_envs=64, gamma=1.0)
    at = None
    while training:
        at = collect(learner, env, at)
        learner.learn()

AgileRL's own `collect_rollouts` (2.58) keeps beside a step whether it ended an episode, where its buffer reads whether
an episode began there. The last reward of an episode then reaches no decision but the last, and the value of the next
episode leaks into it; a deal is paid at its end, so that nothing is learnt. `collect` is the same loop with the flag
where it belongs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from agilerl.algorithms import PPO

from smear_env._typing import BoolArray, Float32Array, Int8Array
from smear_env.interop.ordered import OrderedVectorEnv
from smear_env.interop.scores import ScoresAgent


class Position(NamedTuple):
    """Where the games are after a rollout, for the next one to go on; N games."""

    inputs: Float32Array
    """[N, d + f] float32, what the learner sees."""
    mask: Int8Array
    """[N, n] int8, its legal actions."""
    began: BoolArray
    """[N] bool, an episode begins here."""
    reward_per_episode: float
    """Mean over the episodes that the rollout has ended; 0 if it ended none."""


def collect(
    learner: PPO, env: OrderedVectorEnv, at: Position | None = None, *, seed: int | None = None
) -> Position:
    """Fill the learner's buffer, with advantages, for `learner.learn()`; where the games are then.

    So many steps are played as its `learn_step` is, in all games together. `at` is what the call before returned;
    without it the games are reset, by `seed`. ValueError if the learner was made for another number of games.
    """
    if learner.num_envs != env.num_envs:
        raise ValueError(
            f"learner of num_envs={learner.num_envs}, but env has {env.num_envs} games: make both with one number"
        )
    if at is None:
        inputs, info = env.reset(seed=seed)
        at = Position(inputs, info["action_mask"], np.ones(env.num_envs, np.bool_), 0.0)
    learner.set_training_mode(True)
    buffer = learner.rollout_buffer
    buffer.reset()
    earned, episodes = 0.0, 0
    inputs, mask, began, _ = at
    for _ in range(-(-learner.learn_step // env.num_envs)):
        action, log_prob, _, value = learner.get_action(inputs, action_mask=mask)
        following, reward, terminated, truncated, info = env.step(action)
        buffer.add(
            obs=inputs, action=action, reward=reward, done=began, value=value, log_prob=log_prob,
            next_obs=following, action_mask=mask,
        )  # fmt: skip
        inputs, mask, began = following, info["action_mask"], terminated | truncated
        earned, episodes = earned + float(reward.sum()), episodes + int(began.sum())
    value = learner.get_action(inputs, action_mask=mask)[3]
    buffer.compute_returns_and_advantages(last_value=value, last_done=began)
    return Position(inputs, mask, began, earned / max(episodes, 1))


def agent_of(learner: PPO) -> ScoresAgent:
    """The learner as an agent: of the legal actions the likeliest. It goes on learning with the learner."""

    def logits(inputs: Float32Array, _: Int8Array) -> Any:
        features = learner.actor.extract_features(learner.preprocess_observation(inputs))
        return learner.actor.head_net.wrapped(features).detach().cpu()

    return ScoresAgent(logits, ordered=True)


__all__ = ["Position", "agent_of", "collect"]
