"""Agents made ready for a seat, and what a policy was not trained for."""

from __future__ import annotations

import threading
import warnings
from functools import lru_cache

import numpy as np

from smear_env import (
    Agent,
    CheckpointError,
    Rules,
    checkpoints_folder,
    find_checkpoint,
    load_policy,
    make_agent,
    read_policy,
)

_WARNINGS = threading.Lock()
"""Python's filters of warnings are one for all threads."""


def make_ready(agent: Agent, rules: Rules, seat: int = -1, seed: int = 0) -> Agent:
    """Reset an agent for a game, -1 for any seat; options that it was not trained on are told by `untrained`."""
    with _WARNINGS, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agent.reset(rules, seat, seed)
    return agent


def untrained(name: str, rules: Rules) -> list[str]:
    """Options of the rules that a policy was not trained on, as `target=11`; none for a player that is no policy."""
    try:
        trained = read_policy(find_checkpoint(name))["options"]
    except CheckpointError:
        return []
    chosen = {option: getattr(rules, option) for option in trained}
    return [f"{option}={value}" for option, value in chosen.items() if value not in trained[option]]


def seated(player: str, rules: Rules, seat: int, seed: int) -> Agent:
    """An agent ready to play; policies without search keep nothing between decisions and are shared."""
    if player in _policies():
        return _shared(player, rules)
    agent = make_agent(player)
    return make_ready(
        agent, rules, seat, int(np.random.SeedSequence((seed, seat)).generate_state(1, np.uint64)[0])
    )


@lru_cache(maxsize=1)
def _policies() -> frozenset[str]:
    return frozenset(path.parent.name for path in checkpoints_folder().glob("*/policy.json"))


@lru_cache(maxsize=64)
def _shared(player: str, rules: Rules) -> Agent:
    return make_ready(load_policy(player), rules)
