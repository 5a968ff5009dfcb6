"""Outsiders: what they are told, what they may answer, and that no misbehaviour stops or bends an evaluation."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smear_env import make_rules

pytest.importorskip("scipy")

from training.evaluate import describe, evaluate, evaluate_plays
from training.evaluation.outsiders import Outsider, files_hash
from training.evaluation.plays import worst_points

ROOT = Path(__file__).resolve().parent.parent

PLAYERS = """
import os, sys, time

def good(observation, mask, info):
    return "pass" if "pass" in info["legal"] else info["legal"][0]

def by_id(observation, mask):
    print("prints disturb nobody")
    first_call = len(mask) - 1
    names = [a for a in range(len(mask)) if mask[a]]
    return names[0]

class Memory:
    seen = None
    def __call__(self, observation, mask, info):
        if self.seen != info["deal"]:
            self.seen, self.seat = info["deal"], info["seat"]
        assert self.seat == info["seat"], "a process plays one seat of a deal"
        return good(observation, mask, info)

def bad(then):
    # Misbehaves in deal 1 alone.
    def choose(observation, mask, info):
        return then(info) if info["deal"] == 1 else good(observation, mask, info)
    return choose

def fail(info):
    raise KeyError("lost")

illegal_id = bad(lambda info: 10**30)
illegal_negative = bad(lambda info: -1)
illegal_name = bad(lambda info: "AX")
illegal_card = bad(lambda info: next(a for a in info["actions"] if a not in info["legal"]))
exception = bad(fail)
silence = bad(lambda info: time.sleep(30))
nothing = bad(lambda info: None)
real = bad(lambda info: 3.0)
truth = bad(lambda info: True)
thing = bad(lambda info: {1, 2})
death = bad(lambda info: os._exit(7))
leaving = bad(lambda info: sys.exit("gone"))
"""

SPEAKER = """
import json, sys, time
word = sys.argv[1]
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        print(json.dumps({"ready": True}), flush=True)
    elif message["type"] == "act":
        legal = message["legal"]
        answer = json.dumps({"action": "pass" if "pass" in legal else legal[0]})
        if message["deal"] == 1:
            if word == "silence":
                time.sleep(30)
            elif word == "death":
                sys.exit("no more")
            elif word == "flood":
                while True:
                    sys.stdout.write("x" * 1000)
            elif word == "twice":
                answer = answer + "\\n" + answer + "\\n" + answer
            else:
                answer = word
        print(answer, flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "my_players.py").write_text(PLAYERS)
    (tmp_path / "speaker.py").write_text(SPEAKER)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def measured(agent: str, rules: str = "four_point", limit: float = 20.0) -> tuple[dict[str, Any], Any]:
    return evaluate_plays(agent, "passer", make_rules(rules), pairs=3, deals="fixed", limit_seconds=limit)


FAULTS = [
    ("illegal_id", "illegal", "is not legal; legal: "),
    ("illegal_negative", "illegal", "action -1 is not legal"),
    ("illegal_name", "illegal", "'AX' is not legal"),
    ("illegal_card", "illegal", "is not legal"),
    ("exception", "exception", "KeyError: 'lost'"),
    ("silence", "silence", "no answer within 0.4 seconds"),
    ("nothing", "type", "None is neither"),
    ("real", "type", "3.0 is neither"),
    ("truth", "type", "True is neither"),
    ("thing", "type", "set"),
    ("death", "death", "exit code 7"),
    ("leaving", "death", "gone"),
]


@pytest.mark.parametrize(("name", "reason", "told"), FAULTS)
def test_callable__that_misbehaves_forfeits_that_deal_alone(
    folder: Path, name: str, reason: str, told: str
) -> None:
    limit = 0.4 if name == "silence" else 20.0
    result, comparison = measured(f"my_players:{name}", limit=limit)
    check_forfeit(result, comparison, reason, told)


@pytest.mark.parametrize(
    ("word", "reason", "told"),
    [
        ("no json", "garbage", "no JSON: 'no json"),
        ("[1]", "garbage", "no JSON object"),
        ("{}", "garbage", "no action"),
        ('{"action": "pass", "id": -5}', "garbage", "answered question -5"),
        ('{"error": "I give up"}', "exception", "I give up"),
        ('{"action": [1]}', "type", "neither"),
        ('{"action": NaN}', "type", "nan is neither"),
        ('{"action": "[/red]\\u001b[31m"}', "illegal", r"'[/red]\x1b[31m' is not legal"),
        ('{"error": "\\ud800\\n\\u001b[31m"}', "exception", r"\ud800\n\x1b[31m"),
        ("flood", "garbage", "no JSON: 'xxx"),
        ("silence", "silence", "no answer within 0.4 seconds"),
        ("death", "death", "exit code 1: no more"),
    ],
)
def test_process__that_misbehaves_forfeits_that_deal_alone(
    folder: Path, word: str, reason: str, told: str
) -> None:
    limit = 0.4 if word == "silence" else 20.0
    result, comparison = measured(f"process:{sys.executable} speaker.py '{word}'", limit=limit)
    check_forfeit(result, comparison, reason, told)


