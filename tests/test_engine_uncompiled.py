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
