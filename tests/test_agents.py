"""Every registered agent keeps to the protocol, in every game and under every option."""

from __future__ import annotations

import random
from functools import partial
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

from smear_env.agents import ANY_SEAT, Agent, agent_names, make_agent, register_agent
from smear_env.agents.greedy import GreedyAgent
from smear_env.agents.simple import RandomAgent
from smear_env.rules import PRESETS, Rules, make_rules
from smear_env.vector import SelfPlayVectorEnv, VectorStep

GAMES = tuple(PRESETS)
DETERMINISTIC = ("expert", "expert-aggressive", "expert-cautious", "greedy", "passer")


def sampled_rules(game: str, count: int, seed: int) -> list[Rules]:
    """Rules with options drawn at random, combinations that have no meaning left out."""
    draw = random.Random(seed)
    hints = get_type_hints(Rules)
    choices: dict[str, tuple[Any, ...]] = {
        name: get_args(hint) for name, hint in hints.items() if get_args(hint)
    }
    choices |= {
        name: (False, True)
        for name, hint in hints.items()
        if hint is bool and name not in ("joker", "bowers")
    }
    choices |= {"stock_to_bidder": (0, 1, 2, 3), "exchange": (0, 1, 2, 3), "teams": (2, 3)}
    found: list[Rules] = []
    while len(found) < count:
        names = draw.sample(sorted(choices), 7)
        try:
            found.append(make_rules(game, **{name: draw.choice(choices[name]) for name in names}))
        except ValueError:
            continue
    return found


def started(name: str, rules: Rules, seed: int = 0) -> Agent:
    agent = make_agent(name)
    agent.reset(rules, ANY_SEAT, seed)
    return agent


def decisions(rules: Rules, steps: int, *, games: int = 16, seed: int = 1) -> list[VectorStep]:
    """What random play shows, step by step."""
    env = SelfPlayVectorEnv(games, rules, seed=seed, copy=True)
    agent = started("random", rules, seed)
    shown = [env.reset()]
    for _ in range(steps):
        shown.append(env.step(agent.act_batch(shown[-1].observation, shown[-1].mask)))
    return shown


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", agent_names())
def test_agent__is_legal_under_every_option(name: str, game: str) -> None:
    for seed, rules in enumerate(sampled_rules(game, 12, 5)):
        agent = started(name, rules)
        env = SelfPlayVectorEnv(8, rules, seed=seed, max_deals=4)
        shown = env.reset()
        for _ in range(120):
            shown = env.step(agent.act_batch(shown.observation, shown.mask))  # raises if illegal


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", agent_names())
def test_agent__is_legal_wherever_random_play_leads(name: str, game: str) -> None:
    for rules in sampled_rules(game, 6, 6):
        agent = started(name, rules)
        for shown in decisions(rules, 60):
            actions = agent.act_batch(shown.observation, shown.mask)
            assert actions.dtype == np.int64
            assert shown.mask[np.arange(len(actions)), actions].all()


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", DETERMINISTIC)
def test_act__equals_act_batch(name: str, game: str) -> None:
    agent = started(name, make_rules(game))
    for shown in decisions(make_rules(game), 60, games=8):
        batch = agent.act_batch(shown.observation, shown.mask)
        single = [agent.act(row, mask) for row, mask in zip(shown.observation, shown.mask, strict=True)]
        assert batch.tolist() == single


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", agent_names())
def test_probabilities__sum_to_one_over_legal_actions(name: str, game: str) -> None:
    agent = started(name, make_rules(game))
    for shown in decisions(make_rules(game), 40, games=8):
        chances = agent.probabilities(shown.observation, shown.mask)
        assert chances.dtype == np.float32
        assert chances.shape == shown.mask.shape
        assert np.allclose(chances.sum(axis=1), 1)
        assert not chances[shown.mask == 0].any()
        if name in DETERMINISTIC:
            assert (chances.argmax(axis=1) == agent.act_batch(shown.observation, shown.mask)).all()


@pytest.mark.parametrize("name", agent_names())
def test_seed__repeats_the_actions(name: str) -> None:
    rules = make_rules("schmier")
    shown = decisions(rules, 40)
    first, again, other = started(name, rules, 7), started(name, rules, 7), started(name, rules, 8)
    runs = [
        [agent.act_batch(one.observation, one.mask).tolist() for one in shown]
        for agent in (first, again, other)
    ]
    assert runs[0] == runs[1]
    assert (runs[0] == runs[2]) == (name in DETERMINISTIC)


def test_random__is_uniform_over_legal_actions() -> None:
    rules = make_rules("four_point")
    shown = decisions(rules, 0, games=1)[0]
    agent = started("random", rules)
    rows, masks = np.repeat(shown.observation, 40_000, 0), np.repeat(shown.mask, 40_000, 0)
    legal = np.flatnonzero(shown.mask[0])
    counts = np.bincount(agent.act_batch(rows, masks), minlength=masks.shape[1])
    assert np.allclose(counts[legal] / 40_000, 1 / len(legal), atol=0.01)


def test_passer__passes_whenever_it_may() -> None:
    for game in GAMES:
        rules = make_rules(game)
        agent = started("passer", rules)
        passing = rules.action_names.index("pass")
        for shown in decisions(rules, 60):
            may = shown.mask[:, passing] != 0
            assert (agent.act_batch(shown.observation, shown.mask)[may] == passing).all()


@pytest.mark.parametrize("name", agent_names())
def test_mask__empty_or_missing_is_refused(name: str) -> None:
    rules = make_rules("four_point")
    shown = decisions(rules, 3, games=4)[-1]
    agent = started(name, rules)
    empty = shown.mask.copy()
    empty[2] = 0
    for call in (agent.act_batch, agent.probabilities):
        with pytest.raises(ValueError, match="no legal action"):
            call(shown.observation, empty)
        with pytest.raises(ValueError, match="no mask"):
            call(shown.observation, None)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="shape"):
            call(shown.observation, empty[:, :-1])
        with pytest.raises(ValueError, match="shape"):
            call(shown.observation[:, :-1], shown.mask)
    with pytest.raises(ValueError, match="no legal action"):
        agent.act(shown.observation[2], empty[2])
    with pytest.raises(ValueError, match="no mask"):
        agent.act(shown.observation[2], None)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", agent_names())
def test_reset__refuses_a_seat_that_is_not_there(name: str) -> None:
    with pytest.raises(ValueError, match="seat=4"):
        make_agent(name).reset(make_rules("four_point"), 4, 0)


def test_act__before_reset_is_refused() -> None:
    with pytest.raises(RuntimeError, match="reset"):
        GreedyAgent().act(np.zeros(1, np.int8), np.ones(1, np.int8))


def test_make_agent__takes_names_instances_and_factories() -> None:
    agent = GreedyAgent()
    assert make_agent(agent) is agent
    assert isinstance(make_agent(GreedyAgent), GreedyAgent)
    assert isinstance(make_agent(partial(RandomAgent)), RandomAgent)
    assert make_agent("greedy") is not make_agent("greedy")
    for name in agent_names():
        assert isinstance(make_agent(name), Agent)


def test_make_agent__names_what_exists() -> None:
    with pytest.raises(ValueError, match="greedy, passer, random"):
        make_agent("nobody")
    with pytest.raises(TypeError, match="no agent"):
        make_agent(lambda: 3)  # type: ignore[arg-type,return-value]
    with pytest.raises(TypeError, match="no agent"):
        make_agent(3)  # type: ignore[arg-type]


def test_register_agent__refuses_a_taken_name() -> None:
    with pytest.raises(ValueError, match="greedy"):
        register_agent("greedy", RandomAgent)
