"""Many web tables at once, played by scripted clients: how long an answer takes, and whether an action is lost.

    python -m benchmarks.web --tables 200 --actions 60

starts a server of its own, has a client play at each table, kills the server (SIGKILL) when half of the actions are
done, starts it again on the same file, and lets the clients go on. An action counts as completed when its client was
told of it; at the end every completed action must stand in its table's record. The time of a response runs from
sending an action to the view that shows it; what agents think comes after.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np


@dataclass
class Crowd:
    """What all clients have done."""

    url: str
    goal: int
    """Actions of each client."""
    think: float = 0.0
    """Seconds that a client waits before it answers."""
    completed: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    """By table, (number of the event, action) that the client was told of."""
    seconds: list[float] = field(default_factory=list)
    """Each response's time."""
    lost_connections: int = 0

    @property
    def total(self) -> int:
        """Completed actions at all tables."""
        return sum(map(len, self.completed.values()))


class Server:
    """A server in a process of its own."""

    def __init__(self, tables: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._tables = tables
        self.start()

    def start(self) -> None:
        """Start it, again on the same port and file, and wait until it answers."""
        command = [
            sys.executable,
            "-m",
            "smear_table.web",
            "--port",
            str(self.port),
            "--tables",
            str(self._tables),
        ]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        for _ in range(1200):
            with socket.socket() as there:
                if there.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise RuntimeError("the server did not start within a minute")

    def kill(self) -> None:
        """End it as `kill -9` does."""
        self._process.kill()
        self._process.wait()


async def lay(crowd: Crowd, index: int, agent: str) -> tuple[str, str]:
    """Lay table number `index`, the games in turn; its name and token."""
    game, players = (("four_point", 4), ("schmier", 6))[index % 2]
    seats = [{"player": "human" if seat == 0 else agent, "name": f"{seat}"} for seat in range(players)]
    body = json.dumps({"game": game, "options": {}, "seats": seats, "speed": "instant", "practice": False})
    host = crowd.url.removeprefix("http://")
    reader, writer = await asyncio.open_connection(*host.split(":"))
    head = f"POST /api/tables HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\nconnection: close\r\n"
    writer.write(f"{head}content-length: {len(body)}\r\n\r\n{body}".encode())
    answer = (await reader.read()).partition(b"\r\n\r\n")[2]
    writer.close()
    made = json.loads(answer)
    return made["table"], made["seats"][0]["token"]


async def play(crowd: Crowd, table: str, token: str, chance: random.Random) -> None:
    """Sit at a table until the goal is reached or the match is over, coming back whenever the connection is lost."""
    from websockets.asyncio.client import connect
    from websockets.exceptions import WebSocketException

    done = crowd.completed.setdefault(table, [])
    url = crowd.url.replace("http", "ws") + f"/api/tables/{table}"
    while len(done) < crowd.goal:
        try:
            async with connect(url, open_timeout=60) as line:
                await line.send(json.dumps({"type": "join", "token": token}))
                if await _sit(crowd, line, done, chance):
                    return
        except (WebSocketException, OSError, TimeoutError):
            crowd.lost_connections += 1
            await asyncio.sleep(0.1 + chance.random() / 5)


async def _sit(crowd: Crowd, line: Any, done: list[tuple[int, str]], chance: random.Random) -> bool:
    """Answer what is asked until the goal; True when there is nothing more to do."""
    sent: tuple[int, str, float] | None = None
    async for text in line:
        view = json.loads(text)
        if view["type"] == "error":
            raise RuntimeError(f"refused: {view['message']}")
        if view["type"] != "view":
            continue
        if sent is not None and view["number"] > sent[0]:
            crowd.seconds.append(time.perf_counter() - sent[2])
            done.append(sent[:2])
            sent = None
        if view["over"] or len(done) >= crowd.goal:
            return True
        if sent is not None:
            continue
        if view["fresh"]:
            await line.send(json.dumps({"type": "next", "number": view["number"]}))
        elif view["legal"]:
            legal = view["legal"]
            action = "pass" if "pass" in legal and chance.random() < 0.8 else chance.choice(legal)
            await asyncio.sleep(crowd.think)
            sent = (view["number"], action, time.perf_counter())
            await line.send(json.dumps({"type": "act", "number": view["number"], "action": action}))
    return False


async def run(server: Server, tables: int, actions: int, agent: str, think: float = 0.0) -> Crowd:
    """All clients to their goal, the server being killed once in the middle."""
    crowd = Crowd(f"http://127.0.0.1:{server.port}", actions, think)
    names = [await lay(crowd, index, agent) for index in range(tables)]
    clients = [asyncio.create_task(play(crowd, *one, random.Random(i))) for i, one in enumerate(names)]
    while crowd.total < tables * actions // 2 and not all(client.done() for client in clients):
        await asyncio.sleep(0.05)
    server.kill()
    await asyncio.to_thread(server.start)
    await asyncio.gather(*clients)
    return crowd


def missing(crowd: Crowd, path: Path) -> list[str]:
    """Completed actions that the store does not have."""
    from smear_table.store import Store

    store = Store(path)
    lost = []
    for table, done in crowd.completed.items():
        kept = store.load(table)
        events = [] if kept is None else store.events(table)
        for number, action in done:
            if number >= len(events) or (events[number].seat, events[number].value) != (0, action):
                lost.append(f"{table} {number} {action}")
    store.close()
    return lost


def main() -> None:
    """`python -m benchmarks.web`."""
    parser = argparse.ArgumentParser("python -m benchmarks.web", description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--actions", type=int, default=60, help="actions of each client")
    parser.add_argument("--agent", default="greedy", help="who sits in the other seats")
    parser.add_argument(
        "--think", type=float, default=0.0, help="seconds that a client waits before it answers"
    )
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tables.sqlite"
        server = Server(path)
        try:
            began = time.perf_counter()
            crowd = asyncio.run(run(server, chosen.tables, chosen.actions, chosen.agent, chosen.think))
            took = time.perf_counter() - began
        finally:
            server.kill()
        lost = missing(crowd, path)
    middle, late, last = np.quantile(np.array(crowd.seconds), [0.5, 0.95, 1.0]) * 1000
    print(
        f"{chosen.tables} tables, {crowd.total} actions in {took:.1f} s with a kill in the middle; response median "
        f"{middle:.1f} ms, 95 % {late:.1f} ms, slowest {last:.0f} ms; {crowd.lost_connections} connections lost and "
        f"taken up again; {len(lost)} completed actions lost"
    )
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
