"""How commands end: with a line for what is wrong, and the way there where code of the user's own went wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.plugins import own

pytest.importorskip("torch")

from training.ppo import main

__all__ = ["own"]
TINY = ("--games", "32", "--steps", "16", "--minibatch", "128", "--total-decisions", "1024", "--hidden", "16")

PLUGIN = """
import numpy as np
import smear_env

def uneven(before, after, dealer):
    return (after - before) + np.zeros(len(after) + 1)

smear_env.register_reward("uneven", uneven)
"""


def test_command__shows_where_code_of_a_plugin_went_wrong(own: Any, tmp_path: Path) -> None:
    (tmp_path / "own_uneven.py").write_text(PLUGIN)
    own.syspath_prepend(str(tmp_path))
    flags = ("--plugins", "own_uneven", "--reward", "uneven", "--run-dir", str(tmp_path / "run"))
    with pytest.raises(SystemExit) as ended:
        main([*TINY, *flags])
    told = str(ended.value)
    assert told.startswith("error: operands could not be broadcast together")
    assert "own_uneven.py" in told
    assert "return (after - before) + np.zeros(len(after) + 1)" in told


def test_command__says_in_a_line_what_else_is_wrong(own: Any, tmp_path: Path) -> None:
    flags = ("--plugins", "own_reward", "--start", "nobody", "--run-dir", str(tmp_path / "run"))
    with pytest.raises(SystemExit, match=r"^error: no checkpoint 'nobody': [^\n]*$"):
        main([*TINY, *flags])
