"""Bid calibration: how likely a bidder may think it is to make its bid, and how often it makes it.

The claim is from what the bidder saw when it made the bid that stood: worlds that fit it are drawn by what the others
did (`CHECKPOINT+search-N`, docs/search.md), the policy plays each out in all seats, and of those in which the bid
stands the share is counted in which it is made. So what is held against play is the whole of it, worlds and play-outs.

A claim from few worlds errs, and the highest claims are too high by chance. So contracts are sorted by the claim of one
half of the worlds, and the claim that is shown is that of the other half.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest

from smear_env import (
    PHASE_NAMES,
    Agent,
    PolicyAgent,
    Rules,
    SelfPlayVectorEnv,
    make_agent,
    make_rules,
    observation_layout,
    play_to_end,
)
from training.arrays import BoolArray, Float64Array, Int8Array, Int64Array
from training.evaluation.players import label
from training.files import commit
from training.options import parse_options
from training.plots.style import drawing, save, stroke

FORMAT = "smear-bids/1"
BIDDING = PHASE_NAMES.index("bid")
BINS = 8
"""Each with as many contracts."""
LEAST_WORLDS = 4
"""In which a bid stands, in each half of those drawn; contracts with fewer have no claim."""
AT_ONCE = 64
"""Contracts whose worlds are played out together."""

Told = Callable[[int, int], None]
"""Told how many of how many are done."""


@dataclass(frozen=True)
class Contracts:
    """Bids that stood."""

    observations: Int8Array
    """[C, d] what the bidder saw when it bid"""
    actions: Int64Array
    """[C] the bid's action"""
    made: BoolArray
    """[C] it was made"""


def play_contracts(agent: Agent, rules: Rules, deals: int, seed: int) -> Contracts:
    """Play `deals` deals with a player in every seat, from drawn scores and dealers; one passed out has no contract."""
    env = SelfPlayVectorEnv(deals, rules, seed=seed, episode="deal", reward="points", start_scores="drawn")
    phase = observation_layout(rules)["phase"].start + BIDDING
    first_bid = rules.action_names.index(str(rules.min_bid))
    shown = env.reset()
    seen, said = np.zeros_like(shown.observation), np.full(deals, -1, np.int64)
    running, stood, made = (np.full(deals, value) for value in (True, False, False))
    while running.any():
        left = np.flatnonzero(running)
        chosen = np.full(deals, -1, np.int64)
        chosen[left] = agent.act_batch(shown.observation[left], shown.mask[left])
        bid = left[(shown.observation[left, phase] == 1) & (chosen[left] >= first_bid)]
        seen[bid], said[bid] = shown.observation[bid], chosen[bid]
        shown = env.step_some(chosen)
        ended = running & (shown.terminated | shown.truncated)
        stood[ended] = env.deals.ended[ended] == 2
        made[ended] = env.deals.made[ended] == 1
        running &= ~ended
    return Contracts(seen[stood], said[stood], made[stood])


def claims_of(
    contracts: Contracts, searcher: Any, agent: Agent, rules: Rules, told: Told | None = None
) -> Float64Array:
    """[C, 2] how likely each bid is made if it stands, by either half of the worlds; NaN where it stands in too few.

    searcher: draws worlds by what is seen, as `make_agent("CHECKPOINT+search-N")` does. agent: plays them out.
    """
    claims = np.full((len(contracts.made), 2), np.nan)
    for first in range(0, len(claims), AT_ONCE):
        rows = range(first, min(first + AT_ONCE, len(claims)))
        drawn = [searcher.draw(contracts.observations[row])[:2] for row in rows]
        sizes = [len(states) for states, _ in drawn]
        actions = np.repeat(contracts.actions[rows.start : rows.stop], sizes)
        played = play_to_end(np.concatenate([states for states, _ in drawn]), actions, rules, agent)
        start = 0
        for row, (_, weights) in zip(rows, drawn, strict=True):
            part = slice(start, start + len(weights))
            start = part.stop
            for half in (0, 1):
                stands = played.stands[part][half::2]
                if stands.sum() >= LEAST_WORLDS:
                    share = weights[half::2][stands]
                    claims[row, half] = share @ played.made[part][half::2][stands] / share.sum()
        if told:
            told(rows.stop, len(claims))
    return claims


