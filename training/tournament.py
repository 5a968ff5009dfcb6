"""A tournament: every pair of agents on the same duplicate deals, a cross table with intervals, and ratings.

With two teams each pair of agents plays every deal from both sides. With three, each agent plays every deal alone
against two of each other agent, as each of the teams, and any three agents meet in all six orders of sitting; whole
matches give each its share of them, its equity. All tables have the same deals. It is resumed by the same command.

    python -m training.tournament --agents passer greedy four_point --deals fixed --pairs 2000 --picture table.png
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from smear_env import Rules, make_rules
from training.arrays import Float64Array
from training.evaluate import checked_deals, means_of
from training.evaluation.figures import compared, described_forfeits, interval, summarize
from training.evaluation.players import Player, check_players, label
from training.evaluation.plays import Plays, match_shares
from training.evaluation.ratings import Ratings, rate
from training.evaluation.run import ALONE, Lineup, Means, play_lineups
from training.evaluation.tables import print_tables
from training.faults import told
from training.files import commit, report_json
from training.plots.style import check_picture
from training.progress import show_progress

FORMAT = "smear-tournament/1"
MODEL = (
    "points per deal of a side = its player's rating less the mean rating of the other sides' players; least squares "
    "over all lineups, each alike; ratings sum to 0; standard errors and 95 % intervals by bootstrap over deals"
)


def sides_of(agent: Player, against: Player, teams: int) -> tuple[Lineup, ...]:
    """The lineups of a set: the agent as team 0, 1 ..., the other player everywhere else."""
    return tuple(tuple(agent if team == side else against for team in range(teams)) for side in range(teams))


def lineups_of(players: Sequence[Player], teams: int) -> list[Lineup]:
    """Every lineup that a tournament plays, once."""
    lineups: list[Lineup] = []
    for agent, against in permutations(players, 2):
        lineups += sides_of(agent, against, teams)
    if teams == 3:
        for trio in combinations(players, 3):
            lineups += permutations(trio)
    return list(dict.fromkeys(lineups))


def tournament(
    agents: Sequence[str],
    rules: Rules,
    *,
    pairs: int = 2000,
    matches: int = 0,
    seed: int = 1,
    deals: str | None = None,
    sampled: bool = False,
    limit_seconds: float = 10.0,
    means: Means = ALONE,
) -> dict[str, Any]:
    """Play a tournament of players by name; the JSON that `python -m training.tournament` writes.

    `pairs` deals and `matches` matches for every lineup. Raises ValueError for fewer than two agents, for one given
    twice, and as `evaluate` does.
    """
    if len(agents) < 2 or len(set(agents)) < len(agents):
        raise ValueError(f"agents={' '.join(agents)!r} must be two or more, each once")
    if rules.teams > 3:
        raise ValueError(f"teams={rules.teams}: a tournament is for two teams or three")
    source = checked_deals(rules, pairs, matches, seed, deals)
    players = [Player(name, sampled, limit_seconds) for name in agents]
    described = dict(zip(players, check_players(players, rules), strict=True))
    lineups = lineups_of(players, rules.teams)
    plays = play_lineups(lineups, described, rules, source, pairs, means=means)
    whole: dict[Lineup, Plays] = {}
    if matches:
        whole = play_lineups(lineups, described, rules, source, matches, matches=True, means=means)
    rating = rate({lineup: plays[lineup].points for lineup in lineups}, players, seed)
    cells = [_cell(pair, plays, whole, rules.teams, seed) for pair in permutations(players, 2)]
    given_up = {player.name: _forfeits_of(player, plays, whole) for player in players}
    result = {
        "format": FORMAT,
        "rules": rules.name,
        "options": rules.options(),
        "deals": source.describe(),
        "pairs": pairs,
        "matches": matches,
        "seed": seed,
        "play": "sampled" if sampled else "greedy",
        "commit": commit(),
        "players": [described[player] | {"label": label(player.name)} for player in players],
        "model": MODEL,
        "ratings": _ratings(players, rating),
        "misfit": _misfit(cells, players, rating),
        "cells": cells,
        "forfeits": {name: found for name, found in given_up.items() if found},
    }
    if rules.teams == 3:
        result["triples"] = [_triple(trio, plays, whole, seed) for trio in combinations(players, 3)]
    return result


def _cell(
    pair: tuple[Player, ...], plays: dict[Lineup, Plays], whole: dict[Lineup, Plays], teams: int, seed: int
) -> dict[str, Any]:
    """One agent against another: `summarize` of their duplicate deals and matches."""
    agent, against = pair
    sides = sides_of(agent, against, teams)
    comparison = compared(tuple(plays[one] for one in sides), tuple(whole[one] for one in sides if whole))
    return {"agent": agent.name, "against": against.name, **summarize(comparison, seed)}


def _triple(
    trio: tuple[Player, ...], plays: dict[Lineup, Plays], whole: dict[Lineup, Plays], seed: int
) -> dict[str, Any]:
    """Three different agents in all orders: points per deal and, of matches, equity shares, in the trio's order."""
    orders = list(permutations(trio))
    found: dict[str, Any] = {"agents": [player.name for player in trio]}
    points = [_mean_of(player, {one: plays[one].points for one in orders}) for player in trio]
    found["points_per_deal"] = [float(one.mean()) for one in points]
    found["intervals"] = [list(interval(one, seed)) for one in points]
    if whole:
        shares = {one: match_shares(whole[one], 3) for one in orders}
        equity = [_mean_of(player, shares) for player in trio]
        found["equity"] = [float(one.mean()) for one in equity]
        found["equity_intervals"] = [list(interval(one, seed)) for one in equity]
    return found


