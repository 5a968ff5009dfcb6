"""Evaluation: duplicate deals from every side, points per deal with a bootstrap interval.

The unit is the set of a deal's plays, one for each team that the agent takes (a pair in four_point, a triple in
schmier): same cards, stock and dealer. Points per deal is the mean over a set of own score change less the others'
mean; a deal passed out counts 0 and is not redealt. Agents see observations, never the state.

    python -m training.evaluate --agent checkpoints/four_point --against greedy --pairs 2000
    python -m training.evaluate --agent my_module:my_function --against greedy --deals fixed

Ctrl-C or a kill loses nothing that matters: the same command goes on, and ends with the same result.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from smear_env import Agent, Rules, make_rules
from training.evaluation.deals import MAX_SEED, Deals
from training.evaluation.figures import Comparison, compared, forfeits, forfeits_line, interval, summarize
from training.evaluation.players import Player, apart, check_players, draw_seed
from training.evaluation.plays import Plays, join, play
from training.evaluation.run import ALONE, QUICK_SHARD, Means, play_lineups
from training.evaluation.workers import cores
from training.faults import told
from training.files import commit, report_json
from training.progress import counted, show_progress
from training.variates.luck import check_variates, comparison_luck, load_variates, summarize_luck

FORMAT = "smear-evaluation/2"


def compare(
    agent: Agent,
    against: Agent,
    rules: Rules,
    pairs: int,
    seed: int,
    matches: int = 0,
    deals: str | None = None,
    shard: int = QUICK_SHARD,
) -> Comparison:
    """Play `pairs` sets of duplicate deals and `matches` sets of duplicate matches, in this process.

    The same seed, or the same fixed set, gives the same deals whatever the agents. Raises ValueError for fewer than 2
    pairs, and for a seed or number of matches that makes no sense.
    """
    source = checked_deals(rules, pairs, matches, seed, deals)

    def side(number: int, count: int, *, whole: bool) -> Plays:
        lineup = [agent if team == number else against for team in range(rules.teams)]
        parts = []
        starts = range(0, count, shard)
        doing = f"side {number + 1} of {rules.teams}"
        for first in counted(starts, len(starts), "parts", doing):
            for which, one in enumerate((agent, against)):
                one.reset(rules, -1, draw_seed(seed, whole, first, number, which))
            parts.append(play(lineup, rules, source, first, min(shard, count - first), matches=whole))
        return join(parts)

    sides = range(rules.teams)
    return compared(
        tuple(side(number, pairs, whole=False) for number in sides),
        tuple(side(number, matches, whole=True) for number in sides if matches),
    )


def checked_deals(rules: Rules, pairs: int, matches: int, seed: int, deals: str | None) -> Deals:
    """The deals that are asked for; ValueError for what makes no sense. None is fresh, "fixed" the preset's set."""
    if pairs < 2:
        raise ValueError(f"pairs={pairs} must be at least 2 for an interval")
    if matches < 0:
        raise ValueError(f"matches={matches} must not be negative")
    if matches == 1:
        raise ValueError("matches=1 must be 0, or at least 2 for an interval")
    if not 0 <= seed <= MAX_SEED:
        raise ValueError(f"seed={seed} is outside 0..2**64-1")
    source = Deals(seed, rules.name if deals == "fixed" else deals)
    source.check(rules, pairs)
    return source


def evaluate(
    agent: str,
    against: str,
    rules: Rules,
    *,
    pairs: int = 2000,
    seed: int = 1,
    matches: int = 0,
    sampled: bool = False,
    deals: str | None = None,
    limit_seconds: float = 10.0,
    variates: Path | None = None,
    critic: Path | None = None,
    means: Means = ALONE,
) -> dict[str, Any]:
    """Compare two players by name; the JSON that `python -m training.evaluate` writes.

    `deals` is None for fresh deals of the seed, "fixed" for the committed set of the rules' preset, or the path of
    another set's JSON. With `variates` (files of a value, without their endings) or `critic` (a checkpoint's
    folder) the result has the figure `reduced` by control variates beside the plain one.
    """
    result, _ = evaluate_plays(
        agent,
        against,
        rules,
        pairs=pairs,
        seed=seed,
        matches=matches,
        sampled=sampled,
        deals=deals,
        limit_seconds=limit_seconds,
        variates=variates,
        critic=critic,
        means=means,
    )
    return result


def evaluate_plays(
    agent: str,
    against: str,
    rules: Rules,
    *,
    pairs: int = 2000,
    seed: int = 1,
    matches: int = 0,
    sampled: bool = False,
    deals: str | None = None,
    limit_seconds: float = 10.0,
    variates: Path | None = None,
    critic: Path | None = None,
    means: Means = ALONE,
) -> tuple[dict[str, Any], Comparison]:
    """As `evaluate`, with the comparison that the figures are of."""
    source = checked_deals(rules, pairs, matches, seed, deals)
    correct = load_variates(variates, rules, critic) if variates or critic else None
    players = apart([Player(name, sampled, limit_seconds) for name in (agent, against)])
    described = dict(zip(players, check_players(players, rules), strict=True))
    if correct is not None:
        check_variates(correct, described.values(), source)
    lineups = [tuple(players[team != side] for team in range(rules.teams)) for side in range(rules.teams)]
    plays = play_lineups(lineups, described, rules, source, pairs, means=means)
    whole = (
        play_lineups(lineups, described, rules, source, matches, matches=True, means=means) if matches else {}
    )
    comparison = compared(
        tuple(plays[lineup] for lineup in lineups), tuple(whole[lineup] for lineup in lineups if whole)
    )
    given_up = forfeits(comparison)
    result = {
        "format": FORMAT,
        "agent": agent,
        "against": against,
        "players": {"agent": described[players[0]], "against": described[players[1]]},
        "rules": rules.name,
        "options": rules.options(),
        "deals": source.describe(),
        "pairs": pairs,
        "seed": seed,
        "play": "sampled" if sampled else "greedy",
        "commit": commit(),
        **summarize(comparison, seed),
        **({"forfeits": given_up} if given_up else {}),
    }
    if correct is not None:
        luck = comparison_luck(comparison, [player.make() for player in players], rules, source, correct)
        result["reduced"] = summarize_luck(comparison, luck, correct, seed)
    return result, comparison


