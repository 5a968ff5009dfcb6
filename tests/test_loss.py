"""PPO's loss over a minibatch: its terms against numbers worked by hand, and their derivatives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from smear_env import PRESETS

pytest.importorskip("torch")

from training.loss import (
    CLIPPED,
    ENTROPY,
    KL,
    MAGNET,
    POLICY,
    REGRET,
    TERMS,
    TUTORS,
    VALUE,
    Counts,
    Decisions,
    Weights,
    differentiate,
)

GAMES = pytest.mark.parametrize("preset", ["four_point", "schmier"])
PLAIN = Weights(clip=0.2, entropy=0.0, bid_entropy=0.0, value=0.5)


@dataclass(frozen=True)
class Found:
    """A minibatch's terms, and the loss's derivatives."""

    terms: Any  # [TERMS]
    by_logits: Any  # [B, n]
    by_values: Any  # [B, teams]


def find(
    logits: Any,
    mask: Any,
    *,
    values: Any = None,
    magnet: Any = None,
    tutors: Any = None,
    weights: Weights = PLAIN,
    **changed: Any,
) -> Found:
    """The loss of so many decisions, in which nothing is to be learnt but for what is given."""
    logits, mask = np.asarray(logits, np.float32), np.asarray(mask, np.int8)
    rows = len(mask)
    values = np.zeros((rows, 2), np.float32) if values is None else np.asarray(values, np.float32)
    given: dict[str, Any] = {
        "taught": np.zeros(rows, bool),
        "lesson": np.zeros((rows, mask.shape[1]), np.float32),
        "mask": mask,
        "action": mask.argmax(axis=1),
        "log_probability": np.zeros(rows, np.float32),
        "advantage": np.zeros(rows, np.float32),
        "returns": values.copy(),
        "bidding": np.zeros(rows, bool),
        "by_chance": np.zeros(rows, bool),
    }
    for name, value in changed.items():
        given[name] = np.asarray(value, given[name].dtype)
    found = Found(np.zeros(len(TERMS)), np.full_like(logits, np.nan), np.full_like(values, np.nan))
    counts = Counts(rows, int((~given["by_chance"]).sum()), int(given["taught"].sum()))
    differentiate(
        Decisions(**given),
        np.arange(rows),
        logits,
        values,
        *(
            np.empty((0, logits.shape[1]), np.float32) if given is None else np.asarray(given, np.float32)
            for given in (magnet, tutors)
        ),
        weights,
        counts,
        found.by_logits,
        found.by_values,
        found.terms,
    )
    return found


def masked_logits(preset: str, rows: int) -> tuple[Any, Any]:
    """Strong preferences, and a mask of its own for each row; row 0 allows action 5 alone."""
    generator = np.random.default_rng(0)
    actions = len(PRESETS[preset].action_names)
    mask = (generator.random((rows, actions)) < 0.2).astype(np.int8)
    mask[np.arange(rows), np.arange(rows) % actions] = 1
    mask[0] = 0
    mask[0, 5] = 1
    return (3 * generator.normal(size=(rows, actions))).astype(np.float32), mask


def exact_entropies(logits: Any, mask: Any) -> list[float]:
    """Of each row's legal actions, in double precision."""
    entropies = []
    for row, legal in zip(logits.astype(float), mask, strict=True):
        weights = np.exp(row[legal == 1] - row[legal == 1].max())
        entropies.append(-sum(p * math.log(p) for p in weights / weights.sum()))
    return entropies


def log_softmax(row: Any) -> Any:
    """Log-probabilities by logits, in double precision."""
    row = np.asarray(row, float)
    return row - row.max() - np.log(np.exp(row - row.max()).sum())


LOG_HALF = math.log(0.5)