def _mean_of(player: Player, values: dict[Lineup, Float64Array]) -> Float64Array:
    """[deals] mean over lineups of what the player's team has in each, [deals, teams]."""
    return np.mean([value[:, lineup.index(player)] for lineup, value in values.items()], axis=0)


def _forfeits_of(
    player: Player, plays: dict[Lineup, Plays], whole: dict[Lineup, Plays]
) -> dict[str, Any] | None:
    reports = [
        report | {"of": of, "against": [one.name for one in lineup]}
        for of, kept in (("deals", plays), ("matches", whole))
        for lineup, one_lineup in kept.items()
        for report in one_lineup.reports
        if lineup[report["team"]] == player
    ]
    return described_forfeits(reports) if reports else None


def _ratings(players: Sequence[Player], rating: Ratings) -> list[dict[str, Any]]:
    """Best first."""
    return [
        {
            "agent": players[index].name,
            "rating": float(rating.mean[index]),
            "standard_error": float(rating.error[index]),
            "interval": [float(rating.low[index]), float(rating.high[index])],
        }
        for index in np.argsort(-rating.mean, kind="stable")
    ]


def _misfit(cells: list[dict[str, Any]], players: Sequence[Player], rating: Ratings) -> float:
    """Root mean square of what the cells differ by from the differences of ratings, in points per deal."""
    number = {player.name: index for index, player in enumerate(players)}
    differences = [
        cell["points_per_deal"] - (rating.mean[number[cell["agent"]]] - rating.mean[number[cell["against"]]])
        for cell in cells
    ]
    return float(np.sqrt(np.mean(np.square(differences))))


@dataclass(frozen=True)
class TournamentOptions:
    """Every pair of agents on the same duplicate deals: cross table with intervals, and ratings with errors."""

    agents: tuple[str, ...]
    """Players: registered names, checkpoints, `module:function`, `process:COMMAND`."""
    rules: str = "four_point"
    """Preset to play."""
    options: tuple[str, ...] = ()
    """Rule options as NAME=VALUE."""
    pairs: int = 2000
    """Deals that every pair plays from each side and, with three teams, every three agents in all six orders."""
    matches: int = -1
    """Whole matches likewise; by default none with two teams, and a tenth of the pairs with three, for equity."""
    seed: int = 1
    """Seed of the deals and of the agents."""
    deals: str = "fixed"
    """The committed `fixed` set of the preset, `fresh` deals of the seed, or the path of another set's JSON."""
    sampled: bool = False
    """Checkpoints sample from their policy; otherwise they take the most probable action."""
    limit_seconds: float = 10.0
    """How long an outsider may think about one action."""
    processes: int = 0
    """Processes that play, 0 for one on each core."""
    shard: int = 0
    """Deals in a shard, of which finished ones are kept; 0 for 256, or 16 where an agent searches or is an outsider."""
    runs: Path = Path("runs/evaluation")
    """Where finished shards are kept, so that the same command goes on."""
    fresh: bool = False
    """Play again what is there from before."""
    json: Path | None = None
    """File to write the result to; `-` for standard output, in place of the text."""
    picture: Path | None = None
    """File for a picture of the cross table, `.png` or `.svg`."""


def main(arguments: Sequence[str] | None = None, prog: str = "python -m training.tournament") -> None:
    """`python -m training.tournament`."""
    import tyro

    from training.config import parse_options

    show_progress()
    given = tyro.cli(TournamentOptions, prog=prog, args=arguments)
    try:
        rules = make_rules(given.rules, **parse_options(given.rules, given.options))
        if given.picture:
            check_picture(given.picture)
        usual = max(2, given.pairs // 10) if rules.teams == 3 else 0
        result = tournament(
            given.agents,
            rules,
            pairs=given.pairs,
            matches=usual if given.matches == -1 else given.matches,
            seed=given.seed,
            deals=None if given.deals == "fresh" else given.deals,
            sampled=given.sampled,
            limit_seconds=given.limit_seconds,
            means=means_of(given.processes, given.shard, given.runs, fresh=given.fresh),
        )
        printed = report_json(given.json, result)
        if given.picture:
            from training.plots.crosstable import draw_crosstable

            draw_crosstable(result, [given.picture])
    except (ValueError, OSError, RuntimeError) as error:
        sys.exit(told(error))
    except KeyboardInterrupt:
        sys.exit(f"stopped; what is done is in {given.runs}: the same command goes on")
    if printed:
        return
    console = Console()
    print_tables(result, console if console.is_terminal else Console(width=200))


if __name__ == "__main__":
    main()
