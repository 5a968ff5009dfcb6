"""How much of what plays paid was luck: corrections of mean exactly 0, found by replaying recorded actions.

Two kinds of chance are taken out. The draw from the stock: see the package. And the choices of sampled policies, whose
probabilities are known: `q(a) - sum p(a) q(a)` has mean 0 for any `q` that looks at the state before the choice;
here it is the critic of a checkpoint, one action ahead. Greedy play chooses without chance and has no such term.

Both need agents that do not see the stock: a clairvoyant one bids by it, and is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from smear_env import Agent, PolicyAgent, Rules, SelfPlayVectorEnv, VectorStep, variates_folder
from training.arrays import Float64Array, Int8Array, Int64Array
from training.evaluation.deals import Deals
from training.evaluation.figures import Comparison, interval
from training.evaluation.players import draw_seed, sees_all
from training.progress import counted
from training.variates.draws import other_draws, read_draws
from training.variates.value import Value, load_value

if TYPE_CHECKING:
    from training.variates.ahead import Lookahead

SAMPLES = 48
"""Draws that stand for all where those are too many; the mean stays exactly 0, the others' mean gets some noise."""
DEALS = 1024
"""Deals that are replayed and evaluated at once."""


@dataclass(frozen=True)
class Variates:
    """What corrects: a value of the draw, and a critic for sampled choices; each may be missing."""

    draw: Value | None = None
    ahead: Lookahead | None = None

    def describe(self) -> dict[str, Any]:
        """What a result says of them."""
        said: dict[str, Any] = {}
        if self.draw is not None:
            said["draw_sha256"] = self.draw.sha256
        if self.ahead is not None:
            said["critic_sha256"] = self.ahead.sha256
        return said


def load_variates(stem: Path | None, rules: Rules, critic: Path | None = None) -> Variates:
    """Control variates: a value by shipped name or its files' stem, and a checkpoint whose critic judges choices."""
    ahead = None
    if critic is not None:
        from training.variates.ahead import Lookahead  # it brings torch

        ahead = Lookahead(critic, rules)
    if stem is not None and stem.name == str(stem) and not stem.with_suffix(".json").exists():
        stem = variates_folder() / stem
    return Variates(None if stem is None else load_value(stem, rules), ahead)


def replay(
    env: SelfPlayVectorEnv,
    shown: VectorStep,
    actions: Int8Array,
    look: Callable[[VectorStep, Int64Array], None] | None = None,
) -> Int8Array:
    """Take recorded actions again; the full states [N, s] int8 in which the plays ended, or a forfeit cut them short.

    env, shown: at the beginning of the deals, forced moves skipped. actions: [N, moves] int8, -1 behind the end. look:
    is given what is shown and the actions about to be taken, -1 where a play is over.
    """
    states, over = np.empty_like(env.final_state), np.zeros(env.num_games, bool)
    for column in actions.T:
        chosen = column.astype(np.int64)
        if look is not None:
            look(shown, chosen)
        shown = env.step_some(chosen)
        states[shown.terminated] = env.final_state[shown.terminated]
        over |= shown.terminated
    states[~over] = env.state()[~over]
    return states


def play_luck(
    env: SelfPlayVectorEnv,
    shown: VectorStep,
    actions: Int8Array,
    variates: Variates,
    sampled: Mapping[int, PolicyAgent],
    seed: int,
) -> Float64Array:
    """Points by team [N, teams] that chance gave in plays of one deal each, to be taken off what they paid.

    A play cut short by a forfeit is corrected as far as it went. env, shown, actions: as for `replay`. sampled: by
    team, policies whose choices were drawn from their `probabilities`. seed: of the sampled draws.
    """
    luck = np.zeros((env.num_games, env.teams))

    def choices(view: VectorStep, chosen: Int64Array) -> None:
        assert variates.ahead is not None
        for team, agent in sampled.items():
            rows = np.flatnonzero((chosen >= 0) & (view.seat % env.teams == team))
            if len(rows):
                chances = agent.probabilities(view.observation[rows], view.mask[rows])
                luck[rows] += variates.ahead.choice_luck(env, view, rows, chosen[rows], chances)

    states = replay(env, shown, actions, choices if variates.ahead is not None and sampled else None)
    if variates.draw is not None:
        luck += draw_luck(variates.draw, states, seed)
    return luck


