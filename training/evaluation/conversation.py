"""A process that speaks JSON lines, spoken to with a time limit; whatever it does, this side goes on.

Threads read what it says, since a pipe cannot be waited for with a limit on every platform. They end with the
conversation, even where a child that the process left behind still holds its pipes.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing.connection import wait
from selectors import EVENT_WRITE, DefaultSelector
from typing import IO, Any
from weakref import WeakSet

from training.evaluation.plays import ForfeitError

LONGEST_LINE = 1 << 16
"""Bytes of an answer; a longer one is garbage, and nothing behind it is read."""
WAITING_LINES = 16
"""Lines kept of a process that speaks unasked, before it has to wait."""
TOLD = 300
"""Characters that a report quotes."""
LOOK_SECONDS = 0.2
"""How often readers look whether the conversation is over."""
LAST_WORDS_SECONDS = 3.0
"""How long a process that has closed its pipes may take to end and to be heard out."""
WAITS = os.name != "nt"
"""Whether the platform lets us wait for a pipe."""

_going_on: WeakSet[Conversation] = WeakSet()


class Conversation:
    """One process: started, asked line by line, ended; ForfeitError says what it did wrong."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self._lines: queue.Queue[bytes | None] = queue.Queue(WAITING_LINES)
        self._errors: deque[bytes] = deque(maxlen=20)
        self._over = threading.Event()
        try:
            # A session of its own: an interrupt of ours is not its, and its own children end with it.
            self._process = subprocess.Popen(
                command,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=None if environment is None else dict(environment),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise ForfeitError("start", str(error)) from error
        _going_on.add(self)
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        self._questions = stdin
        if WAITS:
            os.set_blocking(stdin.fileno(), False)
        self._readers = [
            threading.Thread(target=self._read, args=(pipe, keep), daemon=True)
            for pipe, keep in ((stdout, self._keep_line), (stderr, self._keep_error))
        ]
        for reader in self._readers:
            reader.start()

    @property
    def quiet(self) -> bool:
        """Whether it has said nothing that was not asked for, and has not ended."""
        return self._lines.empty() and self._process.poll() is None

    def tell(self, message: Mapping[str, Any], limit: float) -> None:
        """Send a message that wants no answer, and that the process must take within `limit` seconds."""
        left = memoryview(json.dumps(message).encode() + b"\n")
        until = time.monotonic() + limit
        try:
            while left:
                # None: the pipe is full, for the process does not read.
                sent = self._questions.write(left)
                left = left[sent or 0 :]
                if not sent and not _writable(self._questions, until - time.monotonic()):
                    raise ForfeitError("silence", f"did not read its messages within {limit:g} seconds")
        except (OSError, ValueError) as error:
            raise ForfeitError("death", self._last_words()) from error

    def ask(self, message: Mapping[str, Any], limit: float) -> dict[str, Any]:
        """Its answer, a JSON object, within `limit` seconds."""
        with contextlib.suppress(queue.Empty):
            unasked = self._lines.get_nowait()
            if unasked is None:
                raise ForfeitError("death", self._last_words())
            raise ForfeitError("garbage", f"spoke unasked: {_shown(unasked)}")
        self.tell(message, limit)
        try:
            line = self._lines.get(timeout=limit)
        except queue.Empty:
            raise ForfeitError("silence", f"no answer within {limit:g} seconds") from None
        if line is None:
            raise ForfeitError("death", self._last_words())
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            raise ForfeitError("garbage", f"no JSON: {_shown(line)}") from None
        if not isinstance(answer, dict):
            raise ForfeitError("garbage", f"no JSON object: {_shown(line)}")
        return answer

    def end(self) -> None:
        """End the process and what it has started."""
        self._over.set()
        _going_on.discard(self)
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        with contextlib.suppress(OSError):
            self._questions.close()
        self._process.wait()

    def _read(self, pipe: IO[bytes], keep: Callable[[bytes | None], None]) -> None:
        """Hand on every line, then None."""
        with contextlib.suppress(ValueError, OSError), pipe:
            for line in _lines_of(self._chunks(pipe)):
                keep(line)
                if len(line) > LONGEST_LINE:
                    break
        keep(None)

    def _chunks(self, pipe: IO[bytes]) -> Iterator[bytes]:
        while not self._over.is_set():
            if not WAITS or wait([pipe.fileno()], LOOK_SECONDS):
                chunk = os.read(pipe.fileno(), LONGEST_LINE)
                if not chunk:
                    return
                yield chunk

    def _keep_line(self, line: bytes | None) -> None:
        while not self._over.is_set():
            with contextlib.suppress(queue.Full):
                self._lines.put(line, timeout=LOOK_SECONDS)
                return

    def _keep_error(self, line: bytes | None) -> None:
        if line is not None:
            self._errors.append(line[:TOLD] + b"\n")

    def _last_words(self) -> str:
        try:
            code: Any = self._process.wait(LAST_WORDS_SECONDS)
            # What it said last may still be on its way; a child of its own may hold the pipe open for ever.
            self._readers[-1].join(LAST_WORDS_SECONDS)
        except subprocess.TimeoutExpired:
            code = "none: it only closed its pipes"
        said = b"".join(self._errors).decode(errors="replace").strip()
        return f"exit code {code}{': ' if said else ''}{said[-TOLD:]}"


def end_all() -> None:
    """End every process spoken to, as before an exit that cleans up nothing."""
    for conversation in list(_going_on):
        conversation.end()


atexit.register(end_all)


def _lines_of(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Lines without their ends; one that grows beyond LONGEST_LINE is handed on as far as it is known."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
        if len(rest) > LONGEST_LINE:
            yield rest
            return
    if rest:
        yield rest


def _writable(pipe: IO[bytes], seconds: float) -> bool:
    """Whether a pipe takes something within so many seconds."""
    with DefaultSelector() as selector:
        selector.register(pipe, EVENT_WRITE)
        return bool(seconds > 0 and selector.select(seconds))


def _shown(line: bytes) -> str:
    return repr(line[:TOLD].decode(errors="replace"))
