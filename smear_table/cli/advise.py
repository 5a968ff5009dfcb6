"""`smear advise`: what to do in a position, and what each action is worth."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tyro
from rich.table import Table
from rich.text import Text

from smear_env import PolicyAgent, Rules, decode, make_rules
from smear_env.agents.search.policy_search import PolicySearchAgent
from smear_table.advice import WORLDS, Adviser, advise, adviser_of, preferences
from smear_table.cli import screen
from smear_table.order import held
from smear_table.players import make_ready, untrained
from smear_table.told.reading import read_told, told_of
from smear_table.told.words import Told
from training.options import parse_options
from training.progress import StepProgress

NOTHING_TOLD = Told()
BAR = 10
"""Columns of a bar for the whole of a probability."""


@dataclass(frozen=True)
class Options:
    """Say what to do in a position: for each legal action how often the policy would choose it, how likely a bid is
    made, the points to expect, and what the deal would change in your chance of winning the match.

    A position is your hand and what has happened, in words, or a place in a transcript. For example:
    smear advise --stock 3 --hand "AS KS TS 9S 7D 8C" --bids "pass 2" --scores 9,12
    """

    position: tyro.conf.OmitArgPrefixes[Told] = NOTHING_TOLD
    """The position in words."""
    rules: str = "four_point"
    """Preset that is played: four_point, schmier, six_point, setback, racehorse, mini, or one of your own."""
    options: tuple[str, ...] = ()
    """Rule options as NAME=VALUE."""
    stock: int | None = None
    """Short for --options stock_to_bidder=N, the cards that the bidder takes."""
    transcript: Path | None = None
    """Take the position from a transcript instead, with its rules."""
    match: int = 0
    """Of the transcript, from 0."""
    deal: int = 0
    """Of the match, from 0."""
    step: int = 0
    """Action of the deal before which advice is asked, from 0; smear show FILE --deal D lists them."""
    policy: str = ""
    """Who advises: a checkpoint, or an agent by name; by default the game's shipped policy, or else expert."""
    search: int = 0
    """Search as well: try what the policy considers in so many likely deals, and choose by that."""
    worlds: int = WORLDS
    """Likely deals in which each action is played out, as many as --search if that is more; 0 for the policy alone."""
    equity: Path | None = None
    """Folder with tables of match equity; by default those beside the policy."""
    json: bool = False
    """Print JSON."""


class Asked(NamedTuple):
    """A position that advice is asked for."""

    rules: Rules
    seat: int
    observation: Any
    mask: Any


def run(options: Options) -> int:
    """Print the advice."""
    asked = asked_position(options)
    found = answer(options, asked)
    if options.json:
        screen.print_json(found)
    else:
        _print(asked, found)
    return 0


def asked_position(options: Options) -> Asked:
    """The position that the flags tell; ValueError names what is wrong."""
    told = options.position
    if options.transcript is not None:
        from smear_table.cli.show import find_position, seen_at

        if told != NOTHING_TOLD:
            raise ValueError("transcript: the position is either in words or in a transcript, not both")
        if options.rules != Options.rules or options.options or options.stock is not None:
            raise ValueError("transcript: it has its own rules; leave out --rules, --options and --stock")
        position, _ = find_position(options.transcript, options.match, options.deal, options.step)
        return Asked(position.rules, position.seat, *seen_at(position))
    given = (*options.options, *([] if options.stock is None else [f"stock_to_bidder={options.stock}"]))
    rules = make_rules(options.rules, **parse_options(options.rules, given))
    if not told.hand.strip():
        raise ValueError(
            'hand: give your cards, as --hand "AS KS TS 9S 7D 8C", or a position with --transcript'
        )
    return Asked(rules, told.seat, *read_told(told, rules))


