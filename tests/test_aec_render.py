"""The table that is drawn is the table that is played."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from smear_env.aec import env as make_env
from smear_env.render import to_text
from smear_env.rules import Rules
from tests.aec_helpers import (
    beside_reference,
    each_game,
    every_game,
    every_phase,
    near_target,
    position,
    started,
)


@every_game
def test_table_view__is_the_reference_table(rules: Rules) -> None:
    for seed in range(3):
        for env, match in beside_reference(rules, Random(seed), 2, near_target(rules)):
            table = env.table_view()
            assert [sorted(hand) for hand in table.hands] == [sorted(hand) for hand in match.hands]
            assert table.stock == len(match.stock)
            assert list(table.bids) == match.bids
            assert (table.bidder, table.bid, table.trump) == (match.bidder, match.bid, match.trump)
            assert (table.turn, table.phase, table.dealer) == (match.turn, match.phase, match.dealer)
            assert list(table.trick) == match.trick
            last = match.tricks[-1] if match.tricks else (None, [], None)
            assert (list(table.last_trick), table.last_winner) == last[1:]
            winners = [winner % rules.teams for _, _, winner in match.tricks]
            assert list(table.tricks_won) == [winners.count(team) for team in range(rules.teams)]
            assert list(table.exchanged) == [len(taken) for taken in match.taken]
            assert (list(table.scores), table.winner) == (match.scores, match.winner)
            assert table.deal == len(match.results) + (match.phase != "over")


@every_phase
def test_table_view__a_viewer_sees_one_hand(rules: Rules, phase: str) -> None:
    env = position(rules, phase, Random(1))
    table = env.table_view()
    for viewer in range(rules.players):
        hidden = env.table_view(viewer)
        for seat in range(rules.players):
            assert hidden.hands[seat] == (table.hands[seat] if seat == viewer else len(table.hands[seat]))


def test_table_view__hands_stand_by_suit_the_highest_first() -> None:
    env = started("schmier", 1)
    hand = env.table_view().hands[0]
    order = {name: index for index, name in enumerate(env.rules.card_names)}
    assert list(hand) == sorted(hand, key=lambda card: (card != "JK", card[-1], -order[card]))


@each_game
def test_render__modes(rules: Rules, capsys: pytest.CaptureFixture[str]) -> None:
    for mode in ("ansi", "human", "rgb_array"):
        env = make_env(rules, render_mode=mode)
        env.reset(seed=1)
        shown, printed = env.render(), capsys.readouterr().out
        text = to_text(env.unwrapped.table_view())
        if mode == "rgb_array":
            assert shown.dtype == np.uint8
            assert shown.ndim == 3
            assert shown.shape[2] == 3
        else:
            assert (shown, printed.strip()) == ((text, "") if mode == "ansi" else (None, text.strip()))


def test_render__without_a_mode_warns() -> None:
    env = started("four_point")
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None