def test_loss__clipped_surrogate_hand_worked() -> None:
    # Ratios 1.5, 1.5, 0.5, 0.5 and 1 with clip 0.2: min(r A, clip(r) A).
    found = find(
        np.log([[0.75, 0.25], [0.75, 0.25], [0.25, 0.75], [0.25, 0.75], [0.5, 0.5]]),
        np.ones((5, 2)),
        action=[0] * 5,
        log_probability=[LOG_HALF] * 5,
        advantage=[1, -1, 1, -1, 3],
    )
    assert found.terms[POLICY] == pytest.approx(-(1.2 - 1.5 + 0.5 - 0.8 + 3.0) / 5)
    assert found.terms[CLIPPED] == pytest.approx(4 / 5)
    log = math.log
    assert found.terms[KL] == pytest.approx((2 * (0.5 - log(1.5)) + 2 * (-0.5 - log(0.5))) / 5, abs=1e-6)
    # Where the clipped side is the smaller, nothing pulls the policy further: rows 0 and 3.
    assert [bool(pull != 0) for pull in found.by_logits[:, 0]] == [False, True, True, False, True]


def test_loss__value_is_the_squared_error_of_each_team() -> None:
    found = find([[0, 0]], np.ones((1, 2)), values=[[1, -1, 0]], returns=[[3, -1, -2]])
    assert found.terms[VALUE] == pytest.approx(0.5 * (4 + 0 + 4) / 3)
    assert found.by_values[0].tolist() == pytest.approx([PLAIN.value * slope for slope in (-2 / 3, 0, 2 / 3)])
    assert not found.by_logits.any(), "an advantage of 0 moves nothing"


@GAMES
def test_loss__entropy_is_exact_over_the_legal_actions_of_each_row(preset: str) -> None:
    logits, mask = masked_logits(preset, 50)
    exact = exact_entropies(logits, mask)
    assert exact[0] == 0
    assert find(logits, mask).terms[ENTROPY] == pytest.approx(np.mean(exact), abs=1e-6)


@GAMES
def test_loss__one_legal_action_moves_nothing_and_illegal_ones_never_move(preset: str) -> None:
    logits, mask = masked_logits(preset, 50)
    logits[mask == 0] = 1e30  # whatever the network says of them
    found = find(logits, mask, advantage=np.ones(50), weights=PLAIN._replace(entropy=0.1))
    assert np.isfinite(found.by_logits).all()
    assert not found.by_logits[0].any()
    assert not found.by_logits[mask == 0].any()
    assert found.by_logits[mask == 1].any()


@GAMES
@pytest.mark.parametrize("seed", range(3))
def test_loss__derivatives_are_those_of_its_terms(preset: str, seed: int) -> None:
    # Central differences of the total, term by term as the module's text says.
    generator = np.random.default_rng(seed)
    logits, mask = masked_logits(preset, 6)
    teams = PRESETS[preset].teams
    values, returns = generator.normal(size=(2, 6, teams))
    weights = Weights(0.2, 0.3, 0.7, 0.5, magnet=0.4, teacher=0.6, point=0.5, softness=2.0, tutors=0.3)
    magnet, tutors, lesson = generator.normal(size=(3, *logits.shape)).astype(np.float32)
    taught = np.arange(6) > 3
    by_chance, bidding = np.arange(6) == 1, np.arange(6) < 3
    action = np.array([generator.choice(np.flatnonzero(row)) for row in mask])
    old, advantage = np.log(generator.uniform(0.1, 1, 6)), generator.normal(size=6)

    def total(logits: Any, values: Any) -> float:
        result = 0.5 * weights.value * np.square(values - returns).mean()
        for i in range(6):
            legal = np.flatnonzero(mask[i])
            row = logits[i, legal].astype(float)
            logs = log_softmax(row)
            chosen = logs[legal == action[i]][0]
            if by_chance[i]:
                result -= chosen / 6
                continue
            own = 1 - weights.tutors
            soft, told = log_softmax(row / weights.softness), log_softmax(tutors[i, legal] / weights.softness)
            result += weights.tutors * weights.softness**2 * (np.exp(told) * (told - soft)).sum() / 6
            held = log_softmax(magnet[i, legal])
            result += own * weights.magnet * (np.exp(logs) * (logs - held)).sum() / 6
            if taught[i]:
                earned = weights.softness * weights.point * (np.exp(soft) * lesson[i, legal]).sum()
                result -= own * weights.teacher * earned / 5
                own *= 1 - weights.teacher
            ratio = np.exp(chosen - np.float32(old[i]))
            result -= own * min(ratio * advantage[i], np.clip(ratio, 0.8, 1.2) * advantage[i]) / 5
            bonus = weights.bid_entropy if bidding[i] else weights.entropy
            result += own * bonus * (np.exp(logs) * logs).sum() / 6
        return float(result)

    found = find(
        logits,
        mask,
        values=values,
        returns=returns,
        magnet=magnet,
        tutors=tutors,
        weights=weights,
        taught=taught,
        lesson=lesson,
        by_chance=by_chance,
        bidding=bidding,
        action=action,
        log_probability=old,
        advantage=advantage,
    )
    logits, step = logits.astype(float), 1e-5
    for array, slopes in ((logits, found.by_logits), (values, found.by_values)):
        for place in np.ndindex(array.shape):
            kept = array[place]
            array[place] = kept + step
            above = total(logits, values)
            array[place] = kept - step
            below = total(logits, values)
            array[place] = kept
            assert slopes[place] == pytest.approx((above - below) / (2 * step), abs=2e-5)


