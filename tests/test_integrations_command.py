"""`.ci/integrations`: what counts as passed, failed and not run, and what is kept of it."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / ".ci" / "integrations.py"
TABLE = """
[quick]
requirements = ["some==1.0"]
python = "3.11"
test = "tests/integrations/test_quick.py"
minutes = 1

[slow]
requirements = ["other==2.0"]
python = "3.11"
test = "tests/integrations/test_slow.py"
minutes = 30
"""


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The command as a module, with two integrations and folders of its own."""
    spec = importlib.util.spec_from_file_location("integrations_command", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "integrations_command", module)
    monkeypatch.syspath_prepend(SCRIPT.parent)  # as Python has it when it runs the file
    spec.loader.exec_module(module)
    (tmp_path / "integrations.toml").write_text(TABLE, encoding="utf-8")
    monkeypatch.setattr(module, "TABLE", tmp_path / "integrations.toml")
    monkeypatch.setattr(module, "RECORDED", tmp_path / "recorded")
    monkeypatch.delenv("SMEAR_INTEGRATIONS_MINUTES", raising=False)
    return module


def passed(one: Any, *_: Any) -> dict[str, Any]:
    seconds = {"install": 60, "tests": 20}
    return {
        "name": one.name,
        "result": "passed",
        "versions": {"some": "1.0"},
        "seconds": seconds,
        "margins": [],
    }


def run(command: ModuleType, tmp_path: Path, *flags: str) -> int:
    return int(command.main([*flags, "--logs", str(tmp_path), "--environments", str(tmp_path)]))


def prepare(command: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, attempt: Any) -> None:
    monkeypatch.setattr(command, "attempt", attempt)
    tmp_path.mkdir(exist_ok=True)


