"""How long players take for each part of a deal, and how much longer another takes, one core.

    python -m benchmarks.phases [--agents pimc-100 four_point] [--rules four_point] [--deals 48]

All players decide the same positions, of deals that the first checkpoint among them, or `greedy`, plays in all seats;
forced moves are no positions. Milliseconds are of all seats together, a deal's mean over a round; shown are medians
over rounds. Every player decides its positions one at a time, checkpoints also `--batch` of them in one call; how many
times as long the first player takes is found within each round.
"""

from __future__ import annotations

import dataclasses
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tyro
from rich.table import Table

from benchmarks.progress import in_turn
from benchmarks.report import console, machine_facts, machine_line, new_table, three_digits, write_json
from smear_env import (
    PHASE_NAMES,
    PRESETS,
    Agent,
    PolicyAgent,
    Rules,
    SelfPlayVectorEnv,
    make_agent,
    make_rules,
    observation_layout,
    pieces,
)
from smear_env.agents import ANY_SEAT

PARTS = ("auction", "discards", "first trick", "later tricks")
_AUCTION, _DISCARDS, _FIRST, _LATER = range(len(PARTS))
DEAL = "whole deal"
COLUMNS = (*PARTS, DEAL)
PROMISED_OF = "pimc-100"
PROMISED = {"first trick": 1000, DEAL: 100}
"""How many times as long `PROMISED_OF` takes as a policy, at least."""


@dataclass(frozen=True)
class Options:
    """Measure milliseconds of each part of a deal; print medians over rounds.

    Raises `ValueError` naming the field where a value makes no sense.
    """

    agents: tuple[str, ...] = ("pimc-100", "pimc-20", "expert", "four_point")
    """Players to measure; the others' times are compared with the first one's."""
    rules: str = "four_point"
    """Preset to play."""
    deals: int = 48
    """Deals in all."""
    rounds: int = 8
    """The deals are measured in so many rounds over all players."""
    batch: int = 256
    """Positions of one call of checkpoints, which are timed singly too."""
    seed: int = 1
    """Of the deals."""
    json: str = ""
    """Also write everything to this file."""

    def __post_init__(self) -> None:
        if not self.agents:
            raise ValueError("agents=() must name at least one player")
        if self.rounds < 1 or self.deals < self.rounds or self.deals % self.rounds:
            raise ValueError(
                f"deals={self.deals} must be a multiple of rounds={self.rounds}, both at least 1"
            )
        if self.batch < 2:
            raise ValueError(f"batch={self.batch} must be at least 2")


@dataclass(frozen=True)
class Positions:
    """The decisions of some deals: [P, d] and [P, n] int8, and which of `PARTS` each is of, [P]."""

    observations: Any
    masks: Any
    parts: Any


def part_of(observations: Any, rules: Rules) -> Any:
    """Which of `PARTS` each decision is of, [P]: the first trick while the hand of who is to play is whole."""
    seen = pieces(observations, observation_layout(rules))
    phase = np.array(PHASE_NAMES)[seen["phase"].argmax(axis=-1)]
    whole = seen["hand"].sum(axis=-1) == rules.hand_size
    played = np.where(whole, _FIRST, _LATER)
    discarding = np.isin(phase, ("discard", "exchange"))
    return np.where(phase == "play", played, np.where(discarding, _DISCARDS, _AUCTION))


def positions(player: Agent, rules: Rules, first: int, deals: int, seed: int) -> Positions:
    """All decisions of deals `first`, `first + 1` ... of the seed, played by `player` in all seats."""
    env = SelfPlayVectorEnv(
        deals, rules, seed=seed, episode="deal", skip_forced=True, first_game=first, copy=True
    )
    view, going = env.reset(), np.ones(deals, bool)
    observations, masks = [], []
    while going.any():
        observations.append(view.observation[going])
        masks.append(view.mask[going])
        view = env.step(player.act_batch(view.observation, view.mask))
        going &= ~view.terminated
    seen = np.concatenate(observations)
    return Positions(seen, np.concatenate(masks), part_of(seen, rules))


