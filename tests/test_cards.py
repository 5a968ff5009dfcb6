"""Card names, bit sets, and the tables of suits and strength, over every card."""

from __future__ import annotations

import numpy as np
import pytest

from smear_env import cards
from smear_env.engine.tables import compile_tables, trump_order
from smear_env.rules import PRESETS, Rules, make_rules
from tests.engine_match import options_of
from tests.reference.cards import card_points, deck, scoring_trumps, suit_of
from tests.reference.cards import trump_order as reference_order

GAMES = tuple(PRESETS)


@pytest.mark.parametrize("card", range(cards.MAX_CARDS))
def test_bits__of_one_card(card: int) -> None:
    only = cards.bit(card)
    assert int(only) == 1 << card
    assert [other for other in range(64) if cards.has(np.uint64(only), other)] == [card]
    assert cards.count(np.uint64(only)) == 1
    assert cards.lowest(np.uint64(only)) == card
    assert int(cards.drop_lowest(np.uint64(only))) == 0


def test_bits__of_random_sets() -> None:
    for value in np.random.default_rng(0).integers(1, 2**64, 500, np.uint64):
        held = [card for card in range(64) if int(value) >> card & 1]
        assert [card for card in range(64) if cards.has(value, card)] == held
        assert cards.count(value) == len(held)
        assert cards.lowest(value) == held[0]
        assert int(cards.drop_lowest(value)) == int(value) - (1 << held[0])


def test_bits__of_nothing_and_of_everything() -> None:
    assert cards.count(np.uint64(0)) == 0
    assert cards.count(np.uint64(2**64 - 1)) == 64


@pytest.mark.parametrize("game", GAMES)
def test_names__by_suit_then_rank_then_joker(game: str) -> None:
    rules = make_rules(game)
    assert list(rules.card_names) == deck(options_of(rules))


@pytest.mark.parametrize("bowers", [True, False])
@pytest.mark.parametrize("game", GAMES)
def test_tables__suit_and_order_under_every_trump(game: str, bowers: bool) -> None:
    rules = make_rules(game)
    if rules.trump_named:
        rules = make_rules(game, bowers=bowers, max_bid=5)
    table, options, names = compile_tables(rules)[0], options_of(rules), rules.card_names
    for trump, letter in enumerate(rules.suits):
        for card, name in enumerate(names):
            assert rules.suits[table.suit_of[trump, card]] == suit_of(options, name, letter)
        order = sorted(range(len(names)), key=lambda card: table.strength[trump, card])
        trumps = [names[card] for card in order if table.suit_of[trump, card] == trump]
        assert trumps == list(trump_order(rules, letter)) == reference_order(options, letter)
        for side in (suit for suit in rules.suits if suit != letter):
            held = [names[card] for card in order if table.suit_of[trump, card] == rules.suits.index(side)]
            assert held == [rank + side for rank in rules.ranks if rank + side not in trumps]
        weakest_trump = min(table.strength[trump, names.index(name)] for name in trumps)
        assert all(table.strength[trump, card] < weakest_trump for card in order if names[card] not in trumps)


@pytest.mark.parametrize("game", GAMES)
def test_tables__masks_hold_the_suits(game: str) -> None:
    rules = make_rules(game)
    table = compile_tables(rules)[0]
    for trump in range(-1, len(rules.suits)):
        for suit in range(len(rules.suits)):
            members = [c for c in range(len(rules.card_names)) if table.suit_of[trump, c] == suit]
            assert int(table.suit_mask[trump, suit]) == sum(1 << card for card in members)


@pytest.mark.parametrize("game", GAMES)
def test_tables__card_points_and_scoring_trumps(game: str) -> None:
    rules: Rules = make_rules(game) if game == "mini" else make_rules(game, protect_scoring=True)
    table, names = compile_tables(rules)[0], rules.card_names
    assert [int(table.card_points[card]) for card in range(len(names))] == [
        card_points(name) for name in names
    ]
    if rules.protect_scoring:
        for trump, letter in enumerate(rules.suits):
            protected = {name for card, name in enumerate(names) if int(table.protected[trump]) >> card & 1}
            assert protected == set(scoring_trumps(options_of(rules), letter))


def test_tables__cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        compile_tables(make_rules("four_point")).players = 3
