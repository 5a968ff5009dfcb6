"""What this package offers, each way to play it as a measurement of decisions per second."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import gymnasium
import numpy as np

import smear_env
from benchmarks import kernels
from benchmarks.contestants import Contestant, Measure
from benchmarks.loops import aec_games, repeated, uniform_choice
from smear_env.single import ENV_ID

WHO = "smear_env"
GAMES = ("four_point", "schmier")
BATCHES = (64, 1024, 8192)
BATCH = 1024
"""Games of the kernels without Python, and of the promises about `step`."""
GYM_GAMES = 64

WHOLE_GAMES = "rules alone, whole games"
BATCH_ORDER = f"rules alone, batch {BATCH}"
OBSERVED = f"observation kernel, batch {BATCH}"
ENV, RAW_ENV = "AEC env()", "AEC raw_env()"


def step_way(games: int, threads: int) -> str:
    """Name of the rate inside `SelfPlayVectorEnv.step` alone."""
    return _batched("step", games, threads)


def contestants(threads: Sequence[int]) -> list[Contestant]:
    """Every way to play both games, the batches with each of these numbers of threads."""
    return [one for rules in GAMES for one in _of_game(rules, threads)]


def _of_game(rules: str, threads: Sequence[int]) -> list[Contestant]:
    def contestant(make: Callable[[], Measure], *ways: str, cores: int = 1) -> Contestant:
        return Contestant(WHO, rules, ways, make, "smear-env", cores)

    return [
        contestant(partial(whole_games, rules), WHOLE_GAMES),
        contestant(partial(in_turn, rules), BATCH_ORDER),
        contestant(partial(observed, rules), OBSERVED),
        *(
            contestant(
                partial(vector_steps, rules, games, count),
                step_way(games, count),
                _batched("step and choice", games, count),
                cores=count,
            )
            for games in BATCHES
            for count in threads
        ),
        contestant(partial(aec, "env", rules), ENV),
        contestant(partial(aec, "raw_env", rules), RAW_ENV),
        contestant(partial(single, rules), "Gymnasium, one learner"),
        contestant(partial(single_vector, rules), f"Gymnasium, {GYM_GAMES} learners"),
    ]


def _batched(what: str, games: int, threads: int) -> str:
    return f"{what}, batch {games}" + (f", {threads} threads" if threads > 1 else "")


def whole_games(rules: str) -> Measure:
    """The rules alone, one match after another."""
    games = kernels.new_games(1, rules, seed=1)
    return repeated(lambda: kernels.play_games(games, 100))


def in_turn(rules: str) -> Measure:
    """The rules alone, one decision of each of `BATCH` games in turn."""
    games = kernels.new_games(BATCH, rules, seed=1)
    return repeated(lambda: kernels.play_in_turn(games, 100))


def observed(rules: str) -> Measure:
    """The kernel of `step` in the same order, with observation and mask of every decision."""
    games = kernels.new_games(BATCH, rules, seed=1)
    return repeated(lambda: kernels.play_observed(games, 30))


def vector_steps(rules: str, games: int, threads: int) -> Measure:
    """`SelfPlayVectorEnv.step`: decisions per second inside it, and of the loop with the choice of actions."""
    env = smear_env.SelfPlayVectorEnv(games, rules, seed=1, threads=threads)
    generator = np.random.default_rng(0)
    view = env.reset()

    def measure(seconds: float) -> tuple[float, float]:
        nonlocal view
        decisions, inside = 0, 0.0
        began = now = time.perf_counter()
        while now - began < seconds or not decisions:
            actions = uniform_choice(view.mask, generator)
            before = time.perf_counter()
            view = env.step(actions)
            now = time.perf_counter()
            inside += now - before
            decisions += games
        return decisions / inside, decisions / (now - began)

    return measure


def aec(constructor: str, rules: str) -> Measure:
    """`env` or `raw_env` with its defaults."""
    return aec_games(getattr(smear_env, constructor)(rules=rules))


def single(rules: str) -> Measure:
    """One learning seat among random players, through `gymnasium.make`."""
    env: gymnasium.Env[Any, Any] = gymnasium.make(ENV_ID, rules=rules, partner="random", opponents="random")
    choices = random.Random(0)
    env.reset(seed=0)

    def play() -> int:
        decisions, over = 0, False
        _, info = env.reset()
        while not over:
            action = int(choices.choice(np.flatnonzero(info["action_mask"])))
            _, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
            decisions += 1
        return decisions

    return repeated(play)


def single_vector(rules: str) -> Measure:
    """The same of `GYM_GAMES` games at once, through `gymnasium.make_vec`."""
    env = gymnasium.make_vec(ENV_ID, num_envs=GYM_GAMES, rules=rules, partner="random", opponents="random")
    generator = np.random.default_rng(0)
    _, info = env.reset(seed=0)

    def play() -> int:
        nonlocal info
        *_, info = env.step(uniform_choice(info["action_mask"], generator))
        return GYM_GAMES

    return repeated(play)
