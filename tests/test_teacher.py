"""Lessons by play-outs: which positions have one, what it says, and that it is the learner's alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from smear_env import (
    PHASE_NAMES,
    Rules,
    SelfPlayVectorEnv,
    make_agent,
    make_rules,
    observation_layout,
    original_actions,
    pieces,
    state_layout,
)

pytest.importorskip("torch")

import torch

from tests.training_runs import tiny
from training.choices import most_probable
from training.metrics import DealCounts
from training.network import Network
from training.others import LEARNER
from training.teacher import Teacher
from training.trainer import Trainer

GAMES = pytest.mark.parametrize("preset", ["four_point", "schmier"])
N = 24


def lines(preset: str) -> list[Rules]:
    """Rules of each game, of two kinds that pay the same deal differently."""
    return [make_rules(preset, failed_bid=("bid", "points", "bid")[game % 3]) for game in range(N)]


def played_on(
    rules: Rules, states: NDArray[np.uint8], action: int, network: Network, teams: int
) -> NDArray[np.float64]:
    """What each team earns when one game takes an action and the network goes on, [teams]: the plain loop."""
    env = SelfPlayVectorEnv(1, rules, seed=9, episode="deal", reward="points")
    env.reset()
    shown = env.restore({"states": states[None], "seed": np.zeros(1, np.uint64)})
    earned, action_now = np.zeros(teams), action
    while True:
        shown = env.step(np.array([action_now]))
        earned += shown.reward[0]
        if shown.terminated[0]:
            return earned
        seen = network.see(shown.observation, shown.mask)
        (action_now,) = original_actions(
            most_probable(network, seen.observation, seen.mask), seen.order, rules
        )


@GAMES
@pytest.mark.parametrize(("room", "early"), [(None, 0.0), (16, 0.0), (None, 0.5)])
def test_lesson__is_what_the_policy_makes_of_each_action(
    preset: str, room: int | None, early: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    if room:  # fewer places than cards to try: several rounds
        monkeypatch.setattr("training.teacher.ROOM", room)
    torch.manual_seed(2)
    rules = lines(preset)
    env = SelfPlayVectorEnv(N, rules, seed=1, episode="deal", reward="points", skip_forced=True)
    network = Network(preset, (8,), (4,), env.teams, features=True)
    with torch.no_grad():
        network.policy.weight.mul_(100)
    limit = 3 * env.rules.players
    teacher, agent = Teacher(rules, limit, 0.75, early, 0.5), make_agent("greedy")
    agent.reset(rules[0], -1, 0)
    shown, taught = env.reset(), 0
    for step in range(45):
        seen, states = network.see(shown.observation, shown.mask), env.state(relative=True)
        learns, chances = np.arange(N) % 2 != step % 2, np.linspace(0, 0.99, N)
        sure = np.arange(N) % 6 == 0
        lesson = np.full(shown.mask.shape, np.nan, np.float32)
        found = teacher.teach(env, network, shown, seen, states, learns, sure, chances, lesson)
        phase = pieces(shown.observation, observation_layout(rules[0]))["phase"]
        held = pieces(states, state_layout(rules[0]))["hand"].sum(axis=(1, 2))
        late = (phase[:, PHASE_NAMES.index("play")] == 1) & (held <= limit)
        share = np.where(late, 0.75, np.where(phase[:, PHASE_NAMES.index("bid")] == 1, 0, early))
        np.testing.assert_array_equal(found, learns & (chances < share * np.where(sure, 0.5, 1)))
        assert np.isnan(lesson[~found]).all()
        for game in np.flatnonzero(found)[:2]:
            snapshot, team = env.snapshot()["states"][game], int(shown.seat[game]) % env.teams
            legal = np.flatnonzero(seen.mask[game])
            originals = original_actions(legal, np.repeat(seen.order[[game]], len(legal), axis=0), env.rules)
            expected = np.zeros(lesson.shape[1])
            for action, original in zip(legal, originals, strict=True):
                expected[action] = played_on(rules[game], snapshot, original, network, env.teams)[team]
            np.testing.assert_allclose(lesson[game], expected, atol=1e-6)
            taught += 1
        shown = env.step(agent.act_batch(shown.observation, shown.mask))
    assert taught > 20


@GAMES
def test_trainer__is_taught_once_bids_are_its_own(preset: str, tmp_path: Path) -> None:
    config = tiny(
        *(tmp_path,),
        rules=preset,
        total_decisions=4096,
        auction_by_chance=0.5,
        teacher_cards=24,
        teacher=0.8,
    )
    trainer = Trainer(config)
    weights, taught = [], []
    for _ in range(8):
        weights.append(trainer.settings().teacher)
        found = trainer.iterate(DealCounts(preset, trainer.free))
        assert found["schedule/teacher"] == weights[-1]
        taught.append(trainer.rollout.taught.any())
        assert taught[-1] == (found["policy/regret"] > 0)
    assert weights == [0, 0, 0, 0, 0.8, 0.8, 0.8, 0.8]
    assert taught == [False] * 4 + [True] * 4


def test_trainer__teaches_what_its_policy_is_sure_of_less_often(tmp_path: Path) -> None:
    """With no share at all where an action is nearly certain, only decisions with a doubtful action have lessons."""
    changed = {"teacher": 1.0, "teacher_share": 1.0, "teacher_cards": 24, "auction_by_chance": 0.0}
    rollouts = {}
    for share in (1.0, 0.0):
        trainer = Trainer(tiny(tmp_path / str(share), **changed, teacher_sure=share))
        with torch.no_grad():
            trainer.network.policy.weight.mul_(3000)  # sure of many of its actions, by chance
        trainer.iterate(DealCounts("four_point", trainer.free))
        rollouts[share] = trainer.rollout
    every, doubtful = rollouts[1.0], rollouts[0.0]
    np.testing.assert_array_equal(every.action, doubtful.action)  # lessons take nothing from the draws
    sure = every.log_probability >= np.log(0.95)
    assert 0 < sure[every.taught].sum() < every.taught.sum()
    np.testing.assert_array_equal(doubtful.taught, every.taught & ~sure)


def test_trainer__of_a_target_is_taught_its_own_decisions_alone(tmp_path: Path) -> None:
    first = Trainer(tiny(tmp_path))
    first.iterate(DealCounts("four_point", first.free))
    first.save(tmp_path)
    changed = {"target": str(tmp_path), "teacher": 1.0, "auction_by_chance": 0.0, "teacher_cards": 24}
    trainer = Trainer(tiny(tmp_path / "other", **changed))
    trainer.iterate(DealCounts("four_point", trainer.free))
    rollout = trainer.rollout
    turns = np.take_along_axis(trainer.seats, rollout.seat.T, axis=1).T
    np.testing.assert_array_equal(rollout.learns, turns == LEARNER)
    assert rollout.taught.any()
    assert not rollout.taught[~rollout.learns].any()
