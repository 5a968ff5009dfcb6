"""The engine without compiling, as coverage and debugging run it."""

from __future__ import annotations

from tests.uncompiled import assert_same_uncompiled

PLAYED = """
import numpy as np
from smear_env.vector import SelfPlayVectorEnv
for game in ("four_point", "schmier"):
    env = SelfPlayVectorEnv(2, game, seed=3, episode="deal", reward="points", skip_forced=True)
    shown = env.reset()
    total = shown.observation.astype(int).sum()
    deals = 0
    while deals < 3:
        shown = env.step((shown.mask * np.arange(1, shown.mask.shape[1] + 1)).argmax(axis=1))
        total += shown.observation.astype(int).sum() + env.state().astype(int).sum() + 100 * shown.reward[:, 0].sum()
        deals += shown.terminated.sum()
    print(game, total)
"""


def test_engine__runs_uncompiled_with_the_same_results() -> None:
    assert_same_uncompiled(PLAYED)


PLAYERS = """
import sys
import smear_env
for name in ("greedy", "expert", "pimc-1", "ismcts-3", "clairvoyant"):
    games = smear_env.SelfPlayVectorEnv(2, "mini", seed=2, episode="deal")
    agent = smear_env.make_agent(name)
    agent.reset(games.rules, -1, 0)
    shown = games.reset()
    for _ in range(8):
        if name == "clairvoyant":
            actions = agent.act_batch_seeing(shown.observation, shown.mask, games.state(relative=True))
        else:
            actions = agent.act_batch(shown.observation, shown.mask)
        print(name, *actions)
        shown = games.step(actions)
"""


def test_players_and_solver__run_uncompiled_with_the_same_results() -> None:
    assert_same_uncompiled(PLAYERS)
