"""Self-play of expert for fitting it: decisions of dealt games, each choice played out to the end on the true cards.

Everything here runs inside kernels: thousands of deals a second on one core.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from smear_env._jit import kernel
from smear_env._typing import Float32Array, Float64Array, Int8Array, Int64Array, RecordArray, as_int
from smear_env.agents.expert.agent import expert_action, expert_step, play_out, show
from smear_env.agents.expert.auction import grade_of, holder_of, level_of
from smear_env.agents.expert.book import DEALER_HAND, FIRST_HAND, PLAIN, SEEN_STOCK
from smear_env.agents.expert.features import throw_features
from smear_env.agents.expert.hand import strongest_suit
from smear_env.agents.expert.play import card_features, context_of, table_of, throw_context, trump_to_play
from smear_env.agents.greedy.agent import decide
from smear_env.agents.seen import Whole, look
from smear_env.cards import count, drop_lowest, lowest
from smear_env.engine.deal import draw_below, start_match, stream
from smear_env.engine.state import BID, NAME, OVER, PLAY, SCORED, new_states
from smear_env.engine.step import step

_NONE = np.uint64(0)
CHANCE = 1_000_003
"""Stream of the choices made at random, beside the deals'."""
GREEDY = -1
"""In place of a style: the player greedy."""


class Bench(NamedTuple):
    """Room to play in: a state, a copy of it for playing out, an observation and a mask."""

    states: RecordArray  # [2] STATE_DTYPE
    raw: Any  # [2, bytes] uint8, the same memory
    row: Int8Array  # [1, d]
    mask: Int8Array  # [1, n]


class Choices(NamedTuple):
    """Decisions with every choice played out; those of decision i are `start[i]` to `start[i + 1]`."""

    start: Int64Array  # [M + 1]
    context: Int64Array  # [M] role of a card
    features: Float32Array  # [C, features]
    value: Float32Array  # [C] own score less the others' mean at the end of the deal


class Calls(NamedTuple):
    """Calls of the auction, each played out."""

    place: Int64Array  # [M, 6] seats left, holder, level so far, grade, role, cell of the strongest suit
    call: Int64Array  # [M] level of the call, 0 a pass
    value: Float32Array  # [M] own score less the others' mean
    own: Int64Array  # [M] points made as bidder, -1 outbid or passed
    others: Float32Array  # [M] mean of the other teams' points
    stock: Int64Array  # [M] cell of the bidder once he has seen the stock, -1 none


def new_bench(row: int, mask: int) -> Bench:
    """Room for games whose observations have `row` entries and masks `mask`."""
    states = new_states(2)
    plain = np.array(states.view(np.ndarray))
    raw = plain.view(np.uint8).reshape(2, -1)
    return Bench(plain, raw, np.zeros((1, row), np.int8), np.zeros((1, mask), np.int8))


@kernel
def outcome(t: RecordArray, s: RecordArray, team: Whole) -> float:
    """Own score less the others' mean in the deal just ended; 0 where it was passed out."""
    if s.ended != SCORED:
        return 0.0
    total = 0
    for other in range(t.teams):
        total += s.last_delta[other]
    own = np.float64(s.last_delta[team])
    return own - (total - own) / (t.teams - 1)


@kernel
def start_deal(t: RecordArray, s: RecordArray, seed: np.uint64, game: int) -> None:
    """Deal game number `game`: one deal from level scores."""
    s.seed = seed
    s.max_deals = 1
    s.one_deal = 1
    start_match(t, s, seed, game, -1, np.zeros(6, np.int64), False)


@kernel
def gather(
    tables: RecordArray,
    starts: RecordArray,
    books: RecordArray,
    bench: Bench,
    seed: np.uint64,
    games: int,
    keep: float,
    keep_cards: float,
    choices: Choices,
    calls: Calls,
) -> tuple[int, int]:
    """Play games and write what each choice of about `keep` of the calls and `keep_cards` of the cards leads to.

    Returns how many decisions of cards, and how many calls, were written; ends early when there is no more room.
    """
    t = tables[0]
    at = starts[0]
    b = books[0]
    s = bench.states[0]
    written = 0
    called = 0
    choices.start[0] = 0
    rare = as_int(keep * 1000)
    rare_cards = as_int(keep_cards * 1000)
    for game in range(games):
        start_deal(t, s, seed, game)
        generator = stream(seed, game, CHANCE)
        while s.phase != OVER:
            action = show(t, at, s, bench.row[0], bench.mask[0])
            if action < 0:
                generator, kept = draw_below(generator, 1000)
                generator, wild = draw_below(generator, 1000)
                phase = as_int(s.phase)
                row = bench.row[0].copy()
                mask = bench.mask[0].copy()
                if kept < rare and phase == BID:
                    if called + 8 > len(calls.call):
                        return written, called
                    called = play_calls(t, at, b, bench, row, mask, calls, called)
                elif kept < rare_cards and phase != BID and phase != NAME:
                    if choices.start[written] + 64 > len(choices.value) or written + 1 >= len(choices.start):
                        return written, called
                    written = play_choices(t, at, b, bench, row, mask, choices, written)
                action = expert_action(t, at, row, mask, b, PLAIN)
                if wild < (150 if phase == BID else 40):
                    generator, chosen = draw_below(generator, np.sum(mask))
                    action = nth_legal(mask, chosen)
            step(t, s, action)
    return written, called


