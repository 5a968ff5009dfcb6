"""Seats that the learner does not play: frozen networks, which decide and learn nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from smear_env import InOrder
from training.arrays import Float64Array, Int64Array
from training.choices import choose, most_probable
from training.network import Network

LEARNER = -1
"""In place of a network's number: the seat is the learner's."""


class Others:
    """Who plays which seats of which games.

    Args:
        networks: of those who play; they must see suits as the learner does.
        seats: [N, players] number of the network that plays a seat of a game, or LEARNER.
        greedy: they take their most probable actions; otherwise they draw.
    """

    def __init__(self, networks: Sequence[Network], seats: Int64Array, *, greedy: bool = False) -> None:
        if len(seats) and not LEARNER <= seats.min() <= seats.max() < len(networks):
            raise ValueError(
                f"seats name networks {seats.min()}..{seats.max()}, expected {LEARNER}..{len(networks) - 1}"
            )
        self.networks = list(networks)
        self.seats = seats
        self.greedy = greedy

    def turns(self, seat: Int64Array) -> Int64Array:
        """Whose turn it is where these seats are to act, [N] to [N]: a network's number, or LEARNER."""
        return self.seats[np.arange(len(seat)), seat]

    def act(self, seen: InOrder, turns: Int64Array, uniforms: Float64Array, actions: Int64Array) -> None:
        """Write their actions, as suits are in `seen`, into the rows of `actions` [N] where it is their turn."""
        for number, network in enumerate(self.networks):
            rows = np.flatnonzero(turns == number)
            if len(rows) == 0:
                continue
            observation, mask = seen.observation[rows], seen.mask[rows]
            if self.greedy:
                actions[rows] = most_probable(network, observation, mask)
            else:
                actions[rows], _ = choose(network, observation, mask, uniforms[rows])


def target_seats(games: int, players: int, teams: int, kind: str) -> Int64Array:
    """[games, players] seats of a target: all but one team's ("partners"), or all but "one", which go in turn."""
    learner = np.arange(games)[:, None] % (teams if kind == "partners" else players)
    seats = np.arange(players) % (teams if kind == "partners" else players)
    return np.where(seats == learner, LEARNER, 0)


def past_seats(games: int, players: int, teams: int, share: float, kept: int) -> Int64Array:
    """[games, players] seats of a pool of `kept` past selves: in a share of the games they play one of the teams.

    The team and the network go in turn through the games chosen, which are spread evenly.
    """
    seats = np.full((games, players), LEARNER)
    # As many as the share of the games so far asks for, in every stretch of them.
    counts = (np.arange(games + 1) * share).astype(np.int64)
    chosen = np.flatnonzero(np.diff(counts))
    for turn, game in enumerate(chosen):
        seats[game, turn % teams :: teams] = turn // teams % kept
    return seats