def test_process__that_speaks_unasked_forfeits_when_it_is_asked_next(folder: Path) -> None:
    # All pass, so that each seat is asked once in deal 1, and what it adds is found in deal 2.
    result, comparison = measured(f"process:{sys.executable} speaker.py twice")
    check_forfeit(result, comparison, "garbage", "spoke unasked", deal=2)


def check_forfeit(result: dict[str, Any], comparison: Any, reason: str, told: str, deal: int = 1) -> None:
    """The deal was forfeited from both sides, the others went as they do among those who always pass."""
    worst = worst_points(make_rules("four_point"))
    lost = np.arange(3) == deal
    np.testing.assert_array_equal(comparison.points, np.where(lost, -worst, 0)[:, None].repeat(2, axis=1))
    np.testing.assert_array_equal(comparison.passed, ~lost[:, None].repeat(2, axis=1))
    reported = result["forfeits"]["agent"]
    assert reported["count"] == 2
    assert reported["reasons"] == {reason: 2}
    assert [(one["play"], one["side"], one["team"]) for one in reported["first"]] == [
        (deal, 0, 0),
        (deal, 1, 1),
    ]
    assert all(told in one["told"] for one in reported["first"])
    assert "against" not in result["forfeits"]
    json.dumps(result, allow_nan=False)
    said = describe(result)
    assert f"forfeited 2 plays (2 {reason}); the first: deal {deal}, " in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("rules", ["four_point", "schmier", "mini"])
@pytest.mark.parametrize("name", ["good", "by_id", "Memory"])
def test_callable__plays_every_game_without_forfeits(folder: Path, rules: str, name: str) -> None:
    result, _ = measured(f"my_players:{name}", rules)
    assert "forfeits" not in result
    assert result["players"]["agent"]["kind"] == "callable"
    assert len(result["players"]["agent"]["files_sha256"]) == 64


def test_forfeit__is_at_least_as_bad_as_any_legal_result() -> None:
    for preset, options in (("four_point", {}), ("schmier", {}), ("schmier", {"teams": 2}), ("mini", {})):
        rules = make_rules(preset, **options)
        _, comparison = evaluate_plays("random", "random", rules, pairs=400)
        assert np.abs(comparison.points).max() <= worst_points(rules)
        assert comparison.points.min() < -rules.max_bid


def test_forfeit__in_schmier_pays_both_other_sides_alike(folder: Path) -> None:
    _, comparison = measured("my_players:illegal_id", "schmier")
    worst = worst_points(make_rules("schmier"))
    for side, plays in enumerate(comparison.plays):
        paid = np.full(3, worst / 2)
        paid[side] = -worst
        np.testing.assert_array_equal(plays.points[1], paid)


def test_forfeit__by_the_opponent_is_his_and_the_agents_gain(folder: Path) -> None:
    result, comparison = evaluate_plays("passer", "my_players:exception", make_rules("four_point"), pairs=2)
    assert comparison.points.max() == worst_points(make_rules("four_point"))
    assert result["forfeits"]["against"]["reasons"] == {"exception": 2}


