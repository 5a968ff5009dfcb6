"""Lessons from the solver: what every card would have brought in the position as it truly was.

The learner cannot know the other hands. But the hands of its own games are a fair sample of what they may be, given
all that has been bid and played and how it plays itself; so what a card brings on average over them is what it is worth
against players who see all cards. That is the value that perfect information Monte Carlo estimates from worlds made up
(Levy, "The million pound bridge program", 1989), without making any up. What it leaves out, that nobody sees all cards,
is left for the returns to teach: lessons count less and less over a run.
"""

from __future__ import annotations

import numpy as np

from smear_env import (
    PHASE_NAMES,
    InOrder,
    Rules,
    SelfPlayVectorEnv,
    card_values,
    observation_layout,
    state_layout,
)
from training.arrays import BoolArray, Float32Array, Int8Array, Int64Array

PLAYING = PHASE_NAMES.index("play")


class Teacher:
    """Solves positions of games that are being played.

    Args:
        rules: of each game.
        most_cards: positions with more cards in all hands are not taught.
    """

    def __init__(self, rules: list[Rules], most_cards: int) -> None:
        distinct = list(dict.fromkeys(rules))
        self._groups = [np.array([one == other for other in rules]) for one in distinct]
        self._rules = distinct
        self._phase = observation_layout(rules[0])["phase"].start + PLAYING
        self._hands = state_layout(rules[0])["hand"].slice
        self.most_cards = most_cards

    def teach(
        self,
        env: SelfPlayVectorEnv,
        seen: InOrder,
        states: Int8Array,
        wanted: BoolArray,
        lesson: Float32Array,
    ) -> BoolArray:
        """Write what each card brings in games that are in play; returns which games they are, [N].

        seen, states: what the games show now, and their states [N, s]; wanted: [N] games to teach, if they can be.
        lesson: [N, n], written with points for the team of the seat to act less the others' mean, 0 where not legal.
        """
        can = wanted & (seen.observation[:, self._phase] == 1)
        can &= states[:, self._hands].sum(axis=1) <= self.most_cards
        lesson[can] = 0
        if not can.any():
            return can
        games = env.snapshot()["states"]
        for rules, group in zip(self._rules, self._groups, strict=True):
            rows = np.flatnonzero(can & group)
            if len(rows):
                values = card_values(games[rows], rules)
                lesson[rows, : values.shape[1]] = _in_order(values, seen.order[rows], rules) / (
                    rules.teams - 1
                )
        lesson[can] *= seen.mask[can]
        return can


def _in_order(values: np.ndarray, order: Int64Array, rules: Rules) -> np.ndarray:
    """Values of cards [B, cards], their suits in order [B, suits]."""
    ranks, suited = len(rules.ranks), len(rules.suits) * len(rules.ranks)
    cards = (order[:, :, None] * ranks + np.arange(ranks)).reshape(len(values), suited)
    rest = np.broadcast_to(np.arange(suited, values.shape[1]), (len(values), values.shape[1] - suited))
    return np.take_along_axis(values, np.concatenate([cards, rest], axis=1), axis=1)
