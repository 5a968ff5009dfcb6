"""The single-file PPO: its advantages against a plain loop over each seat's turns, and what it learns."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("tyro")

import torch

import smear_env
from smear_env.interop.ordered import OrderedView
from tests.integrations.helpers import BOTH, ROOT, Record, beats_passer, example, run_snippet

pytestmark = pytest.mark.integration


def test_training__beats_passer(tmp_path: Path, record_property: Record) -> None:
    """In `schmier` so few decisions teach self-play to pass, and no more: docs/log.md, s1 to s5."""
    module = example("cleanrl_ppo")
    folder = module.train(module.Args(total_decisions=100_000, out=tmp_path))
    beats_passer(record_property, "single-file PPO, self-play", smear_env.load_policy(folder), "four_point")


@pytest.mark.parametrize("rules", ["four_point", "schmier", "mini"])
def test_advantages__are_those_of_each_seats_own_turns(rules: str) -> None:
    module = example("cleanrl_ppo")
    args = module.Args(rules=rules, games=6, steps=60, hidden=8)
    env = module.make_games(args)
    view = OrderedView(env.rules)
    torch.manual_seed(1)
    agent = module.Agent(len(view.scale), env.num_actions, args.hidden)
    batch, shown = module.play(agent, env, env.reset(), args.steps, view)
    value_now = np.random.default_rng(1).normal(size=6).astype(np.float32)
    found, learn = module.advantages(batch, shown.seat, value_now, env.rules.players, 0.9)
    assert batch.ended.any()
    for game in range(6):
        for seat in range(env.rules.players):
            expected = by_turns(batch, game, seat, shown.seat[game] == seat, value_now[game])
            mine = np.flatnonzero(batch.seat[:, game] == seat)
            assert learn[mine, game].tolist() == [t in expected for t in mine]
            for t, value in expected.items():
                assert found[t, game] == pytest.approx(value, abs=1e-4)


def by_turns(batch: Any, game: int, seat: int, to_act: bool, value_now: float) -> dict[int, float]:
    """Advantages at lambda 0.9 of one seat in one game, deal by deal, of the turns whose successor is known."""
    ends = [-1, *np.flatnonzero(batch.ended[:, game]), len(batch.seat) - 1]
    team, result = seat % batch.reward.shape[2], {}
    for before, last in pairwise(ends):
        turns = [t for t in range(before + 1, last + 1) if batch.seat[t, game] == seat]
        complete = last >= 0 and bool(batch.ended[last, game])
        following = 0.0
        for index in reversed(range(len(turns))):
            t = turns[index]
            until = turns[index + 1] if index + 1 < len(turns) else last + 1
            if index + 1 < len(turns):
                ahead = float(batch.value[until, game])
            elif complete:
                ahead = 0.0
            elif to_act:
                ahead = float(value_now)
            else:
                following = 0.0
                continue
            paid = float(batch.reward[t:until, game, team].sum())
            following = paid + ahead - float(batch.value[t, game]) + 0.9 * following
            result[t] = following
    return result


def test_ratio__is_one_before_the_first_step() -> None:
    """The mask is the same in the update as in play."""
    module = example("cleanrl_ppo")
    env = module.make_games(module.Args(games=32))
    view = OrderedView(env.rules)
    agent = module.Agent(len(view.scale), env.num_actions, 16)
    batch, _ = module.play(agent, env, env.reset(), 20, view)
    with torch.no_grad():
        again = agent.policy(batch.observation, batch.mask).log_prob(batch.action)
    torch.testing.assert_close(again, batch.log_prob)
    assert batch.mask.gather(-1, batch.action[..., None]).all()


def test_checkpoint__has_the_networks_probabilities(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = example("cleanrl_ppo")
    made: list[Any] = []
    make = module.Agent

    def kept(*given: int) -> Any:
        made.append(make(*given))
        return made[-1]

    monkeypatch.setattr(module, "Agent", kept)
    folder = module.train(module.Args(rules="schmier", games=16, steps=16, total_decisions=512, out=tmp_path))
    policy, view = smear_env.load_policy(folder), smear_env.SelfPlayVectorEnv(32, "schmier", seed=5).reset()
    policy.reset(smear_env.SCHMIER, -1, 1)
    seen = OrderedView(smear_env.SCHMIER).see(view.observation, view.mask)
    with torch.no_grad():
        in_order = made[0].policy(torch.from_numpy(seen.inputs), torch.from_numpy(seen.mask)).probs.numpy()
    theirs = smear_env.original_columns(in_order, seen.order, smear_env.SCHMIER)
    np.testing.assert_allclose(policy.probabilities(view.observation, view.mask), theirs, atol=1e-5)


def test_file__is_short_enough_to_read() -> None:
    assert len((ROOT / "examples" / "cleanrl_ppo.py").read_text(encoding="utf-8").splitlines()) < 300


@BOTH
def test_snippet__runs(rules: str) -> None:
    assert run_snippet("cleanrl", rules)["shown"].mask.any(axis=1).all()
