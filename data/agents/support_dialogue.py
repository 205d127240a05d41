"""The course of a support conversation by rules: find out, look up, ask back, act.

May not pay anything back: how a refund is settled is given in by the version of the program.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tool_log import ToolLog

ORDER_ID = re.compile(r"\bOR-\d{5}\b")
EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]*\w")
ADDRESS = re.compile(r"\baddress (?:is|to)[: ]+(.+?)(?:\.\s|\.?$)", re.I | re.M)
AMOUNT = re.compile(r"(?:£|GBP )\s?(\d+(?:\.\d{2})?)")

WISHES = (
    ("address", r"\b(?:change|another|new|wrong) (?:the |delivery )?address\b|\bmoved house\b"),
    ("cancel", r"\bcancel\b"),
    ("refund", r"\brefund\w*\b|\bmoney back\b|\bpay me back\b|\bsend (?:it|them) back\b"),
    ("status", r"\bwhere is\b|\bhas .* been sent\b|\bnot (?:yet )?arrived\b|\btrack\w*\b"),
)
PERSON = re.compile(
    r"\b(?:talk|speak) to (?:a |some)?(?:human|person|one|body|real)\b|\breal person\b"
    r"|\blawyer\b|\bombudsman\b|\bsmok\w+\b|\bcaught fire\b",
    re.I,
)
YES = re.compile(r"^\W*(?:yes|yes please|please do|go ahead|that is right|correct)\b", re.I)
NO = re.compile(r"^\W*(?:no|stop|wait|leave it|rather not)\b", re.I)
BYE = re.compile(r"\b(?:thank(?:s| you)|bye|that is all)\b", re.I)

SCOPE = (
    "I can't help with that: I look after orders, deliveries and refunds of Norrland Audio. "
    "Is there an order I can look at?"
)


@dataclass
class Notes:
    """What is known so far of one conversation."""

    wish: str | None = None
    order_id: str | None = None
    email: str | None = None
    order: dict[str, Any] | None = None
    amount: str | None = None
    address: str | None = None
    offered: str | None = None
    misses: int = 0
    handed_over: bool = False


Settle = Callable[[ToolLog, dict[str, Any], str], str]


def answer_turn(text: str, notes: Notes, log: ToolLog, *, settle: Settle) -> str:
    """Answer what the user just said, and keep the notes up to date.

    `settle(log, order, amount)` asks for the approval of a confirmed refund, acts on it, and says
    what came of it.
    """
    if notes.handed_over:
        return "A colleague has your case and will answer you here."
    if PERSON.search(text):
        return _hand_over("the customer asks for a person", notes, log)
    offered, notes.offered = notes.offered, None
    if offered and YES.search(text):
        return _act(offered, notes, log, settle)
    if offered and NO.search(text):
        notes.wish = notes.amount = None
        return "All right, I have left everything as it is. Is there anything else?"
    news = _read(text, notes)
    if BYE.search(text) and not news:
        return "You're welcome. Goodbye!"
    if notes.wish is None:
        return SCOPE
    return _find(notes, log) or _offer(notes, log)


def _read(text: str, notes: Notes) -> bool:
    """Note what the user says; tell whether there was anything to note."""
    before = replace(notes)
    if found := ORDER_ID.search(text):
        if found[0] != notes.order_id:
            notes.order = None
        notes.order_id = found[0]
    if found := EMAIL.search(text):
        notes.email = found[0]
    for wish, pattern in WISHES:
        if re.search(pattern, text, re.I):
            notes.wish = wish
            break
    if found := AMOUNT.search(text):
        notes.amount = f"{float(found[1]):.2f}"
    if found := ADDRESS.search(text):
        notes.address = found[1].strip()
    return notes != before


def _find(notes: Notes, log: ToolLog) -> str | None:
    """Find the order; give a question where something is missing, None where it is found."""
    if notes.order is not None:
        return None
    if notes.order_id is None and notes.email is not None:
        known = log.call("list_orders", email=notes.email)
        if len(known) == 1:
            notes.order_id = known[0]["id"]
        elif known:
            listed = ", ".join(f"{order['id']} ({order['item']})" for order in known)
            return f"I see {listed}. Which of them is it about?"
    missing = [
        name
        for name, value in (
            ("the order number (it begins with OR)", notes.order_id),
            ("the e-mail address of the order", notes.email),
        )
        if value is None
    ]
    if missing:
        return f"Could you give me {' and '.join(missing)}?"
    order = log.call("find_order", order_id=notes.order_id)
    if order is None:
        return _missed(f"I can't find an order {notes.order_id}.", notes, log)
    if order["email"].casefold() != str(notes.email).casefold():
        return _missed(f"{notes.order_id} does not belong to that address.", notes, log)
    notes.order = order
    return None


def _missed(what: str, notes: Notes, log: ToolLog) -> str:
    notes.misses += 1
    notes.order_id = None
    if notes.misses > 1:
        return f"{what} {_hand_over('the order could not be matched twice', notes, log)}"
    return f"{what} Could you check the order number?"


def _offer(notes: Notes, log: ToolLog) -> str:
    assert notes.order is not None
    order = notes.order
    named = f"order {order['id']} ({order['item']})"
    if notes.wish == "status":
        if order["status"] == "delivered":
            return f"{named[0].upper()}{named[1:]} was delivered on {order['delivered_on']}."
        on = {"open": "has not been sent yet", "shipped": "has been sent and is on its way"}
        return f"{named[0].upper()}{named[1:]} {on.get(order['status'], order['status'])}."
    if notes.wish == "refund":
        return _offer_refund(order, named, notes)
    if order["status"] != "open":
        been = {"shipped": "has been sent", "delivered": "was delivered"}
        what = "cancel it" if notes.wish == "cancel" else "change its address"
        return (
            f"{named[0].upper()}{named[1:]} {been.get(order['status'], 'is closed')} already, so "
            f"I can't {what} any more. Once it is delivered you can send it back."
        )
    if notes.wish == "cancel":
        notes.offered = "cancel"
        return f"Shall I cancel {named}?"
    if notes.address is None:
        return "Where should it go? Please write: the new address is ..."
    notes.offered = "address"
    return f"{named[0].upper()}{named[1:]} will go to: {notes.address}. Is that right?"


def _offer_refund(order: dict[str, Any], named: str, notes: Notes) -> str:
    if float(order["refunded"]) > 0:
        return (
            f"For {named}, {order['refunded']} GBP were paid back earlier, so I can't ask for "
            "it a second time."
        )
    if order["status"] == "open":
        notes.offered = "cancel"
        return f"{named[0].upper()}{named[1:]} has not been sent yet. Shall I cancel it instead?"
    if order["status"] != "delivered":
        return (
            f"{named[0].upper()}{named[1:]} is {order['status']}; I can act once it is delivered."
        )
    if not order["returnable"]:
        notes.offered = "escalate"
        return (
            f"For {named} the {order['return_days']} days ended on {order['return_until']}, so I "
            "can't offer a refund. Shall I ask a colleague to look at it?"
        )
    if notes.amount is None or float(notes.amount) > float(order["price"]):
        notes.amount = order["price"]
    notes.offered = "refund"
    return f"I can ask for a refund of {notes.amount} GBP for {named}. Shall I go ahead?"


def _act(offered: str, notes: Notes, log: ToolLog, settle: Settle) -> str:
    assert notes.order is not None
    order_id, wish = notes.order["id"], notes.wish
    notes.wish = None
    if offered == "escalate":
        return _hand_over(f"{wish} for {order_id} outside of the rules", notes, log)
    if offered == "refund":
        said = settle(log, notes.order, str(notes.amount))
        notes.handed_over = log.called("escalate")
    elif offered == "cancel":
        done = log.call("cancel_order", order_id=order_id)
        said = f"I have cancelled order {order_id}." if done else f"I could not cancel {order_id}."
    else:
        done = log.call("change_address", order_id=order_id, address=notes.address)
        said = (
            f"I have changed the address of order {order_id} to: {notes.address}."
            if done
            else f"I could not change the address of {order_id}."
        )
    # What is known of the order is out of date now.
    notes.order = None
    return said


def _hand_over(reason: str, notes: Notes, log: ToolLog) -> str:
    log.call("escalate", reason=reason)
    notes.handed_over = True
    return "I have handed this to a colleague, who will answer you here."
