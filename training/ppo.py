"""Self-play PPO: `python -m training.ppo` trains a policy, logs it, checkpoints it and evaluates it.

One iteration is `collect` (the policy plays every seat of every game), `update` (PPO on those decisions) and
the logging of both; all that a run needs to go on is in `Trainer.save`.
"""

from __future__ import annotations

import dataclasses
import signal
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from smear_env import Rules, load_policy, make_agent, read_policy, record_match, show_match
from training import checkpoint
from training.config import TrainConfig, config_from
from training.evaluate import evaluate
from training.evaluation.players import strength_name
from training.evaluation.run import Means
from training.faults import told
from training.metrics import DealCounts
from training.peers import joined
from training.progress import RunProgress
from training.report import final_report, strength_table
from training.trackers import Trackers, make_trackers
from training.trainer import Trainer

LAST_UPDATES = 10
"""Updates whose bids and deals the report at the end counts."""


def plain_console() -> Console:
    """A console that takes no text for markup, since paths may hold brackets, and wide enough for tables in a pipe."""
    return Console(markup=False, width=None if sys.stdout.isatty() else 120)


def resumed_config(config: TrainConfig, given: frozenset[str] = frozenset()) -> TrainConfig:
    """The configuration a run was started with, but for where and how far this invocation goes.

    Raises ValueError where a field `given` by the user is another than the run was started with.
    """
    _, description = checkpoint.load_resume(config.folder / "resume")
    stored = config_from(description["config"], str(config.folder / "resume" / checkpoint.RESUME))
    for name in sorted(given - {"run_dir", "stop_after", "checkpoint_minutes", "tracker"}):
        if getattr(config, name) != getattr(stored, name):
            raise ValueError(
                f"{name}={getattr(config, name)!r}: the run was started with {getattr(stored, name)!r}; "
                "leave the flag out, or start another run"
            )
    return dataclasses.replace(
        stored,
        run_dir=config.run_dir,
        stop_after=config.stop_after,
        checkpoint_minutes=config.checkpoint_minutes,
        tracker=config.tracker if "tracker" in given else stored.tracker,
    )


@contextmanager
def stop_requests(console: Console) -> Iterator[list[int]]:
    """Collect SIGINT and SIGTERM, so that the update under way is finished; a second one ends at once."""
    requests: list[int] = []

    def note(number: int, _: Any) -> None:
        if requests:
            raise KeyboardInterrupt
        requests.append(number)
        console.print("stopping after this update; the checkpoint is saved (once more: stop at once)")

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield requests
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def train(
    config: TrainConfig,
    *,
    resume: bool = False,
    given: frozenset[str] = frozenset(),
    console: Console | None = None,
) -> list[dict[str, Any]]:
    """Train to the end of the configuration, or until stopped; returns the evaluations at the end.

    Started by `torchrun`, its processes train together, and the first of them reports, saves and evaluates.

    `given` names the fields that the user set: a resumed run must have been started with the same. Raises ValueError
    where it was not, and where the run folder holds another run and `resume` is off, CheckpointError where there is
    nothing to resume.
    """
    folder = config.folder
    if resume:
        config = resumed_config(config, given)
    elif (folder / "resume" / checkpoint.RESUME).exists():
        raise ValueError(
            f"run_dir={str(folder)!r} holds a run: go on with --resume, or choose another --run-dir"
        )
    if not resume:
        _check_names(config.baselines)
    with ExitStack() as tracked:
        with joined(config.device) as (peers, device):
            # The others run to the same end in silence.
            console = console or plain_console() if peers.is_first else Console(quiet=True)
            trackers = tracked.enter_context(
                Trackers(make_trackers(config.tracker) if peers.is_first else (), console)
            )
            trainer = Trainer(config, peers, device)
            for baseline in config.baselines if config.evaluate_pairs else ():
                # An unknown one, or one of another game, is refused before the training, not after it.
                make_agent(baseline).reset(trainer.rules[0], -1, 0)
            if resume:
                trainer.resume(folder)
                stored: list[dict[str, Any]] = read_policy(folder / "checkpoint")["evaluation"]
                if trainer.updates >= trainer.total_updates and stored:
                    console.print(
                        f"the run in {folder} is finished: {trainer.decisions:,} decisions", highlight=False
                    )
                    console.print(strength_table(stored))
                    return stored
            threads = f"{config.threads} thread{'s' if config.threads > 1 else ''}"
            console.print(
                f"training {config.rules} in {folder}: {trainer.decisions:,} of "
                f"{trainer.total_updates * trainer.batch:,} decisions done, "
                f"{f'{peers.size} processes of ' if peers.size > 1 else ''}{threads}",
                highlight=False,
                soft_wrap=True,
            )
            trackers.on_start(config, trainer.decisions)
            counts = _iterate(trainer, folder, console, trackers)
            _save(trainer, folder, trackers)
            if trainer.updates < trainer.total_updates:
                console.print(
                    f"stopped at {trainer.decisions:,} decisions; go on with --resume --run-dir {folder}"
                )
                return []
        return _finish(trainer, folder, counts, console, trackers) if peers.is_first else []


def _check_names(baselines: Sequence[str]) -> None:
    """ValueError for two baselines whose strength would be one metric."""
    known: dict[str, str] = {}
    for one in baselines:
        if (other := known.setdefault(strength_name(one), one)) != one:
            raise ValueError(
                f"baselines={other!r} and {one!r} would both be logged as {strength_name(one)!r}: leave one out, "
                "or give its folder another name"
            )


