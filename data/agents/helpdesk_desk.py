"""The HR desk of an invented company: five tools over a small database and a handbook.

May not refuse anything: the tools give what they are asked for, as real back ends do; whom the
agent serves is the agent's business.
"""

from __future__ import annotations

import sqlite3
import weakref
from datetime import datetime
from pathlib import Path
from typing import Any

from handbook_search import load_sections, search_sections

from agenteval_kit.agents import Tool

SEED = Path(__file__).with_name("helpdesk_seed.sql")


class HelpdeskDesk:
    """The desk as it stands before a case, rebuilt by `reset`."""

    def __init__(self) -> None:
        self._sections = load_sections()
        self._said: list[dict[str, Any]] = []
        self._open(asker="E-105", now=None)
        whose = {"type": "string", "description": "Leave out for the person who is asking."}
        self.tools = [
            Tool(
                "leave_balance",
                "Annual leave of this calendar year: entitled, carried over, taken, booked, left.",
                _object({"employee_id": whose}),
                self.leave_balance,
            ),
            Tool(
                "get_payslip",
                "One payslip, with its lines. Without a month, the latest.",
                _object(
                    {
                        "month": {"type": "string", "pattern": r"^\d{4}-\d{2}$"},
                        "employee_id": whose,
                    }
                ),
                self.get_payslip,
            ),
            Tool(
                "list_holidays",
                "Public holidays of a site (Leeds or Bergen; without one, the asker's) in a year.",
                _object({"site": {"type": "string"}, "year": {"type": "integer"}}),
                self.list_holidays,
            ),
            Tool(
                "search_policy",
                "The sections of the staff handbook that fit a question best.",
                _object({"query": {"type": "string", "minLength": 1}}, required=["query"]),
                self.search_policy,
            ),
            Tool(
                "raise_ticket",
                "Open a ticket for the people in HR. It is about the asker unless told otherwise.",
                _object(
                    {
                        "subject": {"type": "string", "minLength": 1},
                        "body": {"type": "string", "minLength": 1},
                        "about_employee": {"type": "string"},
                    },
                    required=["subject", "body"],
                ),
                self.raise_ticket,
            ),
        ]

    def reset(self, case: Any, now: datetime) -> None:
        """Rebuild the database; the case's `state` says who is asking."""
        state = case.state or {}
        self._open(asker=state.get("employee_id", "E-105"), now=now)

    def state(self) -> dict[str, Any]:
        """Give who asked, and the tickets that now exist."""
        rows = self._all("select * from tickets order by number")
        return {"asker": self.asker, "tickets": rows}

    def events(self) -> list[dict[str, Any]]:
        """Give what changed, in order."""
        return list(self._said)

    def leave_balance(self, employee_id: str | None = None) -> dict[str, Any]:
        """Give the leave account of a person for the clock's year."""
        person = self._person(employee_id)
        year, today = self._today[:4], self._today
        rows = self._all("select * from leave where employee_id = ?", person["id"])
        mine = [row for row in rows if row["first_day"].startswith(year)]
        taken = sum(row["days"] for row in mine if row["first_day"] < today)
        booked = sum(row["days"] for row in mine if row["first_day"] >= today)
        entitled, carried = person["leave_days"], person["carried_over"]
        return {
            "employee_id": person["id"],
            "year": int(year),
            "entitled": entitled,
            "carried_over": carried,
            "taken": taken,
            "booked": booked,
            "left": entitled + carried - taken - booked,
        }

    def get_payslip(
        self, month: str | None = None, employee_id: str | None = None
    ) -> dict[str, Any]:
        """Give one payslip, amounts in GBP."""
        person = self._person(employee_id)
        rows = self._all(
            "select * from payslips where employee_id = ? order by month desc", person["id"]
        )
        for row in rows:
            if month in (None, row["month"]):
                net = row["gross"] - row["tax"] - row["pension"]
                lines = {"gross": row["gross"], "overtime": row["overtime"], "tax": row["tax"]}
                lines |= {"pension": row["pension"], "net": net}
                shown = {name: f"{pence / 100:,.2f}" for name, pence in lines.items()}
                return {"employee_id": person["id"], "month": row["month"], **shown}
        raise LookupError(f"there is no payslip for {month}")

    def list_holidays(self, site: str | None = None, year: int | None = None) -> dict[str, Any]:
        """Give the public holidays of a site in a year."""
        place = site or self._person(None)["site"]
        wanted = year or int(self._today[:4])
        rows = self._all(
            "select day, name from holidays where site = ? and day like ? order by day",
            place,
            f"{wanted}-%",
        )
        return {"site": place, "year": wanted, "holidays": rows}

    def search_policy(self, query: str) -> list[dict[str, Any]]:
        """Give up to three sections; `covers` is the share of the question that each covers."""
        found = search_sections(self._sections, query)
        return [
            {"id": section.id, "title": section.title, "text": section.text, "covers": share}
            for share, section in found
        ]

    def raise_ticket(
        self, subject: str, body: str, about_employee: str | None = None
    ) -> dict[str, Any]:
        """Open a ticket."""
        about = self._person(about_employee)["id"]
        self._database.execute(
            "insert into tickets (raised_by, about, subject, body) values (?, ?, ?, ?)",
            (self.asker, about, subject, body),
        )
        number = self._all("select max(number) as number from tickets")[0]["number"]
        self._said.append({"name": "ticket_raised", "data": {"ticket": f"HR-{number}"}})
        return {"ticket": f"HR-{number}", "status": "open"}

    def _open(self, *, asker: str, now: datetime | None) -> None:
        # A conversation may be run in a worker thread and looked at from another one.
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        # Closed with the desk: newer Pythons warn of a database that is left open.
        weakref.finalize(self, self._database.close)
        self._database.row_factory = sqlite3.Row
        self._database.executescript(SEED.read_text(encoding="utf-8"))
        self._today = now.date().isoformat() if now else "2026-06-15"
        self._said = []
        self.asker = asker
        self._person(asker)

    def _person(self, wanted: str | None) -> dict[str, Any]:
        key = wanted or self.asker
        rows = self._all("select * from employees where id = ? or name = ?", key, key)
        if not rows:
            raise LookupError(f"there is no employee {key}")
        return rows[0]

    def _all(self, query: str, *values: Any) -> list[dict[str, Any]]:
        return [dict(row) for row in self._database.execute(query, values)]


def _object(properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required or [],
        "additionalProperties": False,
    }
