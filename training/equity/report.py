"""What a table and its checks show, as tables of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from training.equity.calls import Calls
from training.equity.table import NORMAL, MatchEquity, as_blocks


def print_equity(equity: MatchEquity, console: Console) -> None:
    """Print where a table comes from, its values at some scores, and how it stood its checks."""
    told = equity.description
    options = "".join(f", {name}={value}" for name, value in equity.rules.options().items())
    console.print(
        f"{equity.rules.name}{options}: {told['player']['name']}, {told['play']} play, {told['deals']:,} deals; "
        f"Bellman residual {told['residual']:.1g}, two starts {told['start_gap']:.1g} apart, standard error "
        f"{told['standard_error_mean']:.4f} in the mean, {told['standard_error_largest']:.4f} at most",
        highlight=False,
        markup=False,
    )
    for third in slices(equity):
        console.print(equity_table(equity, third))
    if told.get("check"):
        console.print(decile_table(told["check"]))
    if told.get("bin_losses"):
        console.print(losses_table(told["bin_losses"]))


def slices(equity: MatchEquity) -> list[int | None]:
    """Scores of a third team to show a table for; of two teams there is one table."""
    last = equity.grid.last
    return [None] if equity.grid.teams == 2 else [0, (2 * last) // 3, last]


def shown_scores(equity: MatchEquity) -> list[int]:
    """Scores that a table of text has room for: single ones next to the target, and steps below."""
    last = equity.grid.last
    near = [last, last - 1, last - 2, last - 3, last - 4]
    return sorted({*near, *range(last - 6, -1, -2), 0, max(equity.grid.floor, -6)})


def plane(equity: MatchEquity, values: Any, third: int | None) -> Any:
    """[own, other] of a table [cells, teams], for the dealer's team, with the third team's score given."""
    block = as_blocks(values, equity.grid)[..., 0]
    return block if third is None else block[:, :, third - equity.grid.floor]


def equity_table(equity: MatchEquity, third: int | None) -> Table:
    """Percent for the dealer's team by its score (rows) and the next team's, with half a 95 % interval."""
    values, errors = plane(equity, equity.table, third), plane(equity, equity.standard_error, third)
    title = "the dealer's team wins the match, %, and half its 95 % sampling interval"
    if third is not None:
        title += f"; the third team has {third}"
    table = Table(title=title)
    table.add_column("dealer's team", justify="right")
    scores = shown_scores(equity)
    for other in scores:
        table.add_column(f"next {other}" if other == scores[0] else str(other), justify="right")
    for own in scores:
        row, columns = own - equity.grid.floor, np.array(scores) - equity.grid.floor
        cells = zip(values[row, columns], errors[row, columns], strict=True)
        table.add_row(str(own), *(f"{100 * v:.1f} ±{100 * NORMAL * e:.1f}" for v, e in cells))
    return table


def decile_table(check: dict[str, Any]) -> Table:
    """Predicted beside observed wins."""
    verdict = "all within" if check["holds"] else "NOT all within"
    table = Table(
        title=f"{check['matches']:,} matches from drawn scores, by tenth of the predicted probability: "
        f"{verdict} {100 * check['within']:.0f} %, at most {100 * check['largest_difference']:.2f} apart"
    )
    for name in ("from %", "to %", "teams", "predicted %", "observed %", "difference", "s.e. if right"):
        table.add_column(name, justify="right")
    for one in check["deciles"]:
        table.add_row(
            f"{100 * one['from']:.1f}",
            f"{100 * one['to']:.1f}",
            f"{one['teams']:,}",
            f"{100 * one['predicted']:.2f}",
            f"{100 * one['observed']:.2f}",
            f"{100 * (one['observed'] - one['predicted']):+.2f}",
            f"{100 * one['standard_error']:.2f}",
        )
    return table


def losses_table(losses: list[dict[str, float]]) -> Table:
    """What each boundary of bins is worth at most."""
    table = Table(
        title="change of the probabilities if two neighbouring bins were one, sampling error included"
    )
    for name in ("boundary at score", "mean %", "largest %"):
        table.add_column(name, justify="right")
    for one in losses:
        table.add_row(f"{one['boundary']:.0f}", f"{100 * one['mean']:.3f}", f"{100 * one['largest']:.2f}")
    return table


def calls_table(counted: Sequence[Calls]) -> Table:
    """Calls by position at each set of scores, in percent of the calls made there."""
    rules = counted[0].rules
    levels = range(rules.min_bid, rules.max_bid + 1)
    table = Table(
        title="calls in % by scores (calling team first) and position (1 is the eldest, the last the dealer)"
    )
    for name in ("scores", "position", "calls", "pass", *map(str, levels), "mean bid"):
        table.add_column(name, justify="right")
    for one in counted:
        for position, calls in enumerate(one.counts.sum(axis=1)):
            total, bids = calls.sum(), calls[1:].sum()
            shares = [f"{100 * n / total:.1f}" if total else "" for n in calls]
            mean = f"{(calls[1:] @ np.array(levels)) / bids:.2f}" if bids else ""
            name = " - ".join(map(str, one.scores)) if position == 0 else ""
            table.add_row(
                name,
                str(position + 1),
                f"{total:,}",
                *shares,
                mean,
                end_section=position == rules.players - 1,
            )
    return table


def strength_table(counted: Sequence[Calls]) -> Table:
    """How often the eldest hand bids, and how high, by hand strength at each set of scores."""
    rules = counted[0].rules
    levels = np.arange(rules.min_bid, rules.max_bid + 1)
    table = Table(
        title="the eldest hand by strength (cards of its best suit, one more for the ace): % that bid, and mean bid"
    )
    table.add_column("scores", justify="right")
    strengths = range(1, counted[0].counts.shape[1])
    for strength in strengths:
        table.add_column(f"{strength}{'+' if strength == strengths[-1] else ''}", justify="right")
    for one in counted:
        cells = []
        for strength in strengths:
            calls = one.counts[0, strength]
            bids = calls[1:].sum()
            share = f"{100 * bids / calls.sum():.0f}" if calls.sum() else "-"
            cells.append(f"{share} {(calls[1:] @ levels) / bids:.2f}" if bids else share)
        table.add_row(" - ".join(map(str, one.scores)), *cells)
    return table


def contracts_table(counted: Sequence[Calls]) -> Table:
    """Contracts of the calling team: how often each bid won the auction, and how often it was made."""
    rules = counted[0].rules
    table = Table(title="contracts of the team first named: % of its contracts, and % of these made")
    for name in (
        "scores",
        "deals",
        "passed out %",
        *map(str, range(rules.min_bid, rules.max_bid + 1)),
        "made",
    ):
        table.add_column(name, justify="right")
    for one in counted:
        total = one.contracts.sum()
        cells = [
            f"{100 * n / total:.1f} ({100 * m / n:.0f})" if n else "-"
            for n, m in zip(one.contracts, one.made, strict=True)
        ]
        made = f"{100 * one.made.sum() / total:.1f}" if total else "-"
        out = f"{100 * one.passed_out / one.deals:.2f}"
        table.add_row(" - ".join(map(str, one.scores)), f"{one.deals:,}", out, *cells, made)
    return table
