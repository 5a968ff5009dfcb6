"""Tables in play: who is connected, agents that think in threads, and everything that changes told to those who sit.

All of it runs on one event loop; only agents, hints and reviews run in threads, on copies of what a seat sees. A change
is applied, kept in the store, and then told.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from smear_env import Agent
from smear_table.advice import advise, adviser_of
from smear_table.catalogue import GAMES
from smear_table.pace import SPEEDS, pause
from smear_table.players import seated, untrained
from smear_table.review import review_deal
from smear_table.session import HUMAN, Event, RefusedError, Session, Setup
from smear_table.store import Kept, Store, token_hash
from smear_table.view import deal_summary, seat_view, table_facts

MOST_IN_MEMORY = 2000
QUICK = 0.001
"""Seconds: an agent that decides faster is asked at once; a thread would cost more."""
IDLE_SECONDS = 900.0
"""A table without a browser is forgotten after so long, and read again when somebody comes."""

_log = logging.getLogger(__name__)


class Listener(Protocol):
    """A browser at a seat."""

    seat: int

    def tell(self, message: Mapping[str, Any]) -> None:
        """Queue a message to it; never waits."""


class Table:
    """One table in play; see `Tables` for how it comes and goes."""

    def __init__(self, name: str, kept: Kept, store: Store, pool: ThreadPoolExecutor) -> None:
        self.name = name
        self.session: Session = kept.session
        self.speed = kept.speed
        self.listeners: set[Listener] = set()
        self.touched = time.monotonic()
        self._seats = kept.seats
        self._store, self._pool = store, pool
        self._agents: dict[int, Agent] = {}
        self._took: dict[int, float] = {}
        """Seconds that an agent's decisions took of late."""
        self._ready: set[int] = set()
        """Seats that want the next deal."""
        self._runner: asyncio.Task[None] | None = None

    def seat_of(self, token: str) -> int | None:
        """The seat that a token opens."""
        return self._seats.get(token_hash(token))

    def join(self, listener: Listener) -> None:
        """Tell a browser everything, and from now on whatever changes."""
        self.listeners.add(listener)
        listener.tell(
            {"type": "facts", **table_facts(self.session), "title": GAMES[self.session.rules.name][0]}
        )
        self._tell()
        self._wake()

    def leave(self, listener: Listener) -> None:
        """Forget a browser."""
        self.listeners.discard(listener)
        self.touched = time.monotonic()
        self._tell()
        self._wake()

    def act(self, seat: int, action: str, number: int) -> None:
        """An action of a person; RefusedError changes nothing."""
        self._keep(self.session.act(seat, action, number))

    def undo(self, seat: int, number: int) -> None:
        """Take back a person's last decision and what followed."""
        self._keep(self.session.undo(seat, number))

    def next_deal(self, seat: int, number: int) -> None:
        """A person has seen the result of the deal before."""
        if number != self.session.number:
            raise RefusedError("The table has moved on.", "stale")
        self._ready.add(seat)
        self._tell()
        self._wake()

    def set_speed(self, speed: str) -> None:
        """How fast agents play from now on."""
        if speed not in SPEEDS:
            raise RefusedError(f"speed must be one of {', '.join(SPEEDS)}.", "malformed")
        self.speed = speed
        self._store.set_speed(self.name, speed)
        self._tell()

    async def hint(self, seat: int, number: int) -> dict[str, Any]:
        """What each action of a seat that is to act is worth."""
        session = self.session
        if number != session.number or session.turn != seat:
            raise RefusedError("A hint is given when it is your turn.", "turn")
        if len(session.setup.humans) > 1 and not session.setup.practice:
            raise RefusedError("At a table of several people there are hints in practice only.", "forbidden")
        seen, rules = session.observe(seat), session.rules
        found = await self._think(advise, seen["observation"], seen["action_mask"], rules)
        rows = [
            {
                "action": rules.action_names[one.action],
                "probability": round(one.probability, 4),
                "points": round(one.points, 2),
                "error": round(one.error, 2),
                "make": None if one.make is None else round(one.make, 3),
                "win": None if one.win_change is None else round(one.win_change, 4),
            }
            for one in found
        ]
        name = adviser_of(rules).name
        outside = untrained(name, rules)
        return {"type": "hint", "number": number, "adviser": name, "untrained": outside, "rows": rows}

    async def review(self, seat: int, deal: int) -> dict[str, Any]:
        """A finished deal's decisions of a seat."""
        self._check_deal(deal)
        match = self.session.transcript()
        assert match is not None, "a deal is finished"
        # The list grows while a thread reads it.
        last = deal == len(match["deals"]) - 1
        match = {**match, "deals": match["deals"][: deal + 1], "winner": match["winner"] if last else None}
        return {"type": "review", **await self._think(review_deal, match, deal, seat)}

    def summary(self, deal: int) -> dict[str, Any]:
        """A finished deal as it lay on the table."""
        self._check_deal(deal)
        return {"type": "summary", **deal_summary(self.session, deal)}

    def stop(self) -> None:
        """Let no agent act any more."""
        if self._runner is not None:
            self._runner.cancel()

    def _check_deal(self, deal: int) -> None:
        if not 0 <= deal < len(self.session.finished):
            raise RefusedError(f"There are {len(self.session.finished)} finished deals.", "malformed")

    def _keep(self, event: Event) -> None:
        """Write down what has just been applied, and tell it. A failed write forgets the change."""
        try:
            self._store.append(self.name, self.session.number - 1, event)
        except Exception:
            kept = self._store.load(self.name)
            assert kept is not None, "the table was kept"
            self.session = kept.session
            raise
        if not self.session.fresh:
            self._ready.clear()
        # Where agents act at once, people are told what came of it when one of them is asked again.
        if SPEEDS[self.speed] > 0 or event.seat in self.session.setup.humans or not self._may_run():
            self._tell()
        self._wake()

    def _tell(self) -> None:
        present = sorted({listener.seat for listener in self.listeners})
        waiting = [seat for seat in present if seat not in self._ready] if self.session.fresh else []
        views: dict[int, dict[str, Any]] = {}
        for listener in self.listeners:
            seat = listener.seat
            if seat not in views:
                views[seat] = {
                    "type": "view",
                    **seat_view(self.session, seat),
                    "fresh": seat in waiting,
                    "speed": self.speed,
                    "present": present,
                    "waiting": waiting,
                    "hints": self.session.setup.hints,
                }
            listener.tell(views[seat])

    def _may_run(self) -> bool:
        session = self.session
        if session.turn is None or session.setup.seats[session.turn].player == HUMAN or not self.listeners:
            return False
        return not session.fresh or {listener.seat for listener in self.listeners} <= self._ready

    def _wake(self) -> None:
        if self._may_run() and (self._runner is None or self._runner.done()):
            self._runner = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        """Let agents act until a person is to."""
        loop = asyncio.get_running_loop()
        while self._may_run():
            session, number, seat = self.session, self.session.number, self.session.turn
            assert seat is not None, "somebody is to act"
            started = loop.time()
            seen = session.observe(seat)
            try:
                if self._took.get(seat, QUICK) < QUICK:
                    action = self._decide(seat, seen)
                else:
                    action = await self._think(self._decide, seat, seen)
            except Exception:  # noqa: BLE001 - whatever a player raises, the table goes on
                _log.exception("table %s: the player at seat %s failed", self.name, seat)
                for listener in self.listeners:
                    listener.tell(
                        error("The player at this seat has failed; the server's log says why.", "failed")
                    )
                return
            # Even a pause of 0 lets other tables in.
            await asyncio.sleep(max(0.0, pause(session, self.speed) - (loop.time() - started)))
            if session is self.session and number == session.number and self._may_run():
                self._keep(session.act(seat, session.rules.action_names[action], number))

    def _decide(self, seat: int, seen: dict[str, Any]) -> int:
        began = time.perf_counter()
        action = self._asked(seat, seen)
        self._took[seat] = max(time.perf_counter() - began, 0.9 * self._took.get(seat, 0.0))
        return action

    def _asked(self, seat: int, seen: dict[str, Any]) -> int:
        if seat not in self._agents:
            setup = self.session.setup
            self._agents[seat] = seated(setup.seats[seat].player, self.session.rules, seat, setup.seed)
        return int(self._agents[seat].act(seen["observation"], seen["action_mask"]))

    async def _think(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, function, *arguments)


