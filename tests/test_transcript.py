"""Transcripts that are right: golden files, recording, replaying, showing, the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from smear_env.agents.simple import PasserAgent
from smear_env.engine.legal import legal_sets
from smear_env.engine.tables import compile_tables
from smear_env.errors import IllegalActionError
from smear_env.rules import PRESETS, make_rules
from smear_env.transcript import (
    TranscriptError,
    check_match,
    positions,
    read_transcripts,
    record_match,
    show_match,
    write_transcripts,
)
from smear_env.transcript.cli import main
from smear_env.vector import SelfPlayVectorEnv
from tests.reference import random_options, random_transcript, replay

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.jsonl"))
GAMES = tuple(PRESETS)
FULL = [game for game in GAMES if game != "mini"]


def golden(name: str) -> list[dict[str, Any]]:
    return list(read_transcripts(Path(__file__).parent / "golden" / f"{name}.jsonl"))


# ---------------------------------------------------------------- checking


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_check__accepts_golden_transcripts(path: Path) -> None:
    for match in read_transcripts(path):
        check_match(match)


def test_check__golden_transcripts_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *map(str, GOLDEN)]) == 0
    assert capsys.readouterr().out.count("agree with the rules") == len(GOLDEN) >= 23


@pytest.mark.parametrize("game", GAMES)
def test_check__accepts_what_the_reference_plays(game: str) -> None:
    rng = Random(3)
    for _ in range(30):
        check_match(json.loads(json.dumps(random_transcript(random_options(rng, game), rng, 3))))


def test_check__a_match_may_be_cut_off_within_a_deal() -> None:
    match = golden("four_point")[0]
    deal = match["deals"][0]
    cut = {key: deal[key] for key in ("dealer", "hands", "stock")}
    check_match({**match, "deals": [{**cut, "actions": deal["actions"][:2]}], "winner": None})
    check_match({**match, "deals": [{**cut, "actions": []}], "winner": None})


def test_check__options_may_also_state_a_default() -> None:
    match = golden("schmier")[0]
    match["options"] = {"teams": 3, "ending": "any"}
    check_match(match)


# ---------------------------------------------------------------- recording


@pytest.mark.parametrize("agent", ["random", "passer"])
@pytest.mark.parametrize("game", GAMES)
def test_record__replays_in_the_engine_and_in_the_reference(game: str, agent: str) -> None:
    for number in range(3):
        match = record_match(game, 7, number, agents=agent, max_deals=6, legal=True)
        match = json.loads(json.dumps(match))
        check_match(match)
        replay(match)


@pytest.mark.parametrize("game", GAMES)
def test_record__under_any_options(game: str) -> None:
    rng = Random(5)
    for number in range(15):
        options = random_options(rng, game)
        changes = {
            field: getattr(options, field) for field in ("ending", "all_pass", "may_trump", "target", "teams")
        }
        match = record_match(make_rules(game, **changes), 1, number, max_deals=3, legal=True)
        check_match(match)
        replay(match)


@pytest.mark.parametrize("game", GAMES)
def test_record__plays_the_deals_of_the_seed(game: str) -> None:
    env = SelfPlayVectorEnv(3, game, seed=21)
    env.reset()
    for number in range(3):
        first = next(positions(record_match(game, 21, number, max_deals=1)))
        assert first.states.hand[0].tolist() == env._states.hand[number].tolist()
        assert first.states.dealer[0] == env._states.dealer[number]


def test_record__is_the_same_again_and_differs_by_seed_and_game() -> None:
    matches = [str(record_match("four_point", *key, max_deals=2)) for key in ((1, 0), (1, 0), (1, 1), (2, 0))]
    assert len(set(matches)) == 3
    assert matches[0] == matches[1]


def test_record__states_options_that_differ() -> None:
    assert record_match("four_point", max_deals=1)["options"] == {"stock_to_bidder": 3}
    assert record_match("schmier", max_deals=1)["options"] == {}
    rules = make_rules("schmier", teams=2, ending="cap")
    assert record_match(rules, max_deals=1)["options"] == {"teams": 2, "ending": "cap"}


def test_record__legal_sets_only_where_asked() -> None:
    assert "legal" not in record_match(max_deals=1)["deals"][0]
    assert "legal" in record_match(max_deals=1, legal=True)["deals"][0]


def test_record__a_match_cut_off_has_no_winner() -> None:
    match = record_match("four_point", 1, 0, agents="passer", max_deals=4)
    assert (len(match["deals"]), match["winner"]) == (4, None)
    assert all(deal["redeal"] for deal in match["deals"])


class Spy(PasserAgent):
    """Notes how it is reset and what it is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.seats: list[int] = []
        self.views: list[Any] = []

    def reset(self, rules: Any, seat: int, seed: int) -> None:
        super().reset(rules, seat, seed)
        self.seats.append(seat)

    def act(self, observation: Any, mask: Any) -> int:
        self.views.append((observation, observation.copy()))
        return super().act(observation, mask)


