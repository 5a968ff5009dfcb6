"""Seats that the learner does not play: frozen networks or agents, which decide and teach nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from smear_env import InOrder, VectorStep
from training.arrays import Float64Array, Int64Array
from training.choices import choose, most_probable
from training.network import Network
from training.opponents import Opponent

LEARNER = -1
"""In place of a player's number: the seat is the learner's."""


class Others:
    """Who plays which seats of which games.

    Args:
        players: who play; networks must see suits as the learner does.
        seats: [N, players] number of the one who plays a seat of a game, or LEARNER.
        greedy: networks take their most probable actions; otherwise they draw.
    """

    def __init__(
        self, players: Sequence[Network | Opponent], seats: Int64Array, *, greedy: bool = False
    ) -> None:
        if len(seats) and not LEARNER <= seats.min() <= seats.max() < len(players):
            raise ValueError(
                f"seats name players {seats.min()}..{seats.max()}, expected {LEARNER}..{len(players) - 1}"
            )
        self.players = list(players)
        self.seats = seats
        self.greedy = greedy

    def turns(self, seat: Int64Array) -> Int64Array:
        """Whose turn it is where these seats are to act, [N] to [N]: a player's number, or LEARNER."""
        return self.seats[np.arange(len(seat)), seat]

    def act(
        self,
        shown: VectorStep,
        seen: InOrder,
        turns: Int64Array,
        uniforms: Float64Array,
        actions: Int64Array,
    ) -> None:
        """Write their actions, as suits are in `seen`, into the rows of `actions` [N] where it is their turn."""
        for number, player in enumerate(self.players):
            rows = np.flatnonzero(turns == number)
            if len(rows) == 0:
                continue
            if isinstance(player, Opponent):
                actions[rows] = player.act(shown, seen, rows)
                continue
            observation, mask = seen.observation[rows], seen.mask[rows]
            if self.greedy:
                actions[rows] = most_probable(player, observation, mask)
            else:
                actions[rows], _ = choose(player, observation, mask, uniforms[rows])


def target_seats(games: int, players: int, teams: int, kind: str) -> Int64Array:
    """[games, players] seats of a target: all but one team's ("partners"), or all but "one", which go in turn."""
    learner = np.arange(games)[:, None] % (teams if kind == "partners" else players)
    seats = np.arange(players) % (teams if kind == "partners" else players)
    return np.where(seats == learner, LEARNER, 0)


def past_seats(games: int, players: int, teams: int, share: float, kept: int) -> Int64Array:
    """[games, players] seats of a pool of `kept` past selves or agents: in a share of the games they play one team.

    The team and the player go in turn through the games chosen, which are spread evenly.
    """
    seats = np.full((games, players), LEARNER)
    # As many as the share of the games so far asks for, in every stretch of them.
    counts = (np.arange(games + 1) * share).astype(np.int64)
    chosen = np.flatnonzero(np.diff(counts))
    for turn, game in enumerate(chosen):
        seats[game, turn % teams :: teams] = turn // teams % kept
    return seats
