"""The agent: one kernel call decides a whole batch."""

from __future__ import annotations

import numpy as np

from smear_env._jit import announce_compilation, kernel
from smear_env._typing import Int8Array, Int64Array, RecordArray, as_int
from smear_env.agents.base import BaseAgent, refuse_empty
from smear_env.agents.expert.auction import choose_bid
from smear_env.agents.expert.book import DEALER_HAND, FIRST_HAND, PLAIN, load_book
from smear_env.agents.expert.hand import strongest_suit
from smear_env.agents.expert.play import choose_card, choose_throw
from smear_env.agents.expert.view import look
from smear_env.agents.seen import Whole, kernel_tables
from smear_env.engine.state import BID, DISCARD, EXCHANGE, NAME


class ExpertAgent(BaseAgent):
    """Bids by fitted tables and plays by weighed rules, without chance; `style` PLAIN, CAUTIOUS or AGGRESSIVE."""

    def __init__(self, style: int = PLAIN) -> None:
        super().__init__()
        self.style = style

    def act_batch(self, observations: Int8Array, masks: Int8Array) -> Int64Array:
        """Legal actions [B] int64; see `Agent`."""
        seen, legal = self.checked(observations, masks)
        refuse_empty(legal)
        announce_compilation()
        actions = np.empty(len(seen), np.int64)
        decide_all(*kernel_tables(self.rules), seen, legal, load_book(self.rules), self.style, actions)
        return actions


@kernel
def decide_all(
    tables: RecordArray,
    starts: RecordArray,
    observations: Int8Array,
    masks: Int8Array,
    books: RecordArray,
    style: Whole,
    actions: Int64Array,
) -> None:
    """Write an action id for each row into `actions`, [B] int64."""
    for i in range(len(observations)):
        actions[i] = expert_action(tables[0], starts[0], observations[i], masks[i], books[0], style)


@kernel
def expert_action(
    t: RecordArray, at: RecordArray, row: Int8Array, mask: Int8Array, book: RecordArray, style: Whole
) -> Whole:
    """A legal action id for one observation, [d] int8, and its mask, [n] int8; `book` is a row of `load_book`."""
    v = look(t, at, row, mask)
    if v.phase == BID:
        return choose_bid(t, at, row, mask, book, v, style)
    if v.phase == NAME:
        role = DEALER_HAND if v.dealer == 0 else FIRST_HAND
        suit, _, _ = strongest_suit(t, book, v.hand, t.deck, role)
        return as_int(t.cards) + 2 + (as_int(t.max_bid) - t.min_bid) + suit
    if v.phase == EXCHANGE or v.phase == DISCARD:
        return choose_throw(t, book, v, mask)
    return choose_card(t, at, row, book, v)