def draw_luck(value: Value, states: Int8Array, seed: int) -> Float64Array:
    """What the draw from the stock was worth to each team, [N, teams], of mean exactly 0; 0 where none was made.

    states: [N, s] int8, the end of one deal each, or a later moment than its draw; absolute seats.
    """
    out = np.zeros((len(states), value.rules.teams))
    draws = read_draws(states, value.rules)
    drew = np.flatnonzero(draws.drawn.any(axis=(1, 2)))
    if len(drew):
        draws = draws.of(drew)
        others, _ = other_draws(draws, SAMPLES, np.random.default_rng(seed))
        mean = value.of_draws(draws, others).mean(axis=1)
        out[drew] = value.of_draws(draws, draws.drawn[:, None])[:, 0] - mean
    return out


def check_variates(variates: Variates, players: Iterable[Mapping[str, Any]], deals: Deals) -> None:
    """ValueError, before anything is played, where a correction would be biased: `players` as results describe them."""
    for player in players:
        if player.get("clairvoyant"):
            raise ValueError(
                f"{player['name']} sees the stock before it bids: control variates would be biased; leave them out"
            )
    if (
        variates.draw is not None
        and deals.name is None
        and deals.seed == variates.draw.description.get("seed")
    ):
        raise ValueError(
            f"seed={deals.seed}: the control variates were fitted on the deals of this seed; give another"
        )


def comparison_luck(
    comparison: Comparison, agents: Sequence[Agent], rules: Rules, deals: Deals, variates: Variates
) -> Float64Array:
    """What chance gave the agent in each play of a comparison, [sets, sides].

    agents: the two that were compared, as they played. Raises ValueError for one that sees the stock: what it bids
    depends on the draw.
    """
    for agent in agents:
        if sees_all(agent):
            raise ValueError(
                f"{type(agent).__name__} sees the stock before it bids: control variates would be biased"
            )
        if isinstance(agent, PolicyAgent):
            agent.reset(rules, -1, 0)
    luck = np.empty_like(comparison.points)
    for side, plays in enumerate(comparison.plays):
        lineup = [agents[team != side] for team in range(rules.teams)]
        sampled = {
            team: agent
            for team, agent in enumerate(lineup)
            if isinstance(agent, PolicyAgent) and agent.sample
        }
        starts = range(0, len(plays), DEALS)
        doing = f"what was luck, side {side + 1} of {len(comparison.plays)}"
        for first in counted(starts, len(starts), "parts", doing, slow=True):
            part = slice(first, min(first + DEALS, len(plays)))
            env, shown = deals.begin(rules, first, part.stop - first, skip_forced=True)
            seed = draw_seed("variates", deals.seed, first, side)
            luck[part, side] = play_luck(env, shown, plays.actions[part], variates, sampled, seed)[:, side]
    return luck


def summarize_luck(
    comparison: Comparison, luck: Float64Array, variates: Variates, seed: int
) -> dict[str, Any]:
    """Points per deal less what was luck, beside what a plain mean says: `saving` is the share of variance removed."""
    plain, gift = comparison.set_points, luck.mean(axis=1)
    reduced = plain - gift
    error = float(gift.std(ddof=1) / np.sqrt(len(gift)))
    return {
        "points_per_deal": float(reduced.mean()),
        "interval": list(interval(reduced, seed)),
        "deviation": float(reduced.std(ddof=1)),
        "saving": float(1 - reduced.var() / plain.var()) if plain.var() else 0.0,
        "mean_correction": float(gift.mean()),
        "mean_correction_error": error,
        **variates.describe(),
    }
