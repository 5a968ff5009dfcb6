"""PettingZoo's own tests, without a warning but the three that any environment with a mask in its observation gets."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from pettingzoo import AECEnv
from pettingzoo.test import api_test, parallel_api_test, performance_benchmark, render_test, seed_test
from pettingzoo.utils.conversions import turn_based_aec_to_parallel
from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

import smear_env.aec
from smear_env.rules import Rules
from tests.aec_helpers import each_game

# PettingZoo spares only environments on a list of its own names from the first two; the third is said of a seat
# whose episode is over.
EXPECTED = (
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
    "Action mask numpy array is all zeros (no legal actions).",
)


@pytest.fixture(autouse=True)
def no_other_warning() -> Iterator[None]:
    EnvLogger.flush()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    assert [str(w.message) for w in caught if str(w.message) not in EXPECTED] == []
    assert EnvLogger.mqueue == []


@each_game
@pytest.mark.parametrize("episode", ["match", "deal"])
@pytest.mark.parametrize("make", ["env", "raw_env"])
def test_api__passes(rules: Rules, episode: str, make: str) -> None:
    api_test(getattr(smear_env.aec, make)(rules, episode=episode, max_deals=10), num_cycles=300)


@each_game
@pytest.mark.parametrize("reward", ["match", "points"])
def test_seed__two_environments_agree(rules: Rules, reward: str) -> None:
    seed_test(lambda: smear_env.aec.env(rules, reward=reward), num_cycles=100)


@each_game
def test_render__every_mode(rules: Rules, capsys: pytest.CaptureFixture[str]) -> None:
    def drawn(picture: np.ndarray) -> bool:
        return picture.ndim == 3 and picture.dtype == np.uint8 and picture.min() < picture.max()

    custom = {
        "rgb_array": drawn,
        "ansi": lambda text: "Seat 0" in text,
        "human": lambda result: result is None,
    }
    render_test(functools.partial(smear_env.aec.env, rules), custom_tests=custom)
    assert capsys.readouterr().out.count("Seat 0") == 5


@each_game
def test_parallel__turn_based_conversion_passes(rules: Rules) -> None:
    for episode in ("match", "deal"):
        env = turn_based_aec_to_parallel(smear_env.aec.env(rules, episode=episode, max_deals=5))
        parallel_api_test(env, num_cycles=500)


def test_benchmark__runs(capsys: pytest.CaptureFixture[str]) -> None:
    performance_benchmark(smear_env.aec.env())
    assert "turns per second" in capsys.readouterr().out


def test_env__is_the_raw_environment_with_order_enforced() -> None:
    env = smear_env.aec.env()
    assert isinstance(env, OrderEnforcingWrapper)
    assert type(env.unwrapped) is smear_env.aec.raw_env
    assert env.env is env.unwrapped
    assert isinstance(env.unwrapped, AECEnv)
    assert str(env) == env.metadata["name"] == "smear_v0"
    assert env.metadata["render_modes"] == ["human", "ansi", "rgb_array"]


def test_env__calls_before_reset_are_named() -> None:
    env = smear_env.aec.env()
    for call in (lambda: env.observe("seat_0"), env.state, lambda: env.step(0)):
        with pytest.raises(AssertionError, match="reset"):
            call()
    raw = smear_env.aec.raw_env()
    for call in (lambda: raw.observe("seat_0"), raw.state, lambda: raw.step(0), raw.deal_result):
        with pytest.raises(RuntimeError, match="reset"):
            call()


def test_env__attributes_before_reset_are_refused() -> None:
    env = smear_env.aec.env()
    for name in (
        "agents",
        "rewards",
        "terminations",
        "truncations",
        "infos",
        "agent_selection",
        "num_agents",
    ):
        with pytest.raises(AttributeError, match="before reset"):
            getattr(env, name)
    with pytest.raises(AttributeError, match="before reset"):
        env.last()
    with pytest.raises(AssertionError, match="reset"):
        env.agent_iter()


def test_agent_iter__each_round_must_step_or_reset() -> None:
    env = smear_env.aec.env(episode="deal")
    env.reset(seed=1)
    rounds = iter(env.agent_iter())
    assert next(rounds) == env.agent_selection
    env.step(int(np.argmax(env.last()[0]["action_mask"])))
    assert next(rounds) == env.agent_selection
    env.reset()
    assert next(rounds) == env.agent_selection
    with pytest.raises(AssertionError, match="step"):
        next(rounds)


@pytest.mark.parametrize("make", ["env", "raw_env"])
def test_agent_iter__ends_with_the_agents_or_after_max_iter(make: str) -> None:
    env = getattr(smear_env.aec, make)(episode="deal")
    for max_iter in (0, 3, 10_000):
        env.reset(seed=3)
        rounds = 0
        for _ in env.agent_iter(max_iter):
            observation, _, terminated, truncated, _ = env.last()
            over = terminated or truncated
            env.step(None if over else int(np.argmax(observation["action_mask"])))
            rounds += 1
        assert rounds == max_iter if max_iter < 10_000 else not env.agents
    assert list(env.agent_iter()) == []


def test_env__step_after_the_end_warns() -> None:
    env = smear_env.aec.env(episode="deal")
    env.reset(seed=3)
    for _ in env.agent_iter():
        observation, _, terminated, _, _ = env.last()
        env.step(None if terminated else int(np.argmax(observation["action_mask"])))
    env.step(None)
    assert len(EnvLogger.mqueue) == 1
    EnvLogger.flush()


@each_game
def test_spaces__same_object_each_call_and_seeded_apart(rules: Rules) -> None:
    env = smear_env.aec.env(rules)
    env.reset(seed=1)
    for agent in env.agents:
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)
        assert list(env.observation_space(agent).spaces) == ["observation", "action_mask"]
        assert env.action_space(agent).n == len(env.unwrapped.action_names) == len(rules.action_names)
    first, second = env.agents[:2]
    env.action_space(first).seed(5)
    drawn = [env.action_space(first).sample() for _ in range(20)]
    env.action_space(first).seed(5)
    env.action_space(second).seed(6)
    assert [env.action_space(first).sample() for _ in range(20)] == drawn


@each_game
def test_spaces__contain_what_is_handed_out(rules: Rules) -> None:
    env = smear_env.aec.env(rules, max_deals=3)
    env.reset(seed=2)
    assert env.agents == [f"seat_{seat}" for seat in range(rules.players)]
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        assert env.observation_space(agent).contains(observation)
        assert list(observation) == ["observation", "action_mask"]
        assert env.state_space.contains(env.state())
        over = terminated or truncated
        env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))


def test_last_step__only_none_for_a_seat_that_is_done() -> None:
    env = smear_env.aec.raw_env(episode="deal")
    env.reset(seed=3)
    while not any(env.terminations.values()):
        env.step(int(np.argmax(env.last()[0]["action_mask"])))
    with pytest.raises(ValueError, match="None"):
        env.step(0)
    for _ in range(4):
        env.step(None)
    with pytest.raises(RuntimeError, match="reset"):
        env.step(None)
