"""The networks: a policy on one seat's observation, and a critic on the full information, each a stack of ReLU layers.

Both see positions with their suits in order (`smear_env.order_suits`), so that what they learn of one suit they know of
all, unless they are built to see suits as dealt. Values are points per deal by team, the team of the seat to act first,
and sum to zero: with two teams one signed number, with three a value per team. The critic serves training alone: a
player never sees its input.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from smear_env import (
    MLP,
    PRESETS,
    CheckpointError,
    InOrder,
    feature_scale,
    is_again,
    load_plugins,
    observation_layout,
    observation_scale,
    order_suits,
    preset_of,
    read_policy,
    read_weights,
    rename_suits,
    state_layout,
    state_scale,
)
from training.arrays import Float32Array, Int8Array
from training.stack import Part, Stack

MASKED = -1e9
"""Logit of an action that is not legal; finite, so that entropy and its gradient are."""

_PAST = ("taken", "discard_order", "played", "trick_of")
"""Pieces of the state that no longer bear on what the deal will bring, with all hands known."""


class Network(nn.Module):
    """Policy and critic.

    Args:
        preset: name of the game, which fixes inputs and actions.
        hidden: widths of the policy's hidden layers.
        critic_hidden: widths of the critic's.
        teams: values to predict.
        suits: "ordered", or "as_dealt": how positions are shown to both.
        features: the policy takes the features of an observation beside it (`smear_env.feature_layout`).
        critic_view: "state", or "observation", the view of the seat to act, in its place: for comparison.

    `low_precision` runs the hidden layers in bfloat16. Networks of another kind are subclasses, with a `build` and
    parts of their own (`training.own_network`).
    """

    kind = MLP
    """The name that the network is known by in configurations and checkpoints."""
    scale: Tensor
    critic_scale: Tensor

    def __init__(
        self,
        preset: str,
        hidden: tuple[int, ...],
        critic_hidden: tuple[int, ...],
        teams: int,
        suits: str = "ordered",
        critic_view: str = "state",
        *,
        features: bool = False,
    ) -> None:
        super().__init__()
        self.rules = rules = preset_of(preset)
        self.teams = teams
        self.suits = suits
        self.critic_view = critic_view
        self.features = features
        self.low_precision = False
        self.bidding_flag = observation_layout(rules)["phase"].start
        """Entry of an observation that says that bids are made."""
        scale = np.concatenate([observation_scale(rules), *([feature_scale(rules)] if features else [])])
        critic_scale = _critic_inputs(preset)[1] if critic_view == "state" else scale.copy()
        self.build(len(scale), len(critic_scale), hidden, critic_hidden)
        # Derived from the layout, so no weights of a checkpoint.
        self.register_buffer("scale", torch.from_numpy(scale.copy()), persistent=False)
        self.register_buffer("critic_scale", torch.from_numpy(critic_scale), persistent=False)

    def build(
        self, inputs: int, critic_inputs: int, hidden: tuple[int, ...], critic_hidden: tuple[int, ...]
    ) -> None:
        """Make the layers, their weights drawn."""
        self.trunk = _stack(inputs, hidden)
        self.policy = _head(hidden[-1], len(self.rules.action_names), gain=0.01)
        self.critic_trunk = _stack(critic_inputs, critic_hidden)
        self.value = _head(critic_hidden[-1], self.teams, gain=0.1)

    def see(
        self, observation: Int8Array, mask: Int8Array, out: tuple[Int8Array, Int8Array] | None = None
    ) -> InOrder:
        """Positions [B, d] and [B, n] int8 as the network takes them, [B, inputs]; into `out` if that is given."""
        ordered = self.suits == "ordered"
        return order_suits(observation, mask, self.rules, out=out, ordered=ordered, features=self.features)

    def critic_sees(self, states: Int8Array, seen: InOrder, out: Int8Array | None = None) -> Int8Array:
        """What the critic takes, [B, c] int8, of states [B, s] counted from the seat to act, which it `see`s so."""
        if self.critic_view == "state":
            return critic_input(rename_suits(states, seen.order, self.rules), self.rules.name, out)
        if out is None:
            return seen.observation
        out[:] = seen.observation
        return out

    def logits(self, observation: Tensor) -> Tensor:
        """A number for each action, legal or not, [B, n], of observations [B, inputs] int8 as it `see`s them."""
        return self.policy_stack().forward(observation).outputs

    def forward(self, observation: Tensor, mask: Tensor) -> Tensor:
        """Log-probabilities [B, n], MASKED or less where illegal.

        observation: [B, d] int8 and mask: [B, n] int8, with suits in order and a legal action in every row.
        """
        return torch.log_softmax(self.logits(observation).masked_fill(mask == 0, MASKED), dim=-1)

    def values(self, critic_input: Tensor) -> Tensor:
        """Points that each team can expect from here on, [B, teams], own team first.

        critic_input: [B, c] int8, of `critic_input`.
        """
        return centred(self.critic_stack().forward(critic_input).outputs)

    def policy_stack(self) -> Part:
        """The policy from observations to logits."""
        return Stack(self.trunk, self.policy, self.scale, low_precision=self.low_precision)

    def critic_stack(self) -> Part:
        """The critic from its inputs to values, not yet `centred`."""
        return Stack(self.critic_trunk, self.value, self.critic_scale, low_precision=self.low_precision)


_KINDS: dict[str, Callable[..., Network]] = {MLP: Network}


def register_kind(kind: str, make: Callable[..., Network]) -> None:
    """Let `make`, called as `Network` is, make the networks of a kind; ValueError if the name is another's."""
    if kind in _KINDS and not is_again(_KINDS[kind], make):
        raise ValueError(f"network {kind!r} is registered already: choose another name")
    _KINDS[kind] = make


