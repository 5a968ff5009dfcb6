"""Lessons by play-outs: what every action would have brought in the position as it truly was.

From the position of a game that is being played each legal action is tried, and the deal played to its end by the
policy in all seats, each seat seeing only what it sees. The learner cannot know the other hands, but those of its own
games are a fair sample of what they may be, given all that has been bid and played: the mean over them is what each
action is worth with the policy as it is, as the mean of returns would be, and to prefer the best is a step of policy
iteration. What is compared lies in one and the same world, where a return is compared with a critic's guess, and all
actions are, where a return tells of one. Play-outs are short late in a deal, where most of what is lost at cards is
lost; discards and earlier cards take a small share. Bids are not taught.

The solver's values in place of play-outs teach something else, to play as if all cards were seen (docs/log.md).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from smear_env import (
    PHASE_NAMES,
    InOrder,
    Rules,
    SelfPlayVectorEnv,
    VectorStep,
    observation_layout,
    original_actions,
    state_layout,
)
from training.arrays import BoolArray, Float32Array, Float64Array, Int8Array, Int64Array
from training.choices import most_probable
from training.network import Network

BIDDING, PLAYING = PHASE_NAMES.index("bid"), PHASE_NAMES.index("play")
ROOM = 4096
"""Play-outs at once."""

Pay = Callable[[SelfPlayVectorEnv], Float32Array]
"""What the last step earned each team, [N, teams], if not what the env says."""


class Teacher:
    """Tries cards in games that are being played.

    Args:
        rules: of each game.
        most_cards: a card decision is late in a deal if no more cards are left in all hands.
        share: of the decisions late in a deal that are taught.
        early: share of all others but bids.
        sure: how much of either share is taught of decisions that the policy is sure of.
        pay_for: gives what deals pay in an env of games by some rules, one for each game; points if None.
    """

    def __init__(
        self,
        rules: list[Rules],
        most_cards: int,
        share: float = 1.0,
        early: float = 0.0,
        sure: float = 1.0,
        pay_for: Callable[[list[Rules]], Pay] | None = None,
    ) -> None:
        # As many places for each of the rules as there are games by it.
        places = [rules[place % len(rules)] for place in range(max(ROOM, len(rules)))]
        kinds = list(dict.fromkeys(rules))
        self._kind = np.array([kinds.index(one) for one in rules])
        self._places = [np.flatnonzero([one == kind for one in places]) for kind in kinds]
        self._room = SelfPlayVectorEnv(
            len(places), places, seed=0, episode="deal", reward="points", skip_forced=True
        )
        self._room.reset()
        self._pay = pay_for(places) if pay_for else None
        self._phase = observation_layout(rules[0])["phase"].start
        self._hands = state_layout(rules[0])["hand"].slice
        self._most_cards, self._share, self._early, self._sure = most_cards, share, early, sure

    def teach(
        self,
        env: SelfPlayVectorEnv,
        network: Network,
        shown: VectorStep,
        seen: InOrder,
        states: Int8Array,
        learns: BoolArray,
        sure: BoolArray,
        chances: Float64Array,
        lesson: Float32Array,
    ) -> BoolArray:
        """Write what each action brings in some of the games; returns which games they are, [N].

        network: plays on in all seats. shown, seen, states: what the games show now, what the network sees of it, and
        their states [N, s]. learns: [N] games that may be taught, each if its number of chances [N], uniform in [0, 1),
        is below the share of decisions like its own; sure: [N] games where the policy is sure of its action. lesson:
        [N, n], written with what the team of the seat to act earns to the end of the deal, as rewards are; 0 where an
        action is not legal.
        """
        playing, bidding = (seen.observation[:, self._phase + phase] == 1 for phase in (PLAYING, BIDDING))
        late = playing & (states[:, self._hands].sum(axis=1) <= self._most_cards)
        share = np.where(late, self._share, self._early) * np.where(sure, self._sure, 1)
        can = learns & (chances < share) & ~bidding
        lesson[can] = 0
        games, actions = np.nonzero(seen.mask * can[:, None])
        if not len(games):
            return can
        originals = original_actions(actions, seen.order[games], env.rules)
        snapshot, kind = env.snapshot(), self._kind[games]
        waiting = [np.flatnonzero(kind == number) for number in range(len(self._places))]
        while any(map(len, waiting)):
            turns = [
                (tried[: len(at)], at[: len(tried)]) for tried, at in zip(waiting, self._places, strict=True)
            ]
            waiting = [tried[len(at) :] for tried, at in zip(waiting, self._places, strict=True)]
            tried, at = (np.concatenate(part) for part in zip(*turns, strict=True))
            earned = self._play_out(snapshot, network, games[tried], originals[tried], at)
            team = shown.seat[games[tried]] % env.teams
            lesson[games[tried], actions[tried]] = earned[np.arange(len(tried)), team]
        return can

    def _play_out(
        self, snapshot: Any, network: Network, games: Int64Array, actions: Int64Array, at: Int64Array
    ) -> Float32Array:
        """What each team earns, [P, teams], when games [P] of a snapshot take these actions, played at places [P]."""
        room = self._room
        rows = np.zeros(room.num_games, np.int64)
        rows[at] = games
        room.restore({"states": snapshot["states"][rows], "seed": snapshot["seed"]})
        earned = np.zeros((len(at), room.teams), np.float32)
        going, chosen = np.arange(len(at)), actions
        while len(going):
            taken = np.full(room.num_games, -1)
            taken[at[going]] = chosen
            shown = room.step_some(taken)
            earned[going] += (self._pay(room) if self._pay else shown.reward)[at[going]]
            going = going[~shown.terminated[at[going]]]
            seen = network.see(shown.observation[at[going]], shown.mask[at[going]])
            chosen = original_actions(
                most_probable(network, seen.observation, seen.mask), seen.order, room.rules
            )
        return earned
