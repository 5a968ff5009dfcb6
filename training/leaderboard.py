"""The leaderboard: docs/leaderboard.md, written from the results in `benchmarks/results` by `python docs/generate.py`.

A result is a file that `training.tournament` or `training.evaluate` wrote with `--json`; other files there are not its
concern. What was played on other deals or by other options stands in a table of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HEAD = """# Leaderboard

<!-- Written by docs/generate.py; do not edit. -->

How the numbers are made, and how an agent of your own gets its own: [evaluation](evaluation.md). Points per deal on
duplicate deals, each lineup on the same deals from every side, with 95 % bootstrap intervals over sets of deals. The
results are files in `benchmarks/results/`."""

NONE = "No results are committed yet."


def leaderboard(folder: Path) -> str:
    """The page, from every result in a folder; ValueError names a file that cannot be read."""
    tournaments, evaluations = [], []
    for path in sorted(folder.glob("*.json")):
        try:
            result = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path}: no JSON: {error}") from error
        kind = str(result.get("format", "")) if isinstance(result, dict) else ""
        if kind.startswith("smear-tournament/"):
            tournaments.append((path, result))
        elif kind.startswith("smear-evaluation/"):
            evaluations.append((path, result))
    parts = [HEAD]
    for path, result in sorted(tournaments, key=lambda pair: (str(pair[1].get("rules")), pair[0].name)):
        with _naming(path):
            parts += tournament_section(path.name, result)
    if evaluations:
        parts += ["## Single comparisons", evaluations_table(evaluations)]
    return "\n\n".join(parts if tournaments or evaluations else [*parts, NONE]) + "\n"


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """A result that lacks something is named."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"{path}: no whole result of its format: {error!r}") from error


def tournament_section(name: str, result: dict[str, Any]) -> list[str]:
    """Heading, cross table with ratings, tables of three, and where it all comes from."""
    options = ", ".join(f"`{key}={value}`" for key, value in result["options"].items()) or "default options"
    labels = {one["name"]: one["label"] for one in result["players"]}
    order = [one["agent"] for one in result["ratings"]]
    cells = {(one["agent"], one["against"]): one for one in result["cells"]}
    rows = []
    for place, one in enumerate(result["ratings"], 1):
        row = [str(place), f"`{labels[one['agent']]}`", f"{one['rating']:+.2f} ± {one['standard_error']:.2f}"]
        rows.append(
            row + ["" if one["agent"] == other else _figure(cells[one["agent"], other]) for other in order]
        )
    setting = (
        f"{result['pairs']} sets of duplicate deals for every pair, {result['play']} play of checkpoints. Row against "
        "column."
    )
    model = (
        f"Rating: {result['model']}. Cells differ from the ratings' differences by {result['misfit']:.2f} (root mean "
        "square)."
    )
    parts = [
        f"## `{result['rules']}`, {options}, {deals_name(result['deals'])}",
        setting,
        _table(("", "agent", "rating ± s.e.", *(f"`{labels[agent]}`" for agent in order)), rows),
        model,
    ]
    if result.get("triples"):
        parts += [
            "Three different agents at one table, in all six orders of sitting:",
            triples_table(result, labels),
        ]
    if result["forfeits"]:
        found = (f"`{labels[who]}` {one['count']} plays" for who, one in result["forfeits"].items())
        parts.append(f"Forfeited: {', '.join(found)}.")
    parts += [players_list(result["players"]), f"Result `{name}`, source `{result['commit'][:12]}`."]
    return parts


def triples_table(result: dict[str, Any], labels: dict[str, str]) -> str:
    """Points per deal and equity of the three agents of each table."""
    rows = []
    for triple in result["triples"]:
        for index, agent in enumerate(triple["agents"]):
            low, high = triple["intervals"][index]
            row = [f"`{labels[agent]}`", ", ".join(f"`{labels[o]}`" for o in triple["agents"] if o != agent)]
            row.append(f"{triple['points_per_deal'][index]:+.2f} [{low:+.2f}, {high:+.2f}]")
            if "equity" in triple:
                low, high = triple["equity_intervals"][index]
                row.append(f"{triple['equity'][index]:.1%} [{low:.1%}, {high:.1%}]")
            else:
                row.append("")
            rows.append(row)
    head = ("agent", "with", "points per deal", f"equity: share of {result['matches']} sets of matches")
    return _table(head, rows)


def evaluations_table(results: Iterable[tuple[Path, dict[str, Any]]]) -> str:
    """One line for each comparison, results by the files that they stand in."""
    rows = []
    for path, result in results:
        with _naming(path):
            rows.append(_comparison(result))
    return _table(
        ("agent", "against", "rules", "deals", "sets", "points per deal", "forfeits", "source"), rows
    )


def _comparison(result: dict[str, Any]) -> tuple[str, ...]:
    low, high = result["interval"]
    options = "".join(f", {key}={value}" for key, value in result["options"].items())
    return (
        f"`{result['agent']}`",
        f"`{result['against']}`",
        f"{result['rules']}{options}",
        deals_name(result["deals"]),
        str(result["pairs"]),
        f"{result['points_per_deal']:+.3f} [{low:+.3f}, {high:+.3f}]",
        str(sum(found["count"] for found in result.get("forfeits", {}).values())),
        f"`{result['commit'][:12]}`",
    )


def deals_name(deals: dict[str, Any]) -> str:
    """Which deals, in a few words."""
    if "fixed" in deals:
        return f"fixed deals `{deals['sha256'][:8]}`"
    return f"fresh deals of seed {deals['seed']}"


def players_list(players: list[dict[str, Any]]) -> str:
    """What each player was, if its name does not say it."""
    said = [
        f"`{one['label']}`: {one['kind']} of {key.partition('_')[0]} `{one[key][:12]}`"
        for one in players
        for key in ("weights_sha256", "files_sha256")
        if one.get(key)
    ]
    return f"{'; '.join(said)}." if said else "All players are scripted ones of this package."


def _figure(cell: dict[str, Any]) -> str:
    low, high = cell["interval"]
    return f"{cell['points_per_deal']:+.2f} [{low:+.2f}, {high:+.2f}]"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    first = list(head)
    lines = [first, ["---"] * len(first), *(list(row) for row in rows)]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    # A command of an outsider may hold what parts cells.
    return text.replace("|", "\\|")
