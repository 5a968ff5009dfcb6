"""A training loop of your own, from the trainer's parts: play, learn, and whatever else a study needs in between."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from smear_env import SelfPlayVectorEnv
from training.adam import Adam
from training.checkpoint import save_policy
from training.config import TrainConfig, game_rules
from training.evaluate import describe, evaluate
from training.metrics import DealCounts
from training.network import Network
from training.noise import Noise, minibatch_order
from training.peers import ALONE, Gradients
from training.rollout import Rollout, collect
from training.update import UpdateSettings, update

CONFIG = TrainConfig(games=256, steps=16, hidden=(64, 64), critic_hidden=(64,), minibatch=512, seed=1)
UPDATES = 6


def main(folder: Path = Path("custom_loop")) -> None:
    """Train for a moment, save the policy and play it against `random`."""
    rules = game_rules(CONFIG)
    games = SelfPlayVectorEnv(
        len(rules), rules, seed=1, episode="deal", reward="points", skip_forced=True, start_scores="drawn"
    )
    network = Network(CONFIG.rules, CONFIG.hidden, CONFIG.critic_hidden, games.teams)
    optimizer, noise = Adam(Gradients(ALONE, network)), Noise(seed=1)
    shown = games.reset()
    rollout = Rollout.empty(CONFIG.steps, shown, network)
    for number in range(UPDATES):
        counts = DealCounts(CONFIG.rules, np.ones(len(rules), bool))
        # Calls are drawn at first, so that the play is learnt before the bids.
        shown = collect(
            games, network, shown, rollout, noise, CONFIG.gae_lambda, counts, auction_by_chance=number < 3
        )
        settings = UpdateSettings(
            learning_rate=1e-3 * (1 - number / UPDATES),
            entropy=0.05,
            bid_entropy=0.1,
            clip=0.2,
            value_weight=0.5,
            max_gradient_norm=0.5,
            minibatch=CONFIG.minibatch,
        )
        orders = [minibatch_order(1, 0, number, epoch, CONFIG.batch) for epoch in range(2)]
        metrics = update(network, optimizer, rollout, settings, orders)
        print(f"update {number}: {counts.deals} deals, explained {metrics['loss/explained_variance']:.2f}")
    save_policy(folder, network, CONFIG, UPDATES * CONFIG.batch, [])
    print(describe(evaluate(str(folder), "random", rules[0], pairs=100)))


if __name__ == "__main__":
    main()
