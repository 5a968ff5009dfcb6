"""The AEC environment and `SelfPlayVectorEnv` play the same games: one seed, one sequence of actions, one outcome."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from smear_env.aec import SmearEnv
from smear_env.rules import Rules
from smear_env.vector import SelfPlayVectorEnv
from tests.aec_helpers import GAMES, each_game, every_game, in_play, near_target

GAMES_AT_ONCE = 3


def play_both(
    rules: Rules, steps: int, threads: int = 1, scores: list[int] | None = None, **arguments: Any
) -> int:
    """Step both with the same actions and compare all they show; returns how many episodes ended."""
    options = {} if scores is None else {"scores": scores}
    vector = SelfPlayVectorEnv(
        GAMES_AT_ONCE,
        rules,
        seed=11,
        threads=threads,
        start_scores="zero" if scores is None else scores,
        **arguments,
    )
    shown = vector.reset()
    single = [SmearEnv(rules, **arguments) for _ in range(GAMES_AT_ONCE)]
    games = list(range(GAMES_AT_ONCE))
    rng = Random(1)
    ended = 0
    for slot, env in enumerate(single):
        env.reset(seed=11, options={"game": slot, **options})
    for _ in range(steps):
        states = vector.state()
        for slot, env in enumerate(single):
            seat = int(shown.seat[slot])
            assert env.agent_selection == f"seat_{seat}"
            seen = env.observe(env.agent_selection)
            assert np.array_equal(seen["observation"], shown.observation[slot])
            assert np.array_equal(seen["action_mask"], shown.mask[slot])
            assert np.array_equal(env.state(), states[slot])
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in shown.mask])
        movers = shown.seat.copy()
        shown = vector.step(actions)
        for slot, env in enumerate(single):
            env.step(int(actions[slot]))
            paid = [env.rewards[f"seat_{team}"] for team in range(rules.teams)]
            assert paid == shown.reward[slot].tolist()
            assert all(env.terminations.values()) == shown.terminated[slot]
            assert all(env.truncations.values()) == shown.truncated[slot]
            if not in_play(env):
                ended += 1
                last = env.observe(f"seat_{movers[slot]}")["observation"]
                assert np.array_equal(last, vector.final_observation[slot])
                assert np.array_equal(env.state(), vector.final_state[slot])
                assert env.scores == vector.deals[slot].scores[: rules.teams].tolist()
                games[slot] += GAMES_AT_ONCE
                env.reset(options={"game": games[slot], **options})
    return ended


@pytest.fixture(autouse=True)
def every_thread_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few games are spread over threads too, which otherwise the calling thread steps alone."""
    monkeypatch.setattr("smear_env.vector.HEAD_START", 0)
    monkeypatch.setattr("smear_env.vector.LEAST_SHARE", 1)


@every_game
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("episode", ["match", "deal"])
def test_vector__same_games(rules: Rules, threads: int, episode: str) -> None:
    assert play_both(rules, 450, threads, episode=episode, reward="points", max_deals=3) > 0


@every_game
def test_vector__same_ends_of_matches(rules: Rules) -> None:
    assert play_both(rules, 300, scores=near_target(rules)["scores"], reward="match", max_deals=20) > 0


@each_game
def test_vector__same_callable_reward(rules: Rules) -> None:
    def reward(before, after, dealer):
        return [float(after[team] - before[team] + 10 * dealer) for team in range(rules.teams)]

    assert play_both(rules, 300, reward=reward, max_deals=2) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_vector__same_games_over_many_deals(name: str) -> None:
    assert play_both(GAMES[name], 12_000, 2, reward="points", max_deals=3) > 100
