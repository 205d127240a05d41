"""Conversations: a case or a scenario, an agent and a user, under a fixed clock.

May not judge what was said.
"""

from agenteval_kit.simulate.conversation import converse, first_messages, sources_of
from agenteval_kit.simulate.replay import replay_user

__all__ = ["converse", "first_messages", "replay_user", "sources_of"]
