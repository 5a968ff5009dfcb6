"""An evaluation that was interrupted, at any moment and by whatever, ends with the very same result."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smear_env import make_rules

pytest.importorskip("scipy")

from training.evaluate import evaluate, evaluate_plays
from training.evaluation import run
from training.evaluation.run import Means

ROOT = Path(__file__).resolve().parent.parent

SLOW_PLAYER = """
import os, random, time
def choose(observation, mask, info):
    while info["deal"] >= 8 and not os.path.exists("go on"):
        time.sleep(0.02)
    return random.Random(info["seed"]).choice(info["legal"])
"""


def command(folder: Path, runs: str, result: str, processes: int) -> list[str]:
    return [
        *(sys.executable, "-m", "training.evaluate", "--agent", "slow_player:choose", "--against", "random"),
        *("--pairs", "16", "--shard", "2", "--deals", "fixed", "--processes", str(processes)),
        *("--runs", str(folder / runs), "--json", str(folder / result), "--limit-seconds", "50"),
    ]


def started(folder: Path, runs: str, result: str, processes: int) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(folder)))}
    # Tests that run in the background ignore Ctrl-C, and so would what they start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            command(folder, runs, result, processes),
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)


def shards(folder: Path) -> set[Path]:
    return set(folder.rglob("*.safetensors"))


def stop_in_the_middle(folder: Path, processes: int, how: signal.Signals) -> str:
    """Start the command, stop it with shards done and others begun; what it said."""
    (folder / "slow_player.py").write_text(SLOW_PLAYER)
    stopped = started(folder, "runs", "result.json", processes)
    while len(shards(folder / "runs")) < 3:
        assert stopped.poll() is None, stopped.communicate()
        time.sleep(0.01)
    os.killpg(stopped.pid, how)  # as a terminal does, to every process of the command
    _, said = stopped.communicate(timeout=60)
    assert stopped.returncode != 0
    assert not (folder / "result.json").exists()
    assert 3 <= len(shards(folder / "runs")) <= 8
    (folder / "go on").touch()
    return said


def whole(folder: Path, runs: Path | None) -> dict[str, Any]:
    """The evaluation of the command, in this process."""
    means = Means(folder=runs, shard=2)
    names = ("slow_player:choose", "random")
    return evaluate(
        *names, make_rules("four_point"), pairs=16, deals="fixed", limit_seconds=50.0, means=means
    )


def test_command__killed_in_the_middle_goes_on_to_the_same_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_in_the_middle(tmp_path, 1, signal.SIGKILL)
    written = {path: path.stat().st_mtime_ns for path in shards(tmp_path / "runs")}
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    result = whole(tmp_path, tmp_path / "runs")
    assert {path: path.stat().st_mtime_ns for path in written} == written, "what was there is played again"
    assert len(shards(tmp_path / "runs")) == 16
    assert result == whole(tmp_path, None)
    assert "forfeits" not in result


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_command__of_two_processes_stopped_in_the_middle_goes_on_to_the_same_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: signal.Signals
) -> None:
    said = stop_in_the_middle(tmp_path, 2, how)
    if how == signal.SIGINT:
        assert "the same command goes on" in said
        assert "Traceback" not in said
    going_on = started(tmp_path, "runs", "result.json", 2)
    _, said = going_on.communicate(timeout=120)
    assert going_on.returncode == 0, said
    assert "were there from before" in said
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    # Each process asks for the commit when it starts, and somebody may commit in between.
    found = json.loads((tmp_path / "result.json").read_text())
    assert found | {"commit": ""} == whole(tmp_path, None) | {"commit": ""}


@pytest.mark.parametrize("preset", ["schmier", pytest.param("four_point", marks=pytest.mark.slow)])
def test_result__does_not_depend_on_the_number_of_processes(
    preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "QUICK_PLAYS", 0)
    results = [
        evaluate(
            "random",
            "greedy",
            make_rules(preset),
            pairs=20,
            matches=4,
            means=Means(processes=processes, shard=8),
        )
        for processes in (1, 2)
    ]
    assert results[0] == results[1]


def ask(folder: Path | None, **changed: Any) -> tuple[dict[str, Any], Any]:
    given: dict[str, Any] = {"pairs": 12, "seed": 1, "deals": "fixed"} | changed
    names = given.pop("names", ("random", "greedy"))
    rules = given.pop("rules", make_rules("four_point"))
    return evaluate_plays(*names, rules, means=Means(folder=folder, shard=5), **given)


def test_shard__damaged_or_half_written_is_played_again(tmp_path: Path) -> None:
    result, _ = ask(tmp_path, matches=2)
    files = sorted(shards(tmp_path))
    assert len(files) == 8
    contents = [path.read_bytes() for path in files]
    files[0].write_bytes(contents[0][:-7])
    files[1].write_bytes(b"")
    files[2].unlink()
    turned = bytearray(contents[3])
    turned[-3] ^= 1
    files[3].write_bytes(turned)  # of the right length, and readable
    assert ask(tmp_path, matches=2)[0] == result
    assert [path.read_bytes() for path in files] == contents


@pytest.mark.parametrize(
    "changed",
    [
        {"seed": 2},
        {"deals": None},
        {"rules": make_rules("four_point", stock_to_bidder=2)},
        {"names": ("random", "passer")},
        {"names": ("four_point", "greedy"), "sampled": True},
    ],
    ids=str,
)
def test_shards__of_another_question_are_not_taken(tmp_path: Path, changed: dict[str, Any]) -> None:
    ask(tmp_path)
    ask(tmp_path, **changed | {"sampled": False})
    result, _ = ask(tmp_path, **changed)
    assert result == ask(None, **changed)[0]


def test_shards__serve_more_pairs_and_the_exchanged_question(tmp_path: Path) -> None:
    ask(tmp_path, pairs=10)
    few = shards(tmp_path)
    ask(tmp_path, pairs=15)
    assert few < shards(tmp_path)
    there, back = ask(tmp_path, pairs=15), ask(tmp_path, pairs=15, names=("greedy", "random"))
    assert len(shards(tmp_path)) == 6
    np.testing.assert_array_equal(there[1].points, -back[1].points[:, ::-1])


def test_fresh__plays_again(tmp_path: Path) -> None:
    result, _ = ask(tmp_path)
    times = {path: path.stat().st_mtime_ns for path in shards(tmp_path)}
    again, _ = evaluate_plays(
        "random",
        "greedy",
        make_rules("four_point"),
        pairs=12,
        deals="fixed",
        means=Means(1, tmp_path, 5, fresh=True),
    )
    assert again == result
    assert all(path.stat().st_mtime_ns > old for path, old in times.items())


def test_actions__kept_replay_every_deal() -> None:
    from training.evaluation.deals import Deals

    for preset in ("four_point", "schmier"):
        rules = make_rules(preset)
        _, comparison = evaluate_plays("random", "greedy", rules, pairs=30, deals="fixed")
        for plays in comparison.plays:
            env, _ = Deals(1, preset).begin(rules, 0, 30, skip_forced=True)
            earned, going = np.zeros((30, rules.teams)), np.ones(30, bool)
            for column in plays.actions.T:
                shown = env.step_some(np.where(going, column.astype(np.int64), -1))
                earned += shown.reward
                going &= ~shown.terminated
            assert not going.any()
            np.testing.assert_array_equal(earned, plays.points)
            np.testing.assert_array_equal(env.deals.delta[:, : rules.teams], plays.delta)
            np.testing.assert_array_equal(env.deals.bidder, plays.bidder)


def test_failure__of_an_agent_names_lineup_and_deals(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(run, "QUICK_PLAYS", 0)
    with pytest.raises((RuntimeError, ValueError), match="schmier"):
        ask(tmp_path, names=("schmier", "greedy"))


def test_clairvoyant__is_shown_the_state_of_the_seat_to_act() -> None:
    from smear_env import make_agent, pieces, state_layout
    from training.evaluate import compare

    class Seer:
        clairvoyant = True
        shown = 0

        def __init__(self) -> None:
            self.agent = make_agent("greedy")

        def reset(self, rules: Any, seat: int, seed: int) -> None:
            self.rules = rules
            self.agent.reset(rules, seat, seed)

        def act_batch(self, observations: Any, masks: Any) -> Any:
            raise RuntimeError("must be shown the state")

        def act_batch_seeing(self, observations: Any, masks: Any, states: Any) -> Any:
            from smear_env import observation_layout

            hands = pieces(states, state_layout(self.rules))["hand"]
            np.testing.assert_array_equal(
                hands[:, 0], pieces(observations, observation_layout(self.rules))["hand"]
            )
            assert (hands[:, 1:].sum(axis=(1, 2)) > 0).all()
            self.shown += len(states)
            return self.agent.act_batch(observations, masks)

    for preset in ("four_point", "schmier"):
        seer, rules = Seer(), make_rules(preset)
        seeing = compare(seer, make_agent("passer"), rules, 10, 1)
        plain = compare(make_agent("greedy"), make_agent("passer"), rules, 10, 1)
        np.testing.assert_array_equal(seeing.points, plain.points)
        assert seer.shown


@pytest.mark.parametrize(
    ("name", "outside", "quick"),
    [
        ("greedy", False, True),
        ("expert-cautious", False, True),
        ("four_point", False, True),
        (str(ROOT / "checkpoints" / "schmier"), False, True),
        ("pimc-20", False, False),
        ("pimc-20:expert", False, False),
        ("clairvoyant", False, False),
        ("module:function", True, False),
        ("package.module:function", True, False),
        ("process:python player.py", True, False),
    ],
)
def test_players__are_of_the_kind_that_their_name_says(name: str, outside: bool, quick: bool) -> None:
    from training.evaluation.players import Player

    player = Player(name)
    assert (player.outside, player.quick) == (outside, quick)


@pytest.mark.slow
def test_process__that_is_killed_is_reported_with_its_lineup_and_loses_nothing_done(tmp_path: Path) -> None:
    from multiprocessing import active_children

    from training.evaluation.deals import Deals
    from training.evaluation.players import Player
    from training.evaluation.workers import Shard, play_shards

    lineup = (Player("random"), Player("greedy"))
    rules = make_rules("four_point")
    shards = [Shard(lineup, rules, Deals(1), first, 20, matches=False) for first in range(0, 200, 20)]
    finished: list[int] = []

    def kill(number: int, plays: Any) -> None:
        finished.append(number)
        for process in active_children():
            process.kill()
            process.join()

    with pytest.raises(
        RuntimeError, match=r"random greedy, deals \d+ to \d+: the process that played it ended"
    ):
        play_shards(shards, 2, kill)
    assert finished
