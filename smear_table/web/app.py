"""The web application: pages, a few JSON calls, and one socket for each seat that a browser shows.

A seat is opened by its token, which the page keeps behind the `#` of its link, where no server log sees it, and sends
as the first message. Nothing a message says is believed before it is checked; nothing is done for another seat.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from smear_table.catalogue import catalogue, read_setup
from smear_table.replay import read_matches, replay_deal
from smear_table.session import RefusedError
from smear_table.store import Store
from smear_table.web.guard import Guard
from smear_table.web.tables import Table, Tables, error

_log = logging.getLogger(__name__)

STATIC = Path(__file__).parent / "static"
LONGEST_MESSAGE = 4096
"""Characters of a message on the socket."""
JOIN_SECONDS = 10.0
MOST_QUEUED = 200
"""A browser that does not read so many messages is cut off; it comes back and is told where the table stands."""

MOST_A_SECOND = 100
"""Messages of one browser that are heard in a second; more of them wait."""

_FIELDS: dict[str, dict[str, type]] = {
    "join": {"token": str},
    "act": {"number": int, "action": str},
    "undo": {"number": int},
    "next": {"number": int},
    "hint": {"number": int},
    "review": {"deal": int},
    "summary": {"deal": int},
    "speed": {"value": str},
}
"""What a browser may say, and what belongs to it."""


def make_app(
    store: Store, hosts: Iterable[str] = ("127.0.0.1", "localhost"), *, any_address: bool = False
) -> Starlette:
    """The application over a store, for a server called by these names."""
    tables = Tables(store)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        tables.close()

    app = Starlette(
        routes=[
            Route("/", _page),
            Route("/table/{table}", _page),
            Route("/replay", _page),
            Route("/api/catalogue", _catalogue),
            Route("/api/tables", _create, methods=["POST"]),
            Route("/api/transcript", _transcript, methods=["POST"]),
            Route("/api/replay", _replay, methods=["POST"]),
            WebSocketRoute("/api/tables/{table}", _socket),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[Middleware(Guard, hosts=tuple(hosts), any_address=any_address)],
        exception_handlers={RefusedError: _refused},
        lifespan=lifespan,
    )
    app.state.tables = tables
    return app


async def _page(_: Request) -> Response:
    return FileResponse(STATIC / "index.html")


async def _catalogue(_: Request) -> Response:
    return JSONResponse(await run_in_threadpool(catalogue))


async def _create(request: Request) -> Response:
    data = await _body(request)
    setup, speed = await run_in_threadpool(read_setup, data)
    name, tokens = request.app.state.tables.create(setup, speed)
    seats = [{"seat": seat, "token": token, "name": setup.seats[seat].name} for seat, token in tokens.items()]
    return JSONResponse({"table": name, "seats": seats}, status_code=201)


async def _transcript(request: Request) -> Response:
    data = await _body(request)
    table, _ = request.app.state.tables.open(_text(data, "table"), _text(data, "token"))
    match = table.session.transcript()
    if match is None:
        raise RefusedError("No deal is finished yet: a transcript holds finished deals.", "illegal")
    name = f"{match['rules']}-{len(match['deals'])}-deals.jsonl"
    return Response(
        json.dumps(match) + "\n",
        media_type="application/x-ndjson",
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )


async def _replay(request: Request) -> Response:
    wanted = {}
    for name in ("match", "deal"):
        text = request.query_params.get(name, "0")
        if not text.isascii() or not text.isdigit() or len(text) > 6:
            raise RefusedError(f"{name} must be a whole number.", "malformed")
        wanted[name] = int(text)
    content = await request.body()
    return JSONResponse(await run_in_threadpool(_frames, content, wanted["match"], wanted["deal"]))


def _frames(content: bytes, match: int, deal: int) -> dict[str, Any]:
    matches = read_matches(content)
    if match >= len(matches):
        raise RefusedError(f"The file has matches 1 to {len(matches)}.", "malformed")
    return {"match": match, "matches": len(matches), **replay_deal(matches[match], deal)}


async def _refused(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, RefusedError)
    status = 403 if problem.code == "forbidden" else 400
    # Half a surrogate pair, quoted from an upload, cannot be sent.
    message = str(problem).encode(errors="replace").decode()
    return JSONResponse({"code": problem.code, "message": message}, status_code=status)


async def _body(request: Request) -> dict[str, Any]:
    # A form of a foreign page could be sent without asking, JSON not.
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise RefusedError("Send JSON, with content-type: application/json.", "malformed")
    try:
        data = json.loads(await request.body())
    except (ValueError, RecursionError) as problem:
        raise RefusedError("This is no JSON.", "malformed") from problem
    if not isinstance(data, dict):
        raise RefusedError("A JSON object is expected.", "malformed")
    return data


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    if not isinstance(value, str) or len(value) > 64:
        raise RefusedError(f"{name} must be a text of at most 64 characters.", "malformed")
    return value


class _Browser:
    """A browser at a seat: messages to it wait in a queue, so that a slow one holds up nobody."""

    def __init__(self, socket: WebSocket, seat: int) -> None:
        self.seat = seat
        self._socket = socket
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()

    def tell(self, message: Mapping[str, Any]) -> None:
        """Queue a message."""
        if self._queue.qsize() < MOST_QUEUED:
            self._queue.put_nowait(json.dumps(message, separators=(",", ":")))
        else:
            self.stop()

    def stop(self) -> None:
        """Send nothing more."""
        self._queue.put_nowait(None)

    async def write(self) -> None:
        """Send what is queued until told to stop."""
        while (text := await self._queue.get()) is not None:
            await self._socket.send_text(text)
        await self._socket.close(4408)


class _Pace:
    """Holds up a browser that says too much."""

    def __init__(self) -> None:
        self._left = float(MOST_A_SECOND)
        self._last = time.monotonic()

    async def wait(self) -> None:
        """Return when another message may be heard."""
        now = time.monotonic()
        self._left = min(float(MOST_A_SECOND), self._left + (now - self._last) * MOST_A_SECOND)
        self._last = now
        if self._left < 1:
            await asyncio.sleep((1 - self._left) / MOST_A_SECOND)
        self._left -= 1


async def _socket(socket: WebSocket) -> None:
    await socket.accept()
    tables: Tables = socket.app.state.tables
    try:
        first = read_message(await asyncio.wait_for(socket.receive_text(), JOIN_SECONDS))
        if first["type"] != "join":
            raise RefusedError("The first message must be join, with the seat's token.", "malformed")
        table, seat = tables.open(socket.path_params["table"], first["token"])
    except RefusedError as problem:
        await socket.send_text(json.dumps(error(str(problem), problem.code)))
        await socket.close(4403)
        return
    except (TimeoutError, KeyError, WebSocketDisconnect):
        with contextlib.suppress(RuntimeError):
            await socket.close(4408)
        return
    browser = _Browser(socket, seat)
    writer = asyncio.create_task(browser.write())
    thinking: set[asyncio.Task[None]] = set()
    table.join(browser)
    pace = _Pace()
    try:
        while True:
            text = await socket.receive_text()
            await pace.wait()
            _hear(text, table, browser, thinking)
    except (WebSocketDisconnect, KeyError):  # KeyError: a message of bytes
        pass
    finally:
        table.leave(browser)
        for task in (*thinking, writer):
            task.cancel()


def _hear(text: str, table: Table, browser: _Browser, thinking: set[asyncio.Task[None]]) -> None:
    """Do what a message asks, or say why not."""
    try:
        message = read_message(text)
        kind = message["type"]
        if kind == "act":
            table.act(browser.seat, message["action"], message["number"])
        elif kind == "undo":
            table.undo(browser.seat, message["number"])
        elif kind == "next":
            table.next_deal(browser.seat, message["number"])
        elif kind == "speed":
            table.set_speed(message["value"])
        elif kind == "summary":
            browser.tell(table.summary(message["deal"]))
        elif kind in ("hint", "review"):
            if thinking:
                raise RefusedError(
                    "One thing after the other: the last question is not answered yet.", "busy"
                )
            task = asyncio.create_task(_answer(message, table, browser))
            thinking.add(task)
            task.add_done_callback(thinking.discard)
        else:
            raise RefusedError("You sit at the table already.", "malformed")
    except RefusedError as problem:
        browser.tell(error(str(problem), problem.code))


async def _answer(message: Mapping[str, Any], table: Table, browser: _Browser) -> None:
    try:
        if message["type"] == "hint":
            browser.tell(await table.hint(browser.seat, message["number"]))
        else:
            browser.tell(await table.review(browser.seat, message["deal"]))
    except RefusedError as problem:
        browser.tell(error(str(problem), problem.code))
    except Exception:  # noqa: BLE001 - the browser waits for an answer, whatever failed
        _log.exception("table %s: %s failed", table.name, message["type"])
        browser.tell(error("This has failed; the server's log says why.", "failed"))


def read_message(text: str) -> dict[str, Any]:
    """A message of a browser, with just the fields of its type; RefusedError otherwise."""
    if len(text) > LONGEST_MESSAGE:
        raise RefusedError(f"A message has at most {LONGEST_MESSAGE} characters.", "malformed")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise RefusedError("This is no JSON.", "malformed") from problem
    kind = message.get("type") if isinstance(message, dict) else None
    if not isinstance(kind, str) or kind not in _FIELDS:
        raise RefusedError(f"type must be one of {', '.join(_FIELDS)}.", "malformed")
    fields = _FIELDS[kind]
    if set(message) != {"type", *fields}:
        raise RefusedError(f"{kind} has the fields {', '.join(fields)}, and no others.", "malformed")
    for name, expected in fields.items():
        if type(message[name]) is not expected:
            raise RefusedError(f"{kind}.{name} must be of type {expected.__name__}.", "malformed")
    return dict(message)
