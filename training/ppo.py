"""Self-play PPO: `python -m training.ppo` trains a policy, logs it, checkpoints it and evaluates it.

One iteration is `collect` (the policy plays every seat of every game), `update` (PPO on those decisions) and
the logging of both; all that a run needs to go on is in `Trainer.save`.
"""

from __future__ import annotations

import dataclasses
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from torch.utils.tensorboard import SummaryWriter

from smear_env import CheckpointError, SelfPlayVectorEnv, VectorStep, make_agent
from training import checkpoint
from training.config import TrainConfig, as_plain, config_from, game_rules
from training.evaluate import evaluate
from training.metrics import DealCounts
from training.network import Network, bfloat16_pays
from training.progress import RunProgress
from training.report import final_report
from training.rollout import Rollout, collect
from training.update import UpdateSettings, update

ENTROPY_FALLS = 0.75
"""Share of the run after which the entropy bonus begins to fall."""


class Trainer:
    """Games, network and optimiser of one run; `resume` puts them back where `save` left them.

    Args:
        config: of the run.
    """

    def __init__(self, config: TrainConfig) -> None:
        if config.device != "cpu" and not torch.cuda.is_available():
            raise ValueError(f"device={config.device!r}: torch finds no such device here")
        self.config = config
        checkpoint.commit()
        torch.set_num_threads(config.threads)
        torch.manual_seed(config.seed)
        self.generator = torch.Generator().manual_seed(config.seed)
        self.rules = game_rules(config)
        self.free = np.array([one.all_pass != "dealer_bids" for one in self.rules])
        self.env = SelfPlayVectorEnv(
            config.games,
            self.rules,
            seed=config.seed,
            episode="deal",
            reward="points",
            skip_forced=True,
            start_scores="drawn" if config.draw_scores else "zero",
            threads=config.threads,
        )
        self.network = Network(config.rules, config.hidden, config.critic_hidden, self.env.teams).to(
            config.device
        )
        auto = config.precision == "auto" and config.device == "cpu" and bfloat16_pays()
        self.network.low_precision = auto or config.precision == "bfloat16"
        self.optimizer = torch.optim.Adam(
            self.network.parameters(), lr=config.learning_rate, eps=1e-5, fused=True
        )
        self.updates = 0
        self.shown: VectorStep = self.env.reset()
        self.rollout = Rollout.empty(config.steps, self.shown, len(self.network.critic_scale))

    @property
    def decisions(self) -> int:
        """Decisions trained on so far."""
        return self.updates * self.config.batch

    def settings(self) -> UpdateSettings:
        """The schedules at this update."""
        config, done = self.config, self.updates / self.config.updates
        fallen = max(0.0, done - ENTROPY_FALLS) / (1 - ENTROPY_FALLS)
        return UpdateSettings(
            learning_rate=config.learning_rate * (1 - (1 - config.final_rate) * done),
            entropy=config.entropy + (config.final_entropy - config.entropy) * fallen,
            bid_entropy=config.bid_entropy + (config.final_entropy - config.bid_entropy) * done,
            clip=config.clip,
            value_weight=config.value_weight,
            max_gradient_norm=config.max_gradient_norm,
            minibatch=config.minibatch,
            epochs=config.epochs,
        )

    def iterate(self, counts: DealCounts) -> dict[str, float]:
        """One update; returns its metrics (docs/metrics.md) and adds deals and bids to `counts`."""
        settings = self.settings()
        started = time.perf_counter()
        self.shown = collect(
            self.env,
            self.network,
            self.shown,
            self.rollout,
            self.generator,
            self.config.gae_lambda,
            counts,
            auction_by_chance=self.updates < self.config.auction_by_chance * self.config.updates,
        )
        collected = time.perf_counter()
        metrics = update(self.network, self.optimizer, self.rollout, settings, self.generator)
        updated = time.perf_counter()
        self.updates += 1
        batch = self.config.batch
        return metrics | {
            "returns/mean_size": float(np.abs(self.rollout.returns[..., 0]).mean()),
            "returns/deviation": float(self.rollout.returns[..., 0].std()),
            "schedule/learning_rate": settings.learning_rate,
            "schedule/entropy": settings.entropy,
            "schedule/bid_entropy": settings.bid_entropy,
            "speed/collect": batch / (collected - started),
            "speed/update": batch / (updated - collected),
            "speed/decisions": batch / (updated - started),
        }

    def save(self, folder: Path) -> None:
        """Write the policy, and beside it what `resume` needs."""
        checkpoint.save_policy(folder / "checkpoint", self.network, self.config, self.decisions, [])
        tensors = {f"network.{name}": tensor for name, tensor in self.network.state_dict().items()}
        tensors |= checkpoint.optimizer_tensors(self.optimizer)
        tensors |= {f"env.{name}": torch.from_numpy(array) for name, array in self.env.snapshot().items()}
        tensors["generator"] = self.generator.get_state()
        checkpoint.save_resume(
            folder / "resume", tensors, {"updates": self.updates, "config": as_plain(self.config)}
        )

    def resume(self, folder: Path) -> None:
        """Go on where `save` left a run of the same configuration; CheckpointError if it does not fit."""
        tensors, description = checkpoint.load_resume(folder / "resume")
        try:
            parts = {
                name.removeprefix("network."): t for name, t in tensors.items() if name.startswith("network.")
            }
            self.network.load_state_dict(parts)
            checkpoint.restore_optimizer(self.optimizer, tensors)
            self.generator.set_state(tensors["generator"])
            snapshot = {name: tensors[f"env.{name}"].numpy() for name in ("states", "seed")}
            self.shown = self.env.restore(snapshot)
        except (KeyError, RuntimeError, ValueError) as error:
            raise CheckpointError(f"{folder / 'resume'}: does not fit this configuration: {error}") from error
        self.updates = description["updates"]


