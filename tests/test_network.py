"""The network, and the same policy on NumPy alone."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smear_env import (
    PRESETS,
    CheckpointError,
    PolicyAgent,
    SelfPlayVectorEnv,
    load_policy,
    make_agent,
    observation_scale,
    order_suits,
    pieces,
    state_layout,
    state_scale,
)

pytest.importorskip("torch")

import torch
from safetensors.torch import load_file, save_file

from training.checkpoint import save_policy
from training.config import TrainConfig
from training.network import MASKED, Network, critic_input, load_network

ROOT = Path(__file__).resolve().parent.parent
GAMES = pytest.mark.parametrize("preset", ["four_point", "schmier"])


def from_play(preset: str, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Observations and masks of random play, forced moves included."""
    observation, mask, _ = with_states(preset, rows)
    return observation, mask


def with_states(preset: str, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Observations, masks and states, counted from the seat to act, of random play."""
    env = SelfPlayVectorEnv(100, preset, seed=2)
    agent = make_agent("random")
    agent.reset(env.rules, -1, 1)
    shown = env.reset()
    kept = []
    for _ in range(rows // 100):
        kept.append((shown.observation.copy(), shown.mask.copy(), env.state(relative=True)))
        shown = env.step(agent.act_batch(shown.observation, shown.mask))
    return tuple(np.concatenate(part) for part in zip(*kept, strict=True))


def saved(preset: str, folder: Path, hidden: tuple[int, ...] = (32, 24)) -> Network:
    """A network with strong preferences, as training leaves it, saved as a checkpoint."""
    torch.set_num_threads(1)
    torch.manual_seed(1)
    network = Network(preset, hidden, (12, 20), PRESETS[preset].teams)
    with torch.no_grad():
        network.policy.weight.mul_(200)
        for parameter in network.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    config = TrainConfig(rules=preset, hidden=hidden, critic_hidden=(12, 20), games=2, steps=1, minibatch=2)
    save_policy(folder, network, config, 1000, [])
    return network


@pytest.fixture(scope="module", params=["four_point", "schmier"])
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Network, PolicyAgent]:
    folder = tmp_path_factory.mktemp("policy")
    network = saved(request.param, folder)
    return network, load_policy(folder)


def torch_probabilities(network: Network, preset: str, observation: Any, mask: Any) -> np.ndarray:
    """What the network gives each action of positions as they are shown; it sees their suits in order."""
    rules = PRESETS[preset]
    seen = order_suits(observation, mask, rules)
    with torch.inference_mode():
        log_probabilities = network(torch.from_numpy(seen.observation), torch.from_numpy(seen.mask))
    result = np.empty_like(log_probabilities)
    for order in np.unique(seen.order, axis=0):
        suits = dict(zip(rules.suits, (rules.suits[suit] for suit in order), strict=True))
        rows = np.flatnonzero((seen.order == order).all(axis=1))
        for column, name in enumerate(rules.action_names):
            of_suit = name[-1] in suits and name != "pass"
            original = rules.action_names.index(name[:-1] + suits[name[-1]] if of_suit else name)
            result[rows, original] = log_probabilities[rows, column].exp()
    return result


def test_load_policy__agrees_with_torch_on_10_000_observations(both: tuple[Network, PolicyAgent]) -> None:
    network, agent = both
    observation, mask = from_play(agent.description["preset"], 10_000)
    preset = agent.description["preset"]
    assert observation.dtype == mask.dtype == np.int8
    assert len(observation) == 10_000
    expected = torch_probabilities(network, preset, observation, mask)
    assert expected.max(axis=1).mean() > 0.4  # a policy that means something
    np.testing.assert_allclose(agent.probabilities(observation, mask), expected, atol=1e-5)
    assert np.array_equal(
        agent.act_batch(observation, mask), agent.probabilities(observation, mask).argmax(axis=1)
    )


def test_load_policy__single_decisions_agree_with_the_batch(both: tuple[Network, PolicyAgent]) -> None:
    _, agent = both
    observation, mask = from_play(agent.description["preset"], 300)
    batch = agent.probabilities(observation, mask)
    for row in range(0, 300, 7):
        single = agent.probabilities(observation[row : row + 1], mask[row : row + 1])[0]
        np.testing.assert_allclose(single, batch[row], atol=1e-5)
        action = agent.act(observation[row], mask[row])
        assert type(action) is int
        assert mask[row, action] == 1


def test_load_policy__probabilities_are_0_where_illegal_and_sum_to_1(
    both: tuple[Network, PolicyAgent],
) -> None:
    _, agent = both
    observation, mask = from_play(agent.description["preset"], 1000)
    chances = agent.probabilities(observation, mask)
    assert chances.dtype == np.float32
    assert np.all(chances[mask == 0] == 0)
    np.testing.assert_allclose(chances.sum(axis=1), 1, atol=1e-5)


def test_load_network__is_the_network_saved(tmp_path: Path) -> None:
    network = saved("four_point", tmp_path)
    again = load_network(tmp_path)
    assert again.state_dict().keys() == network.state_dict().keys()
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name])


def without_critic(folder: Path) -> None:
    """Take the critic out of a checkpoint and describe the file truthfully."""
    description = json.loads((folder / "policy.json").read_text())
    file = folder / description["weights"]
    save_file({n: t for n, t in load_file(file).items() if n.startswith(("trunk.", "policy."))}, file)
    description["weights_sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
    (folder / "policy.json").write_text(json.dumps(description))


def test_checkpoint__without_its_critic_plays_and_is_refused_for_training(tmp_path: Path) -> None:
    saved("four_point", tmp_path)
    observation, mask = from_play("four_point", 200)
    expected = load_policy(tmp_path).probabilities(observation, mask)
    without_critic(tmp_path)
    np.testing.assert_array_equal(load_policy(tmp_path).probabilities(observation, mask), expected)
    with pytest.raises(CheckpointError, match=r"policy-1000-\w+\.safetensors: holds no critic"):
        load_network(tmp_path)


@pytest.mark.parametrize("widths", ["missing", None, [], 3, "wide", [12], [12, 21], [12, -20], [12, 20.0]])
def test_load_network__of_another_critic_is_refused(tmp_path: Path, widths: Any) -> None:
    saved("four_point", tmp_path)
    description = json.loads((tmp_path / "policy.json").read_text())
    description["network"]["critic_hidden"] = widths
    if widths == "missing":
        del description["network"]["critic_hidden"]
    (tmp_path / "policy.json").write_text(json.dumps(description))
    with pytest.raises(CheckpointError, match=r"\.safetensors: holds no critic"):
        load_network(tmp_path)
    load_policy(tmp_path)


def test_policy__samples_by_its_probabilities(tmp_path: Path) -> None:
    saved("four_point", tmp_path)
    agent = load_policy(tmp_path, sample=True)
    observation, mask = from_play("four_point", 100)
    chances = agent.probabilities(observation, mask)
    row = np.argmax(np.sort(chances, axis=1)[:, -2])  # the one most in doubt
    drawn = agent.act_batch(
        observation[row].repeat(20_000).reshape(-1, 20_000).T, mask[row][None].repeat(20_000, 0)
    )
    found = np.bincount(drawn, minlength=36) / len(drawn)
    np.testing.assert_allclose(found, chances[row], atol=0.02)


def test_policy__draw_of_zero_falls_on_a_legal_action(tmp_path: Path) -> None:
    saved("four_point", tmp_path)
    agent = load_policy(tmp_path, sample=True)

    class Zero:
        def standard_exponential(self, shape: Any, dtype: Any) -> np.ndarray:
            return np.zeros(shape, dtype)

    agent._generator = Zero()  # NumPy's own gives an exact 0 once in ten million
    observation, mask = from_play("four_point", 1000)
    assert np.all(mask[np.arange(1000), agent.act_batch(observation, mask)] == 1)


def test_policy__refuses_to_act_without_a_legal_action(both: tuple[Network, PolicyAgent]) -> None:
    _, agent = both
    observation, mask = from_play(agent.description["preset"], 100)
    with pytest.raises(ValueError, match="no mask"):
        agent.act(observation[0], None)
    with pytest.raises(ValueError, match="no mask"):
        agent.act_batch(observation, None)
    with pytest.raises(ValueError, match="allows no action"):
        agent.act(observation[0], np.zeros_like(mask[0]))
    with pytest.raises(ValueError, match="masks of shape"):
        agent.act_batch(observation, mask[0])
    with pytest.raises(ValueError, match="observations of shape"):
        agent.act_batch(observation[:, 1:], mask)


def test_policy__works_without_torch(tmp_path: Path) -> None:
    network = saved("four_point", tmp_path)
    observation, mask = from_play("four_point", 100)
    np.savez(tmp_path / "seen.npz", observation=observation, mask=mask)
    script = (
        "import sys; sys.modules['torch'] = None\n"  # any import of it now fails
        "import numpy as np\n"
        "from smear_env import load_policy, make_agent\n"
        "seen = np.load('seen.npz')\n"
        "assert type(make_agent('.')).__name__ == 'PolicyAgent'\n"
        "np.save('chances.npy', load_policy('.').probabilities(seen['observation'], seen['mask']))\n"
        "assert not any(name.split('.')[0] == 'training' for name in sys.modules)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, check=True, timeout=120)
    expected = torch_probabilities(network, "four_point", observation, mask)
    np.testing.assert_allclose(np.load(tmp_path / "chances.npy"), expected, atol=1e-5)


@GAMES
def test_network__values_sum_to_zero_and_masked_actions_have_no_probability(preset: str) -> None:
    torch.manual_seed(0)
    network = Network(preset, (16,), (8,), PRESETS[preset].teams)
    with torch.no_grad():
        network.value.bias.fill_(5)
        network.value.bias[0] = -2
    observation, mask, states = with_states(preset, 500)
    log_probabilities = network(torch.from_numpy(observation), torch.from_numpy(mask))
    values = network.values(torch.from_numpy(critic_input(states, preset)))
    assert values.shape == (500, PRESETS[preset].teams)
    assert values.abs().max() > 1
    assert values.sum(dim=1).abs().max() < 1e-5
    assert torch.isfinite(log_probabilities).all()
    assert log_probabilities[torch.from_numpy(mask) == 0].max() < MASKED / 2
    assert (log_probabilities.exp().sum(dim=1) - 1).abs().max() < 1e-5


@GAMES
def test_network__scales_observations(preset: str) -> None:
    # int8 observations times the public scale go into the first layer; the scale is no weight of the checkpoint.
    network = Network(preset, (16,), (8,), PRESETS[preset].teams)
    observation, mask = (torch.from_numpy(part) for part in from_play(preset, 100))
    x = torch.relu(
        network.trunk[0](observation.float() * torch.from_numpy(observation_scale(PRESETS[preset]).copy()))
    )
    expected = network.policy(x).masked_fill(mask == 0, -1e9).log_softmax(dim=1)
    torch.testing.assert_close(network(observation, mask), expected, atol=1e-5, rtol=1e-5)
    assert "scale" not in network.state_dict()


# What has happened and bears on nothing to come, with all hands known; discards count where the bidder keeps them.
PAST = {
    "four_point": {"taken", "discard_order", "played", "trick_of"},
    "schmier": {"taken", "discarded", "discard_order", "played", "trick_of"},
}


def kept_pieces(preset: str, vectors: np.ndarray) -> np.ndarray:
    """A state's pieces that the critic sees, one after the other."""
    rules = PRESETS[preset]
    kept = [
        piece.reshape(*vectors.shape[:-1], -1)
        for name, piece in pieces(vectors, state_layout(rules)).items()
        if name not in PAST[preset]
    ]
    return np.concatenate(kept, axis=-1)


@GAMES
def test_critic_input__is_the_state_but_its_past_and_flags_of_the_stock(preset: str) -> None:
    _, _, states = with_states(preset, 2000)
    found = critic_input(states, preset)
    assert found.dtype == np.int8
    stock = pieces(states, state_layout(PRESETS[preset]))["stock"] > 0
    assert stock.any()
    np.testing.assert_array_equal(found, np.concatenate([kept_pieces(preset, states), stock], axis=1))


@GAMES
def test_network__scales_what_the_critic_sees(preset: str) -> None:
    rules = PRESETS[preset]
    network = Network(preset, (16,), (8,), rules.teams)
    _, _, states = with_states(preset, 100)
    scale = np.append(kept_pieces(preset, state_scale(rules)), np.ones(len(rules.card_names), np.float32))
    found = critic_input(states, preset)
    assert len(network.critic_scale) == found.shape[1]
    x = torch.relu(network.critic_trunk[0](torch.from_numpy(found * scale)))
    expected = network.value(x) - network.value(x).mean(dim=1, keepdim=True)
    torch.testing.assert_close(network.values(torch.from_numpy(found)), expected, atol=1e-5, rtol=1e-5)
    assert "critic_scale" not in network.state_dict()


@GAMES
def test_network__policy_and_critic_share_no_weight(preset: str) -> None:
    network = Network(preset, (16,), (8,), PRESETS[preset].teams)
    observation, mask, states = with_states(preset, 100)
    critic = {name for name, _ in network.named_parameters() if name.startswith(("critic_trunk.", "value."))}
    log_probabilities = network(torch.from_numpy(observation), torch.from_numpy(mask))
    log_probabilities.exp().square().sum().backward()
    moved = {name for name, parameter in network.named_parameters() if parameter.grad is not None}
    assert moved == {name for name, _ in network.named_parameters()} - critic
    network.zero_grad()
    network.values(torch.from_numpy(critic_input(states, preset))).square().sum().backward()
    moved = {name for name, parameter in network.named_parameters() if parameter.grad is not None}
    assert moved == critic


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_policy__takes_observations_and_masks_of_any_number_type(tmp_path: Path, dtype: type) -> None:
    saved("four_point", tmp_path)
    agent = PolicyAgent(tmp_path)
    agent.reset(PRESETS["four_point"], -1, 0)
    shown = SelfPlayVectorEnv(8, "four_point", seed=1).reset()
    expected = agent.probabilities(shown.observation, shown.mask)
    found = agent.probabilities(shown.observation.astype(dtype), shown.mask.astype(dtype))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(agent.probabilities(shown.observation, shown.mask != 0), expected)
