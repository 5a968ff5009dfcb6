"""One match at a table as plain data and its rules: a setup, a seed and numbered events. No web, no clock, no chance.

Everything that happens is an event, an action or an undo, and has a number. Whoever wants to change something names the
number he has seen last; another number is refused, so that a message that comes late or twice changes nothing. The
same setup and events give the same session, which is how one comes back after a restart.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from smear_env import PHASE_NAMES, Rules, make_rules, observation_layout, pieces, raw_env, state_layout

HUMAN = "human"
MOST_DEALS = 100
"""A match is cut off after so many deals, those passed out included."""
LONGEST_NAME = 32

Speed = Literal["slow", "normal", "fast", "instant"]


class RefusedError(ValueError):
    """What a table does not accept, in words for the person who asked; nothing has changed.

    Args:
        message: what is wrong, with the remedy.
        code: `stale`, `turn`, `illegal`, `forbidden`, or `malformed`, for programs.
    """

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Seat:
    """Who sits in a seat."""

    player: str
    """HUMAN or the name of an agent."""
    name: str
    """What others at the table read."""


@dataclass(frozen=True)
class Setup:
    """All that a match is made of, besides what is done in it."""

    game: str
    """A preset."""
    options: Mapping[str, Any]
    """Fields of its `Rules` that differ."""
    seats: tuple[Seat, ...]
    seed: int
    """Of the deals, 0 to 2**64-1; never shown to anybody."""
    practice: bool = False
    """Moves may be taken back."""

    @property
    def rules(self) -> Rules:
        """The rules; ValueError names an option that is wrong."""
        return make_rules(self.game, **self.options)

    @property
    def humans(self) -> tuple[int, ...]:
        """Seats of people."""
        return tuple(index for index, seat in enumerate(self.seats) if seat.player == HUMAN)

    @property
    def hints(self) -> bool:
        """Whether hints are given: to who plays alone with agents, and in practice."""
        return self.practice or len(self.humans) == 1

    def as_json(self) -> dict[str, Any]:
        """What `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Setup:
        """The setup that `as_json` wrote."""
        return cls(**{**data, "seats": tuple(Seat(**seat) for seat in data["seats"])})


@dataclass(frozen=True)
class Event:
    """One change of a session."""

    kind: Literal["act", "undo"]
    seat: int
    """Who acted, or asked."""
    value: str
    """The action's name, or for an undo how many actions are left."""


class Session:
    """A match as it stands.

    Raises `ValueError` for a setup that makes no sense, `RefusedError` for events that do not fit it.
    """

    def __init__(self, setup: Setup, events: Iterable[Event] = ()) -> None:
        self.setup = setup
        self.rules = setup.rules
        if len(setup.seats) != self.rules.players:
            raise ValueError(f"{len(setup.seats)} seats given, {self.rules.name} has {self.rules.players}")
        self.names = self.rules.action_names
        """Name of each action id."""
        self.ids = {name: action for action, name in enumerate(self.names)}
        self.number = 0
        """Events so far."""
        self._layout = observation_layout(self.rules)
        self._start()
        for event in events:
            self.apply(event)

    def _start(self) -> None:
        self.env = raw_env(self.rules, illegal="raise", max_deals=MOST_DEALS)
        self.env.reset(seed=self.setup.seed)
        self.actions: list[tuple[int, str]] = []
        """(seat, action) of the whole match, what was undone left out."""
        self.finished: list[dict[str, Any]] = []
        """Finished deals as transcripts have them."""
        self.said: list[tuple[int, str, str]] = []
        """(seat, phase, action) of this deal."""
        self._dealt = self._cards()

    @property
    def over(self) -> bool:
        """Whether the match has ended, won or cut off."""
        return any(self.env.terminations.values()) or any(self.env.truncations.values())

    @property
    def turn(self) -> int | None:
        """The seat to act."""
        return None if self.over else self.env.possible_agents.index(self.env.agent_selection)

    @property
    def winner(self) -> int | None:
        """The team that has won."""
        winner: int | None = self.env.winner
        return winner

    @property
    def fresh(self) -> bool:
        """Whether a deal has just ended and nothing is done yet in the next."""
        return bool(self.finished) and not self.said

    def observe(self, seat: int) -> dict[str, Any]:
        """`observation` [d] int8 and `action_mask` [n] int8 of a seat."""
        seen: dict[str, Any] = self.env.observe(f"seat_{seat}")
        return seen

    def legal(self) -> list[str]:
        """What the seat to act may do, in the order of action ids."""
        if self.turn is None:
            return []
        mask = self.observe(self.turn)["action_mask"]
        return [self.names[action] for action in np.flatnonzero(mask)]

    def act(self, seat: int, action: str, number: int) -> Event:
        """Take an action for a seat that has seen event `number` last."""
        self._check_number(number)
        if self.turn != seat:
            whose = "the match is over" if self.turn is None else f"seat {self.turn} is to act"
            raise RefusedError(f"It is not your turn: {whose}.", "turn")
        if action not in self.ids:
            raise RefusedError(f"{action[:20]!r} is no action of this game.", "illegal")
        if action not in self.legal():
            raise RefusedError(f"{action} is not allowed now.", "illegal")
        event = Event("act", seat, action)
        self.apply(event)
        return event

    def undo(self, seat: int, number: int) -> Event:
        """Take back everything from the seat's last decision on."""
        self._check_number(number)
        left = self.undo_to(seat)
        if left is None:
            raise RefusedError("There is nothing to take back.", "illegal")
        event = Event("undo", seat, str(left))
        self.apply(event)
        return event

    def undo_to(self, seat: int) -> int | None:
        """How many actions an undo would leave; None where it is not possible."""
        if not self.setup.practice or len(self.setup.humans) != 1:
            return None
        own = [index for index, (who, _) in enumerate(self.actions) if who == seat]
        return own[-1] if own else None

    def apply(self, event: Event) -> None:
        """Make an event happen; RefusedError where it cannot."""
        if event.kind == "undo":
            self._rewind(int(event.value))
        else:
            if event.seat != self.turn or event.value not in self.legal():
                raise RefusedError(f"seat {event.seat} cannot do {event.value!r} here", "illegal")
            self._step(event.seat, event.value)
        self.number += 1

    def transcript(self) -> dict[str, Any] | None:
        """The finished deals in the format `smear-transcript/1`; None before the first."""
        if not self.finished:
            return None
        return {
            "format": "smear-transcript/1",
            "rules": self.rules.name,
            "options": self.rules.options(),
            "deals": self.finished,
            "winner": self.winner,
        }

    def deal_so_far(self) -> dict[str, Any]:
        """The deal under way in transcript form, as far as it has come; of a new one the cards."""
        return {**self._dealt, "actions": [[seat, action] for seat, _, action in self.said]}

    def _check_number(self, number: int) -> None:
        if number != self.number:
            raise RefusedError(
                f"The table has moved on: this answers event {number}, the last one is {self.number}.",
                "stale",
            )

    def _rewind(self, left: int) -> None:
        kept = self.actions[:left]
        self._start()
        for seat, action in kept:
            self._step(seat, action)

    def _step(self, seat: int, action: str) -> None:
        self.said.append((seat, self._phase(), action))
        self.actions.append((seat, action))
        self.env.step(self.ids[action])
        if self.over or not self._view()[self._layout["bids"].slice].any():
            self._finish_deal()

    def _finish_deal(self) -> None:
        actions = [[seat, action] for seat, _, action in self.said]
        result = {name: value for name, value in (self.env.deal_result() or {}).items() if name != "dealer"}
        self.finished.append({**self._dealt, "actions": actions, **result})
        self.said = []
        if not self.over:
            self._dealt = self._cards()

    def _view(self) -> Any:
        return self.env.observe(self.env.agent_selection)["observation"]

    def _phase(self) -> str:
        return PHASE_NAMES[int(np.argmax(self._view()[self._layout["phase"].slice]))]

    def _cards(self) -> dict[str, Any]:
        """`dealer`, `hands` and `stock` of a transcript, just after the deal."""
        names = self.rules.card_names
        full = pieces(self.env.state(), state_layout(self.rules))
        stock = sorted(np.flatnonzero(full["stock"]), key=lambda card: int(full["stock"][card]))
        return {
            "dealer": int(full["dealer"].argmax()),
            "hands": [" ".join(names[card] for card in np.flatnonzero(hand)) for hand in full["hand"]],
            "stock": " ".join(names[card] for card in stock),
        }


def clean_name(text: object, otherwise: str) -> str:
    """A name as others may read it: printable, on one line, not too long; RefusedError for what is no text."""
    if not isinstance(text, str) or len(text) > 10 * LONGEST_NAME:
        raise RefusedError(f"A name is a text of at most {LONGEST_NAME} characters.", "malformed")
    kept = "".join(c for c in text if unicodedata.category(c)[0] not in "CZ" or c == " ")
    return " ".join(kept.split())[:LONGEST_NAME] or otherwise
