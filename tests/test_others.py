"""Seats that frozen networks play: past selves, and the target of an exploiter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smear_env import PRESETS, SelfPlayVectorEnv, load_policy, observation_layout, state_layout

pytest.importorskip("torch")

import torch

from tests.training_runs import tiny
from training.metrics import DealCounts
from training.network import Network, critic_input, load_network
from training.noise import Noise
from training.others import LEARNER, Others, past_seats
from training.rollout import Rollout, collect
from training.trainer import Trainer

GAMES = pytest.mark.parametrize("preset", ["four_point", "schmier"])
N, STEPS = 24, 40


def played(preset: str, seats: Any, *, greedy: bool = False) -> tuple[Rollout, list[Network]]:
    """A rollout of a learner and two others, and the others."""
    torch.manual_seed(1)
    rules = PRESETS[preset]
    env = SelfPlayVectorEnv(N, rules, seed=5, episode="deal", reward="points", skip_forced=True)
    learner, *others = (Network(preset, (16,), (12,), env.teams) for _ in range(3))
    for network in others:
        with torch.no_grad():
            network.policy.weight.mul_(100_000)  # so that what it plays is no matter of chance
    shown = env.reset()
    rollout = Rollout.empty(STEPS, shown, learner)
    counts = DealCounts(preset, np.ones(N, bool))
    collect(
        *(env, learner, shown, rollout, Noise(1), 0.9, counts), others=Others(others, seats, greedy=greedy)
    )
    return rollout, others


@GAMES
@pytest.mark.parametrize("greedy", [False, True])
def test_others__play_their_seats_and_no_other(preset: str, greedy: bool) -> None:
    players = PRESETS[preset].players
    seats = np.full((N, players), LEARNER)
    seats[: N // 2, 1], seats[N // 4 :, 2] = 0, 1
    rollout, others = played(preset, seats, greedy=greedy)
    turns = np.take_along_axis(seats, rollout.seat.T, axis=1).T
    np.testing.assert_array_equal(rollout.learns, turns == LEARNER)
    for number, network in enumerate(others):
        theirs = turns == number
        assert theirs.sum() > 20
        with torch.inference_mode():
            wants = network(*(torch.from_numpy(p[theirs]) for p in (rollout.observation, rollout.mask)))
        agrees = wants.argmax(dim=1).numpy() == rollout.action[theirs]
        # Drawn actions are the most probable ones but where two are about as probable.
        assert agrees.all() if greedy else agrees.mean() > 0.8
    legal = np.take_along_axis(rollout.mask, rollout.action[..., None], axis=-1)
    assert legal.all()
    assert not rollout.advantage[~rollout.learns].any()


def test_others__number_of_no_network_is_refused() -> None:
    with pytest.raises(ValueError, match=r"seats name players 0\.\.1, expected -1\.\.0"):
        Others([Network("mini", (4,), (4,), 2)], np.array([[0, 1]]))


@pytest.mark.parametrize(("players", "teams"), [(4, 2), (6, 3)])
def test_past_seats__one_team_in_its_share_of_the_games(players: int, teams: int) -> None:
    seats = past_seats(120, players, teams, 0.25, kept=4)
    rows = np.flatnonzero((seats != LEARNER).any(axis=1))
    assert len(rows) == 30
    assert np.diff(rows).max() == 4, "spread evenly"
    for row in seats[rows]:
        (team,) = {seat % teams for seat in range(players) if row[seat] != LEARNER}
        assert len(set(row[team::teams])) == 1
    assert {row.max() for row in seats[rows]} == {0, 1, 2, 3}
    assert len({int(np.argmax(row != LEARNER)) for row in seats[rows]}) == teams


def test_trainer__keeps_past_selves_once_bids_are_learnt(tmp_path: Path) -> None:
    config = tiny(
        tmp_path, total_decisions=5120, auction_by_chance=0.2, past_share=0.5, past_every=2, past_kept=2
    )
    trainer = Trainer(config)
    kept, selves = [], []
    for _ in range(10):
        trainer.iterate(DealCounts("four_point", trainer.free))
        kept.append(len(trainer.past))
        selves.append(trainer.network.policy.weight.detach().clone())
    assert kept == [0, 1, 1, 2, 2, 2, 2, 2, 2, 2]
    # Updates 2 and 4 were kept; then each new one takes the place of one of the two.
    assert not trainer.rollout.learns.all()
    assert any(torch.equal(one.policy.weight, selves[-1]) for one in trainer.past)


def test_trainer__magnet_follows_slowly(tmp_path: Path) -> None:
    trainer = Trainer(tiny(tmp_path, magnet=0.5, magnet_rate=0.25, auction_by_chance=0.0))
    assert trainer.magnet
    before = trainer.network.policy.weight.detach().clone()
    first = trainer.iterate(DealCounts("four_point", trainer.free))
    after = trainer.network.policy.weight
    torch.testing.assert_close(trainer.magnet.policy.weight, before + 0.25 * (after - before))
    assert first["policy/magnet_kl"] > 0


@GAMES
def test_trainer__with_suits_as_dealt_and_a_critic_of_the_own_view(preset: str, tmp_path: Path) -> None:
    trainer = Trainer(tiny(tmp_path, rules=preset, suits="as_dealt", critic_view="observation"))
    before = trainer.shown.observation.copy()
    trainer.iterate(DealCounts(preset, trainer.free))
    np.testing.assert_array_equal(trainer.rollout.observation[0], before)
    np.testing.assert_array_equal(trainer.rollout.state, trainer.rollout.observation)
    trainer.save(tmp_path)
    # ... and the agent plays by it.
    agent, network = load_policy(tmp_path), load_network(tmp_path / "checkpoint")
    assert (network.suits, network.critic_view) == ("as_dealt", "observation")
    agent.reset(PRESETS[preset], -1, 0)
    shown = trainer.shown
    with torch.inference_mode():
        chances = network(torch.from_numpy(shown.observation), torch.from_numpy(shown.mask)).exp()
    np.testing.assert_allclose(agent.probabilities(shown.observation, shown.mask), chances, atol=1e-5)


def test_trainer__starts_from_a_checkpoint_that_fits(tmp_path: Path) -> None:
    first = Trainer(tiny(tmp_path))
    first.iterate(DealCounts("four_point", first.free))
    first.save(tmp_path)
    second = Trainer(tiny(tmp_path / "other", seed=9, start=str(tmp_path)))
    for one, other in zip(first.network.parameters(), second.network.parameters(), strict=True):
        assert torch.equal(one, other)
    for changed, told in (({"hidden": (8,)}, "does not fit"), ({"suits": "as_dealt"}, "is of .*ordered")):
        with pytest.raises(ValueError, match=told):
            Trainer(tiny(tmp_path / "third", start=str(tmp_path), **changed))


def test_critic__of_the_state_is_unlike_that_of_the_observation() -> None:
    rules = PRESETS["four_point"]
    env = SelfPlayVectorEnv(4, rules, seed=0)
    shown = env.reset()
    network = Network("four_point", (4,), (4,), 2)
    seen = network.see(shown.observation, shown.mask)
    full = network.critic_sees(env.state(relative=True), seen)
    assert full.shape[1] == len(network.critic_scale)
    assert full.shape == critic_input(env.state(relative=True), "four_point").shape
    assert state_layout(rules)["hand"].size > observation_layout(rules)["hand"].size
