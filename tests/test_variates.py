"""Control variates: their mean is exactly 0, they see nothing they must not, and they make an interval narrower."""

from __future__ import annotations

import json
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smear_env import Rules, SelfPlayVectorEnv, make_agent, make_rules, pieces, state_layout

pytest.importorskip("torch")

import torch

from training.evaluate import compare, evaluate
from training.evaluation.deals import Deals
from training.evaluation.plays import play
from training.network import Network
from training.variates.ahead import Lookahead
from training.variates.draws import other_draws, read_draws
from training.variates.luck import (
    Variates,
    comparison_luck,
    draw_luck,
    play_luck,
    replay,
    summarize_luck,
)
from training.variates.value import Value, feature_count, load_value, save_value

GAMES = pytest.mark.parametrize("preset", ["four_point", "schmier"])
COMMITTED = Path(__file__).parent.parent / "benchmarks" / "variates"


def any_value(rules: Rules, seed: int = 0) -> Value:
    """A value that knows nothing of the game: in double precision, so that a mean of 0 shows."""
    generator = np.random.default_rng(seed)
    sizes = (feature_count(rules), 16, rules.teams)
    layers = tuple((generator.normal(size=(a, b)), generator.normal(size=b)) for a, b in pairwise(sizes))
    return Value(rules, layers, "", {})


def ends_of(names: tuple[str, ...], rules: Rules, count: int, seed: int = 3) -> Any:
    """Final states of deals that agents of these names, one a team, have played."""
    agents = [make_agent(name) for name in names]
    for agent in agents:
        agent.reset(rules, -1, 5)
    deals = Deals(seed)
    plays = play(agents, rules, deals, 0, count)
    return replay(*deals.begin(rules, 0, count, skip_forced=True), plays.actions)


# ------------------------------------------------------------------------------------------------ mean zero


def every_mini_deal() -> tuple[np.ndarray, np.ndarray]:
    """Orders and dealers of all deals of `mini` that differ in hands, card drawn or dealer; the card runs fastest."""
    orders = []
    cards = set(range(8))
    for first in combinations(sorted(cards), 2):
        for second in combinations(sorted(cards - set(first)), 2):
            stock = sorted(cards - set(first) - set(second))
            orders += [(*first, *second, top, *(c for c in stock if c != top)) for top in stock]
    return np.repeat([orders, orders], 1, axis=0).reshape(-1, 8), np.repeat([0, 1], len(orders))


@pytest.mark.parametrize("names", [("greedy", "greedy"), ("greedy", "passer"), ("passer", "greedy")])
def test_draw_luck__is_0_in_the_mean_over_all_deals_of_mini(names: tuple[str, str]) -> None:
    rules = make_rules("mini")
    orders, dealers = every_mini_deal()
    env = SelfPlayVectorEnv(len(orders), rules, seed=0, episode="deal", reward="points", skip_forced=True)
    shown = env.reset(deals=(orders, dealers))
    agents = [make_agent(name) for name in names]
    for agent in agents:
        agent.reset(rules, -1, 0)
    ends, going = np.empty_like(env.final_state), np.ones(len(orders), bool)
    while going.any():
        actions = np.full(len(orders), -1)
        for team, agent in enumerate(agents):
            rows = np.flatnonzero(going & (shown.seat == team))
            if len(rows):
                actions[rows] = agent.act_batch(shown.observation[rows], shown.mask[rows])
        shown = env.step_some(actions)
        ends[shown.terminated] = env.final_state[shown.terminated]
        going &= ~shown.terminated
    luck = draw_luck(any_value(rules), ends, 0)
    assert len(luck) == 28 * 15 * 4 * 2
    assert luck.std() > 0.1
    # The four draws of the same hands and dealer, and so all of them.
    np.testing.assert_allclose(luck.reshape(-1, 4, 2).mean(axis=1), 0, atol=1e-9)
    assert abs(luck.mean(axis=0)).max() < 1e-9


