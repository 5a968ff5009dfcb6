"""Bid calibration: contracts, what is claimed of them, and how both are put in bins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from smear_env import PHASE_NAMES, SelfPlayVectorEnv, make_agent, make_rules, observation_layout
from tests.plots_runs import drawn, end_of
from training.plots import bids
from training.plots.__main__ import main
from training.plots.bids import Contracts, bins_of, calibration_of, claims_of, draw_bids, play_contracts

RULES = make_rules("four_point")


def ready(name: str) -> Any:
    agent = make_agent(name)
    agent.reset(RULES, -1, 0)
    return agent


class Oracle:
    """Draws the worlds that it was given for an observation."""

    def __init__(self, worlds: dict[bytes, Any]) -> None:
        self.worlds = worlds

    def draw(self, row: Any) -> tuple[Any, Any, float]:
        states = self.worlds[row.tobytes()]
        return states, np.full(len(states), 1 / len(states)), float(len(states))


def eldest_bids(deals: int) -> tuple[Contracts, list[Any]]:
    """Deals in which `expert` as eldest hand, seat 0, bids and is not outbid, and their tables before the bid."""
    env = SelfPlayVectorEnv(deals, RULES, seed=3, episode="deal", reward="points", dealers=3, copy=True)
    shown, agent = env.reset(), ready("expert")
    first, tables = shown, env.snapshot()["states"]
    said = agent.act_batch(first.observation, first.mask)
    chosen, running = said, np.full(deals, True)
    made, bidder = np.zeros(deals, bool), np.zeros(deals, int)
    while running.any():
        shown = env.step_some(np.where(running, chosen, -1))
        ended = running & shown.terminated
        made[ended], bidder[ended] = env.deals.made[ended] == 1, env.deals.bidder[ended]
        running &= ~ended
        chosen = agent.act_batch(shown.observation, shown.mask)
    own = np.flatnonzero((bidder == 0) & (said > RULES.action_names.index("pass")))
    return Contracts(first.observation[own], said[own], made[own]), [tables[one] for one in own]


def test_claim__in_the_true_world_is_what_happens() -> None:
    contracts, tables = eldest_bids(60)
    assert 0 < contracts.made.sum() < len(contracts.made)
    copies = 2 * bids.LEAST_WORLDS
    worlds = {
        row.tobytes(): np.repeat(table[None], copies, axis=0)
        for row, table in zip(contracts.observations, tables, strict=True)
    }
    claims = claims_of(contracts, Oracle(worlds), ready("expert"), RULES)
    np.testing.assert_array_equal(claims, np.repeat(contracts.made[:, None], 2, axis=1).astype(float))


def test_claim__is_by_halves_of_the_worlds_and_their_weights() -> None:
    contracts, tables = eldest_bids(60)
    good = np.flatnonzero(contracts.made)[0]
    bad = np.flatnonzero(~contracts.made & (contracts.actions == contracts.actions[good]))[0]
    one = Contracts(contracts.observations[[good]], contracts.actions[[good]], contracts.made[[good]])
    # Even places are won, of odd ones half.
    turn = (tables[good], tables[good], tables[good], tables[bad])
    mixed = np.stack(turn * (bids.LEAST_WORLDS // 2))
    claims = claims_of(one, Oracle({one.observations[0].tobytes(): mixed}), ready("expert"), RULES)
    np.testing.assert_allclose(claims, [[1.0, 0.5]])


def test_claim__from_too_few_worlds_is_none() -> None:
    contracts, tables = eldest_bids(20)
    worlds = {row.tobytes(): table[None] for row, table in zip(contracts.observations, tables, strict=True)}
    assert np.isnan(claims_of(contracts, Oracle(worlds), ready("expert"), RULES)).all()


def test_contracts__are_the_bids_that_stood() -> None:
    found = play_contracts(ready("greedy"), RULES, 50, seed=2)
    layout = observation_layout(RULES)
    phase = layout["phase"].start + PHASE_NAMES.index("bid")
    assert (found.observations[:, phase] == 1).all()
    assert (found.actions > RULES.action_names.index("pass")).all()
    assert 0 < found.made.mean() < 1
    assert len(found.made) <= 50
    assert len(play_contracts(ready("passer"), RULES, 50, seed=2).made) == 0


def test_bins__of_claims_that_are_right_say_so_and_chance_in_claims_moves_none() -> None:
    rng = np.random.default_rng(0)
    truth = rng.uniform(0.2, 1, 40_000)
    made = rng.random(40_000) < truth
    # Each half has the claim from sixteen worlds.
    claims = rng.binomial(16, truth[:, None], (40_000, 2)) / 16
    rows = bins_of(claims, made)
    assert sum(row["contracts"] for row in rows) == 40_000
    for row in rows:
        assert row["claimed"] == pytest.approx(row["made"], abs=0.02)
        assert row["interval"][0] < row["made"] < row["interval"][1]
    assert rows[-1]["claimed"] - rows[0]["claimed"] > 0.5


def test_interval__is_wilsons() -> None:
    rows = bins_of(np.full((40, 2), 0.5), np.arange(40) % 4 > 0, bins=1)
    assert rows[0]["made"] == 0.75
    # (p + z^2/2n ± z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n) with z = 1.959964, n = 40
    np.testing.assert_allclose(rows[0]["interval"], [0.5981, 0.8581], atol=5e-4)


def calibration(player: str = "one") -> dict[str, Any]:
    row = {"contracts": 5, "claimed": 0.6, "made": 0.5, "interval": [0.2, 0.8]}
    return {
        "player": player,
        "rules": "four_point",
        "contracts": 12,
        "without_claim": 2,
        "bins": [row, {**row, "claimed": 0.9, "made": 0.7, "interval": [0.4, 0.9]}],
        "bids": [{"bid": 3, **row}],
    }


def test_picture__shows_claimed_against_made_with_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with drawn(bids, monkeypatch) as figures:
        draw_bids([calibration("one"), calibration("two")], [tmp_path / "bids.png", tmp_path / "bids.svg"])
    first, second = figures[0].axes
    assert first.get_title() == "four_point: one, 10 contracts"
    assert second.get_title() == "four_point: two, 10 contracts"
    shown = [line.get_xydata().tolist() for line in first.lines if len(line.get_xydata()) == 2]
    assert [[0.6, 0.5], [0.9, 0.7]] in shown
    assert any("5 bids of 3" in text.get_text() for text in first.get_legend().get_texts())
    assert (tmp_path / "bids.png").read_bytes().startswith(b"\x89PNG")


def test_command__draws_again_from_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bids.json"
    path.write_text(json.dumps({"format": "smear-bids/1", "calibrations": [calibration()]}))
    monkeypatch.setattr("sys.argv", ["plots", "bids", str(path), "--out", str(tmp_path / "bids.svg")])
    main()
    assert "<svg" in (tmp_path / "bids.svg").read_text()


def test_command__names_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other.json").write_text('{"format": "smear-curves/1"}')
    for words, named in (
        ([], "players=()"),
        (["greedy"], "player='greedy' is no checkpoint"),
        (["four_point", "--deals", "0"], "deals=0"),
        (["four_point", "--worlds", "0"], "worlds=0"),
        ([str(tmp_path / "other.json")], "format='smear-curves/1'"),
    ):
        assert named in end_of(monkeypatch, "bids", *words, "--out", str(tmp_path / "x.png")), named


@pytest.mark.slow
def test_shipped_policy__makes_its_bids_about_as_often_as_it_claims() -> None:
    found = calibration_of("four_point", deals=150, worlds=32, seed=4)
    claimed = np.mean([row["claimed"] for row in found["bins"]])
    made = np.mean([row["made"] for row in found["bins"]])
    assert claimed == pytest.approx(made, abs=0.12)
