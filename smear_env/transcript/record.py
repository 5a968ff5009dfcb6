"""Recording matches: games of a seed, played by agents that see an observation and a mask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from smear_env.agents.base import ANY_SEAT, Agent
from smear_env.agents.registry import AgentLike, make_agent
from smear_env.errors import IllegalActionError
from smear_env.rules import Rules, make_rules
from smear_env.transcript._engine import MOST_DEALS, EngineMatch
from smear_env.transcript.format import FORMAT
from smear_env.vector import check_seed


def record_match(
    rules: str | Rules = "four_point",
    seed: int = 0,
    game: int = 0,
    *,
    agents: AgentLike | Sequence[AgentLike] = "random",
    max_deals: int = 100,
    legal: bool = False,
) -> dict[str, Any]:
    """Play game `game` of `seed` and return its transcript.

    The deals are those that every environment deals for that seed and game. Uniformly random play hardly ever
    ends a match, so that it is then cut off and has no winner.

    Args:
        rules: a preset name or a `Rules`.
        seed: of the deals and, with `game`, of the agents; 0 to 2**64-1.
        game: number of the game, from 0.
        agents: who plays, one for every seat or a list with one for each: registered names, checkpoints, agents or
            factories. Each is reset for this match, with a seed drawn from (seed, game, seat).
        max_deals: the match is cut off after so many deals, those passed out included.
        legal: state every legal set as well.

    Raises `ValueError` naming an argument that is wrong, `IllegalActionError` where an agent's action is.
    """
    chosen = make_rules(rules)
    if not 0 <= game < 2**63:
        raise ValueError(f"game={game} must be an integer in 0..2**63-1")
    if not 1 <= max_deals <= MOST_DEALS:
        raise ValueError(f"max_deals={max_deals} must be in 1..{MOST_DEALS}")
    seed = check_seed(seed)
    players = _seated(chosen, seed, game, agents)
    match = EngineMatch(chosen, seed=seed, game=game, max_deals=max_deals)
    deals = []
    while not match.over:
        deals.append(_record_deal(match, players, legal=legal))
    return {
        "format": FORMAT,
        "rules": chosen.name,
        "options": chosen.options(),
        "deals": deals,
        "winner": match.winner,
    }


def _seated(rules: Rules, seed: int, game: int, agents: AgentLike | Sequence[AgentLike]) -> list[Agent]:
    """An agent for each seat, ready to play."""
    if isinstance(agents, Sequence) and not isinstance(agents, str):
        if len(agents) != rules.players:
            raise ValueError(f"{len(agents)} agents for {rules.players} seats")
        made = [make_agent(agent) for agent in agents]
    else:
        made = [make_agent(agents) for _ in range(rules.players)]
    for seat, agent in enumerate(made):
        alone = sum(other is agent for other in made) == 1
        drawn = np.random.SeedSequence((seed, game, seat)).generate_state(1, np.uint64)
        agent.reset(rules, seat if alone else ANY_SEAT, int(drawn[0]))
    return made


def _record_deal(match: EngineMatch, agents: Sequence[Agent], *, legal: bool) -> dict[str, Any]:
    dealt = match.cards()
    number = match.deals
    actions: list[list[Any]] = []
    sets: list[str] = []
    while match.deals == number:
        seat = match.turn
        action = int(agents[seat].act(match.observation.copy(), match.mask.copy()))
        if not 0 <= action < len(match.mask) or not match.mask[action]:
            expected = " ".join(match.legal_names())
            raise IllegalActionError(f"seat {seat}: action {action} is not legal; legal: {expected}")
        actions.append([seat, match.names[action]])
        if legal:
            sets.append(" ".join(match.legal_names()))
        match.act(action)
    return {**dealt, "actions": actions, **({"legal": sets} if legal else {}), **match.result()}
