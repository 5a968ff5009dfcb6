"""Add to the fixed deals what the solver knows of them: `python -m benchmarks.deals.values`, resumable, one core.

Columns of a set, each in a file of its own with its hash; a value is (teams - 1) times the score change of the bidder's
team less the sum of the others', in points, with all hands seen and every card played as well as can be:

- `expert` [deals, 3]: bidder (-1: passed out), bid, and the value at the first lead when `expert` has bid, named
  trump, exchanged and discarded in all seats. With three teams the others play together against the bidder (paranoid).
- `contracts` [deals, seats, bids], two teams: the value were this seat to buy the deal with this bid, all others
  passing, discard as `expert` and then lead, and so show as trump, the best card there is.
- `par` [deals], two teams, for team 0: the value when all four bid knowing these contracts, one after the other from
  the dealer's left as the auction has it, each for its team; 0 where they then pass the deal out. That is the best
  over bidder and trump that the other team cannot outbid.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from benchmarks.progress import in_turn
from smear_env import (
    PHASE_NAMES,
    Rules,
    SelfPlayVectorEnv,
    make_agent,
    make_rules,
    observation_layout,
    pieces,
    play_values,
)
from smear_env._typing import BoolArray, Int8Array
from smear_env.agents import ANY_SEAT
from training.evaluation.deals import FixedDeals, add_column, load_deals
from training.files import source_hash, write_atomically

CHUNK = 1000
"""Deals between two files of a run."""
BID, PLAY = PHASE_NAMES.index("bid"), PHASE_NAMES.index("play")
"""Flags of the observation's `phase`."""
COMMAND = "python -m benchmarks.deals.values"
MEANINGS = {
    "expert": "bidder (-1 passed out), bid, double-dummy value for his team, expert in all seats to the first lead",
    "contracts": "double-dummy value for the bidder's team by seat and bid, the others passing, expert's discards",
    "par": "double-dummy value for team 0 when all bid knowing `contracts`",
}


def first_leads(
    rules: Rules, orders: Any, dealers: Any, bidder: int = -1, bid: int = 0
) -> tuple[Any, BoolArray, Int8Array]:
    """Snapshot rows at the first lead, [N, bytes], which deals came to one, and their bidder and bid [N, 2].

    `expert` decides for every seat; with a `bidder`, the auction is his one bid and passes.
    """
    env = SelfPlayVectorEnv(len(orders), rules, seed=0, episode="deal", reward="points")
    shown = env.reset(deals=(orders, dealers))
    agent = make_agent("expert")
    agent.reset(rules, ANY_SEAT, 0)
    names, layout = rules.action_names, observation_layout(rules)
    passed = np.zeros(len(orders), bool)
    while True:
        seen = pieces(shown.observation, layout)
        phase = seen["phase"].argmax(axis=1)
        waiting = np.flatnonzero((phase != PLAY) & ~passed)
        if len(waiting) == 0:
            break
        actions = np.full(len(orders), -1)
        actions[waiting] = agent.act_batch(shown.observation[waiting], shown.mask[waiting])
        if bidder >= 0:
            auction = (phase == BID) & ~passed
            actions[auction] = names.index("pass")
            actions[auction & (shown.seat == bidder)] = names.index(str(bid))
        shown = env.step_some(actions)
        passed |= shown.terminated
    said = np.stack([shown.seat, rules.min_bid + seen["bid"].argmax(axis=1)], axis=1).astype(np.int8)
    return env.snapshot()["states"], ~passed, said


def expert_values(rules: Rules, orders: Any, dealers: Any) -> Int8Array:
    """The column `expert` of some deals."""
    states, played, said = first_leads(rules, orders, dealers)
    out = np.zeros((len(orders), 3), np.int8)
    out[:, 0] = -1
    out[played, :2] = said[played]
    out[played, 2] = play_values(states[played], rules)
    return out


def contract_values(rules: Rules, orders: Any, dealers: Any) -> Int8Array:
    """The column `contracts` of some deals."""
    bids = range(rules.min_bid, rules.max_bid + 1)
    out = np.zeros((len(orders), rules.players, len(bids)), np.int8)
    for seat in range(rules.players):
        for place, bid in enumerate(bids):
            states, _, _ = first_leads(rules, orders, dealers, seat, bid)
            out[:, seat, place] = play_values(states, rules)
    return out


def par(contracts: Int8Array, dealers: Any, *, dealer_bids: bool = False) -> Int8Array:
    """The column `par` of contracts [N, seats, bids]: backward induction through the auction.

    dealer_bids: the dealer must bid when all before him have passed.
    """
    seats, bids = contracts.shape[1:]
    order = (np.asarray(dealers)[:, None] + 1 + np.arange(seats)) % seats
    sign = np.where(order % 2, -1, 1)
    # By place in the auction, for team 0.
    worth = np.take_along_axis(contracts.astype(np.int64), order[:, :, None], axis=1) * sign[:, :, None]

    def value(place: int, high: int, holder: int) -> Any:
        """What comes of it when the first `place` seats have spoken and `holder` holds bid `high`; -1 nobody."""
        if place == seats or high == bids - 1:
            return worth[:, holder, high] if holder >= 0 else np.zeros(len(worth), np.int64)
        must_bid = dealer_bids and place == seats - 1 and holder < 0
        choices = [] if must_bid else [value(place + 1, high, holder)]
        choices += [value(place + 1, higher, place) for higher in range(high + 1, bids)]
        ours = sign[:, place] > 0
        return np.where(ours, np.max(choices, axis=0), np.min(choices, axis=0))

    return np.asarray(value(0, -1, -1), np.int8)


def _chunks(name: str, column: str, deals: FixedDeals, rules: Rules, runs: Path) -> Any:
    """A column in pieces, each kept on disk as soon as it is there, and found again."""
    make = {"expert": expert_values, "contracts": contract_values}[column]
    folder = runs / source_hash()[:16]
    parts = []
    for first in in_turn(range(0, len(deals.orders), CHUNK), f"pieces of {name}'s {column}"):
        path = folder / f"{name}-{deals.sha256[:8]}-{column}-{first}.npy"
        if not path.is_file():
            part = slice(first, first + CHUNK)
            file = io.BytesIO()
            np.save(file, make(rules, deals.orders[part], deals.dealers[part]), allow_pickle=False)
            write_atomically(path, file.getvalue())
        parts.append(np.load(path, allow_pickle=False))
    return np.concatenate(parts)


@dataclass(frozen=True)
class Options:
    """Add double-dummy values to the committed sets of deals."""

    names: tuple[str, ...] = ("four_point", "schmier", "mini")
    """The sets."""
    folder: Path = Path(__file__).parent
    """Where they are."""
    runs: Path = Path("runs/deals")
    """Where finished pieces are kept."""


def main(arguments: Sequence[str]) -> None:
    """Write the columns of each set."""
    options = tyro.cli(Options, prog=COMMAND, args=arguments)
    for name in options.names:
        rules = make_rules(name)
        deals = load_deals(name, options.folder)
        columns = {"expert": _chunks(name, "expert", deals, rules, options.runs)}
        if rules.teams == 2:
            columns["contracts"] = _chunks(name, "contracts", deals, rules, options.runs)
            columns["par"] = par(
                columns["contracts"], deals.dealers, dealer_bids=rules.all_pass == "dealer_bids"
            )
        for column, values in columns.items():
            add_column(options.folder, name, column, values, meaning=MEANINGS[column], command=COMMAND)
            print(f"{name}: {column} {list(values.shape)}, mean {values.mean(axis=0).round(3).tolist()}")


if __name__ == "__main__":
    main(sys.argv[1:])
