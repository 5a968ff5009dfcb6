"""The configuration of a training run: one validated dataclass, read from TOML and from flags.

Every field is a flag of `python -m training.ppo` and a key of the files in `configs/`.
"""

from __future__ import annotations

import dataclasses
import math
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

from smear_env import MLP, Rules, add_plugins, layout_hash, make_rules, preset_of
from training.options import option_values, parse_options
from training.reward import POINTS, training_reward


@dataclass(frozen=True)
class TrainConfig:
    """A training run. Raises `ValueError` naming the field where a value makes no sense."""

    rules: str = "four_point"
    """Preset to train on: four_point, schmier, mini, setback, six_point, racehorse, or one that a plugin registers."""
    options: tuple[str, ...] = ()
    """Rule options as NAME=VALUE; NAME=A,B spreads the values evenly over the games."""
    plugins: tuple[str, ...] = ()
    """Modules of your own, imported first, that register rules, rewards, networks or agents (docs/extending.md)."""
    dealer_must_bid: float = 0.5
    """Share of the games in which the dealer must bid when all others passed; without it self-play learns to pass."""
    auction_by_chance: float = 0.2
    """Share of the run at whose start calls are drawn at random: bids are learnt once the play is worth bidding on."""
    draw_scores: bool = True
    """Start every deal from drawn match scores, so that the policy has seen them all; otherwise from zero."""
    equity: str = ""
    """Checkpoint or folder with match-equity tables: a deal pays the change of the chance to win; empty: `reward`."""
    reward: str = POINTS
    """What a deal pays: points, or a function that a plugin registers; only what differs between the teams counts."""
    total_decisions: int = 8_000_000
    """Decisions with a choice to train on, over all seats and games."""
    start: str = ""
    """Checkpoint whose network is trained on; empty: a fresh one."""
    seed: int = 0
    """Seed of deals, network and sampling."""
    games: int = 2048
    """Games played at once."""
    steps: int = 32
    """Decisions of each game between two updates."""
    hidden: tuple[int, ...] = (256, 256)
    """Widths of the policy's hidden layers."""
    critic_hidden: tuple[int, ...] = (256, 256)
    """Widths of the critic's hidden layers."""
    network: str = MLP
    """Kind of network: mlp, stacks of layers with ReLU; or one that a plugin registers."""
    suits: str = "ordered"
    """How the network sees suits: ordered (trump, or the own best suit, first), or as_dealt."""
    features: bool = False
    """The policy takes features beside the observation: what beats what, what is left (`smear_env.feature_layout`)."""
    critic_view: str = "state"
    """What the critic sees: state, all hands; or observation, what the seat to act sees."""
    learning_rate: float = 1e-3
    """Adam's rate at the start; it falls linearly to `final_rate` of it."""
    final_rate: float = 0.02
    """Share of the learning rate that is left at the end."""
    minibatch: int = 1024
    """Decisions in a gradient step."""
    epochs: int = 2
    """Passes over each batch of decisions."""
    clip: float = 0.2
    """PPO's clip range of the probability ratio."""
    gae_lambda: float = 0.95
    """Lambda of generalised advantage estimation over consecutive decisions; gamma is 1."""
    entropy: float = 0.05
    """Entropy bonus, with advantages normalised, up to the last quarter of the run."""
    bid_entropy: float = 0.1
    """Entropy bonus of bids at the start; it falls linearly over the run. Bids must stay open until play is learnt."""
    final_entropy: float = 0.01
    """Entropy bonus of all decisions at the end; `entropy` falls to it linearly over the last quarter."""
    magnet: float = 0.0
    """Weight of the distance KL(policy, magnet) to a slow average of the policy's weights; 0: none."""
    magnet_rate: float = 0.02
    """How far the magnet moves to the policy with each update."""
    teacher: float = 0.0
    """How much of what a taught decision teaches are play-outs of all its actions; the rest is the return."""
    teacher_softness: float = 4.0
    """Logits are divided by it in a lesson or before tutors: something is learnt where the policy is sure and wrong."""
    teacher_share: float = 0.5
    """Share of the card decisions late in a deal that are taught."""
    teacher_early: float = 0.0
    """Share of discards, of trump named and of earlier cards that is taught. A play-out is several times as long."""
    teacher_sure: float = 1.0
    """So much of these shares where the action drawn had a probability of 0.95 or more: less is left to learn there."""
    teacher_cards: int = 12
    """Late in a deal: at most so many cards are left in all hands."""
    tutors: tuple[str, ...] = ()
    """Checkpoints whose policies in the mean are imitated at first; the share of the loss that is theirs falls."""
    tutors_until: float = 0.5
    """Share of the run over which the tutors' share falls from all of the policy's loss to nothing."""
    target: str = ""
    """Checkpoint that the learner plays against and never learns from, to exploit it; empty: self-play."""
    target_seats: str = "partners"
    """What the learner plays against a target: partners, one team; or one seat, with the target as partner too."""
    target_greedy: bool = False
    """The target takes its most probable actions; otherwise it draws."""
    past_share: float = 0.0
    """Share of the games in which one team is played by a past self, of which nothing is learnt."""
    past_kept: int = 8
    """Past selves kept; a new one takes the place of one drawn at random."""
    past_every: int = 40
    """Updates between two that are kept."""
    opponents: tuple[str, ...] = ()
    """Agents or checkpoints that play one team, in turn, in a share of the games; of them nothing is learnt."""
    opponents_share: float = 0.5
    """Share of the games in which an opponent plays."""
    value_weight: float = 0.5
    """Weight of the value loss."""
    max_gradient_norm: float = 0.5
    """Gradients are scaled down to this norm."""
    threads: int = 1
    """Threads for the games and for torch. More pay only on idle cores: waiting for one that is busy costs more."""
    precision: str = "auto"
    """Of the hidden layers: float32, bfloat16, or auto, which is bfloat16 where the processor has it in hardware."""
    device: str = "cpu"
    """Torch device of the network: cpu or cuda."""
    run_dir: str = ""
    """Folder for logs and checkpoints; empty: runs/RULES-SEED."""
    tracker: tuple[str, ...] = ("tensorboard",)
    """Who is told how the run goes: tensorboard, and others as module:function (docs/metrics.md)."""
    checkpoint_minutes: float = 2.0
    """Minutes between checkpoints; one is also written at the end and on Ctrl-C."""
    evaluate_pairs: int = 4000
    """Duplicate deals (each from every side) against each baseline at the end; 0 for none."""
    baselines: tuple[str, ...] = ("random", "passer", "greedy")
    """Opponents of the evaluation at the end: agent names or checkpoint folders."""
    watch_every: int = 0
    """Updates between evaluations against the baselines in the middle of the run, logged as strength/NAME; 0: none."""
    watch_pairs: int = 1000
    """Duplicate deals of each of those."""
    stop_after: int = 0
    """Stop after so many updates as Ctrl-C would, to go on later with --resume; 0: run to the end."""

    def __post_init__(self) -> None:
        add_plugins(self.plugins)
        preset_of(self.rules)
        training_reward(self.reward)
        for name, hint in get_type_hints(TrainConfig).items():
            if hint is float and not math.isfinite(getattr(self, name)):
                raise ValueError(f"{name}={getattr(self, name)} must be a finite number")
        for names, low, high in _RANGES:
            for name in names.split():
                if not low <= getattr(self, name) <= high:
                    raise ValueError(f"{name}={getattr(self, name)} is outside {low:g}..{high:g}")
        if self.seed >= 2**63:
            raise ValueError(f"seed={self.seed} must be below 2**63")
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"{name}={getattr(self, name)!r} must be {' or '.join(choices)}")
        if self.device.partition(":")[0] not in ("cpu", "cuda"):
            raise ValueError(f"device={self.device!r} must be cpu or cuda")
        for name in ("hidden", "critic_hidden"):
            if not getattr(self, name) or min(getattr(self, name)) < 1:
                raise ValueError(f"{name}={getattr(self, name)} must be at least one positive width")
        if self.minibatch > self.games * self.steps:
            raise ValueError(
                f"minibatch={self.minibatch} is more than games={self.games} times steps={self.steps}"
            )
        _check_opponents(self)
        _check_layouts(set(game_rules(self)))

    @property
    def folder(self) -> Path:
        """Where the run's logs and checkpoints go."""
        return Path(self.run_dir or f"runs/{self.rules}-{self.seed}")

    @property
    def batch(self) -> int:
        """Decisions in one update."""
        return self.games * self.steps


