"""Players by name: which agents take part, what exactly they are, and how each is asked for its actions."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import smear_env
from smear_env import (
    Agent,
    PolicyAgent,
    Rules,
    checkpoints_folder,
    chosen_by,
    load_policy,
    make_agent,
)
from training.arrays import Int8Array, Int64Array

QUICK = ("random", "passer", "greedy", "expert")
"""Registered agents, up to a hyphen, that decide in microseconds: theirs are large shards."""


@dataclass(frozen=True)
class Player:
    """One who takes part in an evaluation; the same text is the same player in every process."""

    name: str
    """A registered agent, a checkpoint (folder or shipped name), `module:function`, or `process:COMMAND`."""
    sampled: bool = False
    """A checkpoint samples from its policy; otherwise it takes the most probable action."""
    limit_seconds: float = 10.0
    """How long an outsider may think about one action."""
    copy: int = 0
    """Counts those of the same name who meet: each draws for itself."""

    @property
    def outside(self) -> bool:
        """Whether it is no agent of this package: asked for one decision at a time, and not trusted."""
        module, colon, _ = self.name.partition(":")
        # A colon elsewhere belongs to our own names: `pimc-20:expert`.
        return bool(colon) and (module == "process" or all(map(str.isidentifier, module.split("."))))

    @property
    def quick(self) -> bool:
        """Whether a deal of it takes no time to speak of."""
        if self.outside:
            return False
        path = Path(self.name)
        is_checkpoint = path.is_dir() or path.suffix == ".onnx" or (checkpoints_folder() / self.name).is_dir()
        return is_checkpoint or self.name.partition("-")[0] in QUICK

    def make(self) -> Agent:
        """The agent; ValueError if the name is none."""
        if self.outside:
            from training.evaluation.outsiders import Outsider

            return Outsider(self.name, self.limit_seconds)
        agent = make_agent(self.name)
        return (
            load_policy(self.name, sample=True) if self.sampled and isinstance(agent, PolicyAgent) else agent
        )

    def describe(self, agent: Agent) -> dict[str, Any]:
        """What a result says of the player, given its agent: what it is, and the hash of what decides for it."""
        if self.outside:
            from training.evaluation.outsiders import files_hash

            kind = "process" if self.name.startswith("process:") else "callable"
            return {
                "name": self.name,
                "kind": kind,
                "files_sha256": files_hash(self.name),
                "limit_seconds": self.limit_seconds,
            }
        if isinstance(agent, PolicyAgent):
            return {
                "name": self.name,
                "kind": "checkpoint",
                "weights_sha256": agent.description["weights_sha256"],
                "play": "sampled" if agent.sample else "greedy",
                **own_file(getattr(agent, "source", None)),
            }
        plain = {
            "name": self.name,
            "kind": "registered",
            "clairvoyant": sees_all(agent),
            **own_file(type(agent)),
        }
        # Another agent that it consults, as `pimc-20:expert` and `four_point+search-100` do.
        _, _, weigher = self.name.partition(":")
        searching, _, _ = self.name.rpartition("+search-")
        helper = searching or weigher
        if helper:
            consulted = Player(helper)
            plain["consults"] = consulted.describe(consulted.make())
        return plain


def own_file(source: Any) -> dict[str, str]:
    """The hash of the file that a class or function is written in, unless it comes with this package."""
    if source is None or source.__module__.partition(".")[0] == smear_env.__name__:
        return {}
    try:
        content = Path(inspect.getfile(source)).read_bytes()
    except (OSError, TypeError):  # made at a prompt, or by no Python
        return {}
    return {"files_sha256": hashlib.sha256(content).hexdigest()}


def label(name: str) -> str:
    """What tables call a player: the name, of a checkpoint the last folder that says something."""
    path = Path(name)
    return telling_name(path) if path.is_dir() else name


def telling_name(folder: Path) -> str:
    """The last part of a checkpoint's path that says something: of a run's it is the run's name."""
    return folder.parent.name if folder.name == "checkpoint" else folder.name


def strength_name(baseline: str) -> str:
    """The metric of a run that says how strong it is against a baseline, whether its folder is there or not."""
    return f"strength/{telling_name(Path(baseline))}"


def sees_all(agent: Any) -> bool:
    """Whether an agent is shown the state beside the observation."""
    return bool(getattr(agent, "clairvoyant", False))


def decide(agent: Any, observations: Int8Array, masks: Int8Array, states: Int8Array | None) -> Int64Array:
    """Actions [B] of an agent; `states`, [B, s] as the seats to act see them, are for those that see all."""
    if sees_all(agent):
        return agent.act_batch_seeing(observations, masks, states)
    return chosen_by(agent, agent.act_batch(observations, masks), masks)


def draw_seed(*parts: object) -> int:
    """A seed of 63 bits that other parts do not share; parts are numbers and names."""
    text = "\n".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1


def apart(players: Sequence[Player]) -> tuple[Player, ...]:
    """The players, those of the same name told apart by `copy`."""
    return tuple(
        dataclasses.replace(player, copy=list(players[:index]).count(player))
        for index, player in enumerate(players)
    )


def check_players(players: Sequence[Player], rules: Rules) -> list[dict[str, Any]]:
    """Descriptions of players that exist and play these rules; ValueError for those that do not."""
    descriptions = []
    for player in players:
        agent = player.make()
        try:
            agent.reset(rules, -1, 0)
            if hasattr(agent, "check"):
                agent.check()
            descriptions.append(player.describe(agent))
        finally:
            close(agent)
    return descriptions


def close(agent: Any) -> None:
    """Let an agent end what it has started."""
    if hasattr(agent, "close"):
        agent.close()
