"""What holds for every transcript, whatever it is."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from strategies import EVERYTHING, case_of, pass_share, told, transcripts

from agenteval_kit.checks import Check, build_checks, run_checks
from agenteval_kit.records import Transcript

ALL = case_of(EVERYTHING.model_dump(exclude_unset=True, by_alias=True))
ALL_CHECKS = build_checks(ALL)


@given(transcripts)
def test_no_transcript_makes_a_check_break(transcript: Transcript) -> None:
    rows = run_checks(transcript, ALL, ALL_CHECKS)

    assert not [row for row in rows if row.why.startswith("the check itself failed")]
    assert len({row.name for row in rows}) == len(rows)
    for row in rows:
        assert row.why or row.passed
        json.dumps(row.as_dict())


@given(transcripts)
def test_checking_twice_gives_the_same_bytes(transcript: Transcript) -> None:
    again = Transcript.model_validate_json(transcript.model_dump_json())

    first = [json.dumps(row.as_dict()) for row in run_checks(transcript, ALL, ALL_CHECKS)]

    assert [json.dumps(row.as_dict()) for row in run_checks(again, ALL, build_checks(ALL))] == first


@given(transcripts)
def test_nothing_passes_where_the_agent_crashed_or_was_never_heard(transcript: Transcript) -> None:
    rows = run_checks(transcript, ALL, ALL_CHECKS)

    if transcript.failure is not None:
        assert not any(row.passed for row in rows)
        blamed = transcript.failure.kind in ("agent", "timeout")
        assert any(row.name == "agent_completed" for row in rows) is blamed


@given(transcripts, st.sampled_from(ALL_CHECKS))
def test_a_further_check_that_passes_never_lowers_the_rate(
    transcript: Transcript, further: Check
) -> None:
    others = [each for each in ALL_CHECKS if each is not further]
    before = run_checks(transcript, ALL, others)

    after = run_checks(transcript, ALL, [*others, further])

    one, two = pass_share(before), pass_share(after)
    if after[-1].name == further.name and after[-1].passed and one is not None and two is not None:
        assert two >= one
    assert after[: len(before)] == before


@given(transcripts)
def test_a_check_called_alone_agrees_with_the_run(transcript: Transcript) -> None:
    whole = transcript.model_copy(update={"failure": None})

    rows = {row.name: row for row in run_checks(whole, ALL, ALL_CHECKS)}

    for each in ALL_CHECKS:
        alone = each(whole, ALL)
        if alone is None:
            assert each.name not in rows
        elif alone.passed is not True:
            assert rows[each.name].passed == alone.passed


def test_a_record_nested_beyond_reason_is_unscored_not_a_crash() -> None:
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    case = case_of({"equals": [[1]], "expect": {"0": 1}})
    transcript = Transcript.model_construct(
        **{**dict(told([{"agent": "x"}])), "output": deep, "failure": None}
    )

    rows = run_checks(transcript, case, build_checks(case))

    assert {row.passed for row in rows} <= {None, False}


def test_deep_json_in_an_answer_is_no_record() -> None:
    case = case_of({"required_fields": ["a"]})

    assert [
        row.passed for row in run_checks(told([{"agent": "[" * 100_000}]), case, build_checks(case))
    ] == [False]
