"""Adam in one pass over all parameters, against torch's."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from training import adam
from training.adam import Adam
from training.peers import ALONE, Gradients

RATES = (3e-3, 1e-3, 0.0, 1e-2)


def two_layers(seed: int = 0) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(7, 5), nn.Linear(5, 3))


def write_gradients(network: nn.Module, size: float) -> None:
    """Random gradients of about a size, in place where there are some."""
    for parameter in network.parameters():
        drawn = size * torch.randn_like(parameter)
        if parameter.grad is None:
            parameter.grad = drawn
        else:
            parameter.grad.copy_(drawn)


@pytest.mark.parametrize("size", [1e-4, 1.0, 100.0])
@pytest.mark.parametrize("by", ["kernel", "tensors"])
def test_adam__steps_as_torchs_with_clipping(size: float, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if by == "tensors":  # as on a GPU

        def step(*parts: object) -> None:
            adam._step_by_tensors(
                *map(torch.from_numpy, parts[:4]), *map(float, parts[4:])
            )  # the same memory

        monkeypatch.setattr(adam, "_step", step)
    ours, theirs = two_layers(), two_layers()
    optimizer = Adam(Gradients(ALONE, ours), epsilon=1e-5)
    expected = torch.optim.Adam(theirs.parameters(), eps=1e-5)
    for index, rate in enumerate(RATES):
        torch.manual_seed(index)
        write_gradients(ours, size)
        torch.manual_seed(index)
        write_gradients(theirs, size)
        norm = optimizer.step(rate, limit=0.5)
        assert norm == pytest.approx(float(nn.utils.clip_grad_norm_(theirs.parameters(), 0.5)), rel=1e-5)
        expected.param_groups[0]["lr"] = rate
        expected.step()
        for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
            torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-5)


def test_adam__goes_on_where_its_tensors_were_taken() -> None:
    networks = [two_layers(), two_layers(), two_layers()]
    straight, before, after = (Adam(Gradients(ALONE, network)) for network in networks)
    for optimizer, network in ((straight, networks[0]), (before, networks[1])):
        torch.manual_seed(5)
        write_gradients(network, 1)
        optimizer.step(1e-2, 1)
    networks[2].load_state_dict(networks[1].state_dict())
    after.restore({name: tensor.clone() for name, tensor in before.tensors().items()})
    for optimizer, network in ((straight, networks[0]), (after, networks[2])):
        torch.manual_seed(6)
        write_gradients(network, 1)
        optimizer.step(1e-2, 1)
    for one, other in zip(networks[0].parameters(), networks[2].parameters(), strict=True):
        assert torch.equal(one, other)


def test_gradients__make_the_parameters_views_of_one_tensor_and_keep_their_values() -> None:
    network = two_layers()
    before = [parameter.detach().clone() for parameter in network.parameters()]
    whole = Gradients(ALONE, network).whole
    assert whole.shape == (7 * 5 + 5 + 5 * 3 + 3,)
    for parameter, value in zip(network.parameters(), before, strict=True):
        assert torch.equal(parameter, value)
    whole.zero_()
    assert not any(parameter.any() for parameter in network.parameters())
