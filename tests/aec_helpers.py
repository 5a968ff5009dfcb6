"""What the tests of the AEC environment share: the games, random play, positions by phase, a reference match beside."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest

from smear_env.aec import SmearEnv
from smear_env.layout import pieces, state_layout
from smear_env.rules import PRESETS, Rules, make_rules
from tests.reference import Match
from tests.reference import options as reference_options

GAMES = {
    **{f"four_point-stock{n}": make_rules("four_point", stock_to_bidder=n) for n in range(4)},
    "schmier": make_rules("schmier"),
    "schmier-2teams": make_rules("schmier", teams=2, exchange_exactly=True),
    "mini": make_rules("mini"),
    "six_point": make_rules("six_point"),
    "setback": make_rules("setback"),
    "racehorse": make_rules("racehorse", stock_to_bidder=2),
}
FULL = [rules for rules in PRESETS.values() if rules.name != "mini"]
"""The presets that people play: whole matches, a hand of six."""
every_game = pytest.mark.parametrize("rules", GAMES.values(), ids=GAMES)
each_game = pytest.mark.parametrize("rules", FULL, ids=[rules.name for rules in FULL])


def phases_of(rules: Rules) -> list[str]:
    """The phases that a deal of the game can be in."""
    named = ["name"] if rules.trump_named else []
    exchange = ["exchange"] if rules.exchange else []
    discard = ["discard"] if rules.stock_to_bidder or rules.dealer_takes_stock else []
    return ["bid", *named, *exchange, *discard, "play", "over"]


def _by_phase(*without: str) -> pytest.MarkDecorator:
    cases = [(rules, phase) for rules in FULL for phase in phases_of(rules) if phase not in without]
    return pytest.mark.parametrize(
        ("rules", "phase"), cases, ids=[f"{rules.name}-{phase}" for rules, phase in cases]
    )


every_phase = _by_phase()
every_phase_to_act_in = _by_phase("over")


def started(rules: Rules, seed: int = 1, options: dict[str, Any] | None = None, **arguments: Any) -> SmearEnv:
    env = SmearEnv(rules, **arguments)
    env.reset(seed=seed, options=options)
    return env


def legal_ids(env: SmearEnv) -> list[int]:
    """Legal actions of the seat to act, by its mask; empty after the end."""
    return [int(action) for action in np.flatnonzero(env.observe(env.agent_selection)["action_mask"])]


def names(env: SmearEnv, ids: list[int]) -> list[str]:
    return sorted(env.action_names[action] for action in ids)


def random_action(env: SmearEnv, rng: Random) -> int:
    return rng.choice(legal_ids(env))


def in_play(env: SmearEnv) -> bool:
    """Whether the episode goes on."""
    return bool(env.agents) and not any(env.terminations.values()) and not any(env.truncations.values())


def play_out(env: SmearEnv, rng: Random) -> dict[str, float]:
    """Play randomly to the end, dead steps included; each agent's rewards summed over `last()`."""
    total = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last(observe=False)
        total[agent] += reward
        env.step(None if terminated or truncated else random_action(env, rng))
    return total


def near_target(rules: Rules) -> dict[str, Any]:
    """Reset options from which random play ends a match soon."""
    return {"scores": [rules.target - 1] * rules.teams}


def full(env: SmearEnv) -> dict[str, Any]:
    """The pieces of `state()`."""
    return pieces(env.state(), state_layout(env.rules))


def phase_of(env: SmearEnv) -> str:
    return ("bid", "discard", "name", "exchange", "play", "over")[int(np.argmax(full(env)["phase"]))]


def cards_dealt(env: SmearEnv) -> tuple[list[list[str]], list[str]]:
    """Hands by seat and the stock, top first, of a deal that has just begun."""
    deck, piece = env.rules.card_names, full(env)
    hands = [[deck[card] for card in np.flatnonzero(hand)] for hand in piece["hand"]]
    stock = sorted(np.flatnonzero(piece["stock"]), key=lambda card: int(piece["stock"][card]))
    return hands, [deck[card] for card in stock]


def position(rules: Rules, phase: str, rng: Random, **arguments: Any) -> SmearEnv:
    """An environment at a random moment of the phase, reached by random play of the first deal."""
    while True:
        seed = rng.randrange(2**32)
        env = started(rules, seed, episode="deal", **arguments)
        actions, found = [], []
        while True:
            if phase_of(env) == phase:
                found.append(len(actions))
            if not in_play(env):
                break
            actions.append(random_action(env, rng))
            env.step(actions[-1])
        if found:
            env = started(rules, seed, episode="deal", **arguments)
            for action in actions[: rng.choice(found)]:
                env.step(action)
            return env


def beside_reference(
    rules: Rules, rng: Random, max_deals: int = 3, options: dict[str, Any] | None = None
) -> Iterator[tuple[SmearEnv, Match]]:
    """A random match in the environment and in the reference, before each action and at the end."""
    env = started(rules, rng.randrange(2**32), options, max_deals=max_deals)
    dealer = int(np.argmax(full(env)["dealer"]))
    match = Match(reference_options(rules.name, **rules.options()), dealer, env.scores, max_deals)
    match.deal(*cards_dealt(env))
    while True:
        yield env, match
        if match.phase == "over":
            return
        action = random_action(env, rng)
        env.step(action)
        match.act(env.action_names[action])
        if match.needs_deal and match.phase != "over":
            match.deal(*cards_dealt(env))


def same_moment(one: SmearEnv, other: SmearEnv) -> bool:
    """Whether two environments show the same of everything."""
    dicts = ("agents", "rewards", "_cumulative_rewards", "terminations", "truncations", "infos")
    return (
        one.agent_selection == other.agent_selection
        and all(getattr(one, name) == getattr(other, name) for name in dicts)
        and np.array_equal(one.state(), other.state())
        and all(
            np.array_equal(one.observe(agent)[key], other.observe(agent)[key])
            for agent in one.possible_agents
            for key in ("observation", "action_mask")
        )
    )