def test_loss__magnet_hand_worked() -> None:
    # KL of (3/4, 1/4) from (1/2, 1/2): log 2 less the entropy.
    held = Weights(clip=0.2, entropy=0.0, bid_entropy=0.0, value=0.5, magnet=2.0)
    found = find([np.log([3.0, 1.0])], np.ones((1, 2)), magnet=[[5.0, 5.0]], weights=held)
    assert found.terms[MAGNET] == pytest.approx(0.75 * math.log(1.5) + 0.25 * math.log(0.5))
    assert found.by_logits[0, 0] == pytest.approx(2 * 0.75 * (math.log(1.5) - found.terms[MAGNET]))
    assert find([[1.0, 0.0]], np.ones((1, 2)), magnet=[[2.0, 1.0]], weights=held).by_logits == pytest.approx(
        0
    )


def test_loss__tutors_hand_worked() -> None:
    # Softened by 2 the tutors say (3/4, 1/4) where the policy says (1/2, 1/2); what it earned counts half.
    told = Weights(clip=0.2, entropy=0.0, bid_entropy=0.0, value=0.5, tutors=0.5, softness=2.0)
    found = find(np.zeros((1, 2)), np.ones((1, 2)), tutors=[np.log([9.0, 1.0])], weights=told)
    assert found.terms[TUTORS] == pytest.approx(0.75 * math.log(1.5) + 0.25 * math.log(0.5))
    assert found.by_logits[0] == pytest.approx([-0.5 * 2 * 0.25, 0.5 * 2 * 0.25])
    earned = find(
        *(np.zeros((1, 2)), np.ones((1, 2))),
        tutors=np.zeros((1, 2)),
        weights=told,
        advantage=[1.0],
        log_probability=[LOG_HALF],
    )
    assert earned.by_logits[0] == pytest.approx([-0.5 * 0.5, 0.5 * 0.5])


def test_loss__tutors_alone_at_first() -> None:
    alone = Weights(clip=0.2, entropy=0.3, bid_entropy=0.3, value=0.5, tutors=1.0, teacher=1.0, magnet=0.5)
    found = find(
        *([[2.0, 0.0]], np.ones((1, 2))),
        tutors=[[7.0, 5.0]],
        magnet=[[0.0, 9.0]],
        weights=alone,
        advantage=[1.0],
        taught=[True],
        lesson=[[0.0, 4.0]],
    )
    assert found.by_logits == pytest.approx(0)


