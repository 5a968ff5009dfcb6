"""Where a match stands after a deal, by the engine's own rule, for code that reckons with deals it does not play."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from smear_env._jit import announce_compilation, kernel
from smear_env._typing import BoolArray, Int64Array, RecordArray
from smear_env.engine.scoring import add_scores, passes_left
from smear_env.engine.state import PASSED_OUT, SCORED, new_states
from smear_env.engine.tables import compile_tables
from smear_env.rules import Rules

NOBODY = -1


class Standing(NamedTuple):
    """What follows from N deals."""

    scores: Int64Array
    """[N, teams] after the deal."""
    winner: Int64Array
    """[N] team that has won the match, -1 if it goes on."""
    deal_passes: BoolArray
    """[N] the next seat deals, and not the same again."""


def standings(rules: Rules, scores: Any, delta: Any, bidding_team: Any, made: Any) -> Standing:
    """Add deals to scores and say whether the match has ended, as a game by `rules` would.

    Args:
        rules: `ending`, `both_out`, `all_pass` and the target count.
        scores: [N, teams] integers, before the deal.
        delta: [N, teams] integers, what each team scored, before any cap of `ending`.
        bidding_team: [N] team of the bidder, -1 for a deal passed out.
        made: [N] whether the bid was made.

    Raises ValueError for arrays of other shapes and for no such team.
    """
    before = np.array(scores, np.int64)  # a copy: it becomes the result
    scored, bidders = np.ascontiguousarray(delta, np.int64), np.ascontiguousarray(bidding_team, np.int64)
    kept = np.ascontiguousarray(made, np.bool_)
    count = len(before)
    for name, array, shape in (
        ("scores", before, (count, rules.teams)),
        ("delta", scored, (count, rules.teams)),
        ("bidding_team", bidders, (count,)),
        ("made", kept, (count,)),
    ):
        if array.shape != shape:
            raise ValueError(f"{name} of shape {array.shape}, expected {shape}: one row for each deal")
    if np.any((bidders < NOBODY) | (bidders >= rules.teams)):
        raise ValueError(f"bidding_team={bidding_team!r} must be -1..{rules.teams - 1}")
    winner, passes = np.empty(count, np.int64), np.empty(count, np.bool_)
    announce_compilation()
    tables = compile_tables(rules).view(np.ndarray)
    _stand(tables, new_states(1).view(np.ndarray), before, scored, bidders, kept, winner, passes)
    return Standing(before, winner, passes)


@kernel
def _stand(
    tables: RecordArray,
    states: RecordArray,
    scores: Int64Array,
    delta: Int64Array,
    bidding_team: Int64Array,
    made: BoolArray,
    winner: Int64Array,
    deal_passes: BoolArray,
) -> None:
    """Write scores after the deals over those before, and winner and whether the deal passes left."""
    t, s = tables[0], states[0]
    for i in range(len(scores)):
        passed_out = bidding_team[i] < 0
        deal_passes[i] = passes_left(t, PASSED_OUT if passed_out else SCORED)
        winner[i] = NOBODY
        if passed_out:
            continue
        s.last_made = made[i]
        for team in range(t.teams):
            s.scores[team] = scores[i, team]
            s.last_delta[team] = delta[i, team]
        add_scores(t, s, bidding_team[i])
        winner[i] = s.winner
        for team in range(t.teams):
            scores[i, team] = s.scores[team]
