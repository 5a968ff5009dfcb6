"""One match stepped from Python: the kernels behind an environment that plays a single game. No rule lives here.

All that they need is one record, which crosses from Python as its bytes. Numba recognises an array of bytes in a tenth
of a microsecond; a record takes it twenty, and an array of records as long again in every copy of an environment,
whose dtype is another object.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from smear_env import batch
from smear_env._jit import kernel
from smear_env._typing import Float32Array, Int8Array, Int64Array, RecordArray, as_int
from smear_env.engine.deal import set_cards, start_match
from smear_env.engine.legal import is_legal, legal_sets
from smear_env.engine.state import STATE_DTYPE, TEAMS
from smear_env.engine.step import step
from smear_env.engine.tables import TABLES_DTYPE, compile_tables
from smear_env.flags import address, clear_block
from smear_env.layout import OFFSETS_DTYPE, offsets
from smear_env.observation import write_mask, write_observation, write_state
from smear_env.rules import Rules

Bytes = npt.NDArray[np.uint8]

_FIELDS = np.dtype(
    [
        ("reward", np.float32, (TEAMS,)),  # what the deal just ended is worth to each team
        ("tables", TABLES_DTYPE),
        ("observation", OFFSETS_DTYPE),  # where a view has its pieces
        ("full", OFFSETS_DTYPE),  # where the full information has them
        ("state", STATE_DTYPE),
    ],
    align=True,
)
MATCH = np.dtype((np.record, _FIELDS))
"""A match with the tables of its rules: what the kernels make of its bytes."""

_REWARD = slice(TEAMS * np.dtype(np.float32).itemsize)
"""The bytes of `reward`, which stands first."""

# What came of an action: it is not legal and has changed nothing; the deal goes on; the deal has ended; with it the
# match, by the limit on deals.
REFUSED, PLAYED, DEAL_ENDED, CUT_OFF = range(4)


def new_match(rules: Rules) -> Bytes:
    """The bytes of a match that has yet to begin, [bytes] uint8 of its own memory."""
    match = np.zeros(1, _FIELDS)
    match["tables"] = compile_tables(rules)
    match["observation"] = offsets(rules)
    match["full"] = offsets(rules, full=True)
    return match.view(np.uint8)


def record(match: Bytes) -> RecordArray:
    """The match's state as a record that writes through."""
    return match.view(MATCH)[0].state


def states(match: Bytes) -> RecordArray:
    """The same as an array of shape [1]."""
    return match.view(_FIELDS)["state"]


def deal_reward(match: Bytes) -> Float32Array:
    """What the deal that `act` has just ended is worth to each team, [TEAMS] float32."""
    return match[_REWARD].view(np.float32)


@kernel
def begin(match: Bytes, seed: np.uint64, game: int, dealer: int, scores: Int64Array, order: Int8Array) -> int:
    """Start a match, with the cards of `order` if it holds any; returns the seat to act."""
    m = match.view(MATCH)[0]
    start_match(m.tables, m.state, seed, game, dealer, scores, False)
    if len(order) > 0:
        set_cards(m.tables, m.state, order)
    return as_int(m.state.turn)


@kernel
def deal_given(match: Bytes, order: Int8Array) -> None:
    """Begin the deal anew with the cards of `order`, [cards] int8."""
    m = match.view(MATCH)[0]
    set_cards(m.tables, m.state, order)


@kernel
def act(match: Bytes, action: int, mode: int) -> tuple[int, int]:
    """One action: the seat to act next, -1 if none or refused, and what came of it.

    When it has ended a deal, `deal_reward` is what that is worth to each team.
    """
    m = match.view(MATCH)[0]
    t, s = m.tables, m.state
    if not is_legal(t, s, action):
        return -1, REFUSED
    deals_before = s.deals
    step(t, s, action)
    if s.deals == deals_before:
        return as_int(s.turn), PLAYED
    for team in range(TEAMS):
        m.reward[team] = 0
    batch.add_reward(t, s, mode, m.reward, 0)
    return as_int(s.turn), CUT_OFF if s.truncated != 0 else DEAL_ENDED


@kernel
def show(match: Bytes, seat: int, observation: Int8Array, mask: Int8Array) -> None:
    """Write the view of a seat, and its mask: zeros unless it is to act."""
    m = match.view(MATCH)[0]
    t, s = m.tables, m.state
    write_observation(t, s, seat, m.observation, address(observation))
    if s.turn == seat:
        cards, calls = legal_sets(t, s)
        write_mask(t, cards, calls, len(mask), address(mask))
    else:
        clear_block(len(mask), address(mask))


@kernel
def show_all(match: Bytes, out: Int8Array) -> None:
    """Write the full information."""
    m = match.view(MATCH)[0]
    write_state(m.tables, m.state, 0, m.full, address(out))
