"""How long `import smear_env` and a first `reset` take, with compiled kernels at hand and without.

    python benchmarks/startup.py [--cold]

Each figure is of a fresh interpreter; `--cold` adds a first ever start, with an empty cache (about half a minute).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile

PROGRAM = """
import time
began = time.perf_counter()
import smear_env
imported = time.perf_counter()
env = smear_env.env(rules={rules!r})
env.reset(seed=1)
env.last()
print(imported - began, time.perf_counter() - began)
"""
REPEATS = 5


def start(rules: str, cache: str | None = None) -> tuple[float, float]:
    """Seconds to the end of the import and to the end of the first reset."""
    environment = dict(os.environ)
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(rules=rules)],
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    imported, ready = map(float, done.stdout.split())
    return imported, ready


def main() -> None:
    """Print a line for each game."""
    parser = argparse.ArgumentParser(description="Time the start of smear_env.")
    parser.add_argument("--cold", action="store_true", help="also with an empty kernel cache")
    cold = parser.parse_args().cold
    for rules in ("four_point", "schmier"):
        start(rules)
        imports, readies = zip(*(start(rules) for _ in range(REPEATS)), strict=True)
        imported, ready = sorted(imports)[REPEATS // 2], sorted(readies)[REPEATS // 2]
        print(
            f"{rules}, warm: import {imported:.2f} s, with the first reset {ready:.2f} s (median of {REPEATS})"
        )
    if cold:
        with tempfile.TemporaryDirectory() as cache:
            imported, ready = start("four_point", cache)
        print(f"four_point, empty cache: import {imported:.2f} s, with the first reset {ready:.2f} s")


if __name__ == "__main__":
    main()
