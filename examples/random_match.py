"""One deal of Schmier at random through the PettingZoo environment, told as text."""

from __future__ import annotations

import numpy as np

import smear_env


def main() -> None:
    """Play and print."""
    env = smear_env.env(rules="schmier", episode="deal", reward="points", render_mode="ansi")
    env.reset(seed=3)
    rng = np.random.default_rng(3)
    totals = dict.fromkeys(env.agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        totals[agent] += reward
        if terminated or truncated:
            env.step(None)
            continue
        action = int(rng.choice(np.flatnonzero(observation["action_mask"])))
        print(f"{agent}: {env.unwrapped.action_names[action]}")
        env.step(action)
    print(env.render())
    print("rewards:", {agent: round(total, 2) for agent, total in totals.items()})


if __name__ == "__main__":
    main()
