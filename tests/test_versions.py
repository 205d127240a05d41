"""Two runs of two versions of a suite: what both ask alike is compared, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agenteval_kit.cli import main
from agenteval_kit.compare import compare_checks
from agenteval_kit.gate import decide
from agenteval_kit.records import Bar
from agenteval_kit.release import read_release
from agenteval_kit.report import show_verdict
from agenteval_kit.runs import Run
from agenteval_kit.suite import load_suite, run_suite

AGENT = "def answer(messages, *, now, case):\n    return 'Leave is {days} days.'\n"
NAMES = [f"c{number}" for number in range(40)]


def suite(folder: Path, *, cases: list[dict], version: str = "1", checks: str = "{}") -> Path:
    (folder / "agent.py").write_text(AGENT.format(days=30))
    (folder / "worse.py").write_text(AGENT.format(days=20))
    (folder / "worse.yaml").write_text('call: "worse:answer"\nmodel: m\nprompt: worse\n')
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    (folder / "suite.yaml").write_text(
        f'name: leave\nversion: "{version}"\ncases: cases.jsonl\nchecks: {checks}\n'
        'agent: {call: "agent:answer", model: m, prompt: p}\n'
        'clock: "2026-03-02T09:00:00+00:00"\n'
    )
    return folder / "suite.yaml"


def case(name: str, wanted: str = "30", **more: object) -> dict:
    return {"id": name, "input": f"{name}: how many days?", "must_include": [wanted], **more}


def run(file: Path, name: str, *, agent: str | None = None) -> Run:
    loaded = load_suite(file, agent=file.parent / agent if agent else None)
    return run_suite(loaded, out=file.parent / name).run


def two_versions(folder: Path) -> tuple[Run, Run]:
    """40 cases; then one is edited, one is gone and two are new."""
    old = run(suite(folder, cases=[case(name) for name in NAMES]), "old")
    kept = [case(name) for name in NAMES[2:]]
    edited = [case("c1", "31"), *kept, case("new-a", "31"), case("new-b")]
    return old, run(suite(folder, cases=edited, version="2"), "new", agent="worse.yaml")


def test_an_edited_suite_is_compared_on_the_cases_that_stayed(tmp_path: Path) -> None:
    old, new = two_versions(tmp_path)

    found = compare_checks(old, new)

    assert found.refused == ""
    assert found.layers[0].ids == tuple(NAMES[2:])
    assert found.broken == tuple(NAMES[2:])  # c1 fails for another word: nothing is said of it
    assert found.sentence.endswith(
        f"the suite was edited in between ({old.info.suite_digest} then, {new.info.suite_digest} "
        "now), so only the 38 cases that both versions ask alike are compared; left out: "
        "1 changed, 2 new, 1 gone"
    )


def test_a_claim_of_the_gate_says_on_which_cases_it_stands(tmp_path: Path) -> None:
    old, new = two_versions(tmp_path)
    bar = Bar.model_validate({"no_worse": {"outcome": {"margin": 0.05, "unit": "pass_share"}}})

    row = next(row for row in decide(new, bar, baseline=old).rows if row.clause == "no_worse")

    assert row.status == "fail"
    assert row.ids == tuple(NAMES[2:])
    assert "only the 38 cases that both versions ask alike are compared" in row.reason


def test_the_page_calls_no_edited_case_broken(tmp_path: Path) -> None:
    old, new = two_versions(tmp_path)
    (tmp_path / "bar.yaml").write_text("pass_rate: {outcome: 0.5}\n")

    release = read_release(new.path, baseline=old.path, bar=tmp_path / "bar.yaml")

    states = release.states
    assert {name: states[name] for name in ("c1", "c2", "new-a")} == {
        "c1": "new", "c2": "broken", "new-a": "new",
    }  # fmt: skip
    assert "so only the 38 cases that both versions ask alike" in str(show_verdict(release))


@pytest.mark.parametrize(
    "edit",
    [
        {"checks": "{max_words: 99}"},
        {"cases": [{**case(name), "tags": ["x"]} for name in NAMES]},
    ],
)
def test_what_every_case_is_asked_anew_leaves_nothing_to_compare(
    tmp_path: Path, edit: dict
) -> None:
    cases = [case(name) for name in NAMES]
    old = run(suite(tmp_path, cases=cases), "old")

    found = compare_checks(old, run(suite(tmp_path, **{"cases": cases, **edit}), "new"))

    assert "no case is the same in both" in found.refused
    assert found.layers == ()


def test_the_version_alone_changes_no_case(tmp_path: Path) -> None:
    cases = [case(name) for name in NAMES]
    old = run(suite(tmp_path, cases=cases), "old")

    found = compare_checks(old, run(suite(tmp_path, cases=cases, version="2"), "new"))

    assert found.layers[0].n == 40


def test_an_edited_table_changes_the_cases_that_look_something_up(tmp_path: Path) -> None:
    table = tmp_path / "ids.csv"
    table.write_text("id\nC-1\n")
    looks = {"cited_ids": {"pattern": r"C-\d", "in": {"file": "ids.csv", "column": "id"}}}
    cases = [case("plain"), case("looks", **looks)]
    old = run(suite(tmp_path, cases=cases), "old")
    table.write_text("id\nC-2\n")

    found = compare_checks(old, run(suite(tmp_path, cases=cases), "new"))

    assert {pair.layer: pair.ids for pair in found.layers}["outcome"] == ("plain",)


def test_a_run_that_notes_no_digests_is_refused_with_the_reason(tmp_path: Path) -> None:
    old, new = two_versions(tmp_path)
    told = json.loads((old.path / "run.json").read_text())
    for plan in told["cases"]:
        del plan["digest"]
    (old.path / "run.json").write_text(json.dumps(told))

    found = compare_checks(Run.open(old.path), new)

    assert "a run of an older package does not note which cases are the same" in found.refused


def test_a_draft_is_told_and_neither_run_nor_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    plain = suite(tmp_path, cases=[case("a")])
    before = load_suite(plain).digest
    suite(tmp_path, cases=[case("a"), case("b", "31", draft=True)])

    codes = [main(["check", "suite.yaml"]), main(["check", "suite.yaml", "--only", "b"])]

    told = capsys.readouterr().out
    assert codes == [0, 1]
    assert "1 draft waits for a person and is not counted (b)" in told
    assert "1 of 1 assertion " in told
    assert load_suite(plain).digest == before  # a draft makes no new version of the suite


def test_a_suite_of_drafts_evaluates_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    suite(tmp_path, cases=[case("a", draft=True)])

    code = main(["check", "suite.yaml"])

    assert code == 2
    assert "nothing was evaluated: 1 draft waits for a person" in capsys.readouterr().err
