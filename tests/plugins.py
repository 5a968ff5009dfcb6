"""What tests register is gone after them, and SMEAR_PLUGINS is what it was."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from smear_env import rewards, rules
from smear_env.agents import policy, registry

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Registries that forget, and modules of the examples that are imported anew."""
    registries = [rules.PRESETS, registry._FACTORIES, rewards._FUNCTIONS, policy._LOADERS]
    if "training.network" in sys.modules:
        registries.append(sys.modules["training.network"]._KINDS)
    before = [dict(one) for one in registries]
    monkeypatch.setenv("SMEAR_PLUGINS", "")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    yield monkeypatch
    for one, kept in zip(registries, before, strict=True):
        one.clear()
        one.update(kept)
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]
