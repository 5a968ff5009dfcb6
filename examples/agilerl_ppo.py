"""AgileRL's PPO on the Gymnasium vector environment: masks in `info`, the other seats played by agents.

    python examples/agilerl_ppo.py --rules schmier --steps 200000

The learner plays every seat in turn; who plays the others is `--others`: an agent's name or a checkpoint. Among players
that pass a beginner learns to bid; among better ones its bids fail, and it learns to pass.
"""

from __future__ import annotations

import numpy as np
import torch
import tyro
from agilerl.algorithms import PPO

import smear_env
from smear_env.interop.agilerl import agent_of, collect
from smear_env.interop.ordered import OrderedVectorEnv
from smear_env.interop.scores import ScoresAgent
from training.evaluate import compare, summarize

GAMES = 64


def make_games(rules: smear_env.Rules, others: str) -> OrderedVectorEnv:
    """Many tables at once, an episode a deal."""
    return OrderedVectorEnv(GAMES, rules, opponents=others, partner=others, episode="deal", reward="points")


def learner_of(games: OrderedVectorEnv) -> PPO:
    """AgileRL's PPO for these games."""
    return PPO(
        games.single_observation_space,
        games.single_action_space,
        net_config={"encoder_config": {"hidden_size": [256]}, "latent_dim": 128},
        num_envs=GAMES,
        learn_step=2048,
        batch_size=256,
        lr=1e-3,
        gamma=1.0,
        ent_coef=0.05,
        share_encoders=False,
    )


def train(rules: smear_env.Rules, steps: int = 200_000, others: str = "passer", seed: int = 1) -> ScoresAgent:
    """The agent that so many decisions of the learner make."""
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002  # AgileRL shuffles with it
    games = make_games(rules, others)
    learner = learner_of(games)
    at = None
    for _ in range(steps // learner.learn_step):
        at = collect(learner, games, at, seed=seed)
        loss = learner.learn()
        print(f"loss {loss:.4f}, {at.reward_per_episode:+.2f} points per deal")
    return agent_of(learner)


def main(rules: str = "four_point", steps: int = 200_000, others: str = "passer", seed: int = 1) -> None:
    """Train, and play duplicate deals against `passer`."""
    game = smear_env.make_rules(rules)
    agent = train(game, steps, others, seed)
    result = summarize(compare(agent, smear_env.make_agent("passer"), game, pairs=500, seed=1), seed=1)
    print(f"ahead of passer by {result['points_per_deal']:+.2f} points per deal, 95 % {result['interval']}")


if __name__ == "__main__":
    tyro.cli(main)
