"""How a player bids at given scores: calls by position, by hand strength, and what became of the contracts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from smear_env import Rules, SelfPlayVectorEnv, observation_layout, pieces
from training.arrays import Int8Array, Int64Array
from training.equity.grid import relative_order
from training.equity.selfplay import Chooser, play_on
from training.metrics import MAX_STRENGTH, hand_strength
from training.progress import counted

DEFAULT_SCORES = {
    "four_point": ((0, 0), (8, 8), (14, 14), (14, 8), (8, 14)),
    "schmier": (
        (0, 0, 0),
        (14, 14, 14),
        (20, 20, 20),
        (20, 14, 14),
        (14, 20, 14),
        (14, 14, 20),
        (14, 20, 20),
    ),
}


@dataclass
class Calls:
    """Calls counted at one set of scores, seen from the team that calls: its own score first, then clockwise."""

    rules: Rules
    scores: tuple[int, ...]
    counts: Int64Array = field(init=False)
    """[positions, strengths + 1, 1 + bids] pass and bids; position 0 is the eldest, the last the dealer."""
    deals: int = 0
    passed_out: int = 0
    contracts: Int64Array = field(init=False)
    """[bids] deals that this team bid for, by level."""
    made: Int64Array = field(init=False)
    """[bids] those it made."""

    def __post_init__(self) -> None:
        bids = self.rules.max_bid - self.rules.min_bid + 1
        self.counts = np.zeros((self.rules.players, MAX_STRENGTH + 1, 1 + bids), np.int64)
        self.contracts, self.made = np.zeros(bids, np.int64), np.zeros(bids, np.int64)

    def as_plain(self) -> dict[str, Any]:
        """Counts as plain values for JSON."""
        return {
            "scores": list(self.scores),
            "deals": self.deals,
            "passed_out": self.passed_out,
            "calls": self.counts.tolist(),
            "contracts": self.contracts.tolist(),
            "made": self.made.tolist(),
        }


def count_calls(
    choose: Chooser, rules: Rules, scores: Sequence[Sequence[int]], deals: int, seed: int, games: int = 2048
) -> list[Calls]:
    """Play about `deals` deals from each set of scores and count the calls of teams that see these scores.

    scores: of the team that calls, then of the others clockwise. Dealers are drawn, so that every position is counted;
    the deals are the same at every set of scores. Raises ValueError for scores of another number of teams, or none to
    start a deal from.
    """
    counting = counted(scores, len(scores), "scores", "counting calls", slow=True)
    return [_count(choose, rules, tuple(one), deals, seed, min(games, deals)) for one in counting]


def _count(
    choose: Chooser, rules: Rules, scores: tuple[int, ...], deals: int, seed: int, games: int
) -> Calls:
    if len(scores) != rules.teams:
        raise ValueError(
            f"scores={scores} must be {rules.teams}: the calling team's, then the others' clockwise"
        )
    result = Calls(rules, scores)
    env = SelfPlayVectorEnv(
        games, rules, seed=seed, episode="deal", skip_forced=True, start_scores=scores, dealers="drawn"
    )
    layout, passing = observation_layout(rules), len(rules.card_names)

    def look(_: Int64Array, observations: Int8Array, actions: Int64Array) -> None:
        bidding = observations[:, layout["phase"].start] == 1
        seen = pieces(observations[bidding], layout)
        # Scores are seen with the own team's first, so that they say which team it is; level teams all count.
        own = (seen["scores"][:, : rules.teams] == scores).all(axis=1)
        position = rules.players - 1 - seen["dealer"].argmax(axis=1)
        strength = hand_strength(seen["hand"], rules.name)
        np.add.at(result.counts, (position[own], strength[own], actions[bidding][own] - passing), 1)

    for ended in play_on(env, choose, -(-deals // games), look):
        finished = env.deals[ended]
        result.deals += len(finished)
        result.passed_out += int((finished.bidder < 0).sum())
        before = finished.scores_before[:, : rules.teams]
        from_bidder = relative_order(finished.bidder % rules.teams, rules.teams)
        own = (finished.bidder >= 0) & (np.take_along_axis(before, from_bidder, axis=1) == scores).all(axis=1)
        levels = finished.bid[own].astype(np.int64) - rules.min_bid
        np.add.at(result.contracts, levels, 1)
        np.add.at(result.made, levels, finished.made[own].astype(np.int64))
    return result
