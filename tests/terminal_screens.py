"""What the tests of the terminal share: matches, the text of a screen, and what a seat may know of the cards."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from typing import Any

from smear_table.order import card_text
from smear_table.session import Session
from smear_table.store import Store
from smear_table.terminal import Play
from smear_table.terminal.arguments import asked_setup
from smear_table.terminal.match import Match

SHORT = {"four_point": 7, "schmier": 11, "setback": 7}
"""The lowest target of each game: whole matches in a moment."""


def new_match(
    game: str = "four_point", *, agents: tuple[str, ...] = ("greedy",), seed: int = 3, **more: Any
) -> Match:
    chosen = Play(rules=game, agents=agents, seed=seed, speed="instant", name="Ada", **more)
    return Match.new(Store(":memory:"), *asked_setup(chosen))


def play_to(match: Match, phase: str, *, following: bool = False, deals: int = 0) -> Match:
    """Play on, without a screen, until a person is asked in a phase after so many deals: highest bids, first cards."""
    while True:
        view = match.view()
        if match.fresh:
            match.next_deal()
        elif match.agents_turn:
            match.act_for_agent(match.decide(*match.observe()))
        elif view["phase"] == phase and len(view["sheet"]) >= deals and (view["trick"] or not following):
            return match
        else:
            bids = [action for action in view["legal"] if action.isdigit()]
            match.act(bids[-1] if bids else view["legal"][0])


def known_cards(session: Session, seat: int) -> set[str]:
    """Cards of this deal that a seat holds, drew or threw, and those played; of a deal just over, those played too."""
    from smear_env import decode

    seen = decode(session.observe(seat)["observation"], session.rules)
    played = {action for _, phase, action in session.said if phase == "play"}
    if session.fresh or session.over:
        played |= {action for _, action in session.finished[-1]["actions"][-session.rules.players * 6 :]}
    return {*seen.hand, *seen.taken, *seen.discards, *played}


def cards_in_signs(text: str) -> set[str]:
    """Cards that a screen shows as rank and sign, or a large face with the rank above the sign."""
    suits = {"♠": "S", "♥": "H", "♣": "C", "♦": "D"}
    found = {
        ("T" if rank == "10" else rank) + suits[sign]
        for rank, sign in re.findall(r"(10|[2-9JQKA])([♠♥♣♦])", text)
    }
    return found | {name for name in ("JK", "BJ", "LJ") if re.search(rf"\b{name}\b", text)}


def cards_in_words(text: str, deck: tuple[str, ...]) -> set[str]:
    """Cards that lines name in words."""
    plain = re.sub(r"big joker|little joker", lambda match: match[0].replace(" ", "_"), text)
    names = {card: card_text(card).replace(" joker", "_joker") for card in deck}
    return {card for card, name in names.items() if re.search(rf"(?<!_)\b{name}\b", plain)}


def text_of(app: Any) -> str:
    """Everything on the screen, line by line."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)


async def until(pilot: Any, ready: Callable[[], bool], seconds: float = 60.0) -> None:
    """Let the application run until something is so."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if ready():
            await pilot.pause()
            return
        await pilot.pause(0.01)
    raise AssertionError(f"waited in vain; on the screen:\n{text_of(pilot.app)}")


def on_screen(
    match: Match | None,
    test: Callable[[Any], Awaitable[None]],
    *,
    size: tuple[int, int] = (80, 24),
    **more: Any,
) -> None:
    """Run a test against the full screen at a match, or in the lobby."""
    from smear_table.terminal.app import SmearApp

    store = match._store if match is not None else Store(":memory:")
    app = SmearApp(Play(speed="instant", **more), store, match)

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await test(pilot)

    asyncio.run(run())