_CHOICES = {
    "precision": ("auto", "float32", "bfloat16"),
    "suits": ("ordered", "as_dealt"),
    "target_seats": ("partners", "one"),
    "critic_view": ("state", "observation"),
}
_RANGES = (
    ("total_decisions games steps minibatch epochs threads past_kept past_every watch_pairs", 1, math.inf),
    ("seed evaluate_pairs watch_every stop_after teacher_cards", 0, math.inf),
    ("entropy bid_entropy final_entropy value_weight magnet", 0, math.inf),
    (
        "dealer_must_bid auction_by_chance gae_lambda final_rate magnet_rate past_share teacher teacher_share",
        0,
        1,
    ),
    ("teacher_early teacher_sure opponents_share", 0, 1),
    (
        "teacher_softness tutors_until learning_rate clip max_gradient_norm checkpoint_minutes",
        1e-12,
        math.inf,
    ),
)


def _check_opponents(config: TrainConfig) -> None:
    if any(name.startswith("all_pass=") for name in config.options) and config.dealer_must_bid:
        raise ValueError(
            f"options={config.options} set all_pass, which dealer_must_bid={config.dealer_must_bid} mixes"
        )
    for names in (("target", "past_share", "opponents"), ("equity", "reward"), ("teacher", "reward")):
        given = [
            f"{name}={getattr(config, name)!r}"
            for name in names
            if getattr(config, name) not in ("", (), 0, POINTS)
        ]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)}: choose one or the other")


