"""The games as OpenSpiel games, registered on import: `smear_four_point`, `smear_schmier`, `smear_mini`, relatives.

    import pyspiel
    import smear_env.interop.openspiel
    game = pyspiel.load_game("smear_mini(stock_to_bidder=0,dealer=1)")

`game` has the games, `players` the players of both sides: ours in OpenSpiel (`AgentPolicy`, `AgentBot`), OpenSpiel's
here (`StrategyAgent`, `BotAgent`).
"""

from __future__ import annotations

from smear_env.interop.openspiel.game import SmearGame, SmearObserver, SmearState, game_of
from smear_env.interop.openspiel.players import AgentBot, AgentPolicy, BotAgent, StrategyAgent

__all__ = [
    "AgentBot",
    "AgentPolicy",
    "BotAgent",
    "SmearGame",
    "SmearObserver",
    "SmearState",
    "StrategyAgent",
    "game_of",
]
