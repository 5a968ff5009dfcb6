"""Playing: one lineup of agents on a stretch of deals or matches, and what is kept of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from smear_env import Agent, Rules, SelfPlayVectorEnv, VectorStep
from training.arrays import BoolArray, Float64Array, Int8Array, Int64Array
from training.evaluation.deals import Deals
from training.evaluation.players import decide, sees_all

MATCH_DEALS = 200
"""A match is cut off after so many deals."""
NOBODY = -1


class ForfeitError(Exception):
    """An agent gave no legal action; the message says what it did instead."""

    def __init__(self, reason: str, told: str) -> None:
        # Whatever it said must not steer a terminal, nor fail to be encoded.
        plain = "".join(one if one.isprintable() else repr(one)[1:-1] for one in told)
        super().__init__(f"{reason}: {plain}")
        self.reason = reason
        self.told = plain


@dataclass
class Plays:
    """One lineup's plays of deals or matches, a row for each, and all that can be asked of them later."""

    points: Float64Array
    """[plays, teams] own score change less the others' mean; of matches, all deals' together."""
    delta: Any
    """[plays, teams] int16 score change of the (last) deal."""
    ended: Int8Array
    """[plays] how the (last) deal ended: 0 forfeited, 1 passed out, 2 scored."""
    dealer: Int8Array
    """[plays] seat."""
    bidder: Int8Array
    """[plays] seat, -1 nobody."""
    bid: Int8Array
    """[plays] points, 0 passed out."""
    made: Int8Array
    """[plays] 1 the bid was made."""
    trump: Int8Array
    """[plays] suit, -1 none."""
    winner: Int8Array
    """[plays] team that has won the match, -1 cut off or no match."""
    forfeit: Int8Array
    """[plays] team that forfeited, -1 none."""
    actions: Int8Array
    """[plays, moves] every action in order that was not forced, -1 after the end; empty of matches."""
    reports: list[dict[str, Any]] = field(default_factory=list)
    """One for each forfeit: play, team, seat, reason and what was told."""

    def __len__(self) -> int:
        return len(self.points)

    @property
    def passed(self) -> BoolArray:
        """[plays] the deal was passed out."""
        return np.asarray(self.ended == 1)

    def arrays(self) -> dict[str, Any]:
        """Everything but the reports, by name."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "reports"}


def join(parts: Sequence[Plays]) -> Plays:
    """Plays of consecutive stretches as one."""
    moves = max(part.actions.shape[1] for part in parts)
    joined = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in parts[0].arrays()
        if name != "actions"
    }
    actions = [
        np.pad(p.actions, ((0, 0), (0, moves - p.actions.shape[1])), constant_values=-1) for p in parts
    ]
    starts = np.cumsum([0, *(len(part) for part in parts)])
    reports = [
        {**report, "play": int(start) + report["play"]}
        for start, part in zip(starts, parts, strict=False)
        for report in part.reports
    ]
    return Plays(**joined, actions=np.concatenate(actions), reports=reports)


def worst_points(rules: Rules) -> int:
    """What a forfeit costs: the highest bid lost while another side earns every point of the deal.

    No legal deal is worse for a side, whatever the options: a failed bid costs at most the highest bid, and the mean of
    the others is at most all the points.
    """
    return rules.max_bid + len(rules.point_names)


def play(
    lineup: Sequence[Agent], rules: Rules, deals: Deals, first: int, count: int, *, matches: bool = False
) -> Plays:
    """Deals (or matches) `first` to `first + count`, once each; the agents are those of each team, or of each seat, and
    reset before.

    All are played at once, but one after another where an agent is an outsider.
    """
    at_once = 1 if any(getattr(agent, "one_at_a_time", False) for agent in lineup) else count
    parts = []
    for start in range(first, first + count, at_once):
        if matches:
            fresh = Deals(deals.seed)
            env, shown = fresh.begin(
                rules, start, at_once, episode="match", skip_forced=True, max_deals=MATCH_DEALS
            )
        else:
            env, shown = deals.begin(rules, start, at_once, skip_forced=True)
        parts.append(_play_all(lineup, env, shown, start, matches=matches))
    return join(parts)


def _play_all(
    lineup: Sequence[Any], env: SelfPlayVectorEnv, shown: VectorStep, first: int, *, matches: bool
) -> Plays:
    """One episode in every slot, `first` being the number of slot 0's deal."""
    n, teams = env.num_games, env.rules.teams
    agents = list(dict.fromkeys(lineup))
    of_seat = np.array([agents.index(lineup[seat % len(lineup)]) for seat in range(env.rules.players)])
    seeing = any(map(sees_all, agents))
    going = np.ones(n, bool)
    forfeit = np.full(n, NOBODY, np.int8)
    points = np.zeros((n, teams))
    moves: list[Int64Array] = []
    reports: list[dict[str, Any]] = []
    for agent in agents:
        if hasattr(agent, "begin_deal"):
            agent.begin_deal(first)
    while going.any():
        actions = np.full(n, -1, np.int64)
        states = env.state(relative=True) if seeing else None
        asked = of_seat[shown.seat]
        for number, agent in enumerate(agents):
            rows = np.flatnonzero(going & (asked == number))
            if not len(rows):
                continue
            try:
                actions[rows] = _decided(agent, shown, rows, states)
            except ForfeitError as error:
                # Only outsiders forfeit, and they play one deal at a time.
                (row,) = rows
                seat = int(shown.seat[row])
                forfeit[row], going[row] = seat % teams, False
                reports.append(
                    {
                        "play": int(row),
                        "team": seat % teams,
                        "seat": seat,
                        "reason": error.reason,
                        "told": error.told,
                    }
                )
        moves.append(actions)
        shown = env.step_some(actions)
        points += shown.reward[:, :teams]
        going &= ~(shown.terminated | shown.truncated)
    return _kept(env, points, forfeit, [] if matches else moves, reports)


