"""RLCard both ways: its DQN learns in its own interface and plays in our evaluation; our agents play in its tournament.

    python examples/rlcard_agents.py --rules mini --deals 5000

All seats are the one learner. In half of the deals the dealer has to bid when all before him have passed: otherwise all
learn to pass.
"""

from __future__ import annotations

import contextlib
import io
import random

import numpy as np
import rlcard
import torch
import tyro
from rlcard.agents import DQNAgent
from rlcard.utils import reorganize, tournament

import smear_env
from smear_env.interop.rlcard import RLCardAgent, agents_at
from training.evaluate import compare, summarize


def train(rules: smear_env.Rules, deals: int = 5000, seed: int = 1) -> DQNAgent:
    """RLCard's DQN after so many deals of self-play."""
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002  # RLCard explores with it
    random.seed(seed)  # and replays with this
    forced = smear_env.make_rules(rules, all_pass="dealer_bids")
    envs = [rlcard.make("smear", {"rules": one, "seed": seed}) for one in (rules, forced)]
    player = DQNAgent(
        num_actions=envs[0].num_actions,
        state_shape=envs[0].state_shape[0],
        mlp_layers=[128, 128],
        learning_rate=1e-3,
        discount_factor=1.0,
        update_target_estimator_every=200,
        epsilon_decay_steps=deals * 3,
        replay_memory_size=50_000,
        replay_memory_init_size=1000,
        batch_size=128,
        train_every=4,
        device=torch.device("cpu"),
    )
    for env in envs:
        env.set_agents([player] * env.num_players)
    for deal in range(deals):
        trajectories, payoffs = envs[deal % 2].run(is_training=True)
        with contextlib.redirect_stdout(io.StringIO()):  # it says its loss at each step
            for transitions in reorganize(trajectories, payoffs):
                for transition in transitions:
                    player.feed(transition)
    return player


def main(rules: str = "four_point", deals: int = 5000, seed: int = 1) -> None:
    """Train, play duplicate deals against `passer`, and sit down with `expert` at RLCard's table."""
    game = smear_env.make_rules(rules)
    player = train(game, deals, seed)
    result = summarize(
        compare(RLCardAgent(player), smear_env.make_agent("passer"), game, pairs=500, seed=1), seed=1
    )
    print(f"ahead of passer by {result['points_per_deal']:+.2f} points per deal, 95 % {result['interval']}")
    env = rlcard.make("smear", {"rules": game, "seed": seed})
    experts = agents_at(env, "expert")
    env.set_agents([player if seat % game.teams == 0 else experts[seat] for seat in range(game.players)])
    print(f"against expert in RLCard's tournament: {tournament(env, 200)[0]:+.2f} points per deal")


if __name__ == "__main__":
    tyro.cli(main)
