"""Finished shards on disk: a run that ends at any moment goes on where it was, with the very same result.

A lineup's plays stand in a folder named by the hash of all that decides them: source, rules, deals, seed, agents with
their weights. So another question never finds them, and the same question asked by another command does.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from training.evaluation.plays import Plays
from training.files import source_hash, write_atomically

FORMAT = "smear-plays/2"


class Store:
    """The folder of one lineup's shards; with no root nothing is kept."""

    def __init__(self, root: Path | None, question: Mapping[str, Any]) -> None:
        asked = {"format": FORMAT, "source": source_hash(), **question}
        text = json.dumps(asked, sort_keys=True, indent=1)
        self.folder = None if root is None else root / hashlib.sha256(text.encode()).hexdigest()[:20]
        if self.folder is not None and not (self.folder / "question.json").exists():
            write_atomically(self.folder / "question.json", text.encode())

    def load(self, first: int, count: int) -> Plays | None:
        """A finished shard, None if it is not there whole."""
        if self.folder is None or not (path := self._path(first, count)).is_file():
            return None
        try:
            with safe_open(path, framework="numpy") as file:
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
                beside = json.loads(file.metadata()["beside"])
            plays = Plays(**arrays, reports=beside["reports"])
            if beside["sha256"] != _digest(plays):
                return None
        except (OSError, SafetensorError, ValueError, TypeError, KeyError):
            return None  # it is played again, and written again
        return plays if len(plays) == count else None

    def save(self, first: int, count: int, plays: Plays) -> None:
        """Keep a finished shard."""
        if self.folder is not None:
            # One entry: the order of several is not always the same, and the same plays are to give the same file.
            beside = json.dumps({"reports": plays.reports, "sha256": _digest(plays)})
            content = save(plays.arrays(), metadata={"beside": beside})
            write_atomically(self._path(first, count), content)

    def forget(self) -> None:
        """Remove what is there."""
        if self.folder is not None:
            for path in self.folder.glob("*.safetensors"):
                path.unlink(missing_ok=True)

    def _path(self, first: int, count: int) -> Path:
        assert self.folder is not None
        return self.folder / f"{first}-{count}.safetensors"


def _digest(plays: Plays) -> str:
    """SHA-256 of all that is kept: a file with other bytes in its middle looks as whole as before."""
    digest = hashlib.sha256(json.dumps(plays.reports).encode())
    for name, array in plays.arrays().items():
        digest.update(f"{name} {array.dtype} {array.shape}\0".encode() + array.tobytes())
    return digest.hexdigest()
