"""Plain mode: a match as lines, for pipes and screen readers.

Every event is one line of words; what can be chosen is numbered; everything else is asked for by a word. Input that
ends is a polite way to leave: the match is in its file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from smear_table.order import SUIT_NAMES, card_text
from smear_table.pace import SPEEDS
from smear_table.session import RefusedError
from smear_table.store import Store
from smear_table.terminal import reports
from smear_table.terminal.arguments import Play, asked_setup, replay_content
from smear_table.terminal.match import Match, unfinished
from smear_table.terminal.plain_lobby import choose_table
from smear_table.terminal.plain_replay import replay
from smear_table.terminal.talk import EndedError, Talk
from smear_table.words import View, action_text, opening, prompt, stops, tell

HELP = (
    "Choose by number, or by name: a card as AS, 10H or JK, a bid as 3, a suit as hearts, pass.",
    "hint: what each choice is worth. undo: take back your last move, in practice.",
    "hand, trick, last, auction, points, score, seats: what is on the table. sheet: the deals so far.",
    "review N: your decisions in a finished deal, by default the last. deal N: its result. tricks N: its tricks.",
    "save FILE: the finished deals as a transcript. replay FILE: look at one, this match's without a name.",
    "speed WORD: how fast agents play on the full screen. new: another match. help: these words. quit: leave.",
)
_SUITS = {name: suit for suit, name in SUIT_NAMES.items()}


class LeaveError(Exception):
    """The person leaves this match."""


class Plain:
    """Plays matches over two streams of text."""

    def __init__(self, store: Store, source: TextIO, out: TextIO) -> None:
        self._store = store
        self._talk = Talk(source, out)
        self._match: Match | None = None

    def run(self, chosen: Play) -> int:
        """Play until the input ends or the person leaves; the exit status. ValueError for bad choices."""
        try:
            if chosen.replay is not None:
                replay(self._talk, replay_content(chosen.replay))
                return 0
            match: Match | None = self._first(chosen)
            while match is not None:
                self._match = match
                match = self._play(match)
        except EndedError:
            if self._match is not None:
                self._talk.say("The input has ended. The match is kept: --resume goes on with it.")
        except KeyboardInterrupt:
            self._talk.say("Interrupted. The match is kept: --resume goes on with it.")
            return 130
        return 0

    def _first(self, chosen: Play) -> Match:
        if chosen.resume:
            kept = unfinished(self._store)
            if not kept:
                raise ValueError(f"resume: {chosen.tables} holds no match that can go on")
            return Match.kept(self._store, kept[0][0])
        if chosen.rules:
            return Match.new(self._store, *asked_setup(chosen))
        return self._lobby(chosen)

    def _lobby(self, chosen: Play = Play()) -> Match:  # noqa: B008 - frozen
        wanted = choose_table(self._talk, unfinished(self._store), chosen)
        if isinstance(wanted, str):
            return Match.kept(self._store, wanted)
        return Match.new(self._store, *wanted)

    def _play(self, match: Match) -> Match | None:
        """Play a match until the person leaves it; the one to play next."""
        self._talk.say(f"{match.facts['title']}, to {match.facts['target']}.")
        self._talk.lines(reports.seats_lines(match.facts, match.view()))
        self._talk.say("Type a number or a name; help lists the words.")
        self._stand(match)
        try:
            while True:
                self._go_on(match)
        except LeaveError as left:
            if str(left) == "new":
                return self._lobby()
            if not match.session.over:
                self._talk.say("The match is kept: --resume goes on with it.")
        return None

    def _go_on(self, match: Match) -> None:
        """Whatever comes next in a match; LeaveError when the person leaves."""
        if match.fresh:
            self._result(match)
        elif match.session.over:
            self._over(match)
        elif match.agents_turn:
            try:
                self._tell(match, lambda: match.act_for_agent(match.decide(*match.observe())))
            except RefusedError as problem:
                self._talk.say(str(problem))
                if problem.code != "stale":
                    raise LeaveError from problem
                self._stand(match)
        else:
            if match.handing_over:
                self._hand_over(match)
            self._turn(match)

    def _turn(self, match: Match) -> None:
        """Ask the viewer until something is done."""
        view = match.view()
        choices = numbered(view)
        self._talk.say(prompt(match.facts, view))
        for number, action in choices.items():
            text = stops(view) if action == "pass" else action_text(action)
            self._talk.say(f"  {number}  {text}")
        barred = [card_text(card) for card in view["refusals"] if card in view["hand"]]
        if barred:
            self._talk.say(f"  Not allowed: {', '.join(barred)}.")
        number_before = match.session.number
        while match.session.number == number_before:
            words = self._talk.hear()
            named = understood(words, view, choices)
            if named is not None:
                self._try(partial(self._tell, match, partial(match.act, named)))
            elif words:
                self._word(match, words)

    def _hand_over(self, match: Match) -> None:
        turn = match.session.turn
        self._talk.say(f"Hand over to {match.facts['seats'][turn]['name']}, who presses Enter.")
        self._talk.hear()
        match.take_seat()
        self._stand(match)

    def _stand(self, match: Match) -> None:
        """How things stand, from the start or on coming back."""
        view = match.view()
        if view["over"] or view["fresh"]:
            return
        self._talk.lines(opening(match.facts, view))
        if view["bids"]:
            self._talk.lines(reports.auction_lines(match.facts, view))
        if view["trick"]:
            self._talk.lines(reports.trick_lines(match.facts, view))

    def _result(self, match: Match) -> None:
        """Show what a deal gave, until the person goes on."""
        view = match.view()
        self._talk.lines(reports.result_lines(match.facts, view, view["result"]))
        if match.session.over:
            match.next_deal()
            return
        self._talk.say("Enter goes on to the next deal; review looks at your decisions.")
        number = match.session.number
        while match.fresh and match.session.number == number:
            words = self._talk.hear()
            if not words or words[0].lower() in ("next", "n"):
                match.next_deal()
                self._stand(match)
            else:
                self._word(match, words)

    def _over(self, match: Match) -> None:
        """After the match everything can be looked at still, until the last move is taken back."""
        self._talk.say("review, sheet, save and replay still work; new plays another match, quit leaves.")
        while match.session.over:
            words = self._talk.hear()
            if words:
                self._word(match, words)

    def _tell(self, match: Match, happen: Callable[[], None]) -> None:
        """Let an event happen and say what it was."""
        before = match.view()
        happen()
        self._talk.lines(tell(match.facts, before, match.view()))

    def _try(self, what: Callable[[], Any]) -> Any:
        """Do something, or say why it is refused."""
        try:
            return what()
        except RefusedError as problem:
            self._talk.say(str(problem))
            return None

    def _word(self, match: Match, words: Sequence[str]) -> None:
        """Do what a word asks."""
        word, rest = words[0].lower(), " ".join(words[1:])
        facts, view = match.facts, match.view()
        shows: dict[str, Callable[[], list[str]]] = {
            "hand": lambda: reports.hand_lines(view),
            "trick": lambda: reports.trick_lines(facts, view),
            "last": lambda: reports.last_lines(facts, view),
            "auction": lambda: reports.auction_lines(facts, view),
            "points": lambda: reports.points_lines(facts, view),
            "score": lambda: reports.score_lines(facts, view),
            "seats": lambda: reports.seats_lines(facts, view),
            "sheet": lambda: reports.sheet_lines(facts, view),
            "help": lambda: list(HELP),
            "hint": lambda: self._hint(match),
            "review": lambda: self._review(match, rest),
            "deal": lambda: reports.result_lines(facts, view, match.summary(which_deal(match, rest))),
            "tricks": lambda: reports.tricks_lines(facts, view, match.summary(which_deal(match, rest))),
            "save": lambda: [f"Saved as {match.save(as_path(rest))}."],
            "speed": lambda: self._speed(match, rest),
        }
        if word in ("quit", "q", "exit", "new"):
            raise LeaveError("new" if word == "new" else "")
        if word in ("undo", "u"):
            self._try(lambda: self._undo(match))
        elif word == "replay":
            self._try(lambda: self._replay(match, rest))
        elif word in ("?", "h") or word in shows:
            lines = self._try(shows[{"?": "help", "h": "hint"}.get(word, word)])
            self._talk.lines(lines or [])
        else:
            self._talk.say(f"{words[0][:20]!r} is no choice now; help lists the words.")

    def _hint(self, match: Match) -> list[str]:
        match.check_hint()
        self._talk.say("Thinking ...")
        return reports.hint_lines(match.advise(match.observe()[1]))

    def _review(self, match: Match, rest: str) -> list[str]:
        played = match.played(which_deal(match, rest))
        self._talk.say("Looking the deal over ...")
        return reports.review_lines(match.review(played, match.viewer))

    def _speed(self, match: Match, rest: str) -> list[str]:
        if not rest:
            return [f"The speed is {match.speed}, of {', '.join(SPEEDS)}."]
        match.set_speed(rest.lower())
        return [f"Agents play {match.speed} on the full screen."]

    def _undo(self, match: Match) -> None:
        match.undo()
        self._talk.say("Taken back.")
        self._stand(match)

    def _replay(self, match: Match, rest: str) -> None:
        path = as_path(rest)
        if path is not None:
            try:
                replay(self._talk, path.read_bytes())
            except OSError as problem:
                raise RefusedError(f"{path} cannot be read: {problem.strerror}.", "malformed") from problem
        else:
            played = match.played(len(match.session.finished) - 1)
            replay(self._talk, json.dumps(played).encode())
        self._talk.say(prompt(match.facts, match.view()))


def numbered(view: View) -> dict[str, str]:
    """What may be done, by what is typed for it: a bid by its points, passing as 0, the rest counted from 1."""
    legal = view["legal"]
    if view["phase"] == "bid":
        return {"0" if action == "pass" else action: action for action in legal}
    stop = {"0": "pass"} if "pass" in legal else {}
    order = [card for card in view["hand"] if card in legal] or [
        action for action in legal if action != "pass"
    ]
    return {str(number): action for number, action in enumerate(order, 1)} | stop


def understood(words: Sequence[str], view: View, choices: Mapping[str, str]) -> str | None:
    """The action that words name, allowed or not; None where they name none."""
    text = " ".join(words).lower()
    if text in choices:
        return choices[text]
    known = {*choices.values(), *view["refusals"]}
    names = {action_text(action): action for action in known} | {action.lower(): action for action in known}
    names |= {"p": "pass", "stop": "pass", "done": "pass", "keep": "pass"} if "pass" in known else {}
    if view["phase"] == "name":
        names |= {name: f"trump:{suit}" for name, suit in _SUITS.items() if f"trump:{suit}" in known}
    return names.get(re.sub(r"^10([cdhs])$", r"t\1", text))


def which_deal(match: Match, text: str) -> int:
    """The finished deal that a number names, from 0, by default the last; RefusedError for what is no number."""
    if not text:
        return len(match.session.finished) - 1
    if not text.isdecimal():
        raise RefusedError("A deal is named by its number.", "malformed")
    return int(text) - 1


def as_path(text: str) -> Path | None:
    """The file that a text names, None for no text."""
    return Path(text).expanduser() if text else None
