"""Numbers that an agent tells: none that no file can hold, no cost that passes any limit."""

from __future__ import annotations

import dataclasses
import json
import math
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from agenteval_kit.agents import HTTPAgent, ProgramAgent, load_agent
from agenteval_kit.agents.plain import plain, told_number
from agenteval_kit.checks import build_checks, run_checks
from agenteval_kit.errors import ConfigError
from agenteval_kit.models.agent import AgentReply
from agenteval_kit.records import AgentSpec, AgentStamps, Case, Transcript, Usage
from agenteval_kit.simulate import converse
from agenteval_kit.testing import raw
from agenteval_kit.testing.server import ScriptedServer

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
STAMPS = AgentStamps(model="rules", prompt="v1")
CASE = Case(id="c1", input="How much?", max_cost_usd=1, max_tokens=100)
NAN = float("nan")
SAID = ({"role": "assistant", "content": "ok"},)


def program(returned: object) -> Transcript:
    return converse(ProgramAgent(lambda messages: returned, stamps=STAMPS), CASE, now=NOW)


def served(body: str) -> Transcript:
    with ScriptedServer([raw(body)]) as server:
        return converse(HTTPAgent(f"{server.base_url}/ask", stamps=STAMPS), CASE, now=NOW)


def limits(transcript: Transcript) -> dict[str, bool | None]:
    rows = run_checks(transcript, CASE, build_checks(CASE))
    return {row.name: row.passed for row in rows}


@dataclasses.dataclass
class Order:
    total: object


class Ticket(BaseModel):
    score: float


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ({"x": NAN}, "nan is no number that JSON can hold (at x); leave it out or null"),
        ({"a": [1, {"b": -math.inf}]}, "-inf is no number that JSON can hold (at a.1.b); "
         "leave it out or null"),
        (Order(Decimal("NaN")), "NaN is no number that JSON can hold (at total); leave it out or "
         "null"),
        (Ticket(score=NAN), "nan is no number that JSON can hold (at score); leave it out or null"),
        ({"x": np.float32("inf")}, "inf is no number that JSON can hold (at x); leave it out or "
         "null"),
        ({"x": 10**400}, "a whole number of more than 400 digits (at x); write it as text"),
        (AgentReply(messages=SAID, output={"x": NAN}), "nan is no number that JSON can hold "
         "(at x); leave it out or null"),
        (AgentReply(messages=SAID, events=({"name": "e", "data": {"x": NAN}},)), "nan is no number "
         "that JSON can hold (at 0.data.x); leave it out or null"),
        (Transcript(case_id="c1", output={"x": NAN}), "nan is no number that JSON can hold "
         "(at output.x); leave it out or null"),
    ],
)  # fmt: skip
def test_a_number_that_json_cannot_hold_is_the_programs_failure(
    returned: object, message: str
) -> None:
    failure = program(returned).failure

    assert failure is not None
    assert (failure.kind, failure.type, failure.message) == ("agent", "ValueError", message)


@pytest.mark.parametrize("method", ["state", "events", "sources"])
def test_a_hook_that_tells_nan_is_the_programs_failure(method: str) -> None:
    class Told:
        def __call__(self, messages: object) -> str:
            return "ok"

    told = {"state": {"x": NAN}, "events": [{"x": NAN}], "sources": [{"id": "a", "score": NAN}]}
    setattr(Told, method, lambda self: told[method])

    failure = converse(ProgramAgent(Told, stamps=STAMPS), CASE, now=NOW).failure

    assert failure is not None
    assert (failure.kind, failure.type) == ("agent", "ValueError")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('{"text": "ok", "cost_usd": NaN}', "not JSON: NaN is no number there; null is"),
        ('{"text": "ok", "cost_usd": -Infinity}', "not JSON: -Infinity is no number there"),
        ('{"output": {"x": NaN}}', "not JSON: NaN is no number there; null is"),
        ('{"output": {"x": 1e999}}', "inf is no number that JSON can hold (at output.x)"),
    ],
)
def test_a_served_answer_with_nan_is_no_json(body: str, told: str) -> None:
    failure = served(body).failure

    assert failure is not None
    assert (failure.kind, failure.type) == ("agent", "HTTPAgentFailure")
    assert told in failure.message


@pytest.mark.parametrize("cost", [-5, True, "0.5", 1e300])
def test_a_cost_that_is_none_is_unknown_with_a_note_and_passes_no_limit(cost: object) -> None:
    by_program = program(AgentReply(messages=SAID, cost_usd=cost))  # type: ignore[arg-type]
    by_server = served(json.dumps({"text": "ok", "cost_usd": cost}))

    for transcript in (by_program, by_server):
        assert transcript.failure is None
        assert transcript.cost_usd is None
        assert transcript.extra == {
            "notes": [f"cost_usd came as {cost!r}, no number of 0 or more, so it is unknown"]
        }
        assert limits(transcript)["max_cost_usd"] is None
        # What is read from disk later says the same.
        assert Transcript.model_validate_json(transcript.model_dump_json()) == transcript


