"""What self-play looks like to a card player: deals passed out, bids made, bids by hand strength and seat.

A policy that learns only to pass, or one constant bid, shows here long before it shows in points.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from smear_env import PRESETS, SelfPlayVectorEnv, observation_layout, pieces
from training.arrays import BoolArray, Float64Array, Int8Array, Int64Array
from training.peers import Peers

MAX_STRENGTH = 7
"""Hands stronger than this are counted with it."""


def hand_strength(hands: Int8Array, preset: str) -> Int64Array:
    """Cards of a hand's best suit plus one for its ace, the best over suits; [B, cards] flags to [B] int64 up to 7."""
    rules = PRESETS[preset]
    ranks = len(rules.ranks)
    by_suit = hands[:, : ranks * len(rules.suits)].reshape(len(hands), len(rules.suits), ranks)
    strength = by_suit.sum(axis=2, dtype=np.int64) + by_suit[:, :, -1]
    return np.minimum(strength.max(axis=1), MAX_STRENGTH)


@dataclass
class DealCounts:
    """Counts over the deals and bids of some updates, in the games where everybody may pass."""

    preset: str
    free: BoolArray  # [N] games counted
    deals: int = 0
    passed_out: int = 0
    made: int = 0
    forced_deals: int = 0
    forced_made: int = 0
    bid_levels: Int64Array = field(init=False)  # [bids] contracts by level
    calls: Int64Array = field(init=False)  # [seats, strengths + 1, 1 + bids] pass and bids, seat 0 the eldest
    overbids: int = 0
    could_overbid: int = 0

    def __post_init__(self) -> None:
        rules = PRESETS[self.preset]
        bids = rules.max_bid - rules.min_bid + 1
        self.bid_levels = np.zeros(bids, np.int64)
        self.calls = np.zeros((rules.players, MAX_STRENGTH + 1, 1 + bids), np.int64)

    def add_deals(self, env: SelfPlayVectorEnv) -> None:
        """Count the deals that the env's last step finished."""
        deals = env.deals[env.deal_ended & self.free]
        forced = env.deals[env.deal_ended & ~self.free]
        self.forced_deals += len(forced)
        self.forced_made += int(forced.made.sum())
        scored = deals[deals.ended == 2]
        self.deals += len(deals)
        self.passed_out += len(deals) - len(scored)
        self.made += int(scored.made.sum())
        self.bid_levels += np.bincount(
            scored.bid - PRESETS[self.preset].min_bid, minlength=len(self.bid_levels)
        )

    def add_bids(self, observations: Int8Array, actions: Int64Array) -> None:
        """Count the calls among decisions, observations [T, N, d] and actions [T, N]."""
        rules = PRESETS[self.preset]
        layout = observation_layout(rules)
        bidding = (observations[..., layout["phase"].start] == 1) & self.free
        rows, chosen = observations[bidding], actions[bidding] - len(rules.card_names)
        seen = pieces(rows, layout)
        # The dealer is `players - 1 - position` seats to the left of who speaks in that position.
        position = rules.players - 1 - np.argmax(seen["dealer"], axis=1)
        np.add.at(self.calls, (position, hand_strength(seen["hand"], self.preset), chosen), 1)
        after_bid = seen["bid"].any(axis=1)
        self.could_overbid += int(after_bid.sum())
        self.overbids += int((chosen[after_bid] > 0).sum())

    def merge(self, other: DealCounts) -> None:
        """Add the counts of other updates."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def add_up(self, peers: Peers) -> None:
        """Add the counts of the other processes."""
        for name in _COUNTS:
            total = peers.sum(torch.as_tensor(getattr(self, name))).numpy()
            setattr(self, name, total if total.ndim else int(total))

    def scalars(self) -> dict[str, float]:
        """The documented `deals/...` and `bids/...` metrics; shares of nothing are left out."""
        rules = PRESETS[self.preset]
        scored = self.deals - self.passed_out
        result = _shares(
            {
                "deals/passed_out": (self.passed_out, self.deals),
                "deals/bids_made": (self.made, scored),
                "deals/forced_bids_made": (self.forced_made, self.forced_deals),
                "bids/overbid": (self.overbids, self.could_overbid),
                **{f"deals/contract_{rules.min_bid + i}": (n, scored) for i, n in enumerate(self.bid_levels)},
            }
        )
        levels = np.arange(rules.min_bid, rules.max_bid + 1)
        for strength in range(1, MAX_STRENGTH + 1):
            bids = self.calls[:, strength, 1:].sum(axis=0)
            result |= _shares({f"bids/level/strength_{strength}": ((bids * levels).sum(), bids.sum())})
        for seat in range(rules.players):
            for strength in range(1, MAX_STRENGTH + 1):
                calls = self.calls[seat, strength]
                result |= _shares(
                    {f"bids/seat_{seat + 1}/strength_{strength}": (calls[1:].sum(), calls.sum())}
                )
        return result

    def histograms(self) -> dict[str, tuple[Int64Array, Int64Array]]:
        """The documented `calls/...`: calls in points, 0 a pass, and how often each was made."""
        rules = PRESETS[self.preset]
        levels = np.array([0, *range(rules.min_bid, rules.max_bid + 1)])
        return {
            f"calls/seat_{seat + 1}": (levels, calls) for seat, calls in enumerate(self.calls.sum(axis=1))
        }

    def mean_bids(self) -> Float64Array:
        """Mean bid in points of the hands that bid: [seats, strengths + 1], NaN without any."""
        bids, rules = self.calls[..., 1:], PRESETS[self.preset]
        total, points = bids.sum(axis=2), bids @ np.arange(rules.min_bid, rules.max_bid + 1)
        return np.divide(points, total, out=np.full(total.shape, np.nan), where=total > 0)

    def bid_shares(self) -> Float64Array:
        """Share of hands that bid, by seat (eldest first) and strength: [seats, strengths + 1], NaN without any."""
        total = self.calls.sum(axis=2)
        return np.divide(
            self.calls[..., 1:].sum(axis=2), total, out=np.full(total.shape, np.nan), where=total > 0
        )


_COUNTS = (
    *("deals", "passed_out", "made", "forced_deals", "forced_made", "overbids", "could_overbid"),
    *("bid_levels", "calls"),
)


def _shares(counts: dict[str, tuple[Any, Any]]) -> dict[str, float]:
    return {name: float(part / whole) for name, (part, whole) in counts.items() if whole > 0}
