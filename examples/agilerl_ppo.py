"""AgileRL's PPO on the Gymnasium vector environment: masks in `info`, the other seats played by agents.

    python examples/agilerl_ppo.py --rules schmier --steps 200000

The learner plays every seat in turn; who plays the others is `--others`: an agent's name or a checkpoint. Among players
that pass a beginner learns to bid; among better ones its bids fail, and it learns to pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import tyro
from agilerl.algorithms import PPO
from gymnasium.spaces import Discrete
from gymnasium.vector.utils import batch_space

import smear_env
from smear_env.interop.ordered import OrderedView
from smear_env.interop.scores import ScoresAgent
from smear_env.single import SmearSingleVectorEnv
from training.evaluate import compare, summarize

GAMES, FRAMES = 64, 2048


class OrderedGames(SmearSingleVectorEnv):
    """Many tables at once, with suits in order: observations, masks and actions."""

    def __init__(self, rules: smear_env.Rules, others: str) -> None:
        super().__init__(GAMES, rules, opponents=others, partner=others, episode="deal", reward="points")
        self.view = OrderedView(rules)
        self.single_observation_space = self.view.space
        self.observation_space = batch_space(self.view.space, GAMES)

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        """As the environment's."""
        return self._show(*super().reset(**given))

    def step(self, actions: np.ndarray) -> tuple[Any, ...]:
        """As the environment's; actions are of the masks that were shown."""
        seen, *paid, info = super().step(self.view.actions(actions, self.shown.order))
        seen, info = self._show(seen, info)
        return seen, *paid, info

    def _show(self, seen: np.ndarray, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        self.shown = self.view.see(seen, info["action_mask"])
        return self.shown.inputs, {**info, "action_mask": self.shown.mask}


def learner_of(rules: smear_env.Rules) -> PPO:
    """AgileRL's PPO for this game."""
    learner = PPO(
        OrderedView(rules).space,
        Discrete(len(rules.action_names)),
        net_config={"encoder_config": {"hidden_size": [256]}, "latent_dim": 128},
        num_envs=GAMES,
        learn_step=FRAMES,
        batch_size=256,
        lr=1e-3,
        gamma=1.0,
        ent_coef=0.05,
        share_encoders=False,
    )
    learner.set_training_mode(True)
    return learner


def collect(
    learner: PPO, games: OrderedGames, seen: np.ndarray, info: dict[str, Any], began: np.ndarray
) -> tuple[np.ndarray, dict[str, Any], np.ndarray, float]:
    """Fill the learner's buffer from where the games are; where they are then, and points per deal.

    AgileRL's own `collect_rollouts` keeps beside a step whether it ended an episode, where its buffer reads whether one
    began: a deal's points then never reach the decisions before its last.
    """
    buffer, points, deals = learner.rollout_buffer, 0.0, 0
    buffer.reset()
    for _ in range(FRAMES // GAMES):
        mask = info["action_mask"]
        action, chance, _, value = learner.get_action(seen, action_mask=mask)
        following, reward, ended, _, info = games.step(action)
        buffer.add(
            obs=seen, action=action, reward=reward, done=began, value=value, log_prob=chance,
            next_obs=following, action_mask=mask,
        )  # fmt: skip
        seen, began = following, ended
        points, deals = points + reward.sum(), deals + ended.sum()
    value = learner.get_action(seen, action_mask=info["action_mask"])[3]
    buffer.compute_returns_and_advantages(last_value=value, last_done=began)
    return seen, info, began, points / max(deals, 1)


def agent_of(learner: PPO) -> ScoresAgent:
    """The learner as an agent."""

    def logits(inputs: np.ndarray, mask: np.ndarray) -> torch.Tensor:
        with torch.no_grad():
            features = learner.actor.extract_features(learner.preprocess_observation(inputs))
            return learner.actor.head_net.wrapped(features)

    return ScoresAgent(logits, ordered=True)


def train(rules: smear_env.Rules, steps: int = 200_000, others: str = "passer", seed: int = 1) -> ScoresAgent:
    """The agent that so many decisions of the learner make."""
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002  # AgileRL shuffles with it
    games, learner = OrderedGames(rules, others), learner_of(rules)
    at = (*games.reset(seed=seed), np.zeros(GAMES, bool))
    for _ in range(steps // FRAMES):
        *at, paid = collect(learner, games, *at)
        loss = learner.learn()
        print(f"loss {loss:.4f}, {paid:+.2f} points per deal")
    return agent_of(learner)


def main(rules: str = "four_point", steps: int = 200_000, others: str = "passer", seed: int = 1) -> None:
    """Train, and play duplicate deals against `passer`."""
    game = smear_env.make_rules(rules)
    agent = train(game, steps, others, seed)
    result = summarize(compare(agent, smear_env.make_agent("passer"), game, pairs=500, seed=1), seed=1)
    print(f"ahead of passer by {result['points_per_deal']:+.2f} points per deal, 95 % {result['interval']}")


if __name__ == "__main__":
    tyro.cli(main)
