"""Splits a question to the HR desk into its parts and answers each from one tool.

May not answer for anybody but the asker: whom a question is about is told apart first.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any

from tool_log import ToolLog

MONTHS = (
    "January February March April May June July August September October November December"
).split()
MONTH = re.compile(rf"\b({'|'.join(MONTHS)})\b")

# A question that the handbook covers less than this is one that it does not answer.
KNOWN = 0.45

PRIVATE = (
    r"earns?|salary|salaries|payslips?|paid|pay|leave|days off|sick|ill|pregnan\w+|warnings?"
    r"|appraisals?|address|birthday"
)
# Two capitalised words, unless the first opens the sentence or the second is a day.
NAME = (
    r"(?!(?:Is|Are|Was|Does|Do|Did|Has|Have|Can|Could|May|What|When|How|Why|If|In|Show|Tell|The)\b)"
    r"[A-Z][a-zà-ÿ]+ (?!(?:Day|Eve|Week|\w+day)\b)[A-Z][a-zà-ÿ]+"
)
ANOTHER = re.compile(rf"\b({NAME})\b(?=.*\b(?:{PRIVATE})\b)|\b(?:{PRIVATE})\b.*\b({NAME})\b", re.S)
MANY = re.compile(
    r"\b(?:salar(?:y|ies)|payslips?|leave|pay) of (?:all|every\w*|my|the)\b"
    r"|\b(?:everyone|everybody|colleague|boss|manager|team)['’]?s (?:salar|pay|leave)",
    re.I,
)

MEDICAL = re.compile(r"\bdose\b|\bchest pain\b|\bwhich (?:medicine|tablets)\b|\bdiagnos\w+", re.I)
LEGAL = re.compile(r"\bsue\b|\bin court\b|\btribunal\b|\blegal advice\b", re.I)

TICKET = re.compile(r"\b(?:open|raise|create|file)\b.{0,20}\bticket\b", re.I)
PAYSLIP = re.compile(
    r"\b(?:net|gross) pay\b|\b(?:show|see|latest|last|on)\b.{0,20}\bpayslip\b|\bpayslip for\b", re.I
)
BALANCE = re.compile(
    r"\bleave balance\b|\b(?:leave|days off)\b.*\b(?:left|remaining)\b|\bleave have I\b", re.I
)
HOLIDAYS = re.compile(r"\b(?:public|bank) holidays?\b", re.I)
NEXT = re.compile(r"\bnext\b", re.I)
DAY = re.compile(rf"\b(\d{{1,2}}) ({'|'.join(MONTHS)})\b")

DONT_KNOW = (
    "I don't know: the handbook says nothing about that. If you like, I can open a ticket for HR."
)


def person_asked_about(question: str) -> str | None:
    """Find the other person whose private matters are asked for; "others" if it is several."""
    if found := ANOTHER.search(question):
        return found[1] or found[2]
    return "others" if MANY.search(question) else None


def advice_to_decline(question: str) -> str | None:
    """Give the answer to a question that belongs to a doctor or a lawyer, if it is one."""
    if MEDICAL.search(question):
        return (
            "I can't give medical advice. Please see a doctor, and call the emergency number if it "
            "is acute. Sick leave can wait until you are safe."
        )
    if LEGAL.search(question):
        return (
            "I can't give legal advice. A lawyer or your union can tell you where you stand; I can "
            "look up what the handbook says if you ask me for that."
        )
    return None


def answer_own(question: str, log: ToolLog, *, now: datetime) -> str:
    """Answer every part of a question about the asker's own matters or the handbook."""
    answers = [_answer_part(part, question, log, now=now) for part in split_parts(question)]
    return " ".join(answers)


def split_parts(question: str) -> list[str]:
    """Split a question into parts that want one tool each.

    A statement without a wish of its own ("My mother died.") belongs to the question after it.
    """
    parts: list[str] = []
    held = ""
    for sentence in re.split(r"(?<=[.?!])\s+", question.strip()):
        for piece in re.split(
            r",? and (?=(?:how|what|when|which|may|can|do|does|is|please)\b)", sentence, flags=re.I
        ):
            whole = f"{held} {piece}".strip()
            if _wants_something(piece):
                parts.append(whole)
                held = ""
            else:
                held = whole
    return parts or [question]


