"""Many matches at once: the loops over the engine and the observation writer. No rule lives here.

The loops run over ranges of slots and release the interpreter, so that the caller spreads them over threads. Numba's
own `prange` does the same at twice the compilation, and its work queue aborts the process when two Python
threads enter it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from smear_env._jit import inline_kernel, kernel
from smear_env._typing import BoolArray, Float32Array, Int8Array, Int64Array, RecordArray, UInt64Array, as_int
from smear_env.cards import count, lowest
from smear_env.engine.deal import set_cards, start_match
from smear_env.engine.legal import contains, legal_sets
from smear_env.engine.state import OVER, SCORED, TEAMS
from smear_env.engine.step import step
from smear_env.flags import address
from smear_env.observation import write_mask, write_observation, write_state
from smear_env.rules import MAX_POINTS, MAX_SEATS

_NONE = np.uint64(0)

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
        ("stride", np.int64),  # the slot's next game is so many further on
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
    """Where a kernel finds the pieces of each vector, for each row of the tables."""

    observation: RecordArray  # [rules] OFFSETS_DTYPE
    state: RecordArray  # [rules] OFFSETS_DTYPE, full


class Buffers(NamedTuple):
    """What the kernels write, N games; every row is the game's own."""

    observation: Int8Array  # [N, d] view of the seat to act
    mask: Int8Array  # [N, n]
    legal: UInt64Array  # [N, 2] the same as two sets, cards and calls: what `first_illegal` trusts
    seat: Int64Array  # [N] seat to act
    reward: Float32Array  # [N, teams] since the action before
    terminated: BoolArray  # [N]
    truncated: BoolArray  # [N]
    final_observation: Int8Array  # [N, d] valid where the episode has just ended
    final_state: Int8Array  # [N, s] likewise
    deal_ended: BoolArray  # [N] a deal was finished by this step
    deals: RecordArray  # [N] DEAL_DTYPE, the last finished deal


@kernel
def open_game(t: RecordArray, s: RecordArray, setup: RecordArray, game: int) -> None:
    """Start game number `game` of the match's seed."""
    s.max_deals = setup.max_deals
    s.one_deal = setup.one_deal
    start_match(t, s, s.seed, game, setup.dealer, setup.scores, setup.draw_scores != 0)


@inline_kernel
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


@inline_kernel
def add_reward(t: RecordArray, s: RecordArray, mode: int, reward: Float32Array, start: int) -> None:
    """Add what a finished deal is worth to each team to the [teams] entries of `reward` from `start` on.

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
            reward[start + team] += own - (total - own) / others
    elif mode == REWARD_MATCH and s.winner >= 0:
        for team in range(t.teams):
            reward[start + team] += 1.0 if team == s.winner else -1.0 / others


@inline_kernel
def act(
    t: RecordArray,
    s: RecordArray,
    action: int,
    mode: int,
    reward: Float32Array,
    start: int,
    deal: RecordArray,
) -> bool:
    """One action of one game, its reward added from `start` on; returns whether it finished a deal."""
    deals_before = s.deals
    step(t, s, action)
    if s.deals == deals_before:
        return False
    copy_deal(s, deal)
    add_reward(t, s, mode, reward, start)
    return True


@kernel
def skip_forced_moves(
    t: RecordArray, s: RecordArray, mode: int, reward: Float32Array, start: int, deal: RecordArray
) -> bool:
    """Step while exactly one action is legal; returns whether a deal was finished.

    The first decision of a deal is never forced, so at most one deal ends.
    """
    finished = False
    cards, calls = legal_sets(t, s)
    while count(cards) + count(calls) == 1:
        action = lowest(cards) if calls == _NONE else as_int(t.cards) + lowest(calls)
        if act(t, s, action, mode, reward, start, deal):
            finished = True
        cards, calls = legal_sets(t, s)
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

    A finished game leaves its end in the final buffers and its slot starts the game `stride` further on. Slots are
    independent, so ranges may run in threads of their own.
    """
    teams = out.reward.shape[1]
    actions_count = out.mask.shape[1]
    size = out.observation.shape[1]
    whole = out.final_state.shape[1]
    observation = address(out.observation)
    mask = address(out.mask)
    reward = out.reward.reshape(-1)
    final_observation = address(out.final_observation)
    final_state = address(out.final_state)
    for i in range(start, stop):
        for team in range(TEAMS):
            if team == teams:
                break
            reward[i * teams + team] = 0
        out.terminated[i] = False
        out.truncated[i] = False
        out.deal_ended[i] = False
        action = actions[i]
        if action == HOLD:
            continue
        rules = setups[i].rules
        t = tables[rules]
        s = states[i]
        deal = out.deals[i]
        at = view.observation[rules]
        if action == RESTART:
            open_game(t, s, setups[i], s.game)
        elif action != SHOW:
            mover = as_int(s.turn)
            ended = act(t, s, action, mode, reward, i * teams, deal)
            if skip_forced and skip_forced_moves(t, s, mode, reward, i * teams, deal):
                ended = True
            out.deal_ended[i] = ended
            if s.phase == OVER:
                out.truncated[i] = s.truncated != 0
                out.terminated[i] = s.truncated == 0
                viewer = mover if setups[i].viewer == LAST_MOVER else as_int(setups[i].viewer)
                write_observation(t, s, viewer, at, final_observation + i * size)
                write_state(t, s, 0, view.state[rules], final_state + i * whole)
                open_game(t, s, setups[i], s.game + setups[i].stride)
        if skip_forced:
            # After a deal a forced move is impossible, and then this does nothing.
            skip_forced_moves(t, s, mode, reward, i * teams, deal)
        seat = as_int(s.turn)
        out.seat[i] = seat
        write_observation(t, s, seat, at, observation + i * size)
        cards, calls = legal_sets(t, s)
        out.legal[i, 0] = cards
        out.legal[i, 1] = calls
        write_mask(t, cards, calls, actions_count, mask + i * actions_count)


@kernel
def set_deals(tables: RecordArray, setups: RecordArray, states: RecordArray, orders: Int8Array) -> None:
    """Begin the present deal of every game anew with given cards, [N, cards] int8; its dealer stays."""
    for i in range(len(states)):
        set_cards(tables[setups[i].rules], states[i], orders[i])


@kernel
def write_states(
    tables: RecordArray, setups: RecordArray, states: RecordArray, view: View, relative: bool, out: Int8Array
) -> None:
    """Write the full information of every game, [N, s] int8, seats absolute or counted from the seat to act."""
    size = out.shape[1]
    first = address(out)
    for i in range(len(states)):
        rules = setups[i].rules
        seat = max(0, as_int(states[i].turn)) if relative else 0
        write_state(tables[rules], states[i], seat, view.state[rules], first + i * size)


@kernel
def first_illegal(cards_in_deck: int, legal: UInt64Array, actions: Int64Array, hold: bool) -> int:
    """The first slot whose action, of any value, is not in the legal sets, -1 if none; HOLD passes if `hold`."""
    for i in range(len(actions)):
        if not (
            contains(legal[i, 0], legal[i, 1], cards_in_deck, actions[i]) or (hold and actions[i] == HOLD)
        ):
            return i
    return -1
