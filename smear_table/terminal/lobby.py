"""Where one comes in: matches that go on, a new table, a transcript to look at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import Screen
from textual.widgets import Button, Checkbox, Footer, Input, Label, OptionList, Select, Static
from textual.widgets.option_list import Option

from smear_table.catalogue import GAMES, catalogue, read_setup
from smear_table.pace import SPEEDS
from smear_table.session import HUMAN, RefusedError
from smear_table.terminal.arguments import named_seats
from smear_table.terminal.match import Match, unfinished
from smear_table.terminal.plain_lobby import when
from smear_table.terminal.sheets import Ask
from smear_table.words import TEAMS

if TYPE_CHECKING:
    from smear_table.terminal.app import SmearApp


class LobbyScreen(Screen[None]):
    """What to play."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "sit", "Sit down"),
        Binding("f2", "open", "Open a transcript"),
        Binding("escape", "first", show=False),
        Binding("q", "app.quit", "Quit"),
    ]

    def __init__(self, speed: str, name: str) -> None:
        super().__init__()
        self._games = {one["game"]: one for one in catalogue()["games"]}
        self._speed, self._person = speed, name

    @property
    def _app(self) -> SmearApp:
        return cast("SmearApp", self.app)

    def compose(self) -> ComposeResult:
        """The page."""
        yield Static("♠ Smear ♥", id="lobby-title")
        with VerticalScroll(id="lobby", can_focus=False):
            yield Label("Go on with", classes="heading", id="kept-heading")
            yield OptionList(id="kept", compact=True)
            yield Label("A new table", classes="heading")
            games = [(title, game) for game, (title, _) in GAMES.items()]
            yield self._row("Game", _select(games, "four_point", "game"))
            yield Static(id="about", classes="quiet")
            yield self._row(
                "Your name", Input(self._person, placeholder="none", id="name", compact=True, max_length=32)
            )
            speeds = [(speed, speed) for speed in SPEEDS]
            yield self._row("Agents play", _select(speeds, self._speed, "speed"))
            yield self._row(
                "Practice", Checkbox("moves can be taken back", True, id="practice", compact=True)
            )
            yield Label("Seats, clockwise from yours", classes="heading")
            yield Vertical(id="seats")
            yield Label("Rules of the house", classes="heading")
            yield Vertical(id="options")
            with Horizontal(id="lobby-buttons"):
                yield Button("Sit down", id="sit", variant="primary", compact=True)
                yield Button("Open a transcript", id="open", compact=True)
        yield Static(id="problem", markup=False)
        yield Footer(compact=True)

    def on_screen_resume(self) -> None:
        """Matches may have been left or finished meanwhile."""
        self.show_kept()

    def show_kept(self) -> None:
        """The matches that go on."""
        kept = unfinished(self._app.store)
        options = self.query_one("#kept", OptionList)
        options.clear_options()
        options.add_options([Option(f"{what}   ({when(created)})", id=name) for name, what, created in kept])
        options.display = bool(kept)
        self.query_one("#kept-heading").display = bool(kept)
        if kept:
            options.highlighted = 0
            options.focus()
        else:
            self.query_one("#game").focus()

    def on_select_changed(self, changed: Select.Changed) -> None:
        """Another game has other seats and options, another count of teams other letters."""
        if changed.select.id == "game":
            self.run_worker(self._show_game(str(changed.value)), exclusive=True, group="game")
        elif changed.select.id == "option-teams":
            self._letter_seats()

    async def _show_game(self, game: str) -> None:
        about = self._games[game]
        self.query_one("#about", Static).update(about["about"])
        agents = [(one["label"], one["player"]) for one in about["agents"]]
        people = [*agents, ("Another person, at this screen", HUMAN)]
        seats, options = self.query_one("#seats"), self.query_one("#options")
        await seats.remove_children()
        await seats.mount_all(
            self._row(
                "",
                _select(people, agents[0][1], f"seat-{seat}"),
                f"label-{seat}",
            )
            for seat in range(1, about["players"])
        )
        await options.remove_children()
        await options.mount_all(
            self._row(
                option["label"],
                _select(
                    [(text, index) for index, (_, text) in enumerate(option["choices"])],
                    [value for value, _ in option["choices"]].index(option["value"]),
                    f"option-{option['name']}",
                ),
            )
            for option in about["options"]
        )
        self._letter_seats()

    def _letter_seats(self) -> None:
        about = self._game()
        teams = self._options(about).get("teams", about["teams"])
        for seat in range(1, about["players"]):
            mate = ", your partner" if seat % teams == 0 else ""
            for label in self.query(f"#label-{seat}").results(Label):
                label.update(f"Seat {seat} ({TEAMS[seat % teams]}{mate})")

    def _row(self, label: str, widget: Any, label_id: str | None = None) -> Horizontal:
        return Horizontal(Label(label, classes="label", id=label_id), widget, classes="row")

    def _game(self) -> dict[str, Any]:
        return cast("dict[str, Any]", self._games[str(self.query_one("#game", Select).value)])

    def _options(self, about: dict[str, Any]) -> dict[str, Any]:
        chosen = {}
        for option in about["options"]:
            for select in self.query(f"#option-{option['name']}").results(Select):
                value = option["choices"][cast("int", select.value)][0]
                if value != option["value"]:
                    chosen[option["name"]] = value
        return chosen

    def action_sit(self) -> None:
        """Lay the table that is filled in."""
        about = self._game()
        players = [
            HUMAN,
            *(str(self.query_one(f"#seat-{seat}", Select).value) for seat in range(1, about["players"])),
        ]
        data = {
            "game": about["game"],
            "options": self._options(about),
            "seats": named_seats(about["game"], players, 0, self.query_one("#name", Input).value.strip()),
            "speed": self.query_one("#speed", Select).value,
            "practice": self.query_one("#practice", Checkbox).value,
        }
        try:
            setup, speed = read_setup(data)
        except RefusedError as problem:
            self.query_one("#problem", Static).update(str(problem))
            return
        self.query_one("#problem", Static).update("")
        self._app.sit_down(Match.new(self._app.store, setup, speed))

    def action_open(self) -> None:
        """Ask for a transcript's file and show it."""

        def typed(text: str | None) -> None:
            if text:
                try:
                    content = Path(text).expanduser().read_bytes()
                    self._app.open_replay(content)
                except (OSError, RefusedError) as problem:
                    self.query_one("#problem", Static).update(str(problem))

        self.app.push_screen(Ask("Which transcript? A file of JSON lines, one match a line."), typed)

    def action_first(self) -> None:
        """Out of a field."""
        self.query_one("#sit").focus()

    def on_button_pressed(self, pressed: Button.Pressed) -> None:
        """Sit down, or open a transcript."""
        if pressed.button.id == "sit":
            self.action_sit()
        else:
            self.action_open()

    def on_option_list_option_selected(self, selected: OptionList.OptionSelected) -> None:
        """Go on with a match."""
        self._app.sit_down(Match.kept(self._app.store, str(selected.option.id)))


def _select(options: list[tuple[str, Any]], value: object, name: str) -> Select[Any]:
    """A list to choose from, on one line."""
    return Select(options, value=value, allow_blank=False, id=name, compact=True)
