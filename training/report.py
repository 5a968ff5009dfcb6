"""What a run prints at its end: strength against the baselines, and what its bidding looks like."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from smear_env import PRESETS
from training.config import TrainConfig
from training.metrics import MAX_STRENGTH, DealCounts


def final_report(
    console: Console, config: TrainConfig, results: list[dict[str, Any]], counts: DealCounts, folder: Path
) -> None:
    """Print the tables of a finished run."""
    if results:
        console.print(strength_table(results))
    if counts.deals:
        console.print(deals_line(config, counts), highlight=False)
        console.print(bids_table(counts))
    console.print(f"policy: {folder / 'checkpoint'}   logs: tensorboard --logdir {folder}", highlight=False)


def strength_table(results: list[dict[str, Any]]) -> Table:
    """Points per deal against each baseline, with 95 % intervals."""
    table = Table(title="points per deal on duplicate deals, greedy play, 95 % bootstrap interval")
    for column in (
        "against",
        "points per deal",
        "interval",
        "sets of deals",
        "bids",
        "bids made",
        "passed out",
    ):
        table.add_column(column, justify="left" if column == "against" else "right")
    for result in results:
        low, high = result["interval"]
        table.add_row(
            result["against"],
            f"{result['points_per_deal']:+.3f}",
            f"[{low:+.3f}, {high:+.3f}]",
            str(result["pairs"]),
            f"{result['bid']:.0%}",
            "-" if result["bids_made"] is None else f"{result['bids_made']:.0%}",
            f"{result['passed_out']:.1%}",
        )
    return table


def deals_line(config: TrainConfig, counts: DealCounts) -> str:
    """Shares of the deals in the self-play of the last updates."""
    scalars = counts.scalars()
    rules = PRESETS[config.rules]
    contracts = ", ".join(
        f"{bid}: {scalars.get(f'deals/contract_{bid}', 0):.0%}"
        for bid in range(rules.min_bid, rules.max_bid + 1)
    )
    return (
        f"self-play, last updates, {counts.deals} deals: passed out {scalars.get('deals/passed_out', 0):.1%}, "
        f"bids made {scalars.get('deals/bids_made', 0):.0%}, contracts {contracts}, "
        f"overbids when somebody has bid {scalars.get('bids/overbid', 0):.0%}"
    )


def bids_table(counts: DealCounts) -> Table:
    """Share of hands that bid, by seat and hand strength."""
    table = Table(
        title="share of hands that bid and their mean bid, by seat from the dealer's left and strength\n"
        "(cards of the best suit, one more for its ace)"
    )
    table.add_column("seat")
    for strength in range(1, MAX_STRENGTH + 1):
        table.add_column(f"{strength}{'+' if strength == MAX_STRENGTH else ''}", justify="right")
    for seat, (shares, bids) in enumerate(zip(counts.bid_shares(), counts.mean_bids(), strict=True)):
        table.add_row(str(seat + 1), *(_cell(*pair) for pair in zip(shares[1:], bids[1:], strict=True)))
    return table


def _cell(share: float, bid: float) -> str:
    if np.isnan(share):
        return "-"
    return f"{share:.0%}" if np.isnan(bid) else f"{share:.0%} {bid:.1f}"