def answer(options: Options, asked: Asked) -> dict[str, Any]:
    """The advice for programs: who advises, what it would do, and a row for each legal action."""
    if options.search < 0 or options.worlds < 0:
        raise ValueError(f"search={options.search} and worlds={options.worlds} must not be negative")
    rules = asked.rules
    adviser = adviser_of(rules, options.policy, options.equity)
    searched = _searched(options.search, adviser, asked) if options.search else None
    rows = _rows(options, adviser, asked)
    for row in rows:
        row["search"] = None if searched is None else searched[1][row["action"]]
    seen = decode(asked.observation, rules)
    return {
        "rules": rules.name,
        "options": rules.options(),
        "position": {**asdict(told_of(seen, rules, asked.seat)), "phase": seen.phase},
        "adviser": adviser.name,
        "untrained": untrained(adviser.name, rules),
        "choice": rows[0]["action"] if searched is None else searched[0],
        "chosen_by": "policy" if searched is None else "search",
        "worlds": max(options.worlds, options.search),
        "win_before": _win_before(adviser, seen),
        "actions": rows,
    }


def _rows(options: Options, adviser: Adviser, asked: Asked) -> list[dict[str, Any]]:
    """A dictionary for each legal action, the policy's favourite first; without worlds the values are None."""
    names, worlds = asked.rules.action_names, max(options.worlds, options.search)
    if worlds == 0:
        empty = dict.fromkeys(("points", "error", "make", "win", "win_change", "win_error"))
        ranked = preferences(asked.observation, asked.mask, adviser)
        return [{"action": names[action], "probability": chance, **empty} for action, chance in ranked]
    with StepProgress(screen.messages(), worlds, "deals", doing="playing out") as progress:
        found = advise(
            asked.observation, asked.mask, asked.rules, worlds, adviser=adviser, progress=progress.show
        )
    return [{**asdict(one), "action": names[one.action]} for one in found]


def _searched(worlds: int, adviser: Adviser, asked: Asked) -> tuple[str, dict[str, float]]:
    """What search chooses, and its probability of each action by name."""
    if not isinstance(adviser.agent, PolicyAgent):
        raise ValueError(
            f"search={worlds}: {adviser.name} is no policy to search with; name a checkpoint with --policy, or leave "
            "--search out"
        )
    agent = PolicySearchAgent(adviser.agent, worlds)
    make_ready(agent, asked.rules)
    names = asked.rules.action_names
    console = screen.messages()
    with console.status(f"searching {worlds} likely deals"):
        better = agent.improved(asked.observation[None], asked.mask[None])[0]
        choice = int(agent.act_batch(asked.observation[None], asked.mask[None])[0])
    return names[choice], {names[action]: float(better[action]) for action in np.flatnonzero(asked.mask)}


def _win_before(adviser: Adviser, seen: Any) -> float | None:
    if adviser.equity is None:
        return None
    return float(adviser.equity.values(np.array([seen.scores]), np.array([seen.dealer]))[0, 0])


def _print(asked: Asked, found: dict[str, Any]) -> None:
    console = screen.output()
    signs = screen.has_signs(console)
    for line in _facts(asked, found, signs=signs):
        console.print(line)
    console.print()
    console.print(_table(found, signs=signs))
    console.print()
    for remark in _remarks(found):
        console.print(Text(remark, screen.QUIET))


def _facts(asked: Asked, found: dict[str, Any], *, signs: bool) -> list[Text]:
    """The position in three lines, so that one sees whether it is the one meant."""
    rules, told = asked.rules, found["position"]
    seen = decode(asked.observation, rules)
    options = ", ".join(f"{name}={value}" for name, value in found["options"].items())
    first = Text(rules.name, "bold").append(f" ({options})" if options else "", "not bold").append("  ")
    first.append_text(screen.seat(asked.seat, rules, {})).append(f", dealer seat {told['dealer']}  ")
    first.append_text(screen.scores(map(int, told["scores"].split(","))))
    first.append(f" of {rules.target}", screen.QUIET)
    second = Text("Hand  ").append_text(screen.cards(held(rules, seen.hand, seen.trump), signs=signs))
    third = Text("Said  ")
    for who, word in seen.bids:
        seat = (who + asked.seat) % rules.players
        third.append(f"{seat} ", screen.TEAM_STYLES[seat % rules.teams]).append(f"{word}  ")
    if not seen.bids:
        third.append("nothing yet", screen.QUIET)
    if seen.trump:
        third.append("  trump ").append_text(screen.suit(seen.trump, signs=signs))
    lines = [first, second, third]
    if seen.trick:
        lines.append(Text("Table "))
        for who, name in seen.trick:
            seat = (who + asked.seat) % rules.players
            lines[-1].append(f"{seat} ", screen.TEAM_STYLES[seat % rules.teams])
            lines[-1].append_text(screen.card(name, signs=signs)).append("  ")
    return lines


