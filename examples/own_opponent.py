"""An opponent of your own in training: half of the games have a team of `aces` (own_agent.py) beside the learner.

    python -m training.ppo --plugins own_agent --opponents aces greedy --opponents-share 0.25

in this folder; an opponent is any agent or checkpoint, and of what it decides nothing is learnt. The file itself makes
a few updates.
"""

from __future__ import annotations

from training.config import TrainConfig
from training.metrics import DealCounts
from training.trainer import Trainer

CONFIG = TrainConfig(
    plugins=("own_agent",),
    opponents=("aces", "greedy"),
    opponents_share=0.5,
    games=128,
    steps=16,
    minibatch=512,
    total_decisions=8192,
    auction_by_chance=0.0,
)


def main() -> None:
    """Train, and say what share of the decisions was the learner's."""
    trainer = Trainer(CONFIG)
    while trainer.updates < trainer.total_updates:
        counts = DealCounts(CONFIG.rules, trainer.free)
        metrics = trainer.iterate(counts)
        learnt = trainer.rollout.learns.mean()
        print(f"entropy {metrics['policy/entropy']:.2f}, {learnt:.0%} of the decisions are the learner's")


if __name__ == "__main__":
    main()
