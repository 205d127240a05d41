"""Conversations: a case or a scenario, an agent and a user, under a fixed clock.

May not judge what was said.
"""

from agenteval_kit.simulate.conversation import converse, first_messages, sources_of

__all__ = ["converse", "first_messages", "sources_of"]
