"""Two yardsticks: an agent without preferences, and one that never bids and plays its lowest card."""

from __future__ import annotations

import numpy as np

from smear_env._jit import announce_compilation, kernel
from smear_env._typing import Float32Array, Int8Array, Int64Array, RecordArray, as_int
from smear_env.agents.base import BaseAgent, refuse_empty
from smear_env.agents.seen import Whole, first_of, kernel_tables
from smear_env.flags import address


class RandomAgent(BaseAgent):
    """Every legal action is equally likely."""

    def act_batch(self, observations: Int8Array, masks: Int8Array) -> Int64Array:
        """Legal actions [B] int64, drawn from the agent's generator; see `Agent`."""
        _, legal = self.checked(observations, masks)
        refuse_empty(legal)
        allowed = legal != 0
        counts = allowed.sum(axis=1)
        # The k-th legal action of each row, k uniform; a product of uniforms below 1 stays below the count.
        chosen = (self._generator.random(len(legal)) * counts).astype(np.int64)
        return np.asarray((np.cumsum(allowed, axis=1) > chosen[:, None]).argmax(axis=1), np.int64)

    def probabilities(self, observations: Int8Array, masks: Int8Array) -> Float32Array:
        """Uniform over the legal actions, [B, n] float32; see `Agent`."""
        _, legal = self.checked(observations, masks)
        refuse_empty(legal)
        allowed = (legal != 0).astype(np.float32)
        return np.asarray(allowed / allowed.sum(axis=1, keepdims=True), np.float32)


class PasserAgent(BaseAgent):
    """Passes whenever it may; else bids, discards and plays the lowest, and names the suit it holds most of."""

    def act_batch(self, observations: Int8Array, masks: Int8Array) -> Int64Array:
        """Legal actions [B] int64; see `Agent`."""
        seen, legal = self.checked(observations, masks)
        refuse_empty(legal)
        announce_compilation()
        actions = np.empty(len(seen), np.int64)
        _pass_all(*kernel_tables(self.rules), seen, legal, actions)
        return actions


@kernel
def _pass_all(
    tables: RecordArray, starts: RecordArray, observations: Int8Array, masks: Int8Array, actions: Int64Array
) -> None:
    for i in range(len(observations)):
        actions[i] = _pass_or_lowest(tables[0], starts[0], observations[i], masks[i])


@kernel
def _pass_or_lowest(t: RecordArray, at: RecordArray, row: Int8Array, mask: Int8Array) -> Whole:
    """Pass, or the weakest legal card, or the lowest bid, or the longest suit; [d] int8 and [n] int8."""
    cards = np.int64(t.cards)
    if mask[cards] != 0:
        return cards
    lowest_card = weakest_card(t, first_of(address(row) + at.trump, as_int(t.suits)), mask)
    if lowest_card >= 0:
        return lowest_card
    first_trump = cards + 2 + np.int64(t.max_bid) - t.min_bid
    for action in range(cards, first_trump):
        if mask[action] != 0:
            return action
    best = np.int64(0)
    longest = -1
    for suit in range(t.suits):
        held = 0
        for card in range(cards):
            if row[at.hand + card] != 0 and t.suit_of[suit, card] == suit:
                held += 1
        if held > longest:
            longest = held
            best = np.int64(suit)
    return first_trump + best


@kernel
def weakest_card(t: RecordArray, trump: Whole, mask: Int8Array) -> Whole:
    """The legal card of least strength under `trump` (-1 unknown), cards of another suit first; -1 if none."""
    weakest = np.int64(-1)
    for card in range(t.cards):
        if mask[card] != 0 and (weakest < 0 or t.strength[trump, card] < t.strength[trump, weakest]):
            weakest = np.int64(card)
    return weakest
