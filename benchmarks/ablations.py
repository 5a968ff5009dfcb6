"""What each setting of training is worth: one changed at a time, several seeds each, all judged on the same deals.

Trains by the game's committed configuration at another length, by the changes of `ABLATIONS`, and plays each policy
against `expert` and a fixed checkpoint: points per deal, and matches won against `expert`. The mean over seeds has
Student's 95 % interval, since it is seeds that differ: with three the interval is 2.5 standard deviations either way.

    python -m benchmarks.ablations four_point --json benchmarks/results/ablations_four_point.json
    python -m benchmarks.ablations four_point --only "entropy 0.1" --seeds 0      (part of it)

Everything is kept in `--runs`; whatever is there is not done again, and a run that was stopped goes on. The table is of
what has been finished.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table
from scipy import stats

from smear_env import CheckpointError, find_checkpoint, make_rules, read_policy
from training.checkpoint import RESUME
from training.config import TrainConfig, as_plain, load_config
from training.evaluate import evaluate
from training.files import commit, write_json
from training.ppo import train

FORMAT = "smear-ablations/1"
AS_CONFIGURED = "as configured"
JUDGED = "judged.json"


def entropies(of_cards: float) -> dict[str, float]:
    """All three of a run's entropy bonuses, in the proportion of the defaults."""
    return {"entropy": of_cards, "bid_entropy": 2 * of_cards, "final_entropy": of_cards / 5}


def widths(*hidden: int, decisions: float) -> dict[str, Any]:
    """A network of these layers for policy and critic, trained on this share of the decisions.

    The share makes the time equal: measured as decisions a second over that of 2x256, on one idle core.
    """
    return {"hidden": hidden, "critic_hidden": hidden, "decisions": decisions}


ABLATIONS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "four_point": {
        AS_CONFIGURED: {},
        **{f"entropy {bonus}": entropies(bonus) for bonus in (0.003, 0.01, 0.1)},
        "critic sees its seat's view": {"critic_view": "observation"},
        "suits as dealt": {"suits": "as_dealt"},
        "match equity": {"equity": "four_point"},
        "half against past selves": {"past_share": 0.5},
        "2x128, equal time": widths(128, 128, decisions=1.8),
        "3x256, equal time": widths(256, 256, 256, decisions=0.78),
        "3x512, equal time": widths(512, 512, 512, decisions=0.31),
        "features": {"features": True},
    },
    "schmier": {
        AS_CONFIGURED: {},
        **{f"entropy {bonus}": entropies(bonus) for bonus in (0.003, 0.01, 0.1)},
        "suits as dealt": {"suits": "as_dealt"},
    },
}
"""By game and name, what differs from the configuration; `decisions` is a share of their number."""


@dataclass(frozen=True)
class Options:
    """Which changes are tried, how long, and how they are judged."""

    game: tyro.conf.Positional[str]
    """four_point or schmier."""
    only: tuple[str, ...] = ()
    """Names of changes; all by default."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Each change is tried with each of them."""
    decisions: int = 30_000_000
    """Of a run, but for those of equal time."""
    fixed: str = ""
    """Checkpoint to be played against beside `expert`; the shipped one of the game by default."""
    pairs: int = 10_000
    """Sets of duplicate deals against each of the two."""
    matches: int = 2000
    """Sets of matches against `expert`."""
    runs: Path = Path("runs/ablations")
    """Folder of all runs."""
    json: Path | None = None
    """File to write the figures to."""


def config_of(options: Options, name: str, seed: int) -> TrainConfig:
    """The configuration of one run."""
    change = dict(ABLATIONS[options.game][name])
    decisions = round(options.decisions * change.pop("decisions", 1.0))
    folder = options.runs / f"{options.game}-{name.replace(' ', '_').replace(',', '')}-{seed}"
    return dataclasses.replace(
        load_config(Path("configs") / f"{options.game}.toml"),
        **{**change, "total_decisions": decisions, "seed": seed, "run_dir": str(folder)},
        evaluate_pairs=0,
        baselines=(),
    )


def finished(config: TrainConfig) -> bool:
    """Whether the run is there to its end."""
    try:
        description = read_policy(config.folder / "checkpoint")
    except CheckpointError:
        return False
    return int(description["decisions"]) >= config.total_decisions - config.batch


