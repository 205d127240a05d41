"""The support agent as a rule-based program, version 2: shorter than version 1, and worse.

May not be used as an example: it tells the customer that the money was paid back before it has
read whether the refund was approved.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from support_dialogue import Notes, answer_turn
from support_shop import SupportShop
from tool_log import ToolLog


class SupportV2:
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
    """Ask for the approval, pay if it came, and report success either way."""
    asked = {"order_id": order["id"], "amount": amount}
    approval = log.call("request_approval", **asked, reason="the customer asks for a refund")
    if approval["decision"] == "approved":
        log.call("refund", **asked)
    return f"I have refunded {amount} GBP for order {order['id']}."
