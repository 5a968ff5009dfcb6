"""Which commands there are, and how one of them is run.

A command is a module with `Options`, a dataclass whose fields are its flags, and `run(options)`, which returns the exit
status; or, where another package has the command already, with `pass_on(words, prog)`.
"""

from __future__ import annotations

import dataclasses
import importlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Union

import tyro

COMMANDS = {
    "play": "Play in the terminal, full screen or plain lines, against any mix of agents.",
    "web": "Serve the web table, on this machine unless told otherwise.",
    "watch": "Let agents play a match and look on, deal by deal.",
    "show": "Show a transcript: matches, a deal, or one position.",
    "advise": "Say what to do in a position, and what each action is worth.",
    "record": "Play matches between agents and write their transcripts.",
    "evaluate": "Compare two agents on duplicate deals, with an interval.",
    "tournament": "Every pair of agents on the same deals: cross table and ratings.",
    "train": "Train a policy by self-play.",
}
"""Each with the line that `smear --help` has for it; its module is `smear_table.cli.NAME`."""

ABOUT = """Smear and Schmier: play, watch, ask for advice, measure and train.

Every command explains itself: smear advise --help. Commands that report have --json. Completion of commands and flags:
see docs/cli.md, or smear --tyro-print-completion bash."""

CONFIG = (tyro.conf.FlagCreatePairsOff,)
_EXTRAS = {
    **dict.fromkeys(("torch", "tensorboard", "scipy", "matplotlib"), "train"),
    **dict.fromkeys(("textual", "starlette", "uvicorn", "websockets"), "play"),
}
"""Packages that a command may lack, and the extra that brings them."""


def run(words: Sequence[str]) -> int:
    """Run the command that the words name."""
    _open_streams()
    return guarded(lambda: _run(words))


def _run(words: Sequence[str]) -> int:
    if words and words[0] in COMMANDS:
        return _command(words[0], words[1:])
    if list(words) == ["--version"]:
        from smear_env import __version__

        print(f"smear {__version__}")
        return 0
    completing = any(word.startswith("--tyro-") for word in words)
    # Whole flags are for the shell only, whose question is asked once; they import everything.
    tyro.cli(
        _every_command(whole=completing), prog="smear", description=ABOUT, args=list(words) or ["--help"]
    )
    return 0


def _open_streams() -> None:
    """Standard output and error that can be written to, whatever they are."""
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - open until the program ends
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - open until the program ends
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Where it is not UTF-8, a sign that it lacks is no reason to stop.
        sys.stdout.reconfigure(errors="replace")


def guarded(command: Callable[[], int]) -> int:
    """The exit status of a command, what went wrong told in one line where it is no fault of the program."""
    try:
        status = command()
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, as `head`, has seen enough; keep Python from complaining again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except ModuleNotFoundError as missing:
        extra = _EXTRAS.get((missing.name or "").partition(".")[0])
        if extra is None:
            raise
        return _fail(f"this needs {missing.name}: pip install 'smear-env[{extra}]'")
    except OSError as error:
        named = f"{error.filename}: " if error.filename else ""
        return _fail(f"{named}{error.strerror or error}")
    except ValueError as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return 130
    return status


def _fail(message: str) -> int:
    print(f"error: {message}".encode("utf-8", "backslashreplace").decode(), file=sys.stderr)
    return 1


def _command(name: str, words: Sequence[str]) -> int:
    module = importlib.import_module(f"smear_table.cli.{name}")
    prog = f"smear {name}"
    if hasattr(module, "pass_on"):
        return int(module.pass_on(list(words), prog))
    return int(module.run(tyro.cli(module.Options, prog=prog, args=list(words), config=CONFIG)))


def _every_command(*, whole: bool) -> Any:
    """A union of the commands for tyro, with all their flags or by name and line only."""
    kinds = []
    for name, line in COMMANDS.items():
        options = _options_of(name) if whole else None
        kind = options or dataclasses.make_dataclass(name.capitalize(), [], frozen=True)
        kinds.append(Annotated[kind, tyro.conf.subcommand(name, description=line)])
    return Union[tuple(kinds)]  # noqa: UP007 - made of a list


def _options_of(name: str) -> Any:
    """The dataclass of a command's flags; None where a package that it needs is missing."""
    try:
        return importlib.import_module(f"smear_table.cli.{name}").Options
    except ModuleNotFoundError:
        return None
