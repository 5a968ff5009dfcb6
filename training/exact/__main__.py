"""Exact exploitability of agents on a game of two seats: `python -m training.exact --agents expert CHECKPOINT`.

For each agent, sampled and greedy, what a best response gains in either seat, in points per deal (docs/exact.md).
"""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console
from rich.table import Table

from smear_env import make_agent, make_rules
from training.config import parse_options
from training.exact import Tree, build_tree, exploitability, of_agent, solve_game
from training.files import report_json
from training.progress import counted, show_progress, waiting

FORMAT = "smear-exact/1"


@dataclass(frozen=True)
class ExactOptions:
    """Which agents, and which game."""

    agents: tuple[str, ...] = ("expert",)
    """Names or checkpoint folders."""
    rules: str = "mini"
    """Preset of two seats."""
    options: tuple[str, ...] = ()
    """Rule options as NAME=VALUE."""
    game_value: bool = True
    """Solve the game too, by linear programming."""
    json: Path | None = None
    """File to write the figures to; `-` for standard output, in place of the text."""


def analyse(tree: Tree, agents: tuple[str, ...]) -> list[dict[str, Any]]:
    """A row for each agent and way to play: `agent`, `play`, `exploitability` and what `Exploitability` holds."""
    rows = []
    for name in counted(agents, len(agents), "agents", "best responses", slow=True):
        for play in ("sampled", "greedy"):
            found = exploitability(tree, of_agent(tree, make_agent(name), greedy=play == "greedy"))
            row = {"agent": name, "play": play, "exploitability": found.mean}
            rows.append(row | {"nash_conv": found.nash_conv} | dataclasses.asdict(found))
    return rows


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="points per deal")
    columns = ("agent", "play", "value", "gain_eldest", "gain_dealer", "exploitability")
    for column in columns:
        table.add_column(column.replace("_", " "), justify="left" if column in ("agent", "play") else "right")
    for row in rows:
        table.add_row(*(f"{row[c]:.5f}" if isinstance(row[c], float) else row[c] for c in columns))
    return table


def main() -> None:
    """`python -m training.exact`."""
    given = tyro.cli(ExactOptions, prog="python -m training.exact")
    console = Console(markup=False, width=None if sys.stdout.isatty() else 120)
    show_progress()
    try:
        rules = make_rules(given.rules, **parse_options(given.rules, given.options))
        for name in given.agents:
            make_agent(name)  # an unknown one is refused before the work
        with waiting(f"enumerating {rules.name}"):
            tree = build_tree(rules)
        rows = analyse(tree, given.agents)
        result: dict[str, Any] = {
            "format": FORMAT,
            "rules": rules.name,
            "options": rules.options(),
            "agents": rows,
        }
        if given.game_value:
            with waiting("solving the game"):
                result["game_value"], _ = solve_game(tree)
        printed = report_json(given.json, result)
    except (ValueError, OSError, RuntimeError) as error:
        sys.exit(f"error: {error}")
    if printed:
        return
    console.print(
        f"{tree.deals:,} deals, {tree.nodes:,} positions, {len(tree.seat):,} information sets, {tree.leaves:,} ends",
        highlight=False,
    )
    console.print(_table(rows))
    if given.game_value:
        console.print(
            f"value of the game to eldest hand: {result['game_value']:.6f}; exploitability is half of NashConv, "
            "the mean of both gains",
            highlight=False,
        )


if __name__ == "__main__":
    main()
