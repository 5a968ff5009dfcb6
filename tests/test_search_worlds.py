"""Worlds: each shows its viewer exactly what it has seen, and on tiny deals all are drawn equally often.

The second is checked against every history that the slow reference allows, found by trying all deals and all hidden
discards.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import combinations, permutations
from random import Random

import numpy as np
import pytest

from smear_env._typing import Int8Array
from smear_env.agents.search.worlds import NO_ACTION, Worlds, sample_worlds
from smear_env.agents.seen import kernel_tables
from smear_env.engine.deal import set_cards
from smear_env.engine.state import new_states
from smear_env.engine.step import step
from smear_env.rules import PRESETS, Rules, make_rules
from tests.engine_match import options_of
from tests.reference import Match
from tests.reference.play import random_deal
from tests.search_helpers import legal_throughout, phase_of, random_decisions, view
from tests.test_agents import sampled_rules

VIEWER = 0
SPARE = ("three cards",)
"""Games in which it may be open whether somebody held more trumps than he could keep."""

History = tuple[int, ...]
"""The order of the deck, then the actions, as ids."""

NAMED = {"trump_named": True, "stock_to_bidder": 0, "dealer_takes_stock": True}
TINY = {
    "mini": make_rules("mini"),
    "no stock": make_rules("mini", stock_to_bidder=0, may_trump=False),
    "three cards": make_rules("mini", ranks="7TJQA", hand_size=3, stock_to_bidder=2),
    "protected": make_rules("mini", hand_size=3, stock_to_bidder=2, protect_scoring=True),
    "exchange": make_rules(
        "mini", players=3, teams=3, exchange=1, may_trump=False, lead_trump_first=True, **NAMED
    ),
    "joker": make_rules("mini", ranks="7JA", joker=True, exchange=2, exchange_exactly=True, **NAMED),
    "dealer": make_rules("mini", ranks="7JQA", hand_size=3, **NAMED),
    "two jokers": make_rules("mini", ranks="7JA", joker=True, second_joker=True, hand_size=3),
}


@pytest.mark.parametrize("game", PRESETS)
def test_world__shows_its_viewer_what_it_has_seen(game: str) -> None:
    reached = set()
    for seed, rules in enumerate([make_rules(game), *sampled_rules(game, 10, 3)]):
        for number, (observation, _) in enumerate(random_decisions(rules, seed, 3, 0.06 * seed)):
            reached.add(phase_of(observation, rules))
            for state in sample_worlds(observation, rules, 3, number).states:
                assert np.array_equal(view(state, rules), observation)
    assert reached >= {"bid", "discard", "play"} | ({"name", "exchange"} if game == "schmier" else set())


@pytest.mark.parametrize("game", PRESETS)
def test_world__is_a_legal_history_from_its_deal(game: str) -> None:
    for seed, rules in enumerate([make_rules(game), *sampled_rules(game, 4, 8)]):
        tables, _ = kernel_tables(rules)
        for observation, _ in random_decisions(rules, seed, 2, 0.3):
            worlds = sample_worlds(observation, rules, 2, seed)
            for order, actions, now in zip(worlds.orders, worlds.actions, worlds.states, strict=True):
                state = new_states(1)
                state.dealer, state.one_deal, state.max_deals = now.dealer, 1, now.max_deals
                state.scores, state.winner = now.scores, -1
                set_cards(tables[0], state[0], order)
                assert legal_throughout(state[0], actions[actions != NO_ACTION].tolist(), rules)
                assert state[0] == now


@pytest.mark.parametrize("name", TINY)
def test_worlds__are_all_drawn_equally_often(name: str) -> None:
    rules = TINY[name]
    compared = trumps_discarded = 0
    for seed in range(400):
        truth = random_history(rules, Random(f"{name} {seed}"))
        if truth is None or (compared >= 4 and not may_discard_trump(truth[0])):
            continue
        match, observation = truth
        histories = set(all_histories(match, rules))
        if len(histories) < 8:
            continue
        found, counts = drawn(sample_worlds(observation, rules, 25 * len(histories), seed), match, rules)
        assert set(found) <= histories
        excess = sum((count - 25.0) ** 2 for count in counts) / 25.0 + 25.0 * (len(histories) - len(found))
        freedom = len(histories) - 1
        # Five standard deviations of chi-square.
        assert abs(excess - freedom) < 5 * (2 * freedom) ** 0.5
        compared += 1
        trumps_discarded += len({discards_trump(match, history, rules) for history in histories}) > 1
        if compared >= 4 and (trumps_discarded or name not in SPARE):
            break
    assert compared >= 4
    assert trumps_discarded or name not in SPARE, "some deal has trumps to spare"


def random_history(rules: Rules, rng: Random) -> tuple[Match, Int8Array] | None:
    """A deal played at random up to a decision of the viewer's, with all it has seen; None if it has none."""
    match = Match(options_of(rules), rng.randrange(rules.players), max_deals=1)
    match.deal(*random_deal(match.options, rng))
    match.history, match.dealt = [], copy.deepcopy((match.hands, match.stock))  # type: ignore[attr-defined]
    stops = rng.randrange(2, rules.hand_size + 3)
    while match.turn is not None:
        if match.turn == VIEWER:
            stops -= 1
            if stops == 0:
                return match, seen_by_engine(match, rules)
        act(match, rng.choice(match.legal()))
    return None


