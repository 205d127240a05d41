"""The guessing checks against turns marked by hand: the table of docs/checks.md, recomputed.

May not be used to tune a check. `PYTHONPATH=. python tests/test_checks_guesses.py` prints the
table.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from agenteval_kit.checks.conversation import ASK_PATTERNS, find_asks
from agenteval_kit.checks.grounding import given_before, untraceable_figures
from agenteval_kit.checks.policy import (
    find_claims,
    find_phone_numbers,
    find_promises,
    find_refusals,
)
from agenteval_kit.checks.reading import Reading
from agenteval_kit.records import Transcript, parse_messages

ROOT = Path(__file__).resolve().parent.parent
MARKS = ROOT / "tests" / "golden" / "turn_marks.jsonl"
PAGE = ROOT / "docs" / "checks.md"
RECORDED = {
    "airline": ROOT / "data" / "recorded" / "tau_bench_airline" / "gpt-4o.jsonl",
    "retail": ROOT
    / "data"
    / "recorded"
    / "tau_bench_retail"
    / "tool_calling_with_preconditions.jsonl",
}
KINDS: dict[str, tuple[str, Callable[[str], list[Any]] | None]] = {
    "promise": ("promises", find_promises),
    "claim": ("claims (`find_claims`)", find_claims),
    "refusal": ("refusals", find_refusals),
    "phone": ("phone numbers", find_phone_numbers),
    "figure": ("untraceable figures", None),
    "ask_user_id": ("asks for the user's id", lambda t: find_asks(t, ASK_PATTERNS["user_id"])),
    "ask_confirmation": (
        "asks for consent",
        lambda t: find_asks(t, ASK_PATTERNS["confirmation"]),
    ),
}


def rows(path: Path) -> Iterator[dict[str, Any]]:
    # Not splitlines: it also breaks at U+2028, which may stand inside a JSON string.
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.strip():
            yield json.loads(line)


@lru_cache(maxsize=1)
def conversations() -> dict[tuple[str, int, int], Reading]:
    """Every recorded conversation; the system message is left out, as it was for the marks."""
    return {
        (source, row["task_id"], row["trial"]): Reading(
            Transcript(case_id="c", turns=parse_messages(row["traj"]).turns)
        )
        for source, path in RECORDED.items()
        for row in rows(path)
    }


def flagged(mark: dict[str, Any]) -> bool:
    """Whether the check finds something in the marked turn."""
    reading = conversations()[mark["source"], mark["task_id"], mark["trial"]]
    text = reading.transcript.turns[mark["turn"]].text
    find = KINDS[mark["kind"]][1]
    if find is None:
        return bool(untraceable_figures(text, given_before(reading, mark["turn"])))
    return bool(find(text))


@lru_cache(maxsize=1)
def counts() -> Counter[tuple[str, str, str]]:
    """(kind, set, what) -> how many marks."""
    found: Counter[tuple[str, str, str]] = Counter()
    for mark in rows(MARKS):
        seen = flagged(mark)
        place = (mark["kind"], mark["how"])
        found[*place, "marked" if mark["mark"] else "not marked"] += 1
        if seen != mark["mark"]:
            what = "missed" if mark["mark"] else "alarms"
            found[*place, what] += 1
            if "borderline" in mark["note"]:
                found[*place, f"{what} borderline"] += 1
    return found


def table() -> str:
    """The table as it stands on the page."""
    lines = [
        "| guess | turns | marked | missed | not marked | false alarms |",
        "|---|---|---|---|---|---|",
    ]
    for kind, (name, _) in KINDS.items():
        for how in ("uniform", "enriched"):
            number = {
                what: counts()[kind, how, what]
                for what in ("marked", "missed", "not marked", "alarms")
            }
            shown = {
                what: f"{number[what]} ({extra} borderline)"
                if (extra := counts()[kind, how, f"{what} borderline"])
                else str(number[what])
                for what in ("missed", "alarms")
            }
            lines.append(
                f"| {name} | {how} | {number['marked']} | {shown['missed']} "
                f"| {number['not marked']} | {shown['alarms']} |"
            )
    return "\n".join(lines)


def test_the_table_on_the_page_is_what_the_checks_do_today() -> None:
    page = PAGE.read_text(encoding="utf-8")

    on_page = page.partition("<!-- guesses:")[2].partition("-->\n")[2].partition("<!-- end")[0]

    assert on_page.strip() == table()


@pytest.mark.parametrize("kind", KINDS)
def test_each_guess_meets_fifty_turns_of_either_set(kind: str) -> None:
    for how in ("uniform", "enriched"):
        assert counts()[kind, how, "marked"] + counts()[kind, how, "not marked"] == 50


if __name__ == "__main__":
    print(table())
