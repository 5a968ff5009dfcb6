"""A transcript on the full screen: deal by deal and action by action, with every hand open and a slider."""

from __future__ import annotations

from typing import Any, ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Footer, Static

from smear_table.replay import replay_deal
from smear_table.session import RefusedError
from smear_table.terminal import panels
from smear_table.terminal.felt import draw_felt
from smear_table.terminal.thinking import think
from smear_table.terminal.tray import Picture
from smear_table.words import action_text

STEP_SECONDS = 0.9


class Slider(Widget, can_focus=True):
    """A place from 0 to `last`, moved by the mouse; keys belong to the screen."""

    class Moved(Message):
        """The slider stands elsewhere."""

        def __init__(self, value: int) -> None:
            super().__init__()
            self.value = value

    def __init__(self, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.value, self.last = 0, 0

    def stand(self, value: int, last: int) -> None:
        """Show a place."""
        self.value, self.last = value, last
        self.refresh()

    def render(self) -> Content:
        """A track with a knob, and the place in numbers."""
        text = f" {self.value + 1}/{self.last + 1} "
        track = max(self.size.width - len(text), 2)
        at = round((track - 1) * self.value / max(self.last, 1))
        return Content.assemble(
            ("━" * at, "$turn"), ("●", "$turn bold"), ("─" * (track - 1 - at), "$quiet"), (text, "bold")
        )

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold."""
        self.capture_mouse()
        self._to(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag."""
        if self.app.mouse_captured is self:
            self._to(event.x)

    def on_mouse_up(self) -> None:
        """Let go."""
        self.release_mouse()

    def _to(self, x: int) -> None:
        track = max(self.size.width - len(f" {self.value + 1}/{self.last + 1} "), 2)
        self.post_message(self.Moved(round(max(0, min(track - 1, x)) / max(track - 1, 1) * self.last)))


class ReplayScreen(Screen[None]):
    """The matches of a file, one deal of one of them shown."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "step(-1)", "Back", key_display="←"),
        Binding("right", "step(1)", "On", key_display="→"),
        Binding("home", "step(-1000)", show=False),
        Binding("end", "step(1000)", show=False),
        Binding("space", "play", "Play/pause"),
        Binding("left_square_bracket,pageup", "deal(-1)", "Deal before", key_display="["),
        Binding("right_square_bracket,pagedown", "deal(1)", "Deal after", key_display="]"),
        Binding("m", "match", "Next match", key_display="M"),
        Binding("q,escape", "leave", "Leave", key_display="Q"),
    ]

    def __init__(self, matches: list[dict[str, Any]], match: int = 0, deal: int = 0) -> None:
        super().__init__()
        self._matches, self._match, self._deal = matches, match, deal
        self._data: dict[str, Any] | None = None
        self._step = 0
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """The parts of the screen."""
        yield Static(id="top")
        yield Static(id="scores")
        with Horizontal(id="middle"):
            yield Picture(id="felt")
            yield Picture(id="side")
        yield Static(id="caption", markup=False)
        yield Slider(id="slider")
        yield Static(id="hands")
        yield Footer(compact=True)

    def on_mount(self) -> None:
        """Read the first deal."""
        self.load(self._match, self._deal)

    def on_resize(self) -> None:
        """Draw for another size."""
        self.draw()

    @work(exclusive=True)
    async def load(self, match: int, deal: int) -> None:
        """Show another deal, once it is checked."""
        try:
            data = await think(replay_deal, self._matches[match], deal)
        except RefusedError as problem:
            self.query_one("#caption", Static).update(str(problem))
            return
        self._match, self._deal, self._step, self._data = match, deal, 0, data
        self.draw()

    def draw(self) -> None:
        """Draw the action that the slider stands at."""
        data = self._data
        if data is None:
            return
        width, _ = self.app.size
        names = [{"name": f"Seat {seat}"} for seat in range(data["players"])]
        facts = {**data, "seats": names}
        several = f"match {self._match + 1} of {len(self._matches)}, " if len(self._matches) > 1 else ""
        title = f"Replay: {data['title']}   {several}deal {self._deal + 1} of {data['deals']}"
        self.query_one("#top", Static).update(panels.content([[(title, "bold")]]))
        if not data["frames"]:
            self.query_one("#caption", Static).update("This deal has no actions.")
            return
        frame = data["frames"][self._step]
        view = {**frame, "counts": [len(hand) for hand in frame["hands"]], "seat": -1}
        self.query_one("#scores", Static).update(panels.content([self._scores(frame)]))
        hands = panels.hands_lines(facts, frame, width - 2)
        self.query_one("#hands", Static).update(panels.content(hands))
        side = max(26, min(40, width // 4))
        self.query_one("#side").styles.width = side
        self.query_one("#side").display = width >= 76
        self.query_one("#felt", Picture).show(lambda w, h: draw_felt(facts, view, -1, w, h))
        self.query_one("#side", Picture).show(lambda w, _: panels.content(self._beside(facts, view, w)))
        self.query_one("#caption", Static).update(self._caption(frame))
        self.query_one("#slider", Slider).stand(self._step, len(data["frames"]) - 1)

    def _beside(self, facts: dict[str, Any], view: dict[str, Any], width: int) -> list[panels.Line]:
        auction, last = panels.auction_block(facts, view, width), panels.last_block(facts, view, width)
        return [*auction, [], *last, [], *self._result(width)]

    def _scores(self, frame: dict[str, Any]) -> panels.Line:
        line: panels.Line = []
        for team, score in enumerate(frame["scores"]):
            taken = f" cards {frame['card_points'][team]} tricks {frame['tricks'][team]}   "
            line += [panels.team_mark(team), (f" {score}", "bold"), (taken, "$quiet")]
        return line

    def _caption(self, frame: dict[str, Any]) -> str:
        if frame["next"]:
            seat, action = frame["next"]
            return f"Seat {seat}: {action_text(action)}"
        result = self._data["result"] if self._data else {}
        if "redeal" in result:
            return "Everybody passed."
        return f"Seat {result['bidder']} {'made' if result['made'] else 'failed'} {result['bid']}."

    def _result(self, width: int) -> list[panels.Line]:
        assert self._data is not None, "a deal is read"
        result = self._data["result"]
        if "points" not in result:
            return [
                panels.heading("Result"),
                [("Passed out." if "redeal" in result else "Cut off.", "$quiet")],
            ]
        return [panels.heading("Result"), *panels.points_lines(self._data["points"], result["points"], width)]

    def on_slider_moved(self, moved: Slider.Moved) -> None:
        """Where the mouse put the slider."""
        self._to(moved.value)

    def _to(self, step: int) -> None:
        if self._data is not None:
            self._step = max(0, min(len(self._data["frames"]) - 1, step))
            self.draw()

    def action_step(self, step: int) -> None:
        """So many actions on."""
        self._to(self._step + step)

    def action_play(self) -> None:
        """Go on by itself, or stop."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        else:
            self._timer = self.set_interval(STEP_SECONDS, self._play)

    def _play(self) -> None:
        if self._data is None or self._step >= len(self._data["frames"]) - 1:
            self.action_play()
        else:
            self._to(self._step + 1)

    def action_deal(self, step: int) -> None:
        """The deal before or after."""
        count = len(self._matches[self._match]["deals"])
        if 0 <= self._deal + step < count:
            self.load(self._match, self._deal + step)

    def action_match(self) -> None:
        """The next match of the file, the first after the last."""
        self.load((self._match + 1) % len(self._matches), 0)

    def action_leave(self) -> None:
        """Back to where it was opened."""
        self.dismiss()
