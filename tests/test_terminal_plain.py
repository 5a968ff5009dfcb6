"""Plain mode: whole matches through pipes, every ability by a word, and nothing said that the seat may not know."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smear_env.transcript import check_match, record_match
from smear_table.session import Session
from smear_table.store import Store
from smear_table.terminal import Play, play
from smear_table.terminal.arguments import asked_setup
from smear_table.terminal.match import Match, unfinished
from smear_table.terminal.plain import Plain
from tests.terminal_screens import SHORT, cards_in_words, known_cards, play_to


class Person:
    """The other end of two pipes: answers whenever plain mode waits for a line."""

    def __init__(self, store: Store, chosen: Play) -> None:
        mine, theirs = os.pipe(), os.pipe()
        self.plain = Plain(store, os.fdopen(theirs[0]), os.fdopen(mine[1], "w"))
        self.heard: list[str] = []
        self._in, self._out = os.fdopen(mine[0]), os.fdopen(theirs[1], "w")
        self.status: int | None = None
        self._thread = threading.Thread(target=self._run, args=(chosen,), daemon=True)
        self._thread.start()

    def _run(self, chosen: Play) -> None:
        self.status = self.plain.run(chosen)
        self.plain._talk._out.close()

    @property
    def session(self) -> Session:
        assert self.plain._match is not None
        return self.plain._match.session

    def lines(self) -> Iterator[str]:
        for line in self._in:
            self.heard.append(line.rstrip("\n"))
            yield self.heard[-1]

    def say(self, text: str) -> None:
        self._out.write(text + "\n")
        self._out.flush()

    def leave(self) -> None:
        self._out.close()
        self._thread.join(60)


def answers(store: Store, chosen: Play, *lines: str) -> list[str]:
    """Say lines from the start, then end the input; what was said back."""
    out = io.StringIO()
    status = Plain(store, io.StringIO("".join(line + "\n" for line in lines)), out).run(chosen)
    assert status == 0
    return out.getvalue().splitlines()


@pytest.mark.parametrize("game", ["four_point", "schmier", "setback"])
def test_plain__plays_a_whole_match_through_a_pipe_and_says_nothing_hidden(game: str, tmp_path: Path) -> None:
    options = (f"target={SHORT[game]}",)
    person = Person(Store(":memory:"), Play(rules=game, options=options, agents=("greedy",), seed=5))
    deck: tuple[str, ...] = ()
    said_in_deal: list[str] = []
    choices: list[str] = []
    for line in person.lines():
        if line.startswith("Deal ") and line.endswith(("deal.", "deals.")):
            said_in_deal = []
        said_in_deal.append(line)
        if line.startswith("  ") and line.split()[0].isdecimal():
            choices.append(line.split()[0])
        asked = choices and (len(person.session.legal()) == len(choices))
        if asked:
            deck = person.session.rules.card_names
            assert cards_in_words("\n".join(said_in_deal), deck) <= known_cards(person.session, 0)
            person.say("0" if "0" in choices else choices[0])
            choices = []
        elif line.startswith("Enter goes on"):
            assert cards_in_words("\n".join(said_in_deal), deck) <= known_cards(person.session, 0) | set(
                person.session.finished[-1]["hands"][0].split()
            ) | {action for _, action in person.session.finished[-1]["actions"]}
            person.say("")
        elif line.startswith("review, sheet, save"):
            break
    assert person.session.over
    assert any(line.endswith("wins the match.") for line in person.heard)
    path = tmp_path / "match.jsonl"
    person.say(f"save {path}")
    person.say("sheet")
    person.say("quit")
    tail = list(person.lines())
    person.leave()
    assert person.status == 0
    check_match(json.loads(path.read_text()))
    assert sum(line.startswith("Deal ") for line in tail) == len(person.session.finished)


def test_plain__input_that_ends_keeps_the_match_and_resume_goes_on_with_it(tmp_path: Path) -> None:
    store = Store(tmp_path / "tables.sqlite")
    first = answers(store, Play(rules="four_point", agents=("greedy",), seed=3), "pass", "hand")
    assert first[-1] == "The input has ended. The match is kept: --resume goes on with it."
    hand = next(line for line in first if line.startswith("You hold"))
    again = answers(store, Play(resume=True))
    assert hand in again
    with pytest.raises(ValueError, match="no match that can go on"):
        Plain(Store(":memory:"), io.StringIO(), io.StringIO()).run(Play(resume=True))


def test_plain__what_is_not_allowed_is_explained_and_changes_nothing() -> None:
    store = Store(":memory:")
    match = Match.new(store, *asked_setup(Play(rules="four_point", agents=("greedy",), seed=3)))
    play_to(match, "play", following=True)
    while not match.view()["refusals"]:
        match.act(match.view()["legal"][0])
        play_to(match, "play", following=True)
    view = match.view()
    barred = next(iter(view["refusals"]))
    before = match.session.number
    heard = answers(store, Play(resume=True), barred, barred.lower(), "XY", "12")
    assert heard.count(view["refusals"][barred]) == 2
    assert "'XY' is no choice now; help lists the words." in heard
    kept = Match.kept(store, unfinished(store)[0][0])
    assert kept.session.number == before


def test_plain__every_word_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(":memory:")
    match = Match.new(store, *asked_setup(Play(rules="four_point", agents=("greedy",), seed=3)))
    play_to(match, "play", deals=1)
    review = {
        "adviser": "four_point",
        "decisions": [
            {
                "step": 0,
                "label": "Bid",
                "action": "pass",
                "probability": 0.2,
                "adviser": "3",
                "adviser_probability": 0.8,
                "adviser_cost": 0.25,
                "solver": ["AS"],
                "solver_cost": 1.0,
            }
        ],
    }
    monkeypatch.setattr(Match, "review", lambda *_: review)
    path = tmp_path / "kept.jsonl"
    expected = {
        "help": r"^hint: what each choice is worth",
        "hand": r"^You hold ",
        "trick": r"^No card lies on the table\.$|^Greedy 3: .* of ",
        "last": r"^No trick is finished yet\.$|takes? it\.$",
        "auction": r"^Greedy 1: (pass|bid \d)\.$",
        "points": r"^Team A: \d+ card points in \d tricks?\.$",
        "score": r"^Team B \(Greedy 1 \+ Greedy 3\): -?\d+ of 15\.$",
        "seats": r"^Greedy 2: team A, your partner",
        "sheet": r"^Deal 1: ",
        "deal 1": r"^Team A \(You \+ Greedy 2\): [-+]?\d+, now -?\d+ of 15, \d+ card points\.$",
        "tricks 1": r"^Trick 6: ",
        "deal 99": r"^Finished deals so far: 1\.$",
        "deal x": r"^A deal is named by its number\.$",
        "review": r"^Bid: you pass; four_point bid 3 \(80%\), cost 0.25; solver ace of spades, cost 1.00\.$",
        f"save {path}": f"^Saved as {path}\\.$",
        f"save {path} ": f"^{path} is there already: name another file\\.$",
        "speed": r"^The speed is ",
        "speed fast": r"^Agents play fast",
        "speed light": r"^The speed is one of",
        "undo": r"^Taken back\.$",
    }
    for words, answer in expected.items():
        out = io.StringIO()
        before = len(answers(store, Play(resume=True)))
        Plain(store, io.StringIO(words + "\n"), out).run(Play(resume=True))
        # What is said before the word is what is said without it, but for the line about the end of the input.
        heard = "\n".join(out.getvalue().splitlines()[before - 1 :])
        assert re.search(answer, heard, re.MULTILINE), (words, heard)


def test_plain__hint_says_what_each_choice_is_worth() -> None:
    heard = answers(Store(":memory:"), Play(rules="four_point", agents=("greedy",), seed=3), "hint")
    worth = [line for line in heard if "chosen" in line and "points" in line]
    assert len(worth) == 4
    assert any("made" in line for line in worth)
    assert any("How often four_point would choose it" in line for line in heard)


def test_plain__undo_takes_the_last_decision_back() -> None:
    store = Store(":memory:")
    heard = answers(store, Play(rules="four_point", agents=("greedy",), seed=3), "pass", "undo")
    assert heard.count("Your bid.") == 2
    heard = answers(
        store, Play(rules="four_point", agents=("greedy",), seed=3, practice=False), "pass", "undo"
    )
    assert "Moves are taken back in practice only." in heard


def test_plain__lobby_lays_the_table_that_is_chosen() -> None:
    store = Store(":memory:")
    # Schmier; a name; an option: played to 11; each seat; five greedy players; no practice.
    greedy = "6"
    heard = answers(store, Play(), "2", "Ada", "3", "1", "1", "2", *[greedy] * 5, "2", "seats")
    assert "Schmier, to 11." in heard
    match = Match.kept(store, unfinished(store)[0][0])
    assert [seat.player for seat in match.session.setup.seats] == ["human", *["greedy"] * 5]
    assert match.session.setup.seats[0].name == "Ada"
    assert not match.session.setup.practice
    heard = answers(store, Play(), "1")
    assert "  1  Go on: Schmier, deal 1, 0 : 0 : 0" in "\n".join(heard)
    assert "Schmier, to 11." in heard


def test_plain__replay_steps_through_a_transcript(tmp_path: Path) -> None:
    match: Any = record_match("schmier", 2, agents="greedy", max_deals=2)
    path = tmp_path / "match.jsonl"
    path.write_text(json.dumps(match) + "\n")
    out = io.StringIO()
    words = io.StringIO("next\n\nback\ngo 5\nhands\nall\ndeal 2\ndeal 9\nwhat\nquit\n")
    assert Plain(Store(":memory:"), words, out).run(Play(replay=path)) == 0
    heard = out.getvalue()
    assert "Replay of Schmier: deal 1 of 2" in heard
    assert "The transcript has deals 1 to 2." in heard
    first = match["deals"][0]["actions"][0]
    assert sum(line.startswith(f"1. Seat {first[0]}: ") for line in heard.splitlines()) == 2
    assert "Scores: A" in heard


def test_plain__several_people_hand_over_before_a_hand_is_told() -> None:
    chosen = Play(rules="four_point", agents=("human", "greedy", "human"), seed=3)
    heard = answers(Store(":memory:"), chosen, "pass", "", "hand")
    over = next(index for index, line in enumerate(heard) if line.startswith("Hand over to"))
    hands = [index for index, line in enumerate(heard) if line.startswith("You hold")]
    assert [index < over for index in hands] == [True, False, False]
    assert heard[hands[0]] != heard[hands[1]]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rules": "poker"}, "error: rules='poker' must be one of four_point,"),
        ({"rules": "four_point", "seat": 4}, "seat=4 is not at the table: four_point has seats 0 to 3"),
        ({"rules": "four_point", "agents": ("greedy", "greedy")}, "agents='greedy greedy' must be one, or 3"),
        ({"rules": "four_point", "agents": ("nobody",)}, "agents: 'nobody' cannot sit at a table of"),
        ({"rules": "four_point", "options": ("target=99",)}, "target='99' must be one of 7, 11, 15, 21"),
        ({"rules": "four_point", "options": ("joker",)}, "'joker' is no option"),
        ({"rules": "four_point", "seed": -1}, "seed=-1"),
        ({"options": ("target=7",)}, "options=target=7 is of one game: name it with --rules"),
        ({"seat": 2}, "seat=2 is of one game: name it with --rules"),
        ({"replay": Path("/nowhere")}, "replay=/nowhere cannot be read: No such file or directory"),
    ],
)
def test_play__bad_choices_are_named(
    wrong: dict[str, Any], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play(Play(plain=True, tables=Path(":memory:"), **wrong)) == 2
    assert message in capsys.readouterr().err


def test_command__is_plain_where_there_is_no_terminal(tmp_path: Path) -> None:
    pytest.importorskip("tyro")
    words = [
        "--rules",
        "setback",
        "--agents",
        "greedy",
        "--seed",
        "1",
        "--tables",
        str(tmp_path / "t.sqlite"),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "smear_table.terminal", *words],
        input="help\nquit\n",
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "Setback, to 11."
    assert "\x1b" not in done.stdout
    assert done.stdout.splitlines()[-1] == "The match is kept: --resume goes on with it."


def test_file_of_matches__that_is_none_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to be taken for one " * 10)
    assert play(Play(plain=True, rules="four_point", tables=path)) == 1
    assert "no file of tables" in capsys.readouterr().err
