"""Tables of match equity: looked up, kept in files, and as rewards of deals beside a plain loop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from smear_env import (
    Rules,
    SelfPlayVectorEnv,
    checkpoints_folder,
    make_rules,
    read_policy,
    standings,
)
from training.equity import (
    EquityError,
    EquityRewards,
    MatchEquity,
    load_equity,
    read_equity,
    save_equity,
    table_name,
)
from training.equity.grid import make_grid


def made_up(rules: Rules, seed: int = 0, scale: float = 10.0) -> MatchEquity:
    """Any probabilities that sum to 1, as good as real ones for looking up."""
    grid = make_grid(rules)
    numbers = np.random.default_rng(seed).random((grid.cells, grid.teams))
    table = (numbers / numbers.sum(axis=1, keepdims=True)).astype(np.float32)
    return MatchEquity(rules, grid, table, np.full(table.shape, 0.01, np.float32), scale, {"deals": 5})


def looked_up(equity: MatchEquity, scores: Any, dealer: int) -> list[float]:
    """By team, from the definition: the dealer's team first, then clockwise."""
    grid, teams = equity.grid, equity.grid.teams
    cell = 0
    for place in range(teams):
        score = min(max(int(scores[(dealer + place) % teams]), grid.floor), grid.ceiling)
        cell = cell * grid.size + score - grid.floor
    return [float(equity.table[cell, (team - dealer) % teams]) for team in range(teams)]


def test_values__are_the_cells_seen_from_the_dealer() -> None:
    for name in ("four_point", "schmier"):
        equity = made_up(make_rules(name))
        rules = equity.rules
        generator = np.random.default_rng(1)
        scores = generator.integers(-40, 40, size=(200, rules.teams))
        dealers = generator.integers(rules.players, size=200)
        values = equity.values(scores, dealers)
        for i in range(200):
            assert values[i].tolist() == looked_up(equity, scores[i], int(dealers[i]))


def test_intervals__lie_around_values_within_0_and_1() -> None:
    equity = made_up(make_rules("four_point"))
    low, high = np.moveaxis(equity.intervals([[3, 4]], [1]), -1, 0)
    values = equity.values([[3, 4]], [1])
    assert high - low == pytest.approx(np.full((1, 2), 2 * 1.96 * 0.01), abs=1e-6)
    assert (high + low) / 2 == pytest.approx(values, abs=1e-6)


def played_deals(rules: Any, seed: int, **arguments: Any) -> Any:
    """Steps of random legal play, which mostly passes: copies of deals and of whose ended."""
    env = SelfPlayVectorEnv(48, rules, seed=seed, copy=True, **arguments)
    shown, generator = env.reset(), np.random.default_rng(seed)
    for _ in range(160):
        chances = generator.random(shown.mask.shape)
        chances[:, len(env.rules.card_names)] += generator.random(48) < 0.7
        shown = env.step(np.argmax(chances * shown.mask, axis=1))
        yield env.deals, env.deal_ended


def by_loop(deals: Any, ended: Any, tables: list[MatchEquity], which: Any) -> Any:
    paid = []
    for deal, over, row in zip(deals, ended, which, strict=True):
        equity = tables[row]
        teams = equity.rules.teams
        if not over:
            paid.append([0.0] * teams)
            continue
        before = looked_up(equity, deal.scores_before, int(deal.dealer))
        if deal.winner >= 0:
            after = [float(team == deal.winner) for team in range(teams)]
        elif deal.bidder < 0 and equity.rules.all_pass != "next_dealer":
            after = before
        else:
            after = looked_up(equity, deal.scores, (int(deal.dealer) + 1) % equity.rules.players)
        change = [a - b for a, b in zip(after, before, strict=True)]
        paid.append([equity.scale * (own - (sum(change) - own) / (teams - 1)) for own in change])
    return np.array(paid)


@pytest.mark.parametrize("all_pass", ["same_dealer", "next_dealer"])
@pytest.mark.parametrize("name", ["four_point", "schmier"])
@pytest.mark.parametrize("episode", ["deal", "match"])
def test_rewards__are_those_of_a_plain_loop(name: str, all_pass: str, episode: Any) -> None:
    rules = make_rules(name, all_pass=all_pass)
    equity = made_up(rules)
    rewards = EquityRewards([equity])
    scored = won = out = 0
    start = [rules.target - 2] * rules.teams
    for deals, ended in played_deals(rules, 5, episode=episode, start_scores=start, max_deals=3):
        paid = rewards.paid(deals, ended)
        assert paid == pytest.approx(by_loop(deals, ended, [equity], [0] * len(ended)), abs=1e-4)
        assert paid.sum(axis=1) == pytest.approx(np.zeros(len(ended)), abs=1e-4)
        scored += int((deals.bidder[ended] >= 0).sum())
        won += int((deals.winner[ended] >= 0).sum())
        out += int((deals.bidder[ended] < 0).sum())
    assert scored > 50
    assert won > 5
    assert out > 0


