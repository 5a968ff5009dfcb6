"""`ScoresAgent`: scores of any origin as an agent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from smear_env import FOUR_POINT, SelfPlayVectorEnv
from smear_env.interop.ordered import OrderedView
from smear_env.interop.scores import ScoresAgent

N = len(FOUR_POINT.action_names)
RISING = np.arange(N) / 10


def views(count: int = 64) -> tuple[Any, Any]:
    shown = SelfPlayVectorEnv(count, "four_point", seed=1).reset()
    return shown.observation.copy(), shown.mask.copy()


def agent(scores: Any, **options: Any) -> ScoresAgent:
    made = ScoresAgent(scores, **options)
    made.reset(FOUR_POINT, -1, 3)
    return made


def test_scores_agent__takes_the_best_legal_action_whatever_the_others_score() -> None:
    seen, masks = views()
    actions = agent(lambda seen, mask: np.where(mask == 0, np.nan, -RISING)).act_batch(seen, masks)
    assert (actions == masks.argmax(axis=1)).all()


def test_scores_agent__probabilities_are_the_softmax_and_drawing_follows_them() -> None:
    seen, masks = views(2000)
    drawing = agent(lambda seen, mask: np.tile(RISING, (len(seen), 1)), sampled=True)
    chances = drawing.probabilities(seen, masks)
    expected = np.exp(RISING) * masks
    assert chances == pytest.approx(expected / expected.sum(axis=1, keepdims=True), abs=1e-6)
    counts = np.bincount(drawing.act_batch(seen, masks), minlength=N) / len(seen)
    assert counts == pytest.approx(chances.mean(axis=0), abs=0.05)


def test_scores_agent__scores_in_order_are_those_of_the_actions_that_they_stand_for() -> None:
    view, (seen, masks) = OrderedView(FOUR_POINT), views(16)
    shown = view.see(seen, masks)
    given = np.random.default_rng(2).random(masks.shape)

    def scores(inputs: Any, mask: Any) -> Any:
        assert np.array_equal(inputs, shown.inputs)
        assert np.array_equal(mask, shown.mask)
        return given

    chances = agent(scores, ordered=True).probabilities(seen, masks)
    for row, (order, legal) in enumerate(zip(shown.order, shown.mask, strict=True)):
        weights = np.exp(given[row]) * legal
        for action in np.flatnonzero(legal):
            (named,) = view.actions([action], order[None])
            assert chances[row, named] == pytest.approx(weights[action] / weights.sum(), abs=1e-6)


def test_scores_agent__scores_that_make_no_sense_are_named() -> None:
    seen, masks = views()
    with pytest.raises(ValueError, match=rf"shape \(64, 3\), expected \(64, {N}\)"):
        agent(lambda seen, mask: np.zeros((len(seen), 3))).act_batch(seen, masks)
    with pytest.raises(ValueError, match="not finite"):
        agent(lambda seen, mask: np.full((len(seen), N), np.nan)).act_batch(seen, masks)
