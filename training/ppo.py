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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from torch.utils.tensorboard import SummaryWriter

from smear_env import CheckpointError, SelfPlayVectorEnv, VectorStep, make_agent, read_policy
from training import checkpoint
from training.config import TrainConfig, as_plain, config_from, game_rules
from training.evaluate import evaluate
from training.files import commit
from training.metrics import DealCounts
from training.network import Network, bfloat16_pays
from training.noise import Noise, minibatch_order
from training.peers import ALONE, Gradients, Peers, joined
from training.progress import RunProgress
from training.report import final_report, strength_table
from training.rollout import Rollout, collect
from training.update import UpdateSettings, update

LAST_UPDATES = 10
"""Updates whose bids and deals the report at the end counts."""
ENTROPY_FALLS = 0.75
"""Share of the run after which the entropy bonus begins to fall."""


class Trainer:
    """Games, network and optimiser of one run; `resume` puts them back where `save` left them.

    Args:
        config: of the run; each process plays `config.games` games, and has minibatches of `config.minibatch`.
        peers: the processes of the run, which learn as one that plays all their games would.
        device: of this process's network; the configuration's if None.
    """

    def __init__(self, config: TrainConfig, peers: Peers = ALONE, device: str | None = None) -> None:
        device = device or config.device
        if device != "cpu" and not torch.cuda.is_available():
            raise ValueError(f"device={device!r}: torch finds no such device here")
        self.config = config
        self.peers = peers
        commit()
        torch.set_num_threads(config.threads)
        torch.manual_seed(config.seed)
        first, games = peers.rank * config.games, peers.size * config.games
        self.noise = Noise(config.seed, first)
        self.rules = game_rules(config, games)[first : first + config.games]
        free = np.array([one.all_pass != "dealer_bids" for one in self.rules])
        self.free = free if free.any() else ~free  # a game like mini, where the dealer must always bid
        self.env = SelfPlayVectorEnv(
            config.games,
            self.rules,
            seed=config.seed,
            episode="deal",
            reward="points",
            skip_forced=True,
            start_scores="drawn" if config.draw_scores else "zero",
            first_game=first,
            game_stride=games,
            threads=config.threads,
        )
        self.network = Network(config.rules, config.hidden, config.critic_hidden, self.env.teams).to(device)
        auto = config.precision == "auto" and device == "cpu" and bfloat16_pays()
        self.network.low_precision = auto or config.precision == "bfloat16"
        self.optimizer = torch.optim.Adam(
            self.network.parameters(), lr=config.learning_rate, eps=1e-5, fused=True
        )
        self.gradients = Gradients(peers, self.network)
        self.updates = 0
        self.shown: VectorStep = self.env.reset()
        self.rollout = Rollout.empty(config.steps, self.shown, len(self.network.critic_scale))

    @property
    def batch(self) -> int:
        """Decisions in one update, of all processes."""
        return self.config.batch * self.peers.size

    @property
    def total_updates(self) -> int:
        """Updates in the whole run."""
        return max(1, round(self.config.total_decisions / self.batch))

    @property
    def decisions(self) -> int:
        """Decisions trained on so far, of all processes."""
        return self.updates * self.batch

    def settings(self) -> UpdateSettings:
        """The schedules at this update."""
        config, done = self.config, self.updates / self.total_updates
        fallen = max(0.0, done - ENTROPY_FALLS) / (1 - ENTROPY_FALLS)
        return UpdateSettings(
            learning_rate=config.learning_rate * (1 - (1 - config.final_rate) * done),
            entropy=config.entropy + (config.final_entropy - config.entropy) * fallen,
            bid_entropy=config.bid_entropy + (config.final_entropy - config.bid_entropy) * done,
            clip=config.clip,
            value_weight=config.value_weight,
            max_gradient_norm=config.max_gradient_norm,
            minibatch=config.minibatch,
        )

    def iterate(self, counts: DealCounts) -> dict[str, float]:
        """One update; returns its metrics (docs/metrics.md) and adds this process's deals and bids to `counts`."""
        settings, config = self.settings(), self.config
        self.noise.draws = self.updates * config.steps
        started = time.perf_counter()
        self.shown = collect(
            self.env,
            self.network,
            self.shown,
            self.rollout,
            self.noise,
            config.gae_lambda,
            counts,
            auction_by_chance=self.updates < config.auction_by_chance * self.total_updates,
        )
        collected = time.perf_counter()
        orders = [
            minibatch_order(config.seed, self.peers.rank, self.updates, epoch, config.batch)
            for epoch in range(config.epochs)
        ]
        metrics = update(self.network, self.optimizer, self.rollout, settings, orders, self.gradients)
        updated = time.perf_counter()
        self.updates += 1
        batch = self.batch
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
        """Write the policy, and beside it what `resume` needs; every process must call it."""
        snapshot = self.env.snapshot()
        states = self.peers.gather(torch.from_numpy(snapshot["states"]))
        if not self.peers.is_first:
            return
        checkpoint.save_policy(folder / "checkpoint", self.network, self.config, self.decisions, [])
        tensors = {f"network.{name}": tensor for name, tensor in self.network.state_dict().items()}
        tensors |= checkpoint.optimizer_tensors(self.optimizer)
        tensors |= {"env.states": states, "env.seed": torch.from_numpy(snapshot["seed"])}
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
            states = tensors["env.states"]
            if len(states) != self.peers.size * self.config.games:
                raise ValueError(
                    f"it holds {len(states)} games, {self.peers.size} processes of {self.config.games} play others: "
                    "go on with as many processes as before"
                )
            own = self.peers.own(states).numpy()
            self.shown = self.env.restore({"states": own, "seed": tensors["env.seed"].numpy()})
        except (KeyError, RuntimeError, ValueError) as error:
            raise CheckpointError(f"{folder / 'resume'}: does not fit this configuration: {error}") from error
        self.updates = description["updates"]


