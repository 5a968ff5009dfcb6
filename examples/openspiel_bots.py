"""OpenSpiel both ways: its algorithms and bots play in our evaluation, our agents in its own.

    python examples/openspiel_bots.py --rules four_point --simulations 50

`mini` is small enough for CFR by sampling; in the large games its information-set Monte Carlo tree search plays, in
worlds drawn from what the seat has seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tyro
from open_spiel.python.algorithms.evaluate_bots import evaluate_bots
from open_spiel.python.algorithms.external_sampling_mccfr import AverageType, ExternalSamplingSolver
from open_spiel.python.algorithms.ismcts import ISMCTSBot
from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator

import smear_env
from smear_env.interop.openspiel import AgentBot, BotAgent, StrategyAgent, game_of
from training.evaluate import compare, summarize


def train(rules: smear_env.Rules, iterations: int = 2000, seed: int = 1) -> StrategyAgent:
    """The average policy of CFR by external sampling, for a game of two seats."""
    np.random.seed(seed)  # noqa: NPY002  # OpenSpiel samples with it
    game = game_of(rules)
    solver = ExternalSamplingSolver(game, AverageType.SIMPLE)
    for _ in range(iterations):
        solver.iteration()
    return StrategyAgent(game, solver.average_policy())


def searcher(simulations: int) -> BotAgent:
    """OpenSpiel's ISMCTS with random play-outs, as an agent."""

    def make(game: Any, player: int, seed: int) -> ISMCTSBot:
        chance = np.random.RandomState(seed)
        return ISMCTSBot(game, RandomRolloutEvaluator(1, chance), 4.0, simulations, random_state=chance)

    return BotAgent(make)


def their_table(rules: smear_env.Rules, name: str, against: str, deals: int, seed: int = 1) -> float:
    """Points per deal of an agent of ours for team 0 in OpenSpiel's `evaluate_bots`."""
    game, chance = game_of(rules), np.random.RandomState(seed)
    bots = [
        AgentBot(game, seat, smear_env.make_agent(against if seat % rules.teams else name), seed=seat)
        for seat in range(rules.players)
    ]
    return float(np.mean([evaluate_bots(game.new_initial_state(), bots, chance)[0] for _ in range(deals)]))


def main(rules: str = "mini", iterations: int = 2000, simulations: int = 50, pairs: int = 20) -> None:
    """CFR (two seats) or search against `passer` on duplicate deals, and `expert` at OpenSpiel's table."""
    game = smear_env.make_rules(rules)
    agent = train(game, iterations) if game.players == 2 else searcher(simulations)
    result = summarize(compare(agent, smear_env.make_agent("passer"), game, pairs=pairs, seed=1), seed=1)
    print(f"ahead of passer by {result['points_per_deal']:+.2f} points per deal, 95 % {result['interval']}")
    print(f"expert against passer there: {their_table(game, 'expert', 'passer', 200):+.2f} points per deal")


if __name__ == "__main__":
    tyro.cli(main)
