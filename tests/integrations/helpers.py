"""What every integration's tests need: the margin over `passer`, and the snippet that the docs show for the library."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from smear_env import Rules, SelfPlayVectorEnv, make_agent, make_rules
from training.evaluate import compare, summarize

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "integrations.md"
BOTH = pytest.mark.parametrize("rules", ["four_point", "schmier"])
Record = Callable[[str, object], None]
"""pytest's `record_property`: what is recorded so stands in the result of `.ci/integrations`."""


def beats_passer(
    record: Record, what: str, agent: Any, rules: str | Rules, pairs: int = 500, against: str = "passer"
) -> dict[str, Any]:
    """Assert that an agent is ahead of `passer` on fresh duplicate deals, by an interval above 0, and record it."""
    game = make_rules(rules)
    result = summarize(compare(agent, make_agent(against), game, pairs, seed=20_261), 1)
    low, high = result["interval"]
    margin = {
        "what": what,
        "rules": game.name,
        "against": against,
        "points_per_deal": round(result["points_per_deal"], 3),
        "interval": [round(low, 3), round(high, 3)],
        "pairs": pairs,
    }
    margin["line"] = (
        f"{what}, {game.name}: {margin['points_per_deal']:+.2f} [{low:+.2f}, {high:+.2f}] against {against}"
    )
    print(margin["line"])
    record("margin", json.dumps(margin))
    assert low > 0, margin["line"]
    return margin


def plays_legally(agent: Any, rules: str | Rules, games: int = 32) -> None:
    """Assert that an agent's first actions in so many games are legal."""
    game = make_rules(rules)
    agent.reset(game, -1, 0)
    shown = SelfPlayVectorEnv(games, game, seed=1).reset()
    assert shown.mask[range(games), agent.act_batch(shown.observation, shown.mask)].all()


def example(name: str) -> ModuleType:
    """A file of examples/ as a module, importable by name from processes that it starts."""
    folder = str(ROOT / "examples")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(name)


def snippet(name: str) -> str:
    """The code that docs/integrations.md shows under `<!-- integration: NAME -->`, at most ten lines of it."""
    page = PAGE.read_text(encoding="utf-8")
    found = re.findall(
        rf"^<!-- integration: {name} -->\n```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL
    )
    assert len(found) == 1, f"{PAGE.name} has {len(found)} snippets marked {name!r}"
    lines = [line for line in found[0].splitlines() if line.strip()]
    assert len(lines) <= 10, f"the snippet of {name} has {len(lines)} lines"
    return found[0]


def run_snippet(name: str, rules: str = "four_point") -> dict[str, Any]:
    """Run the docs' code for an integration, with another game in place of the one it names; its variables."""
    code = snippet(name)
    assert '"four_point"' in code
    variables: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(code.replace('"four_point"', f'"{rules}"'), f"{PAGE.name}: {name}", "exec"), variables)
    return variables
