"""A training run's games, network and optimiser, and one iteration of them: play, then learn from what was played."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import torch

from smear_env import MLP, CheckpointError, Rules, SelfPlayVectorEnv, VectorStep, find_checkpoint
from training import checkpoint
from training.adam import Adam
from training.config import TrainConfig, as_plain, game_rules
from training.equity import EquityRewards
from training.files import commit
from training.metrics import DealCounts
from training.network import Network, begin_with, bfloat16_pays, load_network, make_network
from training.noise import Noise, minibatch_order
from training.opponents import Opponent
from training.others import LEARNER, Others, past_seats, target_seats
from training.peers import ALONE, Gradients, Peers
from training.reward import training_reward
from training.rollout import Rollout, collect
from training.teacher import Pay, Teacher
from training.tutors import Tutors
from training.update import UpdateSettings, update

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
            reward=training_reward(config.reward),
            skip_forced=True,
            start_scores="drawn" if config.draw_scores else "zero",
            first_game=first,
            game_stride=games,
            threads=config.threads,
        )
        self.network = self._new_network(device)
        if config.start:
            begin_with(self.network, find_checkpoint(config.start))
        self.magnet = self._copy() if config.magnet else None
        self.target = self._frozen("target", config.target) if config.target else None
        self.tutors = (
            Tutors([self._frozen("tutors", name) for name in config.tutors]) if config.tutors else None
        )
        self.past: list[Network] = []
        self.opponents = [Opponent(name, self.rules) for name in config.opponents]
        table = (games, self.env.rules.players, self.env.teams)
        if self.target:
            seats = target_seats(*table, config.target_seats)
        elif self.opponents:
            seats = past_seats(*table, config.opponents_share, len(self.opponents))
        else:
            seats = past_seats(*table, config.past_share, config.past_kept)
        self.seats = seats[first : first + config.games]
        self.optimizer = Adam(Gradients(peers, self.network))
        self.updates = 0
        self.shown: VectorStep = self.env.reset()
        self.pay = self._pay_for(self.rules) if config.equity else None
        self.teacher = None
        if config.teacher:
            pay_for = self._pay_for if config.equity else None
            shares = config.teacher_share, config.teacher_early, config.teacher_sure
            self.teacher = Teacher(self.rules, config.teacher_cards, *shares, pay_for)
        self.rollout = Rollout.empty(
            *(config.steps, self.shown, self.network), lessons=self.teacher is not None
        )

    def _new_network(self, device: str) -> Network:
        config = self.config
        network = make_network(
            *(config.network, config.rules, config.hidden, config.critic_hidden, self.env.teams),
            *(config.suits, config.critic_view),
            features=config.features,
        ).to(device)
        # What precision a network of the user's own bears is for the user to say.
        usual = device == "cpu" and network.kind == MLP
        auto = config.precision == "auto" and usual and bfloat16_pays()
        network.low_precision = auto or config.precision == "bfloat16"
        return network

    def _copy(self) -> Network:
        """A network apart that is now what the learner's is."""
        copy = self._new_network(str(self.network.scale.device))
        copy.load_state_dict(self.network.state_dict())
        return copy

    def _pay_for(self, rules: list[Rules]) -> Pay:
        """What deals pay by the match-equity tables, in games by these rules; EquityError where one is missing."""
        folder = Path(self.config.equity)
        rewards = EquityRewards.for_games(folder if folder.is_dir() else find_checkpoint(folder), rules)
        return lambda env: rewards.paid(env.deals, env.deal_ended)

    def _frozen(self, field: str, checkpoint: str) -> Network:
        """A network that a field names and nobody trains; ValueError for one of another game or view of suits."""
        network = load_network(find_checkpoint(checkpoint)).to(self.network.scale.device)
        network.low_precision = self.network.low_precision
        theirs, ours = ((one.rules.name, one.suits, one.features) for one in (network, self.network))
        if theirs != ours:
            told = "{}={!r} plays {} with suits={}, features={}, this run {} with suits={}, features={}"
            raise ValueError(told.format(field, checkpoint, *theirs, *ours))
        return network

    @property
    def by_chance(self) -> bool:
        """Whether calls are still drawn, not chosen."""
        return self.updates < self.config.auction_by_chance * self.total_updates

    def others(self) -> Others | None:
        """Who plays beside the learner: its target, its opponents, or its past selves once it has some."""
        if self.target:
            return Others([self.target], self.seats, greedy=self.config.target_greedy)
        if self.opponents:
            return Others(self.opponents, self.seats)
        if not self.past:
            return None
        return Others(self.past, np.where(self.seats == LEARNER, LEARNER, self.seats % len(self.past)))

    def _remember(self) -> None:
        """Let the magnet follow, and keep the learner as it is now if it is time."""
        config = self.config
        if self.magnet:
            for slow, now in zip(self.magnet.parameters(), self.network.parameters(), strict=True):
                slow.data.lerp_(now.data, config.magnet_rate)
        if config.past_share and not self.by_chance and self.updates % config.past_every == 0:
            if len(self.past) < config.past_kept:
                self.past.append(self._copy())
            else:
                place = np.random.default_rng([config.seed, self.updates]).integers(config.past_kept)
                self.past[place].load_state_dict(self.network.state_dict())

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
            magnet=config.magnet,
            softness=config.teacher_softness,
            teacher=0.0 if self.by_chance else config.teacher,
            tutors=max(0.0, 1 - done / config.tutors_until) if config.tutors else 0.0,
        )

    def iterate(self, counts: DealCounts) -> dict[str, float]:
        """One update; returns its metrics (docs/metrics.md) and adds this process's deals and bids to `counts`."""
        settings, config = self.settings(), self.config
        self.noise.draws = self.updates * config.steps
        for number, opponent in enumerate(self.opponents):
            opponent.reset(config.seed, self.peers.rank, self.updates, number)
        started = time.perf_counter()
        self.shown = collect(
            self.env,
            self.network,
            self.shown,
            self.rollout,
            self.noise,
            config.gae_lambda,
            counts,
            auction_by_chance=self.by_chance,
            others=self.others(),
            pay=self.pay,
            teacher=self.teacher if settings.teacher else None,
        )
        collected = time.perf_counter()
        orders = [
            minibatch_order(config.seed, self.peers.rank, self.updates, epoch, config.batch)
            for epoch in range(config.epochs)
        ]
        metrics = update(
            self.network, self.optimizer, self.rollout, settings, orders, self.magnet, self.tutors
        )
        updated = time.perf_counter()
        self.updates += 1
        self._remember()
        batch = self.batch
        return metrics | {
            "returns/mean_size": float(np.abs(self.rollout.returns[..., 0]).mean()),
            "returns/deviation": float(self.rollout.returns[..., 0].std()),
            "schedule/learning_rate": settings.learning_rate,
            "schedule/teacher": settings.teacher,
            "schedule/tutors": settings.tutors,
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
        tensors = {
            f"{name}.{part}": tensor
            for name, network in self._networks().items()
            for part, tensor in network.state_dict().items()
        }
        tensors |= {f"optimizer.{name}": tensor for name, tensor in self.optimizer.tensors().items()}
        tensors |= {"env.states": states, "env.seed": torch.from_numpy(snapshot["seed"])}
        checkpoint.save_resume(
            folder / "resume", tensors, {"updates": self.updates, "config": as_plain(self.config)}
        )

    def _networks(self) -> dict[str, Network]:
        """All that a run goes on with, by name."""
        networks = {"network": self.network} | {f"past.{i}": one for i, one in enumerate(self.past)}
        return networks | ({"magnet": self.magnet} if self.magnet else {})

    def resume(self, folder: Path) -> None:
        """Go on where `save` left a run of the same configuration; CheckpointError if it does not fit."""
        tensors, description = checkpoint.load_resume(folder / "resume")
        try:
            while _within(f"past.{len(self.past)}.", tensors):
                self.past.append(self._copy())
            for name, network in self._networks().items():
                network.load_state_dict(_within(f"{name}.", tensors))
            self.optimizer.restore(_within("optimizer.", tensors))
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


def _within(prefix: str, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Those whose names begin so, under the rest of their names."""
    return {name.removeprefix(prefix): part for name, part in tensors.items() if name.startswith(prefix)}
