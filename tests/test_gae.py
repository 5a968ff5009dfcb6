"""Advantages over consecutive decisions of all seats, against numbers worked by hand and a slow reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.reference.learning import Decision, seat_returns, team_advantage

pytest.importorskip("torch")

from training.gae import advantages, own_first, team_values

GAMES = pytest.mark.parametrize(("seats", "teams"), [(4, 2), (6, 3)], ids=["four_point", "schmier"])


def random_games(seats: int, teams: int, *, steps: int = 60, games: int = 5):
    """Random seats (the same twice in a row too), values, rewards and ends: arrays [T, N, ..] and as games."""
    generator = np.random.default_rng(seats)
    seat = generator.integers(seats, size=(steps, games))
    values = generator.normal(size=(steps, games, teams)).astype(np.float32)
    rewards = generator.normal(size=(steps, games, teams)).astype(np.float32)
    ended = generator.random((steps, games)) < 0.15
    last = generator.normal(size=(games, teams)).astype(np.float32)
    played = [
        [
            Decision(
                int(seat[t, g]),
                tuple(values[t, g].tolist()),
                tuple(rewards[t, g].tolist()),
                bool(ended[t, g]),
            )
            for t in range(steps)
        ]
        for g in range(games)
    ]
    return seat, values, rewards, ended, last, played


def column(*numbers: float) -> np.ndarray:
    """[T, 1, 2] of a game of two teams in which all that one gains the other loses."""
    one = np.array(numbers, np.float32)
    return np.stack([one, -one], axis=-1)[:, None]


def test_gae__hand_worked() -> None:
    # Deltas of team 0: 0+1-0.5, 2+(-1)-1, 4+0-(-1). With lambda 0.5: 5, 0+2.5, 0.5+1.25.
    ended = np.array([[False], [False], [True]])
    found = advantages(column(0, 2, 4), column(0.5, 1, -1), column(9)[0], ended, 0.5)
    assert found[:, 0, 0].tolist() == [1.75, 2.5, 5.0]
    assert found[:, 0, 1].tolist() == [-1.75, -2.5, -5.0]


def test_gae__bootstraps_after_the_last_decision() -> None:
    found = advantages(column(1), column(0.5), column(2)[0], np.array([[False]]), 0.95)
    assert found[0, 0].tolist() == [2.5, -2.5]


@GAMES
@pytest.mark.parametrize("lam", [0.0, 0.5, 0.95, 1.0])
def test_gae__equals_a_loop_over_decisions_with_a_value_per_team(seats: int, teams: int, lam: float) -> None:
    _, values, rewards, ended, last, played = random_games(seats, teams)
    found = advantages(rewards, values, last, ended, lam)
    expected = [
        [
            [team_advantage(game, start, team, last[number].tolist(), lam) for team in range(teams)]
            for number, game in enumerate(played)
        ]
        for start in range(len(values))
    ]
    np.testing.assert_allclose(found, expected, atol=1e-4)


def own_advantages(seats: int, teams: int, lam: float) -> tuple[np.ndarray, np.ndarray]:
    """Advantages of the deciding seats [T, N], and each seat's own return less its value."""
    seat, values, rewards, ended, last, played = random_games(seats, teams)
    own = (seat % teams)[..., None]
    found = np.take_along_axis(advantages(rewards, values, last, ended, lam), own, axis=-1)[..., 0]
    returns = np.array([seat_returns(game, last[g].tolist()) for g, game in enumerate(played)]).T
    return found, returns - np.take_along_axis(values, own, axis=-1)[..., 0]


@GAMES
def test_gae__at_lambda_1_is_each_seats_own_return(seats: int, teams: int) -> None:
    np.testing.assert_allclose(*own_advantages(seats, teams, 1.0), atol=1e-4)


@GAMES
def test_gae__below_1_differs_from_each_seats_own_return(seats: int, teams: int) -> None:
    found, returns = own_advantages(seats, teams, 0.95)
    assert np.abs(found - returns).max() > 0.1


