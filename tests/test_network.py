"""The network, and the same policy on NumPy alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smear_env import (
    PRESETS,
    PolicyAgent,
    SelfPlayVectorEnv,
    load_policy,
    make_agent,
    observation_scale,
    order_suits,
)

pytest.importorskip("torch")

import torch

from training.checkpoint import save_policy
from training.config import TrainConfig
from training.network import MASKED, Network, load_network

ROOT = Path(__file__).resolve().parent.parent
GAMES = pytest.mark.parametrize("preset", ["four_point", "schmier"])


def from_play(preset: str, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Observations and masks of random play, forced moves included."""
    env = SelfPlayVectorEnv(100, preset, seed=2)
    agent = make_agent("random")
    agent.reset(env.rules, -1, 1)
    shown = env.reset()
    kept = []
    for _ in range(rows // 100):
        kept.append((shown.observation.copy(), shown.mask.copy()))
        shown = env.step(agent.act_batch(shown.observation, shown.mask))
    return tuple(np.concatenate(part) for part in zip(*kept, strict=True))


def saved(preset: str, folder: Path, hidden: tuple[int, ...] = (32, 24)) -> Network:
    """A network with strong preferences, as training leaves it, saved as a checkpoint."""
    torch.set_num_threads(1)
    torch.manual_seed(1)
    network = Network(preset, hidden, PRESETS[preset].teams)
    with torch.no_grad():
        network.policy.weight.mul_(200)
        for parameter in network.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    config = TrainConfig(rules=preset, hidden=hidden, games=2, steps=1, minibatch=2)
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
        log_probabilities, _ = network(torch.from_numpy(seen.observation), torch.from_numpy(seen.mask))
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
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name])


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
    network = Network(preset, (16,), PRESETS[preset].teams)
    with torch.no_grad():
        network.value.bias.fill_(5)
    observation, mask = (torch.from_numpy(part) for part in from_play(preset, 500))
    log_probabilities, values = network(observation, mask)
    assert values.shape == (500, PRESETS[preset].teams)
    assert values.sum(dim=1).abs().max() < 1e-5
    assert torch.isfinite(log_probabilities).all()
    assert log_probabilities[mask == 0].max() < MASKED / 2
    assert (log_probabilities.exp().sum(dim=1) - 1).abs().max() < 1e-5


@GAMES
def test_network__scales_observations(preset: str) -> None:
    # int8 observations times the public scale go into the first layer; the scale is no weight of the checkpoint.
    network = Network(preset, (16,), PRESETS[preset].teams)
    observation, mask = (torch.from_numpy(part) for part in from_play(preset, 100))
    x = torch.relu(
        network.trunk[0](observation.float() * torch.from_numpy(observation_scale(PRESETS[preset]).copy()))
    )
    expected = network.policy(x).masked_fill(mask == 0, -1e9).log_softmax(dim=1)
    torch.testing.assert_close(network(observation, mask)[0], expected, atol=1e-5, rtol=1e-5)
    assert "scale" not in network.state_dict()
