"""One PPO update: its terms against numbers worked by hand, and whether it moves the policy the right way."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace
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
    CLIPPED,
    ENTROPY,
    KL,
    MAGNET,
    POLICY,
    REGRET,
    TERMS,
    VALUE,
    Counts,
    Decisions,
    Weights,
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


PLAIN = Weights(clip=0.2, entropy=0.0, bid_entropy=0.0, value=0.5)


@dataclass(frozen=True)
class Found:
    """A minibatch's terms, and the loss's derivatives."""

    terms: Any  # [TERMS]
    by_logits: Any  # [B, n]
    by_values: Any  # [B, teams]


def find(
    logits: Any,
    mask: Any,
    *,
    values: Any = None,
    magnet: Any = None,
    weights: Weights = PLAIN,
    **changed: Any,
) -> Found:
    """The loss of so many decisions, in which nothing is to be learnt but for what is given."""
    logits, mask = np.asarray(logits, np.float32), np.asarray(mask, np.int8)
    rows = len(mask)
    values = np.zeros((rows, 2), np.float32) if values is None else np.asarray(values, np.float32)
    given: dict[str, Any] = {
        "taught": np.zeros(rows, bool),
        "lesson": np.zeros((rows, mask.shape[1]), np.float32),
        "mask": mask,
        "action": mask.argmax(axis=1),
        "log_probability": np.zeros(rows, np.float32),
        "advantage": np.zeros(rows, np.float32),
        "returns": values.copy(),
        "bidding": np.zeros(rows, bool),
        "by_chance": np.zeros(rows, bool),
    }
    for name, value in changed.items():
        given[name] = np.asarray(value, given[name].dtype)
    found = Found(np.zeros(len(TERMS)), np.full_like(logits, np.nan), np.full_like(values, np.nan))
    counts = Counts(rows, int((~given["by_chance"]).sum()), int(given["taught"].sum()))
    differentiate(
        Decisions(**given),
        np.arange(rows),
        logits,
        values,
        np.empty((0, logits.shape[1]), np.float32) if magnet is None else np.asarray(magnet, np.float32),
        weights,
        counts,
        found.by_logits,
        found.by_values,
        found.terms,
    )
    return found


def masked_logits(preset: str, rows: int) -> tuple[Any, Any]:
    """Strong preferences, and a mask of its own for each row; row 0 allows action 5 alone."""
    generator = np.random.default_rng(0)
    actions = len(PRESETS[preset].action_names)
    mask = (generator.random((rows, actions)) < 0.2).astype(np.int8)
    mask[np.arange(rows), np.arange(rows) % actions] = 1
    mask[0] = 0
    mask[0, 5] = 1
    return (3 * generator.normal(size=(rows, actions))).astype(np.float32), mask


def exact_entropies(logits: Any, mask: Any) -> list[float]:
    """Of each row's legal actions, in double precision."""
    entropies = []
    for row, legal in zip(logits.astype(float), mask, strict=True):
        weights = np.exp(row[legal == 1] - row[legal == 1].max())
        entropies.append(-sum(p * math.log(p) for p in weights / weights.sum()))
    return entropies


LOG_HALF = math.log(0.5)


def test_loss__clipped_surrogate_hand_worked() -> None:
    # Ratios 1.5, 1.5, 0.5, 0.5 and 1 with clip 0.2: min(r A, clip(r) A).
    found = find(
        np.log([[0.75, 0.25], [0.75, 0.25], [0.25, 0.75], [0.25, 0.75], [0.5, 0.5]]),
        np.ones((5, 2)),
        action=[0] * 5,
        log_probability=[LOG_HALF] * 5,
        advantage=[1, -1, 1, -1, 3],
    )
    assert found.terms[POLICY] == pytest.approx(-(1.2 - 1.5 + 0.5 - 0.8 + 3.0) / 5)
    assert found.terms[CLIPPED] == pytest.approx(4 / 5)
    log = math.log
    assert found.terms[KL] == pytest.approx((2 * (0.5 - log(1.5)) + 2 * (-0.5 - log(0.5))) / 5, abs=1e-6)
    # Where the clipped side is the smaller, nothing pulls the policy further: rows 0 and 3.
    assert [bool(pull != 0) for pull in found.by_logits[:, 0]] == [False, True, True, False, True]


