"""What `.ci/integrations` and `.ci/versions` share: a Python of some version, commands that end in time, their flags.

Needs Python 3.11 or newer, and nothing else.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_ANSWER = "import sys; print('%d.%d' % sys.version_info[:2])"
_VERSIONS = """
import importlib.metadata, json, platform, sys
found = {"python": platform.python_version()}
for name in sys.argv[1:]:
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""


class FailedError(Exception):
    """A command failed; the message says which and shows the end of what it printed."""


class OutOfTimeError(FailedError):
    """A command was stopped at its limit."""


def find_python(version: str) -> str | None:
    """A Python of this version, such as 3.11, that answers: the shim of a version manager may stand for nothing."""
    for path in _pythons(version):
        try:
            said = subprocess.run([path, "-c", _ANSWER], capture_output=True, text=True, check=False)
        except OSError:
            continue
        if said.stdout.strip() == version:
            return path
    return None


def _pythons(version: str) -> Iterator[str]:
    """Where a Python of this version might be: on the path, in uv's or pyenv's folders."""
    yield from filter(None, (shutil.which(f"python{version}"), sys.executable))
    uv = shutil.which("uv")
    if uv:
        said = subprocess.run([uv, "python", "find", version], capture_output=True, text=True, check=False)
        yield from filter(None, [said.stdout.strip()])
    kept = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    yield from map(str, sorted(kept.glob(f"{version}.*/bin/python"), reverse=True))


def run(
    command: Iterable[str | Path],
    seconds: float,
    log: Path,
    *,
    given: Mapping[str, str] | None = None,
    without: Collection[str] = (),
) -> int:
    """The exit status of a command in the repository's root, its output added to `log`.

    `given` is added to the environment, `without` taken from it. Stopped at its limit, or as this program is, it goes
    with all that it has started; the first raises OutOfTimeError.
    """
    words = [str(word) for word in command]
    kept = {name: value for name, value in os.environ.items() if name not in without}
    with log.open("ab") as out:
        process = subprocess.Popen(
            words,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**kept, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **(given or {})},
        )
        try:
            return process.wait(timeout=max(seconds, 1))
        except BaseException as stopped:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(stopped, subprocess.TimeoutExpired):
                raise OutOfTimeError(f"stopped after {seconds:.0f} s: {' '.join(words)}") from None
            raise


def tail(log: Path, lines: int = 40) -> str:
    """The end of a log, indented."""
    text = log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:]
    return "\n".join(f"    {line}" for line in text)


def installed_versions(python: Path, names: Iterable[str]) -> dict[str, str]:
    """Versions of a Python and of those of these packages that it has."""
    said = subprocess.run([python, "-c", _VERSIONS, *names], capture_output=True, text=True, check=True)
    return dict(json.loads(said.stdout))


def today() -> str:
    """The date that a result is kept with."""
    return dt.datetime.now(tz=dt.UTC).date().isoformat()


def parser_of(description: str | None, known: Collection[str]) -> argparse.ArgumentParser:
    """A command line that takes names of what is known, and all of it if none is given."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help=f"of {', '.join(known)}; all if none is given")
    return parser


def parse(
    parser: argparse.ArgumentParser, arguments: Sequence[str], known: Collection[str], table: Path
) -> argparse.Namespace:
    """What was given; a name that is not in the table ends the program."""
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in known]
    if unknown:
        parser.error(f"{', '.join(unknown)}: not in {table.name}, which has {', '.join(known)}")
    return given


def take_children_along() -> None:
    """Told to stop, by a stage's limit for one, this program stops what it runs and tidies up."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
