"""What a policy's graph does around the network, against the kernels, entry by entry on thousands of positions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from smear_env import (
    PRESETS,
    SelfPlayVectorEnv,
    checkpoints_folder,
    load_policy,
    make_rules,
    observation_layout,
    order_suits,
    pieces,
)

pytest.importorskip("torch")

import torch

from tests.travelling import fresh_policy, reached
from training.graph import Features, PolicyGraph, SuitOrder

GAMES = pytest.mark.parametrize("preset", list(PRESETS))


@GAMES
def test_suit_order__is_that_of_the_kernel(preset: str) -> None:
    rules = PRESETS[preset]
    observation, mask = reached(preset)
    wanted = order_suits(observation, mask, rules)
    assert len({tuple(row) for row in wanted.order}) > (1 if len(rules.suits) == 2 else 7)
    order, shown = SuitOrder(rules), torch.from_numpy(observation)
    places = order.places(shown)
    np.testing.assert_array_equal(np.argsort(places.numpy(), axis=1), wanted.order)
    np.testing.assert_array_equal(order.in_order(shown, places).numpy(), wanted.observation)
    # Columns go back to where they came from.
    np.testing.assert_array_equal(order.as_dealt(torch.from_numpy(wanted.mask), places).numpy(), mask)


@GAMES
@pytest.mark.parametrize("ordered", [True, False])
def test_features__are_those_of_the_kernel(preset: str, ordered: bool) -> None:
    rules = PRESETS[preset]
    observation, mask = reached(preset)
    wanted = order_suits(observation, mask, rules, ordered=ordered, features=True).observation
    seen = wanted[:, : observation.shape[1]].copy()
    assert pieces(seen, observation_layout(rules))["trick"].any(axis=(1, 2)).sum() > 1000
    found = Features(rules)(torch.from_numpy(seen)).numpy()
    np.testing.assert_array_equal(found, wanted[:, observation.shape[1] :])


@pytest.mark.parametrize("preset", ["four_point", "schmier", "six_point"])
@pytest.mark.parametrize("suits", ["ordered", "as_dealt"])
@pytest.mark.parametrize("features", [True, False])
def test_graph__gives_the_probabilities_of_load_policy(
    tmp_path: Path, preset: str, suits: str, features: bool
) -> None:
    folder = fresh_policy(tmp_path, preset, suits=suits, features=features)
    observation, mask = reached(preset)
    wanted = load_policy(folder).probabilities(observation, mask)
    assert 0.3 < wanted.max(axis=1).mean() < 0.99
    found, logits = PolicyGraph.of_checkpoint(folder)(torch.from_numpy(observation), torch.from_numpy(mask))
    np.testing.assert_allclose(found.numpy(), wanted, atol=1e-5)
    assert not found[mask == 0].any()
    np.testing.assert_array_equal(np.isneginf(logits.numpy()), mask == 0)
    np.testing.assert_allclose(torch.softmax(logits, dim=1).numpy(), wanted, atol=1e-5)


@pytest.mark.parametrize("name", ["four_point", "schmier"])
def test_graph__of_a_shipped_checkpoint_gives_the_probabilities_of_load_policy(name: str) -> None:
    observation, mask = reached(name)
    graph = PolicyGraph.of_checkpoint(checkpoints_folder() / name)
    found, _ = graph(torch.from_numpy(observation), torch.from_numpy(mask))
    np.testing.assert_allclose(found.numpy(), load_policy(name).probabilities(observation, mask), atol=1e-5)


def test_graph__row_without_a_legal_action_has_no_probability(tmp_path: Path) -> None:
    observation, mask = (part[:2].copy() for part in reached("mini"))
    mask[0] = 0
    graph = PolicyGraph.of_checkpoint(fresh_policy(tmp_path, "mini"))
    found, _ = graph(torch.from_numpy(observation), torch.from_numpy(mask))
    assert found.sum(dim=1).tolist() == pytest.approx([0, 1])


@pytest.mark.parametrize(
    ("preset", "options"),
    [
        ("schmier", {"exchange": 0}),
        ("four_point", {"stock_to_bidder": 0}),
        ("six_point", {"joker_order": "first"}),
    ],
)
def test_features__are_the_presets_under_other_options_too(preset: str, options: dict[str, object]) -> None:
    rules = make_rules(preset, **options)
    shown = SelfPlayVectorEnv(16, rules, seed=3).reset()
    seen = order_suits(shown.observation, shown.mask, rules, features=True).observation
    found = Features(rules)(torch.from_numpy(seen[:, : shown.observation.shape[1]].copy())).numpy()
    np.testing.assert_array_equal(found, seen[:, shown.observation.shape[1] :])