@kernel
def nth_legal(mask: Int8Array, place: int) -> Whole:
    """The action at a place among the legal ones."""
    for action in range(len(mask)):
        if mask[action] != 0:
            if place == 0:
                return as_int(action)
            place -= 1
    return as_int(-1)


@kernel
def play_choices(
    t: RecordArray,
    at: RecordArray,
    b: RecordArray,
    bench: Bench,
    row: Int8Array,
    mask: Int8Array,
    choices: Choices,
    written: int,
) -> int:
    """Write every choice of one decision about a card; returns the number of decisions written."""
    v = look(t, at, row, mask)
    team = as_int(t.team_of[bench.states[0].turn])
    end = choices.start[written]
    if v.phase == PLAY:
        trump, legal = trump_to_play(t, b, v)
        a = table_of(t, at, row, b, v, trump)
        context = context_of(t, v, a)
        stays = -1.0
    else:
        trump, context, legal = throw_context(t, b, v)
    if count(legal) + as_int(mask[t.cards]) < 2:
        return written
    while legal != _NONE:
        card = as_int(lowest(legal))
        legal = drop_lowest(legal)
        if v.phase == PLAY:
            stays = card_features(t, at, row, b, v, a, card, stays, choices.features[end])
        else:
            throw_features(t, b, v, trump, card, choices.features[end])
        choices.value[end] = value_of(t, at, b, bench, card, team)
        end += 1
    if mask[t.cards] != 0:
        choices.features[end, :] = 0
        choices.value[end] = value_of(t, at, b, bench, as_int(t.cards), team)
        end += 1
    choices.context[written] = context
    choices.start[written + 1] = end
    return written + 1


@kernel
def value_of(
    t: RecordArray, at: RecordArray, b: RecordArray, bench: Bench, action: Whole, team: Whole
) -> float:
    """What an action leads to when all go on as expert."""
    bench.raw[1, :] = bench.raw[0, :]
    step(t, bench.states[1], action)
    play_out(t, at, bench.states[1], b, PLAIN, bench.row[0], bench.mask[0])
    return outcome(t, bench.states[1], team)


@kernel
def play_calls(
    t: RecordArray,
    at: RecordArray,
    b: RecordArray,
    bench: Bench,
    row: Int8Array,
    mask: Int8Array,
    calls: Calls,
    called: int,
) -> int:
    """Write every call of one decision in the auction; returns the number of calls written."""
    v = look(t, at, row, mask)
    seat = as_int(bench.states[0].turn)
    team = as_int(t.team_of[seat])
    role = as_int(DEALER_HAND) if v.dealer == 0 else as_int(FIRST_HAND)
    _, cell, points = strongest_suit(t, b, v.hand, t.deck, role)
    for action in range(t.cards, t.cards + 2 + t.max_bid - t.min_bid):
        if mask[action] != 0:
            calls.place[called, 0] = v.dealer
            calls.place[called, 1] = holder_of(t, v)
            calls.place[called, 2] = level_of(t, v.bid)
            calls.place[called, 3] = grade_of(points)
            calls.place[called, 4] = role
            calls.place[called, 5] = cell
            calls.call[called] = action - t.cards
            bench.raw[1, :] = bench.raw[0, :]
            s = bench.states[1]
            step(t, s, as_int(action))
            calls.stock[called] = seen_stock(t, at, b, bench)
            play_out(t, at, s, b, PLAIN, bench.row[0], bench.mask[0])
            calls.value[called] = outcome(t, s, team)
            own = as_int(-1)
            if s.ended == SCORED and s.last_bidder == seat:
                own = as_int(0)
                total = 0.0
                for point in range(t.points):
                    if s.last_points[point] == team:
                        own += 1
                    elif s.last_points[point] >= 0:
                        total += 1
                calls.others[called] = total / (t.teams - 1)
            calls.own[called] = own
            called += 1
    return called


@kernel
def seen_stock(t: RecordArray, at: RecordArray, b: RecordArray, bench: Bench) -> Whole:
    """Play the copy on until the bidder sees the stock; the cell of his best suit then, -1 if he never does."""
    s = bench.states[1]
    while s.phase == BID:
        expert_step(t, at, s, b, PLAIN, bench.row[0], bench.mask[0])
    if s.phase == OVER or t.trump_named:
        return as_int(-1)
    hand = s.hand[s.bidder]
    _, cell, _ = strongest_suit(t, b, hand, hand, as_int(SEEN_STOCK))
    return cell


@kernel
def duel(
    tables: RecordArray,
    starts: RecordArray,
    books: RecordArray,
    styles: Int64Array,
    bench: Bench,
    seed: np.uint64,
    games: int,
    points: Float64Array,
) -> None:
    """Play duplicate deals, [games, teams]: book and style 0 as team 0, 1 ..., book and style 1 in all other seats."""
    t = tables[0]
    at = starts[0]
    s = bench.states[0]
    for game in range(games):
        for side in range(t.teams):
            start_deal(t, s, seed, game)
            while s.phase != OVER:
                action = show(t, at, s, bench.row[0], bench.mask[0])
                if action < 0:
                    player = 0 if t.team_of[s.turn] == side else 1
                    if styles[player] == GREEDY:
                        action = decide(t, at, bench.row[0], bench.mask[0])
                    else:
                        action = expert_action(
                            t, at, bench.row[0], bench.mask[0], books[player], styles[player]
                        )
                step(t, s, action)
            points[game, side] = outcome(t, s, as_int(side))
