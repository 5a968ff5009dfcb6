"""sb3-contrib's MaskablePPO as one seat among agents of ours, in one game at a time or in many.

    python examples/sb3_maskable_ppo.py --rules schmier --opponents checkpoints/schmier --steps 2000000

The learner's reward adds up over the other seats' turns: between two of his decisions the environment plays theirs. Who
they are is `--opponents` and `--partner`: names of agents, or checkpoints. What was learnt is written as a checkpoint
of ours, which evaluates, plays at the web table, and is an opponent in the next run:

    python examples/sb3_maskable_ppo.py --opponents runs/sb3 --partner runs/sb3 --out runs/sb3_second
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecMonitor

import smear_env
from smear_env.interop.ordered import OrderedSuits
from smear_env.interop.sb3 import SmearVecEnv, save_policy


def make_env(rules: str, games: int, **arguments: Any) -> Any:
    """Deals that pay points per deal: one game as a Gymnasium environment, or `games` of them stepped together."""
    arguments = {"episode": "deal", "reward": "points", **arguments}
    if games == 1:
        single = gymnasium.make(
            "smear_env/SmearSingle-v0", rules=rules, disable_env_checker=True, **arguments
        )
        return Monitor(OrderedSuits(single))
    return VecMonitor(SmearVecEnv(games, rules, **arguments))


def make_model(env: Any, games: int, seed: int) -> MaskablePPO:
    """MaskablePPO with the network that checkpoints of ours are made of: layers with ReLU between them."""
    return MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=max(2048 // games, 32),
        batch_size=256,
        n_epochs=4,
        learning_rate=1e-3,
        gamma=1.0,
        ent_coef=0.05,
        policy_kwargs={"net_arch": [128, 128], "activation_fn": torch.nn.ReLU},
        seed=seed,
        device="cpu",
    )


def train(
    rules: str,
    *,
    games: int = 64,
    steps: int = 200_000,
    opponents: Any = "greedy",
    partner: Any = "greedy",
    seed: int = 1,
    folder: str | Path = "runs/sb3",
) -> MaskablePPO:
    """Train, write the policy into `folder`, and return the model."""
    env = make_env(rules, games, opponents=opponents, partner=partner)
    model = make_model(env, games, seed)
    model.learn(steps)
    save_policy(
        folder, model, rules, seed=seed, training={"library": "sb3-contrib", "opponents": str(opponents)}
    )
    return model


def play(model: MaskablePPO, rules: str, deals: int = 100, **arguments: Any) -> float:
    """Mean reward over deals in the environment itself, by the library's own means."""
    env = make_env(rules, 1, **arguments)
    total = 0.0
    for deal in range(deals):
        observation, info = env.reset(seed=deal)
        ended = False
        while not ended:
            action, _ = model.predict(observation, action_masks=info["action_mask"], deterministic=True)
            observation, reward, terminated, truncated, info = env.step(int(action))
            total += float(reward)
            ended = terminated or truncated
    return total / deals


def main() -> None:
    """Train and compare with `passer` on duplicate deals."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rules", default="four_point", help="preset")
    parser.add_argument("--games", type=int, default=64, help="environments; 1 for Gymnasium's single one")
    parser.add_argument("--steps", type=int, default=200_000, help="the learner's decisions")
    parser.add_argument("--opponents", default="greedy", help="agent's name or checkpoint")
    parser.add_argument("--partner", default="greedy", help="agent's name or checkpoint")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs/sb3"))
    given = parser.parse_args()
    train(
        given.rules,
        games=given.games,
        steps=given.steps,
        opponents=given.opponents,
        partner=given.partner,
        seed=given.seed,
        folder=given.out,
    )
    from training.evaluate import compare, summarize

    rules = smear_env.make_rules(given.rules)
    result = summarize(
        compare(smear_env.load_policy(given.out), smear_env.make_agent("passer"), rules, 1000, 1), 1
    )
    low, high = np.round(result["interval"], 2)
    print(
        f"{given.out}: {result['points_per_deal']:+.2f} [{low:+.2f}, {high:+.2f}] points per deal against passer"
    )


if __name__ == "__main__":
    main()
