"""Advantages and returns the slow way: one game at a time, one sum for each decision and team.

Nothing here is shared with the trainer. A game is a list of `Decision`s in the order in which they were taken,
whichever seats took them; gamma is 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Decision:
    """One decision of one game."""

    seat: int
    values: tuple[float, ...]  # by team, before it
    rewards: tuple[float, ...]  # by team, after it and before the next decision of anybody
    ended: bool  # the episode ended before anybody decided again


def team_advantage(
    game: Sequence[Decision], start: int, team: int, last: Sequence[float], lam: float
) -> float:
    """Generalised advantage of a team at decision `start`: temporal differences weighted with powers of lambda."""
    total, weight = 0.0, 1.0
    for index in range(start, len(game)):
        decision = game[index]
        if decision.ended:
            after = 0.0
        elif index + 1 < len(game):
            after = game[index + 1].values[team]
        else:
            after = last[team]
        total += weight * (decision.rewards[team] + after - decision.values[team])
        weight *= lam
        if decision.ended:
            break
    return total


def seat_returns(game: Sequence[Decision], last: Sequence[float]) -> list[float]:
    """What follows each decision for the seat that took it, gathered seat by seat.

    Each seat keeps a purse and sees no decision but its own: all that its team earns until its next turn goes to
    the decision before, and what its later decisions bring is added while the episode lasts. An episode cut off by
    the end of the record goes on with `last`.
    """
    teams = len(last)
    returns = [0.0] * len(game)
    for seat in {decision.seat for decision in game}:
        turns: list[
            tuple[int, float, bool]
        ] = []  # place, earned until the next own turn, episode over by then
        for place, decision in enumerate(game):
            if decision.seat == seat:
                turns.append((place, 0.0, False))
            if turns and not turns[-1][2]:
                at, purse, _ = turns[-1]
                turns[-1] = (at, purse + decision.rewards[seat % teams], decision.ended)
        following = float(last[seat % teams])
        for place, purse, over in reversed(turns):
            following = purse + (0.0 if over else following)
            returns[place] = following
    return returns
