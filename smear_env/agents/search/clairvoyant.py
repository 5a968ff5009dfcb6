"""`clairvoyant`: sees every hand and the stock; the ceiling in evaluations, no player.

Cards are discarded before trump is known and played by the solver, so as well as can be against the best play;
among equals, it takes what brings most if all play on as `expert`. Before the first lead every action is tried,
`expert` acting for all seats until the first lead, and the play solved. With three teams the solver takes the
two others for one opponent and is slow with many cards: such positions are played out instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from smear_env._jit import announce_part
from smear_env._typing import Int8Array, Int64Array
from smear_env.agents.base import refuse_empty
from smear_env.agents.expert import PLAIN
from smear_env.agents.search.base import SearchAgent, workspace
from smear_env.agents.search.playout import values_before_play, values_by_play, values_by_solver
from smear_env.agents.search.reveal import reveal
from smear_env.agents.search.worlds import ANNOUNCED, most_actions
from smear_env.cards import count
from smear_env.engine.state import DISCARD, PLAY, new_states
from smear_env.layout import offsets, state_layout, vector_size

SOLVED_CARDS = {2: 64, 3: 24}
"""By number of teams: with at most so many cards in all hands a position is solved."""


class ClairvoyantAgent(SearchAgent):
    """Plays knowing all cards; it must be shown the states."""

    clairvoyant = True
    kernels = (reveal, values_before_play, values_by_play, values_by_solver)

    def act_batch(self, observations: Int8Array, masks: Int8Array) -> Int64Array:  # noqa: ARG002 see `Agent`
        """Refused with RuntimeError: a clairvoyant agent acts on states."""
        raise RuntimeError(
            "clairvoyant must be shown the state: call act_batch_seeing(observations, masks, states); where "
            "states are not shown, as to an environment's opponents, take another agent, such as pimc-20"
        )

    def act_batch_seeing(self, observations: Int8Array, masks: Int8Array, states: Int8Array) -> Int64Array:
        """Legal actions [B] int64; states: [B, s] int8, seats counted from the seat to act
        (`state(relative=True)`).
        """
        seen, legal = self.checked(observations, masks)
        refuse_empty(legal)
        full = np.ascontiguousarray(states, np.int8)
        expected = vector_size(state_layout(self.rules))
        if full.shape != (len(seen), expected):
            raise ValueError(
                f"states of shape {full.shape}, expected [{len(seen)}, {expected}] for {self.rules.name}"
            )
        announce_part(*ANNOUNCED, *self.kernels)
        rows = zip(seen, legal, full, strict=True)
        return np.array([self._act_seeing(row, mask, whole) for row, mask, whole in rows], np.int64)

    def _act_seeing(self, row: Int8Array, mask: Int8Array, whole: Int8Array) -> int:
        choices = np.flatnonzero(mask)
        if len(choices) == 1:
            return int(choices[0])
        tables, starts, books, scratch, shown = self.tools()
        state = new_states(1)
        full_starts = np.array(offsets(self.rules, full=True).view(np.ndarray))
        reveal(tables, full_starts, whole, np.empty(most_actions(self.rules), np.int64), state)
        values = np.zeros((1, len(mask)), np.float32)
        played = np.zeros((1, len(mask)), np.float32)
        values_by_play(tables, starts, state, mask, books, PLAIN, scratch, shown, played)
        if self._left(state[0]) > SOLVED_CARDS.get(self.rules.teams, 0):
            values = played
        elif state[0].phase == PLAY or (state[0].phase == DISCARD and not self.rules.trump_named):
            values_by_solver(tables, state, mask, workspace(), values)
        else:
            values_before_play(tables, starts, state, mask, books, PLAIN, scratch, shown, workspace(), values)
        preferred = self.expert_choice(row, mask)
        return int(
            max(choices, key=lambda action: (values[0, action], played[0, action], action == preferred))
        )

    def _left(self, state: Any) -> int:
        """Cards that will be played, of a state."""
        if state.phase != PLAY:
            return self.rules.players * self.rules.hand_size
        return sum(count(hand) for hand in state.hand)
