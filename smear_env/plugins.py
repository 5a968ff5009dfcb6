"""Modules of the user's own, which register rules, agents, rewards or networks when they are imported.

`SMEAR_PLUGINS=my_module,my_package.more` names them. They are imported when a name is asked for that is not known
yet, so that every command finds what they register, and so do the processes that it starts, which inherit the variable.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable
from pathlib import Path

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
    """Import the modules named that are not imported yet; ValueError for one that cannot be."""
    for name in plugin_names():
        if name in sys.modules:
            continue
        try:
            if not _is_main(name):
                importlib.import_module(name)
        except ImportError as error:
            raise ValueError(
                f"plugin {name!r} cannot be imported: {error}; run from its folder, or name the folder in PYTHONPATH"
            ) from error


def _is_main(name: str) -> bool:
    """Whether the module is the program that runs, which an import would run once more under another name."""
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    found = importlib.util.find_spec(name)
    if main is None or found is None or found.origin is None:
        return False
    return Path(found.origin).resolve() == Path(main).resolve()
