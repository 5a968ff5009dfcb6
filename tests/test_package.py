"""The package as installed: what a wheel carries, what an import pulls in, who may import whom."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import smear_env
from smear_env._data import checkpoints_folder, configs_folder, deals_folder

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
    for path in (*deals_folder().glob("*.npy"), *deals_folder().glob("*.json")):
        assert f"smear_env/_shipped/deals/{path.name}" in names
    assert any(name.endswith(".toml") for name in names)
    assert any(name.endswith(".safetensors") for name in names)
    assert {"smear_env/py.typed", "training/ppo.py", "training/evaluate.py"} <= names
    assert not any(name.startswith(("tests/", "docs/", "benchmarks/")) for name in names)
    assert not any(name.endswith((".pyc", ".nbi", ".nbc")) for name in names)


def test_kernel_cache__depends_on_the_constants_compiled_in() -> None:
    from smear_env import _jit

    names = {str(path.relative_to(ROOT / "smear_env")) for path in _jit._kernel_sources()}
    assert {"engine/step.py", "engine/state.py", "engine/tables.py", "rules.py", "_typing.py"} <= names
