"""What can be measured: a contestant says who plays what in which way, and makes its measurement where it is run."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Measure = Callable[[float], Sequence[float]]
"""One measurement of a given amount (seconds, or calls), to figures whose unit the command names."""


@dataclass(frozen=True)
class Contestant:
    """One thing to measure. `make` is called in the contestant's own process, so it can be pickled and imports late."""

    who: str
    """Whose code it is; contestants of one owner and number of cores share a process."""
    game: str
    ways: tuple[str, ...]
    """A name for each figure that one measurement gives; one name alone for any number of like figures."""
    make: Callable[[], Measure] = field(compare=False)
    package: str
    """Distribution whose version is reported."""
    cores: int = 1
    remark: str = ""
    """Printed beside the figures, or in their place where they are missing."""

    @property
    def rows(self) -> tuple[str, ...]:
        """The unique name of each way, as in the tables."""
        return tuple(row_name(self.who, self.game, way) for way in self.ways)


def row_name(who: str, game: str, way: str) -> str:
    """How a row is called in the JSON, in promises and for `--only`."""
    return f"{who} {game}: {way}"


def selected(contestants: Sequence[Contestant], only: Sequence[str]) -> list[Contestant]:
    """Those of whom a row's name holds one of the substrings (any case); all if there are none."""
    wanted = [part.lower() for part in only]
    return [
        one
        for one in contestants
        if not wanted or any(part in row.lower() for part in wanted for row in one.rows)
    ]


def version(package: str) -> str:
    """The installed version of a distribution, empty if it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
