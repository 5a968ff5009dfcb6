"""The command: `python -m smear_table.web` serves the table on this machine."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from smear_table.store import Store, StoreError, tables_file

DEFAULT_PORT = 8765
LONGEST_FRAME = 16 * 1024
"""Bytes of a message on the socket that are read at all."""
_ALL = ("0.0.0.0", "::")  # noqa: S104 - compared with, never bound unless asked for


@dataclass(frozen=True)
class Web:
    """Play in the browser, with people and agents in any seats. Only this machine can reach the table unless another
    --host is given.
    """

    host: str = "127.0.0.1"
    """Address to listen on; 0.0.0.0 for the whole network."""
    port: int = DEFAULT_PORT
    """Port to listen on; 0 for a free one."""
    tables: Path = field(default_factory=tables_file)
    """File that keeps the tables; :memory: to keep none."""
    allow_host: tuple[str, ...] = ()
    """Another name by which browsers call this machine; may be given several times."""
    open: bool = False
    """Open a browser."""
    log_level: Literal["debug", "info", "warning", "error"] = "warning"
    """What the server's log tells."""


def main(arguments: Sequence[str] | None = None, prog: str = "python -m smear_table.web") -> int:
    """Serve until interrupted; the exit status."""
    try:
        import tyro
    except ModuleNotFoundError as missing:
        print(f"the web table needs {missing.name}: pip install 'smear-env[web]'", file=sys.stderr)
        return 1
    config = (tyro.conf.FlagCreatePairsOff, tyro.conf.UseAppendAction)
    return serve(tyro.cli(Web, prog=prog, args=arguments, config=config))


def serve(chosen: Web) -> int:
    """Serve until interrupted; the exit status."""
    try:
        import uvicorn

        from smear_table.web.app import make_app
    except ModuleNotFoundError as missing:
        print(f"the web table needs {missing.name}: pip install 'smear-env[web]'", file=sys.stderr)
        return 1
    try:
        store = Store(":memory:" if chosen.tables == Path(":memory:") else chosen.tables)
    except StoreError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    except OSError as problem:
        print(f"error: tables={chosen.tables}: {problem.strerror or problem}", file=sys.stderr)
        return 1
    try:
        listening = _listen(chosen.host, chosen.port)
    except ValueError as problem:
        store.close()
        print(f"error: {problem}", file=sys.stderr)
        return 1
    port = listening.getsockname()[1]
    _warm()
    names = {"127.0.0.1", "localhost", "::1", socket.gethostname(), *chosen.allow_host}
    if chosen.host not in _ALL:
        names.add(chosen.host)
    shown = "127.0.0.1" if chosen.host in _ALL else chosen.host
    url = f"http://{f'[{shown}]' if ':' in shown else shown}:{port}/"
    print(f"A table is laid at {url} (tables are kept in {chosen.tables}; stop with Ctrl-C)", flush=True)
    if chosen.open:
        webbrowser.open(url)
    config = uvicorn.Config(
        make_app(store, names, any_address=chosen.host in _ALL),
        log_level=chosen.log_level,
        access_log=chosen.log_level == "debug",
        ws_max_size=LONGEST_FRAME,
        ws_per_message_deflate=False,
        server_header=False,
    )
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])
    return 0


def _listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; ValueError says what is in the way, before anybody is told of a table."""
    if not 0 <= port < 2**16:
        raise ValueError(f"port={port} must be 0 to {2**16 - 1}; 0 takes a free one")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (socket.gaierror, UnicodeError) as problem:
        raise ValueError(f"host={host!r} is no address: {problem}; name another with --host") from problem
    try:
        return socket.create_server(address[:2], family=family, backlog=2048)
    except OSError as problem:
        raise ValueError(
            f"host={host!r}, port={port}: {os.strerror(problem.errno or 0).lower()}; name another with --host or "
            "--port, port 0 being a free one"
        ) from problem


def _warm() -> None:
    """Compile what every table needs, which says so where it takes a while, before anybody waits for it."""
    from smear_table.session import HUMAN, Seat, Session, Setup
    from smear_table.view import seat_view

    session = Session(Setup("four_point", {}, (Seat(HUMAN, ""),) * 4, seed=0))
    assert session.turn is not None, "a match has begun"
    session.act(session.turn, session.legal()[0], 0)
    seat_view(session, 0)
