"""Deals that an evaluation plays: fresh ones of a seed, or a fixed, hashed set that everybody shares."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from smear_env import PRESETS, Rules, SelfPlayVectorEnv, VectorStep, deals_folder
from training.arrays import Int8Array
from training.files import write_atomically

FORMAT = "smear-deals/1"
MAX_SEED = 2**64 - 1


@dataclass(frozen=True)
class FixedDeals:
    """A committed set of deals, its hashes checked."""

    name: str
    orders: Int8Array
    """[deals, cards] card ids: `hand_size` for each seat in turn, then the stock from its top."""
    dealers: Int8Array
    """[deals] seats."""
    sha256: str
    """Hash of the file of dealers and orders."""
    columns: dict[str, Any] = field(default_factory=dict)
    """What else is known of each deal, by name: [deals, ...] arrays."""


@dataclass(frozen=True)
class Deals:
    """Which deals to play: numbers 0, 1, 2 ... of a fixed set or, without one, games 0, 1, 2 ... of the seed."""

    seed: int = 1
    """Of fresh deals, and of the agents' draws in either case."""
    name: str | None = None
    """Name of the fixed set, or the path of its JSON."""

    def __post_init__(self) -> None:
        if not 0 <= self.seed <= MAX_SEED:
            raise ValueError(f"seed={self.seed} is outside 0..2**64-1")

    @property
    def fixed(self) -> FixedDeals | None:
        """The fixed set, if there is one."""
        return None if self.name is None else load_deals(self.name)

    def check(self, rules: Rules, count: int) -> None:
        """ValueError if there are fewer than `count`, or none for these rules."""
        if (fixed := self.fixed) is None:
            return
        cards, dealer = len(rules.card_names), int(fixed.dealers.max(initial=0))
        if fixed.orders.shape[1] != cards or dealer >= rules.players:
            raise ValueError(
                f"deals={self.name!r} are of {fixed.orders.shape[1]} cards and {dealer + 1} seats, "
                f"rules {rules.name} of {cards} and {rules.players}"
            )
        if count > len(fixed.orders):
            raise ValueError(
                f"pairs={count} is more than the {len(fixed.orders)} deals of {self.name!r}: give fewer, or fresh "
                "deals"
            )

    def describe(self) -> dict[str, Any]:
        """What a result says of them."""
        if (fixed := self.fixed) is None:
            return {"fresh": True, "seed": self.seed}
        return {"fixed": fixed.name, "sha256": fixed.sha256, "count": len(fixed.orders), "seed": self.seed}

    def begin(
        self, rules: Rules, first: int, count: int, **options: Any
    ) -> tuple[SelfPlayVectorEnv, VectorStep]:
        """An env at the beginning of deals `first` to `first + count`, one in each slot, and what it shows.

        `options` are the env's; episodes are deals, paid in points, unless they say otherwise.
        """
        given = {"episode": "deal", "reward": "points", **options}
        env = SelfPlayVectorEnv(count, rules, seed=self.seed, first_game=first, **given)
        if (fixed := self.fixed) is None:
            return env, env.reset()
        part = slice(first, first + count)
        return env, env.reset(deals=(fixed.orders[part], fixed.dealers[part]))


@lru_cache(maxsize=8)
def load_deals(name: str, folder: Path | None = None) -> FixedDeals:
    """A fixed set with all its columns, by name or by the path of its JSON.

    Raises ValueError naming the file that is missing, damaged or changed.
    """
    if name.endswith(".json"):
        folder, name = Path(name).parent, Path(name).stem
    folder = folder or deals_folder()
    path = folder / f"{name}.json"
    if not path.is_file():
        known = ", ".join(sorted(one.stem for one in folder.glob("*.json"))) or "none"
        raise ValueError(f"deals={name!r}: there is no {path}; sets there: {known}")
    try:
        described = json.loads(path.read_text(encoding="utf-8"))
        told, columns = described["format"], described["columns"]
        main = _read(folder, described)
        further = {key: _read(folder, column) for key, column in columns.items()}
    except OSError as error:
        raise ValueError(f"{path}: not readable: {error}") from error
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: no description of deals: {error!r}") from error
    if told != FORMAT:
        raise ValueError(f"{path}: field 'format' is {told!r}, expected {FORMAT!r}")
    if main.dtype != np.int8 or main.ndim != 2:
        raise ValueError(
            f"{folder / described['file']}: {main.dtype} {main.shape}, expected int8 [deals, 1 + cards]"
        )
    for key, column in further.items():
        if len(column) != len(main):
            raise ValueError(f"{path}: column {key!r} has {len(column)} rows for {len(main)} deals")
    return FixedDeals(name, main[:, 1:], main[:, 0], described["sha256"], further)


def _read(folder: Path, described: dict[str, Any]) -> Any:
    """The array of a file, if it is the one described."""
    path = folder / Path(described["file"]).name
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path}: not readable: {error}") from error
    found = hashlib.sha256(content).hexdigest()
    if found != described["sha256"]:
        raise ValueError(
            f"{path}: its sha256 is {found}, and {described['sha256']} was committed: the file is damaged or was "
            "changed; fetch it again"
        )
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(f"{path}: no array of NumPy's plain format: {error}") from error
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{path}: more than one array, expected NumPy's plain format .npy")
    array.flags.writeable = False
    return array


def write_deals(folder: Path, name: str, deals: Int8Array, *, seed: int, command: str) -> dict[str, Any]:
    """Write dealers and orders, int8 [deals, 1 + cards], as a set of the preset `name`; returns its description."""
    content = _npy(np.ascontiguousarray(deals, np.int8))
    described = {
        "format": FORMAT,
        "rules": name,
        "deals": len(deals),
        "file": f"{name}.npy",
        "sha256": hashlib.sha256(content).hexdigest(),
        "layout": "int8 [deals, 1 + cards]: dealer, then card ids: a hand for each seat in turn, then the stock",
        "cards": " ".join(PRESETS[name].card_names),
        "seed": seed,
        "command": command,
        "columns": {},
    }
    write_atomically(folder / f"{name}.npy", content)
    write_atomically(folder / f"{name}.json", (json.dumps(described, indent=1) + "\n").encode())
    return described


def add_column(folder: Path, name: str, column: str, values: Any, *, meaning: str, command: str) -> None:
    """Add a column, [deals, ...], to a set, in a file of its own; the deals stay as they are."""
    path = folder / f"{name}.json"
    described = json.loads(path.read_text(encoding="utf-8"))
    array = np.ascontiguousarray(values)
    if array.dtype.kind not in "iufb" or len(array) != described["deals"]:
        raise ValueError(
            f"column {column!r} of {array.dtype} {array.shape}, expected numbers [{described['deals']}, ...]"
        )
    content = _npy(array)
    file = f"{name}.{column}.npy"
    described["columns"][column] = {
        "file": file,
        "sha256": hashlib.sha256(content).hexdigest(),
        "layout": f"{array.dtype} {list(array.shape)}",
        "meaning": meaning,
        "command": command,
    }
    write_atomically(folder / file, content)
    write_atomically(path, (json.dumps(described, indent=1) + "\n").encode())


def _npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()
