"""Runs an outsider's callable for an evaluation: `python -m training.evaluation.host module:function`.

The callable is `function(observation, mask)` or `function(observation, mask, info)` and returns an action's id or name;
a class is instantiated first, and its object called. What it prints goes to standard error.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from queue import SimpleQueue
from typing import IO, Any

import numpy as np


def load(name: str) -> Callable[..., Any]:
    """What `module:function` names, an object of it where it is a class; ValueError if it cannot be called."""
    module, _, path = name.partition(":")
    found: Any = reduce(getattr, path.split("."), importlib.import_module(module))
    made: Any = found() if inspect.isclass(found) else found
    if not callable(made):
        raise ValueError(f"{name} is {made!r}, which cannot be called")
    return made


def wants_info(function: Callable[..., Any]) -> bool:
    """Whether it takes a third argument."""
    try:
        inspect.signature(function).bind(None, None, None)
    except (TypeError, ValueError):
        return False
    return True


def answer(function: Callable[..., Any], message: dict[str, Any], info: dict[str, Any]) -> dict[str, Any]:
    """The answer to an `act` message."""
    observation, mask = (np.array(message[name], np.int8) for name in ("observation", "mask"))
    told = {key: value for key, value in message.items() if key not in ("type", "id", "observation", "mask")}
    given = (observation, mask, {**info, **told}) if wants_info(function) else (observation, mask)
    try:
        action = function(*given)
    except Exception as error:  # noqa: BLE001  # whatever it raises is reported, and forfeits the deal
        return {"id": message["id"], "error": f"{type(error).__name__}: {error}"}
    if isinstance(action, np.integer):
        action = int(action)
    try:
        json.dumps(action)
    except (TypeError, ValueError, RecursionError):
        return {"id": message["id"], "action": {"of type": type(action).__name__}}
    return {"id": message["id"], "action": action}


def serve(function: Callable[..., Any], questions: Iterable[str], answers: IO[str]) -> None:
    """Answer messages line by line until there are no more."""
    info: dict[str, Any] = {}
    for line in questions:
        message = json.loads(line)
        kind = message["type"]
        if kind in ("start", "deal"):
            info |= {key: value for key, value in message.items() if key not in ("type", "protocol")}
        if kind == "start":
            reply = {"ready": True}
        elif kind == "act":
            reply = answer(function, message, info)
        else:
            continue
        answers.write(json.dumps(reply) + "\n")
        answers.flush()


def heard(questions: IO[str]) -> Iterator[str]:
    """Lines as they come; when there are no more the process ends, whatever it is computing."""
    lines: SimpleQueue[str] = SimpleQueue()

    def listen() -> None:
        for line in questions:
            lines.put(line)
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    return iter(lines.get, None)


def main() -> None:
    """Serve on standard input and output."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    questions = heard(sys.stdin)
    serve(load(sys.argv[1]), questions, answers)


if __name__ == "__main__":
    main()
