"""Measuring in turn: one pinned process for each family of contestants, all alive, one of them at work at a time.

A process of its own keeps each family's imports, threads and settings from the others. Every repetition goes round all
contestants once, so that whatever else the machine does meanwhile hits all alike.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, Self

from benchmarks.contestants import Contestant, Measure

ENVIRONMENT = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "PYGAME_HIDE_SUPPORT_PROMPT": "hide",
}
"""What every process starts with: libraries compute on one thread, whatever the machine has."""

_PROBE = 0.3
"""Seconds to watch the cores before the idlest are chosen."""
_START_LIMIT = 600.0
"""Seconds, beyond those asked for, in which a measurement must have answered: a first one may compile."""


class Failure(NamedTuple):
    """In place of figures."""

    reason: str


@dataclass
class Results:
    """Figures by contestant, and why some are missing."""

    figures: dict[Contestant, list[Sequence[float]]] = field(default_factory=dict)
    """What each repetition gave."""
    failures: dict[Contestant, str] = field(default_factory=dict)

    def by_row(self) -> dict[str, list[float]]:
        """Figures of each row, one for each repetition, of contestants that give one figure for each way."""
        return {
            row: [figures[index] for figures in repetitions]
            for one, repetitions in self.figures.items()
            for index, row in enumerate(one.rows)
        }


def alternate(contestants: Sequence[Contestant], repetitions: int, amount: float, warm_up: float) -> Results:
    """Measure `amount` of every contestant in turn, `repetitions` times, after a round of `warm_up` that is not kept.

    One that fails, or whose package is missing, is left out from there on and named among the failures.
    """
    results = Results({one: [] for one in contestants})
    with Workers() as workers:
        began = time.monotonic()
        for repetition in range(repetitions + 1):
            shown = f"repetition {repetition} of {repetitions}" if repetition else "start and warm up"
            took, began = time.monotonic() - began, time.monotonic()
            left = (
                f", about {took * (repetitions + 1 - repetition) / 60:.1f} min left" if repetition > 1 else ""
            )
            print(f"{shown}: {len(results.figures)} contestants{left}", file=sys.stderr, flush=True)
            for one in list(results.figures):
                answer = workers.measure(one, amount if repetition else warm_up)
                if isinstance(answer, Failure):
                    results.failures[one] = answer.reason
                    del results.figures[one]
                elif repetition:
                    results.figures[one].append(answer)
    return results


class Workers:
    """The processes of the families, started when first asked for; a context manager that ends them."""

    def __init__(self) -> None:
        self._cores = idlest_cores()
        self._processes: dict[tuple[str, int], tuple[Any, Connection]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process, connection in self._processes.values():
            connection.close()
            process.terminate()
            process.join()

    def measure(self, contestant: Contestant, amount: float) -> Sequence[float] | Failure:
        """The figures of one measurement, made in the contestant's process."""
        key = (contestant.who, contestant.cores)
        if key not in self._processes:
            self._processes[key] = self._start(contestant.cores)
        _, connection = self._processes[key]
        try:
            connection.send((contestant, amount))
            if not connection.poll(_START_LIMIT + amount):
                return Failure("no answer")
            answer: Sequence[float] | Failure = connection.recv()
        except (EOFError, OSError):
            return Failure("its process has ended")
        return answer

    def _start(self, cores: int) -> tuple[Any, Connection]:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs,), daemon=True)
        with _inherited(self._cores[:cores]):
            process.start()
        theirs.close()
        return process, ours


def serve(connection: Connection) -> None:
    """Answer requests (contestant, amount) until the other end closes; a contestant is made at its first."""
    warnings.simplefilter("ignore")  # peers' deprecations; our own are errors in the tests
    made: dict[Contestant, Measure] = {}
    while True:
        try:
            contestant, amount = connection.recv()
        except (EOFError, OSError):
            return
        connection.send(measure(made, contestant, amount))


def measure(
    made: dict[Contestant, Measure], contestant: Contestant, amount: float
) -> Sequence[float] | Failure:
    """One measurement of a contestant, which is made unless it has been; why not, if that fails."""
    try:
        if contestant not in made:
            made[contestant] = contestant.make()
        return made[contestant](amount)
    except ModuleNotFoundError as error:
        return Failure(f"not installed ({error.name})")
    except Exception as error:  # noqa: BLE001  (a peer may fail in any way, and the others go on)
        return Failure(f"failed: {type(error).__name__}: {error}")


@contextmanager
def _inherited(cores: Sequence[int]) -> Iterator[None]:
    """What a process started meanwhile has from its first moment on: the environment, and these cores (Linux)."""
    before = dict(os.environ)
    allowed = allowed_cores()
    os.environ.update(ENVIRONMENT)
    _pin(cores)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        _pin(allowed)


def idlest_cores() -> list[int]:
    """The cores this process may use, those with the least other work at present first."""
    before = _idle_ticks()
    time.sleep(_PROBE)
    after = _idle_ticks()
    return sorted(allowed_cores(), key=lambda core: before.get(core, 0) - after.get(core, 0))


def allowed_cores() -> list[int]:
    """The cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def _pin(cores: Sequence[int]) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)


def _idle_ticks() -> dict[int, int]:
    """Ticks that each core has idled or waited for storage; empty where the system does not tell."""
    try:
        lines = Path("/proc/stat").read_text(encoding="ascii").splitlines()
    except OSError:
        return {}
    cores = [line.split() for line in lines if line.startswith("cpu") and line[3].isdigit()]
    return {int(name[3:]): int(idle) + int(waiting) for name, _, _, _, idle, waiting, *_ in cores}
