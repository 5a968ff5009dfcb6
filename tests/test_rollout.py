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
    original_actions,
    pieces,
    rename_suits,
    state_layout,
)
from tests.reference.learning import Decision, seat_returns, team_advantage

pytest.importorskip("torch")

import torch

from training.metrics import DealCounts
from training.network import Network, critic_input
from training.noise import Noise
from training.rollout import Rollout, chance_calls, choose, collect, judge

GAMES = pytest.mark.parametrize("preset", ["four_point", "schmier"])
N, STEPS, LAMBDA = 24, 60, 0.9


class Watched(SelfPlayVectorEnv):
    """Keeps what was played, and the result of every finished deal: own score change less the others' mean."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.played: list[np.ndarray] = []  # [N] actions of each step
        self.results: list[np.ndarray] = []  # [N, teams] for each step, 0 where no deal ended
        self.orders: list[np.ndarray] = []  # [N, suits] of what was shown before each step
        self.states: list[np.ndarray] = []  # [N, s] before each step, seats and suits as they are

    def step(self, actions: Any) -> VectorStep:
        self.played.append(actions.copy())
        self.orders.append(order_suits(self._out.observation, self._out.mask, self.rules).order)
        self.states.append(self.state())
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
        rules, teams = self.env.rules, self.env.teams
        order = order_suits(self.shown.observation, self.shown.mask, rules).order
        full = critic_input(rename_suits(self.env.state(relative=True), order, rules), rules.name)
        with torch.inference_mode():
            seen = self.network.values(torch.from_numpy(full))
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
    network = Network(preset, (16,), (12,), env.teams)
    with torch.no_grad():
        network.policy.weight.mul_(100)
        network.value.weight.mul_(10)
    shown = env.reset()
    rollout = Rollout.empty(STEPS, shown, network)
    counts = DealCounts(preset, np.ones(N, bool))
    shown = collect(env, network, shown, rollout, Noise(1), lam, counts, auction_by_chance=by_chance)
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


def test_rollout__keeps_positions_with_their_suits_in_order(made: Collected) -> None:
    rollout, rules = made.rollout, made.env.rules
    trump = pieces(rollout.observation, observation_layout(rules))["trump"]
    assert trump[..., 0].any()
    assert not trump[..., 1:].any()
    orders = np.concatenate(made.env.orders)
    assert len(np.unique(orders, axis=0)) > 4
    played = original_actions(rollout.action.ravel(), orders, rules)
    np.testing.assert_array_equal(played, np.concatenate(made.env.played))


# ------------------------------------------------------------------------------------------------ calls by chance


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


@GAMES
def test_chance_calls__let_any_seat_become_the_bidder(preset: str) -> None:
    env = SelfPlayVectorEnv(2000, make_rules(preset, all_pass="dealer_bids"), seed=5, episode="deal")
    players, layout = env.rules.players, observation_layout(env.rules)
    shown = env.reset()
    noise = Noise(2)
    for _ in range(players):
        bidding = pieces(shown.observation, layout)["phase"][:, 0] == 1
        shown = env.step_some(np.where(bidding, chance_calls(shown.mask, env, noise.uniforms(2000)), -1))
    seen = pieces(shown.observation, layout)
    assert not seen["phase"][:, 0].any()
    turns = (seen["bidder"].argmax(axis=1) - seen["dealer"].argmax(axis=1)) % players
    shares = np.bincount(turns, minlength=players) / 2000
    assert shares.min() > 0.3 / players, shares
    assert shares.max() < 3 / players, shares


def calls_of(preset: str, bids: int, *, may_pass: bool, rows: int = 40_000) -> tuple[np.ndarray, np.ndarray]:
    """Drawn calls, and the one mask of all rows: pass or not, and the highest `bids` bids."""
    env = SelfPlayVectorEnv(1, preset, seed=0)
    rules = env.rules
    passing = len(rules.card_names)
    mask = np.zeros(env.num_actions, np.int8)
    mask[passing] = may_pass
    highest = passing + 1 + rules.max_bid - rules.min_bid
    mask[highest - bids + 1 : highest + 1] = 1
    drawn = chance_calls(np.tile(mask, (rows, 1)), env, Noise(4).uniforms(rows))
    assert drawn.shape == (rows,)
    assert drawn.dtype == np.int64
    return drawn, mask


@GAMES
@pytest.mark.parametrize("may_pass", [True, False])
@pytest.mark.parametrize("bids", [1, 2, 3])
def test_chance_calls__are_legal_and_most_of_them_passes_and_low_bids(
    preset: str, may_pass: bool, bids: int
) -> None:
    drawn, mask = calls_of(preset, bids, may_pass=may_pass)
    legal, counts = np.unique(drawn, return_counts=True)
    assert set(legal) == set(np.flatnonzero(mask))
    # Each seat bids once in as many calls as there are seats.
    bidding = 1 / PRESETS[preset].players if may_pass else 1.0
    among_bids = {1: [1], 2: [3 / 4, 1 / 4], 3: [3 / 4, 3 / 16, 1 / 16]}[bids]
    expected = [1 - bidding] * may_pass + [bidding * share for share in among_bids]
    np.testing.assert_allclose(counts / len(drawn), expected, atol=0.01)


@GAMES
def test_chance_calls__are_drawn_for_each_row_by_its_own_mask(preset: str) -> None:
    env = SelfPlayVectorEnv(1, preset, seed=0)
    passing = len(env.rules.card_names)
    bids = env.rules.max_bid - env.rules.min_bid + 1
    rows = 2000
    lowest, may_pass = np.arange(rows) % bids, np.arange(rows) % 7 < 5
    mask = np.zeros((rows, env.num_actions), np.int8)
    mask[:, passing] = may_pass
    mask[:, passing + 1 : passing + 1 + bids] = np.arange(bids) >= lowest[:, None]
    for seed in range(20):
        drawn = chance_calls(mask, env, Noise(seed).uniforms(len(mask)))
        assert np.all(mask[np.arange(rows), drawn] == 1)
    again = chance_calls(mask, env, Noise(19).uniforms(len(mask)))
    np.testing.assert_array_equal(drawn, again)


# ------------------------------------------------------------------------------------------------ what is kept


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
        seen = made.network.values(torch.from_numpy(rollout.state[7]))
    np.testing.assert_allclose(judge(made.network, rollout.state[7]), seen, atol=1e-6)
    for game, seat in enumerate(rollout.seat[7]):
        for slot in range(teams):
            assert rollout.value[7, game, (seat + slot) % teams] == pytest.approx(
                float(seen[game, slot]), abs=1e-5
            )


def test_rollout__critic_sees_all_hands_counted_from_the_seat_to_act(made: Collected) -> None:
    rules, rollout = made.env.rules, made.rollout
    players, cards, ranks = rules.players, len(rules.card_names), len(rules.ranks)
    suits = len(rules.suits)
    before = pieces(np.stack(made.env.states), state_layout(rules))
    hands = rollout.state[..., : players * cards].reshape(STEPS, N, players, cards)
    stock = rollout.state[..., -cards:]
    own = pieces(rollout.observation, observation_layout(rules))["hand"]
    np.testing.assert_array_equal(hands[..., 0, :], own)
    assert np.all(hands.sum(axis=(2, 3)) > own.sum(axis=2))
    for step in range(STEPS):
        for game in range(N):
            # The card of each place, by the order of suits; the joker keeps its own.
            order = made.env.orders[step][game]
            place = np.arange(cards)
            place[: suits * ranks] = (order[:, None] * ranks + np.arange(ranks)).ravel()
            for relative in range(players):
                seat = (rollout.seat[step, game] + relative) % players
                held = before["hand"][step, game, seat]
                np.testing.assert_array_equal(hands[step, game, relative], held[place])
            np.testing.assert_array_equal(stock[step, game], before["stock"][step, game][place] > 0)


@GAMES
def test_rollout__hidden_cards_change_what_the_critic_says_and_nothing_of_the_policy(preset: str) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(3)
    network = Network(preset, (16,), (12,), PRESETS[preset].teams)
    with torch.no_grad():
        network.policy.weight.mul_(100)
    made = []
    for swap in (False, True):
        env = SelfPlayVectorEnv(N, preset, seed=5, episode="deal", reward="points", skip_forced=True)
        shown = env.reset()
        if swap:  # the two seats after the one to act change hands
            snapshot = env.snapshot()
            states = snapshot["states"].view(env._states.dtype)[:, 0]
            for game, seat in enumerate(shown.seat):
                one, other = (seat + 1) % env.rules.players, (seat + 2) % env.rules.players
                states["hand"][game][[one, other]] = states["hand"][game][[other, one]]
            shown = env.restore(snapshot)
        rollout = Rollout.empty(1, shown, network)
        counts = DealCounts(preset, np.ones(N, bool))
        collect(env, network, shown, rollout, Noise(1), LAMBDA, counts)
        made.append(rollout)
    plain, swapped = made
    for name in ("observation", "mask", "seat", "action", "log_probability"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(swapped, name), err_msg=name)
    assert np.all(np.any(plain.state != swapped.state, axis=-1))
    assert np.abs(plain.value - swapped.value).max(axis=-1).min() > 0


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
            log_probabilities = made.network(observation, mask)
        return (log_probabilities.gather(1, action[:, None])[:, 0].double() - old.double()).exp()

    # 1e-6 is what single precision leaves of 1 for log-probabilities of a few units.
    assert (ratio(mask) - 1).abs().max() < 2e-6
    assert (ratio(torch.ones_like(mask)) - 1).abs().max() > 0.1


@GAMES
def test_choose__half_a_million_samples_are_legal(preset: str) -> None:
    # Both games together make a million, each row with a mask of its own, some with one or two legal actions.
    torch.manual_seed(0)
    masks = np.random.default_rng(0)
    network = Network(preset, (4,), (4,), PRESETS[preset].teams)
    rows, actions = 50_000, len(PRESETS[preset].action_names)
    for _ in range(10):
        mask = (masks.random((rows, actions), np.float32) < masks.random((rows, 1), np.float32)).astype(
            np.int8
        )
        mask[np.arange(rows), masks.integers(actions, size=rows)] = 1
        observation = masks.integers(2, size=(1, len(network.scale)), dtype=np.int8).repeat(rows, axis=0)
        chosen, log_probability = choose(network, observation, mask, masks.random(rows))
        assert np.all(mask[np.arange(rows), chosen] == 1)
        assert np.all(np.isfinite(log_probability))


def test_choose__follows_the_probabilities() -> None:
    torch.manual_seed(0)
    network = Network("four_point", (4,), (4,), 2)
    with torch.no_grad():
        network.policy.bias.copy_(torch.linspace(-1, 1, 36))
    rows = 40_000
    mask = np.zeros((rows, 36), np.int8)
    mask[:, [3, 20, 30]] = 1
    observation = np.zeros((rows, len(network.scale)), np.int8)
    chosen, log_probability = choose(network, observation, mask, np.random.default_rng(0).random(rows))
    for action in (3, 20, 30):
        assert np.mean(chosen == action) == pytest.approx(
            np.exp(log_probability[chosen == action][0]), abs=0.01
        )


@pytest.mark.parametrize("uniform", [0.0, 1 - 2**-53], ids=["lowest", "highest"])
def test_choose__extreme_numbers_fall_on_legal_actions(uniform: float) -> None:
    network = Network("four_point", (4,), (4,), 2)
    mask = np.zeros((2, 36), np.int8)
    mask[0, 35] = mask[1, 7] = mask[1, 20] = 1
    observation = np.zeros((2, len(network.scale)), np.int8)
    chosen, _ = choose(network, observation, mask, np.full(2, uniform))
    assert chosen.tolist() == [35, 7 if uniform == 0 else 20]