def act(match: Match, name: str) -> None:
    match.history.append((match.turn, match.phase, name))  # type: ignore[attr-defined]
    match.act(name)


def seen_by_engine(match: Match, rules: Rules) -> Int8Array:
    """What the engine shows the viewer after the same deal and actions."""
    tables, _ = kernel_tables(rules)
    state = new_states(1)
    state.dealer, state.one_deal, state.max_deals, state.winner = match.dealer, 1, 100, -1
    set_cards(tables[0], state[0], np.array(order_of(match, rules), np.int8))
    for _, _, name in match.history:  # type: ignore[attr-defined]
        step(tables[0], state[0], rules.action_names.index(name))
    return view(state[0], rules)


def order_of(match: Match, rules: Rules) -> list[int]:
    hands, stock = match.dealt  # type: ignore[attr-defined]
    ids = rules.card_names.index
    return [*(card for hand in hands for card in sorted(map(ids, hand))), *map(ids, stock)]


def all_histories(truth: Match, rules: Rules) -> Iterator[History]:
    """Every history that shows the viewer what `truth` does; cards left in the stock in order of their ids."""
    hands, stock = truth.dealt  # type: ignore[attr-defined]
    unknown = sorted((card for pile in [*hands[1:], stock] for card in pile), key=rules.card_names.index)
    drawn_cards = len(stock) - len(truth.stock)
    for others in all_hands(unknown, rules.players - 1, rules.hand_size):
        rest = [card for card in unknown if not any(card in hand for hand in others)]
        for top in permutations(rest, drawn_cards):
            match = Match(truth.options, truth.dealer, max_deals=1)
            match.deal([hands[VIEWER], *others], [*top, *(card for card in rest if card not in top)])
            match.history, match.dealt = [], copy.deepcopy((match.hands, match.stock))  # type: ignore[attr-defined]
            for end in continuations(match, truth):
                names = [name for _, _, name in end.history]  # type: ignore[attr-defined]
                yield (*order_of(end, rules), *map(rules.action_names.index, names))


def copied(match: Match) -> Match:
    """A copy that can be played on apart; `deepcopy` takes ten times as long."""
    other = copy.copy(match)
    for name, value in vars(match).items():
        if isinstance(value, list):
            setattr(other, name, [type(x)(x) if isinstance(x, list | set) else x for x in value])
    return other


def may_discard_trump(match: Match) -> bool:
    """Whether somebody else has discarded to the hand size and the viewer has seen none of his cards that is
    not trump.
    """
    seen = {*match.hands[VIEWER], *match.discards[VIEWER]}
    other = any(match.discards[1:]) and match.phase == "play"
    return other and not any(card[1] == match.trump for card in seen)


def all_hands(cards: list[str], players: int, size: int) -> Iterator[list[list[str]]]:
    if players == 0:
        yield []
        return
    for hand in combinations(cards, size):
        rest = [card for card in cards if card not in hand]
        for others in all_hands(rest, players - 1, size):
            yield [list(hand), *others]


def continuations(match: Match, truth: Match) -> Iterator[Match]:
    """The match played on as `truth` was, as far as the viewer can tell; hidden discards in every way."""
    done, history = len(match.history), truth.history  # type: ignore[attr-defined]
    if done == len(history):
        if set(match.taken[VIEWER]) == set(truth.taken[VIEWER]):
            yield match
        return
    seat, phase, name = history[done]
    if (match.turn, match.phase) != (seat, phase):
        return
    hidden = seat != VIEWER and phase in ("exchange", "discard") and name != "pass"
    for choice in match.legal():
        if (choice != "pass") if hidden else (choice == name):
            branch = copied(match)
            act(branch, choice)
            yield from continuations(branch, truth)


