"""One seat as a Gymnasium environment: the API, rewards, opponents and seeds, single and vector."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from smear_env.agents import make_agent
from smear_env.agents.greedy import GreedyAgent
from smear_env.agents.simple import PasserAgent, RandomAgent
from smear_env.errors import IllegalActionError
from smear_env.rules import PRESETS, make_rules
from smear_env.single import ENV_ID, SmearSingleEnv, SmearSingleVectorEnv, register
from smear_env.vector import SelfPlayVectorEnv

register()

GAMES = ("four_point", "schmier")
games = pytest.mark.parametrize("game", GAMES)
every_game = pytest.mark.parametrize("game", [name for name in PRESETS if name != "mini"])


class Recorder(GreedyAgent):
    """Greedy that keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.seeds: list[int] = []
        self.batches: list[int] = []

    def reset(self, rules: Any, seat: int, seed: int) -> None:
        super().reset(rules, seat, seed)
        self.seeds.append(seed)

    def act_batch(self, observations: Any, masks: Any) -> Any:
        self.batches.append(len(observations))
        return super().act_batch(observations, masks)


def pick(observation: Any, mask: Any) -> int:
    """A legal action that depends on what is seen alone."""
    legal = np.flatnonzero(mask)
    return int(legal[int(observation.astype(np.int64).sum()) % len(legal)])


def episode(env: SmearSingleEnv, seed: int | None = None) -> tuple[list[Any], float]:
    """Observations and total reward of one episode."""
    observation, info = env.reset(seed=seed)
    seen, total, ended = [(observation.tobytes(), info["seat"])], 0.0, False
    while not ended:
        observation, reward, terminated, truncated, info = env.step(pick(observation, info["action_mask"]))
        seen.append((observation.tobytes(), reward, info["action_mask"].tobytes()))
        total += reward
        ended = terminated or truncated
    return seen, total


