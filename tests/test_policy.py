"""Decisions of a network, one by one and in batches, with random weights and without torch."""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

from smear_env import (
    POLICY_FILE,
    POLICY_FORMAT,
    PRESETS,
    PolicyAgent,
    SelfPlayVectorEnv,
    layout_hash,
    load_policy,
    make_agent,
    observation_scale,
    order_suits,
    original_columns,
)
from tests.uncompiled import assert_same_uncompiled

GAMES = tuple(PRESETS)
DEPTHS = ((12,), (40, 24), (256, 256, 256))
every_game = pytest.mark.parametrize("preset", GAMES)
every_depth = pytest.mark.parametrize("hidden", DEPTHS, ids=lambda hidden: "x".join(map(str, hidden)))


@cache
def random_layers(preset: str, hidden: tuple[int, ...]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Weights [outputs, inputs] and biases of a network that has preferences."""
    rules = PRESETS[preset]
    rng = np.random.default_rng(len(hidden))
    widths = [len(observation_scale(rules)), *hidden, len(rules.action_names)]
    layers = []
    for inputs, outputs in pairwise(widths):
        weight = rng.normal(0, np.sqrt(2 / inputs), (outputs, inputs)).astype(np.float32)
        layers.append((weight, rng.normal(0, 0.3, outputs).astype(np.float32)))
    layers[0] = (layers[0][0] * 3, layers[0][1])
    layers[-1] = (layers[-1][0] * 4, layers[-1][1])
    return layers


def random_policy(folder: Path, preset: str, hidden: tuple[int, ...], *, sample: bool = False) -> PolicyAgent:
    """An agent on a checkpoint of these weights."""
    rules = PRESETS[preset]
    names = (*(f"trunk.{index}" for index in range(len(hidden))), "policy")
    tensors = {}
    for name, (weight, bias) in zip(names, random_layers(preset, hidden), strict=True):
        tensors |= {f"{name}.weight": weight, f"{name}.bias": bias}
    content = save(tensors)
    (folder / "random.safetensors").write_bytes(content)
    description = {
        "format": POLICY_FORMAT,
        "preset": preset,
        "options": {option: [value] for option, value in vars(rules).items() if option != "name"},
        "layout": layout_hash(rules),
        "weights": "random.safetensors",
        "weights_sha256": hashlib.sha256(content).hexdigest(),
        "network": {"hidden": list(hidden), "teams": rules.teams},
    }
    description |= {"training": {}, "seed": 0, "commit": "", "decisions": 0, "evaluation": []}
    (folder / POLICY_FILE).write_text(json.dumps(description))
    agent = load_policy(folder, sample=sample)
    agent.reset(rules, -1, 7)
    return agent


@cache
def positions(preset: str) -> tuple[np.ndarray, np.ndarray]:
    """Observations and masks of random play, forced moves included."""
    env = SelfPlayVectorEnv(40, preset, seed=4)
    agent = make_agent("random")
    agent.reset(env.rules, -1, 1)
    shown = env.reset()
    kept = []
    for _ in range(40):
        kept.append((shown.observation.copy(), shown.mask.copy()))
        shown = env.step(agent.act_batch(shown.observation, shown.mask))
    observation, mask = (np.concatenate(part) for part in zip(*kept, strict=True))
    return observation, mask


def doubtful(agent: PolicyAgent, preset: str) -> tuple[np.ndarray, np.ndarray]:
    """The position whose second most probable action is the most probable, [d] and [n]."""
    observation, mask = positions(preset)
    row = np.argmax(np.sort(agent.probabilities(observation, mask), axis=1)[:, -2])
    return observation[row], mask[row]


@every_depth
@every_game
def test_probabilities__are_those_of_the_network(
    tmp_path: Path, preset: str, hidden: tuple[int, ...]
) -> None:
    agent = random_policy(tmp_path, preset, hidden)
    observation, mask = positions(preset)
    seen = order_suits(observation, mask, PRESETS[preset])
    x = seen.observation * observation_scale(PRESETS[preset]).astype(np.float64)
    *trunk, (weight, bias) = random_layers(preset, hidden)
    for hidden_weight, hidden_bias in trunk:
        x = np.maximum(x @ hidden_weight.T + hidden_bias, 0)
    weights = np.exp(x @ weight.T + bias) * seen.mask
    expected = original_columns(weights / weights.sum(axis=1, keepdims=True), seen.order, PRESETS[preset])
    found = agent.probabilities(observation, mask)
    assert found.dtype == np.float32
    assert 0.3 < found.max(axis=1).mean() < 0.99
    np.testing.assert_allclose(found, expected, atol=1e-5)


@every_depth
@every_game
def test_act__is_act_batch_and_the_most_probable(
    tmp_path: Path, preset: str, hidden: tuple[int, ...]
) -> None:
    agent = random_policy(tmp_path, preset, hidden)
    observation, mask = positions(preset)
    chances = agent.probabilities(observation, mask)
    actions = agent.act_batch(observation, mask)
    assert actions.dtype == np.int64
    assert [agent.act(*row) for row in zip(observation, mask, strict=True)] == actions.tolist()
    top = np.sort(chances, axis=1)
    clear = top[:, -1] - top[:, -2] > 1e-6
    assert clear.mean() > 0.99
    np.testing.assert_array_equal(actions[clear], chances.argmax(axis=1)[clear])


@every_game
def test_probabilities__do_not_depend_on_the_rows_beside(tmp_path: Path, preset: str) -> None:
    agent = random_policy(tmp_path, preset, (40, 24))
    observation, mask = positions(preset)
    whole = agent.probabilities(observation, mask)
    for rows in (slice(3, 4), slice(5, 12), slice(100, 170, 3)):
        np.testing.assert_array_equal(agent.probabilities(observation[rows], mask[rows]), whole[rows])
    assert agent.probabilities(observation[:0], mask[:0]).shape == (0, mask.shape[1])
    assert agent.act_batch(observation[:0], mask[:0]).shape == (0,)


@every_game
def test_act__samples_by_its_probabilities(tmp_path: Path, preset: str) -> None:
    agent = random_policy(tmp_path, preset, (40, 24), sample=True)
    observation, mask = doubtful(agent, preset)
    chances = agent.probabilities(observation[None], mask[None])[0]
    drawn = [agent.act(observation, mask) for _ in range(20_000)]
    found = np.bincount(drawn, minlength=len(mask)) / len(drawn)
    np.testing.assert_allclose(found, chances, atol=0.02)
    assert not found[mask == 0].any()


@every_game
def test_act__draws_by_the_seed_as_act_batch_does(tmp_path: Path, preset: str) -> None:
    agent = random_policy(tmp_path, preset, (12,), sample=True)
    observation, mask = positions(preset)
    batch = agent.act_batch(observation, mask).tolist()
    for seed, same in ((7, True), (8, False)):
        agent.reset(PRESETS[preset], -1, seed)
        assert ([agent.act(*row) for row in zip(observation, mask, strict=True)] == batch) is same


def test_act__takes_arrays_of_any_number_type_and_memory(tmp_path: Path) -> None:
    agent = random_policy(tmp_path, "four_point", (40, 24))
    observation, mask = (part[:200] for part in positions("four_point"))
    expected = agent.act_batch(observation, mask).tolist()

    def actions(seen: Any, legal: Any) -> list[int]:
        return [agent.act(*row) for row in zip(seen, legal, strict=True)]

    for dtype in (np.float32, np.int64):
        assert actions(observation.astype(dtype), mask.astype(dtype)) == expected
    assert actions(observation, mask != 0) == expected
    assert actions(observation, mask * -3) == expected
    assert actions(np.asfortranarray(observation), np.asfortranarray(mask)) == expected
    assert actions(observation.tolist(), mask.tolist()) == expected
    locked = observation.copy(), mask.copy()
    for array in locked:
        array.setflags(write=False)
    assert actions(*locked) == expected
    assert agent.act_batch(*locked).tolist() == expected


def test_act__refuses_what_is_no_decision(tmp_path: Path) -> None:
    agent = random_policy(tmp_path, "four_point", (12,))
    observation, mask = (part[0] for part in positions("four_point"))
    d, n = len(observation), len(mask)
    refused: list[tuple[Any, Any, str]] = [
        (observation, None, "no mask: a policy needs the mask"),
        (observation, np.zeros_like(mask), "a row of the mask allows no action: ask only the seat to act"),
        (observation[:-1], mask, rf"observations of shape \(1, {d - 1}\), expected \[B, {d}\]"),
        (observation[None], mask, rf"observations of shape \(1, 1, {d}\), expected \[B, {d}\]"),
        (observation, mask[1:], rf"masks of shape \(1, {n - 1}\), expected \[1, {n}\]"),
        (observation, mask[None], rf"masks of shape \(1, 1, {n}\), expected \[1, {n}\]"),
        (observation.astype(np.float32)[1:], mask, "observations of shape"),
        (np.full(d, "1x"), mask, "invalid literal"),
    ]
    for seen, legal, message in refused:
        with pytest.raises(ValueError, match=message):
            agent.act(seen, legal)


@pytest.mark.parametrize("copier", [copy.deepcopy, lambda agent: pickle.loads(pickle.dumps(agent))])
def test_policy__copies_act_alike_and_apart(tmp_path: Path, copier: Any) -> None:
    agent = random_policy(tmp_path, "mini", (12,), sample=True)
    other = copier(agent)
    observation, mask = positions("mini")
    for _ in range(3):
        np.testing.assert_array_equal(agent.act_batch(observation, mask), other.act_batch(observation, mask))


DECIDED = """
import sys
from smear_env import SelfPlayVectorEnv, load_policy
for sample in (False, True):
    agent = load_policy(sys.argv[1], sample=sample)
    shown = SelfPlayVectorEnv(3, "schmier", seed=3).reset()
    print(agent.act_batch(shown.observation, shown.mask).tolist())
    print([agent.act(*row) for row in zip(shown.observation, shown.mask, strict=True)])
    print(agent.probabilities(shown.observation, shown.mask).round(4).tolist())
"""


def test_policy__is_the_same_uncompiled(tmp_path: Path) -> None:
    random_policy(tmp_path, "schmier", (12, 9))
    assert_same_uncompiled(DECIDED, str(tmp_path))
