"""TorchRL's `PettingZooWrapper` on the games: whose turn it is, what is legal, what is paid; and its PPO on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torchrl")

import torch
from torchrl.envs.utils import check_env_specs

import smear_env
from tests.integrations.helpers import BOTH, Record, beats_passer, example, plays_legally, run_snippet

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested using version"),
]


@BOTH
def test_wrapper__passes_torchrls_own_check(rules: str) -> None:
    check_env_specs(example("torchrl_ppo").make_game(smear_env.make_rules(rules)))


@BOTH
def test_wrapper__masks_and_rewards_are_the_environments(rules: str) -> None:
    game = smear_env.make_rules(rules)
    torch.manual_seed(2)
    wrapped = example("torchrl_ppo").make_game(game)
    wrapped.set_seed(5)
    paid = 0.0
    for _ in range(10):
        steps = wrapped.rollout(200)
        seats = steps["agents"]
        assert (seats["mask"].sum(-1) == 1).all()
        acting = seats["mask"].nonzero()
        acts = seats["action"][*acting.T]
        assert seats["action_mask"][*acting.T][torch.arange(len(acts)), acts].all()
        assert steps["next", "done"][-1]
        rewards = steps["next", "agents", "reward"].squeeze(-1)
        assert not rewards[:-1].any()
        assert rewards[-1].sum().item() == pytest.approx(0, abs=1e-5)
        assert (rewards[-1] == rewards[-1][[seat % game.teams for seat in range(game.players)]]).all()
        paid += rewards[-1].abs().sum().item()
    assert paid > 0


def test_ppo__beats_passer(tmp_path: Path, record_property: Record) -> None:
    rules = smear_env.make_rules("mini")
    agent = smear_env.load_policy(example("torchrl_ppo").train(rules, 16_384, tmp_path))
    beats_passer(record_property, "PPO, all seats", agent, rules)


@BOTH
def test_ppo__learns_by_other_rules_as_well_and_travels(rules: str, tmp_path: Path) -> None:
    game, module = smear_env.make_rules(rules), example("torchrl_ppo")
    made: list[Any] = []
    with pytest.MonkeyPatch.context() as patched:
        networks = module.networks
        patched.setattr(module, "networks", lambda rules: made.append(networks(rules)) or made[-1])
        policy = smear_env.load_policy(module.train(game, 2048, tmp_path))
    plays_legally(policy, game)
    shown = smear_env.SelfPlayVectorEnv(32, game, seed=2).reset()
    with torch.no_grad():
        logits = made[0][0].module[0].module(torch.from_numpy(shown.observation))
    theirs = logits.masked_fill(torch.from_numpy(shown.mask) == 0, -1e9).softmax(-1)
    np.testing.assert_allclose(policy.probabilities(shown.observation, shown.mask), theirs, atol=1e-5)


@BOTH
def test_snippet__runs(rules: str) -> None:
    found = run_snippet("torchrl", rules)
    assert len(found["acted"]) == len(found["steps"]) > 0
