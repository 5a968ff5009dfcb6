"""Positions out of the golden transcripts, as the engine shows them to the seat to act."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from smear_env import Rules, SelfPlayVectorEnv
from smear_env.transcript import Position, positions, read_transcripts

GOLDEN = Path(__file__).parent / "golden"


class Shown(NamedTuple):
    position: Position
    rules: Rules
    observation: Any
    mask: Any


def golden_positions(file: str, count: int, seed: int = 0) -> list[Shown]:
    """So many decisions with a choice, or all of them, out of a file, drawn by a seed."""
    found = _all_of(file)
    return random.Random(seed).sample(found, min(count, len(found)))


@lru_cache(maxsize=4)
def _all_of(file: str) -> tuple[Shown, ...]:
    matches = read_transcripts(GOLDEN / file)
    return tuple(shown for match in matches for shown in shown_of(list(positions(match))))


def shown_of(taken: Sequence[Position]) -> list[Shown]:
    """What the seat to act sees at positions of one match, those with one legal action left out."""
    rules = taken[0].rules
    env = SelfPlayVectorEnv(len(taken), rules, seed=0)
    states = np.concatenate([one.states for one in taken]).view(np.uint8).reshape(len(taken), -1)
    shown = env.restore({"states": states, "seed": np.zeros(1, np.uint64)})
    rows = zip(taken, shown.observation.copy(), shown.mask.copy(), strict=True)
    return [Shown(one, rules, seen, mask) for one, seen, mask in rows if mask.sum() > 1]