def _wants_something(piece: str) -> bool:
    opening = (
        r"^(?:how|what|when|where|which|who|why|may|can|do|does|is|are|from when|by when|for)\b"
    )
    asked = piece.rstrip().endswith("?") or re.match(opening, piece, re.I)
    return bool(asked or TICKET.search(piece) or PAYSLIP.search(piece))


def _answer_part(part: str, question: str, log: ToolLog, *, now: datetime) -> str:
    if TICKET.search(part):
        return _open_ticket(part, question, log)
    if PAYSLIP.search(part):
        return _tell_payslips(part, log, now=now)
    if BALANCE.search(part):
        return _tell_balance(log)
    if HOLIDAYS.search(part):
        return _tell_holidays(part, log, now=now)
    return _tell_policy(part, log)


def _open_ticket(part: str, question: str, log: ToolLog) -> str:
    _, _, after = part.partition(":")
    subject = (after or part).strip().rstrip(".?")
    ticket = log.call("raise_ticket", subject=subject[:80], body=question)
    return f"I've opened ticket {ticket['ticket']} with HR."


def _tell_payslips(part: str, log: ToolLog, *, now: datetime) -> str:
    months: list[str | None] = [_month_before(name, now=now) for name in MONTH.findall(part)]
    slips: list[dict[str, str]] = []
    missing: list[str] = []
    for month in months or [None]:
        slip = log.call("get_payslip", **({"month": month} if month else {}))
        if slip is None:
            missing.append(_month_name(str(month)))
        else:
            slips.append(slip)
    said = [
        f"Your payslip for {_month_name(slip['month'])}: gross {slip['gross']}, of which overtime "
        f"{slip['overtime']}, tax {slip['tax']}, pension {slip['pension']}, net {slip['net']} GBP."
        for slip in slips
    ]
    if len(slips) == 2 and slips[0]["overtime"] != slips[1]["overtime"]:
        said.append("They differ because of the overtime, which counts for tax and pension too.")
    said += [
        f"I don't know your pay for {month}: there is no payslip for it yet." for month in missing
    ]
    return " ".join(said)


def _tell_balance(log: ToolLog) -> str:
    account = log.call("leave_balance")
    return (
        f"You have {account['left']} days of annual leave left in {account['year']}: "
        f"{account['entitled']} of the year and {account['carried_over']} carried over, less "
        f"{account['taken']} taken and {account['booked']} booked."
    )


def _tell_holidays(part: str, log: ToolLog, *, now: datetime) -> str:
    wanted = re.search(r"\b(20\d\d)\b", part)
    site = re.search(r"\b(Leeds|Bergen)\b", part)
    asked: dict[str, Any] = {"year": int(wanted[1])} if wanted else {}
    if site:
        asked["site"] = site[1]
    found = log.call("list_holidays", **asked)
    place, days = found["site"], found["holidays"]
    if not days:
        year = found["year"]
        return f"I don't know the public holidays of {year}: there is no list for {place} yet."
    if named := DAY.search(part):
        day = date(found["year"], MONTHS.index(named[2]) + 1, int(named[1])).isoformat()
        names = [row["name"] for row in days if row["day"] == day]
        if names:
            return f"Yes, {named[0]} is a public holiday in {place}: {names[0]}."
        return f"No, {named[0]} is no public holiday in {place}."
    ahead = [row for row in days if row["day"] >= now.date().isoformat()]
    if NEXT.search(part) and ahead:
        first = ahead[0]
        return f"The next public holiday in {place} is {_day_name(first['day'])}, {first['name']}."
    shown = "; ".join(f"{_day_name(row['day'])}, {row['name']}" for row in ahead or days)
    return f"Public holidays in {place}: {shown}."


def _tell_policy(part: str, log: ToolLog) -> str:
    found = log.call("search_policy", query=part)
    if not found or found[0]["covers"] < KNOWN:
        return DONT_KNOW
    best = found[0]
    return f"{best['text']} (Section {best['id']}, {best['title']})"


def _month_before(name: str, *, now: datetime) -> str:
    # "In May" is the last May that has begun.
    number = MONTHS.index(name) + 1
    year = now.year if number <= now.month else now.year - 1
    return f"{year}-{number:02d}"


def _month_name(month: str) -> str:
    year, number = month.split("-")
    return f"{MONTHS[int(number) - 1]} {year}"


def _day_name(day: str) -> str:
    found = date.fromisoformat(day)
    return f"{found.day} {MONTHS[found.month - 1]} {found.year}"