@pytest.mark.parametrize(
    ("preset", "options", "names", "count"),
    [
        ("four_point", {}, ("greedy", "random"), 3000),
        ("four_point", {"stock_to_bidder": 1, "protect_scoring": True}, ("greedy", "greedy"), 3000),
        ("schmier", {}, ("greedy", "random", "greedy"), 1500),
        ("schmier", {"exchange_exactly": True}, ("greedy", "greedy", "greedy"), 1500),
    ],
)
def test_draw_luck__is_0_in_the_mean_over_many_deals(
    preset: str, options: dict[str, Any], names: tuple[str, ...], count: int
) -> None:
    rules = make_rules(preset, **options)
    luck = draw_luck(any_value(rules), ends_of(names, rules, count), 1)
    assert luck.std() > 0.1
    np.testing.assert_allclose(luck.sum(axis=1), 0, atol=1e-4)
    assert np.all(np.abs(luck.mean(axis=0)) < 4 * luck.std(axis=0) / np.sqrt(count))


def judge(rules: Rules) -> Lookahead:
    torch.manual_seed(0)
    network = Network(rules.name, (8,), (16,), rules.teams)
    torch.nn.init.normal_(network.value.weight)
    return Lookahead(network, rules)


@pytest.mark.parametrize("preset", ["mini", "four_point", "schmier"])
def test_choice_luck__is_0_in_the_mean_over_the_choices_of_every_decision(preset: str) -> None:
    rules, count = make_rules(preset), 40
    ahead, agent = judge(rules), make_agent("random")
    agent.reset(rules, -1, 1)
    env = SelfPlayVectorEnv(count, rules, seed=1, episode="deal", reward="points", skip_forced=True)
    shown = env.reset()
    rows, sizes = np.arange(count), []
    for _ in range(25):
        chances = np.random.default_rng(0).random(shown.mask.shape) * shown.mask
        chances /= chances.sum(axis=1, keepdims=True)
        mean = np.zeros((count, rules.teams))
        for place in range(shown.mask.sum(axis=1).max()):
            # The next legal action of each game; none has chance 0.
            legal = np.argsort(-shown.mask, axis=1, kind="stable")[:, place]
            luck = ahead.choice_luck(env, shown, rows, legal, chances)
            mean += (chances * shown.mask)[rows, legal][:, None] * luck
            sizes.append(np.abs(luck).max())
        np.testing.assert_allclose(mean, 0, atol=1e-9)
        shown = env.step(agent.act_batch(shown.observation, shown.mask))
    assert max(sizes) > 0.1


@GAMES
def test_choice_luck__is_0_in_the_mean_over_many_deals(preset: str) -> None:
    rules, count = make_rules(preset), 400
    agent = make_agent("random")
    agent.reset(rules, -1, 1)
    deals = Deals(9)
    plays = play([agent] * rules.teams, rules, deals, 0, count)
    begun = deals.begin(rules, 0, count, skip_forced=True)
    luck = play_luck(*begun, plays.actions, Variates(None, judge(rules)), {0: agent}, 0)
    assert np.all(np.abs(luck.mean(axis=0)) < 4 * luck.std(axis=0) / np.sqrt(count))
    np.testing.assert_allclose(luck.sum(axis=1), 0, atol=1e-4)
    assert luck.std() > 0.1


# ------------------------------------------------------------------------------------------------ draws


@GAMES
def test_draws__are_those_that_were_made_and_what_was_held_before_them(preset: str) -> None:
    rules, count = make_rules(preset), 300
    deals = Deals(3)
    env, _ = deals.begin(rules, 0, count, skip_forced=False)
    layout = state_layout(rules)
    dealt = {name: piece.copy() for name, piece in pieces(env.state(), layout).items()}
    ends = ends_of(("greedy",) * rules.teams, rules, count)
    draws = read_draws(ends, rules)
    drew = np.flatnonzero(draws.drawn.any(axis=(1, 2)))
    assert len(drew) > count / 2
    np.testing.assert_array_equal(draws.pool, dealt["stock"] > 0)
    # Cards drawn come from the top of the stock, and the others from the dealt hands, less what was thrown before.
    taken = np.where(draws.drawn.any(axis=1), dealt["stock"], 0).max(axis=1)
    np.testing.assert_array_equal(draws.drawn.sum(axis=(1, 2)), taken)
    assert not np.any(draws.kept & (dealt["hand"] == 0))
    if preset == "four_point":
        np.testing.assert_array_equal(draws.kept, dealt["hand"] > 0)
        assert set(draws.drawn[drew].sum(axis=(1, 2))) == {3}
    else:
        assert set((draws.kept | draws.drawn)[drew].sum(axis=2).min(axis=1)) == {6}
        np.testing.assert_array_equal(draws.drawn[drew].sum(axis=(1, 2)), rules.stock_size)


