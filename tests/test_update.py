"""One PPO update: what it learns from, and whether it moves the policy the right way."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from smear_env import PRESETS, VectorStep, observation_layout

pytest.importorskip("torch")

import torch

from tests.bandit import Bandit
from training.adam import Adam
from training.loss import (
    Decisions,
    differentiate,
)
from training.network import Network, critic_input
from training.noise import Noise, minibatch_order
from training.peers import ALONE, Gradients
from training.rollout import Rollout, collect
from training.stack import Stack
from training.update import UpdateSettings, explained_variance, update

GAMES = pytest.mark.parametrize("preset", ["four_point", "schmier"])
SETTINGS = UpdateSettings(
    learning_rate=3e-3,
    entropy=0.0,
    bid_entropy=0.0,
    clip=0.2,
    value_weight=0.5,
    max_gradient_norm=0.5,
    minibatch=64,
)


def orders(rollout: Rollout, epochs: int = 2, index: int = 0) -> list[np.ndarray]:
    """For each epoch of update number `index`, an order of the decisions."""
    return [minibatch_order(0, 0, index, epoch, rollout.action.size) for epoch in range(epochs)]


def test_update__learns_of_the_learners_decisions_alone() -> None:
    network = Network("four_point", (4,), (4,), 2)
    env = Bandit("four_point", 32)
    rollout = Rollout.empty(4, env.reset(), network)
    counts: Any = SimpleNamespace(add_deals=lambda env: None, add_bids=lambda observations, actions: None)
    collect(env, network, env.reset(), rollout, Noise(0), 0.95, counts)
    rollout.learns[:, ::2] = False
    found = []
    for spoilt in (False, True):
        if spoilt:
            for part in (rollout.advantage, rollout.returns, rollout.log_probability):
                part[:, ::2] = 1e6
        twin = copy.deepcopy(network)
        metrics = update(twin, Adam(Gradients(ALONE, twin)), rollout, SETTINGS, orders(rollout))
        found.append((metrics, twin.policy.weight.detach().clone(), twin.value.weight.detach().clone()))
    assert found[0][0] == found[1][0]
    assert torch.equal(found[0][1], found[1][1])
    assert torch.equal(found[0][2], found[1][2])
    assert not torch.equal(found[0][1], network.policy.weight)


def test_update__of_too_few_decisions_for_a_minibatch_is_refused() -> None:
    network = Network("four_point", (4,), (4,), 2)
    env = Bandit("four_point", 32)
    rollout = Rollout.empty(4, env.reset(), network)
    rollout.learns[:] = False
    with pytest.raises(ValueError, match="minibatch=64 is more than the 0 decisions to learn from"):
        update(network, Adam(Gradients(ALONE, network)), rollout, SETTINGS, orders(rollout))


@GAMES
def test_update__knows_bids_by_the_phase_in_the_observation(preset: str) -> None:
    network = Network(preset, (4,), (4,), 2)
    assert network.bidding_flag == observation_layout(PRESETS[preset])["phase"].start


def drawn_rollout(network: Network, chances: Any, earned: float) -> Rollout:
    """Every second row a call drawn with these chances of pass and the lowest bids, the others of one good action."""
    generator = np.random.default_rng(0)
    rules = PRESETS["four_point"]
    env: Any = Bandit("four_point", 64)
    rollout = Rollout.empty(32, env.reset(), network)
    rollout.by_chance[::2] = True
    passing = len(rules.card_names)
    calls = passing + np.arange(len(chances))
    layout = observation_layout(rules)
    rollout.observation[::2, :, layout["phase"].start] = 1
    rollout.observation[1::2, :, layout["tricks_done"].start] = 1
    rollout.mask[::2, :, calls] = 1
    rollout.mask[1::2, :, :2] = 1
    rollout.action[::2] = generator.choice(calls, p=chances, size=rollout.action[::2].shape)
    rollout.action[1::2] = generator.integers(2, size=rollout.action[1::2].shape)
    rollout.log_probability[:] = math.log(0.5)
    rollout.advantage[1::2] = np.where(rollout.action[1::2] == 1, 1, -1)
    # What a call earned has nothing to say, however much it is: here the rarest earns the most.
    rollout.advantage[::2] = earned * (rollout.action[::2] - passing)
    return rollout


def test_update__learns_how_often_calls_were_drawn_and_not_what_they_earned() -> None:
    torch.set_num_threads(1)
    chances = [0.6, 0.3, 0.1]
    learnt = []
    for earned in (0.0, 1000.0):
        torch.manual_seed(0)
        network = Network("four_point", (16,), (8,), 2)
        rollout = drawn_rollout(network, chances, earned)
        optimizer = Adam(Gradients(ALONE, network))
        settings = replace(SETTINGS, learning_rate=1e-2, bid_entropy=1.0, minibatch=256)
        update(network, optimizer, rollout, settings, orders(rollout, 40))
        learnt.append([parameter.detach().clone() for parameter in network.parameters()])
    for one, other in zip(*learnt, strict=True):
        assert torch.equal(one, other)
    with torch.inference_mode():
        called = network(
            *(torch.from_numpy(part[0, :1]) for part in (rollout.observation, rollout.mask))
        ).exp()
        own = network(*(torch.from_numpy(part[1, :1]) for part in (rollout.observation, rollout.mask))).exp()
    found = np.bincount(rollout.action[::2].ravel(), minlength=36)[32:35] / rollout.action[::2].size
    np.testing.assert_allclose(called[0, 32:35], found, atol=0.03)
    assert own[0, 1] > 0.55  # its own decisions are learnt from beside them


def test_update__of_a_rollout_without_own_decisions_stays_finite() -> None:
    network = Network("four_point", (4,), (4,), 2)
    env: Any = Bandit("four_point", 32)
    rollout = Rollout.empty(4, env.reset(), network)
    rollout.mask[..., :3] = 1
    rollout.by_chance[:] = True
    metrics = update(network, Adam(Gradients(ALONE, network)), rollout, SETTINGS, orders(rollout))
    assert all(np.isfinite(value) for value in metrics.values())
    assert all(torch.isfinite(part).all() for part in network.parameters())


def test_update__gives_each_row_its_own_mask_and_state(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    network = Network("four_point", (8,), (8,), 2)
    shown, masks = [], []

    def forward(stack: Stack, vectors: Any, plain: Any = Stack.forward) -> Any:
        shown.append(vectors.numpy().copy())
        return plain(stack, vectors)

    def record(decisions: Decisions, rows: Any, *others: Any) -> None:
        masks.append(decisions.mask[rows])
        differentiate(decisions, rows, *others)

    monkeypatch.setattr(Stack, "forward", forward)
    monkeypatch.setattr("training.update.differentiate", record)
    steps, games = 16, 8
    generator = np.random.default_rng(0)
    first = VectorStep(
        np.zeros((games, len(network.scale)), np.int8),
        np.zeros((games, 36), np.int8),
        *[np.zeros((games, 2))] * 4,
    )
    rollout = Rollout.empty(steps, first, network)
    rollout.mask[:] = generator.random(rollout.mask.shape) < 0.3
    rollout.mask[..., 0] = 1
    rollout.observation[..., :36] = rollout.mask  # a row's mask stands in its observation
    rollout.state[..., :36] = rollout.mask  # and in its state
    rollout.advantage[:] = generator.normal(size=rollout.advantage.shape)
    settings = replace(SETTINGS, entropy=0.01, minibatch=32)
    update(network, Adam(Gradients(ALONE, network)), rollout, settings, orders(rollout, 3))
    assert len(masks) == 3 * 4
    for observation, state, mask in zip(shown[::2], shown[1::2], masks, strict=True):
        np.testing.assert_array_equal(observation[:, :36], mask)
        np.testing.assert_array_equal(state[:, :36], mask)
        assert len(np.unique(mask, axis=0)) > 16


@GAMES
def test_update__moves_every_seat_towards_what_pays_its_team(preset: str) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    env = Bandit(preset, games=60)
    network = Network(preset, (16,), (16,), env.teams)
    optimizer = Adam(Gradients(ALONE, network))
    noise = Noise(0)
    shown = env.reset()
    asked = [torch.from_numpy(part) for part in (shown.observation[: env.seats], shown.mask[: env.seats])]
    judged = torch.from_numpy(critic_input(env.state(relative=True)[: env.seats], preset))
    rollout = Rollout.empty(9, shown, network)  # an odd number: episodes are cut off and go on
    counts: Any = SimpleNamespace(add_deals=lambda env: None, add_bids=lambda observations, actions: None)
    for index in range(20):
        shown = collect(env, network, shown, rollout, noise, 0.95, counts)
        metrics = update(network, optimizer, rollout, SETTINGS, orders(rollout, index=index))
    with torch.inference_mode():
        log_probabilities, values = network(*asked), network.values(judged)
    chances = log_probabilities.exp()[:, env.good]
    assert chances.min() > 0.8, chances
    assert values[:, 0].min() > 0.1  # each seat expects to gain, at its rivals' cost
    assert metrics["loss/explained_variance"] > 0


def test_update__steps_by_the_settings_rate_and_leaves_the_rollout_alone() -> None:
    network = Network("four_point", (4,), (4,), 2)
    optimizer = Adam(Gradients(ALONE, network))
    first = optimizer.gradients.whole.clone()
    env = Bandit("four_point", 32)
    rollout = Rollout.empty(4, env.reset(), network)
    counts: Any = SimpleNamespace(add_deals=lambda env: None, add_bids=lambda observations, actions: None)
    collect(env, network, env.reset(), rollout, Noise(0), 0.95, counts)
    before = {name: part.copy() for name, part in vars(rollout).items()}
    update(network, optimizer, rollout, replace(SETTINGS, learning_rate=0.0), orders(rollout))
    assert torch.equal(optimizer.gradients.whole, first)
    update(network, optimizer, rollout, SETTINGS, orders(rollout))
    assert not torch.equal(optimizer.gradients.whole, first)
    for name, part in before.items():
        np.testing.assert_array_equal(getattr(rollout, name), part)


@pytest.mark.parametrize(("offset", "factor", "expected"), [(0, 1, 1), (3, 1, 1), (0, 0, 0), (0, -1, -3)])
def test_explained_variance__hand_worked(offset: float, factor: float, expected: float) -> None:
    # Returns of the deciding team 1, 2, 3, 4; the values are that team's, in its own column.
    returns = np.array([1.0, 2.0, 3.0, 4.0], np.float32)
    rollout: Any = SimpleNamespace(
        seat=np.array([[0, 1, 2, 3]]),
        learns=np.ones((1, 4), bool),
        returns=np.stack([returns, -returns], axis=-1)[None],
        value=np.full((1, 4, 2), 99, np.float32),
    )
    for place, seat in enumerate(rollout.seat[0]):
        rollout.value[0, place, seat % 2] = offset + factor * returns[place]
    assert explained_variance(rollout) == pytest.approx(expected)


def test_explained_variance__is_0_where_nothing_varies() -> None:
    rollout: Any = SimpleNamespace(
        seat=np.zeros((1, 3), int),
        learns=np.ones((1, 3), bool),
        returns=np.ones((1, 3, 2)),
        value=np.zeros((1, 3, 2)),
    )
    assert explained_variance(rollout) == 0
