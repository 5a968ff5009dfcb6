"""The fast update against the slow one of `tests/update_reference.py`, on a rollout of the real game."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smear_env import PRESETS
from tests import update_reference as reference

pytest.importorskip("torch")

import torch

from tests.training_runs import GAMES, tiny
from training.metrics import DealCounts
from training.network import Network
from training.noise import minibatch_order
from training.rollout import Rollout, collect
from training.trainer import Trainer
from training.update import update


def layers(network: Network, trunk: str, head: str) -> list[reference.Layer]:
    """A network's layers in double precision."""
    found = [*getattr(network, trunk), getattr(network, head)]
    return [
        (layer.weight.detach().double().numpy().copy(), layer.bias.detach().double().numpy().copy())
        for layer in found
    ]


def decisions(network: Network, rollout: Rollout) -> list[reference.Decision]:
    """The rollout's decisions, in the order of its memory."""
    size = rollout.action.size
    own = ~rollout.by_chance.reshape(size)
    advantages = reference.normalise(rollout.advantage.reshape(size).tolist(), own.tolist())
    observation, state, mask, returns = (
        part.reshape(size, -1) for part in (rollout.observation, rollout.state, rollout.mask, rollout.returns)
    )
    scale, critic_scale = (part.double().numpy() for part in (network.scale, network.critic_scale))
    return [
        reference.Decision(
            observation=observation[row] * scale,
            state=state[row] * critic_scale,
            legal=np.flatnonzero(mask[row]).tolist(),
            action=int(rollout.action.reshape(size)[row]),
            old_log_probability=float(rollout.log_probability.reshape(size)[row]),
            advantage=advantages[row],
            returns=returns[row].astype(np.float64),
            bidding=bool(observation[row, network.bidding_flag]),
            by_chance=not own[row],
        )
        for row in range(size)
    ]


@GAMES
@pytest.mark.parametrize("by_chance", [False, True], ids=["own calls", "calls by chance"])
def test_update__equals_the_slow_reference(preset: str, by_chance: bool, tmp_path: Path) -> None:
    config = tiny(
        tmp_path,
        rules=preset,
        precision="float32",
        hidden=(24, 16),
        critic_hidden=(20,),
        steps=12,
        minibatch=32,
        learning_rate=3e-3,
    )
    trainer = Trainer(config)
    network, rollout = trainer.network, trainer.rollout
    with torch.no_grad():
        network.policy.weight.mul_(100)  # preferences, so that ratios leave the clip range
    counts: Any = DealCounts(preset, trainer.free)
    collect(
        trainer.env, network, trainer.shown, rollout, trainer.noise, 0.95, counts, auction_by_chance=by_chance
    )
    learner = reference.Learner(layers(network, "trunk", "policy"), layers(network, "critic_trunk", "value"))
    slow = decisions(network, rollout)
    settings = trainer.settings()
    orders = [minibatch_order(3, 0, 0, epoch, len(slow)) for epoch in range(3)]
    metrics = update(network, trainer.optimizer, rollout, settings, orders)
    constants = reference.Settings(
        *(settings.learning_rate, settings.entropy, settings.bid_entropy, settings.clip),
        *(settings.value_weight, settings.max_gradient_norm, trainer.optimizer.epsilon),
    )
    before = [part.copy() for part in learner.parameters()]
    for order in orders:
        for start in range(0, len(order) - config.minibatch + 1, config.minibatch):
            rows = order[start : start + config.minibatch]
            reference.gradient_step(learner, [slow[row] for row in rows], constants)
    fast = layers(network, "trunk", "policy") + layers(network, "critic_trunk", "value")
    for found, expected, old in zip(
        [part for layer in fast for part in layer], learner.parameters(), before, strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=1e-5)
        assert np.abs(expected - old).max() > 1e-4, "it has learnt something"
    assert metrics["policy/clip_share"] > 0
    assert PRESETS[preset].teams == network.teams