@GAMES
@pytest.mark.parametrize("lam", [0.95, 1.0])
def test_gae__nothing_crosses_an_end(seats: int, teams: int, lam: float) -> None:
    _, values, rewards, ended, last, _ = random_games(seats, teams)
    ended[20] = True
    before = advantages(rewards, values, last, ended, lam)
    rewards[21:] += 100
    values[21:] -= 50
    after = advantages(rewards, values, last + 7, ended, lam)
    np.testing.assert_array_equal(before[:21], after[:21])
    np.testing.assert_array_equal(before[20], rewards[20] - values[20])


def test_gae__terminal_reward_reaches_seats_that_do_not_move_last() -> None:
    # Seats 0, 1, 2, 3 decide once each and only the last card pays: every seat is credited, with its team's sign.
    rewards, values = column(0, 0, 0, 3), column(0, 0, 0, 0)
    found = advantages(rewards, values, column(0)[0], np.array([[False], [False], [False], [True]]), 1.0)
    assert found[:, 0, 0].tolist() == [3, 3, 3, 3]
    assert found[:, 0, 1].tolist() == [-3, -3, -3, -3]


def test_gae__seat_that_acts_twice_in_a_row_keeps_what_came_between() -> None:
    # Seat 1 discards twice: the reward between its two decisions belongs to the first alone.
    found = advantages(column(-2, 1), column(0, 0), column(0)[0], np.array([[False], [True]]), 1.0)
    assert found[:, 0, 1].tolist() == [1, -1]


@GAMES
@pytest.mark.parametrize("lam", [0.5, 1.0])
def test_gae__decisions_of_others_are_part_of_what_follows(seats: int, teams: int, lam: float) -> None:
    _, values, rewards, ended, last, played = random_games(seats, teams)
    generator = np.random.default_rng(1)
    learns, known = generator.random(ended.shape) < 0.6, np.array([True, True, False, False, False])
    learns[-1], learns[-2:, 3] = False, False
    ended[-1, 4] = True  # here what follows is known all the same: nothing
    played[4][-1] = replace(played[4][-1], ended=True)
    found = advantages(rewards, values, last, ended, lam, learns, known)
    assert not found[~learns].any()
    for number, game in enumerate(played):
        own: list[Decision] = []  # the learner's, each with all that was earned up to its next one
        places = []
        for place, decision in enumerate(game):
            if learns[place, number]:
                own.append(decision)
                places.append(place)
            elif own and not own[-1].ended:
                earned = tuple(a + b for a, b in zip(own[-1].rewards, decision.rewards, strict=True))
                own[-1] = replace(own[-1], rewards=earned, ended=decision.ended)
        cut = not known[number] and not own[-1].ended
        if cut:  # nothing is learnt from the last one, and the others go on with its value
            assert not found[places[-1], number].any()
        follows = own[-1].values if cut else last[number].tolist()
        record = own[:-1] if cut else own
        expected = [
            [team_advantage(record, start, team, follows, lam) for team in range(teams)]
            for start in range(len(record))
        ]
        np.testing.assert_allclose(found[places[: len(record)], number], expected, atol=1e-4)


def test_team_values__hand_worked() -> None:
    # Seat 4 of three teams is in team 1: it sees team 1, then 2, then 0.
    seen = np.array([[10, 20, 30]], np.float32)
    assert team_values(seen, np.array([4]), 3).tolist() == [[30, 10, 20]]
    assert own_first(np.array([[30, 10, 20]], np.float32), np.array([4]), 3).tolist() == seen.tolist()


@GAMES
def test_own_first__undoes_team_values(seats: int, teams: int) -> None:
    seat, values, *_ = random_games(seats, teams)
    np.testing.assert_array_equal(own_first(team_values(values, seat, teams), seat, teams), values)
    np.testing.assert_array_equal(team_values(own_first(values, seat, teams), seat, teams), values)
    own = np.take_along_axis(values, (seat % teams)[..., None], axis=-1)
    np.testing.assert_array_equal(own_first(values, seat, teams)[..., :1], own)
