"""Agents made ready for a seat, and what a policy was not trained for."""

from __future__ import annotations

import threading
import warnings

from smear_env import Agent, CheckpointError, Rules, find_checkpoint, read_policy

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
