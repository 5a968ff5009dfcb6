"""The file that tables live in: setup, tokens and every event, in SQLite.

An event is committed before anybody is told of it, so that what has been seen survives a kill of the program. Tokens
are kept as hashes: who reads the file cannot sit down with what he finds. A match of a terminal has none.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from smear_table.session import Event, Session, Setup

VERSION = 1
_SCHEMA = """
CREATE TABLE tables (id TEXT PRIMARY KEY, setup TEXT NOT NULL, speed TEXT NOT NULL, created REAL NOT NULL);
CREATE TABLE tokens (hash TEXT PRIMARY KEY, table_id TEXT NOT NULL REFERENCES tables(id), seat INTEGER NOT NULL);
CREATE TABLE events (
    table_id TEXT NOT NULL REFERENCES tables(id),
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    seat INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (table_id, number)
) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class Kept:
    """A table as it is kept."""

    session: Session
    speed: str
    seats: Mapping[str, int]
    """Seat by hash of its token."""


class StoreError(RuntimeError):
    """A file that is no store of tables, or of another version; the message names it and the remedy."""


class Store:
    """Tables in a file, or in memory with `:memory:`; for one thread."""

    def __init__(self, path: Path | str) -> None:
        if str(path) != ":memory:":
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        try:
            # The app calls it from the event loop's thread alone, which need not be the one that opens it.
            self._base = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5)
            # In WAL a commit outlives the process; only a loss of power may cost the last few.
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=NORMAL")
            (version,) = self._base.execute("PRAGMA user_version").fetchone()
            if version == 0:
                self._base.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version={VERSION}; COMMIT;")
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{path}: no file of tables ({error}); name another with --tables") from error
        if version not in (0, VERSION):
            raise StoreError(
                f"{path}: tables of version {version}, this program knows {VERSION}; name another file"
            )

    def close(self) -> None:
        """Let go of the file."""
        self._base.close()

    def add(self, table: str, setup: Setup, speed: str, tokens: Mapping[int, str]) -> None:
        """Keep a new table with a token for each seat of a person."""
        with _Transaction(self._base):
            self._base.execute(
                "INSERT INTO tables VALUES (?, ?, ?, ?)",
                (table, json.dumps(setup.as_json()), speed, time.time()),
            )
            self._base.executemany(
                "INSERT INTO tokens VALUES (?, ?, ?)",
                [(token_hash(token), table, seat) for seat, token in tokens.items()],
            )

    def append(self, table: str, number: int, event: Event) -> None:
        """Keep event `number`, from 0; sqlite3.IntegrityError if there is one already."""
        self._base.execute(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?)", (table, number, event.kind, event.seat, event.value)
        )

    def set_speed(self, table: str, speed: str) -> None:
        """Keep how fast agents play."""
        self._base.execute("UPDATE tables SET speed = ? WHERE id = ?", (speed, table))

    def load(self, table: str) -> Kept | None:
        """A table as its events made it, None if there is none."""
        row = self._base.execute("SELECT setup, speed FROM tables WHERE id = ?", (table,)).fetchone()
        if row is None:
            return None
        setup, speed = Setup.from_json(json.loads(row[0])), row[1]
        seats = dict(
            self._base.execute("SELECT hash, seat FROM tokens WHERE table_id = ?", (table,)).fetchall()
        )
        return Kept(Session(setup, self.events(table)), speed, seats)

    def without_tokens(self, most: int) -> list[tuple[str, float]]:
        """(name, time it was laid) of tables that no token opens, those of terminals, the latest first."""
        return self._base.execute(
            "SELECT id, created FROM tables WHERE id NOT IN (SELECT table_id FROM tokens) "
            "ORDER BY created DESC LIMIT ?",
            (most,),
        ).fetchall()

    def events(self, table: str) -> list[Event]:
        """All events of a table in order."""
        rows = self._base.execute(
            "SELECT kind, seat, value FROM events WHERE table_id = ? ORDER BY number", (table,)
        )
        return [Event(kind, seat, value) for kind, seat, value in rows]


class _Transaction:
    def __init__(self, base: sqlite3.Connection) -> None:
        self._base = base

    def __enter__(self) -> None:
        self._base.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        self._base.execute("COMMIT" if kind is None else "ROLLBACK")


def token_hash(token: str) -> str:
    """What is kept of a token."""
    # Half a surrogate pair, which JSON lets through, is no reason to fail.
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def tables_file() -> Path:
    """Where tables are kept unless told otherwise: in the user's data folder."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "smear" / "tables.sqlite"
