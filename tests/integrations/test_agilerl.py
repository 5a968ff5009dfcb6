"""AgileRL's PPO on the Gymnasium vector environment: its masks in collecting and in learning, and its play."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("agilerl")

import torch

import smear_env
from tests.integrations.helpers import BOTH, Record, beats_passer, example, plays_legally, run_snippet

pytestmark = pytest.mark.integration


@BOTH
def test_learning__sees_each_decisions_own_mask(rules: str) -> None:
    """The probability of what was done is the same in learning as in collecting, as long as nothing is learnt."""
    module, game = example("agilerl_ppo"), smear_env.make_rules(rules)
    torch.manual_seed(1)
    learner = module.learner_of(game)
    games = module.OrderedGames(game, "greedy")
    module.collect(learner, games, *games.reset(seed=1), np.zeros(module.GAMES, bool))
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
    learner, games = module.learner_of(game), module.OrderedGames(game, "greedy")
    at = module.collect(learner, games, *games.reset(seed=1), np.zeros(module.GAMES, bool))
    kept = learner.rollout_buffer.buffer
    rewards, values, began = (kept[name].numpy() for name in ("rewards", "values", "dones"))
    ended = np.concatenate([began[1:], at[2][None]])
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


def test_ppo__beats_passer(record_property: Record) -> None:
    rules = smear_env.make_rules("four_point")
    agent = example("agilerl_ppo").train(rules, steps=60_000)
    beats_passer(record_property, "PPO among passers, 64 games at once", agent, rules)


def test_ppo__learns_schmier_as_well() -> None:
    game = smear_env.make_rules("schmier")
    agent = example("agilerl_ppo").train(game, steps=4096)
    plays_legally(agent, game)


@BOTH
def test_snippet__runs(rules: str) -> None:
    assert run_snippet("agilerl", rules)["value"].shape == (16,)