def plain_console() -> Console:
    """A console that takes no text for markup, since paths may hold brackets, and wide enough for tables in a pipe."""
    return Console(markup=False, width=None if sys.stdout.isatty() else 120)


def resumed_config(config: TrainConfig, given: frozenset[str] = frozenset()) -> TrainConfig:
    """The configuration a run was started with, but for where and how far this invocation goes.

    Raises ValueError where a field `given` by the user is another than the run was started with.
    """
    _, description = checkpoint.load_resume(config.folder / "resume")
    stored = config_from(description["config"], str(config.folder / "resume" / checkpoint.RESUME))
    for name in sorted(given - {"run_dir", "stop_after", "checkpoint_minutes"}):
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
    with joined(config.device) as (peers, device):
        # The others run to the same end in silence.
        console = console or plain_console() if peers.is_first else Console(quiet=True)
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
            f"training {config.rules} in {folder}: {trainer.decisions:,} of {trainer.total_updates * trainer.batch:,} "
            f"decisions done, {f'{peers.size} processes of ' if peers.size > 1 else ''}{threads}",
            highlight=False,
            soft_wrap=True,
        )
        counts = _iterate(trainer, folder, console, resumed=resume)
        trainer.save(folder)
        if trainer.updates < trainer.total_updates:
            console.print(
                f"stopped at {trainer.decisions:,} decisions; go on with --resume --run-dir {folder}"
            )
            return []
    return _finish(trainer, folder, counts, console) if peers.is_first else []


def _iterate(trainer: Trainer, folder: Path, console: Console, *, resumed: bool) -> DealCounts:
    """Update until the end or a stop; returns the counts of the last LAST_UPDATES updates."""
    config, peers = trainer.config, trainer.peers
    first, saved = trainer.updates, time.monotonic()
    recent: deque[DealCounts] = deque(maxlen=LAST_UPDATES)
    with (
        _writer(trainer, folder, resumed=resumed) as writer,
        stop_requests(console) as requests,
        RunProgress(console, trainer.total_updates * trainer.batch, trainer.decisions) as progress,
    ):
        while trainer.updates < trainer.total_updates:
            counts = DealCounts(config.rules, trainer.free)
            metrics = trainer.iterate(counts)
            counts.add_up(peers)
            recent.append(counts)
            metrics |= counts.scalars()
            if writer:
                for name, value in metrics.items():
                    writer.add_scalar(name, value, trainer.decisions)
            names = {"speed/decisions": "decisions/s", "policy/entropy": "entropy", "deals/bids_made": "made"}
            names |= {"deals/passed_out": "passed out", "loss/explained_variance": "explained"}
            progress.show(
                trainer.decisions, {names[name]: metrics[name] for name in names if name in metrics}
            )
            # Clocks and signals differ from process to process: what one wants, all do.
            if peers.any(time.monotonic() - saved > 60 * config.checkpoint_minutes):
                trainer.save(folder)
                saved = time.monotonic()
            if peers.any(bool(requests)) or (
                config.stop_after and trainer.updates - first >= config.stop_after
            ):
                break
    total = DealCounts(config.rules, trainer.free)
    for counts in recent:
        total.merge(counts)
    return total


@contextmanager
def _writer(trainer: Trainer, folder: Path, *, resumed: bool) -> Iterator[SummaryWriter | None]:
    """The run's log, in the first process alone."""
    if not trainer.peers.is_first:
        yield None
        return
    # What was logged after the checkpoint gone on from is hidden, its own update is not.
    purge = trainer.decisions + 1 if resumed else None
    with SummaryWriter(str(folder / "tensorboard"), purge_step=purge) as writer:
        yield writer


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
    from training.cli import given_fields, parse

    console = plain_console()
    try:
        config, resume = parse(sys.argv[1:])
        train(config, resume=resume, given=given_fields(sys.argv[1:]), console=console)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit("stopped at once; the last checkpoint, if there is one, stands: go on with --resume")


if __name__ == "__main__":
    main()
