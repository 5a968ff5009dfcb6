"""Where the configurations, checkpoints, fixed deals and control variates that come with the package are.

In a checkout they stand at the top of the repository, in an installed wheel inside the package.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_IN_WHEEL = _PACKAGE / "_shipped"
_ROOT = _IN_WHEEL if _IN_WHEEL.is_dir() else _PACKAGE.parent


def configs_folder() -> Path:
    """The folder with the training configurations, `four_point.toml` and others."""
    return _ROOT / "configs"


def checkpoints_folder() -> Path:
    """The folder with the shipped checkpoints, one folder each."""
    return _ROOT / "checkpoints"


def deals_folder() -> Path:
    """The folder with the fixed deals for evaluation, `four_point.json` and others."""
    return _benchmarks() / "deals"


def variates_folder() -> Path:
    """The folder with the frozen control variates, `four_point.json` and others."""
    return _benchmarks() / "variates"


def _benchmarks() -> Path:
    return _ROOT if _IN_WHEEL.is_dir() else _ROOT / "benchmarks"
