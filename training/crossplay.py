"""Cross-play: how well independently trained policies play as each other's partners.

Two policies that were trained apart may have settled on different conventions. Their mixed team meets the team of two
of the one and that of two of the other, on the same duplicate deals from every side and in both orders of sitting: if
they agree it is as strong as both in the mean, however strong they are, and scores nothing. What it loses is the gap
between self-play and cross-play (Hu et al., "Other-play for zero-shot coordination", 2020).

    python -m training.crossplay --agents runs/four_point-* --partners expert --pairs 4000
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from smear_env import Rules, make_rules
from training.arrays import Float64Array
from training.evaluate import checked_deals, means_of
from training.evaluation.figures import interval
from training.evaluation.players import Player, check_players, label
from training.evaluation.run import ALONE, Lineup, Means, play_lineups
from training.faults import told
from training.files import commit, report_json
from training.progress import show_progress

FORMAT = "smear-crossplay/1"


def mixed_lineups(one: Player, other: Player, rules: Rules) -> dict[Lineup, int]:
    """Lineups by seat in which the two are partners and each of them plays all other seats; the mixed team of each."""
    found: dict[Lineup, int] = {}
    for first, second in ((one, other), (other, one)):
        for against in (one, other):
            for team in range(rules.teams):
                seats = [against] * rules.players
                seats[team], seats[team + rules.teams] = first, second
                found[tuple(seats)] = team
    return found


def crossplay(
    agents: Sequence[str],
    rules: Rules,
    *,
    partners: Sequence[str] = (),
    pairs: int = 2000,
    seed: int = 1,
    deals: str | None = None,
    sampled: bool = False,
    means: Means = ALONE,
) -> dict[str, Any]:
    """Mix every two of `agents`, and each of them with each of `partners`; the JSON that the command writes.

    `pairs` deals, each played in every way. The gap is what mixed teams of agents lose, points per deal. Raises
    ValueError for fewer than two agents, for one given twice, for teams of another size than two, and as `evaluate`
    does.
    """
    names = [*agents, *partners]
    if len(agents) < 2 or len(set(names)) < len(names):
        raise ValueError(f"agents={' '.join(names)!r} must be two or more, each once")
    if rules.players != 2 * rules.teams:
        raise ValueError(f"players={rules.players} in teams={rules.teams}: cross-play is of teams of two")
    source = checked_deals(rules, pairs, 0, seed, deals)
    players = {name: Player(name, sampled) for name in names}
    described = dict(zip(players.values(), check_players(list(players.values()), rules), strict=True))
    couples = [*combinations(agents, 2), *((agent, partner) for agent in agents for partner in partners)]
    lineups = {couple: mixed_lineups(players[couple[0]], players[couple[1]], rules) for couple in couples}
    every = [lineup for of_couple in lineups.values() for lineup in of_couple]
    plays = play_lineups(every, described, rules, source, pairs, means=means)
    scored = {
        couple: np.mean([plays[lineup].points[:, team] for lineup, team in of_couple.items()], axis=0)
        for couple, of_couple in lineups.items()
    }
    apart = [scored[couple] for couple in couples if couple[1] not in partners]
    return {
        "format": FORMAT,
        "rules": rules.name,
        "options": rules.options(),
        "deals": source.describe(),
        "pairs": pairs,
        "seed": seed,
        "play": "sampled" if sampled else "greedy",
        "commit": commit(),
        "players": [described[player] | {"label": label(player.name)} for player in players.values()],
        "agents": list(agents),
        "partners": list(partners),
        "gap": _figure(-np.mean(apart, axis=0), seed),
        "gaps": {
            partner: _figure(-np.mean([scored[agent, partner] for agent in agents], axis=0), seed)
            for partner in partners
        },
        "couples": [{"agents": list(couple), **_figure(points, seed)} for couple, points in scored.items()],
    }


def _figure(points: Float64Array, seed: int) -> dict[str, Any]:
    """Mean and interval over deals [pairs]."""
    return {"points_per_deal": float(points.mean()), "interval": list(interval(points, seed))}


def table(result: dict[str, Any]) -> Table:
    """What each mixed team scores against those of its two players."""
    low, high = result["gap"]["interval"]
    gap = f"gap {result['gap']['points_per_deal']:+.3f} [{low:+.3f}, {high:+.3f}]"
    found = Table(title=f"mixed teams against teams of either player, points per deal; {gap}")
    for column in ("partners", "", "points per deal", "95 % interval"):
        found.add_column(column, justify="right" if column == "points per deal" else "left")
    for couple in result["couples"]:
        low, high = couple["interval"]
        first, second = (label(name) for name in couple["agents"])
        found.add_row(first, second, f"{couple['points_per_deal']:+.3f}", f"[{low:+.3f}, {high:+.3f}]")
    return found


@dataclass(frozen=True)
class CrossplayOptions:
    """Policies trained apart as each other's partners: what mixed teams lose against teams of their own."""

    agents: tuple[str, ...]
    """Two or more checkpoints, or other agents, that are mixed with each other."""
    partners: tuple[str, ...] = ()
    """Agents that each of them is also mixed with."""
    rules: str = "four_point"
    """Preset."""
    options: tuple[str, ...] = ()
    """Rule options as NAME=VALUE."""
    pairs: int = 2000
    """Deals, each played in every way."""
    seed: int = 1
    """Seed of fresh deals, and of what agents draw."""
    deals: str = "fresh"
    """fresh, fixed for the committed set, or the path of another set's JSON."""
    sampled: bool = False
    """Checkpoints sample from their policies; otherwise they take the most probable action."""
    processes: int = 0
    """Processes that play, 0 for one on each core."""
    runs: Path = Path("runs/evaluation")
    """Where finished shards are kept, so that the same command goes on."""
    fresh: bool = False
    """Play again what is there from before."""
    json: Path | None = None
    """File to write the result to; `-` for standard output, in place of the text."""


def main() -> None:
    """`python -m training.crossplay`."""
    import tyro

    from training.config import parse_options

    show_progress()
    given = tyro.cli(CrossplayOptions, prog="python -m training.crossplay")
    try:
        result = crossplay(
            given.agents,
            make_rules(given.rules, **parse_options(given.rules, given.options)),
            partners=given.partners,
            pairs=given.pairs,
            seed=given.seed,
            deals=None if given.deals == "fresh" else given.deals,
            sampled=given.sampled,
            means=means_of(given.processes, 0, given.runs, fresh=given.fresh),
        )
        printed = report_json(given.json, result)
    except (ValueError, OSError, RuntimeError) as error:
        sys.exit(told(error))
    except KeyboardInterrupt:
        sys.exit(f"stopped; what is done is in {given.runs}: the same command goes on")
    if not printed:
        Console().print(table(result))


if __name__ == "__main__":
    main()
