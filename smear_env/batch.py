"""Many matches at once: the loops over the engine and the observation writer. No rule lives here.

The loops run over ranges of slots and release the interpreter, so that the caller spreads them over threads. Numba's
own `prange` does the same at twice the compilation, and its work queue aborts the process when two Python
threads enter it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from smear_env._jit import kernel
from smear_env._typing import BoolArray, Float32Array, Int8Array, Int64Array, RecordArray, as_int
from smear_env.engine.deal import start_match
from smear_env.engine.legal import count_legal, is_legal
from smear_env.engine.state import OVER, SCORED
from smear_env.engine.step import step
from smear_env.observation import write_mask, write_observation, write_state
from smear_env.rules import MAX_POINTS, MAX_SEATS

HOLD = -1
"""In place of an action: the game waits, nothing of it is rewritten but rewards and flags."""
RESTART = -2
"""In place of an action: start the game whose seed and number the state holds."""
SHOW = -3
"""In place of an action: write what the state shows, as after it was restored."""

REWARD_MATCH, REWARD_POINTS, REWARD_NONE = range(3)
LAST_MOVER = -1
"""In place of a viewer: final observations are seen from the seat that acted last."""

SETUP_DTYPE = np.dtype(
    [
        ("rules", np.int32),  # row of the tables this slot plays by
        ("dealer", np.int8),  # first dealer of each match, DRAWN = -1 at random
        ("viewer", np.int8),  # seat of final observations, LAST_MOVER = -1
        ("draw_scores", np.int8),  # 1: start scores are drawn
        ("scores", np.int64, (MAX_SEATS,)),  # start scores by team, if not drawn
        ("max_deals", np.int32),
        ("one_deal", np.int8),  # 1: an episode is one deal
    ],
    align=True,
)

DEAL_DTYPE = np.dtype(
    [
        ("ended", np.int8),  # 1 passed out, 2 scored
        ("dealer", np.int8),
        ("bid", np.int8),  # points, 0 passed out
        ("bidder", np.int8),  # seat, -1 passed out
        ("trump", np.int8),  # suit, -1 passed out
        ("made", np.int8),  # 1: the bid was made
        ("points", np.int8, (MAX_POINTS,)),  # team for each kind of point, -1 nobody
        ("card_points", np.int16, (MAX_SEATS,)),  # by team, that decide Game
        ("delta", np.int16, (MAX_SEATS,)),  # by team, before any cap
        ("scores_before", np.int32, (MAX_SEATS,)),
        ("scores", np.int32, (MAX_SEATS,)),  # by team after the deal
        ("winner", np.int8),  # team that has won the match, -1 none
    ],
    align=True,
)


class View(NamedTuple):
    """Where a kernel finds the pieces of each vector, and the `options` piece of each row of the tables."""

    observation: RecordArray  # [1] OFFSETS_DTYPE
    state: RecordArray  # [1] OFFSETS_DTYPE
    options: Int8Array  # [rules, options]


class Buffers(NamedTuple):
    """What the kernels write, N games; every row is the game's own."""

    observation: Int8Array  # [N, d] view of the seat to act
    mask: Int8Array  # [N, n]
    seat: Int64Array  # [N] seat to act
    reward: Float32Array  # [N, teams] since the action before
    terminated: BoolArray  # [N]
    truncated: BoolArray  # [N]
    final_observation: Int8Array  # [N, d] valid where the episode has just ended
    final_state: Int8Array  # [N, s] likewise
    deal_ended: BoolArray  # [N] a deal was finished by this step
    deals: RecordArray  # [N] DEAL_DTYPE, the last finished deal
    bits: Any  # [N, words] uint64, scratch


@kernel
def open_game(t: RecordArray, s: RecordArray, setup: RecordArray, game: int) -> None:
    """Start game number `game` of the match's seed."""
    s.max_deals = setup.max_deals
    s.one_deal = setup.one_deal
    start_match(t, s, s.seed, game, setup.dealer, setup.scores, setup.draw_scores != 0)


@kernel
def copy_deal(s: RecordArray, deal: RecordArray) -> None:
    """Keep the deal that a match has just finished."""
    deal.ended = s.ended
    deal.dealer = s.last_dealer
    deal.bid = s.last_bid
    deal.bidder = s.last_bidder
    deal.trump = s.last_trump
    deal.made = s.last_made
    deal.winner = s.winner
    for point in range(MAX_POINTS):
        deal.points[point] = s.last_points[point]
    for team in range(MAX_SEATS):
        deal.card_points[team] = s.last_card_points[team]
        deal.delta[team] = s.last_delta[team]
        deal.scores_before[team] = s.last_scores[team]
        deal.scores[team] = s.scores[team]


