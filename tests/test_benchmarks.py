"""The benchmarks: their kernels play by the rules, their arithmetic is right, and what is missing is named."""

from __future__ import annotations

import json
import os
import pickle
import re
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rich")
pytest.importorskip("tyro")

from benchmarks import kernels, latency, ours, peers, phases, search, startup, throughput
from benchmarks.contestants import Contestant, Measure, row_name, selected
from benchmarks.loops import aec_games, repeated, uniform_choice
from benchmarks.report import Promise, Spread, judge, machine_facts, rate, spread, three_digits, write_json
from benchmarks.workers import ENVIRONMENT, Failure, alternate, measure
from smear_env import make_agent, make_rules
from smear_env.agents import ANY_SEAT

SIGMAS = 5
"""How far a count may lie from what is expected: by chance about once in two million."""


def check_uniform(masks: np.ndarray, actions: np.ndarray) -> None:
    """Every action as often as if each row's legal ones were equally likely; illegal ones never."""
    assert masks[np.arange(len(masks)), actions].all()
    chances = masks / masks.sum(axis=1, keepdims=True)
    counts = np.bincount(actions, minlength=masks.shape[1])
    allowed = SIGMAS * np.sqrt((chances * (1 - chances)).sum(axis=0))
    assert np.all(np.abs(counts - chances.sum(axis=0)) <= allowed + 1e-9)


def contestant(make: object, who: str = "nobody", ways: Sequence[str] = ("way",)) -> Contestant:
    return Contestant(who, "game", tuple(ways), make, "no-such-distribution")  # type: ignore[arg-type]


def settings() -> Measure:
    """Reports what its process starts with: one if a setting is as it should be."""
    return lambda _: (
        float(all(os.environ[name] == value for name, value in ENVIRONMENT.items())),
        float(not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) == 1),
    )


def noted(path: Path, name: str) -> Measure:
    """Writes down when it is made and measured."""

    def note(word: str) -> None:
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{word} {name}\n")

    def measured(amount: float) -> tuple[float]:
        note(f"{amount:g}")
        return (amount,)

    note("made")
    return measured


def failing_later() -> Measure:
    def measured(amount: float) -> tuple[float]:
        if amount > 0.5:
            raise RuntimeError("worn out")
        return (amount,)

    return measured


# ---------------------------------------------------------------- kernels


@pytest.mark.parametrize("rules", ours.GAMES)
@pytest.mark.parametrize("rounds", [0, 3, 11])
def test_kernel_choice__is_legal_and_uniform(rules: str, rounds: int) -> None:
    games = kernels.new_games(8192, rules, seed=2)
    kernels.play_observed(games, rounds)
    kernels.choose_all(games)
    check_uniform(games.out.mask, games.actions)


def test_kernel_choice__reaches_cards_and_calls() -> None:
    cards, calls, deck = np.uint64(1 << 3 | 1 << 31), np.uint64(1 << 0 | 1 << 2 | 1 << 4), 32
    generator, chosen = np.uint64(7), []
    for _ in range(4000):
        generator, action = kernels.choose(cards, calls, deck, np.uint64(generator))
        chosen.append(action)
    mask = np.zeros((len(chosen), 40), np.int8)
    mask[:, [3, 31, 32, 34, 36]] = 1
    check_uniform(mask, np.array(chosen))


@pytest.mark.parametrize("rules", ours.GAMES)
def test_kernels__play_the_same_game_with_and_without_observation(rules: str) -> None:
    plain, observed = kernels.new_games(16, rules, seed=3), kernels.new_games(16, rules, seed=3)
    assert kernels.play_in_turn(plain, 3000) == kernels.play_observed(observed, 3000) == 16 * 3000
    assert plain.states.game.max() >= 16  # some matches have ended and others begun
    assert plain.states.tobytes() == observed.states.tobytes()


@pytest.mark.parametrize("rules", ours.GAMES)
def test_whole_games__are_as_many_as_asked_for(rules: str) -> None:
    whole, in_turn = kernels.new_games(1, rules, seed=4), kernels.new_games(1, rules, seed=4)
    decisions = kernels.play_games(whole, 3)
    assert whole.states.game[0] == 3
    assert whole.states.deals[0] == 0
    kernels.play_in_turn(in_turn, decisions - 1)
    assert in_turn.states.game[0] == 2  # the last decision counted is the one that ends the third
    kernels.play_in_turn(in_turn, 1)
    assert in_turn.states.tobytes() == whole.states.tobytes()