def _check_layouts(rules: set[Rules]) -> None:
    for one in rules:
        if layout_hash(one) != layout_hash(preset_of(one.name)):
            raise ValueError(f"options: {one.options()} change what {one.name} shows, its preset's layout")
    teams = sorted({one.teams for one in rules})
    if len(teams) > 1:
        raise ValueError(f"options: teams={teams} cannot be mixed in one run, the values are by team")


def game_rules(config: TrainConfig, games: int | None = None) -> list[Rules]:
    """The rules of each game, `config.games` if None: option values spread evenly, `dealer_must_bid` interleaved."""
    preset = preset_of(config.rules)
    choices: list[dict[str, Any]] = [{}]
    for name, values in option_values(preset, config.options).items():
        choices = [{**choice, name: value} for choice in choices for value in values]
    variants = [make_rules(preset, **choice) for choice in choices]
    rules = []
    for game in range(config.games if games is None else games):
        one = variants[game % len(variants)]
        turn = game // len(variants)
        # The share is kept in every stretch of games, so that each variant has it.
        must = int((turn + 1) * config.dealer_must_bid) > int(turn * config.dealer_must_bid)
        rules.append(make_rules(one, all_pass="dealer_bids") if must else one)
    return rules


def load_config(path: Path) -> TrainConfig:
    """The configuration in a TOML file; ValueError names the file and an unknown or mistyped key."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"config {path}: not readable as TOML: {error}") from error
    return config_from(values, str(path))


def config_from(values: dict[str, Any], origin: str) -> TrainConfig:
    """A configuration from plain values; ValueError names `origin` and an unknown or mistyped key."""
    hints = get_type_hints(TrainConfig)
    unknown = [name for name in values if name not in hints]
    if unknown:
        raise ValueError(f"{origin}: unknown key {', '.join(map(repr, unknown))}; known: {', '.join(hints)}")
    known = {name: _typed(f"{origin}: {name}", value, hints[name]) for name, value in values.items()}
    try:
        return TrainConfig(**known)
    except ValueError as error:
        raise ValueError(f"{origin}: {error}") from error


def _typed(what: str, value: Any, kind: Any) -> Any:
    """A plain value as a field's type has it; ValueError begins with `what`."""
    if kind in (int, str, bool):
        if type(value) is not kind:
            raise ValueError(f"{what}={value!r} must be of type {kind.__name__}")
        return value
    if kind is float:
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise ValueError(f"{what}={value!r} must be a number")
        return float(value)
    (element, _) = get_args(kind)
    if not isinstance(value, list | tuple) or not all(type(one) is element for one in value):
        raise ValueError(f"{what}={value!r} must be a list of {element.__name__}")
    return tuple(value)


def as_plain(config: TrainConfig) -> dict[str, Any]:
    """The configuration as JSON has it."""
    return {name: list(v) if isinstance(v, tuple) else v for name, v in dataclasses.asdict(config).items()}


__all__ = ["TrainConfig", "as_plain", "config_from", "game_rules", "load_config", "parse_options"]
