"""The observation: its layout, that it hides what a seat cannot know, and that it is the same from every seat."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smear_env.aec import SmearEnv
from smear_env.layout import (
    observation_layout,
    observation_scale,
    option_values,
    pieces,
    state_layout,
    state_scale,
    vector_size,
)
from smear_env.rules import FOUR_POINT, PRESETS, SCHMIER, Rules
from tests.aec_helpers import (
    cards_dealt,
    each_game,
    every_game,
    every_phase,
    full,
    in_play,
    phase_of,
    position,
    random_action,
    started,
)
from tests.reference import random_options
from tests.test_history import rules_of


def view(env: SmearEnv, seat: int) -> dict[str, Any]:
    return pieces(env.observe(f"seat_{seat}")["observation"], observation_layout(env.rules))


# Layout


def places(layout: Any) -> list[tuple[str, int, tuple[int, ...]]]:
    return [(piece.name, piece.start, piece.shape) for piece in layout.values()]


@every_game
@pytest.mark.parametrize("layout", [observation_layout, state_layout])
def test_layout__pieces_tile_the_vector(rules: Rules, layout: Any) -> None:
    covered = np.zeros(vector_size(layout(rules)), int)
    end = 0
    for name, piece in layout(rules).items():
        assert piece.name == name
        assert piece.meaning
        assert piece.start == end
        covered[piece.slice] += 1
        end = piece.slice.stop
    assert set(covered) == {1}


@every_game
def test_layout__is_what_env_hands_out(rules: Rules) -> None:
    env = started(rules)
    assert env.observe("seat_0")["observation"].shape == (vector_size(observation_layout(rules)),)
    assert env.state().shape == (vector_size(state_layout(rules)),) == env.state_space.shape


@pytest.mark.parametrize("name", PRESETS)
def test_layout__same_for_every_option_of_a_preset(name: str) -> None:
    preset, rng = PRESETS[name], Random(name)
    for _ in range(100):
        rules = rules_of(random_options(rng, name))
        for layout in (observation_layout, state_layout):
            assert places(layout(rules)) == places(layout(preset))
        assert rules.action_names == preset.action_names
        assert np.array_equal(observation_scale(rules), observation_scale(preset))


def test_layout__numbers_of_actions_and_team_slots() -> None:
    assert len(FOUR_POINT.action_names) == 36
    assert len(SCHMIER.action_names) == 62
    assert observation_layout(SCHMIER)["scores"].shape == (3,)


@every_game
def test_scale__brings_every_entry_to_about_one(rules: Rules) -> None:
    for scale, layout in ((observation_scale, observation_layout), (state_scale, state_layout)):
        assert scale(rules).shape == (vector_size(layout(rules)),)
        assert scale(rules).dtype == np.float32
        assert (scale(rules) > 0).all()
    env, rng = started(rules, max_deals=2), Random(1)
    while in_play(env):
        scaled = env.observe(env.agent_selection)["observation"] * observation_scale(rules)
        # Scores go further, since random play drifts far below zero, as does what the dealer of schmier takes.
        wide = ("scores", "to_target", "exchanged")
        parts = pieces(scaled, observation_layout(rules))
        assert all(np.abs(part).max() <= 2 for name, part in parts.items() if name not in wide)
        env.step(random_action(env, rng))


# Values


@every_game
def test_values__flags_are_bits_and_numbers_within_a_hundred(rules: Rules) -> None:
    rng = Random(2)
    layout = observation_layout(rules)
    flags = np.concatenate([np.full(p.size, p.largest == 1 and p.name != "options") for p in layout.values()])
    for scores in ([0] * rules.teams, [-500] * rules.teams):
        env = started(rules, 2, {"scores": scores}, max_deals=2)
        while in_play(env):
            for agent in env.agents:
                seen = env.observe(agent)["observation"]
                assert set(np.unique(seen[flags])) <= {0, 1}
                assert seen.min() >= -100
                assert seen.max() <= 100
            env.step(random_action(env, rng))


@pytest.mark.parametrize("rules", [FOUR_POINT, SCHMIER])
def test_values__scores_saturate(rules: Rules) -> None:
    env = started(rules, 1, {"scores": [-5000, *[-99] * (rules.teams - 1)]})
    assert view(env, 0)["scores"].tolist() == [-100, *[-99] * (rules.teams - 1)]
    assert view(env, 0)["to_target"].tolist() == [100] * rules.teams
    assert view(env, 1)["scores"].tolist()[-1] == -100


@every_game
def test_values__every_option_is_shown(rules: Rules) -> None:
    for seat in range(rules.players):
        shown = view(started(rules), seat)["options"].tolist()
        assert shown == [value for value, _ in option_values(rules).values()]


@every_game
def test_values__state_places_every_card_once(rules: Rules) -> None:
    env, rng = started(rules, 4, max_deals=2), Random(4)
    while in_play(env):
        piece = full(env)
        places = piece["hand"].sum(0) + piece["discarded"].sum(0) + (piece["stock"] > 0)
        places += piece["trick"].sum(0) + piece["played"].sum(0)
        assert set(places) == {1}
        env.step(random_action(env, rng))


def test_values__trump_shown_by_the_first_lead() -> None:
    env, rng = position(FOUR_POINT, "discard", Random(1)), Random(1)
    while phase_of(env) == "discard" or not full(env)["trick"].any():
        assert not any(view(env, seat)["trump"].any() for seat in range(4))
        env.step(random_action(env, rng))
    led = int(np.flatnonzero(full(env)["trick"].sum(0))[0])
    for seat in range(4):
        assert view(env, seat)["trump"].tolist() == [int(suit == led // 8) for suit in range(4)]


# What is hidden stays hidden


def redeal_hidden(env: SmearEnv, seat: int, rng: Random) -> SmearEnv:
    """A copy in which the cards that the seat has not seen have changed places, wherever they lie."""
    other = copy.deepcopy(env)
    s = other._record
    hidden = [int(card) for card in np.flatnonzero(view(env, seat)["unseen"])]
    new = dict(zip(hidden, rng.sample(hidden, len(hidden)), strict=True))

    def moved(cards: int) -> int:
        kept = [card for card in range(64) if int(cards) >> card & 1]
        return sum(1 << new.get(card, card) for card in kept)

    for player in range(env.rules.players):
        for name in ("hand", "taken", "discarded"):
            if player != seat:
                s[name][player] = moved(s[name][player])
    order = s.discard_order.copy()
    for card, target in new.items():
        s.discard_order[target] = order[card]
    for place in range(int(s.stock_drawn), int(s.stock_size)):
        s.stock[place] = new[int(s.stock[place])]
    s.seed += np.uint64(1)
    return other


@every_phase
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_hidden__redealt_cards_change_no_view(rules: Rules, phase: str, seed: int) -> None:
    random = Random(seed)
    env = position(rules, phase, random)
    seat = random.randrange(rules.players)
    other = redeal_hidden(env, seat, random)
    mine, theirs = env.observe(f"seat_{seat}"), other.observe(f"seat_{seat}")
    assert np.array_equal(mine["observation"], theirs["observation"])
    assert np.array_equal(mine["action_mask"], theirs["action_mask"])


@each_game
def test_hidden__the_redeal_does_change_the_table(rules: Rules) -> None:
    """The test above would pass if nothing was moved."""
    rng = Random(3)
    env = position(rules, "play", rng)
    while view(env, 0)["unseen"].sum() < 10:
        env = position(rules, "play", rng)
    other = redeal_hidden(env, 0, rng)
    assert not np.array_equal(env.state(), other.state())
    assert any(not np.array_equal(view(env, seat)["hand"], view(other, seat)["hand"]) for seat in range(1, 4))


def dealt_otherwise(env: SmearEnv, seat: int, rng: Random) -> dict[str, Any]:
    """Reset options that give the seat the same cards and deal the others anew."""
    hands, stock = cards_dealt(env)
    rest = [card for other, hand in enumerate(hands) if other != seat for card in hand] + stock
    rng.shuffle(rest)
    size = env.rules.hand_size
    anew = [
        hands[seat] if other == seat else [rest.pop() for _ in range(size)] for other in range(len(hands))
    ]
    dealer = int(np.argmax(full(env)["dealer"]))
    return {"deal": {"dealer": dealer, "hands": [" ".join(hand) for hand in anew], "stock": " ".join(rest)}}


@every_game
def test_hidden__other_deals_look_alike_through_the_auction(rules: Rules) -> None:
    for seed in range(10):
        rng = Random(seed)
        seat = seed % rules.players
        env = started(rules, seed)
        other = started(rules, seed + 1000, dealt_otherwise(env, seat, rng))
        while phase_of(env) in ("bid", "name") and phase_of(other) == phase_of(env):
            assert np.array_equal(
                env.observe(f"seat_{seat}")["observation"], other.observe(f"seat_{seat}")["observation"]
            )
            mover = env.agent_selection
            action = random_action(env, rng)
            env.step(action)
            other.step(action)
            if env.deal_result() is not None:
                break
        if env.deal_result() is None and mover != f"seat_{seat}":
            assert np.array_equal(view(env, seat)["bids"], view(other, seat)["bids"])
            assert np.array_equal(view(env, seat)["hand"], view(other, seat)["hand"])


@every_game
def test_hidden__discards_enter_only_the_view_of_who_threw_them(rules: Rules) -> None:
    env, rng = started(rules, 6, episode="deal"), Random(6)
    while in_play(env):
        thrown = full(env)["discarded"]
        for seat in range(rules.players):
            seen = view(env, seat)
            assert np.array_equal(seen["discard_order"] > 0, thrown[seat] > 0)
            others = thrown.sum(0) - thrown[seat]
            assert (seen["unseen"][others > full(env)["taken"][seat]] == 1).all()
        env.step(random_action(env, rng))


# Every seat alike


@every_game
def test_seats__turned_table_gives_the_same_views(rules: Rules) -> None:
    for turn in range(1, rules.players):
        rng = Random(turn)
        env = started(rules, turn, {"scores": [-2 * team for team in range(rules.teams)]}, episode="deal")
        hands, stock = cards_dealt(env)
        dealer = int(np.argmax(full(env)["dealer"]))
        seats = [(seat - turn) % rules.players for seat in range(rules.players)]
        deal = {
            "dealer": (dealer + turn) % rules.players,
            "hands": [" ".join(hands[seat]) for seat in seats],
            "stock": " ".join(stock),
        }
        scores = [env.scores[(team - turn) % rules.teams] for team in range(rules.teams)]
        other = started(rules, 99, {"deal": deal, "scores": scores}, episode="deal")
        while True:
            for seat in range(rules.players):
                mine = env.observe(f"seat_{seat}")
                theirs = other.observe(f"seat_{(seat + turn) % rules.players}")
                assert all(np.array_equal(mine[key], theirs[key]) for key in mine)
            if not in_play(env):
                break
            action = random_action(env, rng)
            env.step(action)
            other.step(action)


@every_game
def test_seats__each_is_given_its_own_hand(rules: Rules) -> None:
    env = started(rules, 7)
    hands = [view(env, seat)["hand"] for seat in range(rules.players)]
    assert np.array_equal(np.array(hands), full(env)["hand"])
    assert max(np.sum(hands, axis=0)) == 1
