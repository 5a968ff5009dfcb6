"""Agents by name, checkpoint, instance or factory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from smear_env.agents.base import Agent
from smear_env.agents.expert import AGGRESSIVE, CAUTIOUS, ExpertAgent
from smear_env.agents.greedy import GreedyAgent
from smear_env.agents.search.names import PATTERNS, make_search_agent
from smear_env.agents.simple import PasserAgent, RandomAgent
from smear_env.plugins import REMEDY, is_again, load_plugins

AgentLike = str | Path | Agent | Callable[[], Agent]
"""A registered name, a checkpoint's folder or shipped name, an agent, or what makes one."""

_FACTORIES: dict[str, Callable[[], Agent]] = {}


def register_agent(name: str, factory: Callable[[], Agent]) -> None:
    """Make `factory` known as `name`, or anew (`plugins.is_again`); ValueError if the name is another's."""
    if name in _FACTORIES and not is_again(_FACTORIES[name], factory):
        raise ValueError(f"agent {name!r} is registered already: choose another name")
    _FACTORIES[name] = factory


def agent_names() -> tuple[str, ...]:
    """Names of the registered agents, sorted."""
    load_plugins()
    return tuple(sorted(_FACTORIES))


def make_agent(name_or_path: AgentLike) -> Agent:
    """An agent by registered name, by checkpoint (folder or shipped name), from a factory, or as it is.

    Searching players have their size in their name: `pimc-20`, `ismcts-500` (`agents/search/names.py`).
    Raises `ValueError` for a name or path that is none of these, listing the registered names, and
    `TypeError` for what is no agent.
    """
    if isinstance(name_or_path, str):
        if name_or_path not in _FACTORIES:
            load_plugins()
        if name_or_path in _FACTORIES:
            return _FACTORIES[name_or_path]()
        searching = make_search_agent(name_or_path)
        if searching is not None:
            return searching
    if isinstance(name_or_path, str | Path):
        return _load(name_or_path)
    # A class has the methods of its agents, but is a factory.
    is_factory = isinstance(name_or_path, type) or not isinstance(name_or_path, Agent)
    made: Any = name_or_path() if is_factory and callable(name_or_path) else name_or_path
    if not isinstance(made, Agent):
        raise TypeError(f"{made!r} is no agent: it lacks reset, act, act_batch or probabilities")
    return made


def _load(name_or_path: str | Path) -> Agent:
    # Checkpoints need safetensors and files, which no other agent does.
    from smear_env.agents.policy import load_policy

    try:
        policy: Agent = load_policy(name_or_path)
    except (FileNotFoundError, ValueError) as error:
        if Path(name_or_path).exists():
            raise
        known = ", ".join((*agent_names(), *PATTERNS))
        message = (
            f"{str(name_or_path)!r} is no registered agent ({known}) and no checkpoint: {error}; {REMEDY}"
        )
        raise ValueError(message) from error
    return policy


_SCRIPTED: dict[str, Callable[[], Agent]] = {
    "random": RandomAgent,
    "passer": PasserAgent,
    "greedy": GreedyAgent,
    "expert": ExpertAgent,
    "expert-cautious": partial(ExpertAgent, CAUTIOUS),
    "expert-aggressive": partial(ExpertAgent, AGGRESSIVE),
}
for _name, _factory in _SCRIPTED.items():
    register_agent(_name, _factory)