def test_record__agents_are_reset_for_their_seats_and_keep_what_they_are_shown() -> None:
    agents = [Spy() for _ in range(4)]
    record_match("four_point", agents=agents, max_deals=3)
    assert [agent.seats for agent in agents] == [[0], [1], [2], [3]]
    for shown, copy in agents[0].views:
        np.testing.assert_array_equal(shown, copy)


def test_record__one_agent_for_all_seats_decides_for_any() -> None:
    agent = Spy()
    record_match("four_point", agents=agent, max_deals=1)
    assert set(agent.seats) == {-1}


class Cheat(Spy):
    def act(self, observation: Any, mask: Any) -> int:
        return 0


def test_record__refuses_an_illegal_action() -> None:
    with pytest.raises(IllegalActionError, match="action 0 is not legal; legal: 2 3 4 pass"):
        record_match("four_point", agents=Cheat())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rules": "whist"}, "whist"),
        ({"seed": -1}, "seed=-1"),
        ({"game": -1}, "game=-1"),
        ({"max_deals": 0}, "max_deals=0"),
        ({"max_deals": 2**31}, "max_deals="),
        ({"agents": ["random"]}, "1 agents for 4 seats"),
        ({"agents": "nobody"}, "nobody"),
    ],
)
def test_record__refuses_arguments_by_name(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        record_match(**arguments)


# ---------------------------------------------------------------- positions


@pytest.mark.parametrize("game", FULL)
def test_positions__are_the_states_before_each_action(game: str) -> None:
    match = golden(game)[0]
    rules = make_rules(game)
    table = compile_tables(rules)[0]
    seen = list(positions(match))
    actions = [
        (d, i, *action) for d, deal in enumerate(match["deals"]) for i, action in enumerate(deal["actions"])
    ]
    assert [(p.deal, p.step, p.seat, rules.action_names[p.action]) for p in seen] == actions
    for position in seen[::37]:
        legal = match["deals"][position.deal]["legal"][position.step].split()
        assert position.states.turn[0] == position.seat
        assert sum(int(part).bit_count() for part in legal_sets(table, position.states[0])) == len(legal)


def test_positions__stop_at_the_first_disagreement() -> None:
    match = golden("four_point")[0]
    deal = next(index for index, deal in enumerate(match["deals"]) if "scores" in deal)
    match["deals"] = match["deals"][deal:]
    match["deals"][0]["actions"][9][1] = "pass"
    iterator = positions(match)
    assert [next(iterator).step for _ in range(9)] == list(range(9))
    with pytest.raises(TranscriptError):
        next(iterator)


# ---------------------------------------------------------------- showing

SHOWN = {
    "format": "smear-transcript/1",
    "rules": "mini",
    "options": {"stock_to_bidder": 1},
    "deals": [
        {
            "dealer": 0,
            "hands": ["AC JS", "7S TS"],
            "stock": "AS JC 7C TC",
            "actions": [[1, "2"], [0, "pass"], [1, "TS"], [1, "7S"], [0, "JS"], [0, "AC"], [1, "AS"]],
            "bid": 2,
            "bidder": 1,
            "trump": "S",
            "points": {"high": 1, "low": 1, "jack": 0, "game": 1},
            "card_points": [1, 18],
            "made": True,
            "delta": [1, 3],
            "scores": [1, 3],
        }
    ],
    "winner": None,
}

TEXT = """\
mini (stock_to_bidder=1), 1 deals, no winner

Deal 0, dealer seat 0
  seat 0 (team 0)  AC   JS
  seat 1 (team 1)  TS 7S
  stock          AS JC 7C TC
  auction        seat 1 2, seat 0 passes
  seat 1 throws  TS
  trump S
  trick 1        1:7S  0:JS  won by seat 0
  trick 2        0:AC  1:AS  won by seat 1
  points         high team 1, low team 1, jack team 0, game team 1
  card points    1 18
  bid            2 by seat 1, made
  scores         team 0 +1 = 1, team 1 +3 = 3"""


def test_show__a_deal_as_a_card_player_writes_it() -> None:
    assert show_match(SHOWN) == TEXT


def test_show__names_trump_and_who_throws() -> None:
    text = show_match(golden("schmier")[0], 1)
    for part in ("names   C", "throws", "joker team", "trick 6", "team 0+3"):
        assert part in text


def test_show__a_deal_thrown_in_and_one_cut_off() -> None:
    match = record_match("four_point", agents="passer", max_deals=1)
    assert "everybody passed" in show_match(match)
    deal = {key: match["deals"][0][key] for key in ("dealer", "hands", "stock")}
    assert "cut off" in show_match({**match, "deals": [{**deal, "actions": []}]})


# ---------------------------------------------------------------- command line


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "smear_env.transcript", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_command__record_check_and_show(tmp_path: Path) -> None:
    out = tmp_path / "m.jsonl"
    options = ["--option", "stock_to_bidder=2", "--option", "may_trump=false", "--option", "ending=cap"]
    recorded = run("record", "--seed", 7, "--matches", 3, "--legal", *options, "--max-deals", 2, "--out", out)
    assert (recorded.returncode, recorded.stderr) == (0, "")
    assert "3 matches of four_point, 6 deals" in recorded.stdout
    matches = list(read_transcripts(out))
    assert matches[0]["options"] == {"stock_to_bidder": 2, "may_trump": False, "ending": "cap"}
    assert matches[1] == record_match(
        make_rules("four_point", stock_to_bidder=2, may_trump=False, ending="cap"),
        7,
        1,
        max_deals=2,
        legal=True,
    )
    assert run("check", out).stdout.startswith(f"{out}: 3 matches, 6 deals")
    assert "Match 2" in run("show", out).stdout
    assert [path.name for path in tmp_path.iterdir()] == ["m.jsonl"]


def test_command__record_replaces_a_file_at_once(tmp_path: Path) -> None:
    out = tmp_path / "m.jsonl"
    out.write_text("kept until the end")

    def matches() -> Any:
        yield record_match(max_deals=1)
        assert out.read_text() == "kept until the end"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_transcripts(out, matches())
    assert out.read_text() == "kept until the end"
    assert [path.name for path in tmp_path.iterdir()] == ["m.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["record", "--out", "{tmp}/no/such/folder/m.jsonl"], "No such file or directory"),
        (["record", "--out", "{tmp}"], "is not a file"),
        (["record", "--out", "{tmp}/m", "--option", "stock_to_bidder"], "expected FIELD=VALUE"),
        (
            ["record", "--out", "{tmp}/m", "--option", "stock_to_bidder=two"],
            "stock_to_bidder is a whole number",
        ),
        (["record", "--out", "{tmp}/m", "--option", "may_trump=maybe"], "may_trump is true or false"),
        (["record", "--out", "{tmp}/m", "--option", "stock_to_bidder=9"], "stock_to_bidder=9"),
        (["record", "--out", "{tmp}/m", "--option", "ending=never"], "ending='never'"),
        (["record", "--out", "{tmp}/m", "--option", "jokers=2"], "no option 'jokers'"),
        (["record", "--out", "{tmp}/m", "--matches", "0"], "--matches 0"),
        (["record", "--out", "{tmp}/m", "--max-deals", "0"], "max_deals=0"),
        (["record", "--out", "{tmp}/m", "--seed", "-1"], "seed=-1"),
        (["record", "--out", "{tmp}/m", "--agent", "nobody"], "'nobody' is no registered agent"),
        (["check", "{tmp}/none.jsonl"], "No such file or directory"),
        (["check", "{tmp}"], "Is a directory"),
        (["show", "{tmp}/none.jsonl"], "No such file or directory"),
        (["show", "{golden}", "--match", "99"], "--match 99 is not there"),
        (["show", "{golden}", "--match", "-1"], "--match -1"),
        (["show", "{golden}", "--deal", "99"], "deal=99 is not there"),
    ],
)
def test_command__refuses_with_a_message(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filled = [argument.format(tmp=tmp_path, golden=GOLDEN[0]) for argument in arguments]
    assert main(filled) == 1
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_command__show_one_deal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(GOLDEN[0]), "--match", "1", "--deal", "0"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Match 1: ")
    assert text.count("Deal ") == 1


@pytest.mark.skipif(os.name != "posix", reason="needs a pipe that closes")
def test_command__show_into_a_closed_pipe() -> None:
    command = [sys.executable, "-m", "smear_env.transcript", "show", str(GOLDEN[0])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
