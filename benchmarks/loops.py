"""Loops that contestants share: timing, choosing a legal action, and PettingZoo's way to play."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.contestants import Measure


def repeated(play: Callable[[], int]) -> Measure:
    """Decisions per second of wall time, `play` making some and counting them, for about the seconds asked for."""

    def measure(seconds: float) -> tuple[float]:
        decisions = 0
        began = now = time.perf_counter()
        while now - began < seconds or not decisions:
            decisions += play()
            now = time.perf_counter()
        return (decisions / (now - began),)

    return measure


def uniform_choice(mask: npt.NDArray[np.int8], generator: np.random.Generator) -> npt.NDArray[np.int64]:
    """A legal action of each row, all equally likely: [N, n] int8 to [N] int64; every row has one, none over 127.

    The quickest of nine ways tried: all legal entries in a row, and a random place in each row's part of them.
    """
    legal = np.flatnonzero(mask.view(np.bool_))
    counts = np.einsum("ij->i", mask).astype(np.int64)
    ends = np.cumsum(counts)
    chosen = legal[ends - 1 - (generator.random(len(mask)) * counts).astype(np.int64)]
    return chosen - np.arange(0, mask.size, mask.shape[1])


def aec_games(env: Any) -> Measure:
    """Random play of a PettingZoo AEC environment by the loop of its documentation."""
    choices = random.Random(0)
    env.reset(seed=0)  # later resets are unseeded, as in training

    def play() -> int:
        decisions = 0
        env.reset()
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            env.step(int(choices.choice(np.flatnonzero(observation["action_mask"]))))
            decisions += 1
        return decisions

    return repeated(play)
