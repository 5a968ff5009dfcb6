"""Lineups played on all their deals: shards found, shards played, put together."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from smear_env import Rules, is_built_in, preset_of
from training.evaluation.deals import Deals
from training.evaluation.players import Player
from training.evaluation.plays import Plays, join
from training.evaluation.progress import PlayProgress
from training.evaluation.store import Store
from training.evaluation.workers import Shard, play_shards

QUICK_SHARD, SLOW_SHARD = 256, 16
"""Deals in a shard: fixed by who plays, never by the clock, so that the results are the same everywhere."""
QUICK_PLAYS = 20_000
"""So many plays of quick agents are done before a second process has started."""

Lineup = tuple[Player, ...]
"""The player of each team, or of each seat."""


@dataclass(frozen=True)
class Means:
    """How an evaluation is carried out; no result depends on it, but on `shard` what agents with chance draw."""

    processes: int = 1
    """Processes that play, one thread each."""
    folder: Path | None = None
    """Where finished shards are kept, and found again."""
    shard: int | None = None
    """Deals in a shard; by default 256, or 16 where somebody searches or comes from outside."""
    fresh: bool = False
    """Play again what is there from before."""
    console: Console | None = None
    """Where to show how far it is."""

    def __post_init__(self) -> None:
        if self.processes < 1:
            raise ValueError(f"processes={self.processes} must be at least 1")
        if self.shard is not None and self.shard < 1:
            raise ValueError(f"shard={self.shard} must be at least 1")


ALONE = Means()


def play_lineups(
    lineups: Sequence[Lineup],
    described: Mapping[Player, Mapping[str, Any]],
    rules: Rules,
    deals: Deals,
    count: int,
    *,
    matches: bool = False,
    means: Means = ALONE,
) -> dict[Lineup, Plays]:
    """The plays of each lineup on deals (or matches) 0 to `count`; `described` says what each player is."""
    distinct = list(dict.fromkeys(lineups))
    found: dict[tuple[Lineup, int], Plays] = {}
    missing: list[tuple[Store, Shard]] = []
    for lineup in distinct:
        quick = all(player.quick for player in lineup)
        size = means.shard or (QUICK_SHARD if quick else SLOW_SHARD)
        store = Store(means.folder, _question(lineup, described, rules, deals, size, matches=matches))
        if means.fresh:
            store.forget()
        for first in range(0, count, size):
            number = min(size, count - first)
            kept = store.load(first, number)
            if kept is not None:
                found[lineup, first] = kept
            else:
                missing.append((store, Shard(lineup, rules, deals, first, number, matches)))
    # Deal by deal, not lineup by lineup: what is done so far is balanced.
    missing.sort(key=lambda pair: pair[1].first)
    there = sum(len(plays) for plays in found.values())
    with PlayProgress(means.console, there + sum(shard.count for _, shard in missing), there) as progress:

        def done(number: int, plays: Plays) -> None:
            store, shard = missing[number]
            store.save(shard.first, shard.count, plays)
            found[shard.lineup, shard.first] = plays
            progress.add(len(plays))

        shards = [shard for _, shard in missing]
        play_shards(shards, 1 if _is_short(shards) else means.processes, done)
    return {
        lineup: join([found[key] for key in sorted(found, key=lambda key: key[1]) if key[0] == lineup])
        for lineup in distinct
    }


def _is_short(shards: Sequence[Shard]) -> bool:
    """Whether it is not worth starting processes for."""
    quick = all(player.quick for shard in shards for player in shard.lineup)
    return quick and sum(shard.count * (20 if shard.matches else 1) for shard in shards) <= QUICK_PLAYS


def _question(
    lineup: Lineup,
    described: Mapping[Player, Mapping[str, Any]],
    rules: Rules,
    deals: Deals,
    size: int,
    *,
    matches: bool,
) -> dict[str, Any]:
    cards = Deals(deals.seed) if matches else deals
    # A name says everything of the presets of this package alone.
    preset = preset_of(rules.name)
    own = {} if is_built_in(rules.name) else {"preset": dataclasses.asdict(preset)}
    return {
        **own,
        "rules": rules.name,
        "options": rules.options(),
        "deals": cards.describe(),
        "matches": matches,
        "shard": size,
        "lineup": [{**described[player], "copy": player.copy} for player in lineup],
    }
