"""Double-dummy regret by phase: points lost against the best action with all hands seen.

At each decision of an agent the solver says what every action would bring if all played perfectly from there, all
hands open; regret is the best of these less the action's. It measures both mistakes and what nobody could know, so only
agents on the same deals compare. Cards are judged at every decision with a choice, the opening lead (which shows trump
in `four_point`) apart, and so are the discards of a bidder who takes stock cards. With three teams the solver is
paranoid: all others play against the seat that decides, and regret is of that game.

    python -m training.regret --agent greedy --against greedy --deals 200
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from smear_env import (
    PHASE_NAMES,
    Rules,
    SelfPlayVectorEnv,
    VectorStep,
    card_values,
    make_rules,
    pieces,
    play_values,
    state_layout,
)
from training.arrays import Float64Array, Int64Array
from training.evaluate import evaluate_plays, means_of
from training.evaluation.deals import Deals
from training.evaluation.run import ALONE, Means
from training.files import report_json
from training.progress import counted, show_progress
from training.variates.luck import replay

FORMAT = "smear-regret/1"
RESAMPLES = 2000
DISCARD, PLAY = PHASE_NAMES.index("discard"), PHASE_NAMES.index("play")
"""Flags of the observation's `phase`: discarding by the bidder, and play."""
PARANOID_TRICKS = 4
"""With three teams the last so many tricks are solved unless asked otherwise; whole deals take seconds."""
DEALS = 64
"""Deals replayed at once."""


@dataclass(frozen=True)
class Decision:
    """What one decision lost."""

    deal: int
    side: int
    """Team of the agent."""
    phase: str
    lost: float
    """Points, 0 for the best action."""


def regrets(comparison: Any, rules: Rules, deals: Deals, tricks: int) -> list[Decision]:
    """Every decision with a choice that the agent made in the last `tricks` tricks, and its discards."""
    found: list[Decision] = []
    for side, plays in enumerate(comparison.plays):
        starts = range(0, len(plays), DEALS)
        doing = f"side {side + 1} of {len(comparison.plays)} through the solver"
        for first in counted(starts, len(starts), "parts", doing, slow=True):
            part = slice(first, min(first + DEALS, len(plays)))
            env, shown = deals.begin(rules, first, part.stop - first, skip_forced=True)
            judge = Judge(env, side, first, tricks)
            replay(env, shown, plays.actions[part], judge.look)
            found += judge.found
    return found


class Judge:
    """Looks at plays while they are replayed and keeps what each decision of the agent's team lost."""

    def __init__(self, env: SelfPlayVectorEnv, side: int, first: int, tricks: int) -> None:
        self.found: list[Decision] = []
        self._env, self._side, self._first = env, side, first
        self._rules = env.rules
        self._from_trick = env.rules.hand_size - tricks
        self._layout = state_layout(env.rules)
        self._throws: dict[int, tuple[Int64Array, Float64Array]] = {}
        """By slot: all discards that were possible, as sets of cards [n, k], and what each brings [n]."""

    def look(self, shown: VectorStep, chosen: Int64Array) -> None:
        """Judge the actions about to be taken."""
        mine = (chosen >= 0) & (shown.seat % self._rules.teams == self._side)
        seen = pieces(self._env.state(), self._layout)
        phase = seen["phase"].argmax(axis=1)
        done = seen["tricks_done"][:, 0]
        self._cards(np.flatnonzero(mine & (phase == PLAY) & (done >= self._from_trick)), seen, chosen)
        if self._rules.stock_to_bidder:
            for row in np.flatnonzero(mine & (phase == DISCARD)):
                self._discard(int(row), seen, int(chosen[row]))

    def _cards(self, rows: Int64Array, seen: dict[str, Any], chosen: Int64Array) -> None:
        if len(rows) == 0:
            return
        values = card_values(self._env.snapshot()["states"][rows], self._rules)
        lost = (values.max(axis=1) - values[np.arange(len(rows)), chosen[rows]]) / (self._rules.teams - 1)
        for row, points in zip(rows, lost, strict=True):
            trick = int(seen["tricks_done"][row, 0]) + 1
            leads = not seen["trick"][row].any()
            opening = trick == 1 and leads
            phase = "opening lead" if opening else f"trick {trick} {'lead' if leads else 'follow'}"
            self.found.append(Decision(self._first + int(row), self._side, phase, float(points)))

    def _discard(self, row: int, seen: dict[str, Any], card: int) -> None:
        """The first discard solves all that can be thrown; those that follow choose among what is left of it."""
        seat = seen["bidder"][row].argmax()
        if row not in self._throws:
            self._throws[row] = self._solved(row, np.flatnonzero(seen["hand"][row, seat]))
        thrown, values = self._throws[row]
        kept = (thrown == card).any(axis=1)
        self.found.append(
            Decision(self._first + row, self._side, "discard", float(values.max() - values[kept].max()))
        )
        self._throws[row] = thrown[kept], values[kept]

    def _solved(self, row: int, hand: Int64Array) -> tuple[Int64Array, Float64Array]:
        many = len(hand) - self._rules.hand_size
        throws = np.array(list(combinations(hand, many)), np.int64)
        env = SelfPlayVectorEnv(len(throws), self._rules, seed=0, episode="deal", reward="points")
        snapshot = self._env.snapshot()
        shown = env.restore(
            {**snapshot, "states": np.repeat(snapshot["states"][row : row + 1], len(throws), axis=0)}
        )
        legal = np.ones(len(throws), bool)
        for column in throws.T:
            # Which throws are legal does not depend on their order.
            legal &= shown.mask[np.arange(len(throws)), column] != 0
            shown = env.step_some(np.where(legal, column, -1))
        values = play_values(env.snapshot()["states"][legal], self._rules)
        return throws[legal], values / (self._rules.teams - 1)


