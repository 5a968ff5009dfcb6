"""TorchRL's `PettingZooWrapper` on the games: whose turn it is, what is legal, what is paid; and its PPO on it."""

from __future__ import annotations

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


def test_ppo__beats_passer(record_property: Record) -> None:
    rules = smear_env.make_rules("mini")
    agent = example("torchrl_ppo").train(rules, steps=16_384)
    beats_passer(record_property, "PPO, all seats", agent, rules)


@BOTH
def test_ppo__learns_by_other_rules_as_well(rules: str) -> None:
    game = smear_env.make_rules(rules)
    agent = example("torchrl_ppo").train(game, steps=2048)
    plays_legally(agent, game)


@BOTH
def test_snippet__runs(rules: str) -> None:
    found = run_snippet("torchrl", rules)
    assert len(found["acted"]) == len(found["steps"]) > 0
