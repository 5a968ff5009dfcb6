"""The tutorials, from top to bottom as a reader would follow them, each in a folder of its own.

Their Python blocks run one by one in `tests/test_docs.py`; here a block with the note `file: NAME` becomes that file,
and every command of the page runs, none excepted.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_docs import ROOT, Block, blocks

pytest.importorskip("torch")

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
WITH_COMMANDS = [page for page in TUTORIALS if "```bash" in page.read_text(encoding="utf-8")]


def blocks_of(page: Path) -> list[Block]:
    return [block for block in blocks("python", "bash") if block.page == page]


def run(line: str, folder: Path) -> None:
    words = shlex.split(line)
    given = dict(word.split("=", 1) for word in words if word == words[0] and "=" in word)
    assert words[len(given)] == "python", line
    path = os.pathsep.join([str(folder), str(ROOT)])
    done = subprocess.run(
        [sys.executable, *words[len(given) + 1 :]],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, **given},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"


@pytest.mark.integration
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.stem)
def test_commands__run_in_the_order_of_the_page(page: Path, tmp_path: Path) -> None:
    for block in blocks_of(page):
        if block.language == "bash":
            for line in block.text.replace("\\\n", " ").splitlines():
                run(line, tmp_path)
        elif block.note.startswith("file: "):
            (tmp_path / block.note.removeprefix("file: ")).write_text(block.text, encoding="utf-8")


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_page__has_code_of_languages_that_are_run(page: Path) -> None:
    assert blocks_of(page)
    fences = re.findall(r"^```\w.*$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(fences) <= {"```python", "```bash", "```text"}