_DOES = {"bid": "Bid", "name": "Trump", "exchange": "Exchange", "discard": "Throw", "play": "Play"}


def _table(found: dict[str, Any], *, signs: bool) -> Table:
    rows = found["actions"]
    columns = [
        name for name in ("search", "make", "win_change") if any(row[name] is not None for row in rows)
    ]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=screen.QUIET)
    table.add_column("", width=1)
    table.add_column(_DOES[found["position"]["phase"]])
    table.add_column("policy")
    for name, title in (
        ("search", "search"),
        ("make", "made"),
        ("points", "points"),
        ("win_change", "match"),
    ):
        if name in columns or (name == "points" and found["worlds"]):
            table.add_column(title, justify="right")
    for row in rows:
        best = row["action"] == found["choice"]
        shown = screen.action(row["action"], signs=signs)
        cells: list[Text] = [Text("*" if best else ""), shown, _share(row["probability"], signs=signs)]
        if "search" in columns:
            cells.append(Text(_percent(row["search"])))
        if "make" in columns:
            cells.append(Text("" if row["make"] is None else _percent(row["make"])))
        if found["worlds"]:
            cells.append(_with_error(row["points"], row["error"], "+.2f", ".2f"))
        if "win_change" in columns:
            cells.append(_with_error(100 * row["win_change"], 100 * row["win_error"], "+.1f", ".1f"))
        table.add_row(*cells, style="bold" if best else "")
    return table


def _share(probability: float, *, signs: bool) -> Text:
    """A probability as number and bar."""
    return Text(f"{_percent(probability):>6} ").append(
        ("━" if signs else "#") * round(BAR * probability), screen.QUIET
    )


def _percent(value: float) -> str:
    return (
        f"{100 * value:.1f}%"
        if 0.0005 <= value < 0.0995 or 0.9005 < value < 0.9995
        else f"{100 * value:.0f}%"
    )


def _with_error(value: float, error: float, form: str, error_form: str) -> Text:
    return Text(f"{value:{form}}").append(f" ±{error:{error_form}}", screen.QUIET)


def _remarks(found: dict[str, Any]) -> list[str]:
    """What the figures are, and what is missing."""
    lines = [
        f"* the choice of {found['adviser']}" + (" with search." if found["chosen_by"] == "search" else ".")
    ]
    if found["worlds"]:
        lines[0] += (
            f" Points: yours of the deal less the others' mean, with standard error, {found['adviser']} playing on in "
            f"every seat."
        )
    if any(row["make"] is not None for row in found["actions"]):
        lines.append("Made: how often the bid is made if it stands.")
    if found["win_before"] is not None and found["worlds"]:
        lines.append(
            f"Match: percentage points by which the deal would change your chance of winning the match, "
            f"{100 * found['win_before']:.1f} % before it."
        )
    elif found["worlds"]:
        given = " ".join(f"{name}={value}" for name, value in found["options"].items())
        options = f" --options {given}" if given else ""
        lines.append(
            "No match equity for these rules: python -m training.equity "
            f"{found['adviser']}{options} makes it, or name its folder with --equity."
        )
    if found["untrained"]:
        lines.append(f"{found['adviser']} was not trained on {', '.join(found['untrained'])}: trust it less.")
    return lines
