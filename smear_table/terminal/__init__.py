"""The table in a terminal: `python -m smear_table.terminal`, with the extra `play`.

`arguments` is what the command is told, `match` a match with its agents and the file it is kept in. Over them lie two
ways to play it: the full screen (`app`, its screens `lobby`, `table`, `replay` and `sheets`, and what they are made of:
`felt`, `panels`, `tray`), and `plain`, lines for pipes and screen readers, which needs the standard library only.
"""

from smear_table.terminal.arguments import Play
from smear_table.terminal.start import play

__all__ = ["Play", "play"]
