"""How kernels are compiled: once, cached on disk, and announced when that will take a while.

Numba takes a cached kernel for good until the file that defines it changes, even if a kernel that it calls has changed.
So the cache lies in a folder named after a hash of every source that holds kernels or that they import, whose
constants are compiled in: other sources, another folder.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np

_F = TypeVar("_F", bound=Callable[..., Any])
_PACKAGE = Path(__file__).parent
_PREFIX = "smear_env-kernels-"
_KEPT = 4
"""Caches of so many states of the sources are kept, the latest used."""


def kernel(function: _F) -> _F:
    """Compile a function to machine code on its first call; cached between processes."""
    return _compile(function)


def inline_kernel(function: _F) -> _F:
    """As `kernel`, for a part of kernels: its code is put in place of each call, which a small part costs less than."""
    return _compile(function, forceinline=True)


def _compile(function: _F, **options: Any) -> _F:
    outside = numba.config.CACHE_DIR
    # Numba reads the folder when a function is decorated; other packages' kernels keep theirs.
    numba.config.CACHE_DIR = str(_CACHE)
    try:
        return cast("_F", numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function))
    finally:
        numba.config.CACHE_DIR = outside


@cache
def announce_compilation() -> None:
    """Say on stderr, once a process and only if the cache is empty, that kernels are being compiled."""
    if not _CACHE_IS_WARM:
        _announce("its kernels", "about half a minute")


@cache
def announce_part(part: str, time: str, *kernels: Any) -> None:
    """Say so of a part that is compiled when it is first used, unless all of these kernels of it are cached."""
    announce_compilation()
    if not numba.config.DISABLE_JIT and not all(map(_is_cached, kernels)):
        _announce(part, time)


@cache
def _announce(part: str, time: str) -> None:
    if not numba.config.DISABLE_JIT:
        print(f"smear_env: compiling {part}, once on this machine ({time})", file=sys.stderr)


def _is_cached(compiled: Any) -> bool:
    """Whether the cache holds a kernel, for whatever types of arguments."""
    return any(Path(compiled.stats.cache_path).glob(f"*.{compiled.__name__}-*.nbi"))


def _sources_hash() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version}".encode())
    for source in sorted(_kernel_sources()):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _kernel_sources() -> set[Path]:
    """Files that hold kernels, and whatever of this package they import: its constants are compiled in."""
    found = {path for path in _PACKAGE.rglob("*.py") if "kernel\n" in path.read_text(encoding="utf-8")}
    pending = list(found)
    while pending:
        for module in re.findall(
            r"^from smear_env\.([\w.]+) import", pending.pop().read_text("utf-8"), re.MULTILINE
        ):
            path = _PACKAGE.joinpath(*module.split(".")).with_suffix(".py")
            if path.is_file() and path not in found:
                found.add(path)
                pending.append(path)
    return found


def _cache_folder() -> Path:
    """A writable folder for these sources' kernels: where NUMBA_CACHE_DIR says, beside the package, or the user's."""
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    bases = (
        [Path(numba.config.CACHE_DIR)]
        if numba.config.CACHE_DIR
        else [_PACKAGE / "__pycache__", user / "smear_env"]
    )
    for base in bases:
        folder = base / f"{_PREFIX}{_sources_hash()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return bases[-1] / f"{_PREFIX}{_sources_hash()}"


def _drop_old_caches(current: Path) -> None:
    others = [folder for folder in current.parent.glob(f"{_PREFIX}*") if folder != current]
    for folder in sorted(others, key=lambda one: one.stat().st_mtime)[: -(_KEPT - 1)]:
        shutil.rmtree(folder, ignore_errors=True)


_CACHE = _cache_folder()
_CACHE_IS_WARM = any(_CACHE.rglob("*.nbi"))
if not _CACHE_IS_WARM:
    _drop_old_caches(_CACHE)
