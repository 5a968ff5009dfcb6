"""Agents that play beside the learner in training, and rewards of the user's own there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smear_env import (
    PRESETS,
    BaseAgent,
    SelfPlayVectorEnv,
    make_agent,
    make_rules,
    order_suits,
    original_actions,
    register_agent,
    register_reward,
)
from tests.plugins import own

pytest.importorskip("torch")

import torch

from tests.training_runs import tiny
from training.config import TrainConfig
from training.metrics import DealCounts
from training.opponents import Opponent
from training.reward import training_reward
from training.trainer import Trainer

__all__ = ["own"]
GAMES = pytest.mark.parametrize("preset", ["four_point", "schmier", "six_point"])


def updated(folder: Path, updates: int, **changed: Any) -> Trainer:
    trainer = Trainer(tiny(folder, **changed))
    for _ in range(updates):
        trainer.iterate(DealCounts(trainer.config.rules, trainer.free))
    return trainer


def weights(trainer: Trainer) -> torch.Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in trainer.network.parameters()])


@GAMES
def test_opponent__chooses_what_its_agent_does_by_the_rules_of_each_game(preset: str) -> None:
    rules = [make_rules(preset, all_pass=("dealer_bids", "next_dealer")[game % 2]) for game in range(40)]
    opponent = Opponent("greedy", rules)
    env = SelfPlayVectorEnv(40, rules, seed=2, episode="deal", skip_forced=True)
    agents = [make_agent("greedy") for _ in range(2)]
    for agent, one in zip(agents, rules[:2], strict=True):
        agent.reset(one, -1, 0)
    shown = env.reset()
    for _ in range(40):
        wanted = np.zeros(40, np.int64)
        for turn, agent in enumerate(agents):
            wanted[turn::2] = agent.act_batch(shown.observation[turn::2], shown.mask[turn::2])
        seen = order_suits(shown.observation, shown.mask, env.rules)
        rows = np.arange(0, 40, 3)
        chosen = opponent.act(shown, seen, rows)
        assert seen.mask[rows, chosen].all()
        np.testing.assert_array_equal(original_actions(chosen, seen.order[rows], env.rules), wanted[rows])
        shown = env.step(wanted)


def test_trainer__opponents_play_their_share_and_nothing_is_learnt_of_it(tmp_path: Path) -> None:
    trainer = updated(tmp_path, 2, opponents=("greedy", "passer"), opponents_share=0.5, auction_by_chance=0.0)
    rollout, rules = trainer.rollout, trainer.env.rules
    theirs = np.take_along_axis(trainer.seats, rollout.seat.T, axis=1).T
    np.testing.assert_array_equal(rollout.learns, theirs == -1)
    assert 0.15 < (~rollout.learns).mean() < 0.35, "half of the games, one team of two"
    assert not rollout.advantage[~rollout.learns].any()
    bids = rollout.action >= len(rules.card_names) + 1
    assert not bids[(theirs == 1) & (rollout.mask[..., len(rules.card_names)] != 0)].any(), (
        "it passes if it may"
    )


def test_trainer__goes_on_bit_for_bit_with_an_opponent_who_draws(tmp_path: Path) -> None:
    updated(tmp_path / "player", 1).save(tmp_path / "player")
    changed = {"opponents": ("random", str(tmp_path / "player")), "opponents_share": 1.0}
    through = updated(tmp_path / "through", 4, **changed)
    first = updated(tmp_path / "stopped", 2, **changed)
    first.save(tmp_path)
    second = Trainer(first.config)
    second.resume(tmp_path)
    for _ in range(2):
        second.iterate(DealCounts("four_point", second.free))
    assert torch.equal(weights(second), weights(through))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"opponents": ("nobody",)}, "'nobody' is no registered agent"),
        ({"opponents": ("clairvoyant",)}, "'clairvoyant' sees all hands"),
        ({"rules": "schmier", "opponents": ("four_point",)}, "plays four_point"),
        (
            {"opponents": ("greedy",), "past_share": 0.5},
            "past_share=0.5 and opponents=.*choose one or the other",
        ),
        ({"opponents": ("greedy",), "target": "four_point"}, "target='four_point' and opponents="),
        ({"opponents_share": 1.5}, "opponents_share=1.5"),
        ({"reward": "match"}, "reward='match' must be 'points' or registered"),
        ({"reward": "glory"}, "reward='glory' must be one of"),
        ({"reward": "glory", "equity": "four_point"}, "reward='glory'"),
        ({"network": "deep"}, "network='deep' must be one of mlp"),
        ({"plugins": ("own_nothing",)}, "plugin 'own_nothing' cannot be imported"),
    ],
)
def test_trainer__what_does_not_go_is_refused_by_name(
    own: Any, tmp_path: Path, changed: dict[str, Any], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        Trainer(tiny(tmp_path, **changed))


def test_config__equity_and_a_reward_are_refused_together(own: Any) -> None:
    with pytest.raises(ValueError, match="equity='four_point' and reward='careful': choose one or the other"):
        TrainConfig(plugins=("own_reward",), equity="four_point", reward="careful")
    with pytest.raises(ValueError, match=r"teacher=0\.5 and reward='careful'"):
        TrainConfig(plugins=("own_reward",), teacher=0.5, reward="careful")


class Waiting(BaseAgent):
    """Makes no choice."""

    def act_batch(self, observations: Any, masks: Any) -> Any:
        return np.full(len(masks), -1)


def test_opponent__that_makes_no_choice_is_named(own: Any, tmp_path: Path) -> None:
    register_agent("waiting", Waiting)
    trainer = Trainer(tiny(tmp_path, opponents=("waiting",)))
    with pytest.raises(ValueError, match=r"agent 'waiting' chose action -1 in row 0, where \[.*\] are legal"):
        trainer.iterate(DealCounts("four_point", trainer.free))


def test_training_reward__is_what_differs_between_the_teams(own: Any) -> None:
    register_reward("all_and_own", lambda before, after, dealer: 10 + after - before + [0, 0, dealer])
    paid: Any = training_reward("all_and_own")
    np.testing.assert_allclose(paid(np.zeros(3), np.array([1, 2, 3]), 3), [-2, -1, 3])
    assert training_reward("points") == "points"


@pytest.mark.parametrize("values", [[1.0], "no", None, [[1, 2]], [float("nan"), 3.0]])
def test_training_reward__what_are_no_values_is_told_when_it_is_paid(
    own: Any, tmp_path: Path, values: Any
) -> None:
    def odd(before: Any, after: Any, dealer: int) -> Any:
        return values

    register_reward("odd", odd)
    trainer = Trainer(tiny(tmp_path, reward="odd"))
    told = rf"callable '{odd.__qualname__}' returned {values!r}, not one finite value for each of 2 teams"
    with pytest.raises(ValueError, match=re.escape(told)):
        trainer.iterate(DealCounts("four_point", trainer.free))


def test_trainer__learns_from_the_reward_it_is_given(own: Any, tmp_path: Path) -> None:
    register_reward("points_again", lambda before, after, dealer: 2 * (after - before))
    usual = updated(tmp_path / "usual", 2)
    again = updated(tmp_path / "again", 2, reward="points_again")
    # Twice the change less its mean is, of two teams, the change less the other's: what `points` pays.
    assert PRESETS["four_point"].teams == 2
    np.testing.assert_array_equal(usual.rollout.reward, again.rollout.reward)
    assert torch.equal(weights(usual), weights(again))
