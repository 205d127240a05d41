"""The shipped tapes: made anew they are the same, and they replay without a server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from agenteval_kit.cli import main
from agenteval_kit.files import read_yaml
from agenteval_kit.judge import judge_run, judged_summary, replay_judges
from agenteval_kit.models.tape import Tape
from agenteval_kit.pairwise import compare_runs
from agenteval_kit.records import VerdictRow
from agenteval_kit.rubrics import load_rubric
from agenteval_kit.runs import Run
from agenteval_kit.simulate import replay_user
from agenteval_kit.suite import load_suite, run_suite
from agenteval_kit.summary import summarise
from agenteval_kit.targets import load_target
from agenteval_kit.testing import ScriptedServer

SUITES = ("support", "helpdesk")
TAPES = {
    "support": {"scripted-judge-a", "scripted-judge-b", "scripted-judge-c"},
    "helpdesk": {"scripted-judge-a", "scripted-judge-b", "scripted-judge-c"},
    "support_played": {"scripted-user"},
}
LINE_KEYS = {"when", "score", "turns", "quotes", "claim", "prefers", "because", "but", "first",
             "form", "refuse"}  # fmt: skip


def script(root: Path, name: str) -> Any:
    """A function of scripts/make_tapes.py."""
    return load_target(f"make_tapes.py:{name}", folder=root / "scripts", fresh=True)


def run_version(root: Path, folder: Path, suite: str, version: str) -> Run:
    loaded = load_suite(
        root / "data" / "suites" / f"{suite}.yaml",
        agent=root / "data" / "agents" / f"{suite}_{version}.yaml",
    )
    return run_suite(loaded, out=folder / f"{suite}-{version}").run


@pytest.fixture(scope="module")
def judged(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Run]:
    """Both versions of both suites, judged from the tapes by the command; no server is there."""
    folder = tmp_path_factory.mktemp("judged")
    found = {}
    for suite in SUITES:
        for version in ("v1", "v2"):
            run = run_version(root, folder, suite, version)
            tape = str(root / "data" / "tapes" / f"{suite}.jsonl")
            asked = ["judge", str(run.path), "--suite", suite_file(root, suite), "--replay", tape]
            assert main(asked) == 0
            if suite == "helpdesk":
                rubric = str(root / "data" / "rubrics" / "grounding_0_3.yaml")
                assert main([*asked, "--rubric", rubric]) == 0
            found[f"{suite}-{version}"] = run
    return found


def suite_file(root: Path, suite: str) -> str:
    return str(root / "data" / "suites" / f"{suite}.yaml")


def means(run: Run) -> dict[str, float | None]:
    return {one.name: one.estimate.value for one in judged_summary(run).dimensions}


def rows_of(run: Run) -> list[dict[str, Any]]:
    rows = [row.model_dump() for row in run.verdict_rows()]
    return sorted(rows, key=lambda row: (row["dimension"], row["case_id"], row["repeat"]))


def lines_of(book: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for dimensions in book.values():
        for lines in dimensions.values():
            for line in lines if isinstance(lines, list) else [lines]:
                yield line
                yield from line.get("but", {}).values()
                if "first" in line:
                    yield line["first"]


@pytest.mark.parametrize("suite", TAPES)
def test_a_tape_made_anew_is_the_shipped_one(root: Path, tmp_path: Path, suite: str) -> None:
    plan = next(one for one in script(root, "PLANS") if one.suite == suite)

    made = script(root, "make_tape")(plan, tmp_path)

    shipped = root / "data" / "tapes" / f"{suite}.jsonl"
    assert set(Tape(made)._places) == set(Tape(shipped)._places), "run scripts/make_tapes.py"
    assert made.read_bytes() == shipped.read_bytes()


@pytest.mark.parametrize("suite", TAPES)
def test_a_tape_is_small_and_says_that_it_is_scripted(root: Path, suite: str) -> None:
    path = root / "data" / "tapes" / f"{suite}.jsonl"

    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    assert path.stat().st_size < 600_000
    assert {row["model"] for row in rows} == TAPES[suite]
    assert {row["reply"]["model"] for row in rows} == {row["model"] for row in rows}
    assert {row["parts"]["endpoint"] for row in rows} == {"127.0.0.1:8123/v1"}
    # Nothing is counted or timed of a script: unknown is not 0.
    assert {json.dumps(row["usage"]) for row in rows} == {
        '{"input_tokens": null, "output_tokens": null}'
    }
    assert not {"at", "seconds"} & {key for row in rows for key in row}


@pytest.mark.parametrize("suite", SUITES)
def test_every_run_of_a_scripted_suite_says_so(judged: Mapping[str, Run], suite: str) -> None:
    run = judged[f"{suite}-v1"]

    stamps = run.judge_stamps()

    # A run that nobody judged has nothing to say of judges; the stamps of one that was do.
    assert "judge" not in (run.info.data_note or "")
    assert all("scripted-judge-" in stamp.judge for stamp in stamps)


def test_a_replay_gives_the_rows_that_the_served_judges_gave(
    root: Path, tmp_path: Path, judged: Mapping[str, Run]
) -> None:
    suite = load_suite(suite_file(root, "support"))
    run = run_version(root, tmp_path, "support", "v2")
    answer = load_target("scripted_models.py:answer", folder=root / "data" / "tapes", fresh=True)
    with ScriptedServer(answer) as server:
        tape = Tape(tmp_path / "calls.jsonl")
        judges = script(root, "judges_at")(server.base_url, suite.spec.judge, tape)
        rubric = load_rubric(root / "data" / "rubrics" / "support.yaml")

        result = judge_run(run, rubric, judges, items=suite.items, tape=tape)

    assert result.from_tape == 0
    assert result.replies == len(server.asked)
    assert rows_of(run) == rows_of(judged["support-v2"])


def test_the_second_version_scores_lower_where_its_fault_lies(judged: Mapping[str, Run]) -> None:
    before, now = means(judged["support-v1"]), means(judged["support-v2"])

    lower = {name for name in before if (now[name] or 0) < (before[name] or 0)}
    lowest = {
        row.case_id
        for row in judged["support-v2"].verdict_rows()
        if row.dimension == "groundedness" and row.score == 1
    }

    assert lower == {"goal_completion", "groundedness", "safety_and_scope",
                     "communication_quality"}  # fmt: skip
    assert lowest == {"claims-approval", "refund-denied", "refund-pending"}


def test_what_goes_wrong_with_judges_is_on_the_tapes(judged: Mapping[str, Run]) -> None:
    rows = [row for run in judged.values() for row in run.verdict_rows()]
    seats = [seat for row in rows for seat in row.seats]

    flags = {flag for row in rows for flag in row.flags}

    assert flags >= {"panel_disagreement", "panel_split", "seat_missing", "evidence_not_found"}
    assert any(seat.reason.startswith("the judge refused") for seat in seats)
    assert {seat.repaired for seat in seats} == {"", "fence, chatter", "one-element list"}
    # Evidence that failed at first and was found when the judge was asked once more.
    assert any(seat.attempts == 2 and seat.score is not None for seat in seats)
    assert any(seat.attempts == 2 and seat.score is None for seat in seats)
    assert two_to_one(rows)


def two_to_one(rows: list[VerdictRow]) -> bool:
    return any(sorted(row.scores) == [1, 1, 2] and row.score == 1 for row in rows)


def test_the_versions_of_the_helpdesk_are_compared_from_the_tape(
    root: Path, judged: Mapping[str, Run]
) -> None:
    old, new = judged["helpdesk-v1"], judged["helpdesk-v2"]
    suite = load_suite(suite_file(root, "helpdesk"))
    criteria = load_rubric(root / "data" / "rubrics" / "outcome_pairwise.yaml")
    assert suite.spec.judge is not None
    judges = replay_judges(suite.spec.judge, root / "data" / "tapes" / "helpdesk.jsonl")

    result = compare_runs(old, new, criteria, judges, items=suite.items, draws=200)

    # Of 35 pairs 31 are identical and tie without a call; 4 by 2 orders, 2 criteria, 3 judges.
    assert result.replies == 48
    found = {
        (one.criterion, one.judge): (one.wins, one.ties, one.losses) for one in result.comparisons
    }
    assert found["outcome", "scripted-judge-a"] == (0, 32, 3)
    assert found["helpfulness", "scripted-judge-a"] == (3, 32, 0)
    flipped = {one.judge for one in result.comparisons if one.flags.get("position_flip")}
    assert flipped == {"scripted-judge-b"}


def test_the_played_users_are_replayed_with_every_way_to_end(root: Path, tmp_path: Path) -> None:
    suite = load_suite(root / "data" / "suites" / "support_played.yaml")
    user = replay_user(root / "data" / "tapes" / "support_played.jsonl")

    run = run_suite(suite, out=tmp_path / "played", user_model=user).run

    ends = {one.case_id: one.stop for one in run.transcripts()}
    faults = {one.case_id for one in run.transcripts() if one.failure is not None}
    assert set(ends.values()) == {"goal_reached", "user_stopped", "turn_budget", "simulator_fault"}
    assert faults == {"user-invents", "user-stops-early", "user-turns-helper"}
    assert summarise(run).failed == 0
    assert summarise(run).unscored == 3


@pytest.mark.parametrize("suite", SUITES)
def test_every_line_of_a_book_is_read_and_said(root: Path, suite: str) -> None:
    book = read_yaml(root / "data" / "tapes" / f"{suite}_verdicts.yaml").value
    tape = (root / "data" / "tapes" / f"{suite}.jsonl").read_text(encoding="utf-8")
    contents = [json.loads(line)["reply"]["message"] for line in tape.splitlines()]
    said = "\n".join((one["content"] or "") + one.get("refusal", "") for one in contents)

    for line in lines_of(book):
        assert set(line) <= LINE_KEYS
        words = line.get("refuse") or json.dumps(line["because"])[1:-1]
        assert words in said, line


def test_cases_list_dimensions_that_a_rubric_has(root: Path) -> None:
    known = {
        one.name
        for path in (root / "data" / "rubrics").glob("*.yaml")
        for one in load_rubric(path).dimensions
    }

    for suite in SUITES:
        for item in load_suite(suite_file(root, suite)).items:
            assert set(item.dimensions or ()) <= known, item.id