@GAMES
def test_draws__do_not_tell_what_was_decided_after_them(preset: str) -> None:
    # The same deals with the same auction and exchange, the rest played otherwise.
    rules, count = make_rules(preset), 100
    deals = Deals(3)
    agent = make_agent("greedy")
    agent.reset(rules, -1, 0)
    plays = play([agent] * rules.teams, rules, deals, 0, count)
    found = []
    for pick in (np.argmax, lambda mask, axis: mask.shape[1] - 1 - np.argmax(mask[:, ::-1], axis=axis)):
        env, shown = deals.begin(rules, 0, count, skip_forced=True)
        ends, over, step = np.empty_like(env.final_state), np.zeros(count, bool), 0
        while not over.all():
            late = pieces(shown.observation, env_layout(rules))["phase"][:, [1, 4]].any(axis=1)
            chosen = np.where(late, pick(shown.mask, axis=1), -1)
            early = ~late & ~over
            chosen[early] = plays.actions[early, step] if step < plays.actions.shape[1] else -1
            shown = env.step_some(np.where(over, -1, chosen))
            ends[shown.terminated] = env.final_state[shown.terminated]
            over |= shown.terminated
            step += 1
        found.append(draw_luck(any_value(rules), ends, 2))
    assert np.abs(found[0]).max() > 0.1
    np.testing.assert_array_equal(*found)


def env_layout(rules: Rules) -> Any:
    from smear_env import observation_layout

    return observation_layout(rules)


def test_other_draws__are_all_56_in_four_point_and_the_real_one_is_among_them() -> None:
    rules = make_rules("four_point")
    draws = read_draws(ends_of(("greedy", "greedy"), rules, 50), rules)
    draws = draws.of(np.flatnonzero(draws.drawn.any(axis=(1, 2))))
    others, every = other_draws(draws, 5, np.random.default_rng(0))
    assert every
    assert others.shape[1] == 56
    assert all(len({draw.tobytes() for draw in deal}) == 56 for deal in others)
    assert np.all((others == draws.drawn[:, None]).all(axis=(2, 3)).sum(axis=1) == 1)


def test_other_draws__in_schmier_give_every_seat_as_many_cards_of_the_stock_each_as_often() -> None:
    rules = make_rules("schmier")
    draws = read_draws(ends_of(("greedy",) * 3, rules, 40), rules)
    draws = draws.of(np.flatnonzero(draws.drawn.any(axis=(1, 2))))
    others, every = other_draws(draws, 400, np.random.default_rng(0))
    assert not every
    np.testing.assert_array_equal(
        others.sum(axis=3), np.broadcast_to(draws.drawn.sum(axis=2)[:, None], others.shape[:3])
    )
    assert np.all(others.sum(axis=2) <= draws.pool[:, None])
    shares = others[0].mean(axis=0)[:, draws.pool[0]]
    expected = draws.drawn[0].sum(axis=1) / 17
    assert np.abs(shares - expected[:, None]).max() < 5 * 0.5 / np.sqrt(400)


# ------------------------------------------------------------------------------------------------ refused


def test_agent_that_sees_the_stock__is_refused() -> None:
    rules = make_rules("four_point")
    agent, other = make_agent("greedy"), make_agent("passer")
    comparison = compare(agent, other, rules, 4, 1)
    agent.clairvoyant = True  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="sees the stock"):
        comparison_luck(comparison, [agent, other], rules, Deals(1), Variates(any_value(rules)))


