"""How a command ends where something is wrong: with a line, unless code of the user's own went wrong."""

from __future__ import annotations

import traceback

from smear_env import plugin_names


def told(error: BaseException) -> str:
    """What is wrong, in a line; below it the way there where a plugin is on it, which its author wants to see."""
    line = f"error: {error}"
    modules = {frame.f_globals.get("__name__") for frame, _ in traceback.walk_tb(error.__traceback__)}
    if modules.isdisjoint(plugin_names()):
        return line
    return f"{line}\n\n{''.join(traceback.format_exception(error)).rstrip()}"
