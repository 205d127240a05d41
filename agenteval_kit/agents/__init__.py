"""Agents of every kind behind one call: programs, chat models, HTTP, recordings.

May not hold a conversation: `agenteval_kit.simulate` does.
"""

from agenteval_kit.agents.load import load_agent
from agenteval_kit.agents.program import ProgramAgent
from agenteval_kit.agents.recorded import RecordedAgent
from agenteval_kit.models.agent import Agent, AgentReply, Environment, Tool

__all__ = [
    "Agent",
    "AgentReply",
    "Environment",
    "ProgramAgent",
    "RecordedAgent",
    "Tool",
    "load_agent",
]
