"""Match equity: how likely each team is to win the match from every standing, and rewards that come of it.

`python -m training.equity CHECKPOINT` makes the table of a player by value iteration over what its deals bring
(docs/equity.md); `load_equity` and `EquityRewards` serve a trainer.
"""

from training.equity.reward import EquityRewards
from training.equity.table import EquityError, MatchEquity, load_equity, read_equity, save_equity, table_name

__all__ = [
    "EquityError",
    "EquityRewards",
    "MatchEquity",
    "load_equity",
    "read_equity",
    "save_equity",
    "table_name",
]
