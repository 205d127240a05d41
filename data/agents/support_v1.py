"""The support agent as a rule-based program, version 1.

May not say that money was paid back unless the tool did it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from support_dialogue import Notes, answer_turn
from support_shop import SupportShop
from tool_log import ToolLog


class SupportV1:
    """One shop and the program in front of it, for one conversation."""

    def __init__(self) -> None:
        self.shop = SupportShop()
        self._notes = Notes()

    def reset(self, case: Any, now: datetime) -> None:
        """Set the shop up and forget the conversation before."""
        self.shop.reset(case, now)
        self._notes = Notes()

    def state(self) -> dict[str, Any]:
        """Give the shop's state."""
        return self.shop.state()

    def events(self) -> list[dict[str, Any]]:
        """Give what happened in the shop."""
        return self.shop.events()

    def __call__(
        self, messages: list[dict[str, Any]], *, now: datetime, case: object = None
    ) -> list[dict[str, Any]]:
        """Answer the newest message."""
        log = ToolLog(self.shop.tools, earlier=messages)
        return log.say(answer_turn(messages[-1]["content"], self._notes, log, settle=settle_refund))


def settle_refund(log: ToolLog, order: dict[str, Any], amount: str) -> str:
    """Ask for the approval and do what it allows."""
    asked = {"order_id": order["id"], "amount": amount}
    approval = log.call("request_approval", **asked, reason="the customer asks for a refund")
    if approval["decision"] == "pending":
        return (
            "The person on duty has not decided yet, so nothing has been paid back so far. "
            "You can ask again here at any time."
        )
    if approval["decision"] == "denied":
        log.call("escalate", reason=f"refund of {order['id']} was denied")
        return (
            "The person on duty did not approve it, so nothing has been paid back. I have handed "
            "your case to a colleague, who will answer you here."
        )
    if log.call("refund", **asked) is None:
        log.call("escalate", reason=f"refund of {order['id']} failed")
        return "The payment did not go through. I have handed your case to a colleague."
    return f"I have refunded {amount} GBP for order {order['id']}."
