"""The agent: one kernel call decides a whole batch; and kernels that let it play a state on."""

from __future__ import annotations

import numpy as np

from smear_env._jit import announce_compilation, kernel
from smear_env._typing import Int8Array, Int64Array, RecordArray, as_int
from smear_env.agents.base import BaseAgent, refuse_empty
from smear_env.agents.expert.auction import choose_bid
from smear_env.agents.expert.book import DEALER_HAND, FIRST_HAND, PLAIN, load_book
from smear_env.agents.expert.hand import strongest_suit
from smear_env.agents.expert.play import choose_card, choose_throw
from smear_env.agents.seen import Whole, kernel_tables, look
from smear_env.cards import count, lowest
from smear_env.engine.legal import legal_sets
from smear_env.engine.state import BID, DISCARD, EXCHANGE, NAME, OVER
from smear_env.engine.step import step
from smear_env.flags import address
from smear_env.observation import write_mask, write_observation

_NONE = np.uint64(0)


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


@kernel
def show(t: RecordArray, at: RecordArray, s: RecordArray, row: Int8Array, mask: Int8Array) -> Whole:
    """Write what the seat to act sees and may do, or give the only legal action; -1 if there are several."""
    cards, calls = legal_sets(t, s)
    if count(cards) + count(calls) == 1:
        return as_int(lowest(cards)) if calls == _NONE else as_int(t.cards) + lowest(calls)
    write_observation(t, s, as_int(s.turn), at, address(row))
    write_mask(t, cards, calls, len(mask), address(mask))
    return as_int(-1)


@kernel
def expert_step(
    t: RecordArray,
    at: RecordArray,
    s: RecordArray,
    book: RecordArray,
    style: Whole,
    row: Int8Array,
    mask: Int8Array,
) -> None:
    """Let `expert` act for the seat to act; `row` [d] and `mask` [n] are written over."""
    action = show(t, at, s, row, mask)
    if action < 0:
        action = expert_action(t, at, row, mask, book, style)
    step(t, s, action)


@kernel
def play_out(
    t: RecordArray,
    at: RecordArray,
    s: RecordArray,
    book: RecordArray,
    style: Whole,
    row: Int8Array,
    mask: Int8Array,
) -> None:
    """Let `expert` finish the deal for all seats; the match must end with it."""
    while s.phase != OVER:
        expert_step(t, at, s, book, style, row, mask)
