"""Tianshou's `PettingZooEnv` on the games: whose turn it is, what is legal, whole returns; and its DQN on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("tianshou")

import torch
from tianshou.algorithm import MultiAgentOffPolicyAlgorithm
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv

import smear_env
from smear_env.interop.ordered import OrderedSuits
from smear_env.interop.tianshou import SmearTables
from smear_env.single import SmearSingleEnv
from tests.integrations.helpers import BOTH, Record, beats_passer, example, plays_legally, run_snippet

pytestmark = pytest.mark.integration


@BOTH
def test_wrapper__shows_the_seat_to_act_and_pays_every_seat(rules: str) -> None:
    game, chance = smear_env.make_rules(rules), np.random.default_rng(1)
    wrapped = example("tianshou_self_play").make_game(game)
    plain = smear_env.env(rules=game, episode="deal", reward="points")
    wrapped.seed(3)
    plain.reset(seed=3)
    shown, ended, rewards = wrapped.reset(seed=3)[0], False, None
    while not ended:
        seen = plain.observe(plain.agent_selection)
        assert shown["agent_id"] == plain.agent_selection
        assert np.array_equal(shown["obs"], seen["observation"])
        assert np.array_equal(shown["mask"], seen["action_mask"])
        action = int(chance.choice(np.flatnonzero(shown["mask"])))
        plain.step(action)
        shown, rewards, ended, _, _ = wrapped.step(action)
    assert rewards == [plain.rewards[agent] for agent in plain.possible_agents]


def test_returns__of_every_decision_are_what_the_deal_was_worth_to_its_seat() -> None:
    rules, module = smear_env.make_rules("four_point"), example("tianshou_self_play")
    game = module.make_game(rules)
    seat = module.learner_of(game, rules)
    seat.policy.set_eps_inference(1.0)  # plays at random
    everybody = MultiAgentOffPolicyAlgorithm(algorithms=[seat] * rules.players, env=game)
    buffer = VectorReplayBuffer(4000, 4)
    games = DummyVectorEnv([lambda: module.make_game(rules)] * 4)
    collector = Collector(everybody, games, buffer, exploration_noise=True)
    collector.collect(n_episode=12, reset_before_collect=True)
    indices = buffer.sample_indices(0)
    batch = buffer[indices]
    prepared = everybody._preprocess_batch(batch, buffer, indices)
    # What each deal paid, by the place of its last step.
    checked = 0
    for number, name in enumerate(game.agents):
        rows = np.flatnonzero(batch.obs.agent_id == name)
        ends = indices[rows]
        for _ in range(module.LONGEST):
            ends = buffer.next(ends)
        finished = buffer.done[ends]
        expected = buffer.rew[ends, number]
        returns = np.asarray(prepared[name].returns).reshape(-1)
        assert returns[finished] == pytest.approx(expected[finished], abs=1e-5)
        checked += int((expected[finished] != 0).sum())
    assert checked > 50


def test_dqn__beats_passer(record_property: Record) -> None:
    rules = smear_env.make_rules("mini")
    agent = example("tianshou_self_play").train(rules, steps=40_000)
    beats_passer(record_property, "DQN, all seats", agent, rules)


@BOTH
def test_dqn__learns_by_other_rules_as_well(rules: str) -> None:
    game = smear_env.make_rules(rules)
    agent = example("tianshou_self_play").train(game, steps=2048)
    plays_legally(agent, game)


@BOTH
def test_tables__show_and_pay_what_the_environment_does(rules: str) -> None:
    given: dict[str, Any] = {"opponents": "greedy", "episode": "deal", "reward": "points"}
    tables = SmearTables(1, rules, **given)
    plain = OrderedSuits(SmearSingleEnv(rules, **given))
    tables.seed([3])
    plain.reset(seed=3)
    paid = 0.0
    for _ in range(8):
        seen, _ = tables.reset()
        inputs, info = plain.reset()
        ended = False
        while not ended:
            assert np.array_equal(seen[0]["obs"], inputs)
            assert np.array_equal(seen[0]["mask"], info["action_mask"])
            action = int(info["action_mask"].argmax())
            seen, (reward,), (done,), _, _ = tables.step(np.array([action]))
            inputs, expected, ended, _, info = plain.step(action)
            assert (reward, done) == (expected, ended)
        paid += abs(reward)
    assert paid > 0


@BOTH
def test_snippet__learns(rules: str, record_property: Record) -> None:
    """What has learnt nothing plays at random."""
    torch.manual_seed(1)
    np.random.seed(1)  # noqa: NPY002  # Tianshou explores with it
    agent = run_snippet("tianshou", rules)["agent"]
    beats_passer(record_property, "snippet", agent, rules, pairs=100, against="random")