def calibration_of(
    player: str,
    options: tuple[str, ...] = (),
    *,
    deals: int,
    worlds: int,
    seed: int,
    told: Told | None = None,
) -> dict[str, Any]:
    """Claimed and made of one checkpoint in the game it was trained for, as JSON has it; options as NAME=VALUE.

    Raises ValueError for a player that is no checkpoint, and where no contract has a claim.
    """
    agent = make_agent(player)
    if not isinstance(agent, PolicyAgent):
        raise ValueError(
            f"player={player!r} is no checkpoint: only a policy has worlds drawn by what it would do"
        )
    preset = agent.description["preset"]
    rules = make_rules(preset, **parse_options(preset, options))
    agent.reset(rules, -1, seed)
    contracts = play_contracts(agent, rules, deals, seed)
    searcher: Any = make_agent(f"{player}+search-{worlds}")
    searcher.reset(rules, -1, seed)
    claims = claims_of(contracts, searcher, agent, rules, told)
    known = np.flatnonzero(~np.isnan(claims).any(axis=1))
    if len(known) < BINS:
        raise ValueError(f"deals={deals}: {len(known)} contracts have a claim, {BINS} bins need more")
    bids = contracts.actions - rules.action_names.index(str(rules.min_bid)) + rules.min_bid
    return {
        "player": label(player),
        "rules": rules.name,
        "options": rules.options(),
        "commit": commit(),
        "deals": deals,
        "seed": seed,
        "worlds": worlds,
        "contracts": len(claims),
        "without_claim": len(claims) - len(known),
        "bins": bins_of(claims[known], contracts.made[known]),
        "bids": [
            {
                "bid": int(bid),
                "contracts": int((bids[known] == bid).sum()),
                "claimed": float(claims[known][bids[known] == bid].mean()),
                **_made(contracts.made[known][bids[known] == bid]),
            }
            for bid in np.unique(bids[known])
        ],
    }


def bins_of(claims: Float64Array, made: BoolArray, bins: int = BINS) -> list[dict[str, Any]]:
    """Claims [C, 2] and what was made [C] in bins of rising claim, each with as many contracts, and the 95 % interval.

    A contract is sorted once by the first half's claim and shown by the second's, and once the other way about.
    """
    rows = []
    orders = [np.array_split(np.argsort(claims[:, half], kind="stable"), bins) for half in (0, 1)]
    for first, second in zip(*orders, strict=True):
        shown = np.concatenate([claims[first, 1], claims[second, 0]])
        share = float(np.concatenate([made[first], made[second]]).mean())
        # Most contracts are in the bin both times: the interval is that of one time.
        count = len(first)
        rows.append({"contracts": count, "claimed": float(shown.mean()), **_interval(share, count)})
    return rows


def _made(made: BoolArray) -> dict[str, Any]:
    return _interval(float(made.mean()), len(made))


def _interval(share: float, count: int) -> dict[str, Any]:
    """A share and its 95 % interval by Wilson."""
    found = binomtest(round(share * count), count).proportion_ci(0.95, method="wilson")
    return {"made": share, "interval": [float(found.low), float(found.high)]}


def read_calibrations(path: Path) -> list[dict[str, Any]]:
    """The calibrations of a file that `bids --json` wrote; ValueError naming the file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"player={str(path)!r} is not readable as JSON: {error}") from error
    kind = content.get("format") if isinstance(content, dict) else None
    if kind != FORMAT or not content.get("calibrations"):
        raise ValueError(
            f"player={str(path)!r} has format={kind!r}, expected {FORMAT!r}: a file of `bids --json`"
        )
    return content["calibrations"]


def draw_bids(calibrations: Sequence[dict[str, Any]], paths: Sequence[Path]) -> None:
    """Draw claimed against made, a panel for each calibration, in bins and by bid."""
    with drawing(0.6 + 4.2 * len(calibrations), 4.9, columns=len(calibrations)) as (figure, panels):
        for axes, one in zip(panels[0], calibrations, strict=True):
            rows = [*one["bins"], *one["bids"]]
            # Bids that nobody thinks will be made are not made at all: the lower part is often empty.
            low = np.floor(10 * min(min(row["claimed"], row["interval"][0]) for row in rows)) / 10
            axes.plot([low, 1], [low, 1], color="0.6", linewidth=0.8, zorder=0)
            _draw(axes, one["bins"], 0, f"{len(one['bins'])} bins of {one['bins'][0]['contracts']} contracts")
            for index, bid in enumerate(one["bids"], 1):
                _draw(axes, [bid], index, f"{bid['contracts']} bids of {bid['bid']}")
            axes.set(xlim=(low, 1.02), ylim=(low, 1.02), aspect="equal")
            axes.set_xlabel("claimed probability of making the bid")
            axes.set_ylabel("share made, with 95 % interval")
            axes.set_title(
                f"{one['rules']}: {one['player']}, {one['contracts'] - one['without_claim']} contracts"
            )
            axes.legend(loc="upper left")
        save(figure, paths)


def _draw(axes: Any, rows: Sequence[dict[str, Any]], index: int, name: str) -> None:
    claimed, made = (np.array([one[key] for one in rows]) for key in ("claimed", "made"))
    spans = np.abs(np.array([one["interval"] for one in rows]).T - made)
    how = stroke(index) | {"linestyle": "none", "markersize": 5 if index == 0 else 7}
    axes.errorbar(claimed, made, yerr=spans, capsize=3, linewidth=1.2, label=name, **how)