def test_forfeit__of_a_match_loses_it(folder: Path) -> None:
    result = evaluate("my_players:exception", "passer", make_rules("four_point"), pairs=2, matches=2)
    # In match 1; match 0 has only passed deals and is cut off.
    assert result["matches_won"] == 0.25
    assert result["forfeits"]["agent"]["count"] == 4
    assert (
        sorted(one["of"] for one in result["forfeits"]["agent"]["first"]) == ["deals"] * 2 + ["matches"] * 2
    )


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("no_such_module:choose", "No module named 'no_such_module'"),
        ("my_players:missing", "missing"),
        ("my_players:PLAYERS_COUNT", "PLAYERS_COUNT"),
        ("my_players:__name__", "cannot be called"),
        ("process:/no/such/program", "No such file"),
        (f"process:{sys.executable} -c pass", "exit code 0"),
        ("process:", "no command"),
        ("my_players:", "must be module:function or process:COMMAND"),
    ],
)
def test_outsider__that_cannot_start_is_refused_before_any_deal(folder: Path, name: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        measured(name)


def test_outsider__that_stops_starting_forfeits_the_rest(folder: Path) -> None:
    agent = Outsider("my_players:good", 5.0)
    rules = make_rules("four_point")
    agent.reset(rules, -1, 0)
    agent.check()
    agent.close()
    (folder / "my_players.py").unlink()
    from training.evaluation.plays import ForfeitError

    for deal in range(5):
        agent.begin_deal(deal)
        with pytest.raises(ForfeitError) as forfeited:
            agent.act(np.zeros(518, np.int8), np.ones(36, np.int8))
        assert forfeited.value.reason == "start"
    assert "without another" in str(forfeited.value) or "the rest of the shard is forfeited" in str(
        forfeited.value
    )


def test_examples__play(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    process = f"process:{sys.executable} {ROOT / 'examples' / 'outsider_process.py'}"
    for agent in ("outsider:choose", "outsider:Careful", process):
        first = evaluate(agent, "passer", make_rules("schmier"), pairs=3, deals="fixed")
        assert "forfeits" not in first, agent
    # It draws from the seed that each deal comes with.
    assert evaluate(process, "passer", make_rules("schmier"), pairs=3, deals="fixed") == first


def test_view__tells_what_the_seat_knows(folder: Path) -> None:
    (folder / "spy.py").write_text(
        "import json, sys\n"
        "def choose(observation, mask, info):\n"
        "    assert sorted(info['view']['hand']) == sorted(info['view']['hand'])\n"
        "    assert set(info['legal']) <= {a for a, m in zip(info['actions'], mask) if m}\n"
        "    assert observation.shape == (518,) and mask.shape == (36,) and info['rules'] == 'four_point'\n"
        "    assert len(info['view']['hand']) <= 9 and info['view']['turn'] == 0\n"
        "    assert info['view']['phase'] == 'bid' or info['view']['bidder'] is not None\n"
        "    assert info['options'] == {'stock_to_bidder': 3} and info['limit_seconds'] == 20.0\n"
        "    return info['legal'][-1]\n"
    )
    result, _ = measured("spy:choose")
    assert "forfeits" not in result, result


def test_process__that_answers_without_reading_does_not_stop_the_evaluation(folder: Path) -> None:
    (folder / "deaf.py").write_text(
        "import time\n"
        "print('{\"ready\": true}', flush=True)\n"
        "while True:\n"
        "    time.sleep(0.05)\n"
        "    print('{\"action\": 99}', flush=True)\n"
    )
    from training.evaluation.conversation import Conversation
    from training.evaluation.plays import ForfeitError

    conversation = Conversation([sys.executable, "deaf.py"])
    try:
        with pytest.raises(ForfeitError, match="did not read its messages within"):
            conversation.tell({"told": "x" * 10_000_000}, 0.2)
    finally:
        conversation.end()


def test_conversation__leaves_nothing_behind_when_a_child_holds_its_pipes(folder: Path) -> None:
    import threading

    from training.evaluation.conversation import Conversation

    before = threading.active_count()
    script = "import os, time\nif os.fork():\n    os._exit(0)\nos.setsid()\ntime.sleep(5)"
    conversation = Conversation([sys.executable, "-c", script])
    time.sleep(0.2)
    conversation.end()
    until = time.monotonic() + 3
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.05)
    assert threading.active_count() <= before


def test_callable__ends_with_the_evaluation_whatever_it_computes(folder: Path) -> None:
    (folder / "endless.py").write_text("def choose(observation, mask):\n    while True:\n        pass\n")
    host = subprocess.Popen(
        [sys.executable, "-m", "training.evaluation.host", "endless:choose"],
        stdin=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(folder)))},
    )
    act = {"type": "act", "id": 1, "observation": [0], "mask": [1]}
    host.communicate(f"{json.dumps(act)}\n".encode(), timeout=30)
    assert host.returncode == 0


def test_description__of_a_callable_does_not_run_its_package(folder: Path) -> None:
    (folder / "noisy").mkdir()
    (folder / "noisy" / "__init__.py").write_text("raise SystemExit('imported here')")
    (folder / "noisy" / "player.py").write_text("choose = None")
    assert files_hash("noisy.player:choose") == hashlib.sha256(b"choose = None").hexdigest()
    assert files_hash("noisy.missing:choose") is None


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan"), float("inf")])
def test_limit__that_is_no_time_is_refused(folder: Path, limit: float) -> None:
    with pytest.raises(ValueError, match="limit_seconds"):
        measured("my_players:good", limit=limit)