def milliseconds(agent: Agent, of: Positions, batch: int) -> list[float]:
    """What each part takes in all, one call for every position, or for every `batch` of them, however few are left.

    A batch is filled up with positions of the same part again, and only its share is counted.
    """
    taken = []
    for part in range(len(PARTS)):
        own = np.flatnonzero(of.parts == part)
        total = 0.0
        for start in range(0, len(own), batch):
            counted = own[start : start + batch]
            rows = np.resize(counted, batch)
            observations, masks = of.observations[rows], of.masks[rows]
            began = time.perf_counter()
            if batch == 1:
                agent.act(observations[0], masks[0])
            else:
                agent.act_batch(observations, masks)
            total += (time.perf_counter() - began) * len(counted) / batch
        taken.append(total * 1e3)
    return taken


def run(options: Options) -> dict[str, Any]:
    """Measure, print the table, and return everything as plain values."""
    rules, facts = make_rules(options.rules), machine_facts()
    agents = {name: make_agent(name) for name in options.agents}
    for agent in agents.values():
        agent.reset(rules, ANY_SEAT, options.seed)
    policies = [agent for agent in agents.values() if isinstance(agent, PolicyAgent)]
    dealt_by = policies[0] if policies else make_agent("greedy")
    dealt_by.reset(rules, ANY_SEAT, options.seed)
    ways = [  # players that search gain nothing from many positions at once
        (name, batch)
        for name, agent in agents.items()
        for batch in ((1, options.batch) if isinstance(agent, PolicyAgent) else (1,))
    ]
    each = options.deals // options.rounds
    times: dict[tuple[str, int], list[list[float]]] = {way: [] for way in ways}
    for name, batch in ways:  # compiles what is not yet
        milliseconds(agents[name], positions(dealt_by, rules, options.deals, 1, options.seed), batch)
    for number in in_turn(range(options.rounds), "rounds"):
        decided = positions(dealt_by, rules, number * each, each, options.seed)
        for name, batch in ways:
            parts = milliseconds(agents[name], decided, batch)
            times[name, batch].append([part / each for part in (*parts, sum(parts))])
    result = {"machine": facts, "options": dataclasses.asdict(options), "rows": rows(times)}
    out = console()
    out.print(machine_line(facts))
    for table in tables(result):
        out.print(table)
    return result


def rows(times: dict[tuple[str, int], list[list[float]]]) -> list[dict[str, Any]]:
    """By player and way: milliseconds of each part and in all, and how many times as long the first takes."""
    first = next(iter(times.values()))
    found = []
    for (name, batch), rounds in times.items():
        of, base = (dict(zip(COLUMNS, zip(*found, strict=True), strict=True)) for found in (rounds, first))
        times_as_long = {
            column: statistics.median(
                other / own for own, other in zip(of[column], base[column], strict=True)
            )
            for column in COLUMNS
            if min(of[column]) > 0
        }
        medians = {column: statistics.median(values) for column, values in of.items()}
        found.append(
            {
                "agent": name,
                "batch": batch,
                "milliseconds": medians,
                "times_as_long": times_as_long,
                "rounds": of,
            }
        )
    return found


def verdict(row: dict[str, Any], first: str) -> str:
    """Whether a policy keeps the promise that is made of its time; "" where nothing is promised."""
    if first != PROMISED_OF or row["agent"] not in PRESETS:
        return ""
    kept = all(row["times_as_long"].get(part, 0) >= least for part, least in PROMISED.items())
    return f"{'met' if kept else 'missed'} ({', '.join(f'{least} in the {part}' for part, least in PROMISED.items())})"


def tables(result: dict[str, Any]) -> list[Table]:
    """Milliseconds, and how many times as long the first player takes."""
    first, game = result["options"]["agents"][0], result["options"]["rules"]
    own = new_table(f"milliseconds of a deal, all seats, {game}", "player", *COLUMNS, "at once", left=1)
    ratios = new_table(
        f"how many times as long {first} takes, {game}", "player", *COLUMNS, "at once", "target", left=1
    )
    for row in result["rows"]:
        who, batch = row["agent"], str(row["batch"])
        own.add_row(who, *(three_digits(row["milliseconds"][column]) for column in COLUMNS), batch)
        shown = [row["times_as_long"].get(column) for column in COLUMNS]
        ratios.add_row(who, *(f"{one:,.0f}" if one else "-" for one in shown), batch, verdict(row, first))
    return [own, ratios]


def main(arguments: Sequence[str]) -> None:
    """Measure by flags, print, and write the JSON that they ask for."""
    options = tyro.cli(Options, prog="python -m benchmarks.phases", args=list(arguments))
    write_json(options.json, run(options))


if __name__ == "__main__":
    main(sys.argv[1:])
