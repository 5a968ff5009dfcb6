"""The backward pass of a stack, against autograd."""

from __future__ import annotations

from itertools import pairwise

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from training.stack import Stack


def made(widths: tuple[int, ...], *, low_precision: bool) -> tuple[nn.ModuleList, nn.Linear, Stack]:
    """Layers of widths after 40 inputs, the last a head of 6 outputs, with gradients to be overwritten."""
    torch.manual_seed(0)
    sizes = (40, *widths)
    hidden = nn.ModuleList(nn.Linear(i, o) for i, o in pairwise(sizes))
    head = nn.Linear(sizes[-1], 6)
    for parameter in (*hidden.parameters(), *head.parameters()):
        parameter.grad = torch.full_like(parameter, 99.0)
    scale = torch.where(torch.arange(40) < 30, 1.0, 0.01)
    return hidden, head, Stack(hidden, head, scale, low_precision=low_precision)


@pytest.mark.parametrize("widths", [(16,), (24, 16), (16, 24, 8)])
@pytest.mark.parametrize("low_precision", [False, True])
def test_stack__gradients_are_those_of_autograd(widths: tuple[int, ...], low_precision: bool) -> None:
    hidden, head, stack = made(widths, low_precision=low_precision)
    parameters = [*hidden.parameters(), *head.parameters()]
    vectors = torch.randint(-5, 6, (50, 40), dtype=torch.int8)
    slopes = torch.randn(50, 6)
    with torch.no_grad():
        passed = stack.forward(vectors)
        stack.backward(passed, slopes)
    x = vectors * torch.where(torch.arange(40) < 30, 1.0, 0.01)
    for layer in hidden:
        x = torch.relu(layer(x))
    expected = torch.autograd.grad((head(x) * slopes).sum(), parameters)
    near = 0.1 if low_precision else 1e-5
    torch.testing.assert_close(passed.outputs, head(x), atol=near, rtol=near)
    for parameter, slope in zip(parameters, expected, strict=True):
        assert parameter.grad.dtype == torch.float32
        error = (parameter.grad - slope).norm() / slope.norm()
        assert error < near


def test_stack__forward_of_a_row_does_not_depend_on_the_others() -> None:
    _, _, stack = made((24, 16), low_precision=False)
    vectors = torch.randint(0, 2, (50, 40), dtype=torch.int8)
    whole = stack.forward(vectors).outputs
    for row in (0, 17, 49):
        torch.testing.assert_close(stack.forward(vectors[row : row + 1]).outputs[0], whole[row])
