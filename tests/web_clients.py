"""What the tests of the web table share: setups, a player that always has an answer, and a socket that is talked to."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from starlette.testclient import TestClient

from smear_env import make_rules

HOST = "http://127.0.0.1"
CARD = re.compile(r"\b[0-9TJQKABL][CDHSKJ]\b")


def client(app: Any) -> TestClient:
    return TestClient(app, base_url=HOST)


def setup(game: str = "four_point", *, humans: int = 1, agent: str = "greedy", **more: Any) -> dict[str, Any]:
    players = make_rules(game).players
    seats = [{"player": "human" if i < humans else agent, "name": f"P{i}"} for i in range(players)]
    return {"game": game, "options": {}, "seats": seats, "speed": "instant", "practice": True, **more}


def lay(web: TestClient, *args: Any, **more: Any) -> tuple[str, list[str]]:
    """A new table: its name and the tokens of people's seats."""
    answer = web.post("/api/tables", json=setup(*args, **more))
    assert answer.status_code == 201, answer.text
    made = answer.json()
    return made["table"], [seat["token"] for seat in made["seats"]]


class Talk:
    """A browser's side of a socket; every text received is kept in `heard`."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket
        self.heard: list[str] = []
        self.view: dict[str, Any] = {}

    def say(self, **message: Any) -> None:
        self.socket.send_text(json.dumps(message))

    def hear(self) -> dict[str, Any]:
        text = self.socket.receive_text()
        self.heard.append(text)
        message: dict[str, Any] = json.loads(text)
        if message["type"] == "view":
            self.view = message
        return message

    def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while not wanted(message := self.hear()):
            pass
        return message

    def my_turn(self) -> dict[str, Any]:
        """Wait for a view in which something is asked of this seat, or the match is over."""
        if self.view and asked(self.view):
            return self.view
        return self.until(lambda message: message["type"] == "view" and asked(message))

    def answer(self, chance: random.Random) -> None:
        """Do something that is allowed."""
        view = self.view
        if view["fresh"]:
            self.say(type="next", number=view["number"])
            self.until(lambda m: m["type"] == "view" and not m["fresh"])
            return
        legal = view["legal"]
        action = "pass" if "pass" in legal and chance.random() < 0.8 else chance.choice(legal)
        number = view["number"]
        self.say(type="act", number=number, action=action)
        self.until(lambda message: message["type"] == "view" and message["number"] > number)


def asked(view: dict[str, Any]) -> bool:
    if view["over"]:
        return True
    return view["fresh"] or bool(view["legal"])


@contextmanager
def seated(web: TestClient, table: str, token: str, **headers: str) -> Iterator[Talk]:
    with web.websocket_connect(f"ws://127.0.0.1/api/tables/{table}", headers=headers) as socket:
        talk = Talk(socket)
        talk.say(type="join", token=token)
        yield talk