def test_loss__lesson_hand_worked() -> None:
    # Chances 9/10 and 1/10, worth 2 and 6 points: 2.4 in the mean, 3.6 below the best. A point is half a deviation.
    taught = Weights(clip=0.2, entropy=0.0, bid_entropy=0.0, value=0.5, teacher=0.25, point=0.5, softness=2.0)
    given = {
        "advantage": [1.0, 1.0],
        "log_probability": [math.log(0.9)] * 2,
        "taught": [True, False],
        "lesson": [[2.0, 6.0]] * 2,
    }
    found = find([np.log([9.0, 1.0])] * 2, np.ones((2, 2)), weights=taught, **given)
    assert found.terms[REGRET] == pytest.approx(3.6)
    surrogate = -0.1 / 2  # of the first action's logit: 1 - 9/10, over two decisions
    assert found.by_logits[1] == pytest.approx([surrogate, -surrogate])
    # Softened the chances are 3/4 and 1/4, worth 3 in the mean.
    lesson = -0.25 * 0.5 * 0.75 * (2 - 3) / 2
    expected = 0.75 * surrogate + lesson
    assert found.by_logits[0] == pytest.approx([expected, -expected])


def test_loss__bids_have_an_entropy_bonus_of_their_own() -> None:
    logits, mask = masked_logits("four_point", 10)
    bidding = np.arange(10) < 4
    alone = find(logits, mask, weights=PLAIN._replace(entropy=1.0)).by_logits
    found = find(
        logits, mask, weights=PLAIN._replace(entropy=0.25, bid_entropy=2.0), bidding=bidding
    ).by_logits
    np.testing.assert_allclose(found[:4], 2.0 * alone[:4], atol=1e-6)
    np.testing.assert_allclose(found[4:], 0.25 * alone[4:], atol=1e-6)
    assert alone[1:4].any()


def test_loss__call_drawn_by_chance_teaches_values_and_has_no_surrogate() -> None:
    logits, mask = masked_logits("four_point", 10)
    generator = np.random.default_rng(2)
    changed: dict[str, Any] = {
        "advantage": generator.normal(size=10),
        "returns": generator.normal(size=(10, 2)),
    }
    changed["log_probability"] = generator.normal(size=10) - 2
    found = find(logits, mask, by_chance=np.arange(10) < 4, **changed)
    alone = find(logits[4:], mask[4:], **{name: part[4:] for name, part in changed.items()})
    for term in (POLICY, KL, CLIPPED):
        assert found.terms[term] == pytest.approx(alone.terms[term], abs=1e-6), TERMS[term]
    plain = find(logits, mask, **changed)
    for term in (VALUE, ENTROPY):
        assert found.terms[term] == pytest.approx(plain.terms[term]), TERMS[term]
    np.testing.assert_array_equal(found.by_values, plain.by_values)


def test_loss__call_drawn_by_chance_is_imitated_whatever_it_earned() -> None:
    # Rows 0 and 1 are drawn, row 2 the policy's own; the entropy bonus is the last's alone.
    chances = [[0.75, 0.25], [0.75, 0.25], [0.5, 0.5]]
    by_chance = np.array([True, True, False])
    for earned in (-50.0, 50.0):
        found = find(
            np.log(chances),
            np.ones((3, 2)),
            action=[1, 0, 0],
            log_probability=np.log(chances)[:, 0],
            advantage=[earned, -earned, 2],
            by_chance=by_chance,
            bidding=by_chance,
            weights=PLAIN._replace(entropy=0.25, bid_entropy=9.0),
        )
        assert found.terms[POLICY] == pytest.approx(-2.0)
        # (probability - 1 if it was drawn) / decisions
        expected = [[0.75 / 3, -0.75 / 3], [-0.25 / 3, 0.25 / 3]]
        np.testing.assert_allclose(found.by_logits[:2], expected, atol=1e-6)
        assert found.by_logits[2].tolist() == pytest.approx([-1, 1])
