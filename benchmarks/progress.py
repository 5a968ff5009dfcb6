"""How far a measurement is, in plain lines: a live line would be drawn by a thread beside what is measured."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

QUIET_SECONDS = 2.0
"""Least time between two lines; what takes no longer says nothing."""

_T = TypeVar("_T")


def in_turn(items: Sequence[_T], unit: str) -> Iterator[_T]:
    """The items; a line on stderr behind each says how many are done and how long the others will take."""
    began = last = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - last >= QUIET_SECONDS and done < len(items):
            last = now
            left = (now - began) / done * (len(items) - done)
            print(
                f"{done} of {len(items)} {unit}, about {left / 60:.1f} min left", file=sys.stderr, flush=True
            )
