"""Run the quick tests under other versions of Python, NumPy, Numba, Gymnasium and PettingZoo.

    .ci/versions                     every combination of .ci/versions.toml
    .ci/versions lowest newest       these
    .ci/versions --record            and keep what came out in benchmarks/versions.json, for the table in the docs
    .ci/versions --quick lowest      only the two files of tests that touch the packages most

Each combination has an environment of its own, made for it and gone afterwards, with the package installed as a user
would, so that pip holds the pins against the declared bounds. Every warning is an error there, at the import and in the
tests. A combination whose Python is not on this machine is reported as not run, which is no failure. Needs Python 3.11
or newer, and nothing else.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isolated import (
    ROOT,
    FailedError,
    find_python,
    installed_versions,
    parser_of,
    run,
    tail,
    take_children_along,
    today,
)
from isolated import parse as parse_names

TABLE = ROOT / ".ci" / "versions.toml"
RECORDED = ROOT / "benchmarks" / "versions.json"
PACKAGES = ("numpy", "numba", "gymnasium", "pettingzoo", "safetensors", "pillow")
QUICK = ("tests/test_pettingzoo.py", "tests/test_single.py")
TESTS = (
    *QUICK,
    *("tests/test_aec_copies.py", "tests/test_aec_vector.py", "tests/test_vector.py"),
    *("tests/test_observation.py", "tests/test_policy.py"),
)
TOOLS = ("pytest>=8.3", "pytest-timeout>=2.3", "hypothesis>=6.100")
IMPORT = """
import smear_env, smear_env.vector
smear_env.load_policy('four_point')
smear_env.env().reset(seed=1)
"""


def declared() -> list[str]:
    """The lower bounds of pyproject.toml as pins: what the package needs, and the extra `render`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [
        re.sub(r">=([\w.]+).*", r"==\1", one)
        for one in [*project["dependencies"], *project["optional-dependencies"]["render"]]
    ]


def attempt(pins: list[str], interpreter: str, tests: Sequence[str], seconds: float) -> dict[str, Any]:
    """Install and test one combination: its versions, how many tests passed, seconds. Raises FailedError."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="versions-") as folder:
        python, log = Path(folder) / "venv" / "bin" / "python", Path(folder) / "log"
        # Kernels of other versions would push those of the checkout out of their cache.
        kernels = {"NUMBA_CACHE_DIR": str(Path(folder) / "kernels")}

        def step(*command: str | Path) -> None:
            log.write_bytes(b"")
            left = began + seconds - time.monotonic()
            if run(command, left, log, given=kernels, without={"PYTHONPATH", "PYTHONWARNINGS"}):
                raise FailedError(f"{' '.join(map(str, command))}\n{tail(log)}")

        step(interpreter, "-m", "venv", python.parent.parent)
        step(python, "-m", "pip", "install", "-q", "-e", f"{ROOT}[render]", *pins, *TOOLS)
        installed = time.monotonic()
        step(python, "-W", "error", "-c", IMPORT)
        step(python, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", *tests)
        counted = re.search(r"(\d+) passed", log.read_text(encoding="utf-8"))
        return {
            "versions": installed_versions(python, PACKAGES),
            "tests": int(counted[1]) if counted else 0,
            "seconds": {"install": round(installed - began), "tests": round(time.monotonic() - installed)},
        }


def parse(arguments: Sequence[str], known: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = parser_of(__doc__, known)
    parser.add_argument("--record", action="store_true", help=f"keep results in {RECORDED.relative_to(ROOT)}")
    parser.add_argument("--quick", action="store_true", help="two files of tests only")
    parser.add_argument("--minutes", type=float, default=15.0, help="limit of each combination")
    given = parse_names(parser, arguments, known, TABLE)
    if given.record and given.quick:
        parser.error("--record keeps what the whole of the tests said: leave --quick out")
    return given


def keep(name: str, result: dict[str, Any], order: Sequence[str]) -> None:
    """Put a result among those that the docs are made from, in the order of the table."""
    kept = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}
    kept[name] = result
    text = json.dumps({row: kept[row] for row in order if row in kept}, indent=1)
    RECORDED.write_text(f"{text}\n", encoding="utf-8")


def outcome(one: dict[str, Any], given: argparse.Namespace) -> dict[str, Any] | None:
    """Test one combination and say what came of it; None where its Python is not here."""
    interpreter = find_python(one["python"])
    if interpreter is None:
        print(f"not run, no Python {one['python']} here", flush=True)
        return None
    pins = declared() if one["pins"] == "declared" else one["pins"]
    described = {"date": today(), "python": one["python"], "pins": pins}
    try:
        result = attempt(pins, interpreter, QUICK if given.quick else TESTS, 60 * given.minutes)
    except FailedError as reason:
        print(f"FAILED: {reason}", flush=True)
        return {**described, "failed": str(reason).splitlines()[-1].strip()}
    shown = ", ".join(f"{package} {version}" for package, version in result["versions"].items())
    print(f"{result['tests']} passed after {sum(result['seconds'].values())} s ({shown})", flush=True)
    return {**described, **result}


def main(arguments: Sequence[str]) -> int:
    """Run what is asked for; 1 if anything failed."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    given = parse(arguments, list(table))
    failed = False
    for name in given.names or table:
        print(f"{name}: ", end="", flush=True)
        result = outcome(table[name], given)
        if result and given.record:
            keep(name, result, list(table))
        failed = failed or bool(result and "failed" in result)
    return int(failed)


if __name__ == "__main__":
    take_children_along()
    sys.exit(main(sys.argv[1:]))
