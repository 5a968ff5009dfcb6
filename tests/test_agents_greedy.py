"""Greedy plays sensibly: positions with one right answer, and points per deal against the passer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from smear_env.aec import raw_env
from smear_env.agents import ANY_SEAT, make_agent
from smear_env.rules import Rules, make_rules
from smear_env.vector import SelfPlayVectorEnv

PLAIN = make_rules("four_point", stock_to_bidder=0)
NO_EXCHANGE = make_rules("schmier", exchange=0, dealer_takes_stock=False)


class Duel(NamedTuple):
    """Duplicate deals of one agent against another."""

    points: Any  # [pairs] own score change less the others' mean, over a deal's seatings
    bids: int  # deals in which the first agent was the bidder
    made: float  # share of those bids made


def duel(rules: Rules, first: str, second: str, pairs: int, seed: int) -> Duel:
    """The same deals with the first agent in each team's seats in turn."""
    points = np.zeros((rules.teams, pairs))
    made: list[int] = []
    for team in range(rules.teams):
        env = SelfPlayVectorEnv(pairs, rules, seed=seed, episode="deal", reward="points")
        agents = [make_agent(first), make_agent(second)]
        for number, agent in enumerate(agents):
            agent.reset(rules, ANY_SEAT, number)
        shown = env.reset()
        running = np.ones(pairs, bool)
        while running.any():
            actions = np.full(pairs, -1)
            own = shown.seat % rules.teams == team
            for agent, theirs in zip(agents, (own, ~own), strict=True):
                rows = np.flatnonzero(theirs & running)
                if len(rows):
                    actions[rows] = agent.act_batch(shown.observation[rows], shown.mask[rows])
            shown = env.step_some(actions)
            ended = shown.terminated & running
            points[team, ended] = shown.reward[ended, team]
            deals = env.deals[ended]
            made.extend(deals.made[(deals.bidder >= 0) & (deals.bidder % rules.teams == team)].tolist())
            running &= ~ended
    return Duel(points.mean(axis=0), len(made), float(np.mean(made)) if made else 0.0)


def interval(points: Any) -> tuple[float, float]:
    half = 1.96 * points.std(ddof=1) / np.sqrt(len(points))
    return float(points.mean() - half), float(points.mean() + half)


def answer(
    rules: Rules,
    hands: dict[int, str],
    actions: str = "",
    *,
    stock: str = "",
    dealer: int = -1,
    player: str = "greedy",
    scores: Sequence[int] = (),
) -> str:
    """What a player does after `actions` of a deal whose other hands are filled up; the last seat deals by default."""
    given = {card for cards in (*hands.values(), stock) for card in cards.split()}
    rest = [card for card in rules.card_names if card not in given]
    dealt = []
    for seat in range(rules.players):
        cards = hands.get(seat, "").split()
        while len(cards) < rules.hand_size:
            cards.append(rest.pop(0))
        dealt.append(" ".join(cards))
    deal = {"dealer": dealer % rules.players, "hands": dealt, "stock": " ".join([*stock.split(), *rest])}
    env = raw_env(rules, illegal="raise")
    env.reset(seed=0, options={"deal": deal} | ({"scores": list(scores)} if scores else {}))
    for action in actions.split():
        env.step(env.action_names.index(action))
    agent = make_agent(player)
    agent.reset(rules, int(env.agent_selection.removeprefix("seat_")), 0)
    seen = env.observe(env.agent_selection)
    return env.action_names[agent.act(seen["observation"], seen["action_mask"])]


STRONG = "AS KS JS 9S AH 7D"


def test_lead__bidder_leads_the_ace_of_trump() -> None:
    assert answer(PLAIN, {0: STRONG}, "4") == "AS"
    assert answer(NO_EXCHANGE, {0: "AS KS QS 3S AH 7D"}, "6 trump:S") == "AS"


def test_lead__side_ace_when_the_opponents_have_no_trump_left() -> None:
    hands = {0: "AS KS 9S AH TD 7D", 1: "7S 8H 9H 8D 9D 7C", 2: "8S TC 8C 9C JC QC", 3: "TS JD QD KD AD KC"}
    assert answer(PLAIN, hands, "4 AS 7S 8S TS") in ("KS", "AH")


@pytest.mark.parametrize("player", ["greedy", "expert"])
@pytest.mark.parametrize(("rules", "partner"), [(PLAIN, 2), (NO_EXCHANGE, 3)])
def test_follow__gives_the_ten_to_the_partners_certain_winner(
    rules: Rules, partner: int, player: str
) -> None:
    if rules is PLAIN:
        hands = {0: STRONG, 1: "7S 7C 8C 9C JC QC", partner: "TH 7H 8H 8D 9D KC"}
        assert answer(rules, hands, "4 AS 7S", player=player) == "TH"
    else:
        hands = {
            0: "AS KS QS 3S AH 7D",
            1: "4S 7C 8C 9C JH QC",
            2: "5S 2C 3C 4C 5C 6C",
            partner: "TH 7H 8H 8D 9D KC",
        }
        assert answer(rules, hands, "6 trump:S AS 4S 5S", player=player) == "TH"


