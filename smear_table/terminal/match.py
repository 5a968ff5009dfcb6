"""A match at this terminal: the session, the file it is kept in, who looks, and the agents of the other seats.

Everything here runs on one thread but `decide`, `advise` and `review`, which only read what they are given and may run
on another.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from pathlib import Path
from typing import Any

from smear_env import Agent
from smear_table.catalogue import GAMES
from smear_table.pace import SPEEDS
from smear_table.players import seated, untrained
from smear_table.session import HUMAN, Event, RefusedError, Session, Setup
from smear_table.store import Store
from smear_table.view import deal_summary, seat_view, table_facts

MOST_LISTED = 12
"""Kept matches that are looked at for a list."""


class Match:
    """One match, new or kept. `viewer` is the seat that is looked from."""

    def __init__(self, store: Store, name: str, session: Session, speed: str) -> None:
        self.name, self.session, self.speed = name, session, speed
        self._store = store
        self._agents: dict[int, Agent] = {}
        people = session.setup.humans
        self.viewer = session.turn if session.turn in people and session.turn is not None else people[0]
        self._looked = len(session.finished) - session.fresh
        """Finished deals whose result has been seen."""
        self.facts = {**table_facts(session), "title": GAMES[session.rules.name][0]}

    @classmethod
    def new(cls, store: Store, setup: Setup, speed: str) -> Match:
        """Lay a table and keep it."""
        name = secrets.token_urlsafe(9)
        session = Session(setup)
        store.add(name, setup, speed, {})
        return cls(store, name, session, speed)

    @classmethod
    def kept(cls, store: Store, name: str) -> Match:
        """A match from the file; RefusedError where it is gone."""
        kept = store.load(name)
        if kept is None:
            raise RefusedError("This match is no longer in the file.", "forbidden")
        return cls(store, name, kept.session, kept.speed)

    @property
    def fresh(self) -> bool:
        """Whether a result waits to be looked at."""
        return self.session.fresh and self._looked < len(self.session.finished)

    @property
    def awaited(self) -> bool:
        """Whether a person is to act."""
        turn = self.session.turn
        return turn is not None and self.session.setup.seats[turn].player == HUMAN and not self.fresh

    @property
    def handing_over(self) -> bool:
        """Whether another person than the one who looks is to act."""
        return self.awaited and self.session.turn != self.viewer

    @property
    def agents_turn(self) -> bool:
        """Whether an agent is to act."""
        return self.session.turn is not None and not self.awaited and not self.fresh

    def view(self) -> dict[str, Any]:
        """What the viewer may see, and what may be asked for."""
        return {
            **seat_view(self.session, self.viewer),
            "fresh": self.fresh,
            "speed": self.speed,
            "hints": self.session.setup.hints,
        }

    def take_seat(self) -> None:
        """The person whose turn it is looks from now on."""
        assert self.session.turn is not None, "a person is to act"
        self.viewer = self.session.turn

    def act(self, action: str) -> None:
        """An action of the viewer; RefusedError says why not."""
        view = self.view()
        if view["fresh"]:
            raise RefusedError("The deal is over: go on to the next one first.", "illegal")
        if action not in view["legal"] and action in view["refusals"]:
            raise RefusedError(view["refusals"][action], "illegal")
        self._keep(self.session.act(self.viewer, action, self.session.number))

    def act_for_agent(self, action: str) -> None:
        """An action that the agent to act has decided on."""
        assert self.session.turn is not None, "an agent is to act"
        self._keep(self.session.act(self.session.turn, action, self.session.number))

    def undo(self) -> None:
        """Take back the viewer's last decision and what followed."""
        if not self.session.setup.practice:
            raise RefusedError("Moves are taken back in practice only.", "forbidden")
        self._keep(self.session.undo(self.viewer, self.session.number))
        self._looked = min(self._looked, len(self.session.finished))

    def next_deal(self) -> None:
        """The result has been looked at."""
        self._looked = len(self.session.finished)

    def set_speed(self, speed: str) -> None:
        """How fast agents play from now on."""
        if speed not in SPEEDS:
            raise RefusedError(f"The speed is one of {', '.join(SPEEDS)}.", "malformed")
        self.speed = speed
        self._store.set_speed(self.name, speed)

    def observe(self) -> tuple[int, dict[str, Any]]:
        """The seat to act and what it sees, for `decide` and `advise`."""
        assert self.session.turn is not None, "the match goes on"
        return self.session.turn, self.session.observe(self.session.turn)

    def decide(self, seat: int, seen: dict[str, Any]) -> str:
        """What the agent in a seat does."""
        if seat not in self._agents:
            setup = self.session.setup
            self._agents[seat] = seated(setup.seats[seat].player, self.session.rules, seat, setup.seed)
        action = self._agents[seat].act(seen["observation"], seen["action_mask"])
        return self.session.rules.action_names[int(action)]

    def check_hint(self) -> None:
        """RefusedError where no hint is given."""
        if not self.session.setup.hints:
            raise RefusedError("At a table of several people there are hints in practice only.", "forbidden")
        if not self.awaited or self.handing_over:
            raise RefusedError("A hint is given when it is your turn.", "turn")

    def advise(self, seen: dict[str, Any]) -> dict[str, Any]:
        """What each action is worth: adviser, options that it was not trained on, and rows of `Advice`."""
        # Numba's search is imported only by who asks for it.
        from smear_table.advice import advise, adviser_of

        rules = self.session.rules
        rows = advise(seen["observation"], seen["action_mask"], rules)
        name = adviser_of(rules).name
        names = rules.action_names
        return {
            "adviser": name,
            "untrained": untrained(name, rules),
            "rows": [(names[row.action], row) for row in rows],
        }

    def played(self, deal: int) -> dict[str, Any]:
        """The match up to a finished deal, from 0, as a transcript for `review`; RefusedError where there is none."""
        self._check_deal(deal)
        match = self.session.transcript()
        assert match is not None, "a deal is finished"
        last = deal == len(match["deals"]) - 1
        return {**match, "deals": match["deals"][: deal + 1], "winner": match["winner"] if last else None}

    def review(self, match: dict[str, Any], seat: int) -> dict[str, Any]:
        """The decisions of a seat in the last deal of what `played` gives."""
        from smear_table.review import review_deal

        return review_deal(match, len(match["deals"]) - 1, seat)

    def summary(self, deal: int) -> dict[str, Any]:
        """A finished deal, from 0, as it lay on the table."""
        self._check_deal(deal)
        return deal_summary(self.session, deal)

    def save(self, path: Path | None = None) -> Path:
        """Write the finished deals as a transcript to a new file; its path. RefusedError where that cannot be."""
        match = self.session.transcript()
        if match is None:
            raise RefusedError("No deal is finished yet: a transcript holds finished deals.", "illegal")
        path = path or Path(f"{match['rules']}-{len(match['deals'])}-deals.jsonl")
        try:
            with path.expanduser().open("x", encoding="utf-8") as file:
                file.write(json.dumps(match) + "\n")
        except FileExistsError as problem:
            raise RefusedError(f"{path} is there already: name another file.", "forbidden") from problem
        except OSError as problem:
            raise RefusedError(f"{path} cannot be written: {problem.strerror}.", "forbidden") from problem
        return path

    def _check_deal(self, deal: int) -> None:
        if not 0 <= deal < len(self.session.finished):
            count = len(self.session.finished)
            raise RefusedError(f"Finished deals so far: {count}.", "malformed")

    def _keep(self, event: Event) -> None:
        """Write down what has been applied. What cannot be kept is not done."""
        try:
            self._store.append(self.name, self.session.number - 1, event)
        except sqlite3.Error as problem:
            kept = self._store.load(self.name)
            assert kept is not None, "the match was kept"
            self.session = kept.session
            self._looked = min(self._looked, len(self.session.finished))
            if isinstance(problem, sqlite3.IntegrityError):
                raise RefusedError(
                    "This match is played somewhere else too; here is how it stands now.", "stale"
                ) from problem
            raise RefusedError(f"The file of matches cannot be written: {problem}.", "forbidden") from problem


def unfinished(store: Store) -> list[tuple[str, str, float]]:
    """(name, what it is, time it was laid) of matches that can go on, the latest first."""
    found = []
    for name, created in store.without_tokens(MOST_LISTED):
        try:
            kept = store.load(name)
        except ValueError:
            # Of a game or a player's rules that are no longer there.
            continue
        if kept is not None and not kept.session.over:
            session = kept.session
            title = GAMES[session.rules.name][0]
            scores = " : ".join(map(str, session.env.scores))
            found.append((name, f"{title}, deal {len(session.finished) + 1}, {scores}", created))
    return found
