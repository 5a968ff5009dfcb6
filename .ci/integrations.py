"""Test every integration against the real library, each in an environment of its own.

    .ci/integrations                 all that examples/integrations.toml names, quickest first
    .ci/integrations sb3 rllib       these
    .ci/integrations --record sb3    and keep what came out in benchmarks/integrations/, for the table in the docs

An integration is a table of examples/integrations.toml: what is installed, versions pinned, and a file of
tests/integrations/ that is run there under its time limit. Environments are kept in `.venv-integrations` and made anew
when their table changes. With `--minutes` (or SMEAR_INTEGRATIONS_MINUTES) what does not fit into so much time is
reported as not run, which is no failure, and each day begins with another one, so that all that fit get their turn; a
test that fails, is skipped or runs into its own limit is a failure. Needs Python 3.11 or newer, and nothing else.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import json
import os
import shutil
import sys
import time
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isolated import (
    ROOT,
    FailedError,
    OutOfTimeError,
    find_python,
    installed_versions,
    parser_of,
    run,
    tail,
    take_children_along,
    today,
)
from isolated import parse as parse_names

TABLE = ROOT / "examples" / "integrations.toml"
RECORDED = ROOT / "benchmarks" / "integrations"
INSTALL_SECONDS, USUAL_INSTALL = 900, 120
IMPORTED = {"PYTHONPATH": str(ROOT)}
"""Where the tests and their helpers are found."""
ALWAYS_SHOWN = ("numpy", "gymnasium", "pettingzoo", "torch")
"""Versions that are recorded beside those of an integration's own requirements."""


class NotRunError(Exception):
    """An integration cannot be run here, or not in the time there is; the message says why."""


@dataclass(frozen=True)
class Integration:
    """One table of examples/integrations.toml."""

    name: str
    table: dict[str, Any]

    @property
    def limit(self) -> float:
        """Seconds that its tests may take."""
        return 60.0 * self.table["minutes"]

    @property
    def recorded(self) -> dict[str, Any] | None:
        """What came out when it was last recorded."""
        path = RECORDED / f"{self.name}.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    @property
    def expected(self) -> float:
        """Seconds that it takes, installing included, as recorded; before that, its limit."""
        seconds = (self.recorded or {}).get("seconds")
        return sum({"install": USUAL_INSTALL, **seconds}.values()) if seconds else self.limit

    @property
    def requirements(self) -> list[str]:
        """All that is pinned."""
        return [*self.table["requirements"], *self.table.get("without_dependencies", [])]


def fingerprint(table: dict[str, Any]) -> str:
    """What an environment is made by: a result of another fingerprint is of other versions."""
    made_of = {key: table.get(key) for key in ("python", "requirements", "without_dependencies", "extras")}
    return hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()[:12]


def read_table() -> dict[str, Integration]:
    """The integrations by name."""
    tables = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return {name: Integration(name, table) for name, table in tables.items() if "not_built" not in table}


def environment(one: Integration, folder: Path, seconds: float, log: Path, *, fresh: bool) -> Path:
    """The Python of the integration's environment, made if it is not there as its table has it."""
    python = folder / "bin" / "python"
    mark = folder / "made-by.txt"
    made_by = fingerprint(one.table)
    if not fresh and mark.exists() and mark.read_text(encoding="utf-8") == made_by:
        return python
    began = time.monotonic()
    interpreter = find_python(one.table["python"])
    if interpreter is None:
        raise NotRunError(f"no Python {one.table['python']} here")
    shutil.rmtree(folder, ignore_errors=True)
    project = f"{ROOT}[{','.join(one.table.get('extras', ['train']))}]".removesuffix("[]")
    steps = [
        [interpreter, "-m", "venv", folder],
        [python, "-m", "pip", "install", "-q", *one.table["requirements"], "-e", project],
        [python, "-m", "pip", "install", "-q", "pytest>=8.3", "pytest-timeout>=2.3"],
    ]
    if one.table.get("without_dependencies"):
        steps.append([python, "-m", "pip", "install", "-q", "--no-deps", *one.table["without_dependencies"]])
    for step in steps:
        if run(step, seconds - (time.monotonic() - began), log, given=IMPORTED):
            raise FailedError(f"could not be installed\n{tail(log)}")
    mark.write_text(made_by, encoding="utf-8")
    return python


def test(one: Integration, python: Path, seconds: float, log: Path) -> dict[str, Any]:
    """Run the integration's tests: `tests`, seconds of each, and `margins`, what they measured."""
    report = log.with_suffix(".xml")
    report.unlink(missing_ok=True)
    command = [python, "-m", "pytest", "-m", "integration", f"--timeout={one.limit:.0f}", "--durations=5"]
    # The properties of a test belong to its case in the older family alone.
    wanted = ["-o", "junit_family=xunit1", f"--junitxml={report}"]
    status = run([*command, *wanted, one.table["test"]], seconds, log, given=IMPORTED)
    if status or not report.exists():
        raise FailedError(f"pytest ended with {status}\n{tail(log)}")
    cases = list(ET.parse(report).iter("testcase"))  # noqa: S314  # written by pytest just now
    skipped = [case.get("name") for case in cases if case.find("skipped") is not None]
    if skipped or not cases:
        raise FailedError(f"{len(cases)} tests, skipped {skipped}\n{tail(log)}")
    found = [prop for case in cases for prop in case.iter("property") if prop.get("name") == "margin"]
    return {
        "tests": {case.get("name"): round(float(case.get("time", 0)), 1) for case in cases},
        "margins": [json.loads(prop.get("value", "")) for prop in found],
    }


