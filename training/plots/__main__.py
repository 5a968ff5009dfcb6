"""Pictures as PNG and SVG: `python -m training.plots curves RUN...`, `bids`, `equity`, `crosstable`, `position`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console

from smear_env import make_rules
from training.equity.table import read_equity
from training.files import write_json
from training.options import parse_options
from training.plots import bids, curves, position, runs
from training.plots.crosstable import draw_crosstable, read_result
from training.plots.equity import draw_equity
from training.plots.style import out_paths
from training.progress import StepProgress

TOLD = (
    "Draw training runs, bidding, match equity, tournaments and positions, readable in grey (docs/plots.md)."
)


@dataclass(frozen=True)
class Curves:
    """Learning curves: strength against each baseline, entropy and regret, by configuration, over its seeds."""

    runs: tyro.conf.Positional[tuple[Path, ...]]
    """Folders of runs, or files that --json wrote."""
    tags: tuple[str, ...] = curves.TAGS
    """Metrics, or patterns of them."""
    names: tuple[str, ...] = ()
    """What the configurations are called, in the order in which they come; by default the fields that differ."""
    json: Path | None = None
    """File to write what is drawn to, small enough to keep, from which it is drawn again."""
    out: Path = Path("curves")
    """Picture: by its ending .png or .svg, both without one."""

    def draw(self, paths: tuple[Path, ...]) -> None:
        """Read, draw and, if asked for, write the data."""
        found = runs.read_runs(self.runs, self.tags)
        curves.draw_curves(runs.group_runs(found, self.names), paths)
        if self.json:
            write_json(self.json, runs.as_plain(found))


@dataclass(frozen=True)
class Bids:
    """Bid calibration: the probability of making a bid that play-outs claim when it is made, against what is made."""

    players: tyro.conf.Positional[tuple[str, ...]]
    """Checkpoints, each in the game that it was trained for; or files that --json wrote."""
    options: tuple[str, ...] = ()
    """Rule options as NAME=VALUE."""
    deals: int = 1000
    """Deals that each plays in every seat."""
    worlds: int = 64
    """Worlds drawn for each bid that stood."""
    seed: int = 1
    """Of the deals and of the worlds."""
    json: Path | None = None
    """File to write the figures to, from which they are drawn again."""
    out: Path = Path("bids")
    """Picture: by its ending .png or .svg, both without one."""

    def draw(self, paths: tuple[Path, ...]) -> None:
        """Play, draw and, if asked for, write the figures; ValueError where there is nothing to play."""
        if not self.players:
            raise ValueError("players=() has nobody to play: give checkpoints")
        for name in ("deals", "worlds"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} must be at least 1")
        found: list[dict[str, Any]] = []
        for player in self.players:
            if Path(player).is_file():
                found += bids.read_calibrations(Path(player))
                continue
            doing = f"contracts of {player}"
            with StepProgress(Console(stderr=True), 1, "contracts", doing=doing) as progress:
                found.append(
                    bids.calibration_of(
                        player,
                        self.options,
                        deals=self.deals,
                        worlds=self.worlds,
                        seed=self.seed,
                        told=progress.show,
                    )
                )
        bids.draw_bids(found, paths)
        if self.json:
            write_json(self.json, {"format": bids.FORMAT, "calibrations": found})


@dataclass(frozen=True)
class Equity:
    """Match equity as a heat map: the dealer's team's chance to win the match, by both scores."""

    table: tyro.conf.Positional[Path]
    """JSON of a table of `python -m training.equity`, or a folder that holds one."""
    out: Path = Path("equity")
    """Picture: by its ending .png or .svg, both without one."""

    def draw(self, paths: tuple[Path, ...]) -> None:
        """Read and draw; ValueError naming a folder that does not hold one table."""
        path = self.table
        if path.is_dir():
            there = sorted(path.glob("equity*.json"))
            if len(there) != 1:
                told = ", ".join(one.name for one in there) or "none"
                raise ValueError(f"table={str(path)!r} must hold one table, name the file: {told}")
            (path,) = there
        draw_equity(read_equity(path), paths)


@dataclass(frozen=True)
class Crosstable:
    """Cross table with intervals: of a tournament beside its ratings, or of cross-play."""

    result: tyro.conf.Positional[Path]
    """What `training.tournament` or `training.crossplay` wrote with --json."""
    out: Path = Path("crosstable")
    """Picture: by its ending .png or .svg, both without one."""

    def draw(self, paths: tuple[Path, ...]) -> None:
        """Read and draw."""
        draw_crosstable(read_result(self.result), paths)


@dataclass(frozen=True)
class Position:
    """A policy in one position: the probability of each legal action, beside what the seat sees of the table."""

    players: tyro.conf.Positional[tuple[str, ...]]
    """Checkpoints or registered agents, a panel each."""
    transcript: Path | None = None
    """Transcript file; without it the first player plays a match of --seed against itself."""
    match: int = 0
    """Match of the file, or game of the seed, from 0."""
    deal: int = 0
    """Deal of the match, from 0."""
    step: int = 0
    """Actions of the deal that are done."""
    rules: str = ""
    """Preset of a match of the seed; the first checkpoint's by default."""
    options: tuple[str, ...] = ()
    """Its rule options as NAME=VALUE."""
    seed: int = 0
    """Of the match without a transcript."""
    out: Path = Path("position")
    """Picture: by its ending .png or .svg, both without one."""

    def draw(self, paths: tuple[Path, ...]) -> None:
        """Read or play the match, ask the players, and draw."""
        if not self.players:
            raise ValueError("players=() has nobody to ask: give checkpoints or registered agents")
        if self.transcript:
            match = position.read_match(self.transcript, self.match)
        else:
            name = self.rules or position.preset_of_player(self.players[0])
            rules = make_rules(name, **parse_options(name, self.options))
            match = position.recorded(rules, self.players[0], self.seed, self.match)
        position.draw_position(position.position_of(match, self.deal, self.step, self.players), paths)


COMMANDS: dict[str, Callable[..., Any]] = {
    one.__name__.lower(): one for one in (Curves, Bids, Equity, Crosstable, Position)
}


def main() -> None:
    """`python -m training.plots`."""
    given: Any = tyro.extras.subcommand_cli_from_dict(
        COMMANDS, prog="python -m training.plots", description=TOLD
    )
    try:
        paths = out_paths(given.out)
        given.draw(paths)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    print(f"written: {', '.join(map(str, paths))}")


if __name__ == "__main__":
    main()
