"""A sensible player without search: bids by high cards and length, draws trumps, gives points to its partner."""

from smear_env.agents.greedy.agent import GreedyAgent

__all__ = ["GreedyAgent"]