def test_changed_file__is_refused_with_its_name(tmp_path: Path) -> None:
    rules = make_rules("mini")
    save_value(tmp_path / "v", list(any_value(rules).layers), {"preset": "mini"})
    loaded = load_value(tmp_path / "v", rules)
    assert loaded.sha256 == json.loads((tmp_path / "v.json").read_text())["weights_sha256"]
    with pytest.raises(ValueError, match="'mini'"):
        load_value(tmp_path / "v", make_rules("four_point"))
    path = tmp_path / "v.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(ValueError, match="frozen") as refused:
        load_value(tmp_path / "v", rules)
    assert str(path) in str(refused.value)
    with pytest.raises(ValueError, match=r"nothing\.json"):
        load_value(tmp_path / "nothing", rules)


def test_other_teams_than_the_presets__are_refused() -> None:
    with pytest.raises(ValueError, match="teams=2"):
        load_value(COMMITTED / "schmier", make_rules("schmier", teams=2))


# ------------------------------------------------------------------------------------------------ what it saves


@pytest.mark.parametrize(("preset", "least"), [("four_point", 0.25), ("schmier", 0.1)])
def test_committed_variates__make_the_interval_narrower(preset: str, least: float) -> None:
    result = evaluate("greedy", preset, make_rules(preset), pairs=400, seed=5, variates=COMMITTED / preset)
    reduced = result["reduced"]
    assert reduced["saving"] > least
    assert reduced["deviation"] < result["deviation"]
    assert abs(reduced["mean_correction"]) < 4 * reduced["mean_correction_error"]
    assert reduced["points_per_deal"] == pytest.approx(result["points_per_deal"] - reduced["mean_correction"])
    assert reduced["draw_sha256"] == json.loads((COMMITTED / f"{preset}.json").read_text())["weights_sha256"]


def test_critic__makes_the_interval_of_sampled_play_narrower() -> None:
    # The checkpoint against itself: all that differs is chance.
    rules = make_rules("four_point")
    critic = COMMITTED.parent.parent / "checkpoints" / "four_point"
    given = {"pairs": 500, "seed": 5, "sampled": True, "variates": COMMITTED / "four_point"}
    result = evaluate("four_point", "four_point", rules, critic=critic, **given)
    without = evaluate("four_point", "four_point", rules, **given)
    assert result["points_per_deal"] == without["points_per_deal"]
    assert result["reduced"]["saving"] > max(without["reduced"]["saving"], 0) + 0.05
    assert abs(result["reduced"]["mean_correction"]) < 4 * result["reduced"]["mean_correction_error"]
    assert result["reduced"]["critic_sha256"]


def test_luck__repeats_and_takes_nothing_from_deals_passed_out() -> None:
    rules = make_rules("four_point")
    agents = [make_agent("passer"), make_agent("passer")]
    comparison = compare(*agents, rules, 20, 1)
    variates = Variates(any_value(rules))
    assert not comparison_luck(comparison, agents, rules, Deals(1), variates).any()
    agents = [make_agent("greedy"), make_agent("passer")]
    comparison = compare(*agents, rules, 20, 1)
    first, again = (comparison_luck(comparison, agents, rules, Deals(1), variates) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert summarize_luck(comparison, first, variates, 1) == summarize_luck(comparison, again, variates, 1)


def test_variates__that_would_be_biased_are_refused_before_anything_is_played(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from training import evaluate as module

    monkeypatch.setattr(module, "play_lineups", None)
    rules, stem = make_rules("four_point"), Path("benchmarks/variates/four_point")
    stem = Path(__file__).resolve().parent.parent / stem
    with pytest.raises(ValueError, match="clairvoyant sees the stock"):
        module.evaluate("clairvoyant", "passer", rules, pairs=2, variates=stem)
    with pytest.raises(ValueError, match="seed=4000000007: the control variates were fitted on"):
        module.evaluate("greedy", "passer", rules, pairs=2, seed=4_000_000_007, variates=stem)