def make_network(kind: str, *args: Any, **options: Any) -> Network:
    """A network of a kind, from the arguments of `Network`; ValueError for a kind that nobody has registered."""
    if kind not in _KINDS:
        load_plugins()
    if kind not in _KINDS:
        raise ValueError(
            f"network={kind!r} must be one of {', '.join(_KINDS)}; one of your own is found once the module that "
            "registers it is among plugins"
        )
    return _KINDS[kind](*args, **options)


def centred(values: Tensor) -> Tensor:
    """Values [B, teams] less their mean; a derivative by centred values, centred, is the one by those before."""
    return values - values.mean(dim=-1, keepdim=True)


def bfloat16_pays() -> bool:
    """Whether this processor multiplies matrices of bfloat16 in hardware; otherwise they are slower than float32."""
    checks = (
        getattr(torch.cpu, name, None) for name in ("_is_amx_tile_supported", "_is_avx512_bf16_supported")
    )
    return any(check is not None and check() for check in checks)


def critic_input(states: Int8Array, preset: str, out: Int8Array | None = None) -> Int8Array:
    """What the critic sees, [B, c] int8, of states [B, s] counted from the seat to act, their suits in order.

    It is written into `out` if that is given.
    """
    kept, scale = _critic_inputs(preset)
    result = np.empty((len(states), len(scale)), np.int8) if out is None else out
    start = 0
    for columns in kept:
        stop = start + columns.stop - columns.start
        result[:, start:stop] = states[:, columns]
        start = stop
    np.greater(states[:, state_layout(PRESETS[preset])["stock"].slice], 0, out=result[:, start:])
    return result


@lru_cache(maxsize=8)
def _critic_inputs(preset: str) -> tuple[tuple[slice, ...], Float32Array]:
    """Runs of columns of the state that the critic sees, and the scale of its whole input."""
    rules = PRESETS[preset]
    layout = state_layout(rules)
    # Discards bear on the deal where they count for Game.
    past = _PAST if rules.stock_to_bidder else (*_PAST, "discarded")
    kept: list[slice] = []
    for piece in (piece.slice for name, piece in layout.items() if name not in past):
        follows = kept and kept[-1].stop == piece.start
        kept.append(slice(kept.pop().start if follows else piece.start, piece.stop))
    scales = [state_scale(rules)[columns] for columns in kept]
    return tuple(kept), np.concatenate([*scales, np.ones(layout["stock"].size, np.float32)])


def _stack(inputs: int, widths: tuple[int, ...]) -> nn.ModuleList:
    layers = nn.ModuleList(nn.Linear(i, o) for i, o in pairwise((inputs, *widths)))
    for module in layers:
        layer = cast("nn.Linear", module)
        nn.init.orthogonal_(layer.weight, 2**0.5)
        nn.init.zeros_(layer.bias)
    return layers


def _head(inputs: int, outputs: int, *, gain: float) -> nn.Linear:
    head = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(head.weight, gain)
    nn.init.zeros_(head.bias)
    return head


def load_network(folder: Path) -> Network:
    """The network of a checkpoint folder; CheckpointError names file and field of a damaged one."""
    description = read_policy(folder)
    return network_from(folder, description, read_weights(folder, description))


def network_from(folder: Path, description: dict[str, Any], tensors: dict[str, Float32Array]) -> Network:
    """The network of a checkpoint's description and weights; CheckpointError where they do not fit."""
    shape = description["network"]
    try:
        network = make_network(
            shape.get("kind", MLP),
            description["preset"],
            tuple(shape["hidden"]),
            tuple(shape["critic_hidden"]),
            shape["teams"],
            shape.get("suits", "ordered"),
            shape.get("critic_view", "state"),
            features=shape.get("features", False),
        )
        network.load_state_dict({name: torch.from_numpy(tensor) for name, tensor in tensors.items()})
    except (KeyError, TypeError, IndexError, RuntimeError) as error:
        raise CheckpointError(
            f"{folder / description['weights']}: holds no critic to train on: {error}"
        ) from error
    return network


def begin_with(network: Network, folder: Path) -> None:
    """Give a network the weights of a checkpoint; CheckpointError if it is another network than the checkpoint's."""
    stored = load_network(folder)
    kinds = [
        (one.rules.name, one.suits, one.features, one.critic_view, one.kind) for one in (stored, network)
    ]
    if kinds[0] != kinds[1]:
        raise CheckpointError(f"start={str(folder)!r} is of {kinds[0]}, this configuration of {kinds[1]}")
    try:
        network.load_state_dict(stored.state_dict())
    except RuntimeError as error:
        raise CheckpointError(f"start={str(folder)!r} does not fit this configuration: {error}") from error