def describe(result: dict[str, Any]) -> str:
    """One line for a person, and one for each player that forfeited."""
    low, high = result["interval"]
    made = "-" if result["bids_made"] is None else f"{result['bids_made']:.0%}"
    line = (
        f"{result['agent']} against {result['against']} ({result['rules']}, {result['play']} play): "
        f"{result['points_per_deal']:+.3f} points per deal [{low:+.3f}, {high:+.3f}] over {result['pairs']} "
        f"sets of duplicate deals; bids {result['bid']:.0%} of deals, makes {made}, "
        f"passed out {result['passed_out']:.1%}"
    )
    if "reduced" in result:
        reduced = result["reduced"]
        low, high = reduced["interval"]
        line += (
            f"; with control variates {reduced['points_per_deal']:+.3f} [{low:+.3f}, {high:+.3f}], "
            f"{reduced['saving']:.0%} less variance"
        )
    if "matches_won" in result:
        low, high = result["matches_interval"]
        line += f"; wins {result['matches_won']:.1%} of {result['matches']} sets of matches [{low:.1%}, {high:.1%}]"
    lines = [forfeits_line(result[who], found) for who, found in result.get("forfeits", {}).items()]
    return "\n".join((line, *lines))


@dataclass(frozen=True)
class EvaluateOptions:
    """Compare two agents on duplicate deals, each from every side, with a 95 % bootstrap interval."""

    agent: str
    """Agent to measure: a registered name, a checkpoint folder, the name of a shipped checkpoint, an outsider's
    `module:function`, or `process:COMMAND` that speaks JSON lines."""
    against: str
    """Its opponent in all other teams' seats."""
    rules: str = "four_point"
    """Preset to play."""
    options: tuple[str, ...] = ()
    """Rule options as NAME=VALUE."""
    pairs: int = 2000
    """Sets of duplicate deals: pairs with two teams, triples with three."""
    matches: int = 0
    """Sets of duplicate whole matches to play as well."""
    seed: int = 1
    """Seed of the deals and of the agents."""
    deals: str = "fresh"
    """`fresh` deals of the seed, the committed `fixed` set of the preset, or the path of another set's JSON."""
    sampled: bool = False
    """Checkpoints sample from their policy; otherwise they take the most probable action."""
    limit_seconds: float = 10.0
    """How long an outsider may think about one action."""
    variates: Path | None = None
    """Control variates: a shipped name, as `four_point`, or the path of their files without endings."""
    critic: Path | None = None
    """Folder of a checkpoint whose critic judges sampled choices, as a further control variate."""
    processes: int = 0
    """Processes that play, 0 for one on each core."""
    shard: int = 0
    """Deals in a shard, of which finished ones are kept; 0 for 256, or 16 where an agent searches or is an outsider."""
    runs: Path = Path("runs/evaluation")
    """Where finished shards are kept, so that the same command goes on."""
    fresh: bool = False
    """Play again what is there from before."""
    json: Path | None = None
    """File to write the result to; `-` for standard output, in place of the text."""


def main(arguments: Sequence[str] | None = None, prog: str = "python -m training.evaluate") -> None:
    """`python -m training.evaluate`."""
    import tyro

    from training.config import parse_options

    show_progress()
    given = tyro.cli(EvaluateOptions, prog=prog, args=arguments)
    try:
        rules = make_rules(given.rules, **parse_options(given.rules, given.options))
        result = evaluate(
            given.agent,
            given.against,
            rules,
            pairs=given.pairs,
            seed=given.seed,
            matches=given.matches,
            sampled=given.sampled,
            deals=None if given.deals == "fresh" else given.deals,
            limit_seconds=given.limit_seconds,
            variates=given.variates,
            critic=given.critic,
            means=means_of(given.processes, given.shard, given.runs, fresh=given.fresh),
        )
        printed = report_json(given.json, result)
    except (ValueError, OSError, RuntimeError) as error:
        sys.exit(told(error))
    except KeyboardInterrupt:
        sys.exit(f"stopped; what is done is in {given.runs}: the same command goes on")
    if not printed:
        print(describe(result))


def means_of(processes: int, shard: int, runs: Path, *, fresh: bool) -> Means:
    """The means that flags ask for, 0 standing for what is usual."""
    if processes < 0 or shard < 0:
        raise ValueError(f"processes={processes} and shard={shard} must not be negative")
    return Means(processes or cores(), runs, shard or None, fresh, Console(stderr=True))


__all__ = ["Comparison", "compare", "describe", "evaluate", "evaluate_plays", "interval", "main", "summarize"]

if __name__ == "__main__":
    main()
