"""Transcripts changed at random: still right or refused with `TranscriptError`, never another exception."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from smear_env.rules import PRESETS
from smear_env.transcript import TranscriptError, check_match, read_transcripts, record_match

SMALL = [json.dumps(record_match(game, 5, 0, max_deals=2, legal=True)) for game in PRESETS]
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(-2, 7),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["pass", "AS", "JK", "2", "trump:H", "", "AS AS"]),
    st.lists(st.integers(0, 3), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every path into a JSON value."""
    found = [path]
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, child in children:
        found += places(child, (*path, key))
    return found


PLACES = [places(json.loads(line))[1:] for line in SMALL]


@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_check__any_change_is_accepted_or_refused(data: st.DataObject) -> None:
    which = data.draw(st.integers(0, len(SMALL) - 1))
    match = json.loads(SMALL[which])
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(PLACES[which]))
        try:
            parent = match
            for key in path[:-1]:
                parent = parent[key]
            kind = data.draw(st.sampled_from(["replace", "remove", "repeat"]))
            if kind == "replace":
                parent[path[-1]] = data.draw(VALUES)
            elif kind == "remove":
                del parent[path[-1]]
            elif isinstance(parent, list):
                parent.insert(path[-1], copy.deepcopy(parent[path[-1]]))
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took the place away
    with suppress(TranscriptError):
        check_match(match)


STATED = {"dealer", "hands", "stock", "legal", "bid", "bidder", "trump", "points"}
STATED |= {"card_points", "made", "delta", "scores"}


def other(value: Any) -> Any:
    """A different value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return value[:-1] + ("S" if value[-1] != "S" else "C")
    return 0 if value is None else value + 1


@pytest.mark.parametrize("which", range(len(SMALL)))
def test_check__every_stated_value_is_checked(which: int) -> None:
    changed = 0
    for path in PLACES[which]:
        match = json.loads(SMALL[which])
        parent = match
        for key in path[:-1]:
            parent = parent[key]
        if not STATED & set(path) or isinstance(parent[path[-1]], list | dict):
            continue
        parent[path[-1]] = other(parent[path[-1]])
        with pytest.raises(TranscriptError):
            check_match(match)
        changed += 1
    assert changed > 10


OPTIONS = st.dictionaries(
    st.sampled_from(
        [
            *(
                "players",
                "teams",
                "ranks",
                "min_bid",
                "max_bid",
                "target",
                "trump_named",
                "suits",
                "hand_size",
                "joker",
            ),
            *(
                "bowers",
                "stock_to_bidder",
                "dealer_takes_stock",
                "exchange",
                "protect_scoring",
                "all_pass",
                "ending",
            ),
        ]
    ),
    st.one_of(
        st.integers(-1, 20),
        st.booleans(),
        VALUES,
        st.sampled_from(["CS", "7TJA", "2A", "cap", "dealer_bids"]),
    ),
    max_size=4,
)


@settings(max_examples=200, deadline=None)
@given(options=OPTIONS, which=st.integers(0, len(SMALL) - 1))
@example(options={"players": 2, "hand_size": 16, "stock_to_bidder": 0}, which=0)
def test_check__any_options_are_accepted_or_refused(options: dict[str, Any], which: int) -> None:
    match = json.loads(SMALL[which])
    match["options"].update(options)
    with suppress(TranscriptError):
        check_match(match)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_line__any_bytes_are_accepted_or_refused(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    line = bytearray(SMALL[2].encode())
    for _ in range(data.draw(st.integers(1, 3))):
        position = data.draw(st.integers(0, len(line) - 1))
        line[position : position + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(bytes(line))
    with suppress(TranscriptError):
        for match in read_transcripts(path):
            check_match(match)
