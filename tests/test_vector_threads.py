"""SelfPlayVectorEnv on several threads, and copied or forked with them."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from smear_env.vector import HEAD_START, LEAST_SHARE, SelfPlayVectorEnv
from tests.test_vector import FULL, assert_same, choose, copied


@pytest.fixture
def every_thread_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few games are spread over threads too, which otherwise the calling thread steps alone."""
    monkeypatch.setattr("smear_env.vector.HEAD_START", 0)
    monkeypatch.setattr("smear_env.vector.LEAST_SHARE", 1)


@pytest.mark.usefixtures("every_thread_plays")
@pytest.mark.parametrize("game", FULL)
def test_threads__change_nothing(game: str) -> None:
    one, two = (SelfPlayVectorEnv(37, game, seed=8, max_deals=3, threads=threads) for threads in (1, 2))
    first, second = one.reset(), two.reset()
    assert_same(first, second)
    rng = np.random.default_rng(5)
    for _ in range(400):
        actions = choose(first.mask, rng)
        first, second = one.step(actions), two.step(actions)
        assert_same(first, second)
        assert_same((one.final_observation, one.final_state), (two.final_observation, two.final_state))
    np.testing.assert_array_equal(one.state(), two.state())


@pytest.mark.parametrize(("games", "threads"), [(HEAD_START + 2 * LEAST_SHARE, 2), (2100, 3), (4611, 8)])
def test_threads__step_every_game_once(games: int, threads: int) -> None:
    one, many = (SelfPlayVectorEnv(games, "four_point", seed=8, threads=t) for t in (1, threads))
    first, second = one.reset(), many.reset()
    rng = np.random.default_rng(5)
    for _ in range(12):
        assert_same(first, second)
        actions = choose(first.mask, rng)
        first, second = one.step(actions), many.step(actions)
    np.testing.assert_array_equal(one.state(), many.state())


@pytest.mark.usefixtures("every_thread_plays")
def test_threads__more_than_games() -> None:
    env = SelfPlayVectorEnv(2, seed=8, threads=4)
    shown = env.reset()
    for _ in range(20):
        shown = env.step(choose(shown.mask, np.random.default_rng(0)))


# ---------------------------------------------------------------- copies and forks


@pytest.mark.usefixtures("every_thread_plays")
@pytest.mark.parametrize("game", FULL)
def test_copies__of_an_env_with_threads_go_on_alike(game: str) -> None:
    env = SelfPlayVectorEnv(8, game, seed=2, threads=2)
    shown = env.reset()
    rng = np.random.default_rng(0)
    for _ in range(10):
        shown = env.step(choose(shown.mask, rng))
    actions = choose(shown.mask, rng)
    others = [pickle.loads(pickle.dumps(env)), copy.deepcopy(env)]
    expected = copied(env.step(actions))
    for other in others:
        assert_same(copied(other.step(actions)), expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
def test_threads__work_in_a_forked_process() -> None:
    program = """
import os, sys
from smear_env import SelfPlayVectorEnv, vector
vector.HEAD_START, vector.LEAST_SHARE = 0, 1
env = SelfPlayVectorEnv(4, seed=1, threads=2)
shown = env.reset()
child = os.fork()
env.step(shown.mask.argmax(axis=1))
if not child:
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], timeout=240, check=False)
    assert done.returncode == 0
