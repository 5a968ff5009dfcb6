"""Values of positions by plain exhaustive search: every legal action tried, to the end of the deal.

The value of an end for a team is (teams - 1) times its own score change less the sum of the others'. In `minimax` the
team maximises it and every other seat minimises it; in `max_n` every seat maximises its own team's, and where that is
equal the next team's clockwise, then the one's after that, then the sum of score changes.
"""

import copy

from tests.reference.game import Match


def after(match: Match, name: str) -> Match:
    """The match after an action; the given one is unchanged."""
    other = copy.copy(match)
    for field in ("hands", "discards", "taken", "won", "voids"):
        setattr(other, field, [copy.copy(pile) for pile in getattr(match, field)])
    for field in ("stock", "bids", "trick", "tricks", "scores", "results", "_held", "_thrown", "_own"):
        setattr(other, field, list(getattr(match, field)))
    other.act(name)
    return other


def values(delta: list[int]) -> list[int]:
    """Each team's value of its own and the others' score changes."""
    return [(len(delta) - 1) * own - (sum(delta) - own) for own in delta]


def minimax(match: Match, team: int, deals: int) -> int:
    """Value for a team of a position of deal number `deals`, counted from 0."""
    if len(match.results) > deals:
        return values(match.results[-1]["delta"])[team]
    assert match.turn is not None
    found = [minimax(after(match, name), team, deals) for name in match.legal()]
    return max(found) if match.turn % match.options.teams == team else min(found)


def max_n(match: Match, deals: int) -> list[int]:
    """Score changes when every team plays for itself."""
    if len(match.results) > deals:
        return list(match.results[-1]["delta"])
    assert match.turn is not None
    teams = match.options.teams
    first = match.turn % teams
    order = [(first + step) % teams for step in range(teams)]
    found = [max_n(after(match, name), deals) for name in match.legal()]
    return max(found, key=lambda delta: [*(values(delta)[team] for team in order), sum(delta)])
