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
    """A legal action of each row, all equally likely: [N, n] int8, n at most 64, to [N] int64; every row has one.

    Each row becomes a word, whose lowest bits are dropped until the chosen one is the lowest. Ways that go through the
    entries mispredict at every row, since no two are alike.
    """
    packed = np.packbits(mask.view(np.bool_), axis=1, bitorder="little")
    words = np.zeros((len(mask), 8), np.uint8)
    words[:, : packed.shape[1]] = packed
    legal = words.view(np.uint64)[:, 0]
    skipped = (generator.random(len(mask)) * np.bitwise_count(legal)).astype(np.int8)
    one = np.uint64(1)
    for dropped in range(int(skipped.max())):
        legal = np.where(skipped > dropped, legal & (legal - one), legal)
    return np.bitwise_count((legal & (~legal + one)) - one).astype(np.int64)


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
