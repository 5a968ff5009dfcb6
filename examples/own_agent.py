"""An agent of your own: `aces` bids with two aces in hand, and always plays its highest card.

    SMEAR_PLUGINS=own_agent python -m training.tournament --agents aces passer greedy --pairs 1000

in this folder; its name is known to every command, to `make_agent` and as an opponent in the Gymnasium environments.
The file itself compares it with `passer`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import smear_env
from training.evaluate import describe, evaluate


class Aces(smear_env.BaseAgent):
    """`BaseAgent` keeps rules, seat and a generator; what is left to do is to choose."""

    def act_batch(self, observations: Any, masks: Any) -> Any:
        """Legal actions [B] int64, for observations [B, d] and masks [B, n]."""
        seen, legal = self.checked(observations, masks)
        rules = self.rules
        hand = smear_env.pieces(seen, smear_env.observation_layout(rules))["hand"]
        aces = [card for card, name in enumerate(rules.card_names) if name[0] == "A"]
        # Cards by rank; of the calls the lowest bid with two aces, otherwise to pass.
        liking = np.zeros(legal.shape)
        liking[:, : len(rules.card_names)] = [rules.ranks.find(name[0]) for name in rules.card_names]
        first = len(rules.card_names)
        liking[:, first] = 100
        liking[:, first + 1 :] = -np.arange(legal.shape[1] - first - 1)
        liking[hand[:, aces].sum(axis=1) >= 2, first + 1 :] += 200
        return np.where(legal != 0, liking, -np.inf).argmax(axis=1)


smear_env.register_agent("aces", Aces)


def main() -> None:
    """Play duplicate deals, `aces` against `passer`."""
    rules = smear_env.make_rules("four_point")
    print(describe(evaluate("aces", "passer", rules, pairs=500)))


if __name__ == "__main__":
    main()
