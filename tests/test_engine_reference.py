"""The engine against the slow reference, over random options, deals and actions.

Compared at every decision: phase, seat to act, legal set, every hand and pile, voids; after every deal: points, card
points, score changes, scores, winner, truncation, next dealer. See `engine_match.Pair`.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine_match import compare_random_matches, play_random_match
from tests.reference import Options
from tests.reference.options import CHOICES, GAMES, JOKER_ORDERS

FULL = [game for game in GAMES if game != "mini"]


@st.composite
def drawn_options(draw: Any, game: str) -> Options:
    """Any combination of options that the rules do not refuse."""
    preset = GAMES[game]
    teams = draw(st.sampled_from((3, 2))) if preset.players == 6 else preset.teams
    words = {
        field: draw(st.sampled_from([word for word in allowed if word != "non_bidder" or teams == 2]))
        for field, allowed in CHOICES.items()
    }
    changes: dict[str, Any] = {"may_trump": draw(st.booleans()), "protect_scoring": draw(st.booleans())}
    if preset.trump_named:
        changes["exchange"] = draw(st.integers(0, 3))
        changes["exchange_exactly"] = changes["exchange"] > 0 and draw(st.booleans())
        changes["lead_trump_first"] = draw(st.booleans())
        changes["dealer_takes_stock"] = draw(st.booleans())
    else:
        changes["stock_to_bidder"] = draw(st.integers(0, 8))
    if preset.second_joker:
        changes["joker_order"] = draw(st.sampled_from(JOKER_ORDERS))
    target = draw(st.sampled_from((preset.target, 5, 1)))
    return replace(preset, teams=teams, target=target, **words, **changes)


@pytest.mark.parametrize("game", FULL)
@settings(max_examples=48, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_engine__agrees_with_the_reference_under_any_options(game: str, data: Any, seed: int) -> None:
    options = data.draw(drawn_options(game))
    play_random_match(options, Random(seed), max_deals=2)


@pytest.mark.parametrize("game", GAMES)
def test_engine__agrees_with_the_reference(game: str) -> None:
    decisions = 3_000 if game in ("setback", "racehorse") else 6_000
    assert compare_random_matches(game, seed=1, decisions=decisions) >= decisions


@pytest.mark.slow
@pytest.mark.parametrize("game", FULL)
def test_engine__agrees_with_the_reference_in_100_000_decisions(game: str) -> None:
    assert compare_random_matches(game, seed=2, decisions=100_000) >= 100_000