def versions(one: Integration, python: Path) -> dict[str, str]:
    """Installed versions of Python, of what the integration pins and of what all stand on."""
    pinned = [requirement.partition("==")[0].partition("[")[0].strip() for requirement in one.requirements]
    return installed_versions(python, dict.fromkeys([*pinned, *ALWAYS_SHOWN]))


def attempt(one: Integration, given: argparse.Namespace, left: float) -> dict[str, Any]:
    """Install and test one integration in what time is left; its result. Raises what went wrong."""
    given.logs.mkdir(parents=True, exist_ok=True)
    log = given.logs / f"{one.name}.log"
    log.write_bytes(b"")
    began = time.monotonic()
    python = environment(
        one, given.environments / one.name, min(left, INSTALL_SECONDS), log, fresh=given.fresh
    )
    installed = time.monotonic()
    seconds = min(left - (installed - began), one.limit)
    measured = test(one, python, seconds, log)
    return {
        **described(one, "passed"),
        "versions": versions(one, python),
        "seconds": {"install": round(installed - began), "tests": round(time.monotonic() - installed)},
        **measured,
    }


def described(one: Integration, result: str) -> dict[str, Any]:
    """What every result says: of what it is, and of when."""
    return {"name": one.name, "date": today(), "result": result, "made_by": fingerprint(one.table)}


def keep(one: Integration, result: dict[str, Any], given: argparse.Namespace) -> None:
    """Write a result beside its log and, if asked to, where the docs are made from."""
    if result.get("seconds", {}).get("install", INSTALL_SECONDS) < 5:
        # The environment was there already: what installing takes is known from before, if at all.
        before = (one.recorded or {}).get("seconds", {})
        result["seconds"] = {key: value for key, value in before.items() if key == "install"} | {
            "tests": result["seconds"]["tests"]
        }
    text = json.dumps(result, indent=1) + "\n"
    (given.logs / f"{one.name}.json").write_text(text, encoding="utf-8")
    if given.record:
        RECORDED.mkdir(parents=True, exist_ok=True)
        (RECORDED / f"{one.name}.json").write_text(text, encoding="utf-8")


def parse(arguments: Sequence[str], known: dict[str, Integration]) -> argparse.Namespace:
    """The command line."""
    parser = parser_of(__doc__, known)
    parser.add_argument("--minutes", type=float, default=None, help="time for all together")
    parser.add_argument("--record", action="store_true", help="keep results in benchmarks/integrations/")
    parser.add_argument("--fresh", action="store_true", help="make environments anew")
    parser.add_argument("--environments", type=Path, default=ROOT / ".venv-integrations")
    parser.add_argument("--logs", type=Path, default=ROOT / "runs" / "integrations")
    given = parse_names(parser, arguments, known, TABLE)
    if given.minutes is None:
        given.minutes = float(os.environ.get("SMEAR_INTEGRATIONS_MINUTES", "inf"))
    return given


def in_turn(asked: Sequence[Integration], seconds: float, day: int) -> list[Integration]:
    """Quickest first; where not all fit into the time, those that would fit alone take turns at being first."""
    quickest = sorted(asked, key=lambda one: one.expected)
    if sum(one.expected for one in quickest) <= seconds:
        return quickest
    fitting = sum(one.expected <= seconds for one in quickest)
    first = day % max(fitting, 1)
    return quickest[first:fitting] + quickest[:first] + quickest[fitting:]


def outcome(one: Integration, given: argparse.Namespace, ends: float) -> str:
    """Run one integration and say what came of it: "passed", "failed" or "not run"."""
    began, left = time.monotonic(), ends - time.monotonic()
    try:
        if one.expected > left:
            raise NotRunError(f"takes {one.expected:.0f} s, {max(left, 0):.0f} s are left")
        result = attempt(one, given, left)
    except NotRunError as reason:
        print(f"not run: {reason}", flush=True)
        return "not run"
    except FailedError as reason:
        if isinstance(reason, OutOfTimeError) and time.monotonic() >= ends:
            print(f"not run to the end: {reason}, no time is left", flush=True)
            return "not run"
        print(f"FAILED: {reason}", flush=True)
        result = described(one, "failed")
    else:
        shown = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
        print(f"passed after {time.monotonic() - began:.0f} s ({shown})", flush=True)
        for margin in result["margins"]:
            print(f"    {margin['line']}", flush=True)
    keep(one, result, given)
    return str(result["result"])


def main(arguments: Sequence[str]) -> int:
    """Run what is asked for; 1 if anything failed."""
    known = read_table()
    given = parse(arguments, known)
    ends = time.monotonic() + 60 * given.minutes
    outcomes: dict[str, list[str]] = {"passed": [], "failed": [], "not run": []}
    asked = [known[name] for name in given.names or known]
    for one in in_turn(asked, 60 * given.minutes, dt.datetime.now(tz=dt.UTC).toordinal()):
        print(f"{one.name}: ", end="", flush=True)
        outcomes[outcome(one, given, ends)].append(one.name)
    print("; ".join(f"{what}: {', '.join(names) or 'none'}" for what, names in outcomes.items()))
    return bool(outcomes["failed"])


if __name__ == "__main__":
    take_children_along()
    sys.exit(main(sys.argv[1:]))
