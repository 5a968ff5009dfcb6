"""Collecting decisions from the real environment, both games."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from smear_env import (
    PRESETS,
    SelfPlayVectorEnv,
    VectorStep,
    make_rules,
    observation_layout,
    order_suits,
    pieces,
)
from tests.reference.learning import Decision, seat_returns, team_advantage

pytest.importorskip("torch")

import torch

from training.metrics import DealCounts
from training.network import Network
from training.rollout import Rollout, choose, collect

GAMES = pytest.mark.parametrize("preset", ["four_point", "schmier"])
N, STEPS, LAMBDA = 24, 60, 0.9


class Watched(SelfPlayVectorEnv):
    """Keeps what was played, and the result of every finished deal: own score change less the others' mean."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.played: list[np.ndarray] = []  # [N] actions of each step
        self.results: list[np.ndarray] = []  # [N, teams] for each step, 0 where no deal ended

    def step(self, actions: Any) -> VectorStep:
        self.played.append(actions.copy())
        shown = super().step(actions)  # raises for an illegal action
        gained = (self.deals.scores - self.deals.scores_before)[:, : self.teams]
        others = (gained.sum(axis=1, keepdims=True) - gained) / (self.teams - 1)
        scored = self.deal_ended & (self.deals.ended == 2)
        self.results.append(np.where(scored[:, None], gained - others, 0))
        return shown


@dataclass
class Collected:
    """A rollout and what it was made from."""

    env: Watched
    network: Network
    rollout: Rollout
    shown: VectorStep
    """What the games show afterwards."""

    @property
    def last_values(self) -> np.ndarray:
        """By team, [N, teams]: values are shown from the seat, its own team first."""
        ordered = order_suits(self.shown.observation, self.shown.mask, self.env.rules)
        with torch.inference_mode():
            _, seen = self.network(torch.from_numpy(ordered.observation), torch.from_numpy(ordered.mask))
        teams = self.env.teams
        return np.array(
            [[seen[g, (t - s) % teams] for t in range(teams)] for g, s in enumerate(self.shown.seat)]
        )

    def games(self) -> list[list[Decision]]:
        """The decisions of each game."""
        r = self.rollout
        return [
            [
                Decision(int(r.seat[t, g]), tuple(r.value[t, g]), tuple(r.reward[t, g]), bool(r.ended[t, g]))
                for t in range(len(r.seat))
            ]
            for g in range(r.seat.shape[1])
        ]


def collected(
    preset: str, *, episode: Any = "deal", lam: float = LAMBDA, by_chance: bool = False
) -> Collected:
    """A rollout of an untrained network whose preferences are strong, half of the games with `dealer_bids`."""
    torch.set_num_threads(1)
    torch.manual_seed(3)
    rules = [make_rules(preset, all_pass=("same_dealer", "dealer_bids")[g % 2]) for g in range(N)]
    env = Watched(N, rules, seed=5, episode=episode, reward="points", skip_forced=True, max_deals=3)
    network = Network(preset, (16,), env.teams)
    with torch.no_grad():
        network.policy.weight.mul_(100)
        network.value.weight.mul_(10)
    shown = env.reset()
    rollout = Rollout.empty(STEPS, shown)
    generator = torch.Generator().manual_seed(1)
    counts = DealCounts(preset, np.ones(N, bool))
    shown = collect(env, network, shown, rollout, generator, lam, counts, auction_by_chance=by_chance)
    return Collected(env, network, rollout, shown)


@pytest.fixture(scope="module", params=["four_point", "schmier"])
def made(request: pytest.FixtureRequest) -> Collected:
    return collected(request.param)


def test_rollout__stores_no_forced_move(made: Collected) -> None:
    assert made.rollout.mask.sum(axis=-1).min() >= 2


