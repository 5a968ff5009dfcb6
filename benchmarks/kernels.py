"""Random play inside compiled kernels: what the engine does when no Python stands between two decisions.

The rules alone in two orders, whole games one after another and one decision of each game in turn, and the whole
kernel that `SelfPlayVectorEnv.step` runs, with observation and mask. These use internals of the package.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from smear_env import SelfPlayVectorEnv, batch
from smear_env._jit import inline_kernel, kernel
from smear_env._typing import Int64Array, RecordArray, UInt64Array, as_int
from smear_env.cards import count, drop_lowest, lowest
from smear_env.engine.deal import draw_below
from smear_env.engine.legal import legal_sets
from smear_env.engine.state import OVER
from smear_env.engine.step import step


class Games(NamedTuple):
    """N started games and what random play keeps of them; the kernels below change it in place."""

    tables: RecordArray  # [rules]
    setups: RecordArray  # [N] SETUP_DTYPE
    states: RecordArray  # [N] STATE_DTYPE
    pieces: batch.View
    out: batch.Buffers
    generators: UInt64Array  # [N] of the chosen actions; those of the deals are the states' own
    actions: Int64Array  # [N] chosen last


def new_games(count: int, rules: str, seed: int) -> Games:
    """`count` games of a preset at their first decision, with a generator of choices for each."""
    env = SelfPlayVectorEnv(count, rules, seed=seed)
    env.reset()
    generators = np.random.default_rng(seed).integers(0, 2**64, count, np.uint64)
    return Games(
        env._tables,
        env._setups,
        env._states,
        env._view,
        env._out,
        generators,
        np.zeros(count, np.int64),
    )


@inline_kernel
def choose(cards: np.uint64, calls: np.uint64, deck: int, generator: np.uint64) -> tuple[np.uint64, int]:
    """The generator's next state and a legal action id, each equally likely; `deck` is the number of cards."""
    held = count(cards)
    generator, skipped = draw_below(generator, held + count(calls))
    first, chosen = 0, cards
    if skipped >= held:
        first, chosen, skipped = deck, calls, skipped - held
    for _ in range(skipped):
        chosen = drop_lowest(chosen)
    return generator, first + lowest(chosen)


@kernel
def play_games(games: Games, matches: int) -> int:
    """Play `matches` whole matches one after another, all in slot 0, by the rules alone; returns the decisions."""
    s = games.states[0]
    t = games.tables[games.setups[0].rules]
    deck = as_int(t.cards)
    generator = games.generators[0]
    decisions = 0
    for _ in range(matches):
        while s.phase != OVER:
            cards, calls = legal_sets(t, s)
            generator, action = choose(cards, calls, deck, generator)
            step(t, s, action)
            decisions += 1
        batch.open_game(t, s, games.setups[0], s.game + 1)
    games.generators[0] = generator
    return decisions


@kernel
def play_in_turn(games: Games, rounds: int) -> int:
    """One decision of each game in turn, `rounds` times, by the rules alone; returns the decisions."""
    size = len(games.states)
    for _ in range(rounds):
        for i in range(size):
            s = games.states[i]
            t = games.tables[games.setups[i].rules]
            cards, calls = legal_sets(t, s)
            games.generators[i], action = choose(cards, calls, as_int(t.cards), games.generators[i])
            step(t, s, action)
            if s.phase == OVER:
                batch.open_game(t, s, games.setups[i], s.game + size)
    return rounds * size


@kernel
def play_observed(games: Games, rounds: int) -> int:
    """As `play_in_turn`, by the kernel of `SelfPlayVectorEnv.step`: observation and mask of every decision."""
    size = len(games.states)
    out = games.out
    for _ in range(rounds):
        choose_all(games)
        batch.step_games(
            games.tables,
            games.setups,
            games.states,
            games.actions,
            batch.REWARD_MATCH,
            False,
            games.pieces,
            out,
            0,
            size,
        )
    return rounds * size


@kernel
def choose_all(games: Games) -> None:
    """An action for every game from the legal sets that were written with its mask, into `actions`."""
    legal = games.out.legal
    for i in range(len(games.states)):
        deck = as_int(games.tables[games.setups[i].rules].cards)
        games.generators[i], games.actions[i] = choose(legal[i, 0], legal[i, 1], deck, games.generators[i])
