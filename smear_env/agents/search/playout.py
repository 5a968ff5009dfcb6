"""What each action of the seat to act leads to in given worlds: played out by `expert`, or solved.

Values are those of the solver: (teams - 1) * own score change - the sum of the other teams', in points; a deal
thrown in is worth 0. Every action is tried in the same worlds, so that the luck of the deal cancels between
them.
"""

from __future__ import annotations

import numpy as np

from smear_env._jit import kernel
from smear_env._typing import Float32Array, Int8Array, RecordArray
from smear_env.agents.expert import expert_step, play_out
from smear_env.agents.seen import Whole
from smear_env.engine.state import DISCARD, OVER, PLAY, SCORED
from smear_env.engine.step import step
from smear_env.solver import solve_state, solve_state_cards, solve_state_discards


@kernel
def to_play(
    t: RecordArray,
    at: RecordArray,
    s: RecordArray,
    book: RecordArray,
    style: Whole,
    row: Int8Array,
    mask: Int8Array,
) -> None:
    """Let `expert` act for all seats until the first lead, or until the deal is thrown in."""
    while s.phase != OVER and s.phase != PLAY:
        expert_step(t, at, s, book, style, row, mask)


@kernel
def deal_value(t: RecordArray, s: RecordArray, team: Whole) -> Whole:
    """What the deal that has ended is worth to a team."""
    if s.ended != SCORED:
        return np.int64(0)
    value = np.int64(0)
    for other in range(t.teams):
        value += (t.teams - 1) * s.last_delta[other] if other == team else -s.last_delta[other]
    return value


@kernel
def values_by_play(
    tables: RecordArray,
    starts: RecordArray,
    states: RecordArray,
    legal: Int8Array,
    books: RecordArray,
    style: Whole,
    scratch: RecordArray,
    row: Int8Array,
    values: Float32Array,
) -> None:
    """Write the value of each legal action in each world, [W, n], by a play-out; others are left as they are.

    states: [W] at a decision of seat 0. legal: [n] its mask. scratch: a state. row: [d], written over.
    """
    t, at, s = tables[0], starts[0], scratch[0]
    mask = np.empty(len(legal), np.int8)
    for world in range(len(states)):
        for action in range(len(legal)):
            if legal[action] != 0:
                scratch[0] = states[world]
                step(t, s, action)
                play_out(t, at, s, books[0], style, row, mask)
                values[world, action] = deal_value(t, s, 0)


@kernel
def values_by_solver(
    tables: RecordArray, states: RecordArray, legal: Int8Array, work: RecordArray, values: Float32Array
) -> None:
    """Write the value of each card in each world, [W, n], all hands known: to play, or to discard before trump
    is known.
    """
    t = tables[0]
    cards = np.int64(t.cards)
    found = np.empty(cards, np.int16)
    for world in range(len(states)):
        if states[world].phase == DISCARD:
            solve_state_discards(t, states[world], work, found)
        else:
            solve_state_cards(t, states[world], work, found)
        for card in range(cards):
            if legal[card] != 0:
                values[world, card] = found[card]


@kernel
def values_before_play(
    tables: RecordArray,
    starts: RecordArray,
    states: RecordArray,
    legal: Int8Array,
    books: RecordArray,
    style: Whole,
    scratch: RecordArray,
    row: Int8Array,
    work: RecordArray,
    values: Float32Array,
) -> None:
    """As `values_by_play` for a decision before the first lead: `expert` acts until then, and the play is solved."""
    t, at, s = tables[0], starts[0], scratch[0]
    mask = np.empty(len(legal), np.int8)
    for world in range(len(states)):
        for action in range(len(legal)):
            if legal[action] != 0:
                scratch[0] = states[world]
                step(t, s, action)
                to_play(t, at, s, books[0], style, row, mask)
                values[world, action] = solved_value(t, s, work)


@kernel
def solved_value(t: RecordArray, s: RecordArray, work: RecordArray) -> Whole:
    """Value for team 0 of a state in play or of a deal that has ended.

    With three teams the solver's value is that of the team to act, here the bidder's: of another's deal half of
    it is taken with the other sign, as if the two other teams shared it.
    """
    if s.phase == OVER:
        return deal_value(t, s, 0)
    value = np.float64(solve_state(t, s, work))
    if t.team_of[s.turn] == 0:
        return value
    return -value / (t.teams - 1)
