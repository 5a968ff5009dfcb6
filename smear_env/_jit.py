"""How kernels are compiled: once, cached on disk, and announced when that will take a while.

Numba invalidates a cached kernel when the file that defines it changes, not when a kernel that it calls
changes. So the cache is stamped with a hash of every source that holds kernels, and a cache
with another stamp is dropped before anything is compiled.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np

_F = TypeVar("_F", bound=Callable[..., Any])
_PACKAGE = Path(__file__).parent
_STAMP = "smear_env-kernels.stamp"


def kernel(function: _F) -> _F:
    """Compile a function to machine code on its first call; cached between processes."""
    return cast("_F", numba.njit(cache=True, nogil=True, error_model="numpy")(function))


@cache
def announce_compilation() -> None:
    """Say on stderr, once a process and only if the cache is empty, that kernels are being compiled."""
    if not _CACHE_IS_WARM and not numba.config.DISABLE_JIT:
        print("smear_env: compiling its kernels, once on this machine (about half a minute)", file=sys.stderr)


def _cache_folders() -> list[Path]:
    """Where Numba keeps this package's kernels: beside the sources, or in the user's cache if read-only."""
    if numba.config.CACHE_DIR:
        return [path.parent for path in Path(numba.config.CACHE_DIR).glob("**/*.nbi") if "smear_env" in str(path)]
    return [folder / "__pycache__" for folder in (_PACKAGE, *(p for p in _PACKAGE.iterdir() if p.is_dir()))]


def _sources_hash() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version}".encode())
    for source in sorted(_PACKAGE.rglob("*.py")):
        text = source.read_bytes()
        if b"@kernel" in text:
            digest.update(text)
    return digest.hexdigest()


def _prepare_cache() -> bool:
    """Drop kernels of other sources; return whether compiled kernels of these sources are there."""
    stamp_folder = Path(numba.config.CACHE_DIR) if numba.config.CACHE_DIR else _PACKAGE / "__pycache__"
    stamp = stamp_folder / _STAMP
    expected = _sources_hash()
    try:
        if stamp.exists() and stamp.read_text() == expected:
            return True
        for folder in _cache_folders():
            for stale in (*folder.glob("*.nbi"), *folder.glob("*.nbc")):
                stale.unlink(missing_ok=True)
        stamp_folder.mkdir(parents=True, exist_ok=True)
        partial = stamp.with_name(f"{_STAMP}.{os.getpid()}")
        partial.write_text(expected)
        partial.replace(stamp)
    except OSError:
        # A read-only installation: Numba then caches in the user's folder, and every start announces.
        return False
    return False


_CACHE_IS_WARM = _prepare_cache()
