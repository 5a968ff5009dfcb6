"""What an action is worth to the seat to act, from what that seat sees.

The shipped policy of the game, or `expert` where there is none, says what it would do. Then each action is tried in
worlds that fit the observation, the same adviser playing every seat to the end of the deal: the mean of the points that
follow, and for a bid how often it is made where nobody goes higher.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from smear_env import Agent, PolicyAgent, Rules, load_policy, make_agent, play_to_end
from smear_env.agents.search.policy_search import PolicySearchAgent
from smear_env.agents.search.worlds import sample_worlds
from smear_table.catalogue import players_of
from smear_table.players import make_ready

WORLDS = 96
"""Worlds in which each action is tried."""
MOST_GAMES = 1200
"""Most games played at once: with many actions there are fewer worlds."""
LEAST_WORLDS = 24

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Advice:
    """One action of the seat to act."""

    action: int
    probability: float
    """With which the adviser chooses it."""
    points: float
    """Own score change of the deal less the mean of the others', to be expected."""
    error: float
    """Standard error of `points` from the number of worlds."""
    make: float | None
    """Of a bid: how likely it is made if it stands; None for other actions, or where it never stands."""


@lru_cache(maxsize=64)
def adviser_of(rules: Rules) -> tuple[str, Agent]:
    """The name of the adviser of a game, and the adviser, for any seat."""
    shipped = [one["player"] for one in players_of(rules.name) if one["label"].startswith("Policy")]
    name = shipped[0] if shipped else "expert"
    agent: Agent = load_policy(name) if shipped else make_agent(name)
    return name, make_ready(agent, rules)


def advise(observation: Array, mask: Array, rules: Rules, worlds: int = WORLDS) -> list[Advice]:
    """Every legal action of an observation [d] with mask [n], the adviser's favourite first."""
    _, agent = adviser_of(rules)
    chances = agent.probabilities(observation[None], mask[None])[0]
    actions = np.flatnonzero(mask)
    count = max(LEAST_WORLDS, min(worlds, MOST_GAMES // len(actions)))
    states, weights = _worlds(observation, rules, agent, count)
    points, stands, made = _play(states, actions, rules, agent)
    mean = weights @ points
    spread = np.sqrt(np.maximum(weights @ (points - mean) ** 2, 0.0) / max(len(weights) - 1, 1))
    bids = {len(rules.card_names) + 1 + i for i in range(rules.max_bid - rules.min_bid + 1)}
    found = []
    for column, action in enumerate(actions):
        standing = float(weights @ stands[:, column])
        make = float(weights @ made[:, column]) / standing if action in bids and standing > 0 else None
        found.append(
            Advice(int(action), float(chances[action]), float(mean[column]), float(spread[column]), make)
        )
    return sorted(found, key=lambda one: (-one.probability, -one.points))


def _worlds(observation: Array, rules: Rules, agent: Agent, count: int) -> tuple[Any, Array]:
    """Tables that fit, [W] records, and how much each counts [W]; seats are counted from the viewer."""
    row = np.ascontiguousarray(observation, np.int8)
    if isinstance(agent, PolicyAgent):
        search = PolicySearchAgent(agent, count)
        make_ready(search, rules)
        states, weights, _ = search.draw(row)
        return states, weights
    states = sample_worlds(row, rules, count, zlib.crc32(row.tobytes())).states
    return states, np.full(len(states), 1 / len(states))


def _play(states: Any, actions: Array, rules: Rules, agent: Agent) -> tuple[Array, Array, Array]:
    """Own points, whether the viewer became bidder, whether he made it: [W, A] each, of each action in each world."""
    shape = (len(states), len(actions))
    played = play_to_end(np.repeat(states, len(actions)), np.tile(actions, len(states)), rules, agent)
    return played.points.reshape(shape), played.stands.reshape(shape), played.made.reshape(shape)
