"""Counts of deals and bids against a plain count, and the documented names."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from smear_env import (
    PRESETS,
    SelfPlayVectorEnv,
    VectorStep,
    make_agent,
    make_rules,
    observation_layout,
    pieces,
)

pytest.importorskip("torch")

from training.metrics import MAX_STRENGTH, DealCounts, hand_strength

GAMES = pytest.mark.parametrize("preset", ["four_point", "schmier"])
N, STEPS = 20, 120


def flags(preset: str, cards: str) -> np.ndarray:
    names = PRESETS[preset].card_names
    row = np.zeros((1, len(names)), np.int8)
    row[0, [names.index(card) for card in cards.split()]] = 1
    return row


@pytest.mark.parametrize(
    ("preset", "cards", "strength"),
    [
        ("four_point", "7C 8D 9H TS JC QD", 2),  # two clubs, or two diamonds
        ("four_point", "7C 8C 9C TD JD KH", 3),
        ("four_point", "AC 8C 9D TD JD KH", 3),  # two clubs with the ace are worth three diamonds
        ("four_point", "AC 8C 9C TD JD KH", 4),
        ("four_point", "AS KS QS JS TS 9S", 7),
        ("schmier", "2C 3D 4H 5S JK AD", 3),  # the joker is of no suit before trump is named
        ("schmier", "AH KH QH JH TH 9H", 7),
    ],
)
def test_hand_strength__is_the_best_suits_cards_and_one_for_its_ace(
    preset: str, cards: str, strength: int
) -> None:
    assert hand_strength(flags(preset, cards), preset) == [strength]


def test_hand_strength__of_17_cards_stops_at_the_last_column() -> None:
    spades = " ".join(f"{rank}S" for rank in PRESETS["schmier"].ranks)
    assert hand_strength(flags("schmier", spades), "schmier") == [MAX_STRENGTH]


def played(preset: str) -> tuple[DealCounts, dict[str, Counter[Any]]]:
    """Random play counted by `DealCounts` and, decision for decision, by the loops below."""
    # In every third game the dealer must bid; those say nothing about passing out.
    rules = [make_rules(preset, all_pass="dealer_bids" if g % 3 == 0 else "next_dealer") for g in range(N)]
    free = np.array([g % 3 != 0 for g in range(N)])
    env = SelfPlayVectorEnv(N, rules, seed=3, episode="deal", reward="points", skip_forced=True)
    one, layout = env.rules, observation_layout(env.rules)
    counts = DealCounts(preset, free)
    agent = make_agent("random")
    agent.reset(one, -1, 1)
    shown: VectorStep = env.reset()
    observations, actions = [], []
    slow: dict[str, Counter[Any]] = {
        "deals": Counter(),
        "calls": Counter(),
        "overbids": Counter(),
        "forced": Counter(),
    }
    for step in range(STEPS):
        chosen = agent.act_batch(shown.observation, shown.mask)
        may_pass = np.flatnonzero(shown.mask[:, len(one.card_names)])
        if step % 3:  # pass often enough for deals to be passed out
            chosen[may_pass] = len(one.card_names)
        observations.append(shown.observation.copy())
        actions.append(chosen)
        for game in np.flatnonzero(free):
            count_call(
                slow,
                pieces(shown.observation[game], layout),
                int(shown.seat[game]),
                int(chosen[game]),
                preset,
            )
        shown = env.step(chosen)
        counts.add_deals(env)
        for game in np.flatnonzero(env.deal_ended):
            deal = env.deals[game]
            if not free[game]:
                slow["forced"]["all"] += 1
                slow["forced"]["made"] += int(deal.delta[deal.bidder % one.teams] >= deal.bid)
                continue
            out = deal.bidder < 0
            slow["deals"]["all"] += 1
            slow["deals"]["passed out"] += out
            if not out:
                slow["deals"][int(deal.bid)] += 1
                slow["deals"]["made"] += int(deal.delta[deal.bidder % one.teams] >= deal.bid)
    counts.add_bids(np.stack(observations), np.stack(actions))
    return counts, slow


def count_call(slow: dict[str, Counter[Any]], seen: Any, seat: int, action: int, preset: str) -> None:
    """Count one decision if it is a call."""
    rules = PRESETS[preset]
    if not seen["phase"][0]:
        return
    name = rules.action_names[action]
    dealer = (seat + int(seen["dealer"].argmax())) % rules.players
    position = (seat - dealer - 1) % rules.players  # 0 is left of the dealer
    cards = [rules.card_names[card] for card in np.flatnonzero(seen["hand"])]
    best = max(sum(c[-1] == s for c in cards) + (f"A{s}" in cards) for s in rules.suits)
    slow["calls"][position, min(best, 7), name] += 1
    if seen["bid"].any():
        slow["overbids"]["could"] += 1
        slow["overbids"]["did"] += name != "pass"


@GAMES
def test_counts__equal_a_plain_count(preset: str) -> None:
    counts, slow = played(preset)
    rules = PRESETS[preset]
    assert counts.deals == slow["deals"]["all"] > 20
    assert counts.passed_out == slow["deals"]["passed out"] > 0
    assert counts.forced_deals == slow["forced"]["all"] > 0
    assert counts.forced_made == slow["forced"]["made"]
    assert counts.made == slow["deals"]["made"]
    bids = range(rules.min_bid, rules.max_bid + 1)
    assert counts.bid_levels.tolist() == [slow["deals"][bid] for bid in bids]
    assert counts.could_overbid == slow["overbids"]["could"] > 0
    assert counts.overbids == slow["overbids"]["did"]
    names = ["pass", *map(str, bids)]
    for (position, strength, call), number in np.ndenumerate(counts.calls):
        assert number == slow["calls"][position, strength, names[call]]
    assert counts.calls.sum() == sum(slow["calls"].values())


@GAMES
def test_scalars__are_the_shares(preset: str) -> None:
    counts, _ = played(preset)
    scalars, rules = counts.scalars(), PRESETS[preset]
    scored = counts.deals - counts.passed_out
    assert scalars["deals/passed_out"] == counts.passed_out / counts.deals
    assert scalars["deals/bids_made"] == counts.made / scored
    assert scalars["bids/overbid"] == counts.overbids / counts.could_overbid
    levels = [scalars[f"deals/contract_{bid}"] for bid in range(rules.min_bid, rules.max_bid + 1)]
    assert sum(levels) == pytest.approx(1)
    seat_1 = counts.calls[0, 3]
    assert scalars["bids/seat_1/strength_3"] == seat_1[1:].sum() / seat_1.sum()
    assert counts.bid_shares()[0, 3] == scalars["bids/seat_1/strength_3"]
    points = {name: value for name, value in scalars.items() if name.startswith("bids/level")}
    assert points
    assert all(rules.min_bid <= bid <= rules.max_bid for bid in points.values())
    assert all(0 <= share <= 1 for name, share in scalars.items() if name not in points)


def test_scalars__of_nothing_are_left_out() -> None:
    counts = DealCounts("four_point", np.ones(3, bool))
    assert counts.scalars() == {}
    assert np.isnan(counts.bid_shares()).all()


@GAMES
def test_counts__leave_out_games_in_which_the_dealer_must_bid(preset: str) -> None:
    env = SelfPlayVectorEnv(
        N, make_rules(preset, all_pass="dealer_bids"), seed=3, episode="deal", skip_forced=True
    )
    agent = make_agent("random")
    agent.reset(env.rules, -1, 1)
    shown = env.reset()
    counts = DealCounts(preset, np.zeros(N, bool))
    finished = 0
    for _ in range(80):
        chosen = agent.act_batch(shown.observation, shown.mask)
        counts.add_bids(shown.observation[None], chosen[None])
        shown = env.step(chosen)
        counts.add_deals(env)
        finished += int(env.deal_ended.sum())
    assert finished > 0
    assert set(counts.scalars()) == {"deals/forced_bids_made"}
    assert counts.forced_deals == finished
    assert counts.deals == counts.calls.sum() == 0


def test_merge__counts_as_if_it_had_been_one_stretch() -> None:
    free = np.ones(1, np.bool_)
    one, other = DealCounts("four_point", free), DealCounts("four_point", free)
    for counts, times in ((one, 2), (other, 5)):
        counts.deals, counts.made = 3 * times, times
        counts.calls[1, 4, 2] = times  # second seat, strength 4, a bid of 3
        counts.bid_levels[1] = times
    one.merge(other)
    assert (one.deals, one.made, one.calls[1, 4, 2], one.bid_levels[1]) == (21, 7, 7, 7)
    assert one.mean_bids()[1, 4] == 3
    assert one.scalars()["bids/level/strength_4"] == 3
