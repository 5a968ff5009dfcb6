"""What is opened over a table: results, tricks, reviews, the score sheet, the keys, and files to write."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from textual import work
from textual.screen import Screen
from textual.widgets import Static

from smear_table.session import RefusedError
from smear_table.terminal import panels
from smear_table.terminal.match import Match
from smear_table.terminal.sheets import CLOSE, Ask, Choice, Sheet
from smear_table.terminal.thinking import think
from smear_table.view import at_end
from smear_table.words import headline

if TYPE_CHECKING:
    from smear_table.terminal.app import SmearApp

PATIENCE = 4.0
"""Seconds after which a person is told why the first hint takes so long."""
HELP = """\
Arrows, Enter  choose a card or a call; the mouse does too
0-9            a bid; for cards, the first to the ninth
P              pass, or stop exchanging
S H C D        name trump, when that is asked
H or I         a hint: what each choice is worth
U              take back your last move, in practice
L              the last deal's result, tricks and review
G              the score sheet, with every deal so far
W              write the finished deals to a file
V              view this match's deals in the replay
+ -            agents play faster or slower
T              dark or light
Space          points, auction and last trick, where they find no room
Q              leave the table; the match is kept
Ctrl-C         leave altogether

Framed cards are allowed; a card without a frame is not, and says why when chosen.
* is the hint's advice, + a card drawn, (D) the dealer, = your partner, ▶ is to act."""


