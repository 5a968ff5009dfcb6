"""What an action is worth to the seat to act, from what that seat sees.

The shipped policy of the game, or `expert` where there is none, says what it would do. Then each action is tried in
worlds that fit the observation, the same adviser playing every seat to the end of the deal: the mean of the points that
follow, for a bid how often it is made where nobody goes higher, and what the scores after the deal are worth by the
adviser's table of match equity, where it has one.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from smear_env import (
    Agent,
    EquityError,
    MatchEquity,
    PolicyAgent,
    Rules,
    decode,
    load_equity,
    load_policy,
    make_agent,
    play_to_end,
)
from smear_env.agents.search.policy_search import PolicySearchAgent
from smear_env.agents.search.worlds import sample_worlds
from smear_env.engine.state import PASSED_OUT
from smear_table.catalogue import players_of
from smear_table.players import make_ready

WORLDS = 96
"""Worlds in which each action is tried."""
MOST_GAMES = 1200
"""Most games played at once."""
LEAST_WORLDS = 24
"""Worlds that there are at least, where there are many actions."""

Array = npt.NDArray[Any]


class Adviser(NamedTuple):
    """Who advises."""

    name: str
    """A shipped or given checkpoint, or a registered agent."""
    agent: Agent
    """Ready for any seat."""
    equity: MatchEquity | None
    """Its chances of winning the match under these rules; None where no table is made."""


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
    win: float | None = None
    """Own chance of winning the match after the deal, to be expected; None without match equity."""
    win_change: float | None = None
    """The same less the chance at the scores before the deal."""
    win_error: float | None = None
    """Standard error of both."""


@lru_cache(maxsize=64)
def adviser_of(rules: Rules, name: str = "", equity: Path | None = None) -> Adviser:
    """The adviser of a game: the named one, or else its shipped policy, or `expert`.

    The tables of match equity are those in the folder `equity`, or else beside the policy if there are any. Raises
    ValueError for an unknown name, for another game's policy, and where the given folder holds no table.
    """
    shipped = [one["player"] for one in players_of(rules.name) if one["label"].startswith("Policy")]
    chosen = name or (shipped[0] if shipped else "expert")
    agent: Agent = load_policy(chosen) if chosen in shipped else make_agent(chosen)
    make_ready(agent, rules)
    if equity is not None:
        return Adviser(chosen, agent, load_equity(equity, rules))
    try:
        table = load_equity(agent.folder, rules) if isinstance(agent, PolicyAgent) else None
    except EquityError:
        table = None
    return Adviser(chosen, agent, table)


def preferences(observation: Array, mask: Array, adviser: Adviser) -> list[tuple[int, float]]:
    """(action, probability) of every legal action of an observation [d] with mask [n], the likeliest first."""
    chances = adviser.agent.probabilities(observation[None], mask[None])[0]
    order = np.argsort(-chances, kind="stable")
    return [(int(action), float(chances[action])) for action in order if mask[action]]


def advise(
    observation: Array,
    mask: Array,
    rules: Rules,
    worlds: int = WORLDS,
    *,
    adviser: Adviser | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Advice]:
    """Every legal action of an observation [d] with mask [n], the adviser's favourite first.

    worlds: in which each is tried; of no more than WORLDS, fewer where there are many actions. progress: is told how
    many worlds of how many are played out.
    """
    chosen = adviser or adviser_of(rules)
    ranked = preferences(observation, mask, chosen)
    actions = np.array([action for action, _ in ranked])
    fewer = max(LEAST_WORLDS, MOST_GAMES // len(actions))
    count = worlds if worlds > WORLDS else min(worlds, fewer)
    states, weights = _worlds(observation, rules, chosen.agent, count)
    parts = []
    for first in range(0, len(states), fewer):
        parts.append(_play(states[first : first + fewer], actions, rules, chosen))
        if progress:
            progress(min(first + fewer, len(states)), len(states))
    tried = _joined(parts)
    points, error = _mean(tried.points, weights)
    before = _win_before(observation, rules, chosen.equity)
    win = None if tried.win is None or before is None else (*_mean(tried.win, weights), before)
    bids = {len(rules.card_names) + 1 + i for i in range(rules.max_bid - rules.min_bid + 1)}
    found = []
    for column, (action, probability) in enumerate(ranked):
        standing = float(weights @ tried.stands[:, column])
        make = float(weights @ tried.made[:, column]) / standing if action in bids and standing > 0 else None
        chance = () if win is None else _chance(win[0][column], win[1][column], win[2])
        found.append(Advice(action, probability, float(points[column]), float(error[column]), make, *chance))
    return sorted(found, key=lambda one: (-one.probability, -one.points))


def _chance(win: float, error: float, before: float) -> tuple[float, float, float]:
    """`win`, `win_change` and `win_error` of an advice."""
    return float(win), float(win) - before, float(error)


def _mean(values: Array, weights: Array) -> tuple[Array, Array]:
    """Mean over worlds and its standard error, of values [W, A] weighed by [W]: [A] each."""
    mean = weights @ values
    spread = np.maximum(weights @ (values - mean) ** 2, 0.0)
    return mean, np.sqrt(spread / max(len(weights) - 1, 1))


def _win_before(observation: Array, rules: Rules, equity: MatchEquity | None) -> float | None:
    """The own chance of winning the match at the scores before the deal, seats and teams counted from the viewer."""
    if equity is None:
        return None
    seen = decode(observation, rules)
    return float(equity.values(np.array([seen.scores]), np.array([seen.dealer]))[0, 0])


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


class _Tried(NamedTuple):
    """What came of each action in each world, [W, A]."""

    points: Array
    stands: Array
    """The viewer became bidder."""
    made: Array
    """And made it."""
    win: Array | None
    """The viewer's chance of winning the match from there."""


def _joined(parts: list[_Tried]) -> _Tried:
    """What came of several stretches of worlds."""
    wins = [part.win for part in parts if part.win is not None]
    return _Tried(
        np.concatenate([part.points for part in parts]),
        np.concatenate([part.stands for part in parts]),
        np.concatenate([part.made for part in parts]),
        np.concatenate(wins) if wins else None,
    )


def _play(states: Any, actions: Array, rules: Rules, adviser: Adviser) -> _Tried:
    """Each action in each world, played on by the adviser in all seats to the end of the deal."""
    shape = (len(states), len(actions))
    played = play_to_end(np.repeat(states, len(actions)), np.tile(actions, len(states)), rules, adviser.agent)
    win = None if adviser.equity is None else _chances(played.deals, adviser.equity).reshape(shape)
    return _Tried(played.points.reshape(shape), played.stands.reshape(shape), played.made.reshape(shape), win)


def _chances(deals: Any, equity: MatchEquity) -> Array:
    """Seat 0's chance of winning the match after finished deals [N], 0 or 1 where it is over."""
    teams, players = equity.rules.teams, equity.rules.players
    passes = np.where(deals.ended == PASSED_OUT, equity.redeal_passes, True)
    following = (deals.dealer.astype(np.int64) + passes) % players
    chances = equity.values(deals.scores[:, :teams].astype(np.int64), following)[:, 0]
    return np.where(deals.winner >= 0, deals.winner == 0, chances)