def test_rewards__go_by_each_games_own_table() -> None:
    stocks = [make_rules("four_point", stock_to_bidder=stock) for stock in (0, 3)]
    tables = [
        made_up(rules, seed, scale)
        for seed, (rules, scale) in enumerate(zip(stocks, (5.0, 20.0), strict=True))
    ]
    which = np.arange(48) % 2
    rewards = EquityRewards(tables, which)
    for deals, ended in played_deals([stocks[row] for row in which], 6, episode="deal"):
        assert rewards.paid(deals, ended) == pytest.approx(by_loop(deals, ended, tables, which), abs=1e-4)


def test_rewards_of_a_match__telescope_to_its_result() -> None:
    rules = make_rules("four_point")
    equity = made_up(rules, scale=1.0)
    env = SelfPlayVectorEnv(1, rules, seed=2, start_scores=[13, 13], dealers=2)
    shown, generator, total = env.reset(), np.random.default_rng(4), np.zeros(2)
    rewards = EquityRewards([equity])
    while True:
        shown = env.step(np.argmax(generator.random(shown.mask.shape) * shown.mask, axis=1))
        total += rewards.paid(env.deals, env.deal_ended)[0]
        if shown.terminated[0] or shown.truncated[0]:
            break
    assert shown.terminated[0]
    won = np.arange(2) == env.deals.winner[0]
    change = won - equity.values([[13, 13]], [2])[0]
    assert total == pytest.approx(change - change[::-1], abs=1e-5)


def test_tables_that_do_not_go_together__are_refused() -> None:
    four, six = made_up(make_rules("four_point")), made_up(make_rules("schmier"))
    with pytest.raises(ValueError, match="same --floor"):
        EquityRewards([four, six], [0, 1])
    with pytest.raises(ValueError, match="which=None"):
        EquityRewards([four, four])
    with pytest.raises(ValueError, match=r"which=.* must be 0\.\.0"):
        EquityRewards([four], [1])


def test_table__comes_back_from_its_files(tmp_path: Path) -> None:
    rules = make_rules("four_point", stock_to_bidder=1)
    equity = made_up(rules, scale=12.5)
    path = save_equity(tmp_path, equity)
    assert path.name == "equity-stock_to_bidder=1.json"
    again = load_equity(tmp_path, rules)
    assert again.rules == rules
    assert again.grid == equity.grid
    assert np.array_equal(again.table, equity.table)
    assert again.standard_error == pytest.approx(equity.standard_error, rel=1e-3)
    assert again.scale == 12.5
    assert again.description["deals"] == 5


def test_games_whose_dealer_must_bid__go_by_the_table_of_the_usual_auction(tmp_path: Path) -> None:
    rules = make_rules("schmier")
    save_equity(tmp_path, made_up(rules))
    games = [make_rules("schmier", all_pass="dealer_bids"), rules]
    assert load_equity(tmp_path, games[0]).rules == rules
    EquityRewards.for_games(tmp_path, games)
    with pytest.raises(EquityError, match=r"equity-all_pass=next_dealer\.json: no match equity"):
        load_equity(tmp_path, make_rules("schmier", all_pass="next_dealer"))


def test_name__says_which_options_are_not_the_presets() -> None:
    assert table_name(make_rules("schmier")) == "equity"
    assert table_name(make_rules("four_point", ending="cap")) == "equity-stock_to_bidder=3-ending=cap"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("format", "smear-equity/0", "'format'"),
        ("grid", {"teams": 2}, "grid"),
        ("options", {"stock_to_bidder": 99}, "stock_to_bidder=99"),
        ("tensors_sha256", "00", "'tensors_sha256'"),
        ("tensors", "nothing.safetensors", "'tensors'"),
        ("scale", None, "scale"),
    ],
)
def test_damaged_description__is_refused(tmp_path: Path, field: str, value: Any, message: str) -> None:
    path = save_equity(tmp_path, made_up(make_rules("four_point")))
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: value}))
    with pytest.raises(EquityError, match=message):
        load_equity(tmp_path, make_rules("four_point"))


def test_damaged_numbers__are_refused(tmp_path: Path) -> None:
    path = save_equity(tmp_path, made_up(make_rules("four_point"))).with_suffix(".safetensors")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(EquityError, match="damaged"):
        load_equity(tmp_path, make_rules("four_point"))


def test_shipped_tables__are_of_the_checkpoint_beside_them() -> None:
    for path in checkpoints_folder().glob("*/equity*.json"):
        equity = read_equity(path)
        told = equity.description
        assert path.stem == table_name(equity.rules)
        assert told["player"]["weights_sha256"] == read_policy(path.parent)["weights_sha256"], path
        assert told["residual"] < 1e-4, path
        assert told["check"]["matches"] >= 20_000, path
        assert told["check"]["holds"], path


def test_standing_after_a_deal__is_what_rewards_look_up() -> None:
    """Both take the next dealer from the engine: a deal passed out under `next_dealer` moves the table's seat."""
    rules = make_rules("four_point", all_pass="next_dealer")
    assert made_up(rules).redeal_passes
    assert not made_up(make_rules("four_point")).redeal_passes
    assert standings(rules, [[0, 0]], [[0, 0]], [-1], [False]).deal_passes[0]
