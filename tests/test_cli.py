"""The command `smear`: help of every subcommand, reports as JSON and as text, and faults in one line."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tyro")
pytest.importorskip("rich")

import smear_table.cli as cli
from smear_env.transcript import check_match, read_transcripts
from smear_table.cli.commands import COMMANDS, _command
from smear_table.cli.show import find_position, seen_at
from tests.told_positions import GOLDEN

FILE = str(GOLDEN / "four_point.jsonl")


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(words) == 0
    return capsys.readouterr().out


def as_json(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    return json.loads(said(capsys, *words, "--json"))


def fault(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(words) == 1
    text = capsys.readouterr()
    assert text.out == ""
    assert text.err.startswith("error: ")
    assert text.err.count("\n") == 1
    return text.err


def test_help__names_every_command_and_imports_none(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert all(name in text for name in COMMANDS)


def test_help__is_given_without_a_word_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main([])
    assert "advise" in capsys.readouterr().out


LEAN = """
import sys


class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "scipy", "matplotlib"):
            raise ModuleNotFoundError(name=name)


sys.meta_path.insert(0, Missing())
from smear_table.cli import main
try:
    main(["--help"])
except SystemExit:
    pass
assert "smear_env" not in sys.modules
sys.exit(main(["advise", "--hand", "AS KS TS 9S 7D 8C", "--worlds", "0", "--json"]))
"""


def test_advise__needs_no_torch_and_help_not_even_the_games() -> None:
    done = subprocess.run([sys.executable, "-c", LEAN], capture_output=True, text=True, check=True)
    assert '"adviser": "four_point"' in done.stdout


@pytest.mark.parametrize(
    ("command", "flag"),
    [
        ("play", "--theme"),
        ("web", "--allow-host"),
        ("watch", "--speed"),
        ("show", "--step"),
        ("advise", "--bids"),
        ("record", "--agents"),
        ("evaluate", "--pairs"),
        ("tournament", "--picture"),
        ("train", "--total-decisions"),
    ],
)
def test_help_of_a_command__tells_its_flags(
    command: str, flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if command in ("evaluate", "tournament"):
        pytest.importorskip("scipy")
    if command == "train":
        pytest.importorskip("torch")
    with pytest.raises(SystemExit) as ended:
        cli.main([command, "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert flag in text
    assert f"smear {command}" in text


def test_completion__knows_commands_and_their_flags(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    with pytest.raises(SystemExit):
        cli.main(["--tyro-print-completion", "bash"])
    script = capsys.readouterr().out
    for part in (*COMMANDS, "--exchanged", "--max-deals", "--allow-host", "--total-decisions", "--pairs"):
        assert part in script


def test_missing_extra__is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "tyro", None)
    monkeypatch.delitem(sys.modules, "smear_table.cli.commands", raising=False)
    assert cli.main(["--help"]) == 1
    assert capsys.readouterr().err == "smear needs tyro: pip install 'smear-env[play]'\n"


def test_command_of_a_missing_extra__names_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(name: str, words: Any) -> int:
        raise ModuleNotFoundError(name="torch")

    monkeypatch.setattr("smear_table.cli.commands._command", missing)
    assert "pip install 'smear-env[train]'" in fault(capsys, "train")
    assert _command is not missing


def test_record__writes_matches_that_agree_with_the_rules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "matches.jsonl"
    words = [
        "record",
        "--out",
        str(out),
        "--agents",
        "expert",
        "greedy",
        "--matches",
        "2",
        "--max-deals",
        "3",
    ]
    found = as_json(capsys, *words)
    matches = list(read_transcripts(out))
    for match in matches:
        check_match(match)
    assert found["agents"] == ["expert", "greedy"] * 2
    assert found["matches"] == len(matches) == sum(found["won"]) + found["cut_off"] == 2
    assert found["deals"] == sum(len(match["deals"]) for match in matches)
    assert "2 matches of four_point" in said(capsys, *words)
    assert "agents='a b c' must be 1, 2" in fault(
        capsys, "record", "--out", str(out), "--agents", "a", "b", "c"
    )


def test_show__prints_matches_deals_and_positions(capsys: pytest.CaptureFixture[str]) -> None:
    match = next(read_transcripts(FILE))
    text = said(capsys, "show", FILE, "--match", "0")
    assert text.count("dealer seat") == len(match["deals"])
    assert "\x1b" not in text
    one = said(capsys, "show", FILE, "--deal", "0")
    for card in (card for hand in match["deals"][0]["hands"] for card in hand.split()):
        assert card in one
    place = said(capsys, "show", FILE, "--deal", "1", "--step", "3")
    assert place.startswith("Deal 1, step 3, both counted from 0:")
    assert "Ask about it:\nsmear advise " in place


def test_show_as_json__is_the_transcript_and_the_position(capsys: pytest.CaptureFixture[str]) -> None:
    matches = list(read_transcripts(FILE))
    shown = as_json(capsys, "show", FILE)
    assert [{name: one[name] for name in one if name != "match"} for one in shown] == matches
    deal = as_json(capsys, "show", FILE, "--deal", "0")
    assert {name: deal[name] for name in matches[0]["deals"][0]} == matches[0]["deals"][0]
    position = as_json(capsys, "show", FILE, "--deal", "0", "--step", "2")
    seat, action = matches[0]["deals"][0]["actions"][2]
    assert (position["seat"], position["action"]) == (seat, action)
    assert action in position["legal"]


def test_show__gives_a_command_that_asks_about_the_position(capsys: pytest.CaptureFixture[str]) -> None:
    deals = next(read_transcripts(FILE))["deals"]
    deal = next(index for index, one in enumerate(deals) if "scores" in one)
    command = as_json(capsys, "show", FILE, "--deal", str(deal), "--step", "9")["advise"]
    words = shlex.split(command)
    assert words[:2] == ["smear", "advise"]
    found = as_json(capsys, *words[1:], "--worlds", "0")
    position, _ = find_position(Path(FILE), 0, deal, 9)
    _, mask = seen_at(position)
    names = position.rules.action_names
    assert {row["action"] for row in found["actions"]} == {names[i] for i in mask.nonzero()[0]}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--match", "99"], "match=99 is not there"),
        (["--match", "-1"], "match=-1 must be at least 0"),
        (["--deal", "99"], "deal=99 is not there"),
        (["--deal", "0", "--step", "99"], "step=99 is not there"),
    ],
)
def test_show__says_what_is_not_there(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in fault(capsys, "show", FILE, *words)


def test_watch__plays_a_deal_as_text_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["watch", "greedy", "expert", "--deals", "1", "--seed", "3"]
    text = said(capsys, *words)
    assert "A greedy" in text
    assert "stopped after 1 deals" in text
    assert "\x1b" not in text
    deal = as_json(capsys, *words)
    assert deal["deal"] == 0
    assert all(card in text for hand in deal["hands"] for card in hand.split())


def test_advise__prints_a_row_for_each_action(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["advise", "--stock", "3", "--hand", "AS KS TS 9S 7D 8C", "--bids", "pass 2", "--scores", "9,12"]
    text = said(capsys, *words, "--worlds", "24", "--search", "8")
    lines = text.splitlines()
    assert lines[0].startswith("four_point (stock_to_bidder=3)  seat 0 A")
    assert sum(line.startswith("* ") for line in lines) == 2  # the choice, and what the mark means
    found = as_json(capsys, *words, "--worlds", "24", "--search", "8")
    assert {row["action"] for row in found["actions"]} == {"pass", "3", "4"}
    assert sum(row["probability"] for row in found["actions"]) == pytest.approx(1, abs=1e-5)
    assert sum(row["search"] for row in found["actions"]) == pytest.approx(1, abs=1e-5)
    assert found["chosen_by"] == "search"
    assert found["choice"] in {"pass", "3", "4"}
    assert found["position"]["phase"] == "bid"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "hand: give your cards"),
        (["--hand", "AS KS TS 9S 7D"], "hand: 5 cards, expected 6"),
        (["--hand", "AS KS TS 9S 7D 8C", "--options", "colour=red"], "colour"),
        (["--hand", "AS KS TS 9S 7D 8C", "--rules", "whist"], "whist"),
        (["--hand", "AS KS TS 9S 7D 8C", "--policy", "nobody"], "nobody"),
        (
            ["--hand", "AS KS TS 9S 7D 8C", "--search", "9", "--policy", "expert"],
            "is no policy to search with",
        ),
        (["--hand", "AS KS TS 9S 7D 8C", "--transcript", FILE], "either in words or in a transcript"),
        (["--hand", "AS KS TS 9S 7D 8C", "--equity", "nowhere"], "no match equity to read"),
        (["--transcript", "nowhere.jsonl"], "cannot be read"),
        (["--transcript", FILE, "--stock", "2"], "transcript: it has its own rules; leave out --rules"),
        (["--transcript", FILE, "--rules", "schmier"], "transcript: it has its own rules"),
        (["--hand", "AS KS TS 9S 7D 8C", "--scores", "99,99"], "scores='99,99': the match is over"),
        (["--hand", "AS KS TS 9S 7D 8C", "--options", "colour=red"], "there are all_pass,"),
    ],
)
def test_bad_flags__are_told_in_one_line(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in fault(capsys, "advise", *words)


def test_commands__name_what_cannot_be_before_they_say_anything(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert "'nobody' is no registered agent" in fault(capsys, "watch", "nobody")
    out = tmp_path / "none" / "matches.jsonl"
    assert f"there is no folder {out.parent}; make it first" in fault(capsys, "record", "--out", str(out))


def test_output__that_cannot_show_every_sign_goes_on_without(tmp_path: Path) -> None:
    words = ["advise", "--hand", "A♠ KS TS 9S 7D 8C", "--worlds", "2", "--policy", "greedy"]
    done = subprocess.run(
        [sys.executable, "-m", "smear_table.cli", *words],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"?" in done.stdout  # in place of plus-minus
    assert b"Hand  AS KS TS 9S" in done.stdout


@pytest.mark.parametrize("words", ["--version", f"show {FILE} --deal 0"])
def test_output__that_is_closed_or_full_ends_without_a_traceback(words: str) -> None:
    for where, expected in ((">&-", 0), ("> /dev/full", 1)):
        command = f"{sys.executable} -m smear_table.cli {words} {where}"
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == expected, done.stderr
        assert "Traceback" not in done.stderr


def test_evaluate__prints_its_result_where_asked_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("scipy")
    words = ["evaluate", "--agent", "greedy", "--against", "passer", "--pairs", "4", "--runs", str(tmp_path)]
    assert "greedy against passer" in said(capsys, *words)
    assert json.loads(said(capsys, *words, "--json", "-"))["pairs"] == 4
