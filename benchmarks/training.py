"""Training end to end: our trainer against the torch limit, against MaskablePPO, and on two processes.

    python -m benchmarks.training [--repetitions 5] [--seconds 3] [--only SUBSTRING ...] [--json PATH]

A rate is decisions trained on per second of wall time: played, learnt from in every epoch, counted and measured as in
`python -m training.ppo`. One thread for each process. The torch limit is what the same network costs in forward passes
(playing) and forward and backward passes (learning) on random tensors, for the same decisions, minibatches and epochs:
no game, no sampling, no loss, no optimiser.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import tyro

from benchmarks.contestants import Contestant, Measure, row_name
from benchmarks.loops import repeated
from benchmarks.report import Promise, write_json
from benchmarks.rounds import Rounds, measure_rates
from benchmarks.workers import allowed_cores

WHO, SB3 = "smear_env", "MaskablePPO"
GAMES = ("four_point", "schmier")
TRAINER, LIMIT = "trainer", "torch limit"
NETWORKS = ((128, 128), (256, 256, 256), (512, 512))
"""Hidden layers of policy and critic to try beside the committed (256, 256)."""
MANY_GAMES = 8192
RANK_MINIBATCHES = (1024, 4096)
"""Decisions of a process in a gradient step: the committed configuration's, and fewer exchanges for as much work."""
TITLE = "decisions trained on per second of wall time, one thread a process"


@dataclass(frozen=True)
class Recipe:
    """How often and in what parts a batch of decisions is learnt from; networks are of two layers of 256."""

    name: str
    environments: int  # of MaskablePPO
    steps: int  # of each between two updates
    minibatch: int
    epochs: int


RECIPES = (
    Recipe("tuned", environments=32, steps=256, minibatch=1024, epochs=4),
    Recipe("defaults", environments=8, steps=256, minibatch=64, epochs=10),
)


LARGE_PARTS = "defaults' batch of 2048 and 10 epochs in minibatches of 1024"
"""Our way to learn as often from as much: a minibatch of 64 leaves a processor idle."""


def recipe_way(recipe: Recipe) -> str:
    """Name of the row of a recipe, ours or theirs."""
    return f"{recipe.name}: minibatch {recipe.minibatch}, {recipe.epochs} epochs"


def ranks_way(processes: int, minibatch: int) -> str:
    """Name of the row of some processes."""
    return f"trainer, {processes} process{'es' if processes > 1 else ''}, minibatch {minibatch}"


def network_way(hidden: tuple[int, ...]) -> str:
    """Name of the row of a network."""
    return f"trainer, {len(hidden)} x {hidden[0]}"


@dataclass(frozen=True)
class Options(Rounds):
    """Measure decisions trained on per second in alternation; print medians, ranges and the promised ratios.

    Raises `ValueError` naming the field where a value makes no sense.
    """

    seconds: float = 3.0
    """Least wall time of one measurement; an update that has begun is finished."""


def contestants() -> list[Contestant]:
    """Everything that is measured."""
    ours = partial(Contestant, package="smear-env")
    return [
        *(
            ours(WHO, rules, (way,), partial(make, rules))
            for rules in GAMES
            for way, make in ((TRAINER, committed), (LIMIT, torch_limit))
        ),
        *(
            ours(
                WHO,
                "four_point",
                (network_way(hidden),),
                partial(updates, hidden=hidden, critic_hidden=hidden),
            )
            for hidden in NETWORKS
        ),
        ours(WHO, "four_point", (f"trainer, {MANY_GAMES} games",), partial(updates, games=MANY_GAMES)),
        *(ours(WHO, "four_point", (recipe_way(one),), partial(recipe, one)) for one in RECIPES),
        ours(WHO, "four_point", (LARGE_PARTS,), partial(recipe, replace(RECIPES[-1], minibatch=1024))),
        *(
            Contestant(SB3, "four_point", (recipe_way(one),), partial(maskable_ppo, one), "sb3-contrib")
            for one in RECIPES
        ),
        *(
            ours(WHO, "four_point", (ranks_way(processes, size),), partial(ranks, processes, size), cores=2)
            for size in RANK_MINIBATCHES
            for processes in (1, 2)
        ),
    ]


def promises() -> list[Promise]:
    """What the project says of its trainer."""
    tuned, defaults = map(recipe_way, RECIPES)

    def row(way: str, who: str = WHO, rules: str = "four_point") -> str:
        return row_name(who, rules, way)

    return [
        *(Promise(row(TRAINER, rules=rules), row(LIMIT, rules=rules), 0.6) for rules in GAMES),
        Promise(row(tuned), row(tuned, SB3), 2),
        Promise(row(defaults), row(defaults, SB3), 5),
        Promise(row(LARGE_PARTS), row(defaults, SB3), 5),
        *(Promise(row(ranks_way(2, size)), row(ranks_way(1, size)), 1.6) for size in RANK_MINIBATCHES),
    ]


def committed_config(rules: str = "four_point", **changed: Any) -> Any:
    """The committed configuration of a game, a `TrainConfig`, but for what is changed."""
    from smear_env import configs_folder
    from training.config import load_config

    return replace(load_config(configs_folder() / f"{rules}.toml"), **changed)


