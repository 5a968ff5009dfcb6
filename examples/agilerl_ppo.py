"""AgileRL's PPO on the Gymnasium vector environment: masks in `info`, the other seats played by agents.

    python examples/agilerl_ppo.py --rules schmier --steps 200000

The learner plays every seat in turn; its partners and opponents are `greedy` here, and may be any agent, checkpoint or
list of these.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import tyro
from agilerl.algorithms import PPO
from agilerl.rollouts import collect_rollouts
from gymnasium.vector.utils import batch_space

import smear_env
from smear_env.interop.scaled import scaled_space
from smear_env.interop.scores import ScoresAgent
from smear_env.single import SmearSingleVectorEnv
from training.evaluate import compare, summarize

GAMES, FRAMES = 64, 4096


class ScaledGames(SmearSingleVectorEnv):
    """Many tables at once, observations scaled to about -1..1."""

    def __init__(self, rules: smear_env.Rules) -> None:
        super().__init__(GAMES, rules, opponents="greedy", partner="greedy", episode="deal", reward="points")
        self.scale = smear_env.observation_scale(rules)
        self.single_observation_space = scaled_space(rules)
        self.observation_space = batch_space(self.single_observation_space, GAMES)

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        """As the environment's."""
        seen, info = super().reset(**given)
        return seen * self.scale, info

    def step(self, actions: np.ndarray) -> tuple[Any, ...]:
        """As the environment's."""
        seen, *rest = super().step(actions)
        return seen * self.scale, *rest


def learner_of(games: ScaledGames) -> PPO:
    """AgileRL's PPO for these tables."""
    learner = PPO(
        games.single_observation_space,
        games.single_action_space,
        net_config={"encoder_config": {"hidden_size": [256]}, "latent_dim": 128},
        num_envs=GAMES,
        learn_step=FRAMES,
        batch_size=512,
        lr=5e-4,
        gamma=1.0,
        ent_coef=0.02,
    )
    learner.set_training_mode(True)
    return learner


def train(rules: smear_env.Rules, steps: int = 200_000, seed: int = 1) -> ScoresAgent:
    """The agent that so many decisions of the learner make."""
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002  # AgileRL shuffles with it
    games = ScaledGames(rules)
    games.reset(seed=seed)
    learner = learner_of(games)
    last = {}
    for _ in range(steps // FRAMES):
        scores, *at = collect_rollouts(learner, games, FRAMES // GAMES, **last)
        last = dict(zip(("last_obs", "last_done", "last_scores", "last_info"), at, strict=True))
        learner.learn()
        print(f"{sum(scores) / max(len(scores), 1):+.2f} points per deal")

    def logits(seen: np.ndarray, mask: np.ndarray) -> torch.Tensor:
        features = learner.actor.extract_features(learner.preprocess_observation(seen * games.scale))
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
