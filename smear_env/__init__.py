"""Smear: the Four Point Smear and Schmier trick-taking games as reinforcement-learning environments.

`env` and `raw_env` are the PettingZoo environment, `SelfPlayVectorEnv` the batched one; importing the package registers
`smear_env/SmearSingle-v0` with Gymnasium. `make_agent` and `load_policy` give opponents.
"""

from smear_env._data import checkpoints_folder, configs_folder, deals_folder, variates_folder
from smear_env.aec import env, raw_env
from smear_env.agents.base import Agent, BaseAgent, chosen_by
from smear_env.agents.policy import DESCRIPTION as POLICY_FILE
from smear_env.agents.policy import FORMAT as POLICY_FORMAT
from smear_env.agents.policy import METADATA as ONNX_METADATA
from smear_env.agents.policy import (
    MLP,
    CheckpointError,
    PolicyAgent,
    find_checkpoint,
    load_policy,
    read_weights,
    register_policy,
)
from smear_env.agents.policy import read_description as read_policy
from smear_env.agents.registry import agent_names, make_agent, register_agent
from smear_env.encode import encode
from smear_env.endings import Endings, play_to_end
from smear_env.engine.state import PHASE_NAMES
from smear_env.equity import FORMAT as EQUITY_FORMAT
from smear_env.equity import EquityError, MatchEquity, load_equity, read_equity, relative_order
from smear_env.equity import Grid as ScoreGrid
from smear_env.equity import table_name as equity_name
from smear_env.errors import IllegalActionError
from smear_env.features import feature_layout, feature_scale
from smear_env.history import decode
from smear_env.layout import (
    layout_hash,
    observation_layout,
    observation_scale,
    pieces,
    state_layout,
    state_scale,
)
from smear_env.plugins import add_plugins, is_again, load_plugins, plugin_names
from smear_env.portable import PortableTables, portable_tables
from smear_env.rewards import RewardFunction, register_reward, reward_named
from smear_env.rules import (
    FOUR_POINT,
    MINI,
    PRESETS,
    RACEHORSE,
    SCHMIER,
    SETBACK,
    SIX_POINT,
    Rules,
    is_built_in,
    make_rules,
    preset_of,
    register_rules,
)
from smear_env.single import register
from smear_env.standing import Standing, standings
from smear_env.suits import InOrder, order_suits, original_actions, original_columns, rename_suits
from smear_env.transcript import record_match, show_match
from smear_env.values import card_values, play_values
from smear_env.vector import SelfPlayVectorEnv, VectorStep

__version__ = "0.1.0"

register()

__all__ = [
    "EQUITY_FORMAT",
    "FOUR_POINT",
    "MINI",
    "MLP",
    "ONNX_METADATA",
    "PHASE_NAMES",
    "POLICY_FILE",
    "POLICY_FORMAT",
    "PRESETS",
    "RACEHORSE",
    "SCHMIER",
    "SETBACK",
    "SIX_POINT",
    "Agent",
    "BaseAgent",
    "CheckpointError",
    "Endings",
    "EquityError",
    "IllegalActionError",
    "InOrder",
    "MatchEquity",
    "PolicyAgent",
    "PortableTables",
    "RewardFunction",
    "Rules",
    "ScoreGrid",
    "SelfPlayVectorEnv",
    "Standing",
    "VectorStep",
    "add_plugins",
    "agent_names",
    "card_values",
    "checkpoints_folder",
    "chosen_by",
    "configs_folder",
    "deals_folder",
    "decode",
    "encode",
    "env",
    "equity_name",
    "feature_layout",
    "feature_scale",
    "find_checkpoint",
    "is_again",
    "is_built_in",
    "layout_hash",
    "load_equity",
    "load_plugins",
    "load_policy",
    "make_agent",
    "make_rules",
    "observation_layout",
    "observation_scale",
    "order_suits",
    "original_actions",
    "original_columns",
    "pieces",
    "play_to_end",
    "play_values",
    "plugin_names",
    "portable_tables",
    "preset_of",
    "raw_env",
    "read_equity",
    "read_policy",
    "read_weights",
    "record_match",
    "register_agent",
    "register_policy",
    "register_reward",
    "register_rules",
    "relative_order",
    "rename_suits",
    "reward_named",
    "show_match",
    "standings",
    "state_layout",
    "state_scale",
    "variates_folder",
]
