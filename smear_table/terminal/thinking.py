"""What takes long runs in a thread of its own, so that the screen goes on, and nobody waits for it on leaving."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any, TypeVar

_Result = TypeVar("_Result")
_running: set[threading.Thread] = set()


async def think(function: Callable[..., _Result], *arguments: Any) -> _Result:
    """The function's result; whoever awaits it can be cancelled, the thread then ends unheard."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[_Result] = loop.create_future()

    def settle(result: _Result | None, problem: BaseException | None) -> None:
        if future.cancelled():
            return
        if problem is not None:
            future.set_exception(problem)
        else:
            future.set_result(result)  # type: ignore[arg-type]  # a result where there is no problem

    def run() -> None:
        result, problem = None, None
        try:
            result = function(*arguments)
        except Exception as raised:  # noqa: BLE001 - raised again where it is awaited
            problem = raised
        finally:
            _running.discard(threading.current_thread())
        # The loop is closed when the person has left meanwhile.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, result, problem)

    thread = threading.Thread(target=run, daemon=True, name=f"thinking: {getattr(function, '__name__', '')}")
    _running.add(thread)
    thread.start()
    return await future


def still_thinking() -> bool:
    """Whether a thread runs whose result nobody waits for any more."""
    return bool(_running)
