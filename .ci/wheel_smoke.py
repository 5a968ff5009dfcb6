"""Use an installed wheel without the `train` extra, away from the repository."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import numpy as np

import smear_env
from smear_env._data import checkpoints_folder, configs_folder

OWN = """
import dataclasses
import smear_env

smear_env.register_rules(dataclasses.replace(smear_env.FOUR_POINT, name="long_four", hand_size=7, stock_to_bidder=2))


class First(smear_env.BaseAgent):
    def act_batch(self, observations, masks):
        return self.checked(observations, masks)[1].argmax(axis=1)


smear_env.register_agent("first", First)
"""
REPOSITORY_FILES = ("pyproject.toml", "README.md")


def play(rules: str) -> int:
    """One match of random legal play; returns its actions."""
    env = smear_env.env(rules=rules, max_deals=3)
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    actions = 0
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        actions += 1
        assert agent.startswith("seat_")
    return actions


def play_own() -> None:
    """A module of the user's own, in the folder that this is run in, gives rules and an agent by name."""
    Path("own_module.py").write_text(OWN, encoding="utf-8")
    os.environ["SMEAR_PLUGINS"] = "own_module"
    print(f"long_four: {play('long_four')} actions")
    games = smear_env.SelfPlayVectorEnv(8, "long_four", seed=1)
    agent, view = smear_env.make_agent("first"), games.reset()
    agent.reset(games.rules, -1, 1)
    games.step(agent.act_batch(view.observation, view.mask))


def main() -> None:
    """Raise where anything is missing."""
    package = Path(smear_env.__file__).parent
    assert "site-packages" in package.parts, f"not the wheel: {package}"
    assert not any((package.parent / name).exists() for name in REPOSITORY_FILES)
    assert importlib.util.find_spec("torch") is None, "torch is installed: this checks that it is not needed"

    for rules in ("four_point", "schmier"):
        print(f"{rules}: {play(rules)} actions")

    configs = sorted(path.name for path in configs_folder().glob("*.toml"))
    assert {"four_point.toml", "schmier.toml", "smoke.toml"} <= set(configs), configs
    print(f"configs: {', '.join(configs)}")

    checkpoints = sorted(path.name for path in checkpoints_folder().iterdir() if path.is_dir())
    assert checkpoints, "the wheel has no checkpoint"
    for name in checkpoints:
        policy = smear_env.load_policy(name)
        preset = smear_env.make_rules("schmier" if name.startswith("schmier") else "four_point")
        view = smear_env.SelfPlayVectorEnv(8, preset, seed=1).reset()
        policy.reset(preset, -1, 1)
        chosen = policy.act_batch(view.observation, view.mask)
        assert view.mask[np.arange(8), chosen].all()
        print(f"{name}: bids {', '.join(preset.action_names[action] for action in chosen)}")

    play_own()
    assert "torch" not in sys.modules
    print("wheel: all well")


if __name__ == "__main__":
    main()
