"""`smear watch`: agents play a match while one looks on."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import tyro
from rich.console import Console
from rich.live import Live
from rich.text import Text

from smear_env import Rules, make_rules
from smear_table.cli import screen
from smear_table.cli.deal import deal_text
from smear_table.cli.record import names_by_seat
from smear_table.pace import SPEEDS, pause
from smear_table.players import seated
from smear_table.session import Event, Seat, Session, Setup, Speed
from training.options import parse_options


@dataclass(frozen=True)
class Options:
    """Let agents play a match and look on, deal by deal, all cards open. Ctrl-C ends it.

    For example: smear watch four_point expert. In a pipe each deal is printed when it is over, without waiting.
    """

    agents: tyro.conf.Positional[tuple[str, ...]] = ()
    """Who plays: one for every seat, one for each team, or one for each seat; by default the game's policy against
    expert."""
    rules: str = "four_point"
    """Preset to play."""
    options: tuple[str, ...] = ()
    """Rule options as NAME=VALUE."""
    speed: Speed = "normal"
    """How long to wait between actions on a terminal."""
    deals: int = 0
    """Stop after so many deals; 0 for the whole match."""
    seed: int | None = None
    """Of the cards and the agents, to see the same again; drawn by default."""
    json: bool = False
    """Print each deal as a line of JSON, as transcripts have it."""


def run(options: Options) -> int:
    """Play to the end of the match or until stopped."""
    rules = make_rules(options.rules, **parse_options(options.rules, options.options))
    names = names_by_seat(options.agents or default_agents(rules), rules)
    if options.deals < 0:
        raise ValueError(f"deals={options.deals} must not be negative")
    seed = secrets.randbits(32) if options.seed is None else options.seed
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed={seed} must be 0 to 2**64-1")
    setup = Setup(rules.name, rules.options(), tuple(Seat(name, name) for name in names), seed)
    session = Session(setup)
    for seat, name in enumerate(names):
        seated(name, rules, seat, seed)  # who cannot play is named before anything is shown
    console = screen.output()
    if not options.json:
        _introduce(rules, names, seed, console)
    try:
        if options.json:
            _print_lines(session, options.deals)
        elif console.is_terminal:
            _watch_live(session, options, console)
        else:
            _watch_plain(session, options.deals, console)
    except KeyboardInterrupt:
        console.print("\nstopped")
        return 130
    if not options.json:
        _conclude(session, console)
    return 0


def default_agents(rules: Rules) -> tuple[str, ...]:
    """The game's policy as the first team, expert as the others; all expert where there is no policy."""
    from smear_table.advice import adviser_of

    return (adviser_of(rules).name, *["expert"] * (rules.teams - 1))


def play_on(session: Session) -> Iterator[None]:
    """Play the match action by action; yields after each."""
    rules, setup = session.rules, session.setup
    agents = [seated(seat.player, rules, index, setup.seed) for index, seat in enumerate(setup.seats)]
    while session.turn is not None:
        seen = session.observe(session.turn)
        rows, masks = seen["observation"][None], seen["action_mask"][None]
        action = int(np.asarray(agents[session.turn].act_batch(rows, masks))[0])
        session.apply(Event("act", session.turn, rules.action_names[action]))
        yield


def deals_of(session: Session, most: int) -> Iterator[dict[str, Any]]:
    """Each deal when it is finished, in transcript form; at most so many, 0 for all."""
    number = 0
    for _ in play_on(session):
        if len(session.finished) > number:
            number += 1
            yield session.finished[-1]
            if number == most:
                return


def _print_lines(session: Session, most: int) -> None:
    for number, deal in enumerate(deals_of(session, most)):
        print(json.dumps({"deal": number, **deal}, allow_nan=False), flush=True)


def _watch_plain(session: Session, most: int, console: Console) -> None:
    for number, deal in enumerate(deals_of(session, most)):
        console.print(_shown(session, deal, number, signs=False))
        console.print()


def _watch_live(session: Session, options: Options, console: Console) -> None:
    signs = screen.has_signs(console)
    steps = play_on(session)
    number, running = 0, True
    while running and (not options.deals or number < options.deals):
        with Live(console=console, auto_refresh=False, vertical_overflow="visible") as live:
            while len(session.finished) == number:
                live.update(_shown(session, session.deal_so_far(), number, signs=signs), refresh=True)
                time.sleep(pause(session, options.speed))
                if next(steps, "over") == "over":
                    running = False
                    break
            if len(session.finished) > number:
                live.update(_shown(session, session.finished[number], number, signs=signs), refresh=True)
                number += 1
        console.print()
        if session.over:
            return
        time.sleep(2 * SPEEDS[options.speed])


def _shown(session: Session, deal: dict[str, Any], number: int, *, signs: bool) -> Any:
    names = {index: seat.name for index, seat in enumerate(session.setup.seats)}
    before = [0] * session.rules.teams
    for earlier in session.finished[:number]:
        before = earlier.get("scores", before)
    return deal_text(session.rules, deal, number, names=names, before=before, signs=signs)


def _introduce(rules: Rules, names: list[str], seed: int, console: Console) -> None:
    text = Text(rules.name, "bold")
    for team in range(rules.teams):
        players = [names[seat] for seat in range(team, rules.players, rules.teams)]
        text.append("  ", "not bold").append_text(screen.team(team))
        text.append(f" {' + '.join(dict.fromkeys(players))}", "not bold")
    console.print(text.append(f"  to {rules.target}, seed {seed}", "dim not bold"))
    console.print()


def _conclude(session: Session, console: Console) -> None:
    scores = session.finished[-1].get("scores") if session.finished else None
    if not session.over:
        console.print(f"stopped after {len(session.finished)} deals")
    elif session.winner is None:
        console.print("the match was cut off: nobody has won")
    else:
        text = Text("Team ").append_text(screen.team(session.winner)).append(" wins the match")
        console.print(
            text.append(f" after {len(session.finished)} deals  ").append_text(screen.scores(scores or []))
        )
