"""Self-play in Tianshou: its `PettingZooEnv`, and one DQN for all seats that learns whole returns.

    python examples/tianshou_self_play.py --rules schmier --steps 200000

The horizon of the returns is longer than a deal, so that a decision's target is what the deal was worth to its seat:
the steps in between are of other seats, whose values say nothing of one's own. Tianshou's on-policy algorithms take
only the rewards that are paid at a seat's own step, which leaves out most deals' points; they are not for such games.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
import tyro
from tianshou.algorithm import DQN, MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from torch import nn

import smear_env
from smear_env.interop.scores import ScoresAgent
from training.evaluate import compare, summarize

GAMES = 16
LONGEST = 64
"""At least as many steps as a deal has."""


class Values(nn.Module):
    """What each action is worth, of an int8 observation whose entries are scaled to about -1..1."""

    def __init__(self, rules: smear_env.Rules) -> None:
        super().__init__()
        self.scale = smear_env.observation_scale(rules)
        sizes = len(self.scale), 256, 256, len(rules.action_names)
        layers = [part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), nn.ReLU())]
        self.layers = nn.Sequential(*layers[:-1])

    def forward(
        self, obs: np.ndarray, state: object = None, info: object = None
    ) -> tuple[torch.Tensor, object]:
        """[B, d] to [B, n], as Tianshou calls its networks."""
        return self.layers(torch.as_tensor(np.asarray(obs) * self.scale)), state


def make_game(rules: smear_env.Rules) -> PettingZooEnv:
    """One table of Tianshou, an episode a deal."""
    return PettingZooEnv(smear_env.env(rules=rules, episode="deal", reward="points"))


def learner_of(game: PettingZooEnv, rules: smear_env.Rules) -> DQN:
    """Tianshou's DQN for a seat at this table; its network is `policy.model`."""
    policy = DiscreteQLearningPolicy(
        model=Values(rules), action_space=game.action_space, observation_space=game.observation_space
    )
    return DQN(policy=policy, optim=AdamOptimizerFactory(lr=5e-4), gamma=1.0, n_step_return_horizon=LONGEST)


def train(rules: smear_env.Rules, steps: int = 200_000, seed: int = 1) -> ScoresAgent:
    """The agent that so many steps of self-play make."""
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002  # Tianshou explores with it
    game = make_game(rules)
    seat = learner_of(game, rules)
    everybody = MultiAgentOffPolicyAlgorithm(algorithms=[seat] * rules.players, env=game)
    # In half of the games the dealer has to bid when all before him have passed: otherwise all learn to pass.
    forced = smear_env.make_rules(rules, all_pass="dealer_bids")
    games = DummyVectorEnv([lambda: make_game(rules), lambda: make_game(forced)] * (GAMES // 2))
    games.seed(seed)
    collector = Collector(everybody, games, VectorReplayBuffer(steps // 4, GAMES), exploration_noise=True)

    def explore(epoch: int, step: int) -> None:
        seat.policy.set_eps_training(max(0.05, 0.5 - step / steps))

    everybody.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            max_epochs=1,
            epoch_num_steps=steps,
            collection_step_num_env_steps=32 * GAMES,
            update_step_num_gradient_steps_per_sample=1 / 128,
            batch_size=1024,
            training_fn=explore,
        )
    )
    return ScoresAgent(lambda seen, mask: seat.policy.model(seen)[0].detach())


def main(rules: str = "four_point", steps: int = 200_000, seed: int = 1) -> None:
    """Train, and play duplicate deals against `passer`."""
    game = smear_env.make_rules(rules)
    agent = train(game, steps, seed)
    result = summarize(compare(agent, smear_env.make_agent("passer"), game, pairs=500, seed=1), seed=1)
    print(f"ahead of passer by {result['points_per_deal']:+.2f} points per deal, 95 % {result['interval']}")


if __name__ == "__main__":
    tyro.cli(main)
