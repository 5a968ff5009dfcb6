"""A table checked against play: matches from drawn scores, who wins them beside who was said to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from smear_env import SelfPlayVectorEnv
from training.arrays import Float64Array
from training.equity.selfplay import Chooser, play_on
from training.equity.table import MatchEquity
from training.progress import counted

DECILES = 10
WITHIN = 0.02
"""Predicted and observed wins of a decile may differ by so much."""
MATCH_DEALS = 200
"""A match is cut off after so many deals; it counts as an even share for each team."""


@dataclass(frozen=True)
class Matches:
    """Matches played on from drawn scores."""

    predicted: Float64Array
    """[matches, teams] each team's probability at the start."""
    shares: Float64Array
    """[matches, teams] 1 to the winner, 0 to the others; an even share each where it was cut off."""


def play_matches(equity: MatchEquity, choose: Chooser, matches: int, seed: int, games: int = 4096) -> Matches:
    """Play matches from scores uniform between minus half the target and one below it, dealers drawn."""
    rules, teams = equity.rules, equity.rules.teams
    generator = np.random.default_rng([seed, 2])
    predicted, shares = [], []
    starts = range(0, matches, games)
    for first in counted(starts, len(starts), "parts", "matches to compare with", slow=True):
        count = min(games, matches - first)
        scores = generator.integers(-(rules.target // 2), rules.target, size=(count, teams))
        dealers = generator.integers(rules.players, size=count)
        env = SelfPlayVectorEnv(
            count,
            rules,
            seed=int(generator.integers(2**63)),
            max_deals=MATCH_DEALS,
            skip_forced=True,
            start_scores=scores,
            dealers=dealers,
        )
        won = np.full((count, teams), 1 / teams)
        for ended in play_on(env, choose, 1):
            rows = np.flatnonzero(ended)
            winner = env.deals.winner[rows]
            rows, winner = rows[winner >= 0], winner[winner >= 0]
            won[rows] = np.arange(teams) == winner[:, None]
        predicted.append(equity.values(scores, dealers))
        shares.append(won)
    return Matches(np.concatenate(predicted).astype(np.float64), np.concatenate(shares))


def by_decile(matches: Matches) -> list[dict[str, Any]]:
    """Predicted and observed share of wins for each tenth of all (match, team) by predicted probability.

    A match counts once for each team, and at most rarely twice in a decile. `standard_error` is that of the
    observed share, were the predictions right.
    """
    predicted, observed = matches.predicted.ravel(), matches.shares.ravel()
    order = np.argsort(predicted, kind="stable")
    rows = []
    for part in np.array_split(order, DECILES):
        said, won = predicted[part], observed[part]
        rows.append(
            {
                "teams": len(part),
                "from": float(said.min()),
                "to": float(said.max()),
                "predicted": float(said.mean()),
                "observed": float(won.mean()),
                "standard_error": float(np.sqrt((said * (1 - said)).mean() / len(part))),
            }
        )
    return rows


def check_against_play(equity: MatchEquity, choose: Chooser, matches: int, seed: int) -> dict[str, Any]:
    """Play matches and say how far predicted and observed wins lie apart, by decile and at most."""
    deciles = by_decile(play_matches(equity, choose, matches, seed))
    largest = max(abs(one["observed"] - one["predicted"]) for one in deciles)
    return {
        "matches": matches,
        "seed": seed,
        "within": WITHIN,
        "largest_difference": largest,
        "holds": largest <= WITHIN,
        "deciles": deciles,
    }