@pytest.mark.parametrize("player", ["greedy", "expert"])
@pytest.mark.parametrize("rules", [PLAIN, NO_EXCHANGE])
def test_follow__keeps_the_ten_from_the_opponents_winner(rules: Rules, player: str) -> None:
    hands = {0: STRONG, 1: "TH 7H 8H 8D 9D KC"}
    assert answer(rules, hands, "4 AS" if rules is PLAIN else "6 trump:S AS", player=player) != "TH"


def test_follow__takes_a_ten_cheaply_when_last() -> None:
    hands = {0: "TS 9S JS AH 7D 8D", 1: "7S 7C 8C 9C JC QC", 2: "8S TH 7H 9D KC QH", 3: "QS AS 8H 9H TD JD"}
    assert answer(PLAIN, hands, "4 TS 7S 8S") == "QS"
    hands = {0: "TS 9S 3S AH 7D 8D", 1: "4S 7C 8C 9C JH QC", 2: "5S 2C 3C 4C 5C 6C", 3: "6S TH 7H 9D KC QH"}
    hands |= {4: "8S 2H 3H 4H 5H 6H", 5: "QS AS 8H 9H TD JD"}
    assert answer(NO_EXCHANGE, hands, "6 trump:S TS 4S 5S 6S 8S") == "QS"


def test_follow__keeps_the_jack_of_trump_from_the_ace() -> None:
    hands = {0: STRONG.replace("JS", "8S"), 1: "JS 7S 7C 8C 9C QC"}
    assert answer(PLAIN, hands, "4 AS") == "7S"


def test_bid__passes_over_the_partners_bid_with_a_fair_hand() -> None:
    assert answer(PLAIN, {2: "KS 9S TH 8H 7D QC"}, "2 pass") == "pass"


def test_bid__strong_hand_bids_weak_hand_passes() -> None:
    assert answer(PLAIN, {0: "AS KS JS TS 7S AH"}) == "2"
    assert answer(PLAIN, {1: "9S 8S 9H 8H 9D 8C"}, "3") == "pass"
    schmier = make_rules("schmier")
    assert answer(schmier, {0: "AS KS JS JC 2S AH"}) == "3"
    assert answer(schmier, {0: "4S 5S 6H 7H 8D 9C"}) == "pass"


def test_bid__raises_an_opponent_only_with_a_strong_hand() -> None:
    assert answer(PLAIN, {1: "AS KS JS TS 7S AH"}, "2") == "3"


@pytest.mark.parametrize("thrown", ["", "TD", "TD 7H"])
def test_discard__keeps_the_best_suit_and_saves_the_ten(thrown: str) -> None:
    rules = make_rules("four_point")
    hands = {0: "AS KS JS 9S 7H TD"}
    discard = answer(rules, hands, f"4 {thrown}", stock="8C 9C QD")
    assert discard[1] != "S"
    assert thrown or discard == "TD"


def test_discard__dealer_throws_low_cards() -> None:
    hands = {5: "AS KS 2S AH 3H 4D"}
    exchanges = "pass " * 5
    discard = answer(make_rules("schmier"), hands, f"pass pass pass pass pass 3 trump:S {exchanges}")
    assert discard[1] != "S"
    assert discard[0] in "23456789"


def test_exchange__throws_low_cards_and_keeps_aces() -> None:
    hands = {0: "AS KS AH 3H 4D 5C"}
    schmier = make_rules("schmier")
    thrown: list[str] = []
    for _ in range(3):
        thrown.append(answer(schmier, hands, f"6 trump:S {' '.join(thrown)}"))
    assert sorted(thrown) == ["3H", "4D", "5C"]


def test_name__takes_the_best_suit() -> None:
    assert answer(make_rules("schmier"), {0: "AS KS QS JC 2S 5H"}, "6") == "trump:S"


def test_greedy__beats_the_passer_in_four_point() -> None:
    result = duel(make_rules("four_point"), "greedy", "passer", 2000, 11)
    assert interval(result.points)[0] > 1.5


def test_greedy__beats_the_passer_in_schmier() -> None:
    result = duel(make_rules("schmier"), "greedy", "passer", 1500, 12)
    assert interval(result.points)[0] > 0


def test_greedy__beats_random_play() -> None:
    for game in ("four_point", "schmier"):
        assert interval(duel(make_rules(game), "greedy", "random", 300, 13).points)[0] > 2


@pytest.mark.parametrize("game", ["four_point", "schmier"])
def test_bids__are_made_more_often_than_not(game: str) -> None:
    rules = make_rules(game)
    greedy = duel(rules, "greedy", "greedy", 1000, 14)
    assert 0.7 < greedy.made < 0.97
    assert greedy.bids > 0.2 * 1000
    assert duel(rules, "passer", "greedy", 200, 15).bids == 0
    assert duel(rules, "random", "greedy", 500, 16).made < 0.5


def test_passer__makes_some_bids_it_is_forced_to() -> None:
    forced = duel(make_rules("four_point", all_pass="dealer_bids"), "passer", "passer", 500, 17)
    assert forced.bids == 500
    assert 0.2 < forced.made < 1
