"""Tells whether two names are of one model.

May not know a list of models: names are compared, nothing else.
"""

from __future__ import annotations

import re

from agenteval_kit.records import AgentStamps

__all__ = ["is_same_model"]

_DATED = re.compile(r"[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|latest)$")


def is_same_model(name: str | None, agent: AgentStamps) -> bool:
    """Whether a judge's model is the agent's, by the requested or the served name.

    A maker's prefix and a date at the end do not make another model.
    """
    own = {_bare(one) for one in (agent.model, agent.model_served) if one}
    return name is not None and _bare(name) in own


def _bare(name: str) -> str:
    return _DATED.sub("", name.casefold().rpartition("/")[2])
