"""A user's rules, agent and network from an installed wheel, in a folder and an environment outside the repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).resolve().parent.parent
OWN = ("own_rules", "own_agent", "own_network")
TINY = ("--games", "64", "--steps", "16", "--minibatch", "256", "--total-decisions", "4096", "--hidden", "16")
WHERE = "import smear_env, training; print(smear_env.__file__, training.__file__, sep='\\n')"


def run(*command: str, folder: Path, plugins: str = "") -> str:
    """What a command prints, in an environment that knows nothing of this one's paths."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"SMEAR_PLUGINS": plugins, "NUMBA_CACHE_DIR": str(folder.parent / "kernels")}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=800, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The Python of a new environment with the wheel, and a user's folder with the examples.

    What the package depends on is lent by the environment of the tests, so that nothing is downloaded; or, with
    `SMEAR_WHEEL_FROM_INDEX=1`, installed as pip resolves it, which also shows that nothing is missing there.
    """
    root = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--outdir", str(root), str(ROOT), folder=ROOT)
    (wheel,) = root.glob("*.whl")
    from_index = os.environ.get("SMEAR_WHEEL_FROM_INDEX") == "1"
    run(sys.executable, "-m", "venv", "--without-pip", str(root / "venv"), folder=root)
    python = root / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    wanted = (f"{wheel}[train]",) if from_index else ("--no-deps", "--no-index", str(wheel))
    run(sys.executable, "-m", "pip", "--python", str(python), "install", "-q", *wanted, folder=root)
    if not from_index:
        site = run(str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=root)
        # A plain path: the lines of the files there, as of an editable install, are not read.
        (Path(site.strip()) / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    user = root / "user"
    user.mkdir()
    for name in OWN:
        shutil.copy(ROOT / "examples" / f"{name}.py", user)
    return str(python), user


@pytest.mark.integration
def test_wheel__trains_and_plays_a_users_rules_network_and_agent(installed: tuple[str, Path]) -> None:
    python, user = installed
    places = run(python, "-c", WHERE, folder=user).splitlines()
    assert all("venv" in Path(place).parts for place in places), places
    assert not any(Path(place).is_relative_to(ROOT) for place in places)
    shared = ("--rules", "pocket", "--run-dir", "run")
    told = run(
        *(python, "-m", "training.ppo", *TINY, *shared, "--plugins", *OWN, "--network", "residual"),
        *("--critic-hidden", "16", "--opponents", "aces", "--evaluate-pairs", "50", "--baselines", "random"),
        folder=user,
    )
    assert "training pocket in run" in told
    described = json.loads((user / "run" / "checkpoint" / "policy.json").read_text())
    assert (described["preset"], described["network"]["kind"]) == ("pocket", "residual")
    told = run(
        *(python, "-m", "training.evaluate", "--agent", "run", "--against", "aces", "--rules", "pocket"),
        *("--pairs", "600", "--processes", "2", "--json", "result.json"),
        folder=user,
        plugins=",".join(OWN),
    )
    assert "run against aces (pocket" in told
    result = json.loads((user / "result.json").read_text())
    assert result["players"]["against"]["files_sha256"] != result["players"]["agent"]["files_sha256"]


@pytest.mark.integration
@pytest.mark.parametrize("name", OWN)
def test_wheel__runs_the_example(installed: tuple[str, Path], name: str) -> None:
    python, user = installed
    assert run(python, f"{name}.py", folder=user).strip()
