"""Match equity of a player: `python -m training.equity checkpoints/four_point --check 20000`.

It plays deals with the player in every seat from every standing of the match, iterates the probabilities of winning
until they settle, and writes the table beside the checkpoint. With `--show` a table is read again, with `--calls` it is
counted how the player bids at given scores.
"""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import torch
import tyro
from rich.console import Console

from smear_env import PRESETS, PolicyAgent, Rules, make_agent, make_rules
from training.config import parse_options
from training.equity.build import REPLICATES, build_equity
from training.equity.calls import DEFAULT_SCORES, count_calls
from training.equity.grid import make_grid
from training.equity.report import calls_table, contracts_table, print_equity, strength_table
from training.equity.selfplay import make_chooser
from training.equity.solve import ConvergenceError
from training.equity.table import load_equity, read_equity, save_equity, table_name
from training.files import write_json
from training.plots.equity import draw_equity
from training.plots.style import check_picture
from training.progress import show_progress


@dataclass(frozen=True)
class EquityOptions:
    """The probability of winning the match from every score, for one player in every seat."""

    player: str
    """A checkpoint folder, the name of a shipped checkpoint, or a registered agent."""
    rules: str = ""
    """Preset to play; a checkpoint's own by default."""
    options: tuple[str, ...] = ()
    """Rule options as NAME=VALUE; each set of them has a table of its own."""
    deals: int = 2000
    """Deals to play from each combination of bins of scores."""
    seed: int = 5_000_000_003
    """Of deals, start scores, sampled play and resampling; no evaluation may use it."""
    sampled: bool = False
    """A checkpoint samples from its policy; otherwise it takes the most probable action."""
    floor: int | None = None
    """Lower scores count as this one; minus the target by default."""
    bins: tuple[int, ...] = ()
    """Lowest score of each bin but the first, which begins at the floor; the measured ones by default."""
    replicates: int = REPLICATES
    """Resampled tables behind the sampling errors."""
    check: int = 0
    """Matches from drawn scores to compare predicted with observed wins."""
    measure_bins: bool = False
    """Say what each boundary of bins is worth."""
    out: Path | None = None
    """Folder to write to, or read from; the checkpoint's by default."""
    show: bool = False
    """Make nothing: read the table that is there and show it."""
    picture: Path | None = None
    """File for a picture, `.png` or `.svg`; beside the table by default, `.png`."""
    calls: bool = False
    """Make no table: count how the player bids at `--scores`."""
    scores: tuple[str, ...] = ()
    """Scores to bid at, the calling team's first and the others' clockwise, as `14:8`."""
    json: Path | None = None
    """File for the counts of `--calls`."""
    threads: int = 1
    """Threads of torch."""


def run(given: EquityOptions, console: Console) -> None:
    """Make, read or count what is asked for; ValueError for what makes no sense."""
    torch.set_num_threads(given.threads)
    rules = _rules(given)
    if given.picture:
        check_picture(given.picture)
    if given.calls:
        show_calls(given, rules, console)
        return
    folder = _folder(given)
    if given.show:
        equity = load_equity(folder, rules)
    else:
        grid = make_grid(rules, floor=given.floor, bins=given.bins or None)
        equity = build_equity(
            given.player,
            rules,
            grid,
            deals=given.deals,
            seed=given.seed,
            sampled=given.sampled,
            replicates=given.replicates,
            check=given.check,
            measure_bins=given.measure_bins,
            command="python -m training.equity " + shlex.join(sys.argv[1:]),
        )
        equity = read_equity(save_equity(folder, equity))
    draw_equity(equity, [given.picture or folder / f"{table_name(equity.rules)}.png"])
    print_equity(equity, console)


def show_calls(given: EquityOptions, rules: Rules, console: Console) -> None:
    """Count and print how the player bids; ValueError for scores that cannot be read."""
    scores = [parse_scores(text) for text in given.scores] or DEFAULT_SCORES.get(rules.name, ())
    if not scores:
        raise ValueError(f"scores=() says nothing, and {rules.name} has no usual ones: give some, as 14:8")
    choose = make_chooser(given.player, rules, sampled=given.sampled, seed=given.seed)
    counted = count_calls(choose, rules, scores, given.deals, given.seed)
    for table in (calls_table(counted), strength_table(counted), contracts_table(counted)):
        console.print(table)
    if given.json:
        write_json(
            given.json,
            {
                "player": given.player,
                "rules": rules.name,
                "options": rules.options(),
                "play": "sampled" if given.sampled else "greedy",
                "seed": given.seed,
                "scores": [one.as_plain() for one in counted],
            },
        )


def parse_scores(text: str) -> tuple[int, ...]:
    """Scores from a text; ValueError if they are none.

    >>> parse_scores("14:-3")
    (14, -3)
    """
    try:
        return tuple(map(int, text.split(":")))
    except ValueError:
        raise ValueError(f"scores={text!r} must be one for each team, as 14:8") from None


def _rules(given: EquityOptions) -> Rules:
    name = given.rules
    if not name:
        agent = make_agent(given.player)
        name = agent.description["preset"] if isinstance(agent, PolicyAgent) else next(iter(PRESETS))
    return make_rules(name, **parse_options(name, given.options))


def _folder(given: EquityOptions) -> Path:
    if given.out is not None:
        return given.out
    agent = make_agent(given.player)
    if not isinstance(agent, PolicyAgent):
        raise ValueError(f"out=None: {given.player!r} is no checkpoint to put a table beside; give a folder")
    return agent.folder


def main() -> None:
    """`python -m training.equity`."""
    given = tyro.cli(
        EquityOptions, prog="python -m training.equity", config=(tyro.conf.PositionalRequiredArgs,)
    )
    console = Console()
    show_progress()
    try:
        run(given, console if console.is_terminal else Console(width=200))
    except (ValueError, OSError, ConvergenceError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
