"""A process that speaks JSON lines, spoken to with a time limit; whatever it does, this side goes on.

Threads read what it says, since a pipe cannot be waited for with a limit on every platform.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import IO, Any

from training.evaluation.plays import ForfeitError

LONGEST_LINE = 1 << 20
"""Bytes of an answer; a longer one is garbage."""
WAITING_LINES = 16
"""Lines kept of a process that speaks unasked, before it has to wait."""
TOLD = 300
"""Characters that a report quotes."""


class Conversation:
    """One process: started, asked line by line, ended; ForfeitError says what it did wrong."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self._lines: queue.Queue[bytes | None] = queue.Queue(WAITING_LINES)
        self._errors: deque[bytes] = deque(maxlen=20)
        try:
            # A session of its own: an interrupt of ours is not its, and its own children end with it.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=None if environment is None else dict(environment),
                start_new_session=True,
            )
        except OSError as error:
            raise ForfeitError("start", str(error)) from error
        for pipe, reader in (
            (self._process.stdout, self._read_lines),
            (self._process.stderr, self._read_errors),
        ):
            threading.Thread(target=reader, args=(pipe,), daemon=True).start()

    @property
    def quiet(self) -> bool:
        """Whether it has said nothing that was not asked for, and has not ended."""
        return self._lines.empty() and self._process.poll() is None

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send a message that wants no answer."""
        pipe = self._process.stdin
        assert pipe is not None
        try:
            pipe.write(json.dumps(message).encode() + b"\n")
            pipe.flush()
        except OSError as error:
            raise ForfeitError("death", self._last_words()) from error

    def ask(self, message: Mapping[str, Any], limit: float) -> dict[str, Any]:
        """Its answer, a JSON object, within `limit` seconds."""
        with contextlib.suppress(queue.Empty):
            unasked = self._lines.get_nowait()
            if unasked is None:
                raise ForfeitError("death", self._last_words())
            raise ForfeitError("garbage", f"spoke unasked: {_shown(unasked)}")
        self.tell(message)
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
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()

    def _read_lines(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(ValueError, OSError), pipe:
            while line := pipe.readline(LONGEST_LINE):
                self._lines.put(line)
        self._lines.put(None)

    def _read_errors(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(ValueError, OSError), pipe:
            while line := pipe.readline(LONGEST_LINE):
                self._errors.append(line[:TOLD])

    def _last_words(self) -> str:
        try:
            code: Any = self._process.wait(1)
        except subprocess.TimeoutExpired:
            code = "none: it only closed its output"
        said = b"".join(self._errors).decode(errors="replace").strip()
        return f"exit code {code}{': ' if said else ''}{said[-TOLD:]}"


def _shown(line: bytes) -> str:
    return repr(line[:TOLD].decode(errors="replace"))
