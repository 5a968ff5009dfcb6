"""AgileRL's PPO on the Gymnasium vector environment: masks in `info`, the other seats played by agents.

    python examples/agilerl_ppo.py --rules schmier --steps 200000

The learner plays every seat in turn; its partners and opponents are `greedy` here, and may be any agent, checkpoint or
list of these.
"""

from __future__ import annotations

import gymnasium
import numpy as np
import torch
import tyro
from agilerl.algorithms import PPO
from agilerl.rollouts import collect_rollouts
from gymnasium.vector.utils import batch_space
from gymnasium.wrappers.vector import TransformObservation

import smear_env
from smear_env.interop.scores import ScoresAgent
from smear_env.single import SmearSingleVectorEnv
from training.evaluate import compare, summarize

GAMES, FRAMES = 64, 4096


def make_games(rules: smear_env.Rules) -> gymnasium.vector.VectorEnv:
    """Many tables at once, an episode a deal, observations scaled to about -1..1."""
    games = SmearSingleVectorEnv(
        GAMES, rules, opponents="greedy", partner="greedy", episode="deal", reward="points"
    )
    scale = smear_env.observation_scale(rules)
    one = gymnasium.spaces.Box(-2, 2, scale.shape, np.float32)
    return TransformObservation(games, lambda seen: seen * scale, batch_space(one, GAMES), one)


def train(rules: smear_env.Rules, steps: int = 200_000, seed: int = 1) -> ScoresAgent:
    """The agent that so many decisions of the learner make."""
    torch.manual_seed(seed)
    games = make_games(rules)
    games.reset(seed=seed)
    layers = {"hidden_size": [256, 256]}
    learner = PPO(
        games.single_observation_space,
        games.single_action_space,
        net_config={"encoder_config": layers, "latent_dim": 128},
        num_envs=GAMES,
        learn_step=FRAMES,
        batch_size=512,
        lr=5e-4,
        gamma=1.0,
        ent_coef=0.02,
        update_epochs=4,
    )
    learner.set_training_mode(True)
    last = {}
    for _ in range(steps // FRAMES):
        scores, *at = collect_rollouts(learner, games, FRAMES // GAMES, **last)
        last = dict(zip(("last_obs", "last_done", "last_scores", "last_info"), at, strict=True))
        learner.learn()
        print(f"{sum(scores) / max(len(scores), 1):+.2f} points per deal")
    scale = smear_env.observation_scale(rules)

    def logits(seen: np.ndarray, mask: np.ndarray) -> torch.Tensor:
        features = learner.actor.extract_features(learner.preprocess_observation(seen * scale))
        return learner.actor.head_net.wrapped(features).detach()

    return ScoresAgent(logits)


def main(rules: str = "four_point", steps: int = 200_000, seed: int = 1) -> None:
    """Train, and play duplicate deals against `passer`."""
    game = smear_env.make_rules(rules)
    agent = train(game, steps, seed)
    result = summarize(compare(agent, smear_env.make_agent("passer"), game, pairs=500, seed=1), seed=1)
    print(f"ahead of passer by {result['points_per_deal']:+.2f} points per deal, 95 % {result['interval']}")


if __name__ == "__main__":
    tyro.cli(main)
