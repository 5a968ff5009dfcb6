"""`smear record`: matches between agents, written as transcripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smear_env import Agent, Rules, make_agent, make_rules, record_match
from smear_env.transcript import write_transcripts
from smear_table.cli import screen
from training.options import parse_options
from training.progress import StepProgress


@dataclass(frozen=True)
class Options:
    """Play matches between agents and write their transcripts, a match a line.

    For example: smear record --agents four_point expert --matches 10 --out matches.jsonl
    """

    out: Path
    """File to write to; what is there is replaced when all is played."""
    agents: tuple[str, ...] = ("expert",)
    """Who plays: one for every seat, one for each team, or one for each seat; registered names or checkpoints."""
    rules: str = "four_point"
    """Preset to play."""
    options: tuple[str, ...] = ()
    """Rule options as NAME=VALUE."""
    matches: int = 1
    """How many: games 0, 1, ... of the seed."""
    seed: int = 0
    """Of the deals and of the agents."""
    max_deals: int = 100
    """A match is cut off after so many deals."""
    legal: bool = False
    """State the legal actions before each action as well."""
    json: bool = False
    """Print a summary as JSON: matches, deals, actions, and who has won."""


def run(options: Options) -> int:
    """Play, write and say what there is."""
    if options.matches < 1:
        raise ValueError(f"matches={options.matches} must be at least 1")
    if not options.out.parent.is_dir():
        raise ValueError(f"out='{options.out}': there is no folder {options.out.parent}; make it first")
    rules = make_rules(options.rules, **parse_options(options.rules, options.options))
    agents = seated_agents(options.agents, rules)
    totals, winners = Counter[str](), Counter[int | None]()

    def played(progress: StepProgress) -> Iterator[dict[str, Any]]:
        for game in range(options.matches):
            match = record_match(
                rules, options.seed, game, agents=agents, max_deals=options.max_deals, legal=options.legal
            )
            totals["deals"] += len(match["deals"])
            totals["actions"] += sum(len(deal["actions"]) for deal in match["deals"])
            winners[match["winner"]] += 1
            progress.add()
            yield match

    with StepProgress(screen.messages(), options.matches, "matches", doing="playing") as progress:
        write_transcripts(str(options.out), played(progress))
    won = [winners[team] for team in range(rules.teams)]
    summary = {
        "file": str(options.out),
        "rules": rules.name,
        "options": rules.options(),
        "agents": names_by_seat(options.agents, rules),
        "matches": options.matches,
        **totals,
        "won": won,
        "cut_off": winners[None],
    }
    if options.json:
        screen.print_json(summary)
    else:
        teams = ", ".join(f"{screen.TEAMS[team]} {count}" for team, count in enumerate(won))
        print(
            f"{options.out}: {options.matches} match{'es' * (options.matches > 1)} of {rules.name}, "
            f"{totals['deals']} deals, {totals['actions']} actions; won by team: {teams}; cut off {winners[None]}"
        )
    return 0


def names_by_seat(names: Sequence[str], rules: Rules) -> list[str]:
    """The agent of each seat, of one for all, for each team or for each seat; ValueError for other numbers."""
    if len(names) not in (1, rules.teams, rules.players):
        raise ValueError(
            f"agents={' '.join(names)!r} must be 1, {rules.teams} (one for each team) or {rules.players} (one for "
            "each seat)"
        )
    return [names[seat % len(names)] for seat in range(rules.players)]


def seated_agents(names: Sequence[str], rules: Rules) -> list[Agent]:
    """An agent for each seat, of their own."""
    return [make_agent(name) for name in names_by_seat(names, rules)]
