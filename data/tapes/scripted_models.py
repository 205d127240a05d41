"""The judges scripted-judge-a, -b and -c and the user scripted-user: written by hand, served like
models. SCRIPTED: no model is asked.

They show what judging and simulating look like, not how good an agent is. Serve them with
``python -m agenteval_kit.testing.server --script data/tapes/scripted_models.py --port 8123``.

A line of ``*_verdicts.yaml`` is what is said of a case on one dimension: ``score`` with ``turns``,
``quotes`` or ``claim``; for a comparison ``prefers`` (old, new, tie, or first: whichever stands
first). ``when`` picks the first line of a list whose words stand in the record, ``but`` holds what
one judge says otherwise, ``first`` what is said before the judge is asked once more, ``form`` how
the reply is wrapped, ``refuse`` what is said in place of a verdict.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from agenteval_kit.files import read_yaml
from agenteval_kit.shown import quoted
from agenteval_kit.suite import load_suite
from agenteval_kit.testing import Answer, Asked, fail, say

DATA = Path(__file__).resolve().parent.parent
SUITES = ("support", "helpdesk")
SEED = 20260302

# How the old version's answer is known to the judges of a comparison.
OLD_SAYS = "not even whether there is something to share"
ASKED_AGAIN = "An earlier reply to this was set aside"
OPENINGS = ("", "", "As the record stands: ", "By the anchors: ", "Read turn by turn: ")


def answer(asked: Asked) -> Answer:
    """What the judge or the user that is asked says."""
    if asked.body["model"] == "scripted-user":
        return user_line(asked)
    return judge_line(asked)


def user_line(asked: Asked) -> Answer:
    """The next line of a user: as many as it has said before, the opening left out."""
    said = [json.loads(line) for line in asked.text.splitlines()]
    own = [one["text"] for one in said if one["who"] == "you"]
    lines = user_lines().get(own[0], [])
    if len(own) > len(lines):
        return fail(400, "no line was written for this user here")
    line = lines[len(own) - 1]
    done = "done" in line
    made = {"say": line["say"], "done": done, "reason": line.get("done", "going_on")}
    return say(json.dumps(made), model="scripted-user", tokens=None)


@cache
def user_lines() -> dict[str, list[Mapping[str, Any]]]:
    """By opening: the lines of the user who begins with it."""
    written = read_yaml(DATA / "tapes" / "user_lines.yaml").value
    played = load_suite(DATA / "suites" / "support_played.yaml")
    return {item.opening: written[item.id] for item in played.items}


def judge_line(asked: Asked) -> Answer:
    """What the judge that is asked says."""
    instructions, record = (message["content"] for message in asked.body["messages"])
    judge = asked.body["model"]
    case, line = find_line(instructions, record)
    if line is None:
        return fail(400, f"no verdict was written for this question to {judge}")
    line = {**line, **line.get("but", {}).get(judge, {})}
    if "first" in line and ASKED_AGAIN not in record:
        line |= line["first"]
    if "refuse" in line:
        return say({"content": None, "refusal": line["refuse"]}, model=judge, tokens=None)
    made = preference(line, record) if "prefers" in line else verdict(line, f"{judge} {case}")
    return say(wrapped(made, line.get("form")), model=judge, tokens=None)


def find_line(instructions: str, record: str) -> tuple[str, Mapping[str, Any] | None]:
    """The case that is shown, and what was written of it on the dimension that is asked for."""
    named = next(
        line.partition(": ")[2]
        for line in instructions.splitlines()
        if line.startswith(("Dimension: ", "Criterion: "))
    )
    shown = set(record.splitlines())
    for case, (opening, written) in book().items():
        if opening not in shown:
            continue
        lines = written.get(named)
        for line in lines if isinstance(lines, list) else [lines]:
            if line is not None and line.get("when", "") in record:
                return case, line
    return "", None


@cache
def book() -> dict[str, tuple[str, Mapping[str, Any]]]:
    """By case: the line by which a record of it is known, and what was written of it."""
    found = {}
    for suite in SUITES:
        written = read_yaml(DATA / "tapes" / f"{suite}_verdicts.yaml").value
        for item in load_suite(DATA / "suites" / f"{suite}.yaml").items:
            said = item.opening if hasattr(item, "opening") else item.input
            found[item.id] = (quoted(said)[0], written.get("any", {}) | written[item.id])
    return found


def verdict(line: Mapping[str, Any], who: str) -> dict[str, Any]:
    """A verdict in the fields that its dimension asks for."""
    because = random.Random(f"{SEED} {who}").choice(OPENINGS) + line["because"]
    if "claim" in line:
        return {"offending_claim": line["claim"], "reason": because, "score": line["score"]}
    evidence: list[dict[str, Any]] = [{"turn": turn} for turn in line.get("turns", ())]
    evidence += [{"turn": turn, "quote": quote} for turn, quote in line.get("quotes", ())]
    return {"evidence": evidence, "justification": because, "score": line["score"]}


def preference(line: Mapping[str, Any], record: str) -> dict[str, str]:
    """A preference in the letters of the order in which the candidates are shown."""
    first = record.partition("<candidate_a>")[2].partition("</candidate_a>")[0]
    old, new = ("A", "B") if OLD_SAYS in first else ("B", "A")
    letter = {"old": old, "new": new, "tie": "TIE", "first": "A"}[line["prefers"]]
    return {"because": line["because"], "preferred": letter}


def wrapped(made: Mapping[str, Any], form: str | None) -> str:
    """The reply's text: the object, a list of it, or the object in a fence with chatter."""
    text = json.dumps(made)
    if form == "list":
        return f"[{text}]"
    if form == "fence":
        return f"Here is my verdict.\n```json\n{text}\n```\nLet me know if you need more."
    return text