def drawn(worlds: Worlds, truth: Match, rules: Rules) -> tuple[list[History], list[int]]:
    """The different histories among the worlds and how often each came; what is left of the stock in order."""
    left = len(rules.card_names) - len(truth.stock)
    orders = np.concatenate([worlds.orders[:, :left], np.sort(worlds.orders[:, left:], axis=1)], axis=1)
    rows, counts = np.unique(np.concatenate([orders, worlds.actions], 1), axis=0, return_counts=True)
    return [tuple(int(x) for x in row if x != NO_ACTION) for row in rows], counts.tolist()


def discards_trump(match: Match, history: History, rules: Rules) -> bool:
    """Whether somebody but the viewer discards a card of the trump suit."""
    names = [rules.action_names[x] for x in history[len(rules.card_names) :]]
    return match.trump is not None and any(
        seat != VIEWER and phase == "discard" and name.endswith(match.trump)
        for (seat, phase, _), name in zip(match.history, names, strict=True)  # type: ignore[attr-defined]
    )


def test_worlds__same_arguments_same_worlds() -> None:
    rules = make_rules("schmier")
    for observation, _ in random_decisions(rules, 5, 1)[::7]:
        few, many, other = (sample_worlds(observation, rules, n, s) for n, s in ((5, 1), (20, 1), (5, 2)))
        assert np.array_equal(few.orders, many.orders[:5])
        assert (few.states == many.states[:5]).all()
        assert np.array_equal(sample_worlds(observation, rules, 15, 1, first=5).orders, many.orders[5:])
        assert not np.array_equal(few.orders, other.orders)


def test_worlds__of_a_seat_that_is_not_to_act_are_refused() -> None:
    rules = make_rules("four_point")
    observation = random_decisions(rules, 1, 1)[0][0]
    with pytest.raises(ValueError, match="shape"):
        sample_worlds(observation[:-1], rules, 1, 0)
    with pytest.raises(ValueError, match="worlds=0"):
        sample_worlds(observation, rules, 0, 0)
    state = sample_worlds(observation, rules, 1, 0).states[0]
    state.turn = 1
    with pytest.raises(ValueError, match="not to act"):
        sample_worlds(view(state, rules), rules, 1, 0)


def test_worlds__an_observation_that_no_deal_shows_is_refused() -> None:
    rules = make_rules("four_point")
    observation = next(
        row
        for row, _ in random_decisions(rules, 1, 4, 0.0)
        if phase_of(row, rules) == "play" and row[rules_slice(rules, "trump")].any()
    ).copy()
    observation[rules_slice(rules, "voids")] = 1
    with pytest.raises(ValueError, match="no deal"):
        sample_worlds(observation, rules, 1, 0)


def test_worlds__of_other_options_are_refused() -> None:
    rules = make_rules("four_point")
    for observation, _ in random_decisions(make_rules("four_point", stock_to_bidder=1), 1, 2):
        with pytest.raises(ValueError, match="not written under these rules"):
            sample_worlds(observation, rules, 1, 0)


@pytest.mark.parametrize("game", PRESETS)
def test_worlds__of_a_damaged_observation_are_refused_or_show_it(game: str) -> None:
    rules, rng = make_rules(game), Random(3)
    refused = 0
    for observation, _ in random_decisions(rules, 2, 8, 0.3):
        for _ in range(10):
            damaged = observation.copy()
            damaged[rng.randrange(len(damaged))] = rng.choice((-128, -1, 0, 1, 2, 7, 127))
            try:
                states = sample_worlds(damaged, rules, 2, 1).states
            except ValueError:
                refused += 1
                continue
            assert all(np.array_equal(view(state, rules), damaged) for state in states)
    assert refused > 100


def test_worlds__of_a_match_beyond_the_scores_shown_are_drawn() -> None:
    rules = make_rules("four_point", ending="made_bid")
    state = sample_worlds(random_decisions(rules, 1, 1)[0][0], rules, 1, 0).states[0]
    state.scores[:2] = 110, -120
    observation = view(state, rules)
    assert np.array_equal(view(sample_worlds(observation, rules, 1, 0).states[0], rules), observation)


def rules_slice(rules: Rules, piece: str) -> slice:
    from smear_env.layout import observation_layout

    return observation_layout(rules)[piece].slice
