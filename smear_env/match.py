"""One match stepped from Python: the kernels behind an environment that plays a single game. No rule lives here.

Records cross from Python as their bytes. Numba recognises an array of bytes in half a microsecond; a record takes it
twenty, and an array of records as long again in every copy of an environment, whose dtype is another object.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from smear_env import batch
from smear_env._jit import kernel
from smear_env._typing import Float32Array, Int8Array, Int64Array, RecordArray
from smear_env.engine.deal import set_cards, start_match
from smear_env.engine.legal import is_legal, legal_sets
from smear_env.engine.state import STATE_DTYPE
from smear_env.engine.step import step
from smear_env.engine.tables import TABLES_DTYPE
from smear_env.flags import address
from smear_env.layout import OFFSETS_DTYPE
from smear_env.observation import write_mask, write_observation, write_state

Bytes = npt.NDArray[np.uint8]

STATE = np.dtype((np.record, STATE_DTYPE))
TABLES = np.dtype((np.record, TABLES_DTYPE))
OFFSETS = np.dtype((np.record, OFFSETS_DTYPE))

ILLEGAL = -2
"""In place of the seat to act: the action was refused and nothing has changed."""
REFUSED = (np.int64(ILLEGAL), False)
"""What `act` returns for an action that is not legal."""


def as_bytes(records: RecordArray) -> Bytes:
    """A writable copy of a record array as [bytes] uint8."""
    return np.array(records.view(np.ndarray)).view(np.uint8)


@kernel
def begin(
    tables: Bytes, state: Bytes, seed: np.uint64, game: int, dealer: int, scores: Int64Array, order: Int8Array
) -> np.int64:
    """Start a match, with the cards of `order` if it holds any; returns the seat to act."""
    t = tables.view(TABLES)[0]
    s = state.view(STATE)[0]
    start_match(t, s, seed, game, dealer, scores, False)
    if len(order) > 0:
        set_cards(t, s, order)
    return np.int64(s.turn)


@kernel
def act(tables: Bytes, state: Bytes, action: int, mode: int, reward: Float32Array) -> tuple[np.int64, bool]:
    """One action: the seat to act next (-1 after the end, or ILLEGAL), and whether it finished a deal.

    `reward` [teams] float32 is then what the deal is worth to each team.
    """
    t = tables.view(TABLES)[0]
    s = state.view(STATE)[0]
    if not is_legal(t, s, action):
        return REFUSED
    deals_before = s.deals
    step(t, s, action)
    finished = s.deals != deals_before
    if finished:
        for team in range(len(reward)):
            reward[team] = 0
        batch.add_reward(t, s, mode, reward, 0)
    return np.int64(s.turn), finished


@kernel
def show(tables: Bytes, state: Bytes, seat: int, at: Bytes, observation: Int8Array, mask: Int8Array) -> None:
    """Write the view of a seat, and its mask: zeros unless it is to act."""
    t = tables.view(TABLES)[0]
    s = state.view(STATE)[0]
    write_observation(t, s, seat, at.view(OFFSETS)[0], address(observation))
    if s.turn == seat:
        cards, calls = legal_sets(t, s)
        write_mask(t, cards, calls, len(mask), address(mask))
    else:
        mask[:] = 0


@kernel
def show_all(tables: Bytes, state: Bytes, at: Bytes, out: Int8Array) -> None:
    """Write the full information."""
    write_state(tables.view(TABLES)[0], state.view(STATE)[0], 0, at.view(OFFSETS)[0], address(out))
