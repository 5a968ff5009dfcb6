"""AgileRL's PPO on the Gymnasium vector environment: its masks in collecting and in learning, and its play."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("agilerl")

import torch
from agilerl.algorithms import PPO

import smear_env
from smear_env.interop.agilerl import collect
from smear_env.interop.ordered import OrderedVectorEnv
from tests.integrations.helpers import BOTH, Record, beats_passer, example, plays_legally, run_snippet

pytestmark = pytest.mark.integration
KEPT = ("observations", "actions", "rewards", "dones", "action_masks")


def first_legal(inputs: np.ndarray, action_mask: np.ndarray) -> tuple[np.ndarray, ...]:
    """What `PPO.get_action` returns, of a player that draws nothing."""
    nothing = np.zeros(len(inputs), np.float32)
    return action_mask.argmax(axis=1), nothing, nothing, nothing


@BOTH
def test_learning__sees_each_decisions_own_mask(rules: str) -> None:
    """The probability of what was done is the same in learning as in collecting, as long as nothing is learnt."""
    module, game = example("agilerl_ppo"), smear_env.make_rules(rules)
    torch.manual_seed(1)
    games = module.make_games(game, "greedy")
    learner = module.learner_of(games)
    collect(learner, games, seed=1)
    kept = learner.rollout_buffer.get_tensor_batch(device="cpu")
    masks = kept["action_masks"].reshape(-1, len(game.action_names))
    assert len(torch.unique(masks, dim=0)) > 20
    chances, _, _ = learner.evaluate_actions(
        kept["observations"], kept["actions"].squeeze(-1), action_mask=kept["action_masks"]
    )
    assert torch.allclose(chances, kept["log_probs"].reshape(-1), atol=1e-5)
    without, _, _ = learner.evaluate_actions(kept["observations"], kept["actions"].squeeze(-1))
    assert (without - chances).abs().mean() > 1


def test_advantages__reach_back_to_the_beginning_of_a_deal_and_not_beyond() -> None:
    module, game = example("agilerl_ppo"), smear_env.make_rules("four_point")
    torch.manual_seed(1)
    games = module.make_games(game, "greedy")
    learner = module.learner_of(games)
    at = collect(learner, games, seed=1)
    kept = learner.rollout_buffer.buffer
    rewards, values, began = (kept[name].numpy() for name in ("rewards", "values", "dones"))
    ended = np.concatenate([began[1:], at.began[None]])
    after = np.concatenate([values[1:], np.zeros_like(values[:1])])
    expected, following = np.zeros_like(rewards), np.zeros(module.GAMES)
    for step in reversed(range(len(rewards))):
        going_on = ~ended[step].astype(bool)
        gained = rewards[step] + going_on * after[step] - values[step]
        following = expected[step] = gained + 0.95 * going_on * following
    # Of the deals that go on when the buffer is full, the value at its end is not among what is kept.
    finished = np.maximum.accumulate(ended[::-1].astype(bool))[::-1]
    assert finished.mean() > 0.6
    assert np.allclose(kept["advantages"].numpy()[finished], expected[finished], atol=1e-4)
    # A deal's points count for decisions before its last.
    assert (rewards != 0).sum() < np.abs(expected).astype(bool).sum() / 3
    assert at.reward_per_episode == pytest.approx(rewards.sum() / ended.sum(), abs=1e-5)


def test_collecting__goes_on_where_it_stopped() -> None:
    """Two short rollouts are one long one, as long as nothing is learnt."""
    games = OrderedVectorEnv(4, "four_point", opponents="greedy", episode="deal", reward="points")
    spaces = games.single_observation_space, games.single_action_space
    seen = {}
    for steps in (40, 80):
        learner = PPO(*spaces, num_envs=4, learn_step=steps)
        learner.get_action = first_legal
        at, rows = None, []
        for _ in range(80 // steps):
            at = collect(learner, games, at, seed=1)
            rows.append({name: learner.rollout_buffer.buffer[name].numpy().copy() for name in KEPT})
        seen[steps] = {name: np.concatenate([one[name] for one in rows]) for name in KEPT}
    assert seen[80]["dones"].sum() > 4
    for name in KEPT:
        assert np.array_equal(seen[40][name], seen[80][name]), name


def test_learner_for_another_number_of_games__is_refused() -> None:
    games = OrderedVectorEnv(4, "mini")
    learner = PPO(games.single_observation_space, games.single_action_space, num_envs=8)
    with pytest.raises(ValueError, match="num_envs=8, but env has 4 games"):
        collect(learner, games)


def test_ppo__beats_passer(record_property: Record) -> None:
    rules = smear_env.make_rules("four_point")
    agent = example("agilerl_ppo").train(rules, steps=60_000)
    beats_passer(record_property, "PPO among passers, 64 games at once", agent, rules)


def test_ppo__learns_schmier_as_well() -> None:
    game = smear_env.make_rules("schmier")
    agent = example("agilerl_ppo").train(game, steps=4096)
    plays_legally(agent, game)


@BOTH
def test_snippet__learns(rules: str, record_property: Record) -> None:
    """What has learnt nothing plays at random."""
    torch.manual_seed(1)
    agent = run_snippet("agilerl", rules)["agent"]
    beats_passer(record_property, "snippet", agent, rules, pairs=100, against="random")
