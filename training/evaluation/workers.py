"""Shards of an evaluation, played one after another or by several processes; the results do not depend on which.

A shard's agents are made or reset for it alone, with seeds of its own, so that nobody can tell which process played it,
after which other shard, or in which run.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from typing import Any

from smear_env import Rules
from training.evaluation.conversation import end_all
from training.evaluation.deals import Deals
from training.evaluation.players import Player, close, draw_seed
from training.evaluation.plays import Plays, play

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
LAST_SECONDS = 10.0
"""How long a worker that was told to end may take for it."""


@dataclass(frozen=True)
class Shard:
    """A stretch of deals or matches for one lineup."""

    lineup: tuple[Player, ...]
    """The player of each team."""
    rules: Rules
    deals: Deals
    first: int
    count: int
    matches: bool


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def play_shard(shard: Shard, agents: dict[Player, Any]) -> Plays:
    """The shard's plays; `agents` holds those made before, and is added to."""
    names = [(player.name, player.copy) for player in shard.lineup]
    for player in dict.fromkeys(shard.lineup):
        if player not in agents:
            agents[player] = player.make()
        kind = "matches" if shard.matches else "deals"
        seed = draw_seed(shard.deals.seed, kind, shard.first, names, player.name, player.copy)
        agents[player].reset(shard.rules, -1, seed)
    lineup = [agents[player] for player in shard.lineup]
    return play(lineup, shard.rules, shard.deals, shard.first, shard.count, matches=shard.matches)


def play_shards(shards: Sequence[Shard], processes: int, done: Callable[[int, Plays], None]) -> None:
    """Play all shards, each handed to `done` with its number as soon as it is ready, in any order.

    An interrupt ends all processes at once. RuntimeError names the shard where an agent or a process failed.
    """
    if processes > 1 and len(shards) > 1:
        _share_out(shards, min(processes, len(shards)), done)
        return
    agents: dict[Player, Any] = {}
    try:
        for number, shard in enumerate(shards):
            done(number, play_shard(shard, agents))
    finally:
        for agent in agents.values():
            close(agent)


def _share_out(shards: Sequence[Shard], processes: int, done: Callable[[int, Plays], None]) -> None:
    waiting = iter(enumerate(shards))
    with _workers(processes) as connections:
        busy: dict[Any, int] = {}

        def hand_out(connection: Any) -> None:
            number, shard = next(waiting, (None, None))
            if number is None:
                return
            busy[connection] = number
            with suppress(ConnectionError):  # a process that has ended says so when it is listened to
                connection.send(shard)

        for free in connections:
            hand_out(free)
        while busy:
            ready: list[Any] = wait(list(busy))
            for connection in ready:
                number = busy.pop(connection)
                try:
                    plays, error = connection.recv()
                except (EOFError, ConnectionError):
                    plays, error = None, "the process that played it ended"
                if plays is None:
                    shard = shards[number]
                    names = " ".join(player.name for player in shard.lineup)
                    raise RuntimeError(
                        f"{names}, deals {shard.first} to {shard.first + shard.count}: {error}"
                    )
                hand_out(connection)
                done(number, plays)


@contextmanager
def _workers(count: int) -> Iterator[list[Connection]]:
    """Connections to as many new processes, which end with the block, whatever ends it."""
    context = get_context("spawn")  # a fork would copy the threads of what is imported here
    processes, connections = [], []
    try:
        for _ in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs,), daemon=True)
            with _one_thread():
                process.start()
            theirs.close()
            processes.append(process)
            connections.append(ours)
        yield connections
        for connection in connections:
            connection.close()  # what a worker takes for the end
        for process in processes:
            process.join(LAST_SECONDS)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(LAST_SECONDS)
            if process.is_alive():
                process.kill()


@contextmanager
def _one_thread() -> Iterator[None]:
    """Processes started within the block use one thread each."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _serve(connection: Connection) -> None:
    """What a worker does: play the shards that come, until no more can come."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt reaches all; the parent decides
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that outsiders are ended too
    threading.Thread(target=_end_with_parent, daemon=True).start()
    agents: dict[Player, Any] = {}
    try:
        while True:
            try:
                shard = connection.recv()
            except EOFError:
                return
            try:
                answer: Any = (play_shard(shard, agents), None)
            except Exception:  # noqa: BLE001  # whatever an agent raises belongs to the parent
                answer = (None, traceback.format_exc())
            connection.send(answer)
    finally:
        for agent in agents.values():
            close(agent)


def _end_with_parent() -> None:
    # A parent that was killed cannot end its workers, and one may be deep in a long shard.
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        end_all()
        os._exit(1)
