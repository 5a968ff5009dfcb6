"""README and docs say what is so: their code runs, their tables are current, their links lead somewhere."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple, get_args, get_type_hints

import pytest

import smear_env
from smear_env import Rules, checkpoints_folder, read_policy
from tests.plugins import own
from tests.reference import replay

__all__ = ["own"]
ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "api").glob("*.md")),
    *sorted((ROOT / "docs" / "tutorials").glob("*.md")),
]
INTEGRATIONS = {
    name: one
    for name, one in tomllib.loads(
        (ROOT / "examples" / "integrations.toml").read_text(encoding="utf-8")
    ).items()
    if "not_built" not in one
}
# Those of other libraries are run by `.ci/integrations`, where there are these libraries.
EXAMPLES = sorted(
    path
    for path in (ROOT / "examples").glob("*.py")
    if path.name not in {one.get("example") for one in INTEGRATIONS.values()}
)
FENCE = re.compile(
    r"^(?:<!-- (?P<note>[^>]*) -->\n)?```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


class Block(NamedTuple):
    """A fenced block of a page."""

    page: Path
    line: int
    note: str
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks(*languages: str) -> list[Block]:
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in FENCE.finditer(text):
            line = text.count("\n", 0, match.start("text"))
            found.append(Block(page, line, match["note"] or "", match["language"], match["text"]))
    return [block for block in found if block.language in languages]


def run(command: list[str], folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def readme_command(name: str) -> str:
    commands = [block.text.strip() for block in blocks("bash") if block.note == f"command: {name}"]
    assert len(commands) == 1
    return commands[0]


@pytest.mark.parametrize(
    "block", [b for b in blocks("python") if not b.note.startswith("integration: ")], ids=str
)
def test_python_block__runs(
    block: Block, tmp_path: Path, own: pytest.MonkeyPatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "training" in block.text or "torch" in block.text:
        pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    # Lines are padded so that a traceback gives the page's line.
    code = compile("\n" * block.line + block.text, str(block.page), "exec")
    exec(code, {"__name__": "__main__"})


@pytest.mark.parametrize("block", [b for b in blocks("bash") if b.note == "test: run"], ids=str)
def test_bash_block__runs(block: Block, tmp_path: Path) -> None:
    for line in block.text.splitlines():
        words = shlex.split(line)
        assert words[0] == "python"
        run([sys.executable, *words[1:]], tmp_path)


@pytest.mark.parametrize(
    "module", ["training.ppo", "training.evaluate", "training.tournament", "training.regret"]
)
def test_readme__uses_flags_that_exist(module: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    lines = [
        line
        for b in blocks("bash")
        for line in b.text.splitlines()
        if line.startswith(f"python -m {module} ")
    ]
    assert lines
    explained = run([sys.executable, "-m", module, "--help"], tmp_path)
    for flag in re.findall(r"--[\w-]+", " ".join(lines)):
        assert flag in explained


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example__runs(path: Path, tmp_path: Path) -> None:
    if "from training" in path.read_text(encoding="utf-8"):
        pytest.importorskip("torch")
    assert run([sys.executable, str(path)], tmp_path).strip()


def test_generated_pages__are_current() -> None:
    run([sys.executable, str(ROOT / "docs" / "generate.py"), "--check"], ROOT)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links__lead_to_files(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
        assert "://" in target or (page.parent / target).exists(), target


def test_api_pages__have_every_public_name() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "api").glob("*.md"))
    shown = re.findall(r"^::: smear_env\.(\w+)$", text, re.MULTILINE)
    assert sorted(shown) == sorted(smear_env.__all__)


def test_api_pages__have_every_adapter() -> None:
    folder = ROOT / "smear_env" / "interop"
    adapters = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in folder.rglob("*.py")
        if "\n__all__ = [" in path.read_text(encoding="utf-8")
        and path.name not in ("__init__.py", "dealing.py")
    }
    text = (ROOT / "docs" / "api" / "interop.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^::: (\S+)$", text, re.MULTILINE)) == adapters


def test_integrations__each_have_example_test_and_snippet() -> None:
    shown = {
        b.note.removeprefix("integration: "): b.text
        for b in blocks("python")
        if b.note.startswith("integration: ")
    }
    assert set(shown) == set(INTEGRATIONS)
    for name, text in shown.items():
        assert len([line for line in text.splitlines() if line.strip()]) <= 10, f"{name}: ten lines"
    for one in INTEGRATIONS.values():
        assert (ROOT / one["test"]).is_file()
        assert "example" not in one or (ROOT / "examples" / one["example"]).is_file()
        assert all("==" in pinned for pinned in one["requirements"])


def test_rules_page__names_every_field_and_value() -> None:
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    hints = get_type_hints(Rules)
    for field in dataclasses.fields(Rules):
        assert field.name == "name" or f"`{field.name}`" in text, field.name
        for value in get_args(hints[field.name]):
            assert f"`{value}`" in text, f"{field.name}={value}"


def test_rules_page__shows_a_true_transcript() -> None:
    shown = [json.loads(block.text) for block in blocks("json") if block.page.name == "rules.md"]
    assert shown
    for match in shown:
        # The reference states a preset's own value nowhere; transcripts may.
        match["options"].pop("stock_to_bidder")
        replay(match)


def test_readme_commands__need_nothing_installed_before() -> None:
    for name, extras in (("train", "train"), ("tests", "train,dev")):
        command = readme_command(name)
        assert command.startswith("python3 -m venv .venv && .venv/bin/pip install ")
        assert f'-e ".[{extras}]"' in command
    assert readme_command("train").endswith("&& .venv/bin/python -m training.ppo")
    assert readme_command("tests").endswith("&& .venv/bin/pytest -n 2")


@pytest.mark.parametrize("name", ["four_point", "schmier"])
def test_readme__shows_the_results_that_the_checkpoint_states(name: str) -> None:
    described = read_policy(checkpoints_folder() / name)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| policy \| trained on \|.*(?:\n\|.*)*", readme, re.MULTILINE)
    head, _, *rows = ([cell.strip(" *`") for cell in line.split("|")[1:-1]] for line in table.splitlines())
    (row,) = (dict(zip(head, row, strict=True)) for row in rows if name in row[0])
    stated = [one for one in described["evaluation"] if f"against {one['against']}" in row]
    assert stated
    for one in stated:
        low, high = one["interval"]
        assert row[f"against {one['against']}"] == f"{one['points_per_deal']:+.2f} [{low:+.2f}, {high:+.2f}]"
    assert f"{described['decisions'] / 1e6:.0f} M decisions" in row["trained on"]
