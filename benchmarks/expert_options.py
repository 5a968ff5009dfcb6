"""How far `expert` is ahead of `greedy` under every value of every option, one option changed at a time, and some sets.

The same deals are played with expert as each team in turn, greedy in all other seats; a figure is expert's score less
the others' mean, in points per deal, with a 95 % interval over sets of deals. Options that only say when a match ends
(`ending`, `both_out`, `target`) are measured by whole matches: the share that expert's team wins, less an equal share.

    python -m benchmarks.expert_options --rules schmier --sets 4000
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from benchmarks.progress import in_turn
from smear_env import Rules, make_agent, make_rules
from smear_env._typing import Float64Array
from smear_env.agents.expert import book as books
from smear_env.agents.expert import load_book, selfplay
from smear_env.agents.seen import kernel_tables
from smear_env.layout import observation_layout, vector_size

COMMON: tuple[dict[str, Any], ...] = (
    {},
    {"failed_bid": "points"},
    {"high_low": "in_play"},
    {"low_to": "winner"},
    {"game_tie": "bidder"},
    {"all_pass": "next_dealer"},
    {"all_pass": "dealer_bids"},
)
OPTIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "four_point": (
        *COMMON,
        *({"stock_to_bidder": stock} for stock in (0, 1, 2, 4, 6, 8)),
        {"game_tie": "non_bidder"},
        {"may_trump": False},
        {"protect_scoring": True},
        {"min_bid": 1},
        {"min_bid": 3},
        {"max_bid": 3},
        {"min_bid": 4},
        {"hand_size": 5},
        {"hand_size": 8, "stock_to_bidder": 0},
        {"trump_named": True, "stock_to_bidder": 0},
        {"trump_named": True, "stock_to_bidder": 0, "lead_trump_first": True},
        {"trump_named": True, "stock_to_bidder": 0, "exchange": 2},
        {"trump_named": True, "stock_to_bidder": 0, "dealer_takes_stock": True},
        {"failed_bid": "points", "all_pass": "dealer_bids"},
        {"stock_to_bidder": 0, "may_trump": False},
        {"stock_to_bidder": 0, "failed_bid": "points"},
        {"stock_to_bidder": 0, "low_to": "winner", "high_low": "in_play"},
        {"low_to": "winner", "high_low": "in_play", "failed_bid": "points", "may_trump": False},
        {"players": 2, "teams": 2},
        {"players": 4, "teams": 4},
    ),
    "schmier": (
        *COMMON,
        {"teams": 2},
        {"teams": 6},
        {"game_tie": "non_bidder", "teams": 2},
        {"exchange": 0},
        {"exchange": 1},
        {"exchange": 2},
        {"exchange_exactly": True},
        {"dealer_takes_stock": False},
        {"dealer_takes_stock": False, "exchange": 0},
        {"may_trump": True},
        {"lead_trump_first": True},
        {"protect_scoring": False},
        {"min_bid": 1},
        {"min_bid": 2},
        {"min_bid": 4},
        {"min_bid": 5},
        {"max_bid": 4},
        {"max_bid": 5},
        {"bowers": False, "max_bid": 5},
        {"joker": False, "max_bid": 5},
        {"players": 4, "teams": 2},
        {"exchange": 0, "teams": 2},
        {"exchange": 0, "failed_bid": "points"},
        {"exchange": 0, "may_trump": True},
        {"dealer_takes_stock": False, "exchange": 0, "teams": 2},
        {"teams": 2, "exchange_exactly": True, "lead_trump_first": True},
        {"protect_scoring": False, "high_low": "in_play", "low_to": "winner", "failed_bid": "points"},
    ),
    "mini": (
        *COMMON,
        *({"stock_to_bidder": stock} for stock in (0, 2, 3, 4)),
        {"all_pass": "same_dealer"},
        {"game_tie": "non_bidder"},
        {"may_trump": False},
        {"protect_scoring": True, "hand_size": 3, "stock_to_bidder": 1},
        {"min_bid": 1},
        {"min_bid": 3},
    ),
}
BEHIND: dict[str, tuple[dict[str, Any], ...]] = {
    "four_point": ({"trump_named": True, "stock_to_bidder": 0, "exchange": 2},),
    "schmier": ({"exchange": 0, "teams": 2},),
    "mini": ({"min_bid": 3},),
}
"""Sets of options under which expert is known not to be ahead."""
MATCH_OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"ending": "made_deal"},
    {"ending": "made_bid"},
    {"ending": "cap"},
    {"both_out": "bidder"},
    {"target": 5},
    {"target": 50},
)


def bench_for(rules: Rules) -> selfplay.Bench:
    """Room to play by these rules."""
    return selfplay.new_bench(vector_size(observation_layout(rules)), len(rules.action_names))


def deals_ahead(rules: Rules, sets: int, seed: int) -> Float64Array:
    """Points per deal that expert is ahead of greedy in each set of duplicate deals, [sets]."""
    points = np.zeros((sets, rules.teams))
    both = np.concatenate([load_book(rules)] * 2)
    styles = np.array([books.PLAIN, selfplay.GREEDY])
    selfplay.duel(*kernel_tables(rules), both, styles, bench_for(rules), np.uint64(seed), sets, points)
    return np.asarray(points.mean(axis=1))


def matches_ahead(rules: Rules, sets: int, seed: int) -> Float64Array:
    """Share of matches won beyond an equal share in each set of duplicate matches, [sets]."""
    # What deals alone are measured by needs nothing beyond the package.
    from training.evaluate import compare

    played = compare(make_agent("expert"), make_agent("greedy"), rules, 2, seed, matches=sets)
    return np.asarray(played.won.mean(axis=1) - 1 / rules.teams)


def shown(options: dict[str, Any]) -> str:
    """Options as a table names them."""
    return ", ".join(f"{name}={value}" for name, value in options.items()) or "as preset"


def line(name: str, ahead: Float64Array) -> str:
    """A row of the table: mean and 95 % interval."""
    mean, half = ahead.mean(), 1.96 * ahead.std(ddof=1) / np.sqrt(len(ahead))
    behind = " **behind**" if mean + half < 0 else "" if mean - half > 0 else " level"
    return f"| {name} | {mean:+.3f} [{mean - half:+.3f}, {mean + half:+.3f}]{behind} |"


def main() -> None:
    """`python -m benchmarks.expert_options`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.expert_options", description=__doc__)
    parser.add_argument("--rules", default="four_point", choices=list(OPTIONS), help="preset")
    parser.add_argument("--sets", type=int, default=4000, help="sets of duplicate deals; a tenth of matches")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(f"| `{given.rules}` | ahead of greedy, points per deal |\n|---|---|")
    for options in in_turn(OPTIONS[given.rules], "sets of options"):
        rules = make_rules(given.rules, **options)
        print(line(shown(options), deals_ahead(rules, given.sets, given.seed)), flush=True)
    if given.rules == "mini":
        return
    print(f"\n| `{given.rules}` | share of matches beyond an equal one |\n|---|---|")
    for options in in_turn(MATCH_OPTIONS, "sets of options of a match"):
        rules = make_rules(given.rules, **options)
        print(line(shown(options), matches_ahead(rules, given.sets // 10, given.seed)), flush=True)


if __name__ == "__main__":
    main()