def judged(options: Options, config: TrainConfig) -> dict[str, Any]:
    """What the run's policy wins, by the players it is judged by; kept beside it."""
    kept, policy = config.folder / JUDGED, str(config.folder / "checkpoint")
    found: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    rules = make_rules(options.game)
    for against, matches in (("expert", options.matches), (options.fixed, 0)):
        asked = {"pairs": options.pairs, "matches": matches, "player": identity(against)}
        if found.get(against, {}).get("asked") != asked:
            result = evaluate(policy, against, rules, pairs=options.pairs, matches=matches, seed=1)
            figures = {
                name: result[name]
                for name in ("points_per_deal", "interval", "matches_won")
                if name in result
            }
            found[against] = {"asked": asked, **figures}
            write_json(kept, found)
    return found


def identity(player: str) -> str:
    """What a figure against this player depends on: a checkpoint's weights, or the name."""
    return player if player == "expert" else str(read_policy(find_checkpoint(player))["weights_sha256"])


def run(options: Options) -> Iterator[tuple[str, int, TrainConfig, dict[str, Any]]]:
    """Train and judge what is asked for, seed by seed, so that an early table has all changes."""
    names = options.only or tuple(ABLATIONS[options.game])
    for seed in options.seeds:
        for name in names:
            config = config_of(options, name, seed)
            if not finished(config):
                print(f"{name}, seed {seed}", flush=True)
                train(config, resume=(config.folder / "resume" / RESUME).exists())
                if not finished(config):
                    return  # stopped by hand
            yield name, seed, config, judged(options, config)


def mean_over_seeds(values: list[float]) -> dict[str, Any]:
    """Mean and Student's 95 % interval over seeds; no interval of one."""
    found = np.array(values)
    half = (
        float(stats.t.ppf(0.975, len(found) - 1) * found.std(ddof=1) / len(found) ** 0.5)
        if len(found) > 1
        else None
    )
    mean = float(found.mean())
    return {"mean": mean, "interval": None if half is None else [mean - half, mean + half], "seeds": values}


def summary(options: Options, rows: list[tuple[str, int, TrainConfig, dict[str, Any]]]) -> dict[str, Any]:
    """The figures of all finished runs, by change, in plain values."""
    result: dict[str, Any] = {
        "format": FORMAT,
        "rules": options.game,
        "commit": commit(),
        "fixed": {"name": options.fixed, "weights_sha256": identity(options.fixed)},
        "pairs": options.pairs,
        "matches": options.matches,
        "changes": {},
    }
    configured = config_of(options, AS_CONFIGURED, 0)
    result["config"] = {key: value for key, value in as_plain(configured).items() if key != "run_dir"}
    for name in dict.fromkeys(row[0] for row in rows):
        own = [(seed, config, found) for other, seed, config, found in rows if other == name]
        figures = {
            "expert": mean_over_seeds([found["expert"]["points_per_deal"] for *_, found in own]),
            "matches": mean_over_seeds([found["expert"]["matches_won"] for *_, found in own]),
            "fixed": mean_over_seeds([found[options.fixed]["points_per_deal"] for *_, found in own]),
        }
        result["changes"][name] = {
            "change": dict(ABLATIONS[options.game][name]),
            "decisions": own[0][1].total_decisions,
            "seeds": [seed for seed, *_ in own],
            **figures,
        }
    return result


def shown(figure: dict[str, Any], *, percent: bool = False) -> str:
    """A mean with its interval."""
    form = "{:.1%}" if percent else "{:+.3f}"
    mean, interval = form.format(figure["mean"]), figure["interval"]
    return mean if interval is None else f"{mean} [{form.format(interval[0])}, {form.format(interval[1])}]"


def print_table(result: dict[str, Any]) -> None:
    """One row a change."""
    table = Table(title=f"{result['rules']}: points per deal, 95 % intervals over seeds")
    for column in ("changed", "decisions", "seeds", "against expert", "matches won", "against the fixed one"):
        table.add_column(column, justify="left" if column == "changed" else "right")
    for name, row in result["changes"].items():
        figures = shown(row["expert"]), shown(row["matches"], percent=True), shown(row["fixed"])
        table.add_row(name, f"{row['decisions'] / 1e6:.0f} M", str(len(row["seeds"])), *figures)
    Console().print(table)


def main() -> None:
    """`python -m benchmarks.ablations`."""
    options = tyro.cli(Options, prog="python -m benchmarks.ablations", description=__doc__)
    try:
        if options.game not in ABLATIONS:
            raise ValueError(f"game={options.game!r} must be one of {', '.join(ABLATIONS)}")
        unknown = [name for name in options.only if name not in ABLATIONS[options.game]]
        if unknown:
            raise ValueError(
                f"only={unknown[0]!r} must be of {', '.join(map(repr, ABLATIONS[options.game]))}"
            )
        options = dataclasses.replace(options, fixed=options.fixed or options.game)
        rows = list(run(options))
        if rows:
            result = summary(options, rows)
            if options.json:
                write_json(options.json, result)
            print_table(result)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
