"""Draw docs/terminal.svg: a table of Schmier on the full screen of a terminal, with a hint (extra `play`).

python docs/terminal_picture.py
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from textual.pilot import Pilot

from smear_table.store import Store
from smear_table.terminal.app import SmearApp
from smear_table.terminal.arguments import Play, asked_setup
from smear_table.terminal.match import Match

PICTURE = Path(__file__).resolve().parent / "terminal.svg"
SEED = 7
SIZE = (120, 36)
PATIENCE = 6000
"""Looks, a tenth of a second apart, until agents and adviser are done."""


def text(app: SmearApp) -> str:
    """What is on the screen."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


async def settled(pilot: Pilot[None], match: Match, said: str = "") -> None:
    """Wait until the person is to act and the screen has said something."""
    for _ in range(PATIENCE):
        await pilot.pause(0.1)
        if match.awaited and said in text(pilot.app):
            return
    raise SystemExit(f"the table does not come to {said or 'the person'}")


async def main() -> None:
    """Play what is legal until a card is to be added to a trick, and ask for a hint."""
    chosen = Play(rules="schmier", agents=("schmier",), seed=SEED, speed="instant", name="Ada")
    store = Store(":memory:")
    match = Match.new(store, *asked_setup(chosen))
    app = SmearApp(chosen, store, match)
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot, match)
        while (view := match.view())["phase"] != "play" or not (view["last"] and view["trick"]):
            app.screen.choose(view["legal"][0 if view["phase"] == "exchange" else -1])
            await settled(pilot, match)
        await pilot.press("i")
        await settled(pilot, match, "Hint: ")
        drawn = app.export_screenshot(title="Schmier")
    # Fonts of another host are left out: the reader's own will do.
    PICTURE.write_text(re.sub(r"\s*@font-face \{.*?\}\n", "\n", drawn, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
