"""Evaluation: duplicate deals from every side, points per deal with a bootstrap interval.

The unit is the set of a deal's plays, one for each team that the agent takes (a pair in four_point, a triple in
schmier): same cards, stock and dealer. Points per deal is the mean over a set of own score change less the others'
mean; a deal passed out counts 0 and is not redealt. Agents see observations, never the state.

    python -m training.evaluate --agent checkpoints/four_point --against greedy --pairs 2000
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import bootstrap

from smear_env import Agent, Rules, SelfPlayVectorEnv, load_policy, make_agent, make_rules
from training.arrays import BoolArray, Float64Array
from training.checkpoint import commit, write_atomically

CHUNK = 4096
"""Sets of deals played at once."""
RESAMPLES = 4000
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Comparison:
    """Plays of an agent against another, one row for each set of duplicate deals and a column for each side."""

    points: Float64Array  # [sets, teams] own score change less the others' mean, the agent as team 0, 1 ...
    bid: BoolArray  # [sets, teams] the agent's side was the bidder
    made: BoolArray  # [sets, teams] and made its bid
    passed: BoolArray  # [sets, teams] the deal was passed out
    won: Float64Array  # [match sets, teams] match won 1, lost 0, cut off 1 / teams; empty if none was played


def compare(
    agent: Agent, against: Agent, rules: Rules, pairs: int, seed: int, matches: int = 0
) -> Comparison:
    """Play `pairs` sets of duplicate deals and `matches` sets of duplicate matches.

    The same seed gives the same deals whatever the agents. Raises ValueError for fewer than 2 pairs, and for a seed or
    number of matches that makes no sense.
    """
    if pairs < 2:
        raise ValueError(f"pairs={pairs} must be at least 2 for an interval")
    if matches < 0:
        raise ValueError(f"matches={matches} must not be negative")
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed={seed} is outside 0..2**64-1")
    columns = [_play_side(agent, against, rules, pairs, seed, side) for side in range(rules.teams)]
    points, bid, made, passed = (np.stack(part, axis=1) for part in zip(*columns, strict=True))
    won = [_play_matches(agent, against, rules, matches, seed, side) for side in range(rules.teams)]
    return Comparison(points, bid, made, passed, np.stack(won, axis=1))


def interval(values: Float64Array, seed: int) -> tuple[float, float]:
    """95 % bootstrap interval of the mean over sets, [sets] points; the mean twice where nothing varies."""
    if np.all(values == values[0]):
        return float(values[0]), float(values[0])
    result = bootstrap(
        (values,),
        np.mean,
        n_resamples=RESAMPLES,
        batch=100,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(seed),
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def summarize(comparison: Comparison, seed: int) -> dict[str, Any]:
    """The figures of a comparison: points per deal, its interval and standard deviation, shares, matches won."""
    sets = comparison.points.mean(axis=1)
    bids = comparison.bid.sum()
    result: dict[str, Any] = {
        "points_per_deal": float(sets.mean()),
        "interval": list(interval(sets, seed)),
        "deviation": float(sets.std(ddof=1)),
        "by_team": [float(mean) for mean in comparison.points.mean(axis=0)],
        "bid": float(comparison.bid.mean()),
        "bids_made": float(comparison.made.sum() / bids) if bids else None,
        "bids_set": float(1 - comparison.made.sum() / bids) if bids else None,
        "passed_out": float(comparison.passed.mean()),
    }
    if len(comparison.won):
        won = comparison.won.mean(axis=1)
        result |= {
            "matches": len(won),
            "matches_won": float(won.mean()),
            "matches_interval": list(interval(won, seed)),
        }
    return result


def evaluate(
    agent: str,
    against: str,
    rules: Rules,
    *,
    pairs: int = 2000,
    seed: int = 1,
    matches: int = 0,
    sampled: bool = False,
) -> dict[str, Any]:
    """Compare two agents by name or checkpoint folder; the JSON that `python -m training.evaluate` writes."""
    comparison = compare(_agent(agent, sampled), _agent(against, sampled), rules, pairs, seed, matches)
    return {
        "format": "smear-evaluation/1",
        "agent": agent,
        "against": against,
        "rules": rules.name,
        "options": rules.options(),
        "pairs": pairs,
        "seed": seed,
        "play": "sampled" if sampled else "greedy",
        "commit": commit(),
        **summarize(comparison, seed),
    }


def _agent(name: str, sampled: bool) -> Agent:
    agent = make_agent(name)
    return load_policy(name, sample=True) if sampled and hasattr(agent, "sample") else agent


def _play_side(
    agent: Agent, against: Agent, rules: Rules, pairs: int, seed: int, side: int
) -> tuple[Any, ...]:
    """Every deal once, `agent` as team `side`: points [pairs], bid, made and passed [pairs] bool."""
    parts = []
    for first in range(0, pairs, CHUNK):
        env = SelfPlayVectorEnv(
            min(CHUNK, pairs - first), rules, episode="deal", reward="points", skip_forced=True
        )
        reward = _play(env, agent, against, side, _chunk_seed(seed, first))
        deals = env.deals
        bid = (deals.ended == 2) & (deals.bidder % rules.teams == side)
        parts.append((reward[:, side], bid, bid & (deals.made == 1), deals.ended == 1))
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))


def _play_matches(
    agent: Agent, against: Agent, rules: Rules, matches: int, seed: int, side: int
) -> Float64Array:
    """Every match once, `agent` as team `side`: 1 won, 0 lost, 1 / teams cut off, [matches]."""
    parts = [np.empty(0)]
    for first in range(0, matches, CHUNK):
        env = SelfPlayVectorEnv(min(CHUNK, matches - first), rules, skip_forced=True, max_deals=200)
        _play(env, agent, against, side, _chunk_seed(seed, first))
        winner = env.deals.winner
        parts.append(np.where(winner == side, 1.0, np.where(winner < 0, 1 / rules.teams, 0.0)))
    return np.concatenate(parts)


def _chunk_seed(seed: int, first: int) -> int:
    # Each chunk has games 0, 1 ... of a seed of its own.
    return (seed + 1_000_003 * (first // CHUNK)) % 2**64


def _play(env: SelfPlayVectorEnv, agent: Agent, against: Agent, side: int, seed: int) -> Float64Array:
    """One episode in every slot; returns what each team earned, [N, teams]."""
    for number, player in enumerate((agent, against)):
        player.reset(env.rules, -1, 2 * seed + number)
    shown = env.reset(seed=seed)
    going = np.ones(env.num_games, bool)
    total = np.zeros((env.num_games, env.teams))
    while going.any():
        actions = np.full(env.num_games, -1, np.int64)
        ours = shown.seat % env.teams == side
        for player, rows in ((agent, np.flatnonzero(going & ours)), (against, np.flatnonzero(going & ~ours))):
            if len(rows):
                actions[rows] = player.act_batch(shown.observation[rows], shown.mask[rows])
        shown = env.step_some(actions)
        total += shown.reward
        going &= ~(shown.terminated | shown.truncated)
    return total


def describe(result: dict[str, Any]) -> str:
    """One line for a person."""
    low, high = result["interval"]
    made = "-" if result["bids_made"] is None else f"{result['bids_made']:.0%}"
    line = (
        f"{result['agent']} against {result['against']} ({result['rules']}, {result['play']} play): "
        f"{result['points_per_deal']:+.3f} points per deal [{low:+.3f}, {high:+.3f}] over {result['pairs']} "
        f"sets of duplicate deals; bids {result['bid']:.0%} of deals, makes {made}, "
        f"passed out {result['passed_out']:.1%}"
    )
    if "matches_won" in result:
        low, high = result["matches_interval"]
        line += f"; wins {result['matches_won']:.1%} of {result['matches']} sets of matches [{low:.1%}, {high:.1%}]"
    return line


@dataclass(frozen=True)
class EvaluateOptions:
    """Compare two agents on duplicate deals, each from every side, with a 95 % bootstrap interval."""

    agent: str
    """Agent to measure: a registered name, a checkpoint folder, or the name of a shipped checkpoint."""
    against: str
    """Its opponent in all other teams' seats."""
    rules: str = "four_point"
    """Preset to play."""
    options: tuple[str, ...] = ()
    """Rule options as NAME=VALUE."""
    pairs: int = 2000
    """Sets of duplicate deals: pairs with two teams, triples with three."""
    matches: int = 0
    """Sets of duplicate whole matches to play as well."""
    seed: int = 1
    """Seed of the deals and of the agents."""
    sampled: bool = False
    """Checkpoints sample from their policy; otherwise they take the most probable action."""
    json: Path | None = None
    """File to write the result to."""


def main() -> None:
    """`python -m training.evaluate`."""
    import tyro

    from training.config import parse_options

    given = tyro.cli(EvaluateOptions, prog="python -m training.evaluate")
    try:
        rules = make_rules(given.rules, **parse_options(given.rules, given.options))
        result = evaluate(
            given.agent,
            given.against,
            rules,
            pairs=given.pairs,
            seed=given.seed,
            matches=given.matches,
            sampled=given.sampled,
        )
        if given.json:
            write_atomically(given.json, json.dumps(result, indent=1).encode())
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    print(describe(result))


if __name__ == "__main__":
    main()
