"""Agents of every kind behind one call: programs, chat models, HTTP, recordings.

May not hold a conversation: `agenteval_kit.simulate` does.
"""

from agenteval_kit.agents.chat import ChatAgent
from agenteval_kit.agents.http import HTTPAgent
from agenteval_kit.agents.load import load_agent
from agenteval_kit.agents.program import ProgramAgent
from agenteval_kit.agents.recorded import RecordedAgent
from agenteval_kit.models.agent import Agent, AgentReply, Environment, Tool

__all__ = [
    "Agent",
    "AgentReply",
    "ChatAgent",
    "Environment",
    "HTTPAgent",
    "ProgramAgent",
    "RecordedAgent",
    "Tool",
    "load_agent",
]
