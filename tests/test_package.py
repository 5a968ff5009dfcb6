"""The package as installed: what a wheel carries, what an import pulls in, who may import whom."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

import smear_env
from smear_env import _jit
from smear_env._data import checkpoints_folder, configs_folder, deals_folder, variates_folder
from smear_env.engine.state import PLAY, STATE_DTYPE

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def imported_modules(path: Path) -> set[str]:
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module)
    return modules


def test_import__pulls_in_no_torch() -> None:
    code = "import sys, smear_env; sys.exit(any(m in sys.modules for m in ('torch', 'training', 'PIL', 'tensorboard')))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=300, check=False).returncode == 0


def test_import__leaves_solver_and_search_for_their_first_use() -> None:
    code = (
        "import sys, smear_env; print(*sorted(name for name in sys.modules if name.startswith(('smear_env.solver', "
        "'smear_env.values', 'smear_env.agents.search', 'smear_env.agents.expert.fit'))))"
    )
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout.split() == [
        "smear_env.agents.search",
        "smear_env.agents.search.names",
        "smear_env.values",
    ]


def test_public_names__exist() -> None:
    expected = {
        *("env", "raw_env", "SelfPlayVectorEnv", "load_policy", "make_agent", "Rules", "make_rules"),
        *("observation_layout", "state_layout", "observation_scale", "decode", "IllegalActionError"),
    }
    assert expected <= set(smear_env.__all__)
    assert all(hasattr(smear_env, name) for name in smear_env.__all__)


def test_version__is_the_projects() -> None:
    assert smear_env.__version__ == PROJECT["version"]
    assert f"## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_changelog__names_the_environments_version() -> None:
    version = smear_env.raw_env(rules="four_point").metadata["name"]
    assert f"`{version}`" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"`{version}`" in (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests" / "reference").glob("*.py")), ids=lambda path: path.name
)
def test_reference__shares_nothing_with_the_engine(path: Path) -> None:
    allowed = sys.stdlib_module_names | {"tests"}
    for module in imported_modules(path):
        assert module.partition(".")[0] in allowed, module
        assert not module.startswith("tests.") or module.startswith("tests.reference"), module


def test_folders__are_the_repositorys_in_a_checkout() -> None:
    assert configs_folder() == ROOT / "configs"
    assert checkpoints_folder() == ROOT / "checkpoints"
    assert deals_folder() == ROOT / "benchmarks" / "deals"
    assert variates_folder() == ROOT / "benchmarks" / "variates"


@pytest.mark.integration
def test_wheel__carries_configs_checkpoints_and_types(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("configs", "checkpoints"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file():
                assert f"smear_env/_shipped/{path.relative_to(ROOT).as_posix()}" in names
    for folder, name in ((deals_folder(), "deals"), (variates_folder(), "variates")):
        for path in folder.glob("[!_]*.[!p]*"):
            assert f"smear_env/_shipped/{name}/{path.name}" in names
    for path in (ROOT / "smear_env" / "agents" / "expert" / "data").iterdir():
        assert path.relative_to(ROOT).as_posix() in names
    assert any(name.endswith(".toml") for name in names)
    assert any(name.endswith(".safetensors") for name in names)
    assert {"smear_env/py.typed", "training/ppo.py", "training/evaluate.py"} <= names
    assert not any(name.startswith(("tests/", "docs/", "benchmarks/")) for name in names)
    assert not any(name.endswith((".pyc", ".nbi", ".nbc")) for name in names)


def test_kernel_cache__depends_on_the_constants_compiled_in() -> None:
    names = {str(path.relative_to(ROOT / "smear_env")) for path in _jit._kernel_sources()}
    assert {"engine/step.py", "engine/state.py", "engine/tables.py", "rules.py", "_typing.py"} <= names


PART = """
import sys
from smear_env._jit import announce_part, kernel

@kernel
def twice(number):
    return 2 * number

announce_part("the part", "a moment", twice)
announce_part("the part", "a moment", twice)
assert twice(2) == 4
"""


def test_compilation__of_a_part_is_announced_once_until_it_is_cached(tmp_path: Path) -> None:
    (tmp_path / "part.py").write_text(PART)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    said = [
        subprocess.run(
            [sys.executable, "part.py"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stderr
        for _ in range(2)
    ]
    assert said[0].count("compiling the part, once on this machine (a moment)") == 1
    assert said[1] == ""


@pytest.mark.parametrize("name", ["pimc-1", "ismcts-1", "clairvoyant"])
def test_compilation__of_the_players_that_search_is_announced(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    games = smear_env.SelfPlayVectorEnv(1, "mini", seed=1, episode="deal")
    shown = games.reset()
    agent: Any = smear_env.make_agent(name)
    agent.reset(games.rules, -1, 0)
    assert said_cold(monkeypatch, capsys) == ""
    if name == "clairvoyant":
        agent.act_batch_seeing(shown.observation, shown.mask, games.state(relative=True))
    else:
        agent.act_batch(shown.observation, shown.mask)
    assert "compiling the players that search" in capsys.readouterr().err


def test_compilation__of_the_solver_is_announced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    games = smear_env.SelfPlayVectorEnv(1, "mini", seed=1, episode="deal")
    shown = games.reset()
    while games.snapshot()["states"].view(STATE_DTYPE)["phase"] != PLAY:
        shown = games.step(shown.mask.argmax(axis=1))
    assert said_cold(monkeypatch, capsys) == ""
    smear_env.card_values(games.snapshot()["states"], games.rules)
    assert "compiling the solver" in capsys.readouterr().err


def said_cold(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """Make kernels look as if none were cached, and give what has been said so far."""
    monkeypatch.setattr(_jit, "_is_cached", lambda compiled: False)
    _jit.announce_part.cache_clear()
    _jit._announce.cache_clear()
    return capsys.readouterr().err