def updates(**changed: Any) -> Measure:
    """Updates of a committed configuration, but for what is changed."""
    from training.metrics import DealCounts
    from training.trainer import Trainer

    trainer = Trainer(committed_config(**changed))

    def play() -> int:
        counts = DealCounts(trainer.config.rules, trainer.free)
        metrics = trainer.iterate(counts) | counts.scalars()
        assert metrics
        return trainer.batch

    return repeated(play)


def committed(rules: str) -> Measure:
    """The committed configuration of a game."""
    return updates(rules=rules)


def recipe_fields(one: Recipe) -> dict[str, Any]:
    """As many decisions an update as a recipe has, its minibatches and epochs, and all calls the policy's own."""
    steps = 32
    games = one.environments * one.steps // steps
    return {
        "games": games,
        "steps": steps,
        "minibatch": one.minibatch,
        "epochs": one.epochs,
        "auction_by_chance": 0.0,
    }


def recipe(one: Recipe) -> Measure:
    """Our trainer by a recipe."""
    return updates(**recipe_fields(one))


def torch_limit(rules: str) -> Measure:
    """Forward and backward passes of the committed network on random tensors, as many as an update has."""
    import torch

    from training.trainer import Trainer

    config = committed_config(rules)
    network = Trainer(replace(config, games=config.minibatch, steps=1)).network
    generator = torch.Generator().manual_seed(0)

    def flags(rows: int, width: int) -> torch.Tensor:
        return torch.randint(0, 2, (rows, width), generator=generator, dtype=torch.int8)

    seen, full = (flags(config.games, len(scale)) for scale in (network.scale, network.critic_scale))
    mask = torch.ones(config.games, network.policy.out_features, dtype=torch.int8)
    part = slice(0, config.minibatch)

    def play() -> int:
        with torch.inference_mode():
            for _ in range(config.steps + 1):
                network(seen, mask)
                network.values(full)
        for _ in range(config.epochs * (config.batch // config.minibatch)):
            outputs = network(seen[part], mask[part]).sum() + network.values(full[part]).square().sum()
            network.zero_grad(set_to_none=True)
            outputs.backward()
        return config.batch

    return repeated(play)


def maskable_ppo(one: Recipe) -> Measure:
    """sb3-contrib's MaskablePPO on our Gymnasium shell, one learner among random players in each environment."""
    import gymnasium
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import DummyVecEnv

    from smear_env.single import ENV_ID

    torch.set_num_threads(1)

    def make() -> gymnasium.Env[Any, Any]:
        return gymnasium.make(ENV_ID, rules="four_point", partner="random", opponents="random")

    model = MaskablePPO(
        "MlpPolicy",
        DummyVecEnv([make] * one.environments),
        n_steps=one.steps,
        batch_size=one.minibatch,
        n_epochs=one.epochs,
        policy_kwargs={"net_arch": [256, 256], "activation_fn": torch.nn.ReLU},
        device="cpu",
    )
    batch = one.environments * one.steps

    def play() -> int:
        model.learn(batch, reset_num_timesteps=False)
        return batch

    return repeated(play)


def ranks(processes: int, minibatch: int) -> Measure:
    """The committed configuration in processes that `torchrun` starts, each with all its games, a core for each."""
    root = Path(__file__).resolve().parent.parent
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node"]

    def measure(seconds: float) -> tuple[float]:
        done = subprocess.run(
            [*command, str(processes), "-m", "benchmarks.training", "rank", str(seconds), str(minibatch)],
            cwd=root,
            check=True,
            capture_output=True,
            text=True,
        )
        return (float(done.stdout.split()[-1]),)

    return measure


def run_rank(seconds: float, minibatch: int) -> None:
    """One process of `ranks`, on a core of its own: train so long after a first update; the first prints the rate."""
    from training.metrics import DealCounts
    from training.peers import joined
    from training.trainer import Trainer

    cores = allowed_cores()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {cores[int(os.environ["LOCAL_RANK"]) % len(cores)]})
    config = committed_config(minibatch=minibatch)
    with joined(config.device) as (peers, device):
        trainer = Trainer(config, peers, device)
        trainer.iterate(DealCounts(config.rules, trainer.free))
        began, first = time.perf_counter(), trainer.decisions
        while not peers.any(time.perf_counter() - began >= seconds):
            trainer.iterate(DealCounts(config.rules, trainer.free))
        if peers.is_first:
            print((trainer.decisions - first) / (time.perf_counter() - began))


def run(options: Options) -> dict[str, Any]:
    """Measure, print the tables, and return everything as plain values."""
    return measure_rates(options, contestants(), promises(), TITLE)


def main(arguments: Sequence[str]) -> None:
    """Measure by flags, print, and write the JSON that they ask for."""
    if arguments[:1] == ["rank"]:
        run_rank(float(arguments[1]), int(arguments[2]))
        return
    options = tyro.cli(Options, prog="python -m benchmarks.training", args=list(arguments))
    write_json(options.json, run(options))


if __name__ == "__main__":
    main(sys.argv[1:])