def plain_console() -> Console:
    """A console that takes no text for markup, since paths may hold brackets, and wide enough for tables in a pipe."""
    return Console(markup=False, width=None if sys.stdout.isatty() else 120)


def resumed_config(config: TrainConfig) -> TrainConfig:
    """The configuration a run was started with, but for where and how far this invocation goes."""
    _, description = checkpoint.load_resume(config.folder / "resume")
    stored = config_from(description["config"], str(config.folder / "resume" / checkpoint.RESUME))
    return dataclasses.replace(
        stored,
        run_dir=config.run_dir,
        stop_after=config.stop_after,
        checkpoint_minutes=config.checkpoint_minutes,
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
    config: TrainConfig, *, resume: bool = False, console: Console | None = None
) -> list[dict[str, Any]]:
    """Train to the end of the configuration, or until stopped; returns the evaluations at the end.

    Raises ValueError where the run folder holds another run and `resume` is off, CheckpointError where there is
    nothing to resume.
    """
    console = console or plain_console()
    folder = config.folder
    if resume:
        config = resumed_config(config)
    elif (folder / "resume" / checkpoint.RESUME).exists():
        raise ValueError(
            f"run_dir={str(folder)!r} holds a run: go on with --resume, or choose another --run-dir"
        )
    for baseline in config.baselines if config.evaluate_pairs else ():
        make_agent(baseline)  # an unknown one is refused before the training, not after it
    trainer = Trainer(config)
    if resume:
        trainer.resume(folder)
    console.print(
        f"training {config.rules} in {folder}: {trainer.decisions:,} of {config.updates * config.batch:,} decisions "
        f"done, {config.threads} threads",
        highlight=False,
    )
    # What was logged after the checkpoint gone on from is hidden, its own update is not.
    writer = SummaryWriter(str(folder / "tensorboard"), purge_step=trainer.decisions + 1 if resume else None)
    counts = DealCounts(config.rules, trainer.free)
    with writer, stop_requests(console) as requests:
        counts = _iterate(trainer, folder, writer, requests, console)
    trainer.save(folder)
    if trainer.updates < config.updates:
        console.print(f"stopped at {trainer.decisions:,} decisions; go on with --resume --run-dir {folder}")
        return []
    return _finish(trainer, folder, counts, console)


def _iterate(
    trainer: Trainer, folder: Path, writer: SummaryWriter, requests: list[int], console: Console
) -> DealCounts:
    """Update until the end or a stop; returns the counts of the last updates."""
    config = trainer.config
    first, saved = trainer.updates, time.monotonic()
    counts = DealCounts(config.rules, trainer.free)
    with RunProgress(console, config.updates * config.batch, trainer.decisions) as progress:
        while trainer.updates < config.updates:
            counts = DealCounts(config.rules, trainer.free)
            metrics = trainer.iterate(counts) | counts.scalars()
            for name, value in metrics.items():
                writer.add_scalar(name, value, trainer.decisions)
            names = {"speed/decisions": "decisions/s", "policy/entropy": "entropy", "deals/bids_made": "made"}
            names |= {"deals/passed_out": "passed out", "loss/explained_variance": "explained"}
            progress.show(
                trainer.decisions, {names[name]: metrics[name] for name in names if name in metrics}
            )
            if time.monotonic() - saved > 60 * config.checkpoint_minutes:
                trainer.save(folder)
                saved = time.monotonic()
            if requests or (config.stop_after and trainer.updates - first >= config.stop_after):
                break
    return counts


def _finish(trainer: Trainer, folder: Path, counts: DealCounts, console: Console) -> list[dict[str, Any]]:
    """Evaluate the final policy against the baselines, keep the results with it and print the tables."""
    config = trainer.config
    results = []
    free = next((one for one in trainer.rules if one.all_pass != "dealer_bids"), trainer.rules[0])
    for baseline in config.baselines if config.evaluate_pairs else ():
        with console.status(f"evaluating against {baseline}"):
            path = str(folder / "checkpoint")
            results.append(
                evaluate(path, baseline, free, pairs=max(2, config.evaluate_pairs), seed=config.seed + 1)
            )
    checkpoint.save_policy(folder / "checkpoint", trainer.network, config, trainer.decisions, results)
    final_report(console, config, results, counts, folder)
    return results


def main() -> None:
    """`python -m training.ppo`."""
    from training.cli import parse

    console = plain_console()
    try:
        config, resume = parse(sys.argv[1:])
        train(config, resume=resume, console=console)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit("stopped at once; the last checkpoint, if there is one, stands: go on with --resume")


if __name__ == "__main__":
    main()
