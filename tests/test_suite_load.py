"""Loading a suite: broken configurations are refused with file, line and the nearest right name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agenteval_kit.cli import main
from agenteval_kit.errors import ConfigError
from agenteval_kit.files import digest
from agenteval_kit.suite import load_suite
from agenteval_kit.suite.digests import NOT_CONTENT
from agenteval_kit.suite.reading import parse_clock

AGENT = "def answer(messages, *, now, case):\n    return 'Leave is 30 days.'\n"
SUITE = """\
name: small
version: "1"
cases: cases.jsonl
agent: {call: "small_agent:answer", model: rules, prompt: v1}
clock: "2026-03-02T09:00:00+00:00"
tools: [search_policy, get_payslip]
"""
CASES = [
    {"id": "carry", "question": "How much leave?", "must_include": ["30"]},
    {"id": "other", "question": "And hers?", "forbidden_tools": ["get_payslip"]},
]


def write(folder: Path, *, suite: str = SUITE, cases: list[dict] | str | None = None) -> Path:
    rows = CASES if cases is None else cases
    text = rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "cases.jsonl").write_text(text, encoding="utf-8")
    (folder / "small_agent.py").write_text(AGENT, encoding="utf-8")
    (folder / "suite.yaml").write_text(suite, encoding="utf-8")
    return folder / "suite.yaml"


def with_row(row: dict) -> list[dict]:
    return [*CASES, row]


BROKEN: dict[str, tuple[Callable[[Path], Path], list[str], list[str]]] = {
    "unknown key": (
        lambda at: write(at, cases=with_row({"id": "x", "question": "?", "must_includ": ["a"]})),
        [],
        ['cases.jsonl:3: unknown key "must_includ" in case "x". Did you mean "must_include"?'],
    ),
    "duplicate id": (
        lambda at: write(at, cases=with_row(CASES[0])),
        [],
        ['cases.jsonl:3: id "carry" stands twice, first on line 1; rename one'],
    ),
    "ids differing in case": (
        lambda at: write(at, cases=with_row({**CASES[0], "id": "Carry"})),
        [],
        ['cases.jsonl:3: id "Carry" differs only in case from "carry" on line 1; rename one'],
    ),
    **{
        f"ids that look alike: {shown}": (
            lambda at, twin=twin: write(at, cases=with_row({**CASES[0], "id": twin})),  # type: ignore[misc]
            [],
            [f'cases.jsonl:3: id "{shown}" differs only in what nobody sees from "carry"'],
        )
        for twin, shown in {
            "car\u200bry": r"car\u200bry",
            "carry\u200d": "carry\u200d",  # a terminal is given joiners: some scripts need them
            "\u202acarry": r"\u202acarry",
        }.items()
    },
    "empty alternative": (
        lambda at: write(at, cases=with_row({"id": "x", "question": "?", "must_include": ["a|"]})),
        [],
        ['cases.jsonl:3: "checks.must_include.0" in case "x": "a|" has an empty alternative'],
    ),
    "missing file": (
        lambda at: write(at, suite=SUITE.replace("cases.jsonl", "case.jsonl")),
        [],
        ['suite.yaml:3: "cases": there is no file', "case.jsonl"],
    ),
    "wrong type": (
        lambda at: write(at, suite=SUITE + "repeats: many\n"),
        [],
        ["suite.yaml:7: \"repeats\" in suite wants a whole number, but holds 'many'"],
    ),
    "a case that checks nothing": (
        lambda at: write(at, cases=with_row({"id": "x", "question": "?", "tools": []})),
        [],
        ['cases.jsonl:3: case "x" asserts nothing: it has no check and no rubric; add one'],
    ),
    "unreadable clock": (
        lambda at: write(at, suite=SUITE.replace("2026-03-02T09:00:00+00:00", "2026-03-02")),
        [],
        ['suite.yaml:5: "clock": "2026-03-02" has no offset'],
    ),
    "unknown tool": (
        lambda at: write(
            at, cases=with_row({"id": "x", "question": "?", "forbidden_tools": ["get_payslp"]})
        ),
        [],
        [
            'cases.jsonl:3: unknown tool "get_payslp" in "forbidden_tools" of "x". '
            'Did you mean "get_payslip"?'
        ],
    ),
    "missing stamp": (
        lambda at: write(at, suite=SUITE.replace(", prompt: v1", "")),
        [],
        ["suite.yaml:4: the agent has no prompt stamp, and a score without its stamps is refused"],
    ),
    "zero cases": (
        lambda at: write(at, cases=""),
        [],
        ["cases.jsonl: nothing was evaluated: the file holds no case"],
    ),
    "a filter that matches none": (
        lambda at: write(at),
        ["--tag", "hr"],
        ['suite.yaml: nothing was evaluated: no case has the tag "hr".'],
    ),
    "NaN": (
        lambda at: write(at, cases='{"id": "x", "question": "?", "equals": NaN}\n'),
        [],
        ["cases.jsonl:1: NaN is not a number that can be scored"],
    ),
    "bad YAML": (
        lambda at: write(at, suite=SUITE + "checks: {max_turns: 3\nbar: x\n"),
        [],
        ["suite.yaml:8: is not YAML:"],
    ),
    "duplicate YAML key": (
        lambda at: write(at, suite=SUITE + 'version: "2"\n'),
        [],
        ['suite.yaml:7: key "version" stands twice, first on line 2; keep one'],
    ),
    "an unknown id in --only": (
        lambda at: write(at),
        ["--only", "cary"],
        ['suite.yaml: --only: no case "cary". Did you mean "carry"?'],
    ),
    "an agent that is no file": (
        lambda at: write(at),
        ["--agent", "small_agent:answer"],
        ['--agent "small_agent:answer" names no agent file, so its results would have no stamps'],
    ),
    "an agent module that is missing": (
        lambda at: write(at, suite=SUITE.replace("small_agent:", "smal_agent:")),
        [],
        ['suite.yaml:4: "call": "smal_agent:answer": there is no module smal_agent'],
    ),
    "a case with nothing to ask": (
        lambda at: write(at, cases=with_row({"id": "x", "must_include": ["a"]})),
        [],
        ['cases.jsonl:3: case "x" has neither input nor messages, so there is nothing to ask'],
    ),
    "a function of one's own that is missing": (
        lambda at: write(
            at, cases=with_row({"id": "x", "question": "?", "python": "small_agent:answr"})
        ),
        [],
        ['cases.jsonl:3: "small_agent:answr": small_agent has no "answr". Did you mean "answer"?'],
    ),
    "a clock outside of time": (
        lambda at: write(
            at, suite=SUITE.replace("2026-03-02T09:00:00+00:00", "0001-01-01T00:00:00+14:00")
        ),
        [],
        ['suite.yaml:5: "clock": "0001-01-01T00:00:00+14:00" lies outside of the years 1 to 9999'],
    ),
    "a broken bar": (
        lambda at: (
            (at / "bar.yaml").write_text("pas_rate: {outcome: 0.9}\n"),
            write(at, suite=SUITE + "bar: bar.yaml\n"),
        )[1],
        [],
        ['bar.yaml:1: unknown key "pas_rate" in bar. Did you mean "pass_rate"?'],
    ),
    "a prompt file that is missing": (
        lambda at: write(
            at,
            suite=SUITE.replace('call: "small_agent:answer", ', "prompt_file: promt.md, "),
        ),
        [],
        ['suite.yaml:4: "prompt_file": there is no file', "promt.md"],
    ),
    "an empty --only": (lambda at: write(at), ["--only", ""], ["--only: is empty; is a variable"]),
    "a timeout of nothing": (lambda at: write(at), ["--timeout", "nan"], ["wants seconds above 0"]),
    "a report into a folder": (
        lambda at: write(at),
        ["--junit", "."],
        ["is a folder; name a file"],
    ),
    "a pattern that is none": (
        lambda at: write(at, cases=with_row({"id": "x", "question": "?", "matches": ["(a"]})),
        [],
        ['cases.jsonl:3: "checks.matches.0" in case "x": "(a" is not a regular expression'],
    ),
    "an empty clock of a case": (
        lambda at: write(
            at, cases=with_row({**CASES[0], "id": "x", "clock": "2026-02-30T00:00:00+00:00"})
        ),
        [],
        ['cases.jsonl:3: "clock" of "x": "2026-02-30T00:00:00+00:00" is not a clock'],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_configuration_exits_2_and_names_file_line_and_remedy(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    make, options, sentences = BROKEN[name]
    monkeypatch.chdir(tmp_path)
    make(tmp_path)

    code = main(["check", "suite.yaml", *options])

    output = capsys.readouterr()
    assert code == 2
    assert output.out == ""
    assert "\x1b" not in output.err
    assert "Traceback" not in output.err
    for sentence in sentences:
        assert sentence in output.err


def test_all_problems_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    cases = [
        {"id": "a", "question": "?", "must_includ": ["x"]},
        {"id": "b", "question": "?", "must_not_include": ["y|"], "tgas": ["t"]},
        {"id": "c", "question": "?"},
        {"id": "C", "question": "?", "tools": ["serch_policy"]},
    ]
    suite = write(tmp_path, suite=SUITE.replace("+00:00", ""), cases=cases)

    with pytest.raises(ConfigError) as caught:
        load_suite(suite)

    found = [(Path(p.file or "").name, p.line) for p in caught.value.problems]
    assert ("suite.yaml", 5) in found
    assert {line for name, line in found if name == "cases.jsonl"} == {1, 2, 3, 4}
    assert len([1 for name, line in found if (name, line) == ("cases.jsonl", 2)]) == 2


def test_a_broken_suite_file_does_not_hide_broken_cases(tmp_path: Path) -> None:
    cases = [{"id": "a", "question": "?", "must_includ": ["x"]}]
    suite = write(tmp_path, suite=SUITE + "repeat: 2\n", cases=cases)

    with pytest.raises(ConfigError) as caught:
        load_suite(suite)

    text = str(caught.value)
    assert 'unknown key "repeat" in suite. Did you mean "repeats"?' in text
    assert 'Did you mean "must_include"?' in text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2026-03-02T09:00:00+00:00", "2026-03-02T09:00:00+00:00"),
        ("2026-03-02T09:00:00Z", "2026-03-02T09:00:00+00:00"),
        ("2026-03-02T09:00:00+05:30", "2026-03-02T03:30:00+00:00"),
        ("2028-02-29T00:00:00-01:00", "2028-02-29T01:00:00+00:00"),
    ],
)
def test_a_clock_is_kept_as_utc(text: str, wanted: str) -> None:
    assert parse_clock(text).isoformat() == wanted


@pytest.mark.parametrize(
    "text", ["2026-03-02T09:00:00", "2026-03-02", "2026-02-29T00:00:00Z", "yesterday", ""]
)
def test_a_clock_without_offset_or_day_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"offset|not a clock"):
        parse_clock(text)


def test_the_digest_follows_content_and_not_names_of_files(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    first = load_suite(write(one))
    same = load_suite(write(two))
    changed = load_suite(write(two, cases=[{**CASES[0], "must_include": ["31"]}, CASES[1]]))
    other_agent = load_suite(write(one, suite=SUITE.replace("prompt: v1", "prompt: v2")))

    assert first.digest == same.digest
    assert first.digest != changed.digest
    assert first.digest == other_agent.digest


def test_a_case_with_a_rubric_alone_is_judge_only_and_outside_the_denominator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, cases=with_row({"id": "tone", "question": "?", "rubric": "Is kind."}))

    code = main(["check", "suite.yaml", "--json"])

    report = json.loads(capsys.readouterr().out)
    assert code == 0
    assert report["cases"]["judge_only"] == 1
    assert report["cases"]["n"] == 2


def test_a_suite_of_judge_only_cases_is_nothing_that_code_could_evaluate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, cases=[{"id": "tone", "question": "?", "rubric": "Is kind."}])

    code = main(["check", "suite.yaml"])

    assert code == 2
    assert "nothing was evaluated by code" in capsys.readouterr().err


def test_bom_crlf_and_a_path_with_a_space_load(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    suite = write(folder)
    for name in ("cases.jsonl", "suite.yaml"):
        text = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())

    loaded = load_suite(suite)

    assert [item.id for item in loaded.items] == ["carry", "other"]


def test_ids_stay_strings(tmp_path: Path) -> None:
    suite = write(tmp_path, cases=[{**CASES[0], "id": "001"}, {**CASES[1], "id": "1"}])

    loaded = load_suite(suite)

    assert [item.id for item in loaded.items] == ["001", "1"]


def test_shards_cover_every_case_once(tmp_path: Path) -> None:
    rows = [{**CASES[0], "id": f"c{number}"} for number in range(7)]
    suite = write(tmp_path, cases=rows)

    parts = [load_suite(suite, shard=f"{part}/3") for part in (1, 2, 3)]

    ids = [item.id for part in parts for item in part.items]
    assert sorted(ids) == sorted(row["id"] for row in rows)


def test_a_complaint_cannot_steer_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, cases=with_row({"id": "x\x1b[2J\u202e", "question": "?", "must_includ": ["a"]}))

    main(["check", "suite.yaml"])

    error = capsys.readouterr().err
    assert "\x1b" not in error
    assert "\u202e" not in error
    assert "\\x1b[2J" in error


def test_suite_digest_is_that_of_its_content_as_one_value(root: Path) -> None:
    # Put together of the texts of the cases, which are made once; the value must be the same.
    suite = load_suite(root / "data" / "suites" / "helpdesk.yaml")
    cases = [
        item.model_dump(mode="json", exclude_unset=True, exclude={"draft"}) for item in suite.items
    ]
    shared = suite.spec.model_dump(mode="json", exclude=set(NOT_CONTENT))
    tables = {
        "ids": {name: sorted(ids) for name, ids in suite.resources.ids.items()},
        "schemas": dict(suite.resources.schemas),
        "functions": {},
    }

    assert not suite.resources.functions
    assert suite.digest == digest({"suite": shared, "items": cases, "tables": tables})