def _decided(agent: Any, shown: VectorStep, rows: Int64Array, states: Int8Array | None) -> Any:
    """An agent's actions for some rows."""
    if getattr(agent, "one_at_a_time", False):
        (row,) = rows
        return agent.act_in_turn(shown.observation[row], shown.mask[row], int(shown.seat[row]))
    return decide(agent, shown.observation[rows], shown.mask[rows], None if states is None else states[rows])


def _kept(
    env: SelfPlayVectorEnv,
    points: Float64Array,
    forfeit: Int8Array,
    moves: list[Int64Array],
    reports: list[dict[str, Any]],
) -> Plays:
    rules, teams = env.rules, env.rules.teams
    deals, lost = env.deals.copy(), forfeit != NOBODY
    worst = worst_points(rules)
    points[lost] = worst / (teams - 1)
    points[lost, forfeit[lost]] = -worst
    for name, value in (("ended", 0), ("bidder", -1), ("bid", 0), ("made", 0), ("trump", -1), ("delta", 0)):
        deals[name][lost] = value
    winner = np.where(lost, NOBODY, deals.winner).astype(np.int8)
    return Plays(
        points=points,
        delta=deals.delta[:, :teams].astype(np.int16),
        ended=deals.ended.astype(np.int8),
        dealer=deals.dealer.astype(np.int8),
        bidder=deals.bidder.astype(np.int8),
        bid=deals.bid.astype(np.int8),
        made=deals.made.astype(np.int8),
        trump=deals.trump.astype(np.int8),
        winner=winner,
        forfeit=forfeit,
        actions=_in_order(moves, len(points)),
        reports=reports,
    )


def _in_order(moves: list[Int64Array], plays: int) -> Int8Array:
    """[plays, moves] int8: each game's actions moved to the left, -1 behind them."""
    if not moves:
        return np.empty((plays, 0), np.int8)
    table = np.stack(moves, axis=1).astype(np.int8)
    order = (table < 0).argsort(axis=1, kind="stable")
    return np.take_along_axis(table, order, axis=1)


def match_shares(plays: Plays, teams: int) -> Float64Array:
    """[plays, teams] each team's share of the match: 1 to the winner, 1 / teams each where it was cut off.

    A forfeited match is lost, and shared by the other teams.
    """
    shares = np.full((len(plays), teams), 1 / teams)
    won = np.flatnonzero(plays.winner != NOBODY)
    shares[won] = 0
    shares[won, plays.winner[won]] = 1
    lost = np.flatnonzero(plays.forfeit != NOBODY)
    shares[lost] = 1 / (teams - 1)
    shares[lost, plays.forfeit[lost]] = 0
    return shares
