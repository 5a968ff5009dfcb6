"""Value iteration: by hand, against linear equations in plain Python, and what cannot be solved."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from smear_env import Rules, make_rules
from tests.engine_match import options_of
from tests.reference import scoring
from training.equity.grid import Grid, make_grid
from training.equity.outcomes import Outcomes
from training.equity.solve import (
    ConvergenceError,
    bellman_residual,
    bin_losses,
    find_successors,
    iterate,
    solve,
    standard_errors,
)

Row = tuple[int, tuple[int, ...], int, bool, float]
"""Combination of bins, score changes, bidding team (-1 nobody), bid made, count."""


def outcomes_of(grid: Grid, rows: list[Row]) -> Outcomes:
    coarse, delta, bidder, made, count = (np.array(column) for column in zip(*sorted(rows), strict=True))
    return Outcomes(grid, coarse, delta, bidder, made, count.astype(float))


def solved(rules: Rules, grid: Grid, rows: list[Row]) -> Any:
    outcomes = outcomes_of(grid, rows)
    return solve(outcomes, find_successors(rules, outcomes)).values


@pytest.mark.parametrize(("all_pass", "expected"), [("same_dealer", 1 / 3), ("next_dealer", 0.4)])
def test_one_deal_to_go__is_hand_worked(all_pass: str, expected: float) -> None:
    """The dealer's team wins a quarter of deals, the other half of them, a quarter is passed out.

    With the same dealer V = 1/4 + V/4, so 1/3; with the next V = 1/4 + (1 - V)/4, so 2/5.
    """
    rules = make_rules("four_point", target=1, all_pass=all_pass)
    grid = Grid(2, 0, 1, (0,), 0)
    rows = [(0, (1, 0), 0, True, 1.0), (0, (0, 1), 1, True, 2.0), (0, (0, 0), -1, False, 1.0)]
    values = solved(rules, grid, rows)
    assert values[grid.cell([0, 0])] == pytest.approx([expected, 1 - expected], abs=1e-6)


def test_two_points_to_go__is_hand_worked() -> None:
    """One point a deal, the dealer's team's with probability a; the deal passes left each time."""
    a = 0.3
    rules, grid = make_rules("four_point", target=2), Grid(2, 0, 2, (0,), 1)
    values = solved(rules, grid, [(0, (1, 0), 0, True, 3.0), (0, (0, 1), 1, True, 7.0)])
    level = a
    ahead = a + (1 - a) * (1 - level)
    behind = a * (1 - level)
    start = a * (1 - behind) + (1 - a) * (1 - ahead)
    for scores, expected in (((1, 1), level), ((1, 0), ahead), ((0, 1), behind), ((0, 0), start)):
        assert values[grid.cell(scores)] == pytest.approx([expected, 1 - expected], abs=1e-6)


def random_rows(grid: Grid, rules: Rules, random: Random) -> list[Row]:
    rows: list[Row] = []
    for coarse in range(grid.coarse_cells):
        for _ in range(5):
            bidder = random.randrange(grid.teams)
            made = random.random() < 0.7
            delta = [random.randrange(3) for _ in range(grid.teams)]
            delta[bidder] = random.randrange(1, 4) if made else -random.randrange(1, 3)
            rows.append((coarse, tuple(delta), bidder, made, random.randrange(1, 9)))
        rows.append((coarse, (0,) * grid.teams, -1, False, random.randrange(1, 4)))
    return rows


def by_equations(rules: Rules, grid: Grid, rows: list[Row]) -> dict[Any, Any]:
    """Every (scores, dealer's team), teams absolute, as unknowns of linear equations; the rules are the reference's."""
    options, teams = options_of(rules), rules.teams
    span = range(grid.floor, grid.ceiling + 1)
    unknowns = {key: number for number, key in enumerate(product(product(span, repeat=teams), range(teams)))}
    matrix, constant = np.eye(len(unknowns)), np.zeros((len(unknowns), teams))
    for (scores, dealer), number in unknowns.items():
        places = [
            max(i for i, low in enumerate(grid.bins) if min(scores[(dealer + r) % teams], grid.last) >= low)
            for r in range(teams)
        ]
        coarse = 0
        for place in places:
            coarse = coarse * len(grid.bins) + place
        mine = [row for row in rows if row[0] == coarse]
        total = sum(row[4] for row in mine)
        for _, relative, bidder, made, count in mine:
            after, winner = list(scores), None
            if bidder >= 0:
                delta = [relative[(team - dealer) % teams] for team in range(teams)]
                seat = (bidder + dealer) % teams
                after = scoring.new_scores(options, seat, list(scores), delta)
                winner = scoring.match_winner(options, seat, made, after)
            if winner is not None:
                constant[number, winner] += count / total
                continue
            passes = bidder >= 0 or rules.all_pass == "next_dealer"
            key = (
                tuple(min(max(score, grid.floor), grid.ceiling) for score in after),
                (dealer + passes) % teams,
            )
            matrix[number, unknowns[key]] -= count / total
    values = np.linalg.solve(matrix, constant)
    return {key: values[number] for key, number in unknowns.items()}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("ending", ["any", "made_deal", "made_bid", "cap"])
def test_values__are_those_of_linear_equations(ending: str, seed: int) -> None:
    random = Random(f"{ending} {seed}")
    teams = 2 + seed % 2
    rules = make_rules(
        "four_point" if teams == 2 else "schmier",
        target=2,
        ending=ending,
        both_out=random.choice(["highest", "bidder"]),
        all_pass=random.choice(["same_dealer", "next_dealer"]),
    )
    grid = Grid(teams, -2, 4, (-2, 0, 1), 1) if teams == 2 else Grid(teams, -1, 4, (-1, 1), 1)
    rows = random_rows(grid, rules, random)
    values = solved(rules, grid, rows)
    for (scores, dealer), expected in by_equations(rules, grid, rows).items():
        relative = [scores[(dealer + place) % teams] for place in range(teams)]
        by_place = [expected[(dealer + place) % teams] for place in range(teams)]
        assert values[grid.cell(relative)] == pytest.approx(by_place, abs=1e-5)


def test_values__sum_to_one_over_teams() -> None:
    rules, random = make_rules("schmier", target=3), Random(1)
    grid = Grid(3, -2, 6, (-2, 0, 1), 2)
    values = solved(rules, grid, random_rows(grid, rules, random))
    assert values.sum(axis=1) == pytest.approx(np.ones(grid.cells), abs=1e-5)
    assert (values >= 0).all()


def test_residual__says_how_far_values_are_from_settled() -> None:
    rules, grid = make_rules("four_point", target=2), Grid(2, 0, 2, (0,), 1)
    outcomes = outcomes_of(grid, [(0, (1, 0), 0, True, 3.0), (0, (0, 1), 1, True, 7.0)])
    successors = find_successors(rules, outcomes)
    values = np.full((grid.cells, 2), 0.5)
    iterate(values, outcomes.probability, successors)
    assert bellman_residual(values, outcomes.probability, successors) < 1e-6
    values[grid.cell([1, 1]), 0] += 0.1
    # Its own value is off by all of it.
    assert bellman_residual(values, outcomes.probability, successors) == pytest.approx(0.1, abs=1e-5)


def test_player_whose_matches_never_end__is_refused() -> None:
    rules, grid = make_rules("four_point"), make_grid(make_rules("four_point"), bins=(0,))
    rows = [(coarse, (0, 0), -1, False, 1.0) for coarse in range(grid.coarse_cells)]
    outcomes = outcomes_of(grid, rows)
    with pytest.raises(ConvergenceError, match="hardly end"):
        solve(outcomes, find_successors(rules, outcomes))


def test_standard_error__is_that_of_a_share() -> None:
    """One deal decides, so that a value is a share of the deals counted: sqrt(p (1 - p) / n)."""
    rules, grid = make_rules("four_point", target=1), Grid(2, 0, 1, (0,), 0)
    outcomes = outcomes_of(grid, [(0, (1, 0), 0, True, 60.0), (0, (0, 1), 1, True, 140.0)])
    successors = find_successors(rules, outcomes)
    values = solve(outcomes, successors).values
    errors = standard_errors(outcomes, successors, values, replicates=400, seed=1)
    assert errors[grid.cell([0, 0])] == pytest.approx([np.sqrt(0.3 * 0.7 / 200)] * 2, rel=0.15)


def test_bins_that_say_the_same__lose_nothing_and_others_do() -> None:
    rules = make_rules("four_point", target=3)
    grid = Grid(2, 0, 3, (0, 1, 2), 2)
    rows: list[Row] = []
    for coarse in range(grid.coarse_cells):
        own = 4.0 if coarse // 3 == 2 else 1.0  # the dealer's team does better from two points on
        rows += [(coarse, (1, 0), 0, True, own), (coarse, (0, 1), 1, True, 2.0)]
    outcomes = outcomes_of(grid, rows)
    values = solve(outcomes, find_successors(rules, outcomes)).values
    same, other = bin_losses(rules, outcomes, values)
    assert same["boundary"] == 1
    assert same["largest"] == pytest.approx(0, abs=1e-6)
    assert other["boundary"] == 2
    assert other["largest"] > 0.1


@pytest.mark.parametrize(
    ("bins", "message"), [((3, 3), "must rise"), ((5, 20), "bins=.* must rise: choose bins below the target")]
)
def test_bins_that_make_no_sense__are_refused(bins: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_grid(make_rules("four_point"), bins=bins)


def test_mini__is_no_match() -> None:
    with pytest.raises(ValueError, match=r"mini.*one deal"):
        make_grid(make_rules("mini"))
