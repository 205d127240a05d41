"""JUnit XML: what the checks found a case each, or a decision a clause each and its verdict.

May not show green what was not seen to hold.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from agenteval_kit.errors import ConfigError
from agenteval_kit.files import canonical_json, write_atomic
from agenteval_kit.visible import printable

if TYPE_CHECKING:
    from agenteval_kit.gate import ClauseRow, Decision
    from agenteval_kit.runs import RunInfo
    from agenteval_kit.summary import Summary, TranscriptScore

__all__ = ["write_check_junit", "write_gate_junit"]

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_OF_STATUS = {
    "failed": "failure", "unscored": "error", "missing": "error", "judge only": "skipped",
}  # fmt: skip
_OF_EFFECT = {"HOLD": "failure", "REVIEW": "error"}


def write_check_junit(path: Path, info: RunInfo, summary: Summary) -> None:
    """Write JUnit XML: one testcase a case and repeat; unscored is an error, not a pass.

    Raises
    ------
    ConfigError
        If the path is a folder.
    """
    cases = [scored for case in summary.cases for scored in case.transcripts]
    suite = _suite(
        f"{info.suite} {info.suite_version} ({info.agent.model}, {info.agent.prompt})",
        [_OF_STATUS.get(item.status, "") for item in cases],
        info.stamps(),
    )
    for item in cases:
        name = f"{item.case_id} #{item.repeat}" if summary.repeats > 1 else item.case_id
        _add(suite, info.suite, name, _OF_STATUS.get(item.status, ""), *_of_case(item))
    _write(path, suite)


def write_gate_junit(path: Path, decision: Decision) -> None:
    """Write JUnit XML: what holds a release is a failure, what has to be looked at an error.

    A clause that cannot be told and is reported only is skipped. The last testcase is the verdict:
    the file is green where the gate says SHIP and nowhere else.

    Raises
    ------
    ConfigError
        If the path is a folder.
    """
    outcomes = [
        "" if row.status == "pass" else _OF_EFFECT.get(row.effect, "skipped")
        for row in decision.rows
    ]
    verdict = _OF_EFFECT.get(decision.verdict, "")
    stamps = {**decision.stamps, "bar": decision.bar.name, "bar_digest": decision.bar_digest}
    if decision.baseline_id is not None:
        stamps["baseline"] = decision.baseline_id
    agent, where = stamps["agent"], f"{stamps['suite']}.gate"
    name = f"gate {stamps['suite']} {stamps['suite_version']}"
    suite = _suite(f"{name} ({agent['model']}, {agent['prompt']})", [*outcomes, verdict], stamps)
    for row, outcome in zip(decision.rows, outcomes, strict=True):
        _add(suite, where, row.name, outcome, row.reason, _of_clause(row, decision))
    _add(suite, where, "verdict", verdict, decision.sentence, decision.sentence)
    _write(path, suite)


def _suite(name: str, outcomes: Sequence[str], stamps: Mapping[str, Any]) -> ElementTree.Element:
    suite = ElementTree.Element(
        "testsuite",
        name=_xml(name),
        tests=str(len(outcomes)),
        failures=str(outcomes.count("failure")),
        errors=str(outcomes.count("error")),
        skipped=str(outcomes.count("skipped")),
    )
    properties = ElementTree.SubElement(suite, "properties")
    for key, value in stamps.items():
        text = value if isinstance(value, str) else canonical_json(value)
        ElementTree.SubElement(properties, "property", name=key, value=_xml(text))
    return suite


def _add(
    suite: ElementTree.Element, where: str, name: str, outcome: str, message: str, body: str
) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=_xml(where), name=_xml(name))
    if outcome:
        found = ElementTree.SubElement(case, outcome, message=_xml(message))
        if body:
            found.text = _xml(body)
    elif body:
        ElementTree.SubElement(case, "system-out").text = _xml(body)


def _of_case(item: TranscriptScore) -> tuple[str, str]:
    """What failed in a transcript, in a line and at length."""
    if item.status == "judge only":
        return "judge only: no check by code", ""
    if item.status != "failed":
        return item.why or item.status, ""
    return "; ".join(f"{row.name}: {row.why}" for row in item.failing), "\n".join(
        f"{row.layer} {row.name} turn={row.turn}\nexpected: {row.expected}\n"
        f"received: {row.received}"
        for row in item.failing
    )


def _of_clause(row: ClauseRow, decision: Decision) -> str:
    """A clause with its numbers; under a hard one the checks that failed."""
    lines = [f"{row.status}: {row.reason}"]
    if row.bar:
        lines.append(f"wanted: {row.bar}")
    if row.estimate is not None:
        one = row.estimate
        lines.append(f"measured: {one.text()}, level {one.level:g}, n = {one.n:,}, {one.method}")
        if one.diag:
            lines.append(f"doubts: {one.diag}")
    if row.trust:
        lines.append(f"judge: {row.trust}")
    if row.ids:
        lines.append(f"cases: {', '.join(row.ids)}")
    for fail in decision.hard_fails:
        mine = row.clause == "critical" or (row.clause == "hard_layers" and row.layer == fail.layer)
        if mine and fail.case_id in row.ids:
            turn = "" if fail.turn is None else f", turn {fail.turn}"
            lines.append(f"{fail.case_id} #{fail.repeat}{turn}: {fail.name}: {fail.why}")
            lines.append(f"  expected: {fail.expected}")
            lines.append(f"  received: {fail.received}")
    return "\n".join(lines)


def _write(path: Path, suite: ElementTree.Element) -> None:
    if path.is_dir():
        raise ConfigError(f"--junit {path}: is a folder; name a file")
    root = ElementTree.Element("testsuites")
    root.append(suite)
    text = ElementTree.tostring(root, encoding="unicode")
    write_atomic(path, f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n')


def _xml(text: str) -> str:
    # XML 1.0 has no way to write control characters, lone surrogates or U+FFFE.
    return _NOT_XML.sub("\ufffd", printable(text))
