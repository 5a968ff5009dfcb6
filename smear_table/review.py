"""A finished deal looked over: each decision of a seat beside the adviser's and the solver's, with what it cost.

The adviser sees what the seat saw. The solver sees all hands: its cost is what perfect play from there would have
brought more, of which nobody could know all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from smear_env import PHASE_NAMES, Rules, SelfPlayVectorEnv, card_values
from smear_env.solver import NOT_LEGAL, solve_discards
from smear_env.transcript import Position, positions
from smear_table.advice import advise, adviser_of

WORLDS = 48
PARANOID_TRICKS = 4
"""With three teams the solver looks at the last so many tricks; whole deals would take it seconds a card."""
PLAY, DISCARD = PHASE_NAMES.index("play"), PHASE_NAMES.index("discard")


def review_deal(match: dict[str, Any], deal: int, seat: int) -> dict[str, Any]:
    """Every decision with a choice that a seat made in a deal, by index, of a match in transcript form."""
    rules, own = _decisions(match, deal, seat)
    if not own:
        return {"deal": deal, "adviser": "", "decisions": []}
    name, agent = adviser_of(rules)[:2]
    states = np.concatenate([position.states for position in own])
    env = SelfPlayVectorEnv(len(own), rules, seed=0)
    rows = states.view(np.uint8).reshape(len(own), -1)
    shown = env.restore({"states": rows, "seed": np.zeros(1, np.uint64)})
    seen, masks = shown.observation.copy(), shown.mask.copy()
    chances = agent.probabilities(seen, masks)
    decisions = []
    for index, position in enumerate(own):
        if masks[index].sum() < 2:
            continue
        tried = {one.action: one for one in advise(seen[index], masks[index], rules, WORLDS)}
        choice = int(agent.act_batch(seen[index : index + 1], masks[index : index + 1])[0])
        cost = max(0.0, tried[choice].points - tried[position.action].points)
        best, lost = _solved(position, rules)
        decisions.append(
            {
                "step": position.step,
                "label": _label(position),
                "action": rules.action_names[position.action],
                "probability": float(chances[index, position.action]),
                "adviser": rules.action_names[choice],
                "adviser_probability": float(chances[index, choice]),
                "adviser_cost": cost if choice != position.action else 0.0,
                "solver": best,
                "solver_cost": lost,
            }
        )
    return {"deal": deal, "adviser": name, "decisions": decisions}


def _decisions(match: dict[str, Any], deal: int, seat: int) -> tuple[Rules, list[Position]]:
    own = []
    rules = None
    for position in positions(match):
        rules = position.rules
        if position.deal == deal and position.seat == seat:
            own.append(position)
        if position.deal > deal:
            break
    assert rules is not None, "a match has actions"
    return rules, own


def _solved(position: Position, rules: Rules) -> tuple[list[str], float | None]:
    """The solver's best cards and what the one played lost, in points; nothing where it does not look."""
    state = position.states[0]
    phase = int(state.phase)
    if phase == PLAY and (rules.teams == 2 or int(state.trick_number) >= rules.hand_size - PARANOID_TRICKS):
        rows = position.states.view(np.uint8).reshape(1, -1)
        values = card_values(rows, rules)[0].astype(int)
    elif phase == DISCARD and rules.stock_to_bidder and not rules.joker:
        values = solve_discards(position.states, rules)[0].astype(int)
    else:
        return [], None
    top = values.max()
    best = [rules.card_names[card] for card in np.flatnonzero(values == top)]
    assert values[position.action] != NOT_LEGAL, "what was played was legal"
    return best, float(top - values[position.action]) / (rules.teams - 1)


def _label(position: Position) -> str:
    state = position.states[0]
    phase = PHASE_NAMES[int(state.phase)]
    if phase != "play":
        return {"bid": "Bid", "discard": "Discard", "name": "Trump", "exchange": "Exchange"}[phase]
    lead = "lead" if int(state.in_trick) == 0 else "follow"
    return f"Trick {int(state.trick_number) + 1}, {lead}"
