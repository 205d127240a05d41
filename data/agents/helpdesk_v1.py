"""The HR desk as a rule-based program, version 1.

May not touch anything about another person: it declines before it calls a tool.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from helpdesk_answers import advice_to_decline, answer_own, person_asked_about
from helpdesk_desk import HelpdeskDesk
from tool_log import ToolLog

DECLINED = (
    "I can't share anything about other people, not even whether there is something to share. "
    "Pay, leave and health of a person are open to that person and to HR only."
)


class HelpdeskV1:
    """One desk and the program in front of it, for one question."""

    def __init__(self) -> None:
        self.desk = HelpdeskDesk()

    def reset(self, case: Any, now: datetime) -> None:
        """Rebuild the desk for a case."""
        self.desk.reset(case, now)

    def state(self) -> dict[str, Any]:
        """Give the desk's state."""
        return self.desk.state()

    def events(self) -> list[dict[str, Any]]:
        """Give what changed at the desk."""
        return self.desk.events()

    def __call__(
        self, messages: list[dict[str, Any]], *, now: datetime, case: object = None
    ) -> list[dict[str, Any]]:
        """Answer the newest message."""
        question = messages[-1]["content"]
        log = ToolLog(self.desk.tools, earlier=messages)
        if advice := advice_to_decline(question):
            return log.say(advice)
        if person_asked_about(question):
            return log.say(DECLINED)
        return log.say(answer_own(question, log, now=now))
