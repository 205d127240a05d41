"""The way back: a failure becomes a draft that would have caught it; nothing else is touched."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agenteval_kit.checks import run_checks
from agenteval_kit.cli import main
from agenteval_kit.errors import ConfigError
from agenteval_kit.files import read_yaml
from agenteval_kit.runs import Run
from agenteval_kit.suite import load_suite, promote, run_suite
from agenteval_kit.suite.promote import promote_case
from agenteval_kit.suite.promote_button import promote_button
from agenteval_kit.suite.promote_place import yaml_text
from agenteval_kit.summary import summarise

COPIED = ("agents", "bars", "cases", "checks", "handbook", "recorded", "rubrics", "scenarios",
          "suites")  # fmt: skip

RUNS = {
    "airline": None, "retail": None, "helpdesk": "helpdesk_v2", "triage": "triage_v2",
    "support": "support_v2",
}  # fmt: skip

# Ten failures of the shipped runs: run, case, repeat, layer, and the suite that gets the draft.
RECORDED = [
    ("airline", "task-000", 0, "outcome", "airline_live"),
    ("airline", "task-000", 1, "policy", "airline"),
    ("airline", "task-010", 0, "grounding", "airline_live"),
    ("retail", "task-012", 0, "outcome", "retail_live"),
]
PROGRAMS = [
    ("helpdesk", "other-salary", "trajectory"),
    ("helpdesk", "manager-asks", "trajectory"),
    ("triage", "power-case", "grounding"),
    ("triage", "hold-charge", "outcome"),
    ("triage", "thread-card", "outcome"),
    ("support", "refund-denied", "policy"),
]


@pytest.fixture(scope="module")
def shipped(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped data and a run of each suite; v2 of the agents that are programs."""
    folder = tmp_path_factory.mktemp("shipped")
    for name in COPIED:
        shutil.copytree(root / "data" / name, folder / "data" / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, agent in RUNS.items():
            suite = load_suite(
                f"data/suites/{name}.yaml", agent=agent and f"data/agents/{agent}.yaml"
            )
            run_suite(suite, out=Path("data/runs") / name)
    return folder


@pytest.fixture
def project(shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy that a test may write to, as the working directory."""
    shutil.copytree(shipped, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[Path, bytes]:
    places = (folder / "data" / name for name in ("cases", "scenarios", "suites"))
    return {path: path.read_bytes() for place in places for path in place.rglob("*.*")}


def confirm(file: Path, name: str) -> None:
    """Take the mark off, as a person would."""
    text = file.read_text()
    if file.suffix == ".yaml":
        file.write_text(text.replace("draft: true\n", ""))
        return
    lines = text.splitlines(keepends=True)
    file.write_text(
        "".join(
            line.replace('"draft": true, ', "") if f'"id": "{name}"' in line else line
            for line in lines
        )
    )


@pytest.mark.parametrize(("name", "case_id", "layer"), PROGRAMS)
def test_a_confirmed_draft_fails_on_the_agent_that_it_came_from_and_passes_on_the_good_one(
    project: Path, name: str, case_id: str, layer: str
) -> None:
    before = contents(project)

    made = promote_case(f"data/runs/{name}", case_id, layer=layer)

    after = contents(project)
    assert made.fails
    assert all(after[path].startswith(text) for path, text in before.items())
    confirm(made.file, made.id)
    good, bad = (
        summarise(
            run_suite(
                load_suite(
                    f"data/suites/{name}.yaml",
                    agent=f"data/agents/{name}_{version}.yaml",
                    only=[made.id],
                ),
                root=project / "runs",
            ).run
        ).cases[0]
        for version in ("v1", "v2")
    )
    assert good.status == "passed"
    assert layer in {row.layer for row in bad.transcripts[0].failing}
    assert (bad.plan.origin, bad.plan.broke) == (f"{name}/{case_id}/0", layer)


@pytest.mark.parametrize(("name", "case_id", "repeat", "layer", "target"), RECORDED)
def test_a_draft_of_a_recorded_conversation_fails_by_what_the_agent_did(
    project: Path, name: str, case_id: str, repeat: int, layer: str, target: str
) -> None:
    before = contents(project)

    made = promote_case(
        f"data/runs/{name}", case_id, layer=layer, repeat=repeat, suite=f"data/suites/{target}.yaml"
    )

    assert {p: t for p, t in contents(project).items() if p != project / made.file} == {
        p: t for p, t in before.items() if p != project / made.file
    }
    lines = made.file.read_bytes().splitlines()
    assert lines[:-1] == before[project / made.file].splitlines()
    confirm(made.file, made.id)
    suite = load_suite(f"data/suites/{target}.yaml", only=[made.id])
    seen = Run.open(Path("data/runs") / name).transcript(case_id, repeat=repeat)
    rows = run_checks(seen, suite.items[0], suite.checks(suite.items[0]))
    failed = {row.name for row in rows if row.passed is False and row.name != "recorded_reward"}
    assert failed & {row.name for row in made.rows if row.passed is False}


def test_ten_failures_are_promoted_here() -> None:
    assert len(RECORDED) + len(PROGRAMS) == 10


def test_a_conversation_becomes_a_scenario_with_all_that_was_seen(project: Path) -> None:
    made = promote_case(
        "data/runs/airline", "task-010", layer="grounding", suite="data/suites/airline_live.yaml"
    )

    record = json.loads(made.file.read_text().splitlines()[-1])
    said = [
        turn.text
        for turn in Run.open(Path("data/runs/airline")).transcript("task-010").turns
        if turn.role == "user"
    ]
    assert record["draft"] is True
    assert record["opening"] == said[0]
    assert record["user"]["script"] == said[1:-1]  # the goodbye was answered by nobody
    assert record["invariants"] == {"figures_traceable": True, "where": {
        "figures_traceable": "every"}}  # fmt: skip
    assert record["persona"]
    assert record["goal"].startswith("You are ")  # of the live suite's scenario of that task
    assert record["known"]["user_id"] in " ".join(said)


def test_a_conversation_in_a_suite_of_cases_is_asked_for_the_reply_that_broke(
    project: Path,
) -> None:
    made = promote_case("data/runs/airline", "task-000", layer="policy", repeat=1)

    turns = Run.open(Path("data/runs/airline")).transcript("task-000", repeat=1).turns
    broke = next(row.turn for row in made.rows if row.passed is False)
    thread, asked = made.record["thread"], made.record["input"]
    assert broke is not None
    assert [message["content"] for message in thread] == [t.text for t in turns[: len(thread)]]
    assert (turns[len(thread)].role, turns[len(thread)].text) == ("user", asked)
    assert len(thread) < broke
    assert not any(turn.role == "user" for turn in turns[len(thread) + 1 : broke])
    assert any("plays a recording back" in note for note in made.notes)


def test_an_imported_transcript_is_drafted_from_what_the_kit_looks_for(project: Path) -> None:
    said = [
        {"role": "user", "content": "Which day will my parcel come?"},
        {"role": "assistant", "content": "On the 17th. Call me at +44 20 7946 0958."},
    ]
    Path("log.jsonl").write_text(json.dumps({"id": "conv-1", "messages": said}) + "\n")

    grounding = promote_case(
        "log.jsonl", "conv-1", layer="grounding", suite="data/suites/triage.yaml"
    )
    policy = promote_case("log.jsonl", "conv-1", layer="policy", suite="data/suites/triage.yaml")

    assert grounding.record["input"] == "Which day will my parcel come?"
    assert grounding.record["figures_traceable"] is True
    assert policy.record["no_phone_numbers"] is True
    assert "+44 20 7946 0958" in policy.record["note"]
    assert policy.record["origin"] == "log.jsonl/conv-1/0"
    assert (grounding.fails, policy.fails) == (True, True)


def test_a_draft_keeps_the_moment_that_it_was_seen_at(project: Path) -> None:
    rows = Path("data/runs/helpdesk/transcripts.jsonl").read_text().splitlines()
    seen = {**json.loads(rows[0]), "now": "2026-07-01T09:00:00+01:00"}
    Path("seen.jsonl").write_text(json.dumps(seen) + "\n")

    other = promote_case(
        "seen.jsonl", "leave-left", layer="grounding", suite="data/suites/helpdesk.yaml"
    )
    same = promote_case("data/runs/helpdesk", "leave-left", layer="grounding")

    assert other.record["clock"] == "2026-07-01T09:00:00+01:00"
    assert "clock" not in same.record


def test_a_run_of_a_recording_alone_is_promoted_to_another_suite(project: Path) -> None:
    run = run_suite(load_suite("data/suites/retail_api_errors.yaml"), out=Path("errors")).run
    failed = next(row for row in run.check_rows() if row.passed is False)

    made = promote_case(
        run, failed.case_id, layer=failed.layer, repeat=failed.repeat,
        suite="data/suites/retail_live.yaml",
    )  # fmt: skip

    assert made.record["origin"] == f"errors/{failed.case_id}/{failed.repeat}"
    assert "recorded_reward" not in json.dumps(made.record)


def test_where_nothing_can_be_drafted_the_command_says_so(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["promote", "data/runs/helpdesk", "leave-left", "--layer", "outcome"])

    told = capsys.readouterr().out
    assert code == 0
    assert "does not fail on helpdesk/leave-left/0" in told
    assert "write what is right before you count it" in told
    confirm(Path("data/cases/helpdesk.jsonl"), "leave-left-outcome")
    assert load_suite("data/suites/helpdesk.yaml").drafts == ()


def test_the_same_record_is_promoted_once(project: Path) -> None:
    promote_case("data/runs/helpdesk", "other-salary", layer="trajectory")

    with pytest.raises(ConfigError, match='"other-salary-trajectory" was promoted from'):
        promote_case("data/runs/helpdesk", "other-salary", layer="trajectory")

    again = promote_case("data/runs/helpdesk", "other-salary", layer="trajectory", name="own")
    assert again.id == "own"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["data/runs/helpdesk", "leave-lost"], 'Did you mean "leave-left"?'),
        (["data/runs/helpdesk", "leave-left", "--suite", "no.yaml"], "there is no such file"),
        (["data/runs/helpdesk", "leave-left", "--suite", "data/suites/retail_api_errors.yaml"],
         "names a recording and no file of cases"),
        (["data/runs/helpdesk", "leave-left", "--id", "PAY-MAY"], '"pay-may" is taken'),
        (["data/runs/helpdesk", "leave-left", "--id", "pay-\u200bmay"], '"pay-may" is taken'),
        (["log.jsonl", "conv-1"], "say which suite the draft is for with --suite"),
        (["data/runs/helpdesk", "leave-left", "--layer", "polcy"], 'Did you mean "policy"?'),
    ],
)  # fmt: skip
def test_what_cannot_be_promoted_is_told_and_nothing_is_written(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], why: str
) -> None:
    Path("log.jsonl").write_text(
        json.dumps({"id": "conv-1", "messages": [{"role": "user", "content": "Hello?"}]}) + "\n"
    )
    before = contents(project)

    code = main(["promote", "--layer", "policy", *arguments])

    assert code == 2
    assert why in capsys.readouterr().err
    assert contents(project) == before


def test_a_tool_that_the_other_suite_does_not_know_is_refused_before_anything_is_written(
    project: Path,
) -> None:
    before = contents(project)

    with pytest.raises(ConfigError, match='unknown tool "raise_ticket"'):
        promote_case(
            "data/runs/helpdesk", "other-salary", layer="trajectory",
            suite="data/suites/support.yaml",
        )  # fmt: skip

    assert contents(project) == before


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
def test_lines_stay_as_they_are_whatever_ends_them(project: Path, ends: bytes, last: bool) -> None:
    file = Path("data/cases/helpdesk.jsonl")
    lines = file.read_bytes().splitlines()
    written = ends.join(lines) + (ends if last else b"")
    file.write_bytes(written)

    made = promote_case("data/runs/helpdesk", "other-salary", layer="trajectory")

    assert file.read_bytes().startswith(written)
    assert file.read_bytes().splitlines()[:-1] == lines
    assert file.read_bytes().count(ends) == file.read_bytes().count(b"\n") == len(lines) + 1
    assert made.line == len(lines) + 1


@pytest.mark.parametrize(
    ("run", "case", "layer", "names"),
    [
        ("helpdesk", "other-salary", "trajectory", (None, None)),
        ("support", "refund-denied", "policy", ("on hold", "on-hold")),
    ],
)
def test_of_two_who_promote_at_once_to_one_place_one_is_told(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    run: str,
    case: str,
    layer: str,
    names: tuple[str | None, str | None],
) -> None:
    real = promote._record

    def slow(*given: Any) -> dict[str, Any]:
        time.sleep(0.3)  # enough for the other to have read what stands there
        return real(*given)

    monkeypatch.setattr(promote, "_record", slow)

    def one(name: str | None) -> str:
        try:
            return promote_case(f"data/runs/{run}", case, layer=layer, name=name).id
        except ConfigError:
            return "told"

    with ThreadPoolExecutor() as people:
        ids = list(people.map(one, names))

    assert ids.count("told") == 1
    written = promote.read_written(Path(f"data/suites/{run}.yaml"))
    assert {one.id for one in written.items if one.draft} == set(ids) - {"told"}


@pytest.mark.parametrize(
    ("run", "case"), [("helpdesk", "other-salary"), ("support", "refund-denied")]
)
def test_a_full_disk_leaves_a_suite_as_it_was(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    run: str,
    case: str,
) -> None:
    before = contents(project)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)

    assert main(["promote", f"data/runs/{run}", case, "--layer", "policy"]) == 3

    assert re.match(r"data/\S+(jsonl|yaml): No space left", capsys.readouterr().err)
    assert contents(project) == before


def test_a_draft_changes_no_verdict_and_no_digest(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = "data/suites/support.yaml"
    digest = load_suite(suite).digest
    promote_case("data/runs/support", "refund-denied", layer="policy")

    main(["check", suite, "--out", "run"])
    code = main(["gate", "run"])

    assert code == 0
    told = capsys.readouterr().out
    assert "note: 1 draft waits for a person and is not counted (refund-denied-policy)" in told
    assert load_suite(suite).digest == digest


def test_a_scenario_file_reads_back_as_it_was_drafted(project: Path) -> None:
    made = promote_case("data/runs/support", "refund-denied", layer="policy")

    read: dict[str, Any] = read_yaml(made.file).value

    assert read == made.record
    assert list(read)[:2] == ["id", "draft"]
    claims = {r"\bI('ve| have) refunded\b": "refund"}
    assert read["invariants"] == {"claims": claims}


@given(
    st.dictionaries(
        st.text(min_size=1),
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers(-(10**9), 10**9)
            | st.text()
            | st.floats(allow_nan=False, allow_infinity=False),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.text(min_size=1), inner, max_size=3)
            ),
            max_leaves=8,
        ),
        max_size=4,
    )
)
@example({"a": "no", "b": "2026-03-02", "c": "1e5", "d": 1e20, "f": "001", "~": "~"})
def test_whatever_was_said_reads_back_from_yaml(record: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "draft.yaml"
        file.write_text(yaml_text(record), encoding="utf-8", newline="\n")

        assert read_yaml(file).value == record


def test_half_a_character_is_no_reason_to_lose_a_scenario() -> None:
    assert yaml_text({"opening": "Hi \ud83d"}) == "opening: Hi ?\n"


def test_an_id_is_no_path(project: Path) -> None:
    made = promote_case(
        "data/runs/support", "refund-denied", layer="policy", name="../../../elsewhere"
    )

    assert made.file == Path("data/scenarios/support/elsewhere.yaml")
    with pytest.raises(ConfigError, match="is there already; choose another id"):
        promote_case("data/runs/support", "refund-denied", layer="policy", name="elsewhere")


def test_machines_and_notebooks_are_told_the_same(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["promote", "data/runs/triage", "power-case", "--layer", "grounding", "--json"])

    told = json.loads(capsys.readouterr().out)
    assert (told["id"], told["fails"], told["line"]) == ("power-case-grounding", True, 13)
    assert told["rows"][0]["name"] == "cited_ids"
    page = promote_case("data/runs/triage", "hold-charge", layer="outcome")._repr_html_()
    assert "fails on triage/hold-charge/0: outcome · expect.category" in page


def test_the_commands_of_the_page_run_in_their_order(
    root: Path, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (root / "docs" / "promote.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(\w*)\n(.*?)```", page, re.DOTALL)
    shell = [line for kind, text in blocks if kind == "sh" for line in text.splitlines()]

    codes = [main(shlex.split(line)[1:]) for line in shell]

    told = capsys.readouterr().out
    assert codes == [0] * 5
    assert next(text for kind, text in blocks if not kind) in told
    code = next(text for kind, text in blocks if kind == "python")
    exec(code, {})
    assert '"manager-asks-trajectory"' in Path("data/cases/helpdesk.jsonl").read_text()


def test_a_button_promotes_the_failure_that_was_chosen(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "notebooks").mkdir()
    monkeypatch.chdir(project / "notebooks")
    made = promote_button(Run.open(Path("../data/runs/support")))
    labels = [label for label, _ in made.failures.options]

    made.failures.index = 1
    made.button.click()
    made.button.click()

    assert [label.split(" · ")[0] for label in labels] == [
        "claims-approval", "refund-denied", "refund-pending",
    ]  # fmt: skip
    assert (project / "data/scenarios/support/refund-denied-policy.yaml").is_file()
    first, again = made.said
    assert "fails on support/refund-denied/0" in first
    assert "was promoted from support/refund-denied/0 for this layer already" in again
    assert again in made.told.value
    assert "In JupyterLab" in made._repr_mimebundle_()["text/html"]


def test_a_button_without_a_failure_says_so(project: Path) -> None:
    suite = load_suite("data/suites/support.yaml")
    made = promote_button(run_suite(suite, out=project / "good").run)

    assert made.button.disabled
    assert "Nothing failed" in made.told.value
