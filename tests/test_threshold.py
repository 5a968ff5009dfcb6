"""The player of fixed thresholds values hands as published, and loses to expert."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("scipy")

from benchmarks.threshold import ThresholdAgent
from smear_env.agents import ANY_SEAT, make_agent
from smear_env.rules import make_rules
from smear_env.vector import SelfPlayVectorEnv
from training.evaluate import compare, summarize


def value(game: str, hand: str, suit: str) -> float:
    rules = make_rules(game)
    agent = ThresholdAgent()
    agent.reset(rules, ANY_SEAT, 0)
    return agent.suit_value([rules.card_names.index(card) for card in hand.split()], rules.suits.index(suit))


def test_value__adds_high_game_and_jack() -> None:
    # High 1, Low 0 (three lower trumps out), four trumps 0.8, ten 0.6, side ace 0.2 and queen 0.15, jack with three 1.
    assert value("four_point", "AS KS TS JS AH QD", "S") == pytest.approx(3.75)


def test_value__counts_low_and_a_ten_with_few_trumps() -> None:
    # Low 1, King: the ace is out of play with chance 8/26, two trumps 0.4, no ten; then the same with the ten.
    assert value("four_point", "KS 7S 9H 8H 8D 9D", "S") == pytest.approx(8 / 26 + 1 + 0.4)
    assert value("four_point", "TS 7S 9H 8H 8D 9D", "S") == pytest.approx(1 + 0.4 + 0.3)


def test_value__of_each_bower() -> None:
    # Right and left with three other trumps 1 each, five trumps 1, High and Low 0: all trumps are in play.
    assert value("schmier", "KS JS JC 9S 8S 4H", "S") == pytest.approx(3.0)


def test_bid__is_the_whole_part_of_the_value_above_the_bids_so_far() -> None:
    rules = make_rules("four_point")
    agent = ThresholdAgent()
    agent.reset(rules, ANY_SEAT, 0)
    env = SelfPlayVectorEnv(200, rules, seed=4, episode="deal")
    shown = env.reset()
    actions = agent.act_batch(shown.observation, shown.mask)
    for row, action in zip(shown.observation, actions, strict=True):
        hand = np.flatnonzero(row[: len(rules.card_names)]).tolist()
        best = max(agent.suit_value(hand, suit) for suit in range(4))
        name = rules.action_names[action]
        assert name == ("pass" if best < 2 else str(min(4, int(best))))


@pytest.mark.parametrize(("game", "pairs"), [("four_point", 400), ("schmier", 300)])
def test_expert__beats_the_threshold_player(game: str, pairs: int) -> None:
    result = summarize(compare(make_agent("expert"), ThresholdAgent(), make_rules(game), pairs, 5), 0)
    assert result["interval"][0] > 0