def summarize(found: list[Decision], deals: int, sides: int, seed: int) -> dict[str, Any]:
    """By phase and in all: decisions, points lost a decision and a deal, with 95 % bootstrap intervals over deals."""
    names = sorted({one.phase for one in found}, key=_place)
    lost = np.zeros((len(names) + 1, deals))
    counts = np.zeros((len(names) + 1, deals))
    for one in found:
        for row in (names.index(one.phase), len(names)):
            lost[row, one.deal] += one.lost
            counts[row, one.deal] += 1
    generator = np.random.default_rng(seed)
    weights = generator.multinomial(deals, np.full(deals, 1 / deals), size=RESAMPLES)
    sums, numbers = lost @ weights.T, counts @ weights.T
    result = {}
    for row, name in enumerate((*names, "all")):
        each = sums[row] / np.maximum(numbers[row], 1)
        result[name] = {
            "decisions": int(counts[row].sum()),
            "per_decision": float(lost[row].sum() / max(counts[row].sum(), 1)),
            "per_decision_interval": _middle(each),
            "per_deal": float(lost[row].mean() / sides),
            "per_deal_interval": _middle(sums[row] / deals / sides),
        }
    return result


def _middle(values: Float64Array) -> list[float]:
    low, high = np.quantile(values, (0.025, 0.975))
    return [float(low), float(high)]


def _place(phase: str) -> tuple[int, str]:
    """Discards, the opening lead, then tricks in order, leads first."""
    if phase == "discard":
        return 0, ""
    return (
        (1, "") if phase == "opening lead" else (2 + int(phase.split()[1]), "a" if "lead" in phase else "b")
    )


def regret(
    agent: str,
    against: str,
    rules: Rules,
    *,
    deals: int = 200,
    seed: int = 1,
    sampled: bool = False,
    fixed: str | None = None,
    tricks: int = 0,
    means: Means = ALONE,
) -> dict[str, Any]:
    """Play sets of duplicate deals and judge the agent's decisions; the JSON that `python -m training.regret` writes.

    tricks: only the last so many, 0 for all of them with two teams and PARANOID_TRICKS with three.
    """
    if not 0 <= tricks <= rules.hand_size:
        raise ValueError(f"tricks={tricks} is outside 0..{rules.hand_size}")
    tricks = tricks or (rules.hand_size if rules.teams == 2 else PARANOID_TRICKS)
    result, comparison = evaluate_plays(
        agent, against, rules, pairs=deals, seed=seed, sampled=sampled, deals=fixed, means=means
    )
    source = Deals(seed, rules.name if fixed == "fixed" else fixed)
    found = regrets(comparison, rules, source, tricks)
    kept = ("agent", "against", "players", "rules", "options", "deals", "seed", "play", "commit")
    return {
        "format": FORMAT,
        **{name: result[name] for name in kept},
        "sets": deals,
        "tricks": tricks,
        "solver": "exact" if rules.teams == 2 else "paranoid",
        "points_per_deal": result["points_per_deal"],
        "regret": summarize(found, deals, rules.teams, seed),
    }


def table(result: dict[str, Any]) -> Table:
    """For a person."""
    names = escape(f"{result['agent']} against {result['against']}")
    shown = Table(
        title=f"double-dummy regret of {names} ({result['rules']}, "
        f"{result['sets']} sets of duplicate deals, {result['solver']} solver), points, 95 % bootstrap intervals"
    )
    for column in ("phase", "decisions", "a decision", "a deal"):
        shown.add_column(column, justify="left" if column == "phase" else "right", no_wrap=True)
    for name, row in result["regret"].items():
        cells = []
        for unit in ("per_decision", "per_deal"):
            low, high = row[f"{unit}_interval"]
            cells.append(f"{row[unit]:.3f} [{low:.3f}, {high:.3f}]")
        shown.add_row(name, str(row["decisions"]), *cells)
    return shown


@dataclass(frozen=True)
class RegretOptions:
    """Points that an agent loses against the best action with all hands seen, by phase."""

    agent: str
    """Agent to judge, as in `training.evaluate`."""
    against: str = ""
    """Its opponent in all other teams' seats; the agent itself if not given."""
    rules: str = "four_point"
    """Preset to play."""
    options: tuple[str, ...] = ()
    """Rule options as NAME=VALUE."""
    deals: int = 200
    """Sets of duplicate deals."""
    on: str = "fresh"
    """`fresh` deals of the seed, the committed `fixed` set, or the path of another set's JSON."""
    seed: int = 1
    """Seed of the deals and of the agents."""
    sampled: bool = False
    """Checkpoints sample from their policy."""
    tricks: int = 0
    """Judge the last so many tricks; 0: all with two teams, four with three."""
    runs: Path = Path("runs/evaluation")
    """Where finished plays are kept."""
    json: Path | None = None
    """File to write the result to; `-` for standard output, in place of the text."""


def main() -> None:
    """`python -m training.regret`."""
    import tyro

    from training.config import parse_options

    show_progress()
    given = tyro.cli(RegretOptions, prog="python -m training.regret")
    try:
        result = regret(
            given.agent,
            given.against or given.agent,
            make_rules(given.rules, **parse_options(given.rules, given.options)),
            deals=given.deals,
            seed=given.seed,
            sampled=given.sampled,
            fixed=None if given.on == "fresh" else given.on,
            tricks=given.tricks,
            means=means_of(0, 0, given.runs, fresh=False),
        )
        printed = report_json(given.json, result)
    except (ValueError, OSError, RuntimeError) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit(
            f"stopped; finished plays are in {given.runs}: the same command goes on, and judges all again"
        )
    if not printed:
        Console().print(table(result))


if __name__ == "__main__":
    main()
