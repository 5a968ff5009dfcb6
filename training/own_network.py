"""Networks of the user's own: any two torch modules, a policy and a critic, made by one registered function.

The trainer runs them by autograd, where the stacks of layers that come with the package have their backward pass
written out; all else is the same, from the order of suits to the checkpoint. A checkpoint of such a network plays as
any other, and needs torch and the module that registers the function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, update_wrapper
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from smear_env import PolicyAgent, Rules, original_columns, register_policy
from training.arrays import Float32Array, Int8Array
from training.network import Network, network_from, register_kind
from training.stack import Part, Pass


@dataclass(frozen=True)
class NetworkShape:
    """What a network is made for."""

    rules: Rules
    """The game; `observation_layout(rules)` says which of the policy's inputs is what."""
    inputs: int
    """Of the policy: an observation with its suits in order, scaled to about -1..1, and behind it its features if the
    configuration asks for them (`feature_layout`)."""
    actions: int
    """Outputs of the policy: a number for each action, legal or not."""
    critic_inputs: int
    """Of the critic: all hands, seen from the seat to act, scaled likewise."""
    teams: int
    """Outputs of the critic: points that each team can expect, own team first."""
    hidden: tuple[int, ...]
    """The configuration's widths for the policy, to be used in any way or none."""
    critic_hidden: tuple[int, ...]
    """Likewise for the critic."""


MakeNetwork = Callable[[NetworkShape], tuple[nn.Module, nn.Module]]
"""Makes a policy, [B, inputs] to [B, actions] float32, and a critic, [B, critic_inputs] to [B, teams] float32."""


def register_network(name: str, make: MakeNetwork) -> None:
    """Make the networks of `make` known as `name` in configurations and checkpoints; ValueError if it is another's.

    The modules share no parameter and are functions of their inputs alone, without dropout or statistics of batches:
    what was chosen in play must come out again in the update.
    """
    # Both are known for those of `make` by its module and name.
    written = {"__module__": make.__module__, "__qualname__": getattr(make, "__qualname__", "<unnamed>")}
    register_kind(name, type(name, (OwnNetwork,), {"kind": name, "make": staticmethod(make), **written}))
    register_policy(name, update_wrapper(partial(OwnPolicy, source=make), make))


class OwnNetwork(Network):
    """As `Network`, with the modules that `make` makes."""

    make: ClassVar[Any]  # a MakeNetwork

    def build(
        self, inputs: int, critic_inputs: int, hidden: tuple[int, ...], critic_hidden: tuple[int, ...]
    ) -> None:
        """Make the modules; ValueError naming the network where they do not do as `register_network` asks."""
        actions = len(self.rules.action_names)
        shape = NetworkShape(
            self.rules, inputs, actions, critic_inputs, self.teams, tuple(hidden), tuple(critic_hidden)
        )
        self.actor, self.critic = self.make(shape)
        shared = {*map(id, self.actor.parameters())} & {*map(id, self.critic.parameters())}
        if shared:
            raise ValueError(f"network={self.kind!r}: policy and critic share {len(shared)} parameters")
        self._check("policy", self.actor, inputs, actions)
        self._check("critic", self.critic, critic_inputs, self.teams)

    def _check(self, part: str, module: nn.Module, inputs: int, outputs: int) -> None:
        types = {parameter.dtype for parameter in module.parameters()}
        if types != {torch.float32}:
            raise ValueError(
                f"network={self.kind!r}: parameters of the {part} must be float32, not {types or 'none'}"
            )
        with torch.no_grad():
            found: Any = module(torch.zeros(2, inputs))
        if not isinstance(found, Tensor) or found.shape != (2, outputs):
            got = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
            raise ValueError(
                f"network={self.kind!r}: the {part} makes {got} of [2, {inputs}], expected [2, {outputs}]"
            )

    def policy_stack(self) -> Part:
        """The policy from observations to logits."""
        return ByAutograd(self.actor, self.scale, low_precision=self.low_precision)

    def critic_stack(self) -> Part:
        """The critic from its inputs to values, not yet `centred`."""
        return ByAutograd(self.critic, self.critic_scale, low_precision=self.low_precision)


@dataclass(frozen=True)
class Graph(Pass):
    """What a forward pass leaves for autograd."""

    root: Tensor
    """The outputs [B, outputs], with the graph that they came by."""


class ByAutograd:
    """A module of any kind as a part of a network.

    Args:
        module: from scaled vectors to outputs.
        scale: [d] of the vectors that go in.
        low_precision: the module runs as torch's autocast to bfloat16 has it.
    """

    def __init__(self, module: nn.Module, scale: Tensor, *, low_precision: bool) -> None:
        self._module = module
        self._parameters = [one for one in module.parameters() if one.requires_grad]
        self._scale = scale
        self._low_precision = low_precision

    def forward(self, vectors: Tensor) -> Graph:
        """Run vectors [B, d] int8 through the module."""
        scaled = vectors.to(self._scale.dtype) * self._scale
        # Updates switch gradients off as a whole, since stacks of layers need no graph.
        with torch.enable_grad():
            with torch.autocast(scaled.device.type, torch.bfloat16, enabled=self._low_precision):
                outputs = self._module(scaled)
            root = outputs.float()
        return Graph(root.detach(), [], [], root)

    def backward(self, passed: Pass, gradient: Tensor) -> None:
        """Write each parameter's gradient into its `grad`, from the derivative [B, outputs] by the outputs."""
        assert isinstance(passed, Graph)
        found: Any = torch.autograd.grad(passed.root, self._parameters, gradient, allow_unused=True)
        for parameter, slope in zip(self._parameters, found, strict=True):
            assert parameter.grad is not None
            if slope is None:
                parameter.grad.zero_()
            else:
                parameter.grad.copy_(slope)


class OwnPolicy(PolicyAgent):
    """A checkpoint of a network of the user's own as an agent, by torch.

    Args:
        folder: the checkpoint.
        sample: choose by the policy's probabilities; otherwise its most probable action.
        source: the function that makes the network.
    """

    def __init__(self, folder: Path, *, sample: bool = False, source: MakeNetwork) -> None:
        super().__init__(folder, sample=sample)
        self.source = source

    def read(self, weights: dict[str, Float32Array]) -> None:
        """Make the network of the checkpoint."""
        self._read = weights
        self._network = network_from(self.folder, self.description, weights)

    def __getstate__(self) -> dict[str, Any]:
        # The network's class is made at registration, so that no pickle can name it; its weights travel.
        return {name: value for name, value in self.__dict__.items() if name != "_network"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.read(self._read)

    @property
    def network(self) -> Any:
        """ValueError: searches know how to run stacks of layers alone."""
        kind = self.description["network"]["kind"]
        raise ValueError(f"policy {self.name!r} cannot be searched from: its network is of the kind {kind!r}")

    @torch.inference_mode()
    def logits(self, observations: Int8Array, masks: Int8Array) -> Float32Array:
        """A number for each action, [B, n] float32, minus infinity for what is not legal."""
        seen = self._network.see(observations, masks)
        logits = self._network.logits(torch.from_numpy(seen.observation)).numpy()
        found = original_columns(np.where(seen.mask != 0, logits, -np.inf), seen.order, self._network.rules)
        return np.asarray(found, np.float32)

    def act(self, observation: Int8Array, mask: Int8Array) -> int:
        """An action for one observation [d] and mask [n]."""
        if mask is None:
            raise ValueError("no mask: a policy needs the mask of legal actions beside the observation")
        return int(self.act_batch(np.asarray(observation)[None], np.asarray(mask)[None])[0])
