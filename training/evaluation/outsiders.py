"""Outsiders: players that are no agent of this package, each in processes of its own, and what a forfeit is.

A callable `module:function` is run by `training.evaluation.host`, which speaks the same JSON lines as any
`process:COMMAND`. So neither can stop, slow down for ever or look into the evaluation. Each seat has a process of its
own, since partners may not see each other's hands.
"""

from __future__ import annotations

import hashlib
import math
import os
import shlex
import sys
from dataclasses import asdict, is_dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import numpy as np

from smear_env import Rules, decode
from training.arrays import Float32Array, Int8Array, Int64Array
from training.evaluation.conversation import TOLD, Conversation
from training.evaluation.players import draw_seed
from training.evaluation.plays import ForfeitError

PROTOCOL = "smear-player/1"
PROCESS = "process:"
START_SECONDS = 60.0
"""How long a process may take until it is ready."""
LONGEST_LIMIT = 1e6
"""Seconds for an action; waiting knows no number much greater."""
STARTS = 3
"""After so many failed starts on end the rest of a shard is forfeited without another."""
IN_STEP = ("illegal", "type", "exception")
"""Faults after which the process still answers what it is asked, and need not be started again."""


def command_of(name: str) -> list[str]:
    """The words of the command that runs an outsider."""
    if name.startswith(PROCESS):
        try:
            return shlex.split(name.removeprefix(PROCESS))
        except ValueError as error:
            raise ValueError(f"agent {name!r}: its command cannot be split into words: {error}") from error
    return [sys.executable, "-m", "training.evaluation.host", name]


def files_hash(name: str) -> str | None:
    """SHA-256 of the files that an outsider's name leads to, without what they import; None if it leads to none."""
    if name.startswith(PROCESS):
        words = command_of(name)
        paths = [Path(word) for index, word in enumerate(words) if index or not Path(word).is_absolute()]
    else:
        paths = _module_files(name.partition(":")[0])
    contents = [path.read_bytes() for path in paths if path.is_file()]
    return hashlib.sha256(b"\0".join(contents)).hexdigest() if contents else None


def _module_files(module: str) -> list[Path]:
    """The file of a module, found without importing its package here: that is the host's to do."""
    spec, folders = None, None
    for end, _ in enumerate(parts := module.split("."), 1):
        spec = PathFinder.find_spec(".".join(parts[:end]), folders)
        if spec is None:
            return []
        folders = list(spec.submodule_search_locations or [])
    return [Path(spec.origin)] if spec and spec.origin else []


def view_of(observation: Int8Array, rules: Rules) -> dict[str, Any]:
    """What `decode` gives, as JSON has it."""
    seen = decode(observation, rules)
    plain: dict[str, Any] = {}
    for name in seen.__dataclass_fields__:
        value = getattr(seen, name)
        if name == "options":
            value = dict(value)
        elif isinstance(value, tuple):
            value = [asdict(one) if is_dataclass(one) and not isinstance(one, type) else one for one in value]
        plain[name] = value
    return plain


