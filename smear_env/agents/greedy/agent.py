"""The agent: one kernel call decides a whole batch."""

from __future__ import annotations

import numpy as np

from smear_env._jit import announce_compilation, kernel
from smear_env._typing import Int8Array, Int64Array, RecordArray
from smear_env.agents.base import BaseAgent, refuse_empty
from smear_env.agents.greedy.auction import choose_bid, choose_discard, choose_exchange, choose_trump
from smear_env.agents.greedy.play import choose_card
from smear_env.agents.seen import Whole, kernel_tables, look
from smear_env.engine.state import BID, DISCARD, EXCHANGE, NAME


class GreedyAgent(BaseAgent):
    """Plays each decision by rules of thumb, without chance; see `auction` and `play`."""

    def act_batch(self, observations: Int8Array, masks: Int8Array) -> Int64Array:
        """Legal actions [B] int64; see `Agent`."""
        seen, legal = self.checked(observations, masks)
        refuse_empty(legal)
        announce_compilation()
        actions = np.empty(len(seen), np.int64)
        decide_all(*kernel_tables(self.rules), seen, legal, actions)
        return actions


@kernel
def decide_all(
    tables: RecordArray, starts: RecordArray, observations: Int8Array, masks: Int8Array, actions: Int64Array
) -> None:
    """Write an action id for each row into `actions`, [B] int64."""
    for i in range(len(observations)):
        actions[i] = decide(tables[0], starts[0], observations[i], masks[i])


@kernel
def decide(t: RecordArray, at: RecordArray, row: Int8Array, mask: Int8Array) -> Whole:
    """A legal action id for one observation, [d] int8, and its mask, [n] int8."""
    seen = look(t, at, row, mask)
    if seen.phase == BID:
        return choose_bid(t, seen, mask)
    if seen.phase == NAME:
        return choose_trump(t, seen)
    if seen.phase == EXCHANGE:
        return choose_exchange(t, seen, mask)
    if seen.phase == DISCARD:
        return choose_discard(t, seen)
    return choose_card(t, at, row, seen)