def _iterate(trainer: Trainer, folder: Path, console: Console, trackers: Trackers) -> DealCounts:
    """Update until the end or a stop; returns the counts of the last LAST_UPDATES updates."""
    config, peers = trainer.config, trainer.peers
    first, saved = trainer.updates, time.monotonic()
    recent: deque[DealCounts] = deque(maxlen=LAST_UPDATES)
    with (
        stop_requests(console) as requests,
        RunProgress(console, trainer.total_updates * trainer.batch, trainer.decisions) as progress,
    ):
        while trainer.updates < trainer.total_updates:
            counts = DealCounts(config.rules, trainer.free)
            metrics = trainer.iterate(counts)
            counts.add_up(peers)
            recent.append(counts)
            metrics |= counts.scalars()
            trackers.on_update(trainer.decisions, metrics)
            for name, (values, times) in counts.histograms().items() if trackers else ():
                trackers.on_histogram(trainer.decisions, name, values, times)
            if config.watch_every and trainer.updates % config.watch_every == 0:
                _save(trainer, folder, trackers)
                if trackers:
                    _watch(trainer, folder, trackers)
            names = {"speed/decisions": "decisions/s", "policy/entropy": "entropy", "deals/bids_made": "made"}
            names |= {"deals/passed_out": "passed out", "loss/explained_variance": "explained"}
            progress.show(
                trainer.decisions, {names[name]: metrics[name] for name in names if name in metrics}
            )
            # Clocks and signals differ from process to process: what one wants, all do.
            if peers.any(time.monotonic() - saved > 60 * config.checkpoint_minutes):
                _save(trainer, folder, trackers)
                saved = time.monotonic()
            if peers.any(bool(requests)) or (
                config.stop_after and trainer.updates - first >= config.stop_after
            ):
                break
    total = DealCounts(config.rules, trainer.free)
    for counts in recent:
        total.merge(counts)
    return total


def _save(trainer: Trainer, folder: Path, trackers: Trackers) -> None:
    """Save the run; every process must call it. The trackers are shown how the policy plays by now."""
    trainer.save(folder)
    if trackers:
        # The same cards each time, so that one sees the play change.
        config, policy = trainer.config, load_policy(folder / "checkpoint")
        deal = record_match(_free_rules(trainer), config.seed, agents=policy, max_deals=1)
        trackers.on_text(trainer.decisions, "deal/sample", show_match(deal))


def _watch(trainer: Trainer, folder: Path, trackers: Trackers) -> None:
    """Log how strong the policy is by now."""
    config = trainer.config
    for baseline in config.baselines:
        found = evaluate(
            *(str(folder / "checkpoint"), baseline, _free_rules(trainer)),
            pairs=max(2, config.watch_pairs),
            seed=config.seed + 1,
        )
        trackers.on_update(trainer.decisions, _strength(found))


def _strength(found: dict[str, Any]) -> dict[str, float]:
    """The metrics of an evaluation against a baseline."""
    name, (low, high) = strength_name(found["against"]), found["interval"]
    return {name: found["points_per_deal"], f"{name}_low": low, f"{name}_high": high}


def _free_rules(trainer: Trainer) -> Rules:
    """Rules that the evaluations are under: of the games in which the dealer may pass, if there are any."""
    return next((one for one in trainer.rules if one.all_pass != "dealer_bids"), trainer.rules[0])


def _finish(
    trainer: Trainer, folder: Path, counts: DealCounts, console: Console, trackers: Trackers
) -> list[dict[str, Any]]:
    """Evaluate the final policy against the baselines, keep the results with it and print the tables."""
    config = trainer.config
    results = []
    free = _free_rules(trainer)
    for baseline in config.baselines if config.evaluate_pairs else ():
        console.print(f"evaluating against {baseline}", highlight=False)
        results.append(
            evaluate(
                *(str(folder / "checkpoint"), baseline, free),
                pairs=max(2, config.evaluate_pairs),
                seed=config.seed + 1,
                means=Means(console=console),
            )
        )
    checkpoint.save_policy(folder / "checkpoint", trainer.network, config, trainer.decisions, results)
    for found in results:
        trackers.on_update(trainer.decisions, _strength(found))
    if results and trackers:
        from training.plots.baselines import baselines_image

        trackers.on_image(trainer.decisions, "strength/table", baselines_image(results))
    trackers.on_end(results)
    final_report(console, config, results, counts, folder)
    return results


@contextmanager
def faults_told() -> Iterator[None]:
    """End the command with a line, not a traceback, where it is told nonsense or stopped."""
    try:
        yield
    except (ValueError, OSError) as error:
        sys.exit(told(error))
    except KeyboardInterrupt:
        sys.exit("stopped at once; the last checkpoint, if there is one, stands: go on with --resume")


def main(arguments: Sequence[str] | None = None, prog: str = "python -m training.ppo") -> None:
    """`python -m training.ppo`."""
    from training.cli import given_fields, parse

    words = list(sys.argv[1:] if arguments is None else arguments)
    console = plain_console()
    with faults_told():
        config, resume = parse(words, prog=prog)
        train(config, resume=resume, given=given_fields(words), console=console)


if __name__ == "__main__":
    main()
