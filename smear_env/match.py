"""One match stepped from Python: the kernels behind an environment that plays a single game.

They take whole one-row arrays, not rows: Numba recognises a plain array argument in half a microsecond, a
record in twenty. No rule lives here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from smear_env import batch
from smear_env._jit import kernel
from smear_env._typing import Float32Array, Int8Array, Int64Array, RecordArray
from smear_env.engine.deal import set_cards, start_match
from smear_env.engine.legal import is_legal
from smear_env.engine.step import step
from smear_env.observation import write_mask, write_observation, write_state

ILLEGAL = -2
"""In place of the seat to act: the action was refused and nothing has changed."""


@kernel
def begin(
    tables: RecordArray,
    states: RecordArray,
    seed: np.uint64,
    game: int,
    dealer: int,
    scores: Int64Array,
    order: Int8Array,
) -> int:
    """Start a match, with the cards of `order` if it holds any; returns the seat to act."""
    t = tables[0]
    s = states[0]
    start_match(t, s, seed, game, dealer, scores, False)
    if len(order) > 0:
        set_cards(t, s, order)
    return np.int64(s.turn)


@kernel
def act(
    tables: RecordArray, states: RecordArray, action: int, mode: int, reward: Float32Array
) -> tuple[int, bool]:
    """One action: the seat to act next (-1 after the end, or ILLEGAL), and whether it finished a deal.

    `reward` [teams] float32 is then what the deal is worth to each team.
    """
    t = tables[0]
    s = states[0]
    if not is_legal(t, s, action):
        return np.int64(ILLEGAL), False
    deals_before = s.deals
    step(t, s, action)
    finished = s.deals != deals_before
    if finished:
        for team in range(len(reward)):
            reward[team] = 0
        batch.add_reward(t, s, mode, reward)
    return np.int64(s.turn), finished


@kernel
def show(
    tables: RecordArray,
    states: RecordArray,
    seat: int,
    at: RecordArray,
    options: Int8Array,
    bits: Any,
    observation: Int8Array,
    mask: Int8Array,
) -> None:
    """Write the view of a seat, and its mask unless another is to act."""
    t = tables[0]
    s = states[0]
    write_observation(t, s, seat, at[0], options, bits, observation)
    if s.turn == seat:
        write_mask(t, s, mask)
    else:
        mask[:] = 0


@kernel
def show_all(
    tables: RecordArray, states: RecordArray, at: RecordArray, options: Int8Array, bits: Any, out: Int8Array
) -> None:
    """Write the full information."""
    write_state(tables[0], states[0], at[0], options, bits, out)