class OpenedScreen(Screen[None]):
    """A match, and everything about it that is looked at without changing it; `TableScreen` is the table itself."""

    def __init__(self, match: Match) -> None:
        super().__init__()
        self.match = match
        self._hint: dict[str, Any] | None = None
        self._hinted = -1
        """Number of the event that the hint was given at."""
        self._why = ""
        self._asking = False

    @property
    def _app(self) -> SmearApp:
        return cast("SmearApp", self.app)

    def action_next(self) -> None:
        """On to the next deal."""
        raise NotImplementedError

    def action_leave(self) -> None:
        """Back to the lobby; the match is kept."""
        self.dismiss()

    def say(self, text: str) -> None:
        """A line below the hand."""
        self._why = text
        self.query_one("#why", Static).update(text)

    def _attempt(self, what: Callable[[], Any]) -> bool:
        """Do something, or say why it is refused."""
        try:
            what()
        except RefusedError as problem:
            self.say(str(problem))
            return False
        self._why = ""
        return True

    def _be_patient(self, text: str) -> None:
        if self._asking and self._why == text:
            self.say("The first time takes up to a minute: the search is being compiled ...")

    def _beside(self, view: dict[str, Any], width: int, height: int) -> list[panels.Line]:
        facts = self.match.facts
        blocks = [
            panels.points_block(facts, view, width),
            panels.auction_block(facts, view, width),
            panels.last_block(facts, view, width),
        ]
        if self._hint is not None and self._hinted == view["number"]:
            blocks = [panels.hint_block(self._hint, width, max(height - len(blocks[0]) - 1, 6)), *blocks]
        gap = sum(map(len, blocks)) + len(blocks) - 1 <= height or len(blocks) > 3
        lines: list[panels.Line] = []
        for block in blocks:
            lines += ([[]] if lines and gap else []) + block
        return lines[:height]

    def action_help(self) -> None:
        """The keys."""
        lines: list[panels.Line] = [[(line, "")] for line in HELP.splitlines()]
        self.app.push_screen(Sheet("Keys", lambda _: lines))

    def action_about(self) -> None:
        """What stands beside the felt where there is room."""
        view = self.match.view()
        shown = at_end(view) if (view["fresh"] or view["over"]) and view["result"] else view

        def draw(width: int) -> list[panels.Line]:
            return self._beside(shown, width, 40)

        self.app.push_screen(Sheet("This deal", draw, width=44))

    def action_last(self) -> None:
        """The last finished deal."""
        if self.match.session.finished:
            self.open_result(len(self.match.session.finished) - 1)
        else:
            self.say("No deal is finished yet.")

    def open_result(self, deal: int) -> None:
        """What a finished deal, from 0, has given."""
        match, facts = self.match, self.match.facts
        view, result = match.view(), match.summary(deal)
        newest = deal == len(match.session.finished) - 1
        over = newest and match.session.over
        title = headline(facts, view, result, over=over)
        choices = [Choice("review", "r", "Review"), Choice("tricks", "t", "Tricks"), CLOSE]
        if newest and match.fresh and not over:
            choices = [Choice("next", "n", "Next deal"), *choices]
        if over:
            choices = [*choices[:2], Choice("leave", "q", "New table"), CLOSE]

        def closed(action: str | None) -> None:
            if action == "next":
                self.action_next()
            elif action == "review":
                self.ask_review(deal)
            elif action == "tricks":

                def draw_tricks(width: int) -> list[panels.Line]:
                    return panels.tricks_lines(facts, view, result, width)

                back = (Choice("", "escape", "Back"),)
                self.app.push_screen(Sheet(f"Deal {deal + 1}: tricks", draw_tricks, back, 96), again)
            elif action == "leave":
                self.action_leave()

        def again(_: object) -> None:
            self.open_result(deal)

        def draw(width: int) -> list[panels.Line]:
            return panels.result_lines(facts, view, result, width)

        self.app.push_screen(
            Sheet(title if newest else f"Deal {deal + 1}: {title}", draw, choices, 64), closed
        )

    @work(group="review")
    async def ask_review(self, deal: int) -> None:
        """Look a finished deal over, then show it."""
        if self._asking:
            self.say("One thing after the other: the last question is not answered yet.")
            return
        match = self.match
        words = "Looking the deal over ..."
        self.say(words)
        self._asking = True
        self.set_timer(PATIENCE, lambda: self._be_patient(words))
        try:
            review = await think(match.review, match.played(deal), match.viewer)
        except Exception as problem:  # noqa: BLE001 - the screen stays, whatever failed
            self.say(f"The review has failed: {problem}")
            return
        finally:
            self._asking = False
        self.say("")
        title = f"Your decisions in deal {deal + 1}"
        back = (Choice("", "escape", "Back"),)

        def draw(width: int) -> list[panels.Line]:
            return panels.review_lines(review, width)

        self.app.push_screen(Sheet(title, draw, back, 90), lambda _: self.open_result(deal))

    def action_sheet(self) -> None:
        """The score sheet; a deal opens by its number."""
        view, facts = self.match.view(), self.match.facts
        count = len(view["sheet"])
        choices = [Choice("open", "o", "Open a deal"), CLOSE] if count else [CLOSE]

        def asked(text: str | None) -> None:
            if text and text.isdecimal() and 1 <= int(text) <= count:
                self.open_result(int(text) - 1)

        def closed(action: str | None) -> None:
            if action == "open":
                self.app.push_screen(Ask(f"Which deal, 1 to {count}?", str(count)), asked)

        self.app.push_screen(
            Sheet("Score sheet", lambda w: panels.sheet_lines(facts, view, w), choices, 78), closed
        )

    def action_write(self) -> None:
        """Write the finished deals to a file."""
        match = self.match
        if not match.session.finished:
            self.say("No deal is finished yet: a transcript holds finished deals.")
            return
        name = f"{match.session.rules.name}-{len(match.session.finished)}-deals.jsonl"

        def typed(text: str | None) -> None:
            if text and self._attempt(lambda: match.save(Path(text))):
                self.say(f"Saved as {text}.")

        self.app.push_screen(Ask("Save the transcript as:", name), typed)

    def action_replay(self) -> None:
        """This match's finished deals in the replay."""
        if self._attempt(lambda: self.match.played(len(self.match.session.finished) - 1)):
            played = self.match.played(len(self.match.session.finished) - 1)
            self._app.open_replay(json.dumps(played).encode(), deal=len(played["deals"]) - 1)
