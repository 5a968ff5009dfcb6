"""Plain lines about how far something is, for commands of this package, which needs nothing to draw bars with."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

SECONDS = 15.0
"""Between two lines; what takes less says nothing."""

_T = TypeVar("_T")


def counted(items: Iterable[_T], total: int, unit: str) -> Iterator[_T]:
    """The items; now and then a line on stderr says how many of `total` are done and how long the rest will take."""
    started = last = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - last >= SECONDS and done < total:
            last = now
            left = (total - done) * (now - started) / done
            print(
                f"{done / total:4.0%} {done:,} of {total:,} {unit}, {(now - started) / 60:.1f} min, about "
                f"{left / 60:.1f} min left",
                file=sys.stderr,
                flush=True,
            )
