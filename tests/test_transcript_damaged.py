"""Transcripts that are wrong: each fault is refused, with its place and what was expected and found."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smear_env.transcript import TranscriptError, check_match, read_transcripts, record_match
from smear_env.transcript.cli import main

Match = dict[str, Any]
Change = Callable[[Match], object]
FOLDER = Path(__file__).parent / "golden"
LINES = {name: (FOLDER / f"{name}.jsonl").read_text().splitlines() for name in ("four_point", "schmier")}


def match_of(game: str) -> Match:
    """The first golden match of a game: it has a winner, and states legal sets."""
    match: Match = json.loads(LINES[game][0])
    return match


def scored(match: Match) -> int:
    """Index of the first deal that was played."""
    return next(index for index, deal in enumerate(match["deals"]) if "scores" in deal)


def first_scored(match: Match) -> Match:
    deal: Match = match["deals"][scored(match)]
    return deal


def refused(match: object) -> TranscriptError:
    with pytest.raises(TranscriptError) as error:
        check_match(match)
    return error.value


def swap(text: str, old: int, new: str) -> str:
    cards = text.split()
    cards[old] = new
    return " ".join(cards)


# ---------------------------------------------------------------- the match


@pytest.mark.parametrize(
    ("change", "field", "found"),
    [
        (lambda m: m.update(format="smear-transcript/2"), "format", "smear-transcript/2"),
        (lambda m: m.update(format=1), "format", "1"),
        (lambda m: m.pop("format"), "format", "missing"),
        (lambda m: m.pop("deals"), "deals", "missing"),
        (lambda m: m.pop("winner"), "winner", "missing"),
        (lambda m: m.update(comment="x"), "comment", "unknown field"),
        (lambda m: m.update(rules="whist"), "rules", "whist"),
        (lambda m: m.update(rules=None), "rules", "null"),
        (lambda m: m.update(rules=["four_point"]), "rules", "four_point"),
        (lambda m: m.update(options=[]), "options", "[]"),
        (lambda m: m["options"].update(jokers=2), "options", "jokers"),
        (lambda m: m["options"].update(ending="never"), "options", "never"),
        (lambda m: m["options"].update(target=15.0), "options", "15.0"),
        (lambda m: m["options"].update(name="mini"), "options", "name"),
        (lambda m: m["options"].update(exchange_exactly=True, exchange=0), "options", "exchange_exactly"),
        (lambda m: m.update(deals=[]), "deals", "none"),
        (lambda m: m.update(deals={}), "deals", "{}"),
        (lambda m: m.update(winner=True), "winner", "true"),
        (lambda m: m.update(winner=7), "winner", "7"),
        (lambda m: m.update(winner=-1), "winner", "-1"),
        (lambda m: m.update(winner=None), "winner", "null"),
        (lambda m: m.update(winner=1 - min(m["winner"], 1)), "winner", "found"),
    ],
)
@pytest.mark.parametrize("game", LINES)
def test_match__is_refused(game: str, change: Change, field: str, found: str) -> None:
    match = match_of(game)
    change(match)
    error = refused(match)
    assert error.field == field
    assert error.deal is None
    assert found in str(error)


def test_match__four_point_always_states_the_stock() -> None:
    match = match_of("four_point")
    del match["options"]["stock_to_bidder"]
    assert refused(match).field == "options.stock_to_bidder"


@pytest.mark.parametrize("value", [None, 3, "x", [], [[]], True, 1.5])
def test_match__must_be_an_object(value: object) -> None:
    assert "expected an object" in str(refused(value))


# ---------------------------------------------------------------- a deal


@pytest.mark.parametrize(
    ("change", "field", "found"),
    [
        (lambda d: d.pop("dealer"), "dealer", "missing"),
        (lambda d: d.pop("hands"), "hands", "missing"),
        (lambda d: d.pop("actions"), "actions", "missing"),
        (lambda d: d.pop("bid"), "bid", "missing"),
        (lambda d: d.pop("scores"), "scores", "missing"),
        (lambda d: d.update(note="x"), "note", "unknown field"),
        (lambda d: d.update(dealer=6), "dealer", "6"),
        (lambda d: d.update(dealer="0"), "dealer", '"0"'),
        (lambda d: d.update(dealer=0.0), "dealer", "0.0"),
        (lambda d: d.update(dealer=False), "dealer", "false"),
        (lambda d: d["hands"].pop(), "hands", "expected"),
        (lambda d: d.update(hands="AS"), "hands", "AS"),
        (lambda d: d["hands"].__setitem__(1, None), "hands[1]", "null"),
        (lambda d: d["hands"].__setitem__(1, swap(d["hands"][1], 0, "1S")), "hands[1]", "1S"),
        (lambda d: d["hands"].__setitem__(1, swap(d["hands"][1], 0, "as")), "hands[1]", "as"),
        (lambda d: d["hands"].__setitem__(1, swap(d["hands"][1], 0, d["hands"][0][:2])), "hands[1]", "twice"),
        (lambda d: d["hands"].__setitem__(1, d["hands"][1][3:]), "hands[1]", "expected 6 cards, found 5"),
        (lambda d: d["hands"].__setitem__(1, d["hands"][1].replace(" ", "  ")), "hands[1]", "unknown card"),
        (lambda d: d.update(stock=d["stock"][3:]), "stock", "cards, found"),
        (lambda d: d.update(stock=swap(d["stock"], -1, d["hands"][0][:2])), "stock", "twice"),
        (lambda d: d.update(stock=[]), "stock", "[]"),
        (lambda d: d["legal"].pop(), "legal", "entries"),
        (lambda d: d.update(legal="pass"), "legal", "pass"),
        (lambda d: d["legal"].__setitem__(3, ["pass"]), "legal[3]", "pass"),
        (lambda d: d.update(redeal=True), "bid", "unknown field"),
        (lambda d: d.update(bid=True), "bid", "true"),
        (lambda d: d.update(trump=0), "trump", "0"),
        (lambda d: d.update(made=1), "made", "1"),
        (lambda d: d["points"].pop("high"), "points.high", "missing"),
        (lambda d: d["points"].update(jick=1), "points.jick", "unknown field"),
        (lambda d: d["points"].update(high=5), "points.high", "5"),
        (lambda d: d["scores"].append(0), "scores", "entries"),
        (lambda d: d["scores"].__setitem__(0, 1e400), "scores[0]", "Infinity"),
        (lambda d: d["delta"].__setitem__(1, None), "delta[1]", "null"),
        # What is of the right form and wrong.
        (lambda d: d.update(bid=d["bid"] - 1), "bid", "expected"),
        (lambda d: d.update(bidder=(d["bidder"] + 1) % 4), "bidder", "expected"),
        (lambda d: d.update(trump="N"), "trump", "N"),
        (lambda d: d.update(made=not d["made"]), "made", "expected"),
        (
            lambda d: d["points"].update(low=None if d["points"]["low"] is not None else 1),
            "points.low",
            "expected",
        ),
        (lambda d: d["card_points"].__setitem__(0, d["card_points"][0] + 1), "card_points", "expected"),
        (lambda d: d["delta"].__setitem__(0, d["delta"][0] + 1), "delta", "expected"),
        (lambda d: d["scores"].__setitem__(1, 2**80), "scores", "expected"),
    ],
)
@pytest.mark.parametrize("game", LINES)
def test_deal__is_refused(game: str, change: Change, field: str, found: str) -> None:
    match = match_of(game)
    index = scored(match)
    change(match["deals"][index])
    error = refused(match)
    assert (error.deal, error.field) == (index, field)
    assert found in error.problem


@pytest.mark.parametrize("game", LINES)
def test_deal__dealt_by_another_seat(game: str) -> None:
    match = match_of(game)
    deal = match["deals"][2]
    deal["dealer"] = (deal["dealer"] + 1) % 4
    error = refused(match)
    assert (error.deal, error.field) == (2, "dealer")


@pytest.mark.parametrize("game", LINES)
def test_redeal__must_be_true_and_alone(game: str) -> None:
    for value in (False, 1, None):
        match = record_match(game, agents="passer", max_deals=2)
        match["deals"][1]["redeal"] = value
        assert (refused(match).deal, refused(match).field) == (1, "redeal")
    match = record_match(game, agents="passer", max_deals=2)
    del match["deals"][1]["redeal"]
    assert (refused(match).deal, refused(match).field) == (1, "redeal")


# ---------------------------------------------------------------- an action


@pytest.mark.parametrize(
    ("change", "field", "found"),
    [
        (lambda d: d["actions"].__setitem__(4, "pass"), "actions", "expected a list"),
        (lambda d: d["actions"].__setitem__(4, [0]), "actions", "expected 2 entries"),
        (lambda d: d["actions"][4].__setitem__(0, 9), "seat", "9"),
        (lambda d: d["actions"][4].__setitem__(0, (d["actions"][4][0] + 1) % 4), "seat", "expected"),
        (lambda d: d["actions"][4].__setitem__(1, 3), "actions", "expected a string"),
        (lambda d: d["actions"][4].__setitem__(1, "fold"), "actions", 'found "fold"'),
        (lambda d: d["actions"][4].__setitem__(1, d["actions"][0][1]), "actions", "expected one of"),
        (lambda d: d["legal"].__setitem__(4, d["legal"][4] + " pass"), "legal", "expected"),
        (lambda d: d["legal"].__setitem__(4, ""), "legal", "expected"),
        (lambda d: d["legal"].__setitem__(4, " ".join(reversed(d["legal"][4].split()))), "legal", "expected"),
    ],
)
@pytest.mark.parametrize("game", LINES)
def test_action__is_refused(game: str, change: Change, field: str, found: str) -> None:
    match = match_of(game)
    index = scored(match)
    change(match["deals"][index])
    error = refused(match)
    assert (error.deal, error.action, error.field) == (index, 4, field)
    assert found in error.problem


@pytest.mark.parametrize("game", LINES)
def test_actions__one_too_many(game: str) -> None:
    match = match_of(game)
    deal = first_scored(match)
    deal["actions"].append([0, "pass"])
    deal["legal"].append("pass")
    error = refused(match)
    assert (error.action, error.field) == (len(deal["actions"]) - 1, "actions")
    assert "the deal was over" in error.problem


@pytest.mark.parametrize("left", [0, 1, -1])
@pytest.mark.parametrize("game", LINES)
def test_actions__too_few(game: str, left: int) -> None:
    match = match_of(game)
    index = scored(match)
    deal = match["deals"][index]
    deal["actions"], deal["legal"] = deal["actions"][:left], deal["legal"][:left]
    assert (refused(match).deal, refused(match).field) == (index, "actions")
    for field in ("bid", "bidder", "trump", "points", "card_points", "made", "delta", "scores"):
        del deal[field]
    # Without a result a deal may be cut off, but then no other may follow.
    assert (refused(match).deal, refused(match).field) == (index, "actions")


@pytest.mark.parametrize("game", LINES)
def test_match__goes_on_after_its_end(game: str) -> None:
    match = match_of(game)
    match["deals"].append(copy.deepcopy(match["deals"][-1]))
    error = refused(match)
    assert error.deal == len(match["deals"]) - 1
    assert "the match ended" in error.problem


@pytest.mark.parametrize("game", LINES)
def test_match__ends_before_its_winner_has_won(game: str) -> None:
    match = match_of(game)
    match["deals"].pop()
    error = refused(match)
    assert error.field == "winner"


# ---------------------------------------------------------------- lines and files


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b"", "not JSON"),
        (b"not JSON", "not JSON"),
        (b'{"format": "smear-transcript/1"', "not JSON"),
        (b"[]", "expected an object"),
        (b"null", "expected an object"),
        (b'"smear-transcript/1"', "expected an object"),
        (b"\x00\x01\x02\xff", "not JSON"),
        (b"\xef\xbb\xbf{}", "not JSON"),
        (b'{"format": NaN}', "NaN"),
        (b'{"format": -Infinity}', "Infinity"),
        (b'{"format": "smear-transcript/1", "format": "smear-transcript/1"}', "stands twice"),
        (b'{"format": ' + b"9" * 5000 + b"}", "not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"format": "\\ud800"}', "format"),
        (b'{"\\ud800": 1}', "missing"),
    ],
)
def test_line__is_refused_with_its_number(
    line: bytes, found: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.jsonl"
    path.write_bytes(LINES["four_point"][0].encode() + b"\n" + line + b"\n" + LINES["four_point"][1].encode())
    with pytest.raises(TranscriptError, match="line 2") as error:
        list(read_transcripts(path))
    assert error.value.match == 1
    assert found in str(error.value)
    assert main(["check", str(path)]) == 1
    printed = capsys.readouterr().err
    assert f"{path}, line 2 (match 1)" in printed
    assert main(["show", str(path)]) == 1


@pytest.mark.parametrize("content", [b"", b"\n", b"\x89PNG\r\n\x1a\n\x00\x00", bytes(range(256))])
def test_file__is_refused(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.jsonl"
    path.write_bytes(content)
    assert main(["check", str(path)]) == 1
    assert str(path) in capsys.readouterr().err


def test_command__names_match_deal_action_and_field(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    match = match_of("four_point")
    index = scored(match)
    match["deals"][index]["legal"][2] = "pass"
    path = tmp_path / "m.jsonl"
    path.write_text(f"{LINES['four_point'][0]}\n{json.dumps(match)}\n")
    good = str(FOLDER / "four_point.jsonl")
    assert main(["check", str(path), good]) == 1
    printed = capsys.readouterr()
    assert f"{path}, line 2 (match 1), deal {index}, action 2, legal: expected" in printed.err
    assert 'found "pass"' in printed.err
    assert good in printed.out