def test_all_that_pass__are_recorded_and_their_time_is_known(
    command: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare(command, monkeypatch, tmp_path, passed)
    assert run(command, tmp_path, "--record") == 0
    assert "passed: quick, slow; failed: none; not run: none" in capsys.readouterr().out
    assert json.loads((tmp_path / "recorded" / "slow.json").read_text(encoding="utf-8"))["result"] == "passed"
    assert command.read_table()["slow"].expected == 80


def test_what_does_not_fit__is_not_run_and_no_failure(
    command: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare(command, monkeypatch, tmp_path, passed)
    assert run(command, tmp_path, "--minutes", "5") == 0
    assert "passed: quick; failed: none; not run: slow" in capsys.readouterr().out
    monkeypatch.setenv("SMEAR_INTEGRATIONS_MINUTES", "0")
    assert run(command, tmp_path) == 0
    assert "passed: none; failed: none; not run: quick, slow" in capsys.readouterr().out
    assert not (tmp_path / "recorded").exists()


def test_time_that_is_short__begins_each_day_with_another_one(command: ModuleType) -> None:
    known = list(command.read_table().values())  # 60 and 1,800 seconds, none recorded

    def orders(seconds: float) -> list[list[str]]:
        return [[one.name for one in command.in_turn(known, seconds, day)] for day in range(3)]

    assert orders(1830) == [["quick", "slow"], ["slow", "quick"], ["quick", "slow"]]
    # What never fits is last on each day; where there is time for all the quickest is first.
    assert orders(300) == orders(1860) == [["quick", "slow"]] * 3


@pytest.mark.parametrize("fault", ["FailedError", "OutOfTimeError"])
def test_failure_and_own_limit__fail_and_the_others_still_run(
    fault: str,
    command: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def attempt(one: Any, *rest: Any) -> dict[str, Any]:
        if one.name == "quick":
            raise getattr(command, fault)("no good")
        return passed(one, *rest)

    prepare(command, monkeypatch, tmp_path, attempt)
    assert run(command, tmp_path, "--record") == 1
    assert "passed: slow; failed: quick; not run: none" in capsys.readouterr().out
    assert (
        json.loads((tmp_path / "recorded" / "quick.json").read_text(encoding="utf-8"))["result"] == "failed"
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("def test_one(record_property): record_property('margin', '{}')", None),
        ("import pytest\npytest.importorskip('no_such_library')", "pytest ended with 5"),
        (
            "import pytest\ndef test_one(): pass\ndef test_two(): pytest.importorskip('no_such_library')",
            "skipped",
        ),
    ],
)
def test_tests_that_are_skipped__are_failures(
    body: str, message: str | None, command: ModuleType, tmp_path: Path
) -> None:
    """A library that is not there must not pass for one that works."""
    file = tmp_path / "test_made.py"
    mark = "import pytest\npytestmark = pytest.mark.integration\n"
    file.write_text(mark + body + "\n", encoding="utf-8")
    one = command.Integration("made", {"test": str(file), "minutes": 1, "requirements": []})
    log = tmp_path / "made.log"
    log.write_bytes(b"")
    if message is None:
        found = command.test(one, sys.executable, 60, log)
        assert (list(found["tests"]), found["margins"]) == (["test_one"], [{}])
    else:
        with pytest.raises(command.FailedError, match=message):
            command.test(one, sys.executable, 60, log)


CHILD = "import subprocess, sys; subprocess.run([sys.executable, '-c', {grandchild!r}])"
GRANDCHILD = "import os, pathlib, time; pathlib.Path({told!r}).write_text(str(os.getpid())); time.sleep(60)"


def wait_for(happens: Callable[[], Any], what: str) -> Any:
    ends = time.monotonic() + 30
    while not (found := happens()):
        assert time.monotonic() < ends, what
        time.sleep(0.02)
    return found


def runs(pid: str) -> bool:
    """Whether a process is there and not merely waiting to be counted as ended."""
    status = Path("/proc", pid, "stat")
    return status.exists() and status.read_text(encoding="utf-8").rpartition(") ")[2][0] != "Z"


def test_command_that_hangs__is_stopped_with_what_it_started(command: ModuleType, tmp_path: Path) -> None:
    told = tmp_path / "pid"
    child = CHILD.format(grandchild=GRANDCHILD.format(told=str(told)))
    with pytest.raises(command.OutOfTimeError, match="3 s"):
        command.run([sys.executable, "-c", child], 3, tmp_path / "log")
    wait_for(lambda: not runs(told.read_text(encoding="utf-8")), "the process that it started goes on")


def test_program_that_is_told_to_stop__takes_along_what_it_runs(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    child = CHILD.format(grandchild=GRANDCHILD.format(told=str(told)))
    program = (
        "import sys, pathlib, isolated; isolated.take_children_along(); "
        f"isolated.run([sys.executable, '-c', {child!r}], 60, pathlib.Path({str(tmp_path / 'log')!r}))"
    )
    started = subprocess.Popen([sys.executable, "-c", program], cwd=SCRIPT.parent)
    pid = wait_for(lambda: told.exists() and told.read_text(encoding="utf-8"), "nothing was started")
    started.terminate()
    assert started.wait(30) == 143
    wait_for(lambda: not runs(pid), "the process that it started goes on")


def test_python__is_found_by_its_version_or_the_integration_is_not_run(
    command: ModuleType, tmp_path: Path
) -> None:
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    said = subprocess.run(
        [command.find_python(here), "--version"], capture_output=True, text=True, check=True
    )
    assert said.stdout.startswith(f"Python {here}.")
    assert command.find_python("3.0") is None
    one = command.Integration("made", {"python": "3.0", "minutes": 1, "requirements": []})
    folder = tmp_path / "kept"
    folder.mkdir()
    with pytest.raises(command.NotRunError, match=r"no Python 3\.0"):
        command.environment(one, folder, 60, tmp_path / "log", fresh=True)
    assert folder.exists()


def test_changed_requirements__make_another_environment(command: ModuleType) -> None:
    table = {"python": "3.11", "requirements": ["some==1.0"], "minutes": 3}
    assert command.fingerprint(table) == command.fingerprint({**table, "minutes": 4})
    assert command.fingerprint(table) != command.fingerprint({**table, "requirements": ["some==1.1"]})


def test_unknown_name__is_refused_naming_the_known() -> None:
    said = subprocess.run([sys.executable, SCRIPT, "nothing"], capture_output=True, text=True, check=False)
    assert said.returncode == 2
    assert "nothing: not in integrations.toml, which has sb3, " in said.stderr
