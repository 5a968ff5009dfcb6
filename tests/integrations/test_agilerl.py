"""AgileRL's PPO on the Gymnasium vector environment: its masks in collecting and in learning, and its play."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("agilerl")

import torch
from agilerl.rollouts import collect_rollouts

import smear_env
from tests.integrations.helpers import Record, beats_passer, example, run_snippet

pytestmark = pytest.mark.integration
BOTH = pytest.mark.parametrize("rules", ["four_point", "schmier"])


@BOTH
def test_learning__sees_each_decisions_own_mask(rules: str) -> None:
    """The probability of what was done is the same in learning as in collecting, as long as nothing is learnt."""
    module, game = example("agilerl_ppo"), smear_env.make_rules(rules)
    torch.manual_seed(1)
    learner = module.learner_of(game)
    games = module.OrderedGames(game, "greedy")
    games.reset(seed=1)
    collect_rollouts(learner, games, 32)
    kept = learner.rollout_buffer.get_tensor_batch(device="cpu")
    masks = kept["action_masks"].reshape(-1, len(game.action_names))
    assert len(torch.unique(masks, dim=0)) > 20
    chances, _, _ = learner.evaluate_actions(
        kept["observations"], kept["actions"].squeeze(-1), action_mask=kept["action_masks"]
    )
    assert torch.allclose(chances, kept["log_probs"].reshape(-1), atol=1e-5)
    without, _, _ = learner.evaluate_actions(kept["observations"], kept["actions"].squeeze(-1))
    assert (without - chances).abs().mean() > 1


def test_ppo__beats_passer(record_property: Record) -> None:
    rules = smear_env.make_rules("four_point")
    agent = example("agilerl_ppo").train(rules, steps=80_000)
    beats_passer(record_property, "PPO among passers, 64 games at once", agent, rules)


def test_ppo__learns_schmier_as_well() -> None:
    game = smear_env.make_rules("schmier")
    agent = example("agilerl_ppo").train(game, steps=4096)
    agent.reset(game, -1, 0)
    shown = smear_env.SelfPlayVectorEnv(32, game, seed=1).reset()
    actions = agent.act_batch(shown.observation, shown.mask)
    assert shown.mask[np.arange(32), actions].all()


def test_snippet__runs() -> None:
    assert np.isfinite(run_snippet("agilerl")["loss"])
