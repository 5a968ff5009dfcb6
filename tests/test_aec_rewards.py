"""What each seat is paid: match, points and callable, the end of an episode, and truncation."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pytest

from smear_env.aec import env as make_env
from smear_env.aec import raw_env
from smear_env.rewards import call_reward
from smear_env.rules import Rules, make_rules
from tests.aec_helpers import (
    each_game,
    every_game,
    in_play,
    near_target,
    play_out,
    random_action,
    started,
)


@every_game
def test_match_reward__sums_over_last_to_the_result(rules: Rules) -> None:
    finished = 0
    for seed in range(8):
        env = started(rules, seed, near_target(rules), max_deals=5)
        total = play_out(env, Random(seed))
        if env.winner is None:
            assert set(total.values()) == {0.0}
            continue
        finished += 1
        share = -1 / (rules.teams - 1)
        for seat, agent in enumerate(env.possible_agents):
            assert total[agent] == (1.0 if seat % rules.teams == env.winner else share)
    assert finished > 0


@every_game
def test_points_reward__telescopes_to_the_change_of_scores(rules: Rules) -> None:
    for seed in range(5):
        start = [-seed * team for team in range(rules.teams)]
        env = started(rules, seed, {"scores": start}, reward="points", max_deals=5)
        total = play_out(env, Random(seed))
        change = [after - before for before, after in zip(start, env.scores, strict=True)]
        for seat, agent in enumerate(env.possible_agents):
            own = change[seat % rules.teams]
            assert total[agent] == pytest.approx(own - (sum(change) - own) / (rules.teams - 1))


@each_game
def test_points_reward__paid_to_every_seat_at_the_deciding_card(rules: Rules) -> None:
    rng = Random(1)
    env = started(rules, 1, reward="points", max_deals=8)
    scored = 0
    while in_play(env):
        before = env.scores
        env.step(random_action(env, rng))
        change = [after - b for after, b in zip(env.scores, before, strict=True)]
        for seat, agent in enumerate(env.possible_agents):
            own = change[seat % rules.teams]
            assert env.rewards[agent] == own - (sum(change) - own) / (rules.teams - 1)
        scored += any(change)
    assert scored > 0


@each_game
def test_rewards__agree_with_last_at_the_end(rules: Rules) -> None:
    for seed in range(20):
        env, rng = started(rules, seed, near_target(rules), max_deals=3), Random(seed)
        while in_play(env):
            env.step(random_action(env, rng))
        at_end = dict(env.rewards)
        paid = {}
        while env.agents:
            agent = env.agent_selection
            paid[agent] = env.last(observe=False)[1]
            env.step(None)
        assert paid == at_end


@each_game
def test_callable_reward__gets_scores_before_and_after_and_the_dealer(rules: Rules) -> None:
    calls = []

    def reward(before, after, dealer):
        calls.append((before.tolist(), after.tolist(), dealer))
        return [float(team + 1) for team in range(rules.teams)]

    env, rng = started(rules, 3, {"dealer": 1}, reward=reward, max_deals=6), Random(3)
    total = play_out(env, rng)
    assert len(calls) == 6
    assert calls[0][0] == [0] * rules.teams
    assert calls[0][2] == 1
    assert all(earlier[1] == later[0] for earlier, later in pairwise(calls))
    assert calls[-1][1] == env.scores
    for seat, agent in enumerate(env.possible_agents):
        assert total[agent] == 6 * (seat % rules.teams + 1)


def test_callable_reward__one_value_for_each_team_or_an_error() -> None:
    env = started(make_rules("schmier"), 3, reward=lambda before, after, dealer: [1.0, 2.0], max_deals=1)
    with pytest.raises(ValueError, match="3 teams"):
        play_out(env, Random(3))


@each_game
def test_truncation__every_seat_at_max_deals_without_reward(rules: Rules) -> None:
    env, rng = started(rules, 2, max_deals=2), Random(2)
    while in_play(env):
        env.step(random_action(env, rng))
    assert all(env.truncations.values())
    assert not any(env.terminations.values())
    assert set(env.rewards.values()) == {0.0}
    assert env.winner is None
    assert play_out(env, rng) == dict.fromkeys(env.possible_agents, 0.0)


@each_game
def test_deal_episode__ends_after_one_scored_deal(rules: Rules) -> None:
    for seed in range(5):
        env = started(rules, seed, {"scores": [3] * rules.teams}, episode="deal", reward="points")
        total = play_out(env, Random(seed))
        result = env.deal_result()
        if "redeal" in result:
            assert set(total.values()) == {0.0}
        else:
            assert env.scores == result["scores"]
            assert sum(total.values()) == pytest.approx(0)


@each_game
def test_deal_episode__passed_out_terminates_with_no_reward(rules: Rules) -> None:
    env = started(make_rules(rules, all_pass="same_dealer"), 0, episode="deal", reward="points")
    for _ in range(rules.players):
        assert in_play(env)
        env.step(env.action_names.index("pass"))
    assert all(env.terminations.values())
    assert set(env.rewards.values()) == {0.0}
    assert env.deal_result()["redeal"] is True


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("episode", "game"),
        ("reward", "score"),
        ("max_deals", 0),
        ("illegal", "ignore"),
        ("render_mode", "html"),
        ("rules", "bridge"),
    ],
)
def test_arguments__a_bad_one_is_named(argument: str, value: object) -> None:
    with pytest.raises(ValueError, match=argument):
        make_env(**{argument: value})


def test_callable_reward__that_raises_leaves_the_episode_ended_and_not_broken() -> None:
    def fails(before: object, after: object, dealer: int) -> list[float]:
        raise KeyError("no reward")

    aec = raw_env("four_point", episode="deal", reward=fails)
    aec.reset(seed=3)
    with pytest.raises(KeyError):  # noqa: PT012  the deal's last action raises
        while True:
            aec.step(int(np.argmax(aec.observe(aec.agent_selection)["action_mask"])))
    assert all(aec.terminations.values())
    aec.step(None)


@pytest.mark.parametrize("paid", [[float("nan"), 0.0], ["a", "b"], [1.0]])
def test_callable_reward__must_pay_each_team_a_finite_number(paid: list[object]) -> None:
    with pytest.raises(ValueError, match="one finite value"):
        call_reward(lambda *_: paid, [0, 0], [1, 0], 0, 2)  # type: ignore[arg-type,return-value]
