"""Fitting expert: the same seed gives the same book, and fitting makes it stronger."""

from __future__ import annotations

import numpy as np
import pytest

from smear_env.agents.expert import fit
from smear_env.rules import make_rules

pytestmark = pytest.mark.slow


def test_fit__repeats_with_the_seed() -> None:
    books = []
    for seed in (3, 3, 4):
        fitter = fit.Fitter(make_rules("mini"), seed)
        fit.fit([fitter], 2, 500, quiet=True)
        books.append(fitter.book[0])
    for field in ("makes", "passed", "weights"):
        np.testing.assert_array_equal(books[0][field], books[1][field])
    assert (books[0]["weights"] != books[2]["weights"]).any()


def test_fit__makes_expert_stronger_than_it_began() -> None:
    rules = make_rules("four_point")
    fitter = fit.Fitter(rules, 5)
    first = fitter.book.copy()
    fit.fit([fitter], 1, 4000, quiet=True)
    mean, error = fitter.against(first, 0, 4000, 6)
    assert mean - 2 * error > 0.2


def test_choices__are_worth_what_the_deal_brings_when_played_out() -> None:
    fitter = fit.Fitter(make_rules("four_point"), 6)
    choices, calls = fitter.gather(200, 0)
    assert (np.diff(choices.start) >= 2).all()
    assert np.abs(choices.value).max() <= 8
    assert (calls.own[calls.call == 0] == -1).all()
    stood = calls.own >= 0
    assert ((calls.own[stood] >= 0) & (calls.own[stood] <= 4)).all()
