"""How far `greedy` is ahead of `passer`: batched deals, team 0 against team 1, with the error of the mean."""

from __future__ import annotations

import numpy as np

import smear_env

GAMES = 512
DEALS = 4000


def main() -> None:
    """Play until enough deals are over and print the mean of team 0's reward."""
    rules = smear_env.make_rules("four_point")
    agents = [smear_env.make_agent(name) for name in ("greedy", "passer")]
    for seed, agent in enumerate(agents):
        agent.reset(rules, -1, seed)
    games = smear_env.SelfPlayVectorEnv(GAMES, rules, seed=5, episode="deal", reward="points")
    view = games.reset()
    results: list[float] = []
    while len(results) < DEALS:
        actions = np.zeros(GAMES, np.int64)
        for team, agent in enumerate(agents):
            rows = np.flatnonzero(view.seat % rules.teams == team)
            if len(rows):
                actions[rows] = agent.act_batch(view.observation[rows], view.mask[rows])
        view = games.step(actions)
        results += view.reward[view.terminated, 0].tolist()
    values = np.array(results)
    print(f"greedy against passer: {values.mean():+.2f} points per deal,")
    print(
        f"standard error {values.std() / np.sqrt(len(values)):.2f}, {len(values)} deals, seats not exchanged"
    )


if __name__ == "__main__":
    main()
