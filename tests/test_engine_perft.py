"""Counts of legal sequences from fixed positions: in the engine, in the reference, and as known numbers."""

from __future__ import annotations

import copy
from random import Random

import pytest

from smear_env.rules import make_rules
from smear_env.transcript._engine import EngineMatch
from tests.engine_match import Pair, options_of
from tests.reference import Match, random_deal


def engine_count(match: EngineMatch, deal: int, phase: int | None = None) -> int:
    """Sequences of actions to the end of the deal, or of the phase."""
    if match.deals > deal or (phase is not None and match.fields["phase"][0] != phase):
        return 1
    total = 0
    before, mask = match.fields[0].copy(), match.mask.copy()
    for action in mask.nonzero()[0]:
        match.act(int(action))
        total += engine_count(match, deal, phase)
        match.fields[0] = before
        match.mask[:] = mask
    return total


def reference_count(match: Match, phase: str | None = None) -> int:
    if match.turn is None or (phase is not None and match.phase != phase):
        return 1
    total = 0
    for name in match.legal():
        after = copy.deepcopy(match)
        after.act(name)
        total += reference_count(after, phase)
    return total


@pytest.mark.parametrize(
    ("game", "count"),
    [
        ("four_point", 35),
        ("schmier", 210),
        ("mini", 9),
        ("six_point", 126),
        ("setback", 34),
        ("racehorse", 34),
    ],
)
def test_perft__auctions(game: str, count: int) -> None:
    # With s seats and b bids C(s + b, b); one less where the dealer may not pass last.
    rules = make_rules(game)
    match = EngineMatch(rules, dealer=0)
    reference = Match(options_of(rules), dealer=0)
    reference.deal(*random_deal(options_of(rules), Random(0)))
    assert engine_count(match, 0, phase=0) == reference_count(reference, "bid") == count


@pytest.mark.parametrize(("seed", "count"), [(1, 36), (6, 72), (13, 96)])
def test_perft__whole_deals_of_mini(seed: int, count: int) -> None:
    pair = opened("mini", seed, left=99)
    assert engine_count(pair.engine, 0) == reference_count(pair.reference) == count


@pytest.mark.parametrize(
    ("game", "seed", "left", "count"),
    [
        ("four_point", 2, 12, 372),
        ("four_point", 3, 13, 336),
        ("schmier", 1, 16, 112),
        ("schmier", 2, 18, 320),
    ],
)
def test_perft__ends_of_deals(game: str, seed: int, left: int, count: int) -> None:
    pair = opened(game, seed, left)
    assert engine_count(pair.engine, 0) == reference_count(pair.reference) == count


def opened(game: str, seed: int, left: int) -> Pair:
    """A random deal played at random until so many cards are left to play (99: just dealt)."""
    rng = Random(seed)
    rules = make_rules(game)
    pair = Pair(rules, dealer=0)
    pair.deal(*random_deal(options_of(rules), rng))
    while left < 99 and not (pair.reference.phase == "play" and sum(map(len, pair.reference.hands)) <= left):
        legal = [name for name in pair.legal if name != "pass"] or pair.legal
        pair.act(rng.choice(legal))
    return pair
