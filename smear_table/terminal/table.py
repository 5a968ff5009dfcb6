"""A seat at a table: the felt, what stands beside it, and what the person does with the keys and the mouse."""

from __future__ import annotations

import asyncio
import time
from typing import Any, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Footer, Static

from smear_table.pace import SPEEDS, pause
from smear_table.session import RefusedError
from smear_table.terminal import panels
from smear_table.terminal.felt import draw_felt
from smear_table.terminal.hand import advised_by, call_items, hand_items, hand_size
from smear_table.terminal.match import Match
from smear_table.terminal.opened import PATIENCE, OpenedScreen
from smear_table.terminal.sheets import Cover
from smear_table.terminal.thinking import think
from smear_table.terminal.tray import Picture, Tray
from smear_table.view import at_end
from smear_table.words import action_text, headline, prompt, stops

NARROW = 76
"""Below so many columns what stands beside the felt is on a sheet of its own."""


class TableScreen(OpenedScreen):
    """One match, until the person leaves it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("h", "letter('h')", "Hint", key_display="H"),
        Binding("i", "hint", show=False),
        Binding("u", "undo", "Undo", key_display="U"),
        Binding("n", "next", "Next deal", key_display="N"),
        # A narrow terminal cuts off the last ones, which help names too.
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("q", "leave", "Leave", key_display="Q"),
        Binding("l", "last", "Last deal", key_display="L"),
        Binding("g", "sheet", "Scores", key_display="G"),
        Binding("w", "write", "Save", key_display="W"),
        Binding("v", "replay", show=False),
        Binding("p", "call('pass')", show=False),
        *(Binding(key, f"letter('{key}')", show=False) for key in "scd"),
        *(Binding(str(digit), f"digit({digit})", show=False) for digit in range(10)),
        Binding("plus,equals_sign", "speed(1)", show=False),
        Binding("minus", "speed(-1)", show=False),
        Binding("space", "about", show=False),
    ]

    def __init__(self, match: Match) -> None:
        super().__init__(match)
        self._shown = -1
        """Number of the event whose result was opened."""

    def compose(self) -> ComposeResult:
        """The parts of the screen, from top to bottom."""
        yield Static(id="top")
        yield Static(id="scores")
        with Horizontal(id="middle"):
            yield Picture(id="felt")
            yield Picture(id="side")
        with Horizontal(id="ask"):
            yield Static(id="prompt", markup=False)
            yield Tray(id="calls")
        yield Tray(id="hand")
        yield Static(id="why", markup=False)
        yield Footer(compact=True)

    def on_mount(self) -> None:
        """Begin, after a cover where several people play here."""
        self.draw()
        if len(self.match.session.setup.humans) > 1 and self.match.awaited:
            self._hand_over()
        else:
            self.go_on()

    def on_resize(self) -> None:
        """Draw for another size."""
        self.draw()

    # ---- what is shown

    def draw(self) -> None:
        """Draw everything as it stands."""
        match, facts = self.match, self.match.facts
        view = match.view()
        shown = at_end(view) if (view["fresh"] or view["over"]) and view["result"] else view
        width, height = self.app.size
        narrow = width < NARROW
        side = 0 if narrow else max(26, min(40, width // 4))
        self.query_one("#side").display = not narrow
        self.query_one("#side").styles.width = side
        pace = f"   agents play {match.speed}" if width >= 100 else ""
        title = f"{facts['title']}   deal {shown['deal']}{'   practice' if facts['practice'] else ''}{pace}"
        self.query_one("#top", Static).update(panels.content([[(title, "bold")]]))
        self.query_one("#scores", Static).update(panels.content([panels.score_line(facts, view, width - 2)]))
        self._draw_choices(view, width, height)
        viewer = match.viewer
        self.query_one("#felt", Picture).show(lambda w, h: draw_felt(facts, shown, viewer, w, h))
        self.query_one("#side", Picture).show(lambda w, h: panels.content(self._beside(shown, w, h)))

    def _draw_choices(self, view: dict[str, Any], width: int, height: int) -> None:
        current = self._hint if self._hinted == view["number"] else None
        advised = advised_by(current) if view["legal"] else None
        size = hand_size(len(view["hand"]), width - 2, height)
        hand, calls = self.query_one("#hand", Tray), self.query_one("#calls", Tray)
        hand.show(hand_items(view, size, advised))
        calls.show(call_items(self.match.facts, view, advised))
        calls.display = bool(calls.items)
        mine = bool(view["legal"]) and not view["fresh"]
        text = prompt(self.match.facts, view)
        if view["fresh"]:
            text += " N goes on, L shows the result."
        elif view["over"]:
            text = (
                headline(self.match.facts, view, view["result"], over=True)
                + ". Q leaves, L shows the result."
            )
        asks = self.query_one("#prompt", Static)
        asks.update(f"▶ {text}" if mine else f"  {text}")
        asks.set_class(mine, "mine")
        wanted = calls if calls.items and view["phase"] in ("bid", "name") else hand
        if mine and self.focused is not wanted and self.focused in (None, hand, calls):
            wanted.focus()
        self.query_one("#why", Static).update(self._why)

    # ---- what happens

    def go_on(self) -> None:
        """Whatever comes next: a result, another person, or agents."""
        match = self.match
        if (
            match.session.finished
            and (match.fresh or match.session.over)
            and self._shown != match.session.number
        ):
            self._shown = match.session.number
            self.action_last()
        elif match.handing_over:
            self._hand_over()
        elif match.agents_turn:
            self.run_agents()

    @work(exclusive=True, group="agents")
    async def run_agents(self) -> None:
        """Let agents act until a person is asked."""
        match = self.match
        while match.agents_turn:
            number, began = match.session.number, time.monotonic()
            seat, seen = match.observe()
            try:
                action = await think(match.decide, seat, seen)
            except Exception as problem:  # noqa: BLE001 - whatever a player raises, the screen stays
                self.say(f"The player in this seat has failed: {problem}. Q leaves; the match is kept.")
                return
            await asyncio.sleep(max(0.0, pause(match.session, match.speed) - (time.monotonic() - began)))
            if number != match.session.number:
                continue
            try:
                match.act_for_agent(action)
            except RefusedError as problem:
                self.say(str(problem))
                if problem.code != "stale":
                    return
            self.draw()
        self.draw()
        self.go_on()

    def choose(self, action: str) -> None:
        """An action of the person."""
        match = self.match
        if match.fresh or match.session.over:
            self.say("The deal is over: N goes on." if match.fresh else "The match is over.")
        elif not match.awaited or match.handing_over:
            self.say("It is not your turn.")
        elif self._attempt(lambda: match.act(action)):
            self.draw()
            self.go_on()

    def on_tray_chosen(self, chosen: Tray.Chosen) -> None:
        """A card or a call."""
        self.choose(chosen.action)

    def on_tray_pointed(self, pointed: Tray.Pointed) -> None:
        """Say what is under the cursor, and why it is not allowed."""
        view = self.match.view()
        why = view["refusals"].get(pointed.action, "") if view["legal"] else ""
        text = action_text(pointed.action) if pointed.action != "pass" else stops(view)
        self.say(f"{text.capitalize()}. {why}".rstrip())

    def action_call(self, action: str) -> None:
        """A call by its key."""
        if action in self.match.view()["legal"] or self.match.view()["phase"] == "bid":
            self.choose(action)

    def action_digit(self, digit: int) -> None:
        """A bid, or a card's place in the hand."""
        view = self.match.view()
        if view["phase"] == "bid" and view["legal"] and not view["fresh"]:
            self.choose("pass" if digit == 0 else str(digit))
        elif digit:
            hand = self.query_one("#hand", Tray)
            hand.focus()
            hand.point(digit - 1)

    def action_letter(self, letter: str) -> None:
        """A suit where trump is named; otherwise H is a hint."""
        trump = f"trump:{letter.upper()}"
        if trump in self.match.view()["legal"]:
            self.choose(trump)
        elif letter == "h":
            self.action_hint()

    def action_hint(self) -> None:
        """Ask what each action is worth."""
        if self._attempt(self.match.check_hint) and not self._asking:
            self.ask_hint()

    @work(group="hint")
    async def ask_hint(self) -> None:
        """Think about a hint, and show it if it is still wanted."""
        match = self.match
        number = match.session.number
        self.say("Thinking ...")
        self._asking = True
        self.set_timer(PATIENCE, lambda: self._be_patient("Thinking ..."))
        try:
            hint = await think(match.advise, match.observe()[1])
        except Exception as problem:  # noqa: BLE001 - the screen stays, whatever failed
            self.say(f"The hint has failed: {problem}")
            return
        finally:
            self._asking = False
        if number == match.session.number:
            self._hint, self._hinted = hint, number
            self._why = f"{panels.hint_first(hint)} {panels.hint_note(hint)}"
            self.draw()
            if self.app.size.width < NARROW:
                self.action_about()

    def action_undo(self) -> None:
        """Take the last move back."""
        if self._attempt(self.match.undo):
            self._shown = -1
            self.draw()
            self.go_on()

    def action_next(self) -> None:
        """On to the next deal."""
        if self.match.fresh:
            self.match.next_deal()
            self._why = ""
            self.draw()
            self.go_on()

    def action_speed(self, step: int) -> None:
        """Agents play faster or slower."""
        speeds = list(SPEEDS)
        at = max(0, min(len(speeds) - 1, speeds.index(self.match.speed) + step))
        self.match.set_speed(speeds[at])
        self.draw()
        self.say(f"Agents play {speeds[at]}.")

    def _hand_over(self) -> None:
        turn = self.match.session.turn
        name = self.match.facts["seats"][turn]["name"]

        def uncovered(_: object) -> None:
            self.match.take_seat()
            self.draw()

        self.app.push_screen(Cover(name), uncovered)
