"""Tianshou: many tables at which one seat learns by its DQN, and what it has learnt as an agent.

The learner's own decisions are all the steps that there are, and what is paid while the others act is added up, so that
returns and targets are those of any single-agent game. For one network in all seats there is Tianshou's
`PettingZooEnv`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

from smear_env._typing import Float32Array, Int8Array
from smear_env.interop.ordered import OrderedSuits
from smear_env.interop.scores import ScoresAgent
from smear_env.rules import Rules, make_rules
from smear_env.single import SmearSingleEnv


class MaskedObservation(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment with its mask beside the observation, `obs` and `mask`, as Tianshou's policies read it.

    `observation_space` stays that of `obs`, as in Tianshou's `PettingZooEnv`.
    """

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """As the environment's."""
        observation, info = self.env.reset(seed=seed, options=options)
        return {"obs": observation, "mask": info["action_mask"]}, info

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """As the environment's."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        seen = {"obs": observation, "mask": info["action_mask"]}
        return seen, float(reward), terminated, truncated, info


class SmearTables(DummyVectorEnv):
    """`num_envs` tables with the arguments of `SmearSingleEnv`, suits in order, masks beside the observations."""

    def __init__(self, num_envs: int, rules: str | Rules = "four_point", **arguments: Any) -> None:
        game = make_rules(rules)
        tables = [MaskedObservation(OrderedSuits(SmearSingleEnv(game, **arguments))) for _ in range(num_envs)]
        self.single_observation_space = tables[0].observation_space
        """Box [d + f] float32, about -1..1."""
        self.single_action_space = gymnasium.spaces.Discrete(len(game.action_names))
        super().__init__([lambda table=table: table for table in tables])


def make_policy(tables: SmearTables, hidden_sizes: Sequence[int], **arguments: Any) -> Any:
    """Tianshou's `DiscreteQLearningPolicy` with its `Net` for these tables; further arguments are the policy's."""
    seen, actions = tables.single_observation_space, tables.single_action_space
    network = Net(state_shape=seen.shape, action_shape=int(actions.n), hidden_sizes=hidden_sizes)
    return DiscreteQLearningPolicy(model=network, action_space=actions, observation_space=seen, **arguments)


def training_params(
    algorithm: Any, tables: SmearTables, steps: int, **arguments: Any
) -> OffPolicyTrainerParams:
    """For `algorithm.run_training`: one epoch of so many decisions, all kept, of a collector that explores.

    After every 16 decisions of each table, a gradient step for every eight of them, of 256 decisions; `arguments`
    replace any of these parameters.
    """
    memory = VectorReplayBuffer(steps, len(tables))
    return OffPolicyTrainerParams(
        **{
            "training_collector": Collector(algorithm, tables, memory, exploration_noise=True),
            "max_epochs": 1,
            "epoch_num_steps": steps,
            "collection_step_num_env_steps": 16 * len(tables),
            "update_step_num_gradient_steps_per_sample": 1 / 8,
            "batch_size": 256,
            **arguments,
        }
    )


def agent_of(algorithm: Any) -> ScoresAgent:
    """What a DQN has learnt as an agent: of the legal actions the one of the highest value. It goes on learning."""
    model = algorithm.policy.model

    def values(inputs: Float32Array, _: Int8Array) -> Any:
        return model(inputs)[0].detach().cpu()

    return ScoresAgent(values, ordered=True)


__all__ = ["MaskedObservation", "SmearTables", "agent_of", "make_policy", "training_params"]