class Tables:
    """All tables: those in memory, and the rest in the store."""

    def __init__(self, store: Store, *, threads: int = 2) -> None:
        self.store = store
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix="thinking")
        self._live: dict[str, Table] = {}

    def create(self, setup: Setup, speed: str) -> tuple[str, dict[int, str]]:
        """Lay a table; its name, and the token of each person's seat."""
        name = secrets.token_urlsafe(9)
        tokens = {seat: secrets.token_urlsafe(18) for seat in setup.humans}
        session = Session(setup)
        self.store.add(name, setup, speed, tokens)
        self._make_room()
        hashes = {token_hash(token): seat for seat, token in tokens.items()}
        self._live[name] = Table(name, Kept(session, speed, hashes), self.store, self.pool)
        return name, tokens

    def get(self, name: str) -> Table | None:
        """A table by its name, read from the store if need be; None if there is none."""
        if name not in self._live:
            kept = self.store.load(name)
            if kept is None:
                return None
            self._make_room()
            self._live[name] = Table(name, kept, self.store, self.pool)
        return self._live[name]

    def open(self, name: str, token: str) -> tuple[Table, int]:
        """The table and seat of a token; RefusedError, the same for no such table and no such token."""
        # A name of ours is ASCII; SQLite takes no half of a surrogate pair.
        table = self.get(name) if name.isascii() else None
        seat = None if table is None else table.seat_of(token)
        if table is None or seat is None:
            raise RefusedError("This link opens no seat: it is of another table, or mistyped.", "forbidden")
        return table, seat

    def close(self) -> None:
        """Stop everything."""
        for table in self._live.values():
            table.stop()
        self.pool.shutdown(wait=False, cancel_futures=True)
        self.store.close()

    def _make_room(self) -> None:
        now = time.monotonic()
        idle = [n for n, t in self._live.items() if not t.listeners and now - t.touched > IDLE_SECONDS]
        if len(self._live) >= MOST_IN_MEMORY:
            unused = [(t.touched, n) for n, t in self._live.items() if not t.listeners]
            idle += [n for _, n in sorted(unused)[: MOST_IN_MEMORY // 10]]
        for name in dict.fromkeys(idle):
            self._live.pop(name).stop()


def error(message: str, code: str) -> dict[str, str]:
    """A message that something was refused or failed."""
    return {"type": "error", "code": code, "message": message}
