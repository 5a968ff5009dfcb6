"""A stack of ReLU layers: its forward pass, and its backward pass written out.

Autograd's own calls would take as long as the matrix products of a small minibatch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, cast

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Pass:
    """What a forward pass leaves for the backward pass."""

    outputs: Tensor
    """[B, outputs] float32."""
    inputs: list[Tensor]
    """[B, .] what went into each hidden layer, and into the head."""
    weights: list[Tensor]
    """Of each hidden layer, in the precision that it ran in."""


class Part(Protocol):
    """Policy or critic as an update takes it: run forward, then told the derivative by what came out."""

    def forward(self, vectors: Tensor) -> Pass:
        """Run vectors [B, d] int8; outputs [B, outputs] float32."""

    def backward(self, passed: Pass, gradient: Tensor) -> None:
        """Write each parameter's gradient into its `grad`, from the derivative [B, outputs] by the outputs."""


class Stack:
    """Hidden layers and a head without ReLU, which share the parameters of those given.

    Args:
        hidden: the hidden layers.
        head: the last layer.
        scale: [d] of the vectors that go in.
        low_precision: hidden layers run in bfloat16; the head, weights and their gradients stay float32.
    """

    def __init__(self, hidden: nn.ModuleList, head: nn.Linear, scale: Tensor, *, low_precision: bool) -> None:
        layers = [cast("nn.Linear", layer) for layer in hidden]
        self._hidden = [(layer.weight, layer.bias) for layer in layers]
        self._head = (head.weight, head.bias)
        self._dtype = torch.bfloat16 if low_precision else scale.dtype
        self._scale = scale.to(self._dtype)

    def forward(self, vectors: Tensor) -> Pass:
        """Run vectors [B, d] int8 through all layers."""
        # Integers of an int8 are exact in bfloat16.
        x = vectors.to(self._dtype) * self._scale
        inputs, weights = [], []
        for weight, bias in self._hidden:
            inputs.append(x)
            weights.append(weight.to(self._dtype))
            x = nn.functional.linear(x, weights[-1], bias.to(self._dtype)).relu_()
        inputs.append(x)
        weight, bias = self._head
        return Pass(nn.functional.linear(x.to(weight.dtype), weight, bias), inputs, weights)

    def backward(self, passed: Pass, gradient: Tensor) -> None:
        """Write each parameter's gradient into its `grad`, from the derivative [B, outputs] by the outputs."""
        outputs = passed.inputs[-1]
        _write(self._head, gradient, outputs.to(gradient.dtype))
        gradient = (gradient @ self._head[0]).to(self._dtype)
        for layer in reversed(range(len(self._hidden))):
            gradient = torch.ops.aten.threshold_backward(gradient, outputs, 0)
            outputs = passed.inputs[layer]
            _write(self._hidden[layer], gradient, outputs)
            if layer > 0:
                gradient = gradient @ passed.weights[layer]


def _write(layer: tuple[Tensor, Tensor], gradient: Tensor, inputs: Tensor) -> None:
    """The gradients of a layer's weights and biases, from the derivative by its outputs."""
    weight, bias = layer[0].grad, layer[1].grad
    assert weight is not None
    assert bias is not None
    weight.copy_(gradient.t() @ inputs)
    bias.copy_(gradient.sum(dim=0))