# ---------------------------------------------------------------- loops


def test_uniform_choice__is_legal_and_uniform() -> None:
    generator = np.random.default_rng(5)
    patterns = (generator.random((40, 31)) < 0.3).astype(np.int8)
    patterns[:, 30] |= ~patterns.any(axis=1)
    patterns[0] = np.eye(31, dtype=np.int8)[0]
    patterns[1] = 1
    for pattern in patterns:
        masks = np.tile(pattern, (30_000, 1))
        check_uniform(masks, uniform_choice(masks, generator))
    mixed = np.repeat(patterns, 100, axis=0)
    check_uniform(mixed, uniform_choice(mixed, generator))


def test_repeated__counts_what_is_played_per_second(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([10.0, 10.5, 11.0, 12.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    assert repeated(lambda: 30)(1.5) == (45.0,)  # three plays in two seconds


def test_repeated__plays_at_least_once() -> None:
    assert repeated(lambda: 7)(0.0)[0] > 0


def test_aec_loop__counts_decisions_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    import smear_env

    env = smear_env.raw_env(rules="four_point", episode="deal")
    steps = []
    step = env.step
    env.step = lambda action: (steps.append(action), step(action))
    clock = iter([0.0, 1.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    (rate_of_one_second,) = aec_games(env)(1.0)
    assert steps.count(None) == env.rules.players  # each seat leaves after the end
    assert rate_of_one_second == len(steps) - steps.count(None) > 0


# ---------------------------------------------------------------- statistics


def test_spread__of_hand_worked_numbers() -> None:
    assert spread([3.0, 1.0, 10.0, 2.0, 5.0]) == Spread(3.0, 1.0, 10.0)
    assert spread([4.0, 1.0]) == Spread(2.5, 1.0, 4.0)
    with pytest.raises(ValueError, match="no measurement"):
        spread([])


def test_ratio__is_taken_within_each_repetition() -> None:
    # The medians, 2 and 2, would give 1.
    rates = {"a": [1.0, 2.0, 6.0], "b": [2.0, 1.0, 3.0]}
    assert judge(Promise("a", "b", 1.5), rates).ratio == Spread(2.0, 0.5, 2.0)


@pytest.mark.parametrize(
    ("promise", "verdict"),
    [
        (Promise("a", "b", 2.0), "met"),
        (Promise("a", "b", 2.1), "missed"),
        (Promise("a", "b"), ""),
        (Promise("a", target=4.0), "met"),
        (Promise("a", target=4.5, aim=True), "missed"),
        (Promise("a", "c", 1.0), "not measured"),
        (Promise("c", target=1.0), "not measured"),
    ],
)
def test_promise__is_judged_by_the_median_ratio(promise: Promise, verdict: str) -> None:
    assert judge(promise, {"a": [4.0, 3.0, 8.0], "b": [2.0, 2.0, 2.0]}).verdict == verdict


def test_latency__of_hand_worked_numbers() -> None:
    assert latency.latency([float(time) for time in range(101)]) == latency.Latency(50.0, 5.0, 95.0)


@pytest.mark.parametrize(
    ("value", "shown"), [(27.34e6, "27.3 M"), (141_400, "141 k"), (812.3, "812"), (0.3571, "0.357")]
)
def test_rate__has_three_digits(value: float, shown: str) -> None:
    assert rate(value) == shown


def test_three_digits__of_ratios() -> None:
    assert [three_digits(value) for value in (0.5, 1.844, 31.46, 181.2)] == ["0.500", "1.84", "31.5", "181"]


# ---------------------------------------------------------------- contestants


@pytest.fixture
def everyone() -> list[Contestant]:
    return [*ours.contestants((1, 2)), *peers.contestants()]


def test_rows__have_names_of_their_own(everyone: list[Contestant]) -> None:
    rows = [row for one in [*everyone, *latency.contestants()] for row in one.rows]
    assert len(rows) == len(set(rows))


def test_promises__name_rows_that_are_measured(everyone: list[Contestant]) -> None:
    rows = {row for one in everyone for row in one.rows} | {""}
    for promise in throughput.promises():
        assert promise.above in rows
        assert promise.below in rows


def test_only__selects_by_any_part_of_a_name(everyone: list[Contestant]) -> None:
    assert selected(everyone, ()) == everyone
    assert {one.who for one in selected(everyone, ["openspiel euchre", "COLVER"])} == {"OpenSpiel", "colver"}
    assert selected(everyone, ["no such row"]) == []


def test_contestant__is_made_once_however_often_it_is_sent() -> None:
    made: dict[Contestant, Measure] = {}
    one = contestant(settings)
    for sent in (one, pickle.loads(pickle.dumps(one))):
        measure(made, sent, 0.0)
    assert list(made) == [one]


def test_missing_peer__is_named_as_not_installed() -> None:
    one = contestant(partial(import_module, "no_such_peer.games"))
    assert measure({}, one, 0.0) == Failure("not installed (no_such_peer)")


def test_alternation__goes_round_and_leaves_out_what_fails(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    a, b = (contestant(partial(noted, path, name), "here", [name]) for name in "ab")
    others = {
        "settings": contestant(settings, "here", ["settings", "cores"]),
        "missing": contestant(partial(import_module, "no_such_peer"), "here", ["missing"]),
        "later": contestant(failing_later, "here", ["later"]),
        "dead": contestant(partial(os._exit, 3), "there", ["dead"]),
    }
    before, cores = dict(os.environ), os.sched_getaffinity(0) if sys.platform == "linux" else None
    results = alternate([a, *others.values(), b], repetitions=2, amount=1.0, warm_up=0.5)
    order = ["made a", "0.5 a", "made b", "0.5 b", "1 a", "1 b", "1 a", "1 b"]
    assert path.read_text(encoding="utf-8").splitlines() == order
    figures = results.by_row()
    assert figures.pop(row_name("here", "game", "settings")) == [1.0, 1.0]
    assert figures.pop(row_name("here", "game", "cores")) == [1.0, 1.0]
    assert figures == {a.rows[0]: [1.0, 1.0], b.rows[0]: [1.0, 1.0]}
    assert results.failures == {
        others["missing"]: "not installed (no_such_peer)",
        others["later"]: "failed: RuntimeError: worn out",
        others["dead"]: "its process has ended",
    }
    assert dict(os.environ) == before
    assert cores is None or os.sched_getaffinity(0) == cores


# ---------------------------------------------------------------- commands


def test_json__round_trips(tmp_path: Path) -> None:
    document = {"machine": machine_facts(["no-such-distribution"]), "rows": [{"figures": [1.5, 2.0]}]}
    assert "no-such-distribution" not in document["machine"]["versions"]
    write_json(str(tmp_path / "result.json"), document)
    assert json.loads((tmp_path / "result.json").read_text(encoding="utf-8")) == document


def test_throughput__measures_prints_and_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = contestant(partial(import_module, "no_such_peer"), "Peer", ["missing, batch 1024"])
    monkeypatch.setattr(peers, "contestants", lambda: [missing])
    path = tmp_path / "result.json"
    flags = ["--seconds", "0.01", "--repetitions", "2", "--threads", "1", "--json", str(path)]
    throughput.main([*flags, "--only", "four_point: rules alone", "four_point: step, batch 1024", "missing"])
    result = json.loads(path.read_text(encoding="utf-8"))
    *measured, last = result["rows"]
    assert [row["row"].partition(": ")[2] for row in measured] == [
        ours.WHOLE_GAMES,
        ours.BATCH_ORDER,
        "step, batch 1024",
        "step and choice, batch 1024",
    ]
    assert all(len(row["figures"]) == 2 and row["low"] <= row["median"] <= row["high"] for row in measured)
    assert measured[2]["low"] > measured[3]["low"]  # the loop takes longer than the steps in it
    assert last["remark"] == "not installed (no_such_peer)"
    assert "figures" not in last
    verdicts = {one["promise"]["above"]: one["verdict"] for one in result["ratios"]}
    assert verdicts[measured[2]["row"]] == "not measured"
    printed = capsys.readouterr().out
    assert "not installed (no_such_peer)" in printed
    assert "ratios within a repetition" in printed


def test_latency__measures_prints_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "result.json"
    flags = ["--calls", "5", "--rounds", "2", "--json", str(path)]
    latency.main([*flags, "--only", "NumPy four_point: shipped", "product"])
    single, batch, product = json.loads(path.read_text(encoding="utf-8"))["rows"]
    assert [row["calls"] for row in (single, batch, product)] == [6, 6, 6]
    assert all(row["fifth"] <= row["median"] <= row["ninety_fifth"] for row in (single, batch, product))
    assert single["verdict"].partition(" ")[0] in ("met", "missed")
    assert batch["verdict"] == product["verdict"] == ""
    assert latency.PRODUCT in capsys.readouterr().out


def test_search__measures_prints_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "result.json"
    search.main(["--agents", "greedy", "expert", "--sets", "4", "--rules", "schmier", "--json", str(path)])
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    assert [(row["agent"], len(row["seconds"])) for row in rows] == [("greedy", 2), ("expert", 2)]
    assert "schmier, against expert" in capsys.readouterr().out
    assert search.verdict("pimc-100", search.Options(), 7.0) == "missed (below 6)"
    assert search.verdict("pimc-100", search.Options(rules="schmier"), 7.0) == ""


def test_phases__times_every_part_of_a_deal_singly_and_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "result.json"
    flags = "--agents greedy schmier --rules schmier --deals 4 --rounds 2 --json"
    phases.main([*flags.split(), str(path)])
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    assert [(row["agent"], row["batch"]) for row in rows] == [("greedy", 1), ("schmier", 1), ("schmier", 256)]
    for row in rows:
        for number in range(2):
            parts = [row["rounds"][part][number] for part in phases.PARTS]
            assert row["rounds"][phases.DEAL][number] == pytest.approx(sum(parts))
            assert min(parts) > 0
    assert set(rows[0]["times_as_long"].values()) == {1.0}
    assert "how many times as long greedy takes" in capsys.readouterr().out
    fast = {"agent": "four_point", "times_as_long": {"first trick": 1000.0, phases.DEAL: 100.0}}
    assert phases.verdict(fast, "pimc-100").startswith("met")
    assert phases.verdict(
        {**fast, "times_as_long": {"first trick": 999.0, phases.DEAL: 100.0}}, "pimc-100"
    ).startswith("missed")
    assert phases.verdict(fast, "pimc-20") == phases.verdict({**fast, "agent": "expert"}, "pimc-100") == ""


@pytest.mark.parametrize("game", ["four_point", "schmier"])
def test_phases__counts_a_first_trick_by_its_whole_hands(game: str) -> None:
    rules, greedy = make_rules(game), make_agent("greedy")
    greedy.reset(rules, ANY_SEAT, 0)
    of = phases.positions(greedy, rules, 3, 40, 1)
    assert of.masks.any(axis=1).all()
    counts = dict(zip(phases.PARTS, np.bincount(of.parts, minlength=len(phases.PARTS)), strict=True))
    assert 0 < counts["first trick"] <= 40 * rules.players
    assert counts["later tricks"] > counts["first trick"]
    assert counts["discards"] > 0
    assert 0 < counts["auction"] <= 40 * (rules.players + 1)


def test_positions__are_of_play_and_have_legal_actions() -> None:
    batches = latency.play_positions("schmier", 256)
    singles = latency.play_positions("schmier", 1)
    assert [mask.shape[0] for _, mask in batches] == [256] * len(batches)
    assert len(singles) == 256 * len(batches)
    assert all(mask.any(axis=1).all() for _, mask in batches)
    assert np.array_equal(singles[257][0], batches[1][0][1])


@pytest.mark.parametrize(
    ("options", "given"),
    [
        (throughput.Options, {"repetitions": 0}),
        (throughput.Options, {"seconds": -1.0}),
        (throughput.Options, {"threads": (2, 0)}),
        (latency.Options, {"rounds": 0}),
        (latency.Options, {"rounds": 9, "calls": 8}),
        (startup.Options, {"repetitions": 0}),
    ],
)
def test_options__without_sense_are_refused_by_name(options: type, given: dict[str, object]) -> None:
    name, value = next(iter(given.items()))
    with pytest.raises(ValueError, match=re.escape(f"{name}={value}")):
        options(**given)


@pytest.mark.slow
def test_every_contestant__plays_or_is_named_as_missing() -> None:
    options = throughput.Options(repetitions=1, seconds=0.01)
    for row in throughput.run(options)["rows"]:
        assert row.get("median", 0) > 0 or row["remark"].startswith("not installed"), row
