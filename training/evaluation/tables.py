"""A tournament's result as tables of text."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from training.evaluation.figures import forfeits_line
from training.evaluation.players import label


def print_tables(result: dict[str, Any], console: Console) -> None:
    """Print ratings and cross table and, with three teams, the tables of three."""
    console.print(heading(result), highlight=False, markup=False)
    console.print(cross_table(result))
    console.print(
        f"rating: {result['model']}; cells differ from ratings' differences by {result['misfit']:.2f} in the root mean "
        "square",
        highlight=False,
    )
    if result["matches"] and "triples" in result:
        console.print(
            "matches are won alone against two others: an even share is a third of them", highlight=False
        )
    if result.get("triples"):
        title = f"\nthree agents at one table, {result['pairs']} deals in all six orders"
        if result["matches"]:
            title += f", {result['matches']} matches likewise; equity is the share of them"
        console.print(f"{title}, 95 % bootstrap intervals", highlight=False)
        console.print(triples_table(result))
    for name, found in result["forfeits"].items():
        console.print(forfeits_line(name, found), highlight=False, markup=False)


def heading(result: dict[str, Any]) -> str:
    """What was played, and what the table's figures are."""
    deals = result["deals"]
    where = (
        f"fixed deals {deals['sha256'][:8]}" if "fixed" in deals else f"fresh deals of seed {deals['seed']}"
    )
    options = "".join(f", {name}={value}" for name, value in result["options"].items())
    return (
        f"{result['rules']}{options}, {result['play']} play, {result['pairs']} sets of duplicate {where}\n"
        "points per deal of the row's agent against the column's, 95 % bootstrap interval below"
    )


def cross_table(result: dict[str, Any]) -> Table:
    """Ratings, and points per deal of each row's agent against each column's, best first."""
    order = [one["agent"] for one in result["ratings"]]
    cells = {(one["agent"], one["against"]): one for one in result["cells"]}
    table = Table(show_lines=True)
    table.add_column("agent")
    table.add_column("rating ± s.e.", justify="right")
    for name in order:
        table.add_column(escape(label(name)), justify="right")
    for one in result["ratings"]:
        row = [escape(label(one["agent"])), f"{one['rating']:+.2f} ± {one['standard_error']:.2f}"]
        row += ["" if one["agent"] == name else _figure(cells[one["agent"], name]) for name in order]
        table.add_row(*row)
    return table


def triples_table(result: dict[str, Any]) -> Table:
    """Points per deal and equity of any three agents at one table."""
    table = Table(show_lines=True)
    for column in ("agent", "points per deal", "interval", "equity", "interval"):
        table.add_column(column, justify="left" if column == "agent" else "right")
    for triple in result["triples"]:
        lines = [[], [], [], [], []]  # type: list[list[str]]
        points = triple["points_per_deal"]
        for index in sorted(range(len(points)), key=lambda index: -points[index]):
            name = triple["agents"][index]
            low, high = triple["intervals"][index]
            values = [
                escape(label(name)),
                f"{points[index]:+.2f}",
                f"[{low:+.2f}, {high:+.2f}]",
                "-",
                "",
            ]
            if "equity" in triple:
                low, high = triple["equity_intervals"][index]
                values[3:] = [f"{triple['equity'][index]:.1%}", f"[{low:.1%}, {high:.1%}]"]
            for line, value in zip(lines, values, strict=True):
                line.append(value)
        table.add_row(*("\n".join(line) for line in lines))
    return table


def _figure(cell: dict[str, Any]) -> str:
    low, high = cell["interval"]
    text = f"{cell['points_per_deal']:+.2f}\n[{low:+.2f}, {high:+.2f}]"
    if "matches_won" in cell:
        text += f"\n{cell['matches_won']:.0%} of matches"
    return text