@kernel
def add_reward(t: RecordArray, s: RecordArray, mode: int, reward: Float32Array) -> None:
    """Add what a finished deal is worth to each team, [teams] float32.

    REWARD_POINTS: own score change less the mean of the other teams'. REWARD_MATCH: 1 to the winner of the match and
    -1 / (teams - 1) to the others. Both sum to zero.
    """
    others = t.teams - 1
    if mode == REWARD_POINTS and s.ended == SCORED:
        total = 0
        for team in range(t.teams):
            total += s.scores[team] - s.last_scores[team]
        for team in range(t.teams):
            own = s.scores[team] - s.last_scores[team]
            reward[team] += own - (total - own) / others
    elif mode == REWARD_MATCH and s.winner >= 0:
        for team in range(t.teams):
            reward[team] += 1.0 if team == s.winner else -1.0 / others


@kernel
def act(
    t: RecordArray, s: RecordArray, action: int, mode: int, reward: Float32Array, deal: RecordArray
) -> bool:
    """One action of one game; returns whether it finished a deal."""
    deals_before = s.deals
    step(t, s, action)
    if s.deals == deals_before:
        return False
    copy_deal(s, deal)
    add_reward(t, s, mode, reward)
    return True


@kernel
def skip_forced_moves(
    t: RecordArray, s: RecordArray, mask: Int8Array, mode: int, reward: Float32Array, deal: RecordArray
) -> bool:
    """Step while exactly one action is legal; returns whether a deal was finished.

    `mask` [n] int8 is scratch. The first decision of a deal is never forced, so at most one deal ends.
    """
    finished = False
    while s.phase != OVER and count_legal(t, s) == 1:
        write_mask(t, s, mask)
        action = 0
        while mask[action] == 0:
            action += 1
        if act(t, s, action, mode, reward, deal):
            finished = True
    return finished


@kernel
def step_games(
    tables: RecordArray,
    setups: RecordArray,
    states: RecordArray,
    actions: Int64Array,
    mode: int,
    skip_forced: bool,
    view: View,
    out: Buffers,
    start: int,
    stop: int,
) -> None:
    """In slots `start` to `stop`, apply one legal action, or HOLD, RESTART or SHOW, and show what follows.

    A finished game leaves its end in the final buffers and its slot starts the game `len(states)` further on. Slots
    are independent, so ranges may run in threads of their own.
    """
    for i in range(start, stop):
        for team in range(out.reward.shape[1]):
            out.reward[i, team] = 0
        out.terminated[i] = False
        out.truncated[i] = False
        out.deal_ended[i] = False
        if actions[i] == HOLD:
            continue
        row = setups[i].rules
        t = tables[row]
        s = states[i]
        options = view.options[row]
        bits = out.bits[i]
        mask = out.mask[i]
        reward = out.reward[i]
        if actions[i] == RESTART:
            open_game(t, s, setups[i], s.game)
        elif actions[i] != SHOW:
            mover = as_int(s.turn)
            out.deal_ended[i] = act(t, s, actions[i], mode, reward, out.deals[i])
            if skip_forced and skip_forced_moves(t, s, mask, mode, reward, out.deals[i]):
                out.deal_ended[i] = True
            if s.phase == OVER:
                out.truncated[i] = s.truncated != 0
                out.terminated[i] = s.truncated == 0
                viewer = mover if setups[i].viewer == LAST_MOVER else as_int(setups[i].viewer)
                write_observation(t, s, viewer, view.observation[0], options, bits, out.final_observation[i])
                write_state(t, s, 0, view.state[0], options, bits, out.final_state[i])
                open_game(t, s, setups[i], s.game + len(states))
        if skip_forced:
            # After a deal a forced move is impossible, and then this does nothing.
            skip_forced_moves(t, s, mask, mode, reward, out.deals[i])
        out.seat[i] = s.turn
        write_observation(t, s, as_int(s.turn), view.observation[0], options, bits, out.observation[i])
        write_mask(t, s, mask)


@kernel
def write_states(
    tables: RecordArray,
    setups: RecordArray,
    states: RecordArray,
    view: View,
    relative: bool,
    bits: Any,
    out: Int8Array,
) -> None:
    """Write the full information of every game, [N, s] int8, seats absolute or counted from the seat to act."""
    for i in range(len(states)):
        row = setups[i].rules
        seat = max(0, as_int(states[i].turn)) if relative else 0
        write_state(tables[row], states[i], seat, view.state[0], view.options[row], bits[i], out[i])


@kernel
def first_illegal(
    tables: RecordArray, setups: RecordArray, states: RecordArray, actions: Int64Array, hold: bool
) -> int:
    """The first slot whose action is not legal, -1 if none; HOLD passes if `hold`."""
    for i in range(len(actions)):
        action = actions[i]
        if hold and action == HOLD:
            continue
        if not is_legal(tables[setups[i].rules], states[i], action):
            return i
    return -1
