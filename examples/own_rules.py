"""Rules of your own, as data: `pocket`, Four Point Smear with 24 cards, five of them in hand.

    SMEAR_PLUGINS=own_rules python -m training.evaluate --rules pocket --agent expert --against greedy
    python -m training.ppo --plugins own_rules --rules pocket

in this folder; every command knows `pocket` then. The file itself plays one deal.
"""

from __future__ import annotations

import dataclasses

import smear_env

POCKET = smear_env.register_rules(
    dataclasses.replace(
        smear_env.FOUR_POINT, name="pocket", ranks="9TJQKA", hand_size=5, stock_to_bidder=2, target=11
    )
)


def main() -> None:
    """Let `greedy` play a deal in every seat, and print it."""
    env = smear_env.env(rules="pocket", episode="deal", reward="points", render_mode="ansi")
    agent = smear_env.make_agent("greedy")
    agent.reset(POCKET, -1, 0)
    env.reset(seed=2)
    for seat in env.agent_iter():
        seen, _, terminated, truncated, _ = env.last()
        over = terminated or truncated
        action = None if over else agent.act(seen["observation"], seen["action_mask"])
        if action is not None:
            print(f"{seat}: {POCKET.action_names[action]}")
        env.step(action)
    print(env.render())


if __name__ == "__main__":
    main()
