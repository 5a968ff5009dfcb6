"""Players behind one protocol; they see an observation and a mask, never the state."""

from smear_env.agents.base import ANY_SEAT, Agent
from smear_env.agents.registry import agent_names, make_agent, register_agent

__all__ = ["ANY_SEAT", "Agent", "agent_names", "make_agent", "register_agent"]