@every_game
@pytest.mark.parametrize(
    "options", [{}, {"episode": "deal", "reward": "points"}, {"seat": 1, "opponents": "random"}]
)
def test_single__passes_the_checker_without_warnings(game: str, options: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for render_mode in (None, "ansi", "rgb_array"):
            env = gymnasium.make(ENV_ID, rules=game, render_mode=render_mode, **options)
            check_env(env.unwrapped, skip_render_check=False)


@games
def test_make__by_module_and_name(game: str) -> None:
    env = gymnasium.make("smear_env.single:" + ENV_ID, rules=game, opponents="passer")
    observation, info = env.reset(seed=1)
    assert observation.dtype == np.int8
    assert observation in env.observation_space
    mask = info["action_mask"]
    assert (mask.dtype, mask.shape) == (np.int8, (env.action_space.n,))
    assert (env.unwrapped.action_masks() == mask).all()


@games
def test_make_vec__same_step(game: str) -> None:
    env = gymnasium.make_vec(ENV_ID, num_envs=8, rules=game, episode="deal", reward="points")
    if hasattr(gymnasium.vector, "AutoresetMode"):  # from 1.1 on
        assert env.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.SAME_STEP
    observations, infos = env.reset(seed=1)
    assert observations in env.observation_space
    ends = 0
    for _ in range(40):
        assert (infos["action_mask"] == env.unwrapped.action_masks()).all()
        assert infos["action_mask"].any(axis=1).all()
        actions = [pick(*row) for row in zip(observations, infos["action_mask"], strict=True)]
        observations, rewards, terminated, truncated, infos = env.step(np.array(actions))
        assert rewards.shape == (8,)
        ended = terminated | truncated
        assert ("final_obs" in infos) == ended.any()
        for i in np.flatnonzero(ended):
            assert infos["_final_obs"][i]
            assert infos["final_obs"][i].shape == observations[i].shape
            assert not infos["final_info"]["action_mask"][i].any()
        ends += int(ended.sum())
    assert ends > 8


@games
@pytest.mark.parametrize("name", ["match", "deal"])
def test_reward__adds_up_to_the_learners_result(game: str, name: Any) -> None:
    """The same games with every seat played from outside have the same results for the learner's seat."""
    rules = make_rules(game)
    env = SmearSingleEnv(rules, opponents="greedy", episode=name, reward="points", max_deals=4)
    learner = make_agent("passer")
    learner.reset(rules, -1, 0)
    table = SelfPlayVectorEnv(1, rules, seed=5, episode=name, reward="points", max_deals=4)
    greedy = make_agent("greedy")
    greedy.reset(rules, -1, 0)
    shown = table.reset()
    paid = 0
    for number in range(12):
        observation, info = env.reset(seed=5 if number == 0 else None)
        seat, total, ended = info["seat"], 0.0, False
        while not ended:
            action = learner.act(observation, info["action_mask"])
            observation, reward, terminated, truncated, info = env.step(action)
            total += reward
            ended = terminated or truncated
        assert terminated or name == "match"
        assert info["seat"] == seat
        expected, over = 0.0, False
        table.set_viewers(seat)
        while not over:
            agent = learner if shown.seat[0] == seat else greedy
            shown = table.step(agent.act_batch(shown.observation, shown.mask))
            expected += float(shown.reward[0, seat % rules.teams])
            over = bool(shown.terminated[0] or shown.truncated[0])
        assert total == pytest.approx(expected)
        assert (observation == table.final_observation[0]).all()
        paid += expected != 0
    assert paid > 3


@games
def test_opponents__finish_the_deal(game: str) -> None:
    rules = make_rules(game)
    env = SmearSingleEnv(rules, opponents="greedy", episode="deal", render_mode="ansi")
    played = 0
    for seed in range(20):
        episode(env, seed)
        played += int(env._games.end["trick_number"]) == rules.hand_size
        assert int(env._games.end["turn"]) == -1
        assert isinstance(env.render(), str)
    assert played > 10


@games
def test_match__pays_the_winner(game: str) -> None:
    env = SmearSingleEnv(game, opponents="passer", partner="greedy", max_deals=200)
    learner = make_agent("greedy")
    learner.reset(env.rules, -1, 0)
    observation, info = env.reset(seed=2)
    rewards = []
    ended = False
    while not ended:
        observation, reward, terminated, truncated, info = env.step(
            learner.act(observation, info["action_mask"])
        )
        rewards.append(reward)
        ended = terminated or truncated
    assert terminated
    assert rewards[-1] == 1
    assert not any(rewards[:-1])


@games
@pytest.mark.parametrize("opponents", ["random", "greedy"])
def test_vector__of_one_game_equals_single(game: str, opponents: str) -> None:
    options: dict[str, Any] = {
        "opponents": opponents,
        "partner": "random",
        "episode": "deal",
        "reward": "points",
    }
    single, vector = SmearSingleEnv(game, **options), SmearSingleVectorEnv(1, game, **options)
    observations, infos = vector.reset(seed=9)
    for number in range(5):
        observation, info = single.reset(seed=9 if number == 0 else None)
        ended = False
        while not ended:
            assert (observations[0] == observation).all()
            assert (infos["action_mask"][0] == info["action_mask"]).all()
            assert infos["seat"][0] == info["seat"]
            action = pick(observation, info["action_mask"])
            observation, reward, terminated, truncated, info = single.step(action)
            observations, rewards, terminations, truncations, infos = vector.step(np.array([action]))
            assert (rewards[0], terminations[0], truncations[0]) == (reward, terminated, truncated)
            ended = terminated or truncated
        assert (infos["final_obs"][0] == observation).all()


@games
def test_vector__slot_plays_the_games_of_single(game: str) -> None:
    """With agents that draw nothing, slot `i` of N plays games i, i + N ... of the seed."""
    single = SmearSingleEnv(game, opponents="greedy", episode="deal", reward="points")
    alone = [episode(single, 4 if number == 0 else None)[1] for number in range(9)]
    vector = SmearSingleVectorEnv(3, game, opponents="greedy", episode="deal", reward="points")
    observations, infos = vector.reset(seed=4)
    totals = np.zeros(3)
    finished: list[list[float]] = [[], [], []]
    while min(map(len, finished)) < 3:
        actions = [pick(*row) for row in zip(observations, infos["action_mask"], strict=True)]
        observations, rewards, terminated, _, infos = vector.step(np.array(actions))
        totals += rewards
        for i in np.flatnonzero(terminated):
            finished[i].append(float(totals[i]))
            totals[i] = 0
    assert [finished[number % 3][number // 3] for number in range(9)] == pytest.approx(alone)


@every_game
def test_seed__repeats_everything_and_draws_seats(game: str) -> None:
    env = SmearSingleEnv(game, opponents="random", episode="deal")
    runs = [[episode(env, 6 if number == 0 else None)[0] for number in range(12)] for _ in range(2)]
    assert runs[0] == runs[1]
    seats = {seen[0][1] for seen in runs[0]}
    assert len(seats) > 2
    assert episode(env, 7)[0] != runs[0][0]


SCRIPT = """
import hashlib, numpy as np
from smear_env.single import SmearSingleVectorEnv
env = SmearSingleVectorEnv(4, "schmier", opponents="random", partner="greedy", episode="deal")
digest = hashlib.sha256()
observations, infos = env.reset(seed=3)
for _ in range(60):
    observations, rewards, *_, infos = env.step(infos["action_mask"].argmax(axis=1))
    digest.update(observations.tobytes() + rewards.tobytes() + infos["seat"].tobytes())
print(digest.hexdigest())
"""


def test_seed__equal_across_processes() -> None:
    command = [sys.executable, "-c", SCRIPT]
    outputs = {subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)}
    assert len(outputs) == 1


@games
def test_seat__fixed_or_refused(game: str) -> None:
    env = SmearSingleEnv(game, seat=1)
    assert {env.reset(seed=seed)[1]["seat"] for seed in range(8)} == {1}
    for seat in (-1, make_rules(game).players, "north", True):
        with pytest.raises(ValueError, match="seat="):
            SmearSingleEnv(game, seat=seat)  # type: ignore[arg-type]


@games
def test_agents__each_seat_has_its_own_generator(game: str) -> None:
    players = make_rules(game).players
    shared = RandomAgent()
    env = SmearSingleEnv(game, opponents=shared, partner=[shared])
    agents = list(env._games._agents.values())
    assert len({id(agent) for agent in (*agents, shared)}) == players
    made: list[Recorder] = []

    def factory() -> Recorder:
        made.append(Recorder())
        return made[-1]

    vector = SmearSingleVectorEnv(32, game, opponents=factory, partner=factory)
    assert len(made) == players - 1
    vector.reset(seed=1)
    assert len({agent.seeds[-1] for agent in made}) == players - 1
    assert max(max(agent.batches) for agent in made) > 32 // players  # many games at a time


@games
def test_agents__lists_are_taken_clockwise(game: str) -> None:
    rules = make_rules(game)
    kinds: list[Any] = [PasserAgent, "greedy", RandomAgent(), "passer"][
        : rules.players - rules.players // rules.teams
    ]
    env = SmearSingleEnv(game, opponents=kinds, partner=[RandomAgent])
    agents = env._games._agents
    theirs = [type(agents[place]) for place in range(1, rules.players) if place % rules.teams]
    assert theirs == [PasserAgent, GreedyAgent, RandomAgent, PasserAgent][: len(kinds)]
    assert isinstance(agents[rules.teams], RandomAgent)
    with pytest.raises(ValueError, match="opponents has 1 agents"):
        SmearSingleEnv(game, opponents=["greedy"])
    with pytest.raises(ValueError, match="partner has 2 agents"):
        SmearSingleEnv(game, partner=["greedy", "greedy"])
    with pytest.raises(ValueError, match="'nobody'"):
        SmearSingleEnv(game, opponents="nobody")


@games
def test_illegal_action__raises_and_changes_nothing(game: str) -> None:
    env, twin = SmearSingleEnv(game), SmearSingleEnv(game)
    observation, info = env.reset(seed=3)
    twin.reset(seed=3)
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    for action in (illegal, -1, 999, 1.5, None):
        with pytest.raises(IllegalActionError):
            env.step(action)  # type: ignore[arg-type]
    assert (env.action_masks() == info["action_mask"]).all()
    action = pick(observation, info["action_mask"])
    assert all(np.array_equal(a, b) for a, b in zip(env.step(action)[:4], twin.step(action)[:4], strict=True))
    vector = SmearSingleVectorEnv(2, game)
    vector.reset(seed=3)
    with pytest.raises(IllegalActionError, match="game 1"):
        vector.step(np.array([action, -1]))


@games
def test_step__outside_an_episode_is_refused(game: str) -> None:
    env = SmearSingleEnv(game, episode="deal")
    with pytest.raises(RuntimeError, match="reset"):
        env.step(0)
    episode(env, 1)
    assert not env.action_masks().any()
    with pytest.raises(RuntimeError, match="reset"):
        env.step(0)
    with pytest.raises(RuntimeError, match="reset"):
        SmearSingleVectorEnv(2, game).step(np.zeros(2, np.int64))


def test_arguments__bad_ones_are_named() -> None:
    for options, match in (
        ({"rules": "whist"}, "whist"),
        ({"episode": "trick"}, "episode="),
        ({"reward": "money"}, "reward="),
        ({"max_deals": 0}, "max_deals="),
        ({"render_mode": "human"}, "render_mode="),
    ):
        with pytest.raises(ValueError, match=match):
            SmearSingleEnv(**options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="num_games"):
        SmearSingleVectorEnv(0)
    with pytest.raises(ValueError, match="'deck'"):
        SmearSingleEnv().reset(options={"deck": 1})


@games
def test_observations__are_the_callers(game: str) -> None:
    env = SmearSingleEnv(game)
    observation, info = env.reset(seed=1)
    kept, kept_mask = observation.copy(), info["action_mask"].copy()
    for _ in range(10):
        env.step(int(env.action_space.sample()))
    assert (observation == kept).all()
    assert (info["action_mask"] == kept_mask).all()


@every_game
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copy__continues_alike(game: str, duplicate: Any) -> None:
    env = SmearSingleEnv(game, opponents="random")
    env.reset(seed=8)
    # Drawn from a seed: now and then a match at random is over within so many decisions.
    rng = np.random.default_rng(8)
    for _ in range(25):
        env.step(int(rng.choice(np.flatnonzero(env.action_masks()))))
        twin = duplicate(env)
    for _ in range(25):
        mask = env.action_masks()
        assert (twin.action_masks() == mask).all()
        action = int(np.flatnonzero(mask)[0])
        assert all(
            np.array_equal(a, b) for a, b in zip(env.step(action)[:4], twin.step(action)[:4], strict=True)
        )


@games
def test_sample__is_legal(game: str) -> None:
    env = SmearSingleEnv(game, opponents="passer", episode="deal")
    env.reset(seed=1)
    env.action_space.seed(1)
    for _ in range(100):
        if env.step(env.action_space.sample())[2]:
            env.reset()


def test_render__shows_only_the_learners_hand() -> None:
    env = SmearSingleEnv("four_point", seat=0, render_mode="ansi")
    observation, _ = env.reset(seed=1)
    text = env.render()
    hand = [name for name, held in zip(env.rules.card_names, observation, strict=False) if held]
    assert all(name in text for name in hand)
    picture = SmearSingleEnv("four_point", seat=0, render_mode="rgb_array")
    picture.reset(seed=1)
    assert picture.render().dtype == np.uint8
