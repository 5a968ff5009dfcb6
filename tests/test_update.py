"""One PPO update: its terms against numbers worked by hand, and whether it moves the policy the right way."""

from __future__ import annotations

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
from training.network import Network, critic_input
from training.noise import Noise, minibatch_order
from training.rollout import Rollout, collect
from training.update import Losses, UpdateSettings, explained_variance, losses, update

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


def masked_rows(preset: str, rows: int) -> tuple[Network, Any, Any]:
    """A network with strong preferences, random observations, a mask of its own for each row."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    network = Network(preset, (8,), (6,), PRESETS[preset].teams)
    with torch.no_grad():
        network.policy.weight.mul_(100)
    observation = torch.randint(0, 2, (rows, len(network.scale)), dtype=torch.int8)
    mask = (torch.rand(rows, network.policy.out_features) < 0.2).to(torch.int8)
    mask[torch.arange(rows), torch.arange(rows) % mask.shape[1]] = 1
    mask[0] = 0
    mask[0, 5] = 1
    return network, observation, mask


def states_of(network: Network, rows: int) -> Any:
    """Random critic inputs."""
    generator = torch.Generator().manual_seed(1)
    return torch.randint(0, 2, (rows, len(network.critic_scale)), generator=generator, dtype=torch.int8)


def terms(network: Any, observation: Any, mask: Any, **changed: Any) -> Losses:
    rows = len(mask)
    state = states_of(network, rows) if isinstance(network, Network) else torch.zeros(rows, 1)
    given = {
        "state": state,
        "action": mask.argmax(dim=1),
        "old_log_probability": torch.zeros(rows),
        "advantage": torch.zeros(rows),
        "returns": torch.zeros_like(network.values(state)),
        "bidding": torch.zeros(rows, dtype=torch.bool),
        "by_chance": torch.zeros(rows, dtype=torch.bool),
        "settings": SETTINGS,
    }
    return losses(network, observation, mask, **{**given, **changed})


class Fixed(torch.nn.Module):
    """Gives the log-probabilities and values it was made with."""

    def __init__(self, probabilities: Any, values: Any) -> None:
        super().__init__()
        self.log_probabilities = torch.nn.Parameter(torch.tensor(probabilities).log())
        self.told = torch.nn.Parameter(torch.tensor(values))

    def forward(self, observation: Any, mask: Any) -> Any:
        return self.log_probabilities

    def values(self, state: Any) -> Any:
        return self.told


def test_losses__clipped_surrogate_hand_worked() -> None:
    # Ratios 1.5, 1.5, 0.5, 0.5 and 1 with clip 0.2: min(r A, clip(r) A).
    network = Fixed([[0.75, 0.25], [0.75, 0.25], [0.25, 0.75], [0.25, 0.75], [0.5, 0.5]], [[0.0, 0.0]] * 5)
    found = terms(
        network,
        torch.zeros(5, 1),
        torch.ones(5, 2),
        action=torch.zeros(5, dtype=torch.long),
        old_log_probability=torch.full((5,), math.log(0.5)),
        advantage=torch.tensor([1.0, -1.0, 1.0, -1.0, 3.0]),
        returns=torch.zeros(5, 2),
    )
    assert found.policy.item() == pytest.approx(-(1.2 - 1.5 + 0.5 - 0.8 + 3.0) / 5)
    assert found.clipped.item() == pytest.approx(4 / 5)
    log = math.log
    expected_kl = (2 * (0.5 - log(1.5)) + 2 * (-0.5 - log(0.5))) / 5
    assert found.kl.item() == pytest.approx(expected_kl, abs=1e-6)
    # Where the clipped side is the smaller, nothing pulls the policy further: rows 0 and 3.
    found.policy.backward()
    pulled = network.log_probabilities.grad[:, 0]
    assert [bool(pull != 0) for pull in pulled] == [False, True, True, False, True]


def test_losses__value_is_the_squared_error_of_each_team() -> None:
    network = Fixed([[0.5, 0.5]], [[1.0, -1.0, 0.0]])
    found = terms(
        network,
        torch.zeros(1, 1),
        torch.ones(1, 2),
        action=torch.zeros(1, dtype=torch.long),
        old_log_probability=torch.full((1,), math.log(0.5)),
        advantage=torch.zeros(1),
        returns=torch.tensor([[3.0, -1.0, -2.0]]),
    )
    assert found.value.item() == pytest.approx(0.5 * (4 + 0 + 4) / 3)
    assert found.total.item() == pytest.approx(SETTINGS.value_weight * found.value.item())
    found.value.backward()
    assert network.told.grad[0].tolist() == pytest.approx([-2 / 3, 0, 2 / 3])


@GAMES
def test_losses__entropy_is_exact_over_the_legal_actions_of_each_row(preset: str) -> None:
    network, observation, mask = masked_rows(preset, 50)
    with torch.no_grad():
        hidden = torch.relu(network.trunk[0](observation * network.scale)).double()
        logits = hidden @ network.policy.weight.double().T + network.policy.bias.double()
    exact = []
    for row, legal in zip(logits.numpy(), mask.numpy(), strict=True):
        weights = np.exp(row[legal == 1] - row[legal == 1].max())
        chances = weights / weights.sum()
        exact.append(-sum(p * math.log(p) for p in chances))
    assert exact[0] == 0
    assert terms(network, observation, mask).entropy.item() == pytest.approx(np.mean(exact), abs=1e-5)


@GAMES
def test_losses__gradients_are_finite_with_one_legal_action(preset: str) -> None:
    network, observation, mask = masked_rows(preset, 50)
    found = terms(network, observation, mask, advantage=torch.ones(50))
    (found.policy - found.entropy).backward()
    assert all(torch.isfinite(p.grad).all() for p in network.parameters() if p.grad is not None)
    network.zero_grad()
    terms(network, observation[:1], mask[:1]).entropy.backward()
    assert network.policy.bias.grad.abs().max() == 0


def test_losses__bids_have_an_entropy_bonus_of_their_own() -> None:
    network, observation, mask = masked_rows("four_point", 10)
    bidding = torch.arange(10) < 4
    each = [terms(network, observation[[row]], mask[[row]]).entropy.item() for row in range(10)]
    settings = replace(SETTINGS, entropy=0.25, bid_entropy=2.0)
    plain = terms(network, observation, mask, bidding=bidding)
    with_bonus = terms(network, observation, mask, bidding=bidding, settings=settings)
    expected = (2.0 * sum(each[:4]) + 0.25 * sum(each[4:])) / 10
    assert (plain.total - with_bonus.total).item() == pytest.approx(expected, abs=1e-5)


@GAMES
def test_update__knows_bids_by_the_phase_in_the_observation(preset: str) -> None:
    network = Network(preset, (4,), (4,), 2)
    assert network.bidding_flag == observation_layout(PRESETS[preset])["phase"].start


def test_losses__call_drawn_by_chance_teaches_values_and_has_no_surrogate() -> None:
    network, observation, mask = masked_rows("four_point", 10)
    by_chance = torch.arange(10) < 4
    changed = {"advantage": torch.randn(10), "returns": torch.randn(10, 2)}
    changed["old_log_probability"] = network(observation, mask).max(dim=1).values.detach() - 0.3
    found = terms(network, observation, mask, by_chance=by_chance, **changed)
    own = {name: part[4:] for name, part in changed.items()}
    alone = terms(network, observation[4:], mask[4:], state=states_of(network, 10)[4:], **own)
    for name in ("policy", "kl", "clipped"):
        assert getattr(found, name).item() == pytest.approx(getattr(alone, name).item(), abs=1e-6), name
    plain = terms(network, observation, mask, **changed)
    assert found.value.item() == pytest.approx(plain.value.item())
    assert found.entropy.item() == pytest.approx(plain.entropy.item())


def test_losses__call_drawn_by_chance_is_imitated_whatever_it_earned() -> None:
    # Rows 0 and 1 are drawn, row 2 the policy's own; the entropy bonus is the last's alone.
    chances = [[0.75, 0.25], [0.75, 0.25], [0.5, 0.5]]
    by_chance = torch.tensor([True, True, False])
    pulls = []
    for earned in (-50.0, 50.0):
        network = Fixed(chances, [[0.0, 0.0]] * 3)
        found = terms(
            network,
            torch.zeros(3, 1),
            torch.ones(3, 2),
            action=torch.tensor([1, 0, 0]),
            old_log_probability=torch.tensor(chances).log()[:, 0],
            advantage=torch.tensor([earned, -earned, 2.0]),
            by_chance=by_chance,
            settings=replace(SETTINGS, entropy=0.25, bid_entropy=9.0),
            bidding=by_chance,
        )
        log = math.log
        expected = -2.0 - (log(0.25) + log(0.75)) / 3 - 0.25 * log(2) / 3
        assert found.total.item() == pytest.approx(expected, abs=1e-6)
        assert found.policy.item() == pytest.approx(-2.0)
        (surrogate,) = torch.autograd.grad(found.policy, network.log_probabilities, retain_graph=True)
        assert surrogate[:2].abs().max() == 0
        assert surrogate[2, 0] != 0
        found.total.backward()
        pulls.append(network.log_probabilities.grad[:2].clone())
    assert torch.equal(pulls[0], pulls[1])
    torch.testing.assert_close(pulls[0], torch.tensor([[0, -1 / 3], [-1 / 3, 0]]))


def drawn_rollout(network: Network, chances: Any, earned: float) -> Rollout:
    """Every second row a call drawn with these chances of pass and the lowest bids, the others of one good action."""
    generator = np.random.default_rng(0)
    rules = PRESETS["four_point"]
    env: Any = Bandit("four_point", 64)
    rollout = Rollout.empty(32, env.reset(), len(network.critic_scale))
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
        optimizer = torch.optim.Adam(network.parameters())
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
    rollout = Rollout.empty(4, env.reset(), len(network.critic_scale))
    rollout.mask[..., :3] = 1
    rollout.by_chance[:] = True
    metrics = update(network, torch.optim.Adam(network.parameters()), rollout, SETTINGS, orders(rollout))
    assert all(np.isfinite(value) for value in metrics.values())
    assert all(torch.isfinite(part).all() for part in network.parameters())


@GAMES
def test_losses__value_moves_the_critic_alone_and_by_its_own_state(preset: str) -> None:
    network, observation, mask = masked_rows(preset, 20)
    found = terms(network, observation, mask, returns=torch.ones(20, PRESETS[preset].teams))
    found.value.backward()
    moved = {name.partition(".")[0] for name, part in network.named_parameters() if part.grad is not None}
    assert moved == {"critic_trunk", "value"}
    other = terms(network, observation, mask, state=1 - states_of(network, 20))
    same = terms(network, observation, mask)
    assert other.value.item() != pytest.approx(same.value.item(), abs=1e-9)
    for name in ("policy", "entropy", "kl", "clipped"):
        assert torch.equal(getattr(other, name), getattr(same, name))


def test_losses__illegal_actions_are_not_moved() -> None:
    network, observation, mask = masked_rows("four_point", 50)
    mask[:, 30:] = 0
    mask[:, 29] = 1
    found = terms(network, observation, mask, advantage=torch.randn(50))
    (found.policy - found.entropy).backward()
    assert network.policy.bias.grad[30:].abs().max() == 0
    assert network.policy.bias.grad[:30].abs().max() > 0


class Recording(Network):
    """Keeps what it is asked."""

    def forward(self, observation: Any, mask: Any) -> Any:
        self.asked.append((observation.clone(), mask.clone()))
        return super().forward(observation, mask)

    def values(self, critic_input: Any) -> Any:
        self.judged.append(critic_input.clone())
        return super().values(critic_input)


def test_update__gives_each_row_its_own_mask_and_state() -> None:
    torch.manual_seed(0)
    network = Recording("four_point", (8,), (8,), 2)
    network.asked, network.judged = [], []
    steps, games = 16, 8
    generator = np.random.default_rng(0)
    shown = VectorStep(
        np.zeros((games, len(network.scale)), np.int8),
        np.zeros((games, 36), np.int8),
        *[np.zeros((games, 2))] * 4,
    )
    rollout = Rollout.empty(steps, shown, len(network.critic_scale))
    rollout.mask[:] = generator.random(rollout.mask.shape) < 0.3
    rollout.mask[..., 0] = 1
    rollout.observation[..., :36] = rollout.mask  # a row's mask stands in its observation
    rollout.state[..., :36] = rollout.mask  # and in its state
    rollout.advantage[:] = generator.normal(size=rollout.advantage.shape)
    settings = replace(SETTINGS, entropy=0.01, minibatch=32)
    update(network, torch.optim.Adam(network.parameters()), rollout, settings, orders(rollout, 3))
    assert len(network.asked) == len(network.judged) == 3 * 4
    for (observation, mask), state in zip(network.asked, network.judged, strict=True):
        assert torch.equal(observation[:, :36], mask)
        assert torch.equal(state[:, :36], mask)
        assert len(mask.unique(dim=0)) > 16


@GAMES
def test_update__moves_every_seat_towards_what_pays_its_team(preset: str) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    env = Bandit(preset, games=60)
    network = Network(preset, (16,), (16,), env.teams)
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3, eps=1e-5)
    noise = Noise(0)
    shown = env.reset()
    asked = [torch.from_numpy(part) for part in (shown.observation[: env.seats], shown.mask[: env.seats])]
    judged = torch.from_numpy(critic_input(env.state(relative=True)[: env.seats], preset))
    rollout = Rollout.empty(
        9, shown, len(network.critic_scale)
    )  # an odd number: episodes are cut off and go on
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


def test_update__sets_the_rate_and_leaves_the_rest_of_the_rollout_alone() -> None:
    network = Network("four_point", (4,), (4,), 2)
    optimizer = torch.optim.Adam(network.parameters(), lr=1.0)
    env = Bandit("four_point", 32)
    rollout = Rollout.empty(4, env.reset(), len(network.critic_scale))
    counts: Any = SimpleNamespace(add_deals=lambda env: None, add_bids=lambda observations, actions: None)
    collect(env, network, env.reset(), rollout, Noise(0), 0.95, counts)
    before = {name: part.copy() for name, part in vars(rollout).items()}
    update(network, optimizer, rollout, SETTINGS, orders(rollout))
    assert optimizer.param_groups[0]["lr"] == SETTINGS.learning_rate
    for name, part in before.items():
        np.testing.assert_array_equal(getattr(rollout, name), part)


@pytest.mark.parametrize(("offset", "factor", "expected"), [(0, 1, 1), (3, 1, 1), (0, 0, 0), (0, -1, -3)])
def test_explained_variance__hand_worked(offset: float, factor: float, expected: float) -> None:
    # Returns of the deciding team 1, 2, 3, 4; the values are that team's, in its own column.
    returns = np.array([1.0, 2.0, 3.0, 4.0], np.float32)
    rollout: Any = SimpleNamespace(
        seat=np.array([[0, 1, 2, 3]]),
        returns=np.stack([returns, -returns], axis=-1)[None],
        value=np.full((1, 4, 2), 99, np.float32),
    )
    for place, seat in enumerate(rollout.seat[0]):
        rollout.value[0, place, seat % 2] = offset + factor * returns[place]
    assert explained_variance(rollout) == pytest.approx(expected)


def test_explained_variance__is_0_where_nothing_varies() -> None:
    rollout: Any = SimpleNamespace(
        seat=np.zeros((1, 3), int), returns=np.ones((1, 3, 2)), value=np.zeros((1, 3, 2))
    )
    assert explained_variance(rollout) == 0
