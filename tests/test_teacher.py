"""Lessons from the solver: which positions have one, what it says, and what the policy learns from it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from smear_env import (
    PHASE_NAMES,
    SelfPlayVectorEnv,
    card_values,
    make_agent,
    make_rules,
    observation_layout,
    original_columns,
    pieces,
    state_layout,
)

pytest.importorskip("torch")

from tests.training_runs import tiny
from training.metrics import DealCounts
from training.network import Network
from training.others import LEARNER
from training.teacher import Teacher
from training.trainer import Trainer

GAMES = pytest.mark.parametrize("preset", ["four_point", "schmier"])
N = 64


@GAMES
def test_lesson__is_the_solvers_value_of_every_card_in_its_own_suit(preset: str) -> None:
    rules = [make_rules(preset, failed_bid=("bid", "points")[game % 2]) for game in range(N)]
    env = SelfPlayVectorEnv(N, rules, seed=1, episode="deal", reward="points", skip_forced=True)
    network = Network(preset, (4,), (4,), env.teams)
    teacher, agent = Teacher(rules, most_cards=18), make_agent("greedy")
    agent.reset(rules[0], -1, 0)
    shown, taught = env.reset(), 0
    for step in range(60):
        seen, states = network.see(shown.observation, shown.mask), env.state(relative=True)
        wanted = np.arange(N) % 3 != step % 3
        lesson = np.full(shown.mask.shape, np.nan, np.float32)
        found = teacher.teach(env, seen, states, wanted, lesson)
        phase = pieces(shown.observation, observation_layout(rules[0]))["phase"]
        held = pieces(states, state_layout(rules[0]))["hand"].sum(axis=(1, 2))
        playing = phase[:, PHASE_NAMES.index("play")] == 1
        np.testing.assert_array_equal(found, wanted & playing & (held <= 18))
        assert np.isnan(lesson[~found]).all()
        back = original_columns(lesson, seen.order, rules[0])
        for game in np.flatnonzero(found):
            (values,) = card_values(env.snapshot()["states"][[game]], rules[game])
            legal = np.flatnonzero(shown.mask[game])
            assert back[game, legal].tolist() == (values[legal] / (env.teams - 1)).tolist()
            assert back[game].sum() == pytest.approx(back[game, legal].sum()), "0 where a card is not legal"
        taught += int(found.sum())
        shown = env.step(agent.act_batch(shown.observation, shown.mask))
    assert taught > 200


@GAMES
def test_trainer__lessons_are_the_learners_and_end_when_they_are_to(preset: str, tmp_path: Path) -> None:
    config = tiny(tmp_path, rules=preset, total_decisions=4096, teacher=0.8, teacher_until=0.5)
    trainer = Trainer(config)
    weights, taught = [], []
    for _ in range(8):
        weights.append(trainer.settings().teacher)
        found = trainer.iterate(DealCounts(preset, trainer.free))
        assert found["schedule/teacher"] == weights[-1]
        taught.append(trainer.rollout.taught.any())
    assert weights == pytest.approx([0.8, 0.8, 0.8, 0.4, 0, 0, 0, 0])
    # In schmier a deal comes to its last 24 cards in the third update.
    assert taught[3]
    assert not any(taught[4:])


def test_trainer__of_a_target_is_taught_its_own_decisions_alone(tmp_path: Path) -> None:
    first = Trainer(tiny(tmp_path))
    first.iterate(DealCounts("four_point", first.free))
    first.save(tmp_path)
    trainer = Trainer(tiny(tmp_path / "other", target=str(tmp_path), teacher=1.0))
    trainer.iterate(DealCounts("four_point", trainer.free))
    rollout = trainer.rollout
    turns = np.take_along_axis(trainer.seats, rollout.seat.T, axis=1).T
    np.testing.assert_array_equal(rollout.learns, turns == LEARNER)
    assert rollout.taught.any()
    assert not rollout.taught[~rollout.learns].any()
