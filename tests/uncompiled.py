"""Programs run twice, with compiled kernels and without."""

from __future__ import annotations

import os
import subprocess
import sys


def assert_same_uncompiled(program: str, *arguments: str) -> None:
    """The program prints something, and the same in an interpreter whose kernels are plain Python."""
    compiled, plain = (
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program, *arguments],
            env={**os.environ, "NUMBA_DISABLE_JIT": flag},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for flag in ("0", "1")
    )
    assert compiled == plain != ""