@pytest.mark.parametrize("seconds", [NAN, -1.0, True])
def test_a_time_that_is_none_is_left_to_the_stopwatch(seconds: float) -> None:
    transcript = program(AgentReply(messages=SAID, seconds=seconds))

    assert transcript.seconds is not None
    assert 0 <= transcript.seconds < 60
    assert "seconds came as" in str(transcript.extra)


@pytest.mark.parametrize("tokens", [-5, True, "7", 7.5])
def test_a_count_that_is_none_is_unknown_with_a_note_and_passes_no_limit(tokens: object) -> None:
    usage = {"input_tokens": tokens, "output_tokens": 2}

    transcript = served(json.dumps({"text": "ok", "usage": usage}))

    assert transcript.usage == Usage(calls=1, input_tokens=None, output_tokens=2)
    assert transcript.extra == {
        "notes": [
            f"usage.input_tokens came as {tokens!r}, no whole number of 0 or more, so it is unknown"
        ]
    }
    assert limits(transcript)["max_tokens"] is None


def test_a_usage_that_is_none_is_the_programs_failure() -> None:
    negative = Usage.model_construct(calls=1, input_tokens=-5, output_tokens=1)

    for usage in ({"calls": 1, "input_tokens": -5}, "many", negative):
        failure = program(AgentReply(messages=SAID, usage=usage)).failure  # type: ignore[arg-type]

        assert failure is not None
        assert failure.kind == "agent"


def test_a_returned_transcript_is_checked_although_it_was_copied_without_a_check() -> None:
    made = Transcript(case_id="c1").model_copy(update={"cost_usd": -5.0})

    failure = program(made).failure

    assert failure is not None
    assert failure.kind == "agent"
    assert "cost_usd" in failure.message


@pytest.mark.parametrize(
    ("told", "known"),
    [(0, 0.0), (0.5, 0.5), (Decimal("0.5"), 0.5), (np.float32(0.5), 0.5), (np.int64(2), 2.0)],
)
def test_a_cost_in_any_kind_of_number_is_known(told: object, known: float) -> None:
    assert told_number(told, "cost_usd") == (known, ())


def test_numpys_numbers_in_a_record_are_plain_ones() -> None:
    made = plain({"n": np.int64(3), "x": np.float32(0.5), "b": np.True_, "a": np.array([1, 2])})

    assert made == {"n": 3, "x": 0.5, "b": True, "a": [1, 2]}
    assert json.loads(json.dumps(made, allow_nan=False)) == made


@given(st.one_of(st.floats(), st.integers(), st.booleans(), st.text(), st.decimals(), st.none()))
def test_what_is_told_is_unknown_or_a_number_that_a_transcript_takes(value: object) -> None:
    known, notes = told_number(value, "cost_usd")

    assert (known is None) == (value is None or bool(notes))
    assert Transcript(case_id="c", cost_usd=known).cost_usd == known


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("cost_usd", -0.5), ("cost_usd", True), ("cost_usd", "0.5"), ("seconds", -1),
        ("seconds", False), ("reward", True), ("reward", "1"), ("repeat", True), ("repeat", -1),
        ("usage", {"input_tokens": -3}), ("usage", {"output_tokens": True}),
        ("usage", {"calls": 1.5}),
    ],
)  # fmt: skip
def test_a_recording_with_a_number_that_is_none_is_refused_with_its_line(
    tmp_path: Path, field: str, value: object
) -> None:
    path = tmp_path / "recorded.jsonl"
    good = {"case_id": "a", "turns": [{"role": "assistant", "text": "ok"}], "reward": -1.5,
            "cost_usd": 0, "seconds": 2, "usage": {"input_tokens": 12.0}}  # fmt: skip
    path.write_text(
        "".join(json.dumps(row) + "\n" for row in (good, {**good, "case_id": "b", field: value}))
    )
    spec = AgentSpec(model="m", prompt="v1", recorded=path.name)

    with pytest.raises(ConfigError) as caught:
        load_agent(spec, folder=tmp_path)

    (problem,) = caught.value.problems
    assert (problem.file, problem.line) == (str(path), 2)
    assert f'"{field}' in problem.message


def test_a_recorded_reward_may_be_negative_and_tokens_may_be_written_as_floats() -> None:
    made = Transcript.model_validate({"case_id": "a", "reward": -1, "usage": {"calls": 2.0}})

    assert (made.reward, made.usage.calls) == (-1.0, 2)
