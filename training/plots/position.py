"""What policies would do in one position: the probability of each legal action, beside what is on the table.

The table is what the seat to act sees: its own hand, the auction, the trick and the score.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from smear_env import PolicyAgent, Rules, make_agent, make_rules, raw_env, record_match, show_match
from training.arrays import Float64Array
from training.evaluation.players import label
from training.plots.style import FAINT, drawing, save

BAR = "0.55"
TAKEN = "0.15"
"""Of the bar of the action that was taken."""
MOST_ACTIONS = 16
"""Bars; of more actions the least likely are left away."""


@dataclass(frozen=True)
class Position:
    """A position, and what players would do in it."""

    rules: Rules
    table: tuple[str, ...]
    """Lines of text."""
    actions: tuple[str, ...]
    """[A] names of the legal actions, as the rules order them."""
    taken: str | None
    """The one that was taken in the match."""
    players: tuple[str, ...]
    probabilities: Float64Array
    """[players, A]"""


def read_match(path: Path, match: int) -> dict[str, Any]:
    """A match of a transcript file by its index; ValueError naming file, line or index."""
    try:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"transcript={str(path)!r} is not readable: {error}") from error
    if not 0 <= match < len(lines):
        raise ValueError(f"match={match} is not in {str(path)!r}, which holds {len(lines)}: count from 0")
    try:
        found = json.loads(lines[match])
    except ValueError as error:
        raise ValueError(f"transcript={str(path)!r}: match {match} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"transcript={str(path)!r}: match {match} is no object")
    return found


def recorded(rules: Rules, player: str, seed: int, game: int) -> dict[str, Any]:
    """The match that a player in every seat plays in game `game` of a seed."""
    return record_match(rules, seed, game, agents=player)


def position_of(match: dict[str, Any], deal: int, step: int, players: Sequence[str]) -> Position:
    """The position before action `step` of deal `deal`, both from 0, and what the players would do.

    Raises ValueError for a transcript that is not as the rules have it (`smear_env.show_match`), for a deal or step
    that is not there, for no players, and for one that cannot play the game.
    """
    if not players:
        raise ValueError("players=() has nobody to ask: give checkpoints or registered agents")
    show_match(match, deal)
    rules = make_rules(match["rules"], **match["options"])
    played = match["deals"][deal]
    if not 0 <= step < len(played["actions"]):
        raise ValueError(
            f"step={step} is not in deal {deal}, which has {len(played['actions'])} actions, from 0 on"
        )
    before = [one["scores"] for one in match["deals"][:deal] if "scores" in one]
    env = raw_env(rules=rules, illegal="raise")
    setup = {name: played[name] for name in ("dealer", "hands", "stock")}
    env.reset(seed=0, options={"deal": setup, "scores": before[-1] if before else [0] * rules.teams})
    names = rules.action_names
    for _, action in played["actions"][:step]:
        env.step(names.index(action))
    seen = env.observe(env.agent_selection)
    mask = seen["action_mask"]
    legal = np.flatnonzero(mask)
    agents = []
    for player in players:
        agent = make_agent(player)
        agent.reset(rules, -1, 0)
        agents.append(agent)
    chances = np.array(
        [agent.probabilities(seen["observation"][None], mask[None])[0][legal] for agent in agents], np.float64
    )
    seat, taken = played["actions"][step]
    table = table_lines(env.table_view(seat), rules)
    return Position(
        rules, table, tuple(names[one] for one in legal), taken, tuple(map(label, players)), chances
    )


def table_lines(view: Any, rules: Rules) -> tuple[str, ...]:
    """What the seat to act sees, as lines; cards as transcripts write them."""
    seat = view.turn
    teams = (
        f"seats {'+'.join(str(one) for one in range(team, rules.players, rules.teams))}: {score}"
        for team, score in enumerate(view.scores)
    )
    contract = f"    bid {view.bid} by seat {view.bidder}" if view.bid else ""
    lines = [
        f"seat {seat} to act, {view.phase}; dealer seat {view.dealer}",
        f"to {view.target:<7} {'  '.join(teams)}",
        f"auction    {_spoken(view.bids) or 'nobody has spoken'}",
        f"trump      {view.trump or 'not known'}{contract}",
        f"hand       {' '.join(view.hands[seat])}",
    ]
    if view.phase == "play":
        lines.append(f"trick {sum(view.tricks_won) + 1}    {_spoken(view.trick) or 'to be led'}")
    if view.last_trick:
        lines.append(f"before     {_spoken(view.last_trick)}, taken by seat {view.last_winner}")
    return tuple(lines)


def _spoken(said: Sequence[tuple[int, str]]) -> str:
    """Bids or cards, with who made or played them."""
    return ", ".join(f"seat {seat}: {what}" for seat, what in said)


def draw_position(position: Position, paths: Sequence[Path]) -> None:
    """Draw a panel of bars for each player, the likeliest action of the first one on top, below the table as text."""
    order = np.argsort(-position.probabilities[0], kind="stable")
    likely = np.argsort(-position.probabilities.max(axis=0), kind="stable")[:MOST_ACTIONS]
    order = order[np.isin(order, likely)]
    names = [position.actions[one] for one in order]
    players, text = len(position.players), 0.19 * len(position.table)
    with drawing(
        max(5.6, 1.2 + 2.8 * players), 1.3 + text + 0.27 * len(names), columns=players, sharey=True
    ) as (figure, panels):
        for axes, player, chances in zip(panels[0], position.players, position.probabilities, strict=True):
            shown = chances[order]
            colours = [TAKEN if name == position.taken else BAR for name in names]
            axes.barh(range(len(names)), shown, color=colours, height=0.7)
            for row, value in enumerate(shown):
                axes.annotate(
                    f"{value:.1%}",
                    (value, row),
                    xytext=(4, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=8,
                )
            axes.set(xlim=(0, 1.18), xticks=[0, 0.5, 1], xlabel="probability")
            axes.set_title(player)
            axes.grid(axis="x", color=FAINT)
            axes.tick_params(axis="y", length=0)
        panels[0, 0].set_yticks(range(len(names)), names, family="DejaVu Sans Mono")
        panels[0, 0].invert_yaxis()
        told = "\n".join([f"{position.rules.name}, {position.table[0]}", *position.table[1:]])
        figure.suptitle(told, x=0.02, ha="left", fontsize=9, family="DejaVu Sans Mono")
        if position.taken:
            figure.supxlabel(f"dark: {position.taken}, which was taken", fontsize=8)
        save(figure, paths)


def preset_of_player(player: str) -> str:
    """The game that a checkpoint was trained for; ValueError where the player is none."""
    agent = make_agent(player)
    if not isinstance(agent, PolicyAgent):
        raise ValueError(f"rules='' and {player!r} is no checkpoint that says its game: give --rules")
    return str(agent.description["preset"])
