"""The digest of a transcript as a person reads it.

May not read files.
"""

from __future__ import annotations

from agenteval_kit.files import digest
from agenteval_kit.records import Transcript

__all__ = ["transcript_digest"]

# What a reader cannot see, and what another version of the kit may fill in otherwise.
_UNREAD = frozenset(
    {"usage", "cost_usd", "seconds", "stamps", "tags", "extra", "findings", "reward", "events",
     "state"}
)  # fmt: skip


def transcript_digest(transcript: Transcript) -> str:
    """Digest of what is read of a transcript: turns, calls, output, sources, how it ended.

    Cost, time, stamps and findings are left out, so that a label stays good when they change.
    """
    return digest(transcript.model_dump(mode="json", exclude_defaults=True, exclude=set(_UNREAD)))
