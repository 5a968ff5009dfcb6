"""Features for networks, against the same worked out card by card with the slow reference's order of cards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smear_env import (
    PRESETS,
    SelfPlayVectorEnv,
    feature_layout,
    feature_scale,
    make_agent,
    order_suits,
    original_columns,
    pieces,
)
from smear_env.layout import observation_layout
from tests.reference import cards as reference
from tests.reference.options import Options
from tests.reference.options import options as options_of

GAMES = pytest.mark.parametrize("preset", list(PRESETS))
N, STEPS = 40, 70


def beats(options: Options, card: str, other: str, trump: str | None) -> bool:
    """Of two cards of one suit, which is the higher."""
    suit = reference.suit_of(options, card, trump)
    order = (
        reference.trump_order(options, trump)
        if trump is not None and suit == trump
        else [rank + suit for rank in options.ranks]
    )
    return order.index(card) > order.index(other)


def expected(options: Options, names: tuple[str, ...], seen: dict[str, Any]) -> dict[str, Any]:
    """The features of one observation, by name."""
    suits, players = options.suits, len(seen["trick"])

    def held(flags: Any) -> list[str]:
        return [name for name, flag in zip(names, flags, strict=True) if flag]

    trump = next((suit for suit, flag in zip(suits, seen["trump"], strict=True) if flag), None)

    def suit_of(card: str) -> str | None:
        return reference.suit_of(options, card, trump) or None

    unseen = held(seen["unseen"])
    leader = next((seat for seat, flag in enumerate(seen["leader"]) if flag), 0)
    order = [(leader + turn) % players for turn in range(players)]
    trick = [(seat, card) for seat in order for card in held(seen["trick"][seat])]
    taker = reference.trick_winner(options, trick, trump) if trick else None
    hand = held(seen["hand"])
    # Of two jokers none is the higher where the first or the second played wins.
    level = reference.JOKERS if options.joker_order != "big" else ()
    rivals = {
        card: [c for c in unseen if suit_of(c) == suit_of(card) is not None and not {c, card} <= set(level)]
        for card in hand
    }
    left = {suit: [card for card in unseen if suit_of(card) == suit] for suit in suits}
    return {
        "takes": [
            card in hand
            and (not trick or reference.trick_winner(options, [*trick, (players, card)], trump) == players)
            for card in names
        ],
        "above": [sum(beats(options, c, card, trump) for c in rivals.get(card, [])) for card in names],
        "below": [sum(beats(options, card, c, trump) for c in rivals.get(card, [])) for card in names],
        "taker": [seat == taker for seat in range(players)],
        "lying": [count == len(trick) for count in range(players)],
        "trick_points": [sum(reference.card_points(card) for _, card in trick)],
        "led": [bool(trick) and suit_of(trick[0][1]) == suit for suit in suits],
        "left": [len(left[suit]) for suit in suits],
        "may_hold": [
            [
                seat > 0 and len(left[suit]) > 0 and not seen["voids"][seat][place]
                for place, suit in enumerate(suits)
            ]
            for seat in range(players)
        ],
        "points_left": [sum(reference.card_points(card) for card in unseen)],
    }


@GAMES
@pytest.mark.parametrize("ordered", [True, False])
def test_features__are_those_worked_out_card_by_card(preset: str, ordered: bool) -> None:
    rules, options = PRESETS[preset], options_of(preset)
    env = SelfPlayVectorEnv(N, rules, seed=4, episode="deal", skip_forced=True)
    shown, agent, checked = env.reset(), make_agent("random"), 0
    agent.reset(rules, -1, 0)
    width = shown.observation.shape[1]
    for step in range(STEPS):
        plain = order_suits(shown.observation, shown.mask, rules, ordered=ordered)
        full = order_suits(shown.observation, shown.mask, rules, ordered=ordered, features=True)
        np.testing.assert_array_equal(full.observation[:, :width], plain.observation)
        np.testing.assert_array_equal(full.mask, plain.mask)
        game = step % N
        found = pieces(full.observation[game, width:], feature_layout(rules))
        seen = pieces(plain.observation[game], observation_layout(rules))
        wanted = expected(options, rules.card_names, seen)
        assert list(found) == list(wanted)
        for name, value in wanted.items():
            np.testing.assert_array_equal(found[name], np.array(value), err_msg=name)
        checked += bool(seen["trick"].any())
        shown = env.step(agent.act_batch(shown.observation, shown.mask))
    assert checked > 4


def test_features__hand_worked() -> None:
    # Seat 0 holds the queen of trump behind jack and ace: it would not take the trick, and has the king above it.
    layout = feature_layout(PRESETS["four_point"])
    assert sum(piece.size for piece in layout.values()) == len(feature_scale(PRESETS["four_point"])) == 130
    rules = PRESETS["four_point"]
    at = observation_layout(rules)
    vector = np.zeros((1, sum(piece.size for piece in at.values())), np.int8)
    seen = pieces(vector[0], at)
    card = rules.card_names.index
    seen["trump"][0] = seen["leader"][2] = 1
    trump = rules.suits[0]
    seen["trick"][2, card("J" + trump)] = seen["trick"][3, card("A" + trump)] = 1
    seen["hand"][card("Q" + trump)] = 1
    seen["unseen"][[card("K" + trump), card("7" + trump)]] = 1
    seen["voids"][1, 0] = 1
    mask = np.ones((1, len(rules.action_names)), np.int8)
    found = pieces(order_suits(vector, mask, rules, features=True).observation[0, vector.shape[1] :], layout)
    assert not found["takes"].any()
    assert found["above"][card("Q" + trump)] == found["below"][card("Q" + trump)] == 1
    assert found["taker"].tolist() == [0, 0, 0, 1]
    assert found["lying"].tolist() == [0, 0, 1, 0]
    assert found["trick_points"] == [5]
    assert found["led"].tolist() == [1, 0, 0, 0]
    assert found["left"].tolist() == [2, 0, 0, 0]
    assert found["may_hold"].tolist() == [[0] * 4, [0] * 4, [1, 0, 0, 0], [1, 0, 0, 0]]
    assert found["points_left"] == [3]


@pytest.mark.parametrize("preset", ["four_point", "schmier"])
def test_policy__with_features_plays_as_its_network(preset: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    import torch

    from smear_env import load_policy
    from tests.training_runs import tiny
    from training.metrics import DealCounts
    from training.network import load_network
    from training.trainer import Trainer

    trainer = Trainer(tiny(tmp_path, rules=preset, features=True))
    for _ in range(2):
        trainer.iterate(DealCounts(preset, trainer.free))
    trainer.save(tmp_path)
    agent, network, shown = load_policy(tmp_path), load_network(tmp_path / "checkpoint"), trainer.shown
    agent.reset(PRESETS[preset], -1, 0)
    seen = network.see(shown.observation, shown.mask)
    assert seen.observation.shape[1] == shown.observation.shape[1] + len(feature_scale(PRESETS[preset]))
    with torch.inference_mode():
        chances = network(torch.from_numpy(seen.observation), torch.from_numpy(seen.mask)).exp().numpy()
    wanted = original_columns(chances, seen.order, PRESETS[preset])
    np.testing.assert_allclose(agent.probabilities(shown.observation, shown.mask), wanted, atol=1e-5)