def test_loss__value_is_the_squared_error_of_each_team() -> None:
    found = find([[0, 0]], np.ones((1, 2)), values=[[1, -1, 0]], returns=[[3, -1, -2]])
    assert found.terms[VALUE] == pytest.approx(0.5 * (4 + 0 + 4) / 3)
    assert found.by_values[0].tolist() == pytest.approx([PLAIN.value * slope for slope in (-2 / 3, 0, 2 / 3)])
    assert not found.by_logits.any(), "an advantage of 0 moves nothing"


@GAMES
def test_loss__entropy_is_exact_over_the_legal_actions_of_each_row(preset: str) -> None:
    logits, mask = masked_logits(preset, 50)
    exact = exact_entropies(logits, mask)
    assert exact[0] == 0
    assert find(logits, mask).terms[ENTROPY] == pytest.approx(np.mean(exact), abs=1e-6)


@GAMES
def test_loss__one_legal_action_moves_nothing_and_illegal_ones_never_move(preset: str) -> None:
    logits, mask = masked_logits(preset, 50)
    logits[mask == 0] = 1e30  # whatever the network says of them
    found = find(logits, mask, advantage=np.ones(50), weights=PLAIN._replace(entropy=0.1))
    assert np.isfinite(found.by_logits).all()
    assert not found.by_logits[0].any()
    assert not found.by_logits[mask == 0].any()
    assert found.by_logits[mask == 1].any()


@GAMES
@pytest.mark.parametrize("seed", range(3))
def test_loss__derivatives_are_those_of_its_terms(preset: str, seed: int) -> None:
    # Central differences of the total, term by term as the module's text says.
    generator = np.random.default_rng(seed)
    logits, mask = masked_logits(preset, 6)
    teams = PRESETS[preset].teams
    values, returns = generator.normal(size=(2, 6, teams))
    weights = Weights(clip=0.2, entropy=0.3, bid_entropy=0.7, value=0.5, magnet=0.4)
    magnet = generator.normal(size=logits.shape)
    by_chance, bidding = np.arange(6) == 1, np.arange(6) < 3
    action = np.array([generator.choice(np.flatnonzero(row)) for row in mask])
    old, advantage = np.log(generator.uniform(0.1, 1, 6)), generator.normal(size=6)

    def total(logits: Any, values: Any) -> float:
        result = 0.5 * weights.value * np.square(values - returns).mean()
        for i in range(6):
            legal = np.flatnonzero(mask[i])
            row = logits[i, legal].astype(float)
            logs = row - row.max() - np.log(np.exp(row - row.max()).sum())
            chosen = logs[legal == action[i]][0]
            if by_chance[i]:
                result -= chosen / 6
                continue
            ratio = np.exp(chosen - np.float32(old[i]))
            result -= min(ratio * advantage[i], np.clip(ratio, 0.8, 1.2) * advantage[i]) / 5
            result += (
                (weights.bid_entropy if bidding[i] else weights.entropy) * (np.exp(logs) * logs).sum() / 6
            )
            held = magnet[i, legal] - np.log(np.exp(magnet[i, legal]).sum())
            result += weights.magnet * (np.exp(logs) * (logs - held)).sum() / 6
        return float(result)

    found = find(
        logits,
        mask,
        values=values,
        returns=returns,
        magnet=magnet,
        weights=weights,
        by_chance=by_chance,
        bidding=bidding,
        action=action,
        log_probability=old,
        advantage=advantage,
    )
    logits, step = logits.astype(float), 1e-5
    for array, slopes in ((logits, found.by_logits), (values, found.by_values)):
        for place in np.ndindex(array.shape):
            kept = array[place]
            array[place] = kept + step
            above = total(logits, values)
            array[place] = kept - step
            below = total(logits, values)
            array[place] = kept
            assert slopes[place] == pytest.approx((above - below) / (2 * step), abs=2e-5)


def test_loss__magnet_hand_worked() -> None:
    # KL of (3/4, 1/4) from (1/2, 1/2): log 2 less the entropy.
    held = Weights(clip=0.2, entropy=0.0, bid_entropy=0.0, value=0.5, magnet=2.0)
    found = find([np.log([3.0, 1.0])], np.ones((1, 2)), magnet=[[5.0, 5.0]], weights=held)
    assert found.terms[MAGNET] == pytest.approx(0.75 * math.log(1.5) + 0.25 * math.log(0.5))
    assert found.by_logits[0, 0] == pytest.approx(2 * 0.75 * (math.log(1.5) - found.terms[MAGNET]))
    assert find([[1.0, 0.0]], np.ones((1, 2)), magnet=[[2.0, 1.0]], weights=held).by_logits == pytest.approx(
        0
    )


