"""The full screen, driven by Textual's own pilot: keys, mouse, sheets, sizes, and nothing shown that is hidden."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("textual")

from smear_env.transcript import check_match, record_match
from smear_table.advice import Advice
from smear_table.session import HUMAN
from smear_table.store import Store
from smear_table.terminal import Play
from smear_table.terminal.app import SmearApp, TooSmall
from smear_table.terminal.lobby import LobbyScreen
from smear_table.terminal.match import Match
from smear_table.terminal.replay import ReplayScreen, Slider
from smear_table.terminal.sheets import Ask, Cover, Sheet
from smear_table.terminal.table import TableScreen
from smear_table.terminal.tray import Tray
from tests.terminal_screens import cards_in_signs, known_cards, new_match, on_screen, play_to, text_of, until

HINT = {"adviser": "expert", "untrained": [], "rows": [("3", Advice(0, 0.7, 0.5, 0.1, 0.64))]}


def asked(match: Match) -> bool:
    """Whether the person is to do something, or to look at something."""
    return match.awaited or match.fresh or match.session.over


@pytest.mark.parametrize("game", [pytest.param("four_point", marks=pytest.mark.slow), "schmier"])
def test_table__is_played_by_keys_through_a_deal_and_shows_nothing_hidden(game: str) -> None:
    match = new_match(game)
    phases: set[str] = set()
    compared = 0

    async def test(pilot: Any) -> None:
        nonlocal compared
        while not match.session.finished:
            await until(pilot, lambda: asked(match))
            if match.session.finished:
                break
            view = match.view()
            phases.add(view["phase"])
            shown = cards_in_signs(text_of(pilot.app))
            assert shown <= known_cards(match.session, 0)
            assert set(view["hand"]) <= shown
            compared += 1
            before = match.session.number
            bids = [action for action in view["legal"] if action.isdigit()]
            keys = {"bid": bids[-1] if bids else "p", "name": "s"}
            await pilot.press(keys.get(view["phase"], "enter"))
            assert match.session.number > before
        await until(pilot, lambda: isinstance(pilot.app.screen, Sheet))
        assert "made" in text_of(pilot.app) or "set" in text_of(pilot.app)

    on_screen(match, test)
    assert compared >= 7
    assert {"four_point": {"bid", "play"}, "schmier": {"bid", "play"}}[game] <= phases


def test_bids__that_are_not_allowed_have_no_brackets_and_say_why() -> None:
    match = play_to(new_match(seed=1), "bid")

    async def test(pilot: Any) -> None:
        assert match.view()["bid"] == 3
        text = text_of(pilot.app)
        assert "[ 4 ]" in text
        assert "[ 3 ]" not in text
        before = match.session.number
        await pilot.press("3")
        assert "A bid must be higher than 3." in text_of(pilot.app)
        assert match.session.number == before
        await pilot.press("p")
        assert match.session.actions[before] == (0, "pass")

    on_screen(match, test)


def test_cards__that_are_not_allowed_have_no_frame_and_say_why() -> None:
    match = play_to(new_match(), "play", following=True)
    while not match.view()["refusals"]:
        match.act(match.view()["legal"][0])
        play_to(match, "play", following=True)

    async def test(pilot: Any) -> None:
        view = match.view()
        hand = pilot.app.screen.query_one("#hand", Tray)
        barred = next(card for card in view["hand"] if card in view["refusals"])
        index = view["hand"].index(barred)
        assert hand.items[index].lines[0].strip() == ""
        allowed = view["hand"].index(view["legal"][0])
        assert hand.items[allowed].lines[0].startswith("╭")
        assert hand.items[hand.cursor].allowed
        await pilot.press(str(index + 1))
        assert view["refusals"][barred] in text_of(pilot.app).replace("\n", " ")
        before = match.session.number
        await pilot.press("enter")
        assert match.session.number == before

    on_screen(match, test)


@pytest.mark.slow
def test_mouse__chooses_cards_and_calls() -> None:
    match = play_to(new_match(), "bid")

    async def test(pilot: Any) -> None:
        calls = pilot.app.screen.query_one("#calls", Tray)
        left = sum(len(item.lines[0]) + 1 for item in calls.items[:-1])
        await pilot.click("#calls", offset=(left + 1, 0))
        await until(pilot, lambda: match.view()["phase"] == "discard")
        card = match.view()["hand"][2]
        await pilot.hover("#hand", offset=(2 * 6 + 1, 1))
        assert pilot.app.screen.query_one("#hand", Tray).cursor == 2
        await pilot.click("#hand", offset=(2 * 6 + 1, 1))
        assert match.session.actions[-1] == (0, card)

    on_screen(match, test)


def test_undo__takes_the_last_decision_back_and_only_in_practice() -> None:
    match = play_to(new_match(), "bid")

    async def test(pilot: Any) -> None:
        await pilot.press("4")
        await until(pilot, lambda: match.view()["phase"] == "discard")
        await pilot.press("u")
        await until(pilot, lambda: match.view()["phase"] == "bid")
        assert "Your bid" in text_of(pilot.app)

    on_screen(match, test)
    match = play_to(new_match(practice=False), "bid")

    async def refused(pilot: Any) -> None:
        await pilot.press("4", "u")
        assert "in practice only" in text_of(pilot.app)
        assert match.view()["bid"] == 4

    on_screen(match, refused)


def test_hint__stands_beside_the_felt_until_something_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    match = play_to(new_match(), "bid")
    monkeypatch.setattr(Match, "advise", lambda *_: HINT)

    async def test(pilot: Any) -> None:
        await pilot.press("h")
        await until(pilot, lambda: "Hint: bid 3." in text_of(pilot.app))
        text = text_of(pilot.app)
        assert "*bid 3" in text
        assert "70%" in text
        assert "64%" in text
        assert "[*3 ]" in text
        await pilot.press("p")
        assert "*bid 3" not in text_of(pilot.app)

    on_screen(match, test)


@pytest.mark.slow
def test_result__review_tricks_and_score_sheet_open_and_close(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    match = play_to(new_match(), "play")
    while len(match.view()["hand"]) > 1:
        match.act(match.view()["legal"][0])
        play_to(match, "play")
    decision = {
        "step": 0,
        "label": "Trick 1, lead",
        "action": "AS",
        "probability": 0.2,
        "adviser": "TH",
        "adviser_probability": 0.8,
        "adviser_cost": 0.25,
        "solver": ["AS", "KS"],
        "solver_cost": None,
    }
    monkeypatch.setattr(Match, "review", lambda *_: {"deal": 0, "adviser": "expert", "decisions": [decision]})
    monkeypatch.chdir(tmp_path)

    async def test(pilot: Any) -> None:
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Sheet))
        await pilot.press("t")
        await until(pilot, lambda: "Deal 1: tricks" in text_of(pilot.app))
        played = {action for _, action in match.session.finished[0]["actions"][-24:]}
        assert played <= cards_in_signs(text_of(pilot.app))
        await pilot.press("escape")
        await until(pilot, lambda: "Review" in text_of(pilot.app))
        await pilot.press("r")
        await until(pilot, lambda: "Your decisions in deal 1" in text_of(pilot.app))
        assert "-0.25" in text_of(pilot.app)
        assert "10♥ 80%" in text_of(pilot.app)
        await pilot.press("escape")
        await until(pilot, lambda: "Next deal" in text_of(pilot.app))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, TableScreen))
        assert "The deal is over." in text_of(pilot.app)
        await pilot.press("w")
        await until(pilot, lambda: isinstance(pilot.app.screen, Ask))
        await pilot.press("enter")
        await until(pilot, lambda: "Saved as four_point-1-deals.jsonl." in text_of(pilot.app))
        await pilot.press("n")
        await until(pilot, lambda: match.awaited)
        await pilot.press("g")
        await until(pilot, lambda: "Score sheet" in text_of(pilot.app))
        assert match.view()["deal"] == 2

    on_screen(match, test)
    check_match(json.loads((tmp_path / "four_point-1-deals.jsonl").read_text()))


@pytest.mark.slow
@pytest.mark.parametrize("game", ["four_point", "schmier"])
def test_screen__of_every_size_holds_everything(game: str) -> None:
    match = play_to(new_match(game), "play", following=True)

    async def one(pilot: Any, size: tuple[int, int]) -> None:
        await pilot.resize_terminal(*size)
        await until(pilot, lambda: "Hint" in text_of(pilot.app).splitlines()[-1])
        text = text_of(pilot.app)
        lines = text.splitlines()
        assert len(lines) <= size[1]
        view = match.view()
        assert cards_in_signs(text) >= {*view["hand"], *(card for _, card in view["trick"])} or size[0] >= 120
        assert "Hint" in lines[-1]
        assert "A You" in text
        for seat in match.facts["seats"][1:]:
            assert seat["name"] in text
        beside = [word in text for word in ("Points in deal", "Last trick", "Auction")]
        assert beside == [size[0] >= 76] * 3
        if not all(beside):
            await pilot.press("space")
            await until(pilot, lambda: "Last trick" in text_of(pilot.app))
            await pilot.press("escape")

    async def test(pilot: Any) -> None:
        for size in [(50, 20), (80, 24), (120, 40), (200, 50)]:
            await one(pilot, size)

    on_screen(match, test)


def test_screen__that_is_too_small_says_so_and_comes_back() -> None:
    async def test(pilot: Any) -> None:
        await pilot.resize_terminal(40, 12)
        await until(pilot, lambda: isinstance(pilot.app.screen, TooSmall))
        assert "50 columns and 20 lines at least." in " ".join(text_of(pilot.app).split())
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: isinstance(pilot.app.screen, TableScreen))

    on_screen(new_match(), test)


@pytest.mark.slow
def test_colours__carry_no_meaning_and_can_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = []

    async def test(pilot: Any) -> None:
        await until(pilot, lambda: "Leave" in text_of(pilot.app))
        texts.append(text_of(pilot.app))
        if len(texts) == 2:
            colours = {
                color.name
                for strip in pilot.app.screen._compositor.render_strips()
                for segment in strip.apply_filter(pilot.app._filters[-1], pilot.app.background_colors[1])
                if segment.style is not None and (color := segment.style.color) is not None
            }
            assert all(name[1:3] == name[3:5] == name[5:7] for name in colours if name.startswith("#"))
            assert pilot.app.no_color
        await pilot.press("t")
        assert pilot.app.theme == ("smear-light" if len(texts) == 1 else "smear-dark")
        await pilot.pause()
        assert text_of(pilot.app) == texts[-1]

    on_screen(play_to(new_match(), "play", following=True), test)
    monkeypatch.setenv("NO_COLOR", "1")
    on_screen(play_to(new_match(), "play", following=True), test, theme="light")
    assert texts[0] == texts[1]


def test_agents__that_think_long_leave_the_screen_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    match = new_match(seed=1)
    thinking, thought = threading.Event(), threading.Event()
    decide = Match.decide

    def slow(self: Match, seat: int, seen: Any) -> str:
        thinking.set()
        assert thought.wait(60)
        return decide(self, seat, seen)

    monkeypatch.setattr(Match, "decide", slow)

    async def test(pilot: Any) -> None:
        await until(pilot, thinking.is_set)
        await pilot.press("question_mark")
        await until(pilot, lambda: "Keys" in text_of(pilot.app))
        assert match.session.number == 0
        await pilot.press("escape")
        thought.set()
        await until(pilot, lambda: match.awaited)

    on_screen(match, test)


def test_agent__that_fails_is_told_and_the_table_can_be_left(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> str:
        raise RuntimeError("no idea")

    monkeypatch.setattr(Match, "decide", broken)

    async def test(pilot: Any) -> None:
        await until(pilot, lambda: "has failed: no idea" in text_of(pilot.app))
        await pilot.press("q")
        await until(pilot, lambda: isinstance(pilot.app.screen, LobbyScreen))

    on_screen(new_match(seed=1), test)


def test_match__that_is_left_goes_on_from_the_lobby() -> None:
    match = play_to(new_match(), "play")

    async def test(pilot: Any) -> None:
        hand = match.view()["hand"]
        await pilot.press("q")
        await until(pilot, lambda: isinstance(pilot.app.screen, LobbyScreen))
        assert "Four Point Smear, deal 1, 0 : 0" in text_of(pilot.app)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, TableScreen))
        assert pilot.app.screen.match is not match
        assert pilot.app.screen.match.view()["hand"] == hand

    on_screen(match, test)


def test_lobby__lays_the_table_that_is_chosen() -> None:
    async def test(pilot: Any) -> None:
        screen = pilot.app.screen
        await until(pilot, lambda: len(screen.query("#seat-3")) == 1)
        screen.query_one("#game").value = "schmier"
        await until(pilot, lambda: len(screen.query("#seat-5")) == 1)
        for seat in range(1, 6):
            screen.query_one(f"#seat-{seat}").value = "greedy" if seat != 3 else HUMAN
        choices = [text for text, _ in screen.query_one("#option-target")._options]
        screen.query_one("#option-target").value = choices.index("11")
        screen.query_one("#option-teams").value = 1
        await pilot.pause()
        assert "Seat 4 (A, your partner)" in "".join(str(label.content) for label in screen.query("Label"))
        screen.query_one("#name").value = "Ada"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: any(isinstance(one, TableScreen) for one in pilot.app.screen_stack))
        table = next(one for one in pilot.app.screen_stack if isinstance(one, TableScreen))
        setup = table.match.session.setup
        assert (setup.game, setup.options) == ("schmier", {"target": 11, "teams": 2})
        assert [seat.player for seat in setup.seats] == [HUMAN, "greedy", "greedy", HUMAN, "greedy", "greedy"]
        assert setup.seats[0].name == "Ada"

    on_screen(None, test)


@pytest.mark.slow
def test_lobby__opens_a_transcript_with_a_slider(tmp_path: Path) -> None:
    match: Any = record_match("schmier", 2, agents="greedy", max_deals=3)
    path = tmp_path / "match.jsonl"
    path.write_text(json.dumps(match) + "\n")

    async def test(pilot: Any) -> None:
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(pilot.app.screen, Ask))
        await pilot.press(*"nowhere", "enter")
        await until(pilot, lambda: "No such file" in text_of(pilot.app))
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(pilot.app.screen, Ask))
        pilot.app.screen.query_one("#typed").value = str(path)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ReplayScreen) and "1/" in text_of(pilot.app))
        slider = pilot.app.screen.query_one(Slider)
        hands = set(" ".join(match["deals"][0]["hands"]).split())
        assert hands <= cards_in_signs(text_of(pilot.app))
        await pilot.press("right", "right", "left")
        assert slider.value == 1
        await pilot.press("end")
        assert slider.value == slider.last
        await pilot.click(Slider, offset=(0, 0))
        assert slider.value == 0
        await pilot.press("space")
        await until(pilot, lambda: slider.value > 0)
        await pilot.press("space", "right_square_bracket")
        await until(pilot, lambda: "deal 2 of 3" in text_of(pilot.app))
        await pilot.press("q")
        await until(pilot, lambda: isinstance(pilot.app.screen, LobbyScreen))

    on_screen(None, test)


def test_people__at_one_screen_see_their_own_hands_only() -> None:
    match = new_match(agents=("human", "greedy", "greedy"), seed=3)

    async def test(pilot: Any) -> None:
        await until(pilot, lambda: isinstance(pilot.app.screen, Cover))
        assert cards_in_signs(text_of(pilot.app)) == set()
        seats = []
        while len(set(seats)) < 2:
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, TableScreen))
            seats.append(match.viewer)
            own = set(match.view()["hand"])
            assert own <= cards_in_signs(text_of(pilot.app)) <= known_cards(match.session, match.viewer)
            pilot.app.screen.choose("pass")
            await until(pilot, lambda: isinstance(pilot.app.screen, Cover))
            assert cards_in_signs(text_of(pilot.app)) == set()

    on_screen(match, test)


def test_app__leaves_by_ctrl_c_and_gives_its_status() -> None:
    app = SmearApp(Play(speed="instant"), Store(":memory:"), new_match())

    async def run() -> None:
        async with app.run_test() as pilot:
            await pilot.pause()
            await pilot.press("ctrl+c")
            await pilot.pause()
            assert not app.is_running or app._exit

    asyncio.run(run())
