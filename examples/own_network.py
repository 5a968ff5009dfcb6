"""A network of your own: `residual`, blocks that add to what they are given, in torch.

    python -m training.ppo --plugins own_network --network residual
    SMEAR_PLUGINS=own_network python -m training.evaluate --agent runs/four_point-0 --against greedy

in this folder. The checkpoint says which network it is of, and playing it needs torch and this module. The file itself
trains for a moment and plays.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from torch import Tensor, nn

import smear_env
from training.config import TrainConfig
from training.own_network import NetworkShape, register_network
from training.ppo import train


class Block(nn.Module):
    """Adds a layer of a normalised vector to the vector."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU())

    def forward(self, x: Tensor) -> Tensor:
        """[B, width] to [B, width]."""
        return x + self.layers(x)


def blocks(inputs: int, widths: tuple[int, ...], outputs: int) -> nn.Module:
    """A block of the first width for each width given."""
    width = widths[0]
    return nn.Sequential(nn.Linear(inputs, width), *(Block(width) for _ in widths), nn.Linear(width, outputs))


def residual(shape: NetworkShape) -> tuple[nn.Module, nn.Module]:
    """Policy and critic."""
    policy = blocks(shape.inputs, shape.hidden, shape.actions)
    critic = blocks(shape.critic_inputs, shape.critic_hidden, shape.teams)
    return policy, critic


register_network("residual", residual)


def main() -> None:
    """Train, then load what was trained."""
    with TemporaryDirectory() as folder:
        config = TrainConfig(
            plugins=("own_network",),
            network="residual",
            hidden=(64, 64),
            critic_hidden=(64,),
            games=128,
            steps=16,
            minibatch=512,
            total_decisions=8192,
            evaluate_pairs=100,
            baselines=("random",),
            run_dir=folder,
        )
        train(config)
        policy = smear_env.load_policy(Path(folder))
        print("a checkpoint of the network", policy.description["network"]["kind"])


if __name__ == "__main__":
    main()