def test_loss__lesson_hand_worked() -> None:
    # Chances 9/10 and 1/10, worth 2 and 6 points: 2.4 in the mean, 3.6 below the best. A point is half a deviation.
    taught = Weights(clip=0.2, entropy=0.0, bid_entropy=0.0, value=0.5, teacher=0.25, point=0.5, softness=2.0)
    given = {
        "advantage": [1.0, 1.0],
        "log_probability": [math.log(0.9)] * 2,
        "taught": [True, False],
        "lesson": [[2.0, 6.0]] * 2,
    }
    found = find([np.log([9.0, 1.0])] * 2, np.ones((2, 2)), weights=taught, **given)
    assert found.terms[REGRET] == pytest.approx(3.6)
    surrogate = -0.1 / 2  # of the first action's logit: 1 - 9/10, over two decisions
    assert found.by_logits[1] == pytest.approx([surrogate, -surrogate])
    # Softened the chances are 3/4 and 1/4, worth 3 in the mean.
    lesson = -0.25 * 0.5 * 0.75 * (2 - 3) / 2
    expected = 0.75 * surrogate + lesson
    assert found.by_logits[0] == pytest.approx([expected, -expected])


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


def test_loss__bids_have_an_entropy_bonus_of_their_own() -> None:
    logits, mask = masked_logits("four_point", 10)
    bidding = np.arange(10) < 4
    alone = find(logits, mask, weights=PLAIN._replace(entropy=1.0)).by_logits
    found = find(
        logits, mask, weights=PLAIN._replace(entropy=0.25, bid_entropy=2.0), bidding=bidding
    ).by_logits
    np.testing.assert_allclose(found[:4], 2.0 * alone[:4], atol=1e-6)
    np.testing.assert_allclose(found[4:], 0.25 * alone[4:], atol=1e-6)
    assert alone[1:4].any()


@GAMES
def test_update__knows_bids_by_the_phase_in_the_observation(preset: str) -> None:
    network = Network(preset, (4,), (4,), 2)
    assert network.bidding_flag == observation_layout(PRESETS[preset])["phase"].start


def test_loss__call_drawn_by_chance_teaches_values_and_has_no_surrogate() -> None:
    logits, mask = masked_logits("four_point", 10)
    generator = np.random.default_rng(2)
    changed: dict[str, Any] = {
        "advantage": generator.normal(size=10),
        "returns": generator.normal(size=(10, 2)),
    }
    changed["log_probability"] = generator.normal(size=10) - 2
    found = find(logits, mask, by_chance=np.arange(10) < 4, **changed)
    alone = find(logits[4:], mask[4:], **{name: part[4:] for name, part in changed.items()})
    for term in (POLICY, KL, CLIPPED):
        assert found.terms[term] == pytest.approx(alone.terms[term], abs=1e-6), TERMS[term]
    plain = find(logits, mask, **changed)
    for term in (VALUE, ENTROPY):
        assert found.terms[term] == pytest.approx(plain.terms[term]), TERMS[term]
    np.testing.assert_array_equal(found.by_values, plain.by_values)


def test_loss__call_drawn_by_chance_is_imitated_whatever_it_earned() -> None:
    # Rows 0 and 1 are drawn, row 2 the policy's own; the entropy bonus is the last's alone.
    chances = [[0.75, 0.25], [0.75, 0.25], [0.5, 0.5]]
    by_chance = np.array([True, True, False])
    for earned in (-50.0, 50.0):
        found = find(
            np.log(chances),
            np.ones((3, 2)),
            action=[1, 0, 0],
            log_probability=np.log(chances)[:, 0],
            advantage=[earned, -earned, 2],
            by_chance=by_chance,
            bidding=by_chance,
            weights=PLAIN._replace(entropy=0.25, bid_entropy=9.0),
        )
        assert found.terms[POLICY] == pytest.approx(-2.0)
        # (probability - 1 if it was drawn) / decisions
        expected = [[0.75 / 3, -0.75 / 3], [-0.25 / 3, 0.25 / 3]]
        np.testing.assert_allclose(found.by_logits[:2], expected, atol=1e-6)
        assert found.by_logits[2].tolist() == pytest.approx([-1, 1])


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
