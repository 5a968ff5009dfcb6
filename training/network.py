"""The network: a stack of ReLU layers on one seat's observation, a policy head and a value head.

It sees positions with their suits in order, so that what it learns of one suit it knows of all.
Values are points per deal by team, the seat's own team first, and sum to zero: with two teams one signed number,
with three a value per team.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import torch
from torch import Tensor, nn

from smear_env import PRESETS, observation_layout, observation_scale
from smear_env.agents.policy import read_description, read_weights

MASKED = -1e9
"""Logit of an action that is not legal; finite, so that entropy and its gradient are."""


class Network(nn.Module):
    """Policy and values of a batch of observations.

    Args:
        preset: name of the game, which fixes inputs and actions.
        hidden: widths of the hidden layers.
        teams: values to predict.
    """

    scale: Tensor

    def __init__(self, preset: str, hidden: tuple[int, ...], teams: int) -> None:
        super().__init__()
        rules = PRESETS[preset]
        scale = observation_scale(rules)
        widths = (len(scale), *hidden)
        self.teams = teams
        self.bidding_flag = observation_layout(rules)["phase"].start
        """Entry of an observation that says that bids are made."""
        self.trunk = nn.ModuleList(nn.Linear(i, o) for i, o in pairwise(widths))
        self.policy = nn.Linear(widths[-1], len(rules.action_names))
        self.value = nn.Linear(widths[-1], teams)
        # Derived from the layout, so it is no weight of a checkpoint.
        self.register_buffer("scale", torch.from_numpy(scale.copy()), persistent=False)
        for layer in self.trunk:
            assert isinstance(layer, nn.Linear)
            nn.init.orthogonal_(layer.weight, 2**0.5)
            nn.init.zeros_(layer.bias)
        for head, gain in ((self.policy, 0.01), (self.value, 0.1)):
            nn.init.orthogonal_(head.weight, gain)
            nn.init.zeros_(head.bias)

    def forward(self, observation: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities [B, n] (MASKED or less where illegal) and values [B, teams].

        observation: [B, d] int8 and mask: [B, n] int8, with suits in order (`smear_env.order_suits`) and a legal
        action in every row.
        """
        x = observation.to(self.policy.weight.dtype)
        for index, layer in enumerate(self.trunk):
            assert isinstance(layer, nn.Linear)
            # Scaling the weights costs less than scaling a batch of observations.
            weight = layer.weight * self.scale if index == 0 else layer.weight
            x = torch.relu(nn.functional.linear(x, weight, layer.bias))
        logits = self.policy(x).masked_fill(mask == 0, MASKED)
        values = self.value(x)
        return torch.log_softmax(logits, dim=-1), values - values.mean(dim=-1, keepdim=True)


def load_network(folder: Path) -> Network:
    """The network of a checkpoint folder; CheckpointError names file and field of a damaged one."""
    description = read_description(folder)
    tensors = read_weights(folder, description)
    shape = description["network"]
    network = Network(description["preset"], tuple(shape["hidden"]), shape["teams"])
    network.load_state_dict({name: torch.from_numpy(tensor) for name, tensor in tensors.items()})
    return network
