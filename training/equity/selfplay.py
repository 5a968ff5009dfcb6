"""Self-play in bulk: one player in every seat of many games, a checkpoint by its torch network.

The network gives what `load_policy` gives, and on processors that multiply bfloat16 in hardware does so in that
precision, as in training: only near-ties of a greedy policy can go otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import numpy as np
import torch

from smear_env import (
    PolicyAgent,
    Rules,
    SelfPlayVectorEnv,
    make_agent,
    order_suits,
    original_actions,
)
from training.arrays import BoolArray, Int8Array, Int64Array
from training.network import MASKED, bfloat16_pays, load_network
from training.noise import Noise, draw_actions

ROWS = 4096
"""Decisions that a network makes at once."""


Look = Callable[[Int64Array, Int8Array, Int64Array], None]
"""Is shown rows [B] of an env, their observations [B, d] and the actions [B] about to be taken."""


class Chooser(Protocol):
    """Actions for many decisions at once."""

    def __call__(self, observations: Int8Array, masks: Int8Array) -> Int64Array:
        """Legal actions [B] for [B, d] and [B, n] int8."""


def make_chooser(name: str, rules: Rules, *, sampled: bool = False, seed: int = 0) -> Chooser:
    """Who decides in every seat: a checkpoint (folder or shipped name) by its network, or a registered agent.

    A checkpoint takes its most probable action, or (`sampled`) draws by its probabilities. ValueError for a name that
    is neither, for a policy of another game, and for a player who sees all.
    """
    agent = make_agent(name)
    if getattr(agent, "clairvoyant", False):
        raise ValueError(f"agent {name!r} sees all hands: its matches are not those of a player")
    agent.reset(rules, -1, seed)
    if not isinstance(agent, PolicyAgent):
        return agent.act_batch
    return _NetworkChooser(agent.folder, rules, sampled=sampled, seed=seed)


class _NetworkChooser:
    def __init__(self, folder: Path, rules: Rules, *, sampled: bool, seed: int) -> None:
        self._network = load_network(folder)
        self._network.low_precision = bfloat16_pays()
        self._rules, self._sampled = rules, sampled
        self._noise = Noise(seed)

    @torch.inference_mode()
    def __call__(self, observations: Int8Array, masks: Int8Array) -> Int64Array:
        actions = np.empty(len(masks), np.int64)
        for first in range(0, len(masks), ROWS):
            part = slice(first, first + ROWS)
            seen = order_suits(observations[part], masks[part], self._rules)
            logits = self._network.logits(torch.from_numpy(seen.observation))
            if self._sampled:
                chosen = np.empty(len(seen.mask), np.int64)
                uniforms = self._noise.uniforms(len(chosen))[:, 0].copy()
                draw_actions(logits.numpy(), seen.mask, uniforms, chosen, np.empty(len(chosen), np.float32))
            else:
                legal = logits.masked_fill(torch.from_numpy(seen.mask) == 0, MASKED)
                chosen = legal.argmax(dim=-1).numpy()
            actions[part] = original_actions(chosen, seen.order, self._rules)
        return actions


def play_on(
    env: SelfPlayVectorEnv, choose: Chooser, episodes: int, look: Look | None = None
) -> Iterator[BoolArray]:
    """Play so many episodes in every game of an env from its start; after each step yields whose episode ended, [N].

    A game that has played its share waits: if the quick ones played on until the slow ones are done, short deals
    would be counted too often. `look` is given rows, what they show, and the actions about to be taken.
    """
    shown = env.reset()
    left = np.full(env.num_games, episodes)
    while len(rows := np.flatnonzero(left > 0)):
        whole = len(rows) == env.num_games
        observations = shown.observation if whole else shown.observation[rows]
        actions = np.full(env.num_games, -1, np.int64)
        actions[rows] = choose(observations, shown.mask if whole else shown.mask[rows])
        if look is not None:
            look(rows, observations, actions[rows])
        shown = env.step_some(actions)
        ended = shown.terminated | shown.truncated
        left -= ended
        yield ended
