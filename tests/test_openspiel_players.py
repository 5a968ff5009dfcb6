"""Players of either side on the other in OpenSpiel, and the states that are drawn to fit what a seat sees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyspiel")
pytest.importorskip("scipy")

import pyspiel
from open_spiel.python import policy as policies
from open_spiel.python.algorithms import cfr, exploitability
from open_spiel.python.algorithms.evaluate_bots import evaluate_bots
from open_spiel.python.algorithms.ismcts import ISMCTSBot
from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator
from open_spiel.python.bots.uniform_random import UniformRandomBot

from smear_env import make_agent
from smear_env.interop.openspiel import AgentBot, AgentPolicy, BotAgent, StrategyAgent, game_of
from smear_env.interop.openspiel.game import state_showing
from smear_env.rules import FOUR_POINT, MINI, SCHMIER
from tests.exact_games import NO_STOCK, tree_of
from training.evaluate import compare, summarize
from training.exact import exploitability as our_exploitability
from training.exact import of_agent

GAMES = pytest.mark.parametrize("rules", [MINI, FOUR_POINT, SCHMIER], ids=lambda rules: rules.name)


def deal(game: Any, generator: np.random.RandomState, names: tuple[str, ...] = ()) -> Any:
    """A state with its cards dealt: those named first, the others at random."""
    state = game.new_initial_state()
    for name in names:
        state.apply_action(game.rules.action_names.index(name))
    while state.is_chance_node():
        events, chances = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(generator.choice(events, p=chances))
    return state


def load(options: dict[str, Any], dealer: int = 1) -> Any:
    return pyspiel.load_game("smear_mini", {**options, "dealer": dealer})


@GAMES
def test_drawn_state__looks_the_same_to_the_seat_to_act_and_deals_the_others_anew(rules: Any) -> None:
    game, generator, different = game_of(rules), np.random.RandomState(4), 0
    state = deal(game, generator)
    while not state.is_terminal():
        seat = state.current_player()
        again = state.resample_from_infostate(seat, generator.random_sample)
        assert again.current_player() == seat
        assert again.information_state_string(seat) == state.information_state_string(seat)
        assert again.information_state_tensor(seat) == state.information_state_tensor(seat)
        assert again.legal_actions() == state.legal_actions()
        other = (seat + 1) % game.num_players()
        different += again.information_state_string(other) != state.information_state_string(other)
        state.apply_action(generator.choice(state.legal_actions()))
    assert different


def test_drawn_state__depends_on_the_observation_alone_and_has_the_given_dealer() -> None:
    game, generator = load({}), np.random.RandomState(0)
    states = [
        deal(game, generator, ("7C", "JC", *others)) for others in (("TC", "AC", "7S"), ("TS", "JS", "AS"))
    ]
    assert str(states[0]) != str(states[1])
    drawn = [str(state_showing(game, state.view(0)[0], seed=5)) for state in states]
    assert drawn[0] == drawn[1]
    assert drawn[0].startswith("dealer 1, 7C JC | ")
    states[0].apply_action(MINI.action_names.index("pass"))
    assert state_showing(game, states[0].view(1)[0], seed=5).current_player() == 1


def test_drawn_state__of_a_seat_that_is_not_to_act_is_refused() -> None:
    state = deal(game_of(FOUR_POINT, dealer=3), np.random.RandomState(0))
    with pytest.raises(ValueError, match="not to act"):
        state.resample_from_infostate(1, lambda: 0.5)


def test_agent_bot__plays_as_the_agent_does_and_states_its_probabilities() -> None:
    game = game_of(FOUR_POINT)
    bots = [AgentBot(game, seat, make_agent("expert")) for seat in range(4)]
    policy = AgentPolicy(game, make_agent("expert"))
    state = deal(game, np.random.RandomState(2))
    while not state.is_terminal():
        chances, action = bots[state.current_player()].step_with_policy(state)
        assert dict(chances) == policy.action_probabilities(state)
        assert dict(chances)[action] == 1
        state.apply_action(action)
    assert all(bot.provides_policy() and bot.player_id() == seat for seat, bot in enumerate(bots))


def test_agent_bot__wins_openspiels_evaluation_against_its_random_bots() -> None:
    game, generator = game_of(FOUR_POINT), np.random.RandomState(3)
    bots = [
        UniformRandomBot(seat, generator) if seat % 2 else AgentBot(game, seat, make_agent("expert"))
        for seat in range(4)
    ]
    gained = [evaluate_bots(game.new_initial_state(), bots, generator)[0] for _ in range(60)]
    assert np.mean(gained) > 1


def test_bot_agent__openspiels_random_bot_plays_as_our_random_agent_does() -> None:
    agent = BotAgent(lambda game, player, seed: UniformRandomBot(player, np.random.RandomState(seed)))
    result = summarize(compare(agent, make_agent("random"), MINI, 150, 1), 1)
    low, high = result["interval"]
    assert low < 0 < high


def test_bot_agent__openspiels_search_finds_the_card_that_wins() -> None:
    def search(game: Any, player: int, seed: int) -> Any:
        return ISMCTSBot(game, RandomRolloutEvaluator(1), 4.0, 60, random_state=np.random.RandomState(seed))

    game = load({"stock_to_bidder": 0})
    names = game.rules.action_names
    # Seat 0 has bid with ace and seven of clubs: leading a card shows trump, and the ace in it is High and the trick.
    state = deal(game, np.random.RandomState(1), ("AC", "7S", "TC", "JS"))
    for name in ("2", "pass"):
        state.apply_action(names.index(name))
    agent = BotAgent(search)
    agent.reset(game.rules, -1, 1)
    assert names[agent.act(*state.view(0))] == "AC"


def test_strategy_agent__is_the_policy() -> None:
    game, tree = load(NO_STOCK), tree_of(**NO_STOCK)
    solver = cfr.CFRPlusSolver(game)
    for _ in range(3):
        solver.evaluate_and_update_policy()
    average = solver.average_policy()
    strategy = of_agent(tree, StrategyAgent(game, average, sampled=True))
    theirs = exploitability.nash_conv(game, average)
    assert our_exploitability(tree, strategy).nash_conv == pytest.approx(theirs, abs=1e-5)


def test_strategy_agent__draws_by_the_policys_chances_or_takes_the_likeliest() -> None:
    game = game_of(MINI)
    observation, mask = deal(game, np.random.RandomState(0)).view(0)
    if not mask.any():
        observation, mask = deal(game_of(MINI, dealer=1), np.random.RandomState(0)).view(0)
    legal = np.flatnonzero(mask).tolist()
    weights = np.arange(1, len(legal) + 1)
    chances = dict(zip(legal, (weights / weights.sum()).tolist(), strict=True))

    class Fixed:
        def action_probabilities(self, state: Any, player_id: int) -> dict[int, float]:
            return chances

    agent = StrategyAgent(game, Fixed(), sampled=True)
    agent.reset(MINI, -1, 7)
    drawn = agent.act_batch(np.repeat(observation[None], 400, 0), np.repeat(mask[None], 400, 0))
    for action, chance in chances.items():
        assert (drawn == action).mean() == pytest.approx(chance, abs=0.1)
    sure = StrategyAgent(game, Fixed())
    sure.reset(MINI, -1, 7)
    assert sure.act(observation, mask) == legal[-1]


def test_strategy_agent__other_rules_than_the_policys_are_refused() -> None:
    game = load(NO_STOCK)
    with pytest.raises(ValueError, match="train it for them"):
        StrategyAgent(game, policies.UniformRandomPolicy(game)).reset(MINI, -1, 0)
