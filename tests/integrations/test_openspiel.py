"""OpenSpiel's tests, algorithms and bots on the games; tests/test_openspiel*.py compare them with ours."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyspiel")
pytest.importorskip("tree")  # which its DQN imports and it does not ask for

import pyspiel
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import exploitability, outcome_sampling_mccfr
from open_spiel.python.pytorch import dqn
from open_spiel.python.rl_agent_policy import JointRLAgentPolicy
from open_spiel.python.tests import games_sim_test

import smear_env
from smear_env.interop.openspiel import StrategyAgent, game_of
from tests.exact_games import NO_STOCK
from tests.integrations.helpers import BOTH, Record, beats_passer, example, plays_legally, run_snippet

pytestmark = pytest.mark.integration
GAMES = pytest.mark.parametrize("name", [f"smear_{preset}" for preset in smear_env.PRESETS])


@GAMES
def test_games__pass_openspiels_own_simulation(name: str) -> None:
    np.random.seed(1)  # noqa: NPY002  # OpenSpiel samples with it
    games_sim_test.GamesSimTest("sim_game").sim_game(pyspiel.load_game(name))
    pyspiel.random_sim_test(pyspiel.load_game(name), num_sims=3, serialize=True, verbose=False)


def test_cfr_by_sampling__beats_passer(record_property: Record) -> None:
    rules = smear_env.make_rules("mini")
    agent = example("openspiel_bots").train(rules, iterations=1000)
    beats_passer(record_property, "CFR by external sampling", agent, rules, pairs=200)


def test_search__beats_passer_in_the_large_game(record_property: Record) -> None:
    agent = example("openspiel_bots").searcher(50)
    # OpenSpiel draws worlds by a generator that takes no seed: enough pairs that chance does not decide.
    beats_passer(record_property, "ISMCTS, 50 simulations", agent, "four_point", pairs=120)


def test_cfr_by_outcomes__comes_nearer_to_equilibrium() -> None:
    np.random.seed(1)  # noqa: NPY002  # OpenSpiel samples with it
    game = pyspiel.load_game("smear_mini", {**NO_STOCK, "dealer": 1})
    solver = outcome_sampling_mccfr.OutcomeSamplingSolver(game)
    distance = []
    for rounds in (5, 1500):
        for _ in range(rounds):
            solver.iteration()
        distance.append(exploitability.nash_conv(game, solver.average_policy()))
    assert distance[1] < distance[0]


def test_dqn__of_openspiel_learns_in_its_own_loop_and_plays_here() -> None:
    game = game_of(smear_env.MINI)
    env = rl_environment.Environment(game)
    size, actions = env.observation_spec()["info_state"][0], env.action_spec()["num_actions"]
    agents = [dqn.DQN(seat, size, actions, [32], min_buffer_size_to_learn=100) for seat in range(2)]
    for _ in range(60):
        step = env.reset()
        while not step.last():
            step = env.step([agents[step.observations["current_player"]].step(step).action])
        for agent in agents:
            agent.step(step)
    policy = JointRLAgentPolicy(game, dict(enumerate(agents)), use_observation=False)
    plays_legally(StrategyAgent(game, policy), "mini")


def test_our_agents__win_at_openspiels_table() -> None:
    assert example("openspiel_bots").their_table(smear_env.FOUR_POINT, "expert", "passer", deals=200) > 0.5


@BOTH
def test_snippet__runs(rules: str) -> None:
    points = run_snippet("openspiel", rules)["points"]
    assert len(points) == smear_env.make_rules(rules).players
    assert sum(points) == pytest.approx(0)
