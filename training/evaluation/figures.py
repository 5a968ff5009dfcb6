"""Figures of duplicate deals: the set of a deal's plays is the unit, and every mean has its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import bootstrap

from training.arrays import BoolArray, Float64Array
from training.evaluation.plays import Plays, match_shares

RESAMPLES = 4000
CONFIDENCE = 0.95
EXAMPLES = 5
"""Reports of forfeits that a result quotes."""


@dataclass(frozen=True)
class Comparison:
    """Plays of an agent against another, one row for each set of duplicate deals and a column for each side."""

    points: Float64Array
    """[sets, teams] own score change less the others' mean, the agent as team 0, 1 ..."""
    bid: BoolArray
    """[sets, teams] the agent's side was the bidder"""
    made: BoolArray
    """[sets, teams] and made its bid"""
    passed: BoolArray
    """[sets, teams] the deal was passed out"""
    won: Float64Array
    """[match sets, teams] share of the match won: 1, 0, cut off 1 / teams; empty if none was played"""
    plays: tuple[Plays, ...] = ()
    """All that was kept of the deals, one `Plays` for each side: rows are deals 0, 1, 2 ..."""
    match_plays: tuple[Plays, ...] = ()
    """Of the matches, likewise."""

    @property
    def set_points(self) -> Float64Array:
        """[sets] points per deal of each set, what intervals are made of."""
        return self.points.mean(axis=1)


def compared(plays: tuple[Plays, ...], match_plays: tuple[Plays, ...] = ()) -> Comparison:
    """The comparison that plays amount to, those of side `s` having the agent as team `s`."""
    teams = len(plays)
    bid = [(one.ended == 2) & (one.bidder % teams == side) for side, one in enumerate(plays)]
    made = [bid[side] & (one.made == 1) for side, one in enumerate(plays)]
    won = [match_shares(one, teams)[:, side] for side, one in enumerate(match_plays)]
    return Comparison(
        points=np.stack([one.points[:, side] for side, one in enumerate(plays)], axis=1),
        bid=np.stack(bid, axis=1),
        made=np.stack(made, axis=1),
        passed=np.stack([one.passed for one in plays], axis=1),
        won=np.stack(won, axis=1) if won else np.empty((0, teams)),
        plays=plays,
        match_plays=match_plays,
    )


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
    sets = comparison.set_points
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


def forfeits(comparison: Comparison) -> dict[str, Any]:
    """Of the agent and of the others: how many plays, of deals and of matches, were forfeited and why."""
    found: dict[str, Any] = {}
    for who, ours in (("agent", True), ("against", False)):
        reports = [
            report | {"of": of, "side": side}
            for of, plays in (("deals", comparison.plays), ("matches", comparison.match_plays))
            for side, one in enumerate(plays)
            for report in one.reports
            if (report["team"] == side) == ours
        ]
        if reports:
            found[who] = described_forfeits(reports)
    return found


def described_forfeits(reports: list[dict[str, Any]]) -> dict[str, Any]:
    """How many forfeits there are, by reason, and the first of them."""
    reasons: dict[str, int] = {}
    for report in reports:
        reasons[report["reason"]] = reasons.get(report["reason"], 0) + 1
    first = sorted(reports, key=lambda report: (report["play"], report.get("side", 0)))[:EXAMPLES]
    return {"count": len(reports), "reasons": reasons, "first": first}


def forfeits_line(name: str, found: dict[str, Any]) -> str:
    """For a person: what `described_forfeits` found of a player."""
    first = found["first"][0]
    reasons = ", ".join(f"{count} {reason}" for reason, count in found["reasons"].items())
    of = "match" if first.get("of") == "matches" else "deal"
    return f"{name} forfeited {found['count']} plays ({reasons}); the first: {of} {first['play']}, {first['told']}"