def test_rollout__stores_legal_actions_with_their_own_mask(made: Collected) -> None:
    chosen = np.take_along_axis(made.rollout.mask, made.rollout.action[..., None], axis=-1)
    assert np.all(chosen == 1)
    assert len(np.unique(made.rollout.mask.reshape(-1, made.env.num_actions), axis=0)) > 100


def test_rollout__plays_the_action_it_stores_in_the_suit_it_stands_for(made: Collected) -> None:
    names = made.env.rules.action_names
    for stored, played in zip(made.rollout.action.ravel(), np.concatenate(made.env.played), strict=True):
        one, other = names[stored], names[played]
        same_call = one == other
        same_rank = one[0] == other[0] and len(one) == len(other) == 2 and one != "JK" != other
        same_trump = one.startswith("trump:") and other.startswith("trump:")
        assert same_call or same_rank or same_trump, (one, other)


@GAMES
def test_rollout__auction_by_chance_draws_every_call_and_no_other_action(preset: str) -> None:
    made = collected(preset, by_chance=True)
    rules, rollout = made.env.rules, made.rollout
    phase = pieces(rollout.observation, observation_layout(rules))["phase"]
    np.testing.assert_array_equal(rollout.by_chance, phase[..., 0] == 1)
    assert np.all(np.take_along_axis(rollout.mask, rollout.action[..., None], axis=-1) == 1)
    calls = rollout.action[rollout.by_chance] - len(rules.card_names)
    assert set(calls) == set(range(rules.max_bid - rules.min_bid + 2)), "passes and every bid"
    assert not collected(preset).rollout.by_chance.any()


def test_rollout__keeps_the_observation_of_the_seat_that_decides(made: Collected) -> None:
    layout = observation_layout(made.env.rules)
    assert np.all(pieces(made.rollout.observation, layout)["turn"][..., 0] == 1)
    assert set(np.unique(made.rollout.seat)) == set(range(made.env.rules.players))


@GAMES
@pytest.mark.parametrize("episode", ["deal", "match"])
def test_rollout__rewards_telescope_to_the_results_of_the_deals(preset: str, episode: str) -> None:
    made = collected(preset, episode=episode)
    results = np.stack(made.env.results)
    assert np.abs(results).sum(axis=(0, 2)).all()
    np.testing.assert_allclose(made.rollout.reward.cumsum(axis=0), results.cumsum(axis=0), atol=1e-4)
    np.testing.assert_allclose(made.rollout.reward.sum(axis=-1), 0, atol=1e-5)


def test_rollout__resetting_step_is_no_transition(made: Collected) -> None:
    rollout, rules = made.rollout, made.env.rules
    ends = np.argwhere(rollout.ended[:-1])
    assert len(ends) >= N
    seen = pieces(rollout.observation, observation_layout(rules))
    for t, game in ends:
        # What follows an end is the first decision of a new deal ...
        assert seen["tricks_done"][t + 1, game] == 0
        assert not seen["bid"][t + 1, game].any()
        assert seen["hand"][t + 1, game].sum() == rules.hand_size
    # ... and no value or reward of it enters the decision before.
    own = (rollout.seat % made.env.teams)[..., None]
    last = rollout.reward - rollout.value
    expected = np.take_along_axis(last, own, axis=-1)[..., 0][rollout.ended]
    np.testing.assert_allclose(rollout.advantage[rollout.ended], expected, atol=1e-5)


def test_rollout__values_are_the_networks_by_team(made: Collected) -> None:
    rollout, teams = made.rollout, made.env.teams
    with torch.inference_mode():
        observation, mask = (torch.from_numpy(part[7]) for part in (rollout.observation, rollout.mask))
        _, seen = made.network(observation, mask)
    for game, seat in enumerate(rollout.seat[7]):
        for slot in range(teams):
            assert rollout.value[7, game, (seat + slot) % teams] == pytest.approx(
                float(seen[game, slot]), abs=1e-5
            )


