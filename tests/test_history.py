"""`decode` gives a seat's history back: compared with the reference's own record of random matches."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from smear_env.history import Seen, SeenTrick, decode
from smear_env.rules import FOUR_POINT, PRESETS, Rules, make_rules
from tests.aec_helpers import beside_reference, every_game, in_play, near_target, random_action, started
from tests.reference import Match, random_options
from tests.reference.cards import card_points, deck, scoring_trumps


def expected(match: Match, viewer: int, target: int) -> dict[str, Any]:
    """What `decode` must find for a seat, from the reference's record of the deal."""
    game = match.options
    order = [(viewer + place) % game.players for place in range(game.players)]
    teams = [(viewer + slot) % game.teams for slot in range(game.teams)]

    def relative(seat: int | None) -> int | None:
        return None if seat is None else (seat - viewer) % game.players

    def seen_from(cards: list[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
        return tuple(((seat - viewer) % game.players, card) for seat, card in cards)

    def by_id(cards: list[str]) -> tuple[str, ...]:
        return tuple(sorted(cards, key=deck(game).index))

    played = [card for _, trick, _ in match.tricks for _, card in trick] + [card for _, card in match.trick]
    known = {*match.hands[viewer], *match.taken[viewer], *match.discards[viewer], *played}
    leader = match.trick[0][0] if match.trick else match.tricks[-1][2] if match.tricks else match.bidder
    playing = match.phase == "play" or (match.phase == "over" and match.trump is not None)
    return {
        "hand": by_id(match.hands[viewer]),
        "taken": by_id(match.taken[viewer]),
        "discards": tuple(match.discards[viewer]),
        "unseen": tuple(card for card in deck(game) if card not in known),
        "bids": seen_from(match.bids),
        "bidder": relative(match.bidder),
        "bid": match.bid,
        "trump": match.trump,
        "phase": match.phase,
        "turn": relative(match.turn),
        "exchanged": tuple(max(len(match.taken[seat]), len(match.discards[seat])) for seat in order),
        "tricks": tuple(
            SeenTrick(relative(first), seen_from(trick), relative(winner))
            for first, trick, winner in match.tricks
        ),
        "leader": relative(leader) if playing else None,
        "trick": seen_from(match.trick),
        "voids": tuple("".join(suit for suit in game.suits if suit in match.voids[seat]) for seat in order),
        "card_points": tuple(sum(map(card_points, match.won[team])) for team in teams),
        "captured": tuple(captured(match, team) for team in teams),
        "scores": tuple(match.scores[team] for team in teams),
        "to_target": tuple(target - match.scores[team] for team in teams),
    }


def captured(match: Match, team: int) -> tuple[str, ...]:
    if match.trump is None:
        return ()
    jokers = ["big_joker", "little_joker"] if match.options.second_joker else ["joker"]
    words = ["high", "low", *(["right", "left"] if match.options.bowers else ["jack"]), *jokers]
    cards = scoring_trumps(match.options, match.trump)
    return tuple(word for word, card in zip(words, cards, strict=False) if card in match.won[team])


def check(env: Any, match: Match) -> None:
    for viewer, agent in enumerate(env.possible_agents):
        seen = decode(env.observe(agent)["observation"], env.rules)
        for name, value in expected(match, viewer, env.rules.target).items():
            assert getattr(seen, name) == value, (name, viewer)


@every_game
def test_decode__gives_the_history_of_every_seat_at_every_moment(rules: Rules) -> None:
    for seed in range(2):
        for env, match in beside_reference(rules, Random(seed), max_deals=3):
            check(env, match)


@every_game
def test_decode__at_the_end_of_a_match(rules: Rules) -> None:
    won = 0
    for seed in range(8):
        *_, (env, match) = beside_reference(rules, Random(seed), 3, near_target(rules))
        check(env, match)
        won += match.winner is not None
    assert won > 0


@pytest.mark.parametrize("name", PRESETS)
def test_decode__under_random_options(name: str) -> None:
    rng = Random(name)
    for _ in range(6):
        for env, match in beside_reference(rules_of(random_options(rng, name)), rng, max_deals=1):
            check(env, match)


@pytest.mark.slow
@every_game
def test_decode__over_many_matches(rules: Rules) -> None:
    for seed in range(100, 110):
        for env, match in beside_reference(rules, Random(seed), max_deals=5):
            check(env, match)


def rules_of(game: Any) -> Rules:
    """The `Rules` of the reference's options."""
    changed = {
        field: getattr(game, field)
        for field in game.__dataclass_fields__
        if field != "name" and getattr(game, field) != getattr(PRESETS[game.name], field)
    }
    return make_rules(game.name, **changed)


@every_game
def test_decode__dealer_and_seats_are_relative(rules: Rules) -> None:
    for dealer in range(rules.players):
        env = started(rules, 3, {"dealer": dealer})
        for viewer, agent in enumerate(env.possible_agents):
            seen = decode(env.observe(agent)["observation"], rules)
            assert seen.dealer == (dealer - viewer) % rules.players
            assert seen.turn == (dealer + 1 - viewer) % rules.players


@every_game
def test_decode__needs_only_the_preset_and_gives_the_options(rules: Rules) -> None:
    env, rng = started(rules, 5, max_deals=2), Random(5)
    while in_play(env):
        observation = env.observe(env.agent_selection)["observation"]
        seen = decode(observation, rules)
        assert seen == decode(observation, rules.name)
        assert seen.options["teams"] == rules.teams
        assert seen.options["stock_to_bidder"] == rules.stock_to_bidder
        assert seen.options["exchange_exactly"] == rules.exchange_exactly
        env.step(random_action(env, rng))


def test_decode__another_layout_is_refused() -> None:
    observation = started(FOUR_POINT).observe("seat_0")["observation"]
    with pytest.raises(ValueError, match="shape"):
        decode(observation, "schmier")
    with pytest.raises(ValueError, match="shape"):
        decode(observation[None], "four_point")


def test_decode__does_not_change_or_keep_the_observation() -> None:
    observation = started(FOUR_POINT).observe("seat_0")["observation"]
    before = observation.copy()
    seen = decode(observation, FOUR_POINT)
    assert np.array_equal(observation, before)
    observation[:] = 0
    assert isinstance(seen, Seen)
    assert len(seen.hand) == 6


def test_decode__refuses_a_vector_that_is_no_observation() -> None:
    with pytest.raises(ValueError, match="dealer"):
        decode(np.zeros(518, np.int8), "four_point")
