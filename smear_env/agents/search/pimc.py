"""`pimc-N`: perfect information Monte Carlo, the best action in the mean over worlds drawn from what it has seen.

Cards are played by the solver in each of N worlds, where few enough cards are left, and otherwise by play-outs;
everything before the first lead by play-outs, of which it can afford more. Its own later decisions are thought
to be made in full knowledge, or as `expert` would, which is the method's known fault: it never plays to find
out, nor to hide.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from smear_env._typing import Int8Array, RecordArray
from smear_env.agents.base import Agent
from smear_env.agents.expert import PLAIN
from smear_env.agents.search.base import SearchAgent, workspace
from smear_env.agents.search.choice import choose
from smear_env.agents.search.likelihood import likelihoods, resample
from smear_env.agents.search.playout import values_by_play, values_by_solver
from smear_env.agents.search.worlds import fill_worlds, sample_worlds
from smear_env.engine.state import PLAY
from smear_env.layout import observation_layout
from smear_env.rules import Rules

PLAYOUT_FACTOR = 8
"""Worlds for play-outs, for each world that is solved: a play-out costs so much less."""
SOLVED_CARDS = {2: 24, 3: 18}
"""By number of teams: with at most so many cards in all hands a position is solved."""
DOUBT = 0.5
"""Standard errors by which a card must be better than `expert`'s to be played instead."""
DOUBT_BEFORE_PLAY = 2.0
"""As much for what is done before the first lead: there `expert` goes by tables fitted to thousands of deals."""
POOL = 20
"""Worlds weighed for each that is drawn."""
PART = 4096
"""Worlds held at once, 5 MB or so; with weights the whole pool is."""


class PimcAgent(SearchAgent):
    """Searches `worlds` worlds at every decision.

    Args:
        worlds: how many are solved for a card; play-outs are made in `PLAYOUT_FACTOR` times as many.
        weights: a policy by whose likelihood of the others' bids and cards worlds are weighed; None, all alike.
        doubt: standard errors by which a card must be better than `expert`'s; see `choice.choose`.
    """

    kernels = (fill_worlds, values_by_play, values_by_solver)

    def __init__(self, worlds: int, *, weights: Agent | None = None, doubt: float = DOUBT) -> None:
        super().__init__()
        if worlds < 1:
            raise ValueError(f"worlds={worlds} must be at least 1")
        self.worlds = worlds
        self.weights = weights
        self.doubt = doubt

    def reset(self, rules: Rules, seat: int, seed: int) -> None:
        """Begin a game; see `Agent`."""
        super().reset(rules, seat, seed)
        if self.weights is not None:
            self.weights.reset(rules, -1, seed)

    def decide(self, row: Int8Array, mask: Int8Array) -> int:
        """The action of the best mean value; see `choice.choose`."""
        plays = self._plays(row)
        solved = plays and self._cards_left(row) <= SOLVED_CARDS.get(self.rules.teams, 0)
        count = self.worlds * (1 if solved else PLAYOUT_FACTOR)
        values = np.zeros((count, len(mask)), np.float32)
        tables, starts, books, scratch, shown = self.tools()
        for first, states in self._parts(row, count):
            part = values[first : first + len(states)]
            if solved:
                values_by_solver(tables, states, mask, workspace(), part)
            else:
                values_by_play(tables, starts, states, mask, books, PLAIN, scratch, shown, part)
        doubt = self.doubt if plays else DOUBT_BEFORE_PLAY
        return choose(values, mask, self.expert_choice(row, mask), doubt)

    def _parts(self, row: Int8Array, count: int) -> Iterator[tuple[int, RecordArray]]:
        """`count` worlds that fit an observation [d], drawn by weights if there are any: the number of the first in
        each part, and the part, [W].
        """
        seed = self.seed_of(row)
        if self.weights is not None:
            pool = sample_worlds(row, self.rules, POOL * count, seed)
            yield 0, pool.states[resample(likelihoods(pool, self.rules, self.weights), count, seed)]
            return
        for first in range(0, count, PART):
            yield first, sample_worlds(row, self.rules, min(PART, count - first), seed, first=first).states

    def _plays(self, row: Int8Array) -> bool:
        """Whether this decision is a card to play."""
        phase = observation_layout(self.rules)["phase"].start
        return int(row[phase + PLAY]) != 0

    def _cards_left(self, row: Int8Array) -> int:
        """Cards in all hands, in play."""
        played = int(np.count_nonzero(row[observation_layout(self.rules)["trick_of"].slice]))
        return self.rules.players * self.rules.hand_size - played
