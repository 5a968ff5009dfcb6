"""Modules of the user's own, which register rules, agents, rewards or networks when they are imported.

`SMEAR_PLUGINS=my_module,my_package.more` names them. They are imported when a name is asked for that is not known
yet, so that every command finds what they register, and so do the processes that it starts, which inherit the variable.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any

VARIABLE = "SMEAR_PLUGINS"
"""Environment variable: names of modules, separated by commas."""
REMEDY = f"one of your own is found once the module that registers it is named in {VARIABLE}"
"""How to make a name known; the end of the messages about one that is not."""


def plugin_names() -> tuple[str, ...]:
    """Names of the modules that are to be imported."""
    return tuple(name.strip() for name in os.environ.get(VARIABLE, "").split(",") if name.strip())


def add_plugins(modules: Iterable[str]) -> None:
    """Name more modules to this process and those that it starts, and import them; ValueError for one not found."""
    names = dict.fromkeys((*plugin_names(), *modules))
    if names:
        os.environ[VARIABLE] = ",".join(names)
    load_plugins()


def load_plugins() -> None:
    """Import the modules named that are not imported yet; ValueError naming the one that cannot be, and why."""
    for name in plugin_names():
        if name in sys.modules:
            continue
        _search_here()
        try:
            if not _is_main(name):
                importlib.import_module(name)
        except Exception as error:  # whatever a module of the user's raises
            raise ValueError(f"plugin {name!r} {_told(name, error)}") from error


def is_again(known: Any, given: Any) -> bool:
    """Whether a class or function that is registered is the one known by that name, written anew.

    A cell of a notebook that runs twice, or a module that is imported again, registers what is then another object of
    the same name and module. Of functions without a name, or made within others, nobody can tell.
    """
    if known is given:
        return True
    names = [
        (getattr(one, "__module__", None), getattr(one, "__qualname__", "<none>")) for one in (known, given)
    ]
    return names[0] == names[1] and "<" not in names[0][1]


def _search_here() -> None:
    """Let modules of the working folder be found, which `python -m` does and installed commands do not."""
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)


def _told(name: str, error: Exception) -> str:
    """What went wrong when the plugin was imported, and what helps."""
    if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
        remedy = "run from its folder, or name the folder in PYTHONPATH"
        if not all(map(str.isidentifier, name.split("."))) or name.endswith(".py"):
            remedy = "name the module as `import` does, without a path or .py"
        return f"cannot be imported: {error}; {remedy}"
    frames = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in frames if frame.f_globals.get("__name__") == name]
    where = f" in line {lines[-1]}" if lines else ""
    return f"failed{where} while it was imported: {type(error).__name__}: {error}"


def _is_main(name: str) -> bool:
    """Whether the module is the program that runs, which an import would run once more under another name."""
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    found = importlib.util.find_spec(name)
    if main is None or found is None or found.origin is None:
        return False
    return Path(found.origin).resolve() == Path(main).resolve()
