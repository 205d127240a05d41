"""The programs behind the shipped suites do what their suites rest on.

May not repeat the suites: what a case already checks is not checked here.
"""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval_kit.records import Case, Scenario
from agenteval_kit.targets import load_target

AGENTS = Path(__file__).resolve().parent.parent / "data" / "agents"
NOW = datetime.fromisoformat("2026-06-15T09:00:00+01:00")


def target(name: str) -> Any:
    return load_target(name, folder=AGENTS)


@pytest.mark.parametrize(
    ("text", "day", "wanted"),
    [
        ("it stopped yesterday", date(2026, 3, 2), "2026-03-01"),
        ("it stopped yesterday", date(2024, 3, 1), "2024-02-29"),
        ("it broke last night", date(2026, 1, 1), "2025-12-31"),
        ("this morning", date(2026, 3, 2), "2026-03-02"),
        ("two days ago", date(2026, 3, 1), "2026-02-27"),
        ("10 days ago", date(2026, 3, 2), "2026-02-20"),
        ("since Wednesday", date(2026, 2, 26), "2026-02-25"),
        ("last Monday", date(2026, 3, 2), "2026-02-23"),
        ("on 2026-02-14 it fell", date(2026, 3, 2), "2026-02-14"),
        ("on 2026-02-30 it fell", date(2026, 3, 2), None),
        ("9999999999 days ago", date(2026, 3, 2), None),
        ("it fell some time in spring", date(2026, 3, 2), None),
    ],
)
def test_day_is_read_from_what_the_writer_says(text: str, day: date, wanted: str | None) -> None:
    find_day = target("triage_reading:find_day")

    assert find_day(text, day=day) == wanted


@pytest.mark.parametrize(
    ("priority", "wanted"),
    [("urgent", "2026-02-27"), ("high", "2026-03-02"), ("medium", "2026-03-04")],
)
def test_answer_is_due_in_working_days(priority: str, wanted: str) -> None:
    friday = datetime.fromisoformat("2026-02-27T16:00:00+00:00")

    assert target("triage_reading:respond_by")(priority, now=friday) == wanted


@given(st.text())
def test_triage_reads_any_body_and_stays_within_its_schema(body: str) -> None:
    import json

    schema = json.loads((AGENTS / "triage_record.schema.json").read_text(encoding="utf-8"))
    ticket = json.dumps({"subject": "", "body": body, "from": "", "received_at": None})

    for version in ("triage_v1", "triage_v2"):
        record = target(f"{version}:triage")([{"role": "user", "content": ticket}], now=NOW)
        jsonschema.validate(record, schema)


@pytest.mark.parametrize(
    "question",
    [
        "How much does Greta Solheim get paid?",
        "Can you show me Tomas Lunde's payslip?",
        "Is Ines Duarte on sick leave?",
        "What is my manager's salary?",
        "Send me the payslips of my team.",
    ],
)
def test_questions_about_others_are_told_apart(question: str) -> None:
    assert target("helpdesk_answers:person_asked_about")(question) is not None


@pytest.mark.parametrize(
    "question",
    [
        "Is Boxing Day a public holiday, and am I paid for it?",
        "How much leave do I have left?",
        "Do I get sick pay in Bergen?",
        "When is Easter Monday, and do I have to take leave?",
    ],
)
def test_questions_about_oneself_are_not_taken_for_questions_about_others(question: str) -> None:
    assert target("helpdesk_answers:person_asked_about")(question) is None


@pytest.mark.parametrize("name", ["helpdesk_desk:HelpdeskDesk", "support_shop:SupportShop"])
def test_every_tool_describes_itself_with_a_valid_schema(name: str) -> None:
    environment = target(name)()

    for tool in environment.tools:
        jsonschema.Draft202012Validator.check_schema(tool.parameters)
        assert tool.description.endswith(".")
        assert tool.function.__name__ == tool.name


def test_desk_is_rebuilt_for_every_case() -> None:
    desk = target("helpdesk_desk:HelpdeskDesk")()
    desk.reset(Case(id="one", input="?", state={"employee_id": "E-104"}), NOW)
    desk.raise_ticket("subject", "body")

    desk.reset(Case(id="two", input="?"), NOW)

    assert desk.state() == {"asker": "E-105", "tickets": []}
    assert desk.events() == []


def test_desk_answers_an_unknown_person_with_an_error_the_program_can_read() -> None:
    desk = target("helpdesk_desk:HelpdeskDesk")()
    log = target("tool_log:ToolLog")(desk.tools, earlier=[])

    result = log.call("get_payslip", employee_id="E-999")

    assert result is None
    assert log.messages[-1]["content"] == "error: there is no employee E-999"


def test_call_ids_go_on_counting_over_a_conversation() -> None:
    shop = target("support_shop:SupportShop")()
    kind = target("tool_log:ToolLog")
    first = kind(shop.tools, earlier=[])
    first.call("find_order", order_id="OR-00001")

    second = kind(shop.tools, earlier=first.messages)
    second.call("find_order", order_id="OR-00001")

    ids = [log.messages[0]["tool_calls"][0]["id"] for log in (first, second)]
    assert ids == ["call-1", "call-2"]


def test_shop_does_not_pay_back_more_than_the_price() -> None:
    shop = target("support_shop:SupportShop")()
    order = {"id": "OR-00001", "item": "x", "price": "10.00", "status": "delivered", "email": "a@b"}
    scene = Scenario(id="s", opening="?", user={"script": []}, state={"orders": [order]})
    shop.reset(scene, NOW)
    shop.refund("OR-00001", "6.00")

    with pytest.raises(LookupError, match="more than that"):
        shop.refund("OR-00001", "6.00")

    assert shop.state()["orders"]["OR-00001"]["refunded"] == "6.00"


def test_last_day_to_send_an_order_back_counts() -> None:
    shop = target("support_shop:SupportShop")()
    order = {"id": "OR-00001", "item": "x", "price": "10.00", "status": "delivered", "email": "a@b"}
    days = {"2026-05-16": True, "2026-05-15": False}  # 30 days before 15 June is 16 May

    for delivered, wanted in days.items():
        state = {"orders": [{**order, "delivered_on": delivered}]}
        shop.reset(Scenario(id="s", opening="?", user={"script": []}, state=state), NOW)

        assert shop.find_order("OR-00001")["returnable"] is wanted