class Outsider:
    """Asks processes, one decision at a time; raises ForfeitError where an answer is no legal action."""

    one_at_a_time = True

    def __init__(self, name: str, limit_seconds: float) -> None:
        if not 0 < limit_seconds <= LONGEST_LIMIT or math.isnan(limit_seconds):
            raise ValueError(f"limit_seconds={limit_seconds} must be above 0, and {LONGEST_LIMIT:g} at most")
        if not name.startswith(PROCESS) and not all(name.partition(":")[::2]):
            raise ValueError(f"agent {name!r} must be module:function or process:COMMAND")
        if not command_of(name):
            raise ValueError(f"agent {name!r} has no command after {PROCESS!r}")
        self.name = name
        self._limit = limit_seconds
        self._seed, self._deal, self._asked, self._failed = 0, 0, 0, 0
        self._rules: Rules | None = None
        self._open: list[Conversation | None] = []
        self._places: dict[int, int] = {}

    @property
    def rules(self) -> Rules:
        """The rules of the game begun."""
        if self._rules is None:
            raise RuntimeError(f"call reset(rules, seat, seed) before {self.name} acts")
        return self._rules

    def reset(self, rules: Rules, seat: int, seed: int) -> None:
        """Begin a shard; `seat` does not matter, each decision has its own."""
        del seat
        if self._rules != rules:
            self.close()
        for place, running in enumerate(self._open):
            if running is not None and not running.quiet:
                self._end(place)  # what it did in another shard is no fault of this one
        self._rules, self._seed, self._failed = rules, seed, 0

    def check(self) -> None:
        """ValueError if it cannot be started at all."""
        try:
            self._conversation(0)
        except ForfeitError as error:
            raise ValueError(f"agent {self.name!r} does not start: {error.told}") from error

    def begin_deal(self, number: int) -> None:
        """From now on decisions are of deal `number`."""
        self._deal, self._places = number, {}

    def act_in_turn(self, observation: Int8Array, mask: Int8Array, seat: int) -> int:
        """The action for one decision, [d] int8 and [n] int8."""
        # The seats that it plays meet its processes in the order in which they speak.
        new = seat not in self._places
        place = self._places.setdefault(seat, len(self._places))
        try:
            conversation = self._conversation(place)
            if new:
                seed = draw_seed(self._seed, self._deal, seat)
                conversation.tell(
                    {"type": "deal", "deal": self._deal, "seat": seat, "seed": seed}, self._limit
                )
            self._asked += 1
            question = self._question(observation, mask, seat)
            return self._judged(conversation.ask(question, self._limit), mask)
        except ForfeitError as error:
            if error.reason not in IN_STEP:
                self._end(place)
            raise

    def act(self, observation: Int8Array, mask: Int8Array) -> int:
        """As `act_in_turn`, for a seat that does not matter."""
        return self.act_in_turn(observation, mask, 0)

    def act_batch(self, observations: Int8Array, masks: Int8Array) -> Int64Array:
        """Actions [B], asked one by one."""
        return np.array([self.act(*row) for row in zip(observations, masks, strict=True)], np.int64)

    def probabilities(self, observations: Int8Array, masks: Int8Array) -> Float32Array:
        """Unknown: an outsider says what it does, not what it might do."""
        raise NotImplementedError(f"{self.name} gives actions, no probabilities")

    def close(self) -> None:
        """End its processes."""
        for place in range(len(self._open)):
            self._end(place)
        self._open = []

    def _conversation(self, place: int) -> Conversation:
        """The process of a place, ready; started if there is none."""
        while len(self._open) <= place:
            self._open.append(None)
        running = self._open[place]
        if running is not None:
            return running
        if self._failed >= STARTS:
            raise ForfeitError("start", f"{STARTS} starts have failed; the rest of the shard is forfeited")
        try:
            conversation = self._open[place] = self._start()
        except ForfeitError as error:
            self._failed += 1
            raise ForfeitError("start", f"{error.reason}: {error.told}") from error
        self._failed = 0
        return conversation

    def _start(self) -> Conversation:
        environment = None
        if not self.name.startswith(PROCESS):
            # The host finds what this process would find.
            path = os.pathsep.join(one or str(Path.cwd()) for one in sys.path)
            environment = {**os.environ, "PYTHONPATH": path}
        conversation = Conversation(command_of(self.name), environment)
        rules = self.rules
        try:
            answer = conversation.ask(
                {
                    "type": "start",
                    "protocol": PROTOCOL,
                    "rules": rules.name,
                    "options": rules.options(),
                    "players": rules.players,
                    "teams": rules.teams,
                    "actions": list(rules.action_names),
                    "limit_seconds": self._limit,
                },
                START_SECONDS,
            )
            if answer.get("ready") is not True:
                raise ForfeitError(
                    "garbage", f"answered {_shown(answer)} where {{'ready': true}} is expected"
                )
        except BaseException:
            conversation.end()
            raise
        return conversation

    def _question(self, observation: Int8Array, mask: Int8Array, seat: int) -> dict[str, Any]:
        names = self.rules.action_names
        return {
            "type": "act",
            "id": self._asked,
            "deal": self._deal,
            "seat": seat,
            "legal": [names[action] for action in np.flatnonzero(mask)],
            "observation": observation.tolist(),
            "mask": mask.tolist(),
            "view": view_of(observation, self.rules),
        }

    def _judged(self, answer: dict[str, Any], mask: Int8Array) -> int:
        """The legal action of an answer."""
        if answer.get("error") is not None:
            raise ForfeitError("exception", _text(answer["error"]))
        if answer.get("id", self._asked) != self._asked:
            raise ForfeitError(
                "garbage", f"answered question {_shown(answer['id'])}, asked was {self._asked}"
            )
        if "action" not in answer:
            raise ForfeitError("garbage", f"no action in {_shown(answer)}")
        action, names = answer["action"], self.rules.action_names
        if not isinstance(action, int | str) or isinstance(action, bool):
            raise ForfeitError("type", f"action {_shown(action)} is neither an action's id nor its name")
        number = names.index(action) if action in names else action
        if not isinstance(number, int) or not 0 <= number < len(mask) or not mask[number]:
            legal = " ".join(names[one] for one in np.flatnonzero(mask))
            raise ForfeitError("illegal", f"action {_shown(action)} is not legal; legal: {legal}")
        return number

    def _end(self, place: int) -> None:
        conversation = self._open[place] if place < len(self._open) else None
        if conversation is not None:
            self._open[place] = None
            conversation.end()


def _text(value: object) -> str:
    return value[:TOLD] if isinstance(value, str) else _shown(value)


def _shown(value: object) -> str:
    try:
        return repr(value)[:TOLD]
    except RecursionError:  # nested as deep as JSON may be
        return f"a deep {type(value).__name__}"
