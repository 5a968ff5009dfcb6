"""A reward of your own: `careful` counts points, and those that are lost by a failed bid twice.

    python -m training.ppo --plugins own_reward --reward careful

in this folder. In training only what differs between the teams counts: the mean over them is taken off. The
environments pay it as it is, as the file itself shows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import smear_env


def careful(before: Any, after: Any, dealer: int) -> Any:
    """One value for each team, from the scores [teams] before and after a deal and the seat that dealt it."""
    change = after - before
    return np.where(change < 0, 2 * change, change)


smear_env.register_reward("careful", careful)


def main() -> None:
    """Let everybody play `greedy` for some deals, and print the mean reward by team."""
    games = smear_env.SelfPlayVectorEnv(256, "four_point", seed=1, episode="deal", reward="careful")
    agent = smear_env.make_agent("greedy")
    agent.reset(games.rules, -1, 0)
    shown, paid, deals = games.reset(), np.zeros(games.teams), 0
    while deals < 1000:
        shown = games.step(agent.act_batch(shown.observation, shown.mask))
        paid += shown.reward.sum(axis=0)
        deals += int(shown.terminated.sum())
    print(f"{deals} deals, reward a deal by team: {(paid / deals).round(2)}")


if __name__ == "__main__":
    main()