def test_rollout__advantages_equal_the_slow_loop_of_each_team(made: Collected) -> None:
    last, teams = made.last_values, made.env.teams
    for number, game in enumerate(made.games()):
        slow = [
            team_advantage(game, t, decision.seat % teams, last[number], LAMBDA)
            for t, decision in enumerate(game)
        ]
        np.testing.assert_allclose(made.rollout.advantage[:, number], slow, atol=1e-4)


@GAMES
def test_rollout__at_lambda_1_targets_are_each_seats_own_returns(preset: str) -> None:
    made = collected(preset, lam=1.0)
    last = made.last_values
    slow = np.array([seat_returns(game, last[g]) for g, game in enumerate(made.games())]).T
    np.testing.assert_allclose(made.rollout.returns[..., 0], slow, atol=1e-4)
    np.testing.assert_allclose(made.rollout.returns.sum(axis=-1), 0, atol=1e-4)


def test_rollout__recorded_probabilities_give_ratio_1_on_the_first_minibatch(made: Collected) -> None:
    rollout = made.rollout
    size = rollout.action.size
    rows = torch.randperm(size, generator=torch.Generator().manual_seed(2))[:512]
    observation, mask = (
        torch.from_numpy(part.reshape(size, -1))[rows] for part in (rollout.observation, rollout.mask)
    )
    action, old = (
        torch.from_numpy(part.reshape(size))[rows] for part in (rollout.action, rollout.log_probability)
    )

    def ratio(mask: Any) -> Any:
        with torch.inference_mode():
            log_probabilities, _ = made.network(observation, mask)
        return (log_probabilities.gather(1, action[:, None])[:, 0].double() - old.double()).exp()

    # 1e-6 is what single precision leaves of 1 for log-probabilities of a few units.
    assert (ratio(mask) - 1).abs().max() < 2e-6
    assert (ratio(torch.ones_like(mask)) - 1).abs().max() > 0.1


@GAMES
def test_choose__half_a_million_samples_are_legal(preset: str) -> None:
    # Both games together make a million, each row with a mask of its own, some with one or two legal actions.
    torch.manual_seed(0)
    generator, masks = torch.Generator().manual_seed(0), np.random.default_rng(0)
    network = Network(preset, (4,), PRESETS[preset].teams)
    rows, actions = 50_000, len(PRESETS[preset].action_names)
    for _ in range(10):
        mask = (masks.random((rows, actions), np.float32) < masks.random((rows, 1), np.float32)).astype(
            np.int8
        )
        mask[np.arange(rows), masks.integers(actions, size=rows)] = 1
        observation = masks.integers(2, size=(1, len(network.scale)), dtype=np.int8).repeat(rows, axis=0)
        chosen, log_probability, _ = choose(network, observation, mask, generator)
        assert np.all(mask[np.arange(rows), chosen] == 1)
        assert np.all(np.isfinite(log_probability))


def test_choose__follows_the_probabilities() -> None:
    torch.manual_seed(0)
    network = Network("four_point", (4,), 2)
    with torch.no_grad():
        network.policy.bias.copy_(torch.linspace(-1, 1, 36))
    rows = 40_000
    mask = np.zeros((rows, 36), np.int8)
    mask[:, [3, 20, 30]] = 1
    observation = np.zeros((rows, len(network.scale)), np.int8)
    chosen, log_probability, _ = choose(network, observation, mask, torch.Generator().manual_seed(0))
    for action in (3, 20, 30):
        assert np.mean(chosen == action) == pytest.approx(
            np.exp(log_probability[chosen == action][0]), abs=0.01
        )


def test_choose__draw_of_zero_falls_on_a_legal_action(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.Tensor, "exponential_", lambda self, generator: self.zero_())
    network = Network("four_point", (4,), 2)
    mask = np.zeros((1, 36), np.int8)
    mask[0, 35] = 1
    observation = np.zeros((1, len(network.scale)), np.int8)
    assert choose(network, observation, mask, torch.Generator())[0] == [35]
