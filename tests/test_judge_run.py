"""A run is judged through the real client over HTTP: what is asked, kept, retried and added up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from judged import CLOCK, STAMPS, dimension, make_judged_run, rows_of, rubric, said, talk

from agenteval_kit.errors import ConfigError, InfrastructureError, StampError
from agenteval_kit.files import digest
from agenteval_kit.judge import (
    Judge,
    JudgeEstimate,
    JudgeProgress,
    Judges,
    judge_run,
    judge_transcript,
    judged_summary,
    load_judges,
)
from agenteval_kit.models.limits import Limits
from agenteval_kit.models.openai_model import OpenAIModel
from agenteval_kit.models.prices import Price
from agenteval_kit.models.retries import Retries
from agenteval_kit.models.scripted import ScriptedModel
from agenteval_kit.models.tape import Tape, TapeModel
from agenteval_kit.records import AgentStamps, Case, Failure, JudgeSpec, Transcript
from agenteval_kit.rubrics import load_rubric
from agenteval_kit.runs import Run
from agenteval_kit.stats.proportion import wilson
from agenteval_kit.testing import (
    Asked,
    ScriptedServer,
    cut,
    fail,
    out_of_quota,
    refuse,
    refuse_parameter,
    say,
)

QUICK = Retries(first=0.01, attempts=2)


def served(server: ScriptedServer, name: str = "judge-1", **given: Any) -> OpenAIModel:
    return OpenAIModel(name, base_url=server.base_url, **{"retries": QUICK, **given})


def talks(count: int, **changed: Any) -> list[Transcript]:
    return [talk(f"c{number}", answer=f"Refunded {number}.", **changed) for number in range(count)]


def judged(
    script: Any, folder: Path, *, count: int = 1, **given: Any
) -> tuple[list[Any], list[Asked]]:
    """The rows and requests of a fresh run of so many transcripts under one scripted judge."""
    run = make_judged_run(folder, talks(count))
    with ScriptedServer(script) as server:
        judge_run(run, rubric(), served(server), **given)
    return rows_of(run), server.asked


# What one verdict holds.


def test_a_verdict_holds_its_score_its_evidence_and_every_digest(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, [talk("c0")])

    with ScriptedServer([say(said(3), model="judge-1-2026-01-01")]) as server:
        result = judge_run(run, rubric(), served(server))

    (row,) = run.verdict_rows()
    (stamp,) = run.judge_stamps()
    assert (row.case_id, row.repeat, row.dimension, row.layer) == ("c0", 0, "goal", "outcome")
    assert (row.score, row.status, row.reason, row.levels) == (3, "scored", "", (1, 2, 3, 4))
    assert row.judge == "judge-1"
    assert row.rubric == "made 1"
    assert row.judge_digest == stamp.judge_digest == result.summary["goal"].judge_digest
    assert row.dimension_digest == stamp.dimension_digest
    assert row.agent_digest == digest(STAMPS.model_dump(exclude={"model_served"}))
    (seat,) = row.seats
    assert (seat.model, seat.model_served) == ("judge-1", "judge-1-2026-01-01")
    assert [(one.turn, one.quote) for one in seat.evidence] == [(1, None)]
    assert seat.justification == "It says so."
    assert seat.reply == said(3)
    assert (seat.status, seat.attempts, seat.repaired) == ("scored", 1, "")
    assert seat.notes == ("structured output: json_schema",)
    assert (result.kept, result.made, result.replies, result.from_tape) == (0, 1, 1, 0)
    assert result.complete


def test_one_dimension_a_call_at_temperature_0_with_a_schema(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, [talk("c0")])

    with ScriptedServer([said(3)]) as server:
        judge_run(run, rubric(dimension("a"), dimension("b")), served(server))

    bodies = [asked.body for asked in server.asked]
    assert len(bodies) == 2
    assert {body["temperature"] for body in bodies} == {0}
    assert {body["max_tokens"] for body in bodies} == {1024}
    assert {body["response_format"]["type"] for body in bodies} == {"json_schema"}
    systems = [body["messages"][0]["content"] for body in bodies]
    assert ["Dimension: a\n" in text for text in systems] == [True, False]
    assert ["Dimension: b\n" in text for text in systems] == [False, True]


def test_a_reply_in_a_fence_is_repaired_and_kept_as_it_came(tmp_path: Path) -> None:
    text = f"Gladly.\n```json\n{said(2)}\n```"

    (row,), _ = judged([text], tmp_path)

    assert row["score"] == 2
    assert row["seats"][0]["repaired"] == "fence, chatter"
    assert row["seats"][0]["reply"] == text


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (said(7), "7 is no level of 1 to 4"),
        (said(True), "true is no level of 1 to 4"),
        ("I would say four.", 'unreadable: no object with "score"'),
        ("", "the reply is empty"),
        (f"{said(3)} or {said(4)}", 'ambiguous: 2 different objects with "score" in one reply'),
    ],
)
def test_an_unreadable_reply_is_unscored_with_its_reason_and_asked_once(
    reply: str, reason: str, tmp_path: Path
) -> None:
    (row,), asked = judged([reply], tmp_path)

    assert (row["score"], row["status"], row["reason"]) == (None, "unscored", reason)
    assert (row["seats"][0]["status"], row["seats"][0]["reason"]) == ("unscored", reason)
    assert len(asked) == 1


def test_half_a_character_in_a_reply_is_kept_as_what_a_file_can_hold(tmp_path: Path) -> None:
    (row,), _ = judged([say(said(3, more="\ud800") + " \ud83d")], tmp_path)

    assert row["score"] == 3
    assert row["seats"][0]["reply"].endswith(" ?")


def test_a_refusal_is_its_own_reason(tmp_path: Path) -> None:
    (row,), asked = judged([refuse("I can't judge people.")], tmp_path)

    assert row["reason"] == "the judge refused: I can't judge people."
    assert len(asked) == 1


def test_a_provider_that_filters_the_reply_counts_as_a_refusal(tmp_path: Path) -> None:
    (row,), _ = judged([say(said(3), finish="content_filter")], tmp_path)

    assert row["reason"] == "the judge refused: its provider's filter cut in"


# Cut replies (trap 3).


@pytest.mark.parametrize("text", ["", '{"evidence": [', said(4)])
def test_a_cut_reply_is_asked_for_once_more_with_a_larger_cap(text: str, tmp_path: Path) -> None:
    (row,), asked = judged([cut(text), said(2)], tmp_path)

    assert (row["score"], row["seats"][0]["attempts"]) == (2, 2)
    assert [one.body["max_tokens"] for one in asked] == [1024, 4096]


def test_a_reply_that_is_cut_twice_is_unscored_and_names_the_cap(tmp_path: Path) -> None:
    (row,), asked = judged([cut(), cut()], tmp_path)

    assert row["score"] is None
    assert row["reason"] == (
        "truncated: the reply was cut at 1024 tokens and again at 4096; give max_tokens in judge: "
        "parameters"
    )
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("parameters", "sent"),
    [
        (
            {"max_completion_tokens": 50},
            [("max_completion_tokens", 50), ("max_completion_tokens", 200)],
        ),
        ({"max_tokens": 10}, [("max_tokens", 10), ("max_tokens", 40)]),
        # Without a cap of ours it was the server's: four times what came.
        ({"max_tokens": None}, [("max_tokens", None), ("max_tokens", 20)]),
    ],
)
def test_the_cap_that_grows_is_the_one_that_was_sent(
    parameters: dict[str, Any], sent: list[tuple[str, Any]], tmp_path: Path
) -> None:
    spec = JudgeSpec.model_validate({"models": ["judge-1"], "parameters": parameters})
    given = load_judges(spec).models[0].parameters
    run = make_judged_run(tmp_path, talks(1))

    with ScriptedServer([cut(), said(2)]) as server:
        judge_run(run, rubric(), Judge(served(server), given))

    assert [
        (name, one.body.get(name)) for one, (name, _) in zip(server.asked, sent, strict=True)
    ] == sent
    assert [row["score"] for row in rows_of(run)] == [2]


def test_a_larger_cap_that_the_server_refuses_leaves_the_reply_truncated(tmp_path: Path) -> None:
    (row,), _ = judged([cut(), fail(400, "max_tokens is too large: 4096")], tmp_path)

    assert row["reason"].startswith(
        "truncated: the reply was cut at 1024 tokens, and more were refused: "
    )


# Evidence.


def test_evidence_that_is_not_there_is_asked_for_once_more_as_a_new_attempt(
    tmp_path: Path,
) -> None:
    (row,), asked = judged([said(4, turn=9), said(3)], tmp_path)

    assert (row["score"], row["seats"][0]["attempts"], row["flags"]) == (3, 2, ())
    first, second = (one.body["messages"] for one in asked)
    assert second[0] == first[0]
    assert "was set aside" in second[1]["content"]
    assert said(4, turn=9) not in json.dumps(second)


def test_evidence_that_is_not_there_twice_is_unscored_and_flagged(tmp_path: Path) -> None:
    (row,), asked = judged([said(4, turn=9)], tmp_path)

    assert row["score"] is None
    assert row["reason"] == "evidence not found: there is no turn 9; the last one is 1"
    assert row["flags"] == ("evidence_not_found",)
    assert row["seats"][0]["evidence"] == ({"turn": 9, "quote": None},)
    assert len(asked) == 2


def test_a_re_ask_never_replays_the_bad_reply(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, [talk("c0")])
    with ScriptedServer([said(4, turn=9), said(3)]) as server:
        judge_run(run, rubric(), served(server))
        rows = rows_of(run)
        (run.path / "verdicts.jsonl").unlink()

        again = judge_run(run, rubric(), served(server))

    assert len(server.asked) == 2
    # Both replies are on the tape, each under the request that it answered.
    assert (again.replies, again.from_tape) == (2, 2)
    assert rows_of(run) == rows


def test_a_cut_reply_and_bad_evidence_may_befall_one_seat(tmp_path: Path) -> None:
    (row,), asked = judged([cut(), said(4, turn=9), said(1)], tmp_path)

    assert (row["score"], row["seats"][0]["attempts"]) == (1, 3)
    assert [one.body["max_tokens"] for one in asked] == [1024, 4096, 4096]


def test_a_claim_over_retrieved_passages_may_be_null_at_the_top(root: Path, tmp_path: Path) -> None:
    grounding = load_rubric(root / "data" / "rubrics" / "grounding_0_3.yaml")
    run = make_judged_run(tmp_path, talks(2))

    def answer(asked: Asked) -> Any:
        clean = "Refunded 0" in asked.text
        return say(
            json.dumps(
                {
                    "offending_claim": None if clean else "Refunded 1",
                    "reason": "So.",
                    "score": 3 if clean else 0,
                }
            )
        )

    with ScriptedServer(answer) as server:
        judge_run(run, grounding, [served(server, name) for name in "abc"])

    rows = rows_of(run)
    assert [(row["case_id"], row["score"]) for row in rows] == [("c0", 3), ("c1", 0)]
    assert rows[1]["seats"][0]["evidence"] == ({"turn": 1, "quote": "Refunded 1"},)
    assert judged_summary(run)["grounding"].distribution == {0: 1, 1: 0, 2: 0, 3: 1}


# Servers that want it otherwise (trap 8).


def test_a_model_that_refuses_temperature_is_asked_without_it_and_the_row_says_so(
    tmp_path: Path,
) -> None:
    def answer(asked: Asked) -> Any:
        return refuse_parameter("temperature") if "temperature" in asked.body else say(said(3))

    run = make_judged_run(tmp_path, talks(40))
    with ScriptedServer(answer) as server:
        result = judge_run(run, rubric(), served(server, max_concurrency=4))

    refused = [one for one in server.asked if "temperature" in one.body]
    assert len(refused) <= 4
    assert len(server.asked) <= 44
    assert all("temperature refused, dropped" in row["seats"][0]["notes"] for row in rows_of(run))
    assert "temperature refused, dropped" in result.summary["goal"].diag


def test_a_server_without_structured_output_is_asked_in_plain_words(tmp_path: Path) -> None:
    def answer(asked: Asked) -> Any:
        if "response_format" in asked.body:
            return refuse_parameter("response_format")
        return say(f"Here: {said(2)}")

    (row,), _ = judged(answer, tmp_path)

    assert row["score"] == 2
    assert row["seats"][0]["notes"] == ("structured output: plain",)


def test_a_request_that_the_server_refuses_is_unscored_and_not_asked_again(tmp_path: Path) -> None:
    (row,), asked = judged([fail(400, "this model's maximum context length is 4096")], tmp_path)

    assert row["reason"].startswith("the request was refused: ")
    assert (row["seats"][0]["attempts"], row["seats"][0]["reply"]) == (1, "")
    assert "maximum context length" in row["reason"]
    assert len(asked) == 1


# Providers that fail, and the resuming.


def test_a_verdict_whose_provider_failed_has_no_row_and_is_asked_for_again(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, talks(3))
    panel = rubric(dimension(panel=3))
    down = True

    def answer(asked: Asked) -> Any:
        bad = down and asked.body["model"] == "b" and "Refunded 1" in asked.text
        return fail(500) if bad else say(said(3))

    with ScriptedServer(answer) as server:
        models = [served(server, name) for name in ("a", "b", "c")]
        first = judge_run(run, panel, models)
        before = len(server.asked)
        down = False
        second = judge_run(run, panel, models)
        after = server.asked[before:]

    assert (first.made, first.failed, first.complete) == (2, 1, False)
    assert first.summary["goal"].missing == 1
    assert first.summary["goal"].diag == "1 not judged yet"
    assert (second.kept, second.made, second.complete) == (2, 1, True)
    # The seats that had answered are read from the tape.
    assert [one.body["model"] for one in after] == ["b"]
    assert [row["score"] for row in rows_of(run)] == [3, 3, 3]


@pytest.mark.parametrize(
    ("answer", "word"), [(fail(503), "503"), (out_of_quota(), "quota")], ids=["down", "quota"]
)
def test_a_provider_that_is_down_or_out_of_quota_stops_the_judging_resumably(
    answer: Any, word: str, tmp_path: Path
) -> None:
    run = make_judged_run(tmp_path, talks(100))
    script: list[Any] = [said(3)] * 10 + [answer]

    with ScriptedServer(script) as server:
        first = judge_run(run, rubric(), served(server, max_concurrency=4))
    with ScriptedServer([said(3)]) as server:
        second = judge_run(run, rubric(), served(server))

    assert word in first.stopped
    assert "resume" in first.stopped
    assert not first.complete
    assert 6 <= first.made <= 10
    assert second.complete
    assert second.summary["goal"].n == 100


def test_a_limit_on_calls_stops_the_judging_resumably(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, talks(20))

    with ScriptedServer([said(3)]) as server:
        limited = served(server, limits=Limits(calls=7))
        first = judge_run(run, rubric(), limited)
        second = judge_run(run, rubric(), served(server))

    assert "the limit of 7 calls is reached" in first.stopped
    assert (first.made, second.kept, second.made) == (7, 7, 13)
    assert len(server.asked) == 20


def test_a_refused_key_is_a_configuration_error(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, talks(3))

    with ScriptedServer([fail(401)]) as server, pytest.raises(ConfigError, match="key was refused"):
        judge_run(run, rubric(), served(server))

    assert rows_of(run) == []


def test_an_interrupt_keeps_what_arrived_and_the_same_call_resumes(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, talks(40))

    def interrupt(told: JudgeProgress) -> None:
        if told.done == 5:
            raise KeyboardInterrupt

    with ScriptedServer(lambda _: say(said(3)), latency=0.02) as server:
        model = served(server, max_concurrency=4)
        first = judge_run(run, rubric(), model, progress=interrupt)
        second = judge_run(run, rubric(), model)

    assert first.stopped == "interrupted"
    assert first.made == 5
    assert (second.kept, second.made, second.complete) == (5, 35, True)
    # At most what was in flight is asked again.
    assert len(server.asked) <= 40 + 4


@pytest.mark.asyncio
async def test_it_is_called_in_a_running_event_loop_as_anywhere_else(tmp_path: Path) -> None:
    (row,), _ = judged([said(3)], tmp_path)

    assert row["score"] == 3


def test_a_second_call_keeps_every_verdict_and_asks_nothing(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, talks(5))

    with ScriptedServer([said(3)]) as server:
        judge_run(run, rubric(), served(server))
        again = judge_run(run, rubric(), served(server))

    assert (again.kept, again.made, again.replies) == (5, 0, 0)
    assert len(server.asked) == 5
    assert len((run.path / "judges.jsonl").read_text(encoding="utf-8").splitlines()) == 1
    assert again.summary["goal"].n == 5


def test_lost_verdicts_are_made_again_from_the_tape_row_by_row_the_same(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, talks(5))
    panel = rubric(dimension(panel=3))
    with ScriptedServer(lambda asked: say(said(1 + asked.n % 4))) as server:
        judge_run(run, panel, [served(server, name) for name in "abc"])
        names = [served(server, name) for name in "abc"]
    rows = rows_of(run)
    (run.path / "verdicts.jsonl").unlink()

    # No server any more, and no key.
    again = judge_run(run, panel, names)

    assert (again.replies, again.from_tape) == (15, 15)
    assert rows_of(run) == rows


def test_a_shipped_recording_judges_another_copy_of_the_run_without_a_server(
    tmp_path: Path,
) -> None:
    first = make_judged_run(tmp_path, talks(3), name="one")
    with ScriptedServer([said(2)]) as server:
        judge_run(first, rubric(), served(server))
    second = make_judged_run(tmp_path, talks(3), name="two")

    judge_run(second, rubric(), TapeModel(Tape(first.tape_path)))

    assert rows_of(second) == rows_of(first)
    assert len(Tape(second.tape_path)) == 3


def test_a_recording_that_lacks_a_reply_says_what_differs(tmp_path: Path) -> None:
    first = make_judged_run(tmp_path, talks(3), name="one")
    with ScriptedServer([said(2)]) as server:
        judge_run(first, rubric(), served(server))
    second = make_judged_run(tmp_path, talks(4), name="two")

    with pytest.raises(ConfigError, match="holds no reply to this request"):
        judge_run(second, rubric(), TapeModel(Tape(first.tape_path)))

    assert len(rows_of(second)) == 3


def test_another_letter_in_an_anchor_is_another_judge_and_its_rows_are_never_mixed(
    tmp_path: Path,
) -> None:
    run = make_judged_run(tmp_path, talks(4))
    one, other = dimension(), dimension(definition="Whether the customer has it all.")

    with ScriptedServer(lambda asked: say(said(4 if "it all" in str(asked.body) else 1))) as server:
        judge_run(run, rubric(one), served(server))
        latest = judge_run(run, rubric(other), served(server))
        back = judge_run(run, rubric(one), served(server))

    assert latest.summary["goal"].estimate.value == 4
    assert back.summary["goal"].estimate.value == 1
    assert back.made == 0
    # Who was asked last counts, and the others are counted.
    assert judged_summary(run)["goal"].estimate.value == 1
    assert judged_summary(run).others == 4
    assert len(list(run.verdict_rows())) == 8


def test_a_second_process_is_refused_while_the_first_one_judges(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, talks(1))

    with run.lock(), pytest.raises(ConfigError, match="another process is writing this run"):
        judge_run(run, rubric(), ScriptedModel([said(3)]))


# What is judged, and what is not.


def test_a_failed_transcript_is_judged_as_far_as_it_went_or_unscored_with_the_reason(
    tmp_path: Path,
) -> None:
    def broken(name: str, kind: str, **more: Any) -> Transcript:
        failure = Failure(kind=kind, type="RuntimeError", message="")  # type: ignore[arg-type]
        return talk(name, failure=failure, **more)

    run = make_judged_run(
        tmp_path,
        [
            broken("half", "agent"),
            broken("empty", "agent", turns=()),
            broken("down", "infrastructure"),
            broken("user", "simulator"),
            talk("silent", answer=""),
        ],
    )

    with ScriptedServer([said(1)]) as server:
        result = judge_run(run, rubric(), served(server))

    assert {row["case_id"]: row["reason"] for row in rows_of(run)} == {
        "half": "",
        "empty": "not judged: the agent failed before it said anything: RuntimeError",
        "down": "not judged: infrastructure failure: RuntimeError",
        "user": "not judged: simulator failure: RuntimeError",
        "silent": "not judged: the agent said and did nothing",
    }
    assert len(server.asked) == 1
    goal = result.summary["goal"]
    assert (goal.n, goal.unscored, goal.worst) == (1, 4, 1.0)
    assert goal.reasons == {"not judged": 4}


def test_a_case_is_asked_the_dimensions_it_lists_and_its_own_sentence_where_it_has_one(
    tmp_path: Path,
) -> None:
    run = make_judged_run(tmp_path, talks(3))
    made = rubric(dimension("a"), dimension("b"), dimension("own", inputs=["rubric", "answer"]))
    items = [
        Case(id="c0", input="?", dimensions=["a"]),
        Case(id="c1", input="?", rubric="Says 1."),
        Case(id="c2", input="?", dimensions=["a", "bb"], rubric="Says 2."),
    ]

    with ScriptedServer([said(3)]) as server:
        result = judge_run(run, made, served(server), items=items)

    asked = sorted((row["case_id"], row["dimension"]) for row in rows_of(run))
    assert asked == [("c0", "a"), ("c1", "a"), ("c1", "b"), ("c1", "own"), ("c2", "a")]
    assert "<rubric>\n| Says 1.\n</rubric>" in json.dumps(
        [one.body for one in server.asked]
    ).replace("\\n", "\n")
    assert result.warnings == (
        'rubric made has no dimension "bb", which 1 case lists. Did you mean "b"?',
    )


def test_the_expected_outcome_is_shown_to_the_dimension_that_asks_for_it(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, talks(1))
    made = rubric(dimension(inputs=["transcript", "expected_outcome"]))

    with ScriptedServer([said(3)]) as server:
        judge_run(run, made, served(server),
                  items=[Case(id="c0", input="?", expected_outcome="Money back.")])  # fmt: skip

    assert "<expected_outcome>\n| Money back.\n</expected_outcome>" in server.asked[0].text


def test_repeats_of_a_case_are_different_samples(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, [talk("c0", repeat=repeat) for repeat in range(3)])

    with ScriptedServer(lambda asked: say(said(1 + asked.n))) as server:
        judge_run(run, rubric(), served(server, max_concurrency=1))

    assert sorted(row["score"] for row in rows_of(run)) == [1, 2, 3]
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"dimensions": ["gaol"]}, 'has no dimension "gaol". Did you mean "goal"?'),
        (
            {"items": [Case(id="c0", input="?", dimensions=["other"])]},
            "nothing was judged: run run has no transcript that any dimension",
        ),
    ],
)
def test_what_cannot_be_judged_is_told_before_anything_is_asked(
    given: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    run = make_judged_run(tmp_path, talks(1))

    with ScriptedServer([said(3)]) as server:
        with pytest.raises(ConfigError) as caught:
            judge_run(run, rubric(), served(server), **given)

        assert server.asked == []
    assert sentence in str(caught.value)


def test_a_rubric_of_pairwise_criteria_only_is_for_comparing(root: Path, tmp_path: Path) -> None:
    pairwise = load_rubric(root / "data" / "rubrics" / "outcome_pairwise.yaml")
    run = make_judged_run(tmp_path, talks(1))

    with pytest.raises(ConfigError, match="pairwise criteria are for `agenteval compare`"):
        judge_run(run, pairwise, ScriptedModel([said(3)]))


# The agent's own model.


@pytest.mark.parametrize("name", ["agent-1", "AGENT-1", "maker/agent-1", "agent-1-2026-01-01"])
def test_a_judge_that_is_the_agents_model_is_said_on_every_row(name: str, tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, talks(2))

    with ScriptedServer([said(3)]) as server:
        result = judge_run(run, rubric(), served(server, name))

    assert all(row["same_model"] for row in rows_of(run))
    assert "judge = agent model" in result.summary["goal"].diag
    assert "judge = agent model" in result.summary["goal"].estimate.diag


def test_a_judge_that_is_served_as_the_agents_model_is_said_on_its_row(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, talks(2))

    with ScriptedServer([say(said(3), model="agent-1"), say(said(3), model="m-2")]) as server:
        judge_run(run, rubric(), served(server, "alias", max_concurrency=1))

    assert [row["same_model"] for row in rows_of(run)] == [True, False]


def test_a_suite_that_forbids_it_refuses_the_agents_model_before_anything_is_asked(
    tmp_path: Path,
) -> None:
    run = make_judged_run(tmp_path, talks(2))
    spec = JudgeSpec.model_validate({"models": ["agent-1"], "allow_same_model": False})

    with pytest.raises(StampError) as caught:
        judge_run(run, rubric(), load_judges(spec))

    assert str(caught.value) == (
        'judge "agent-1" is the agent\'s own model (agent-1), and this suite says '
        "allow_same_model: false; name another judge"
    )


def test_a_judge_that_turns_out_to_be_the_agents_model_is_refused_when_it_answers(
    tmp_path: Path,
) -> None:
    agent = AgentStamps(model="gateway", prompt="v1", model_served="m-7")
    run = make_judged_run(tmp_path, [talk("c0", stamps=agent)], agent=agent)

    with ScriptedServer([say(said(3), model="m-7")]) as server:
        judges = Judges(load_judges("alias").models, allow_same_model=False)
        judges = Judges(
            tuple(type(one)(served(server, "alias")) for one in judges.models),
            allow_same_model=False,
        )
        with pytest.raises(StampError, match='judge "m-7" is the agent\'s own model'):
            judge_run(run, rubric(), judges)

    assert rows_of(run) == []


# A level that the bar never allows.


@pytest.mark.parametrize(
    ("again", "confirmed"), [((1, 1), True), ((1, 3), True), ((3, 3), False), ((7, 3), False)]
)
def test_a_level_that_is_never_allowed_is_asked_for_twice_more(
    again: tuple[int, int], confirmed: bool, tmp_path: Path
) -> None:
    (row,), asked = judged(
        lambda one: say(said([1, *again][one.times])), tmp_path, never={"goal": 1}
    )

    assert len(asked) == 3
    # The mean stays that of the first asking.
    assert row["score"] == 1
    assert [seat["seat"] for seat in row["again"]] == [1, 2]
    (read,) = Run.open(tmp_path / "run").verdict_rows()
    assert read.confirmed(1) is confirmed


def test_a_level_that_is_allowed_or_a_panels_is_not_asked_for_again(tmp_path: Path) -> None:
    alone = make_judged_run(tmp_path, talks(1), name="alone")
    panel = make_judged_run(tmp_path, talks(1), name="panel")

    with ScriptedServer([said(2)]) as server:
        judge_run(alone, rubric(), served(server), never={"goal": 1})
        judge_run(panel, rubric(dimension(panel=3)), served(server), never={"goal": 2})

    assert len(server.asked) == 4
    (row,) = panel.verdict_rows()
    assert row.confirmed(2) is True
    (row,) = alone.verdict_rows()
    assert row.confirmed(2) is None


def test_a_verdict_from_before_the_bar_was_known_is_confirmed_later(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, talks(1))

    with ScriptedServer([said(1)]) as server:
        judge_run(run, rubric(), served(server))
        later = judge_run(run, rubric(), served(server), never={"goal": 1})

    (row,) = run.verdict_rows()
    assert row.confirmed(1) is True
    assert (later.kept, later.made, later.from_tape) == (0, 1, 1)
    assert len(server.asked) == 3
    assert judged_summary(run)["goal"].n == 1


# Before anything is paid for, and while it is.


def test_the_estimate_comes_first_and_no_means_no(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, talks(3))
    told: list[JudgeEstimate] = []

    def refuse_it(estimate: JudgeEstimate) -> bool:
        told.append(estimate)
        return False

    with ScriptedServer([said(3)]) as server:
        model = served(server, price=Price(1.0, 2.0, "2026-01-01"))
        result = judge_run(run, rubric(dimension(panel=3)), model, confirm=refuse_it)

        assert server.asked == []
    (estimate,) = told
    assert (estimate.verdicts, estimate.calls, estimate.on_tape) == (3, 9, 0)
    assert estimate.usd == pytest.approx((estimate.tokens - 9 * 200 + 2 * 9 * 200) / 1e6)
    assert estimate.text().startswith("3 verdicts: 9 calls; about ")
    assert result.stopped == "not confirmed; nothing was asked"
    assert not result.complete
    # Nobody was asked, so nobody is said to have judged.
    assert run.judge_stamps() == []
    assert result.summary.dimensions == ()


def test_the_estimate_counts_what_the_tape_has_and_leaves_an_unknown_price_unknown(
    tmp_path: Path,
) -> None:
    run = make_judged_run(tmp_path, talks(3))
    told: list[JudgeEstimate] = []

    def note(estimate: JudgeEstimate) -> bool:
        told.append(estimate)
        return True

    with ScriptedServer([said(3)]) as server:
        judge_run(run, rubric(), served(server))
        (run.path / "verdicts.jsonl").unlink()
        judge_run(run, rubric(), served(server), confirm=note)

    assert (told[0].calls, told[0].on_tape, told[0].usd) == (0, 3, 0.0)
    assert "price unknown" in JudgeEstimate(1, 1, 0, 10, None).text()


def test_progress_tells_of_every_verdict(tmp_path: Path) -> None:
    told: list[JudgeProgress] = []
    script = [said(3), said(7)]
    run = make_judged_run(tmp_path, talks(2))

    with ScriptedServer(script) as server:
        judges = load_judges("judge-1")
        model = served(server, meter=judges.meter)
        made = Judges((type(judges.models[0])(model),), meter=judges.meter)
        judge_run(run, rubric(), made, progress=told.append)

    assert [(one.done, one.total) for one in told] == [(1, 2), (2, 2)]
    assert told[-1].unscored == 1
    assert told[-1].replies == 2
    assert told[-1].tokens == 50
    assert told[-1].usd is None
    assert told[-1].left == 0


def test_one_transcript_is_judged_outside_of_any_run(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "calls.jsonl")

    row = judge_transcript(
        talk(), dimension(), ScriptedModel([said(2)]), tape=tape, agent=STAMPS, clock=CLOCK
    )

    assert (row.score, row.dimension) == (2, "goal")
    assert len(tape) == 1


def test_one_transcript_whose_provider_fails_has_no_verdict(tmp_path: Path) -> None:
    model = ScriptedModel([InfrastructureError("down")])

    with pytest.raises(InfrastructureError, match="down"):
        judge_transcript(talk(), dimension(), model, tape=Tape(tmp_path / "calls.jsonl"))


# Who judges, from a suite or a command line.


def test_judges_are_made_from_names_or_from_a_suites_specification(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("B_URL", "http://127.0.0.1:9/v1")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    spec = JudgeSpec.model_validate(
        {
            "models": [
                "a",
                {"name": "b", "base_url_env": "B_URL", "parameters": {"temperature": None}},
                {"name": "c", "parameters": {"max_completion_tokens": 50}},
            ],
            "parameters": {"seed": 7},
        }
    )

    found = load_judges(spec).models

    assert [one.model.name for one in found] == ["a", "b", "c"]
    assert [one.model.endpoint for one in found] == [
        "api.openai.com/v1", "127.0.0.1:9/v1", "api.openai.com/v1",
    ]  # fmt: skip
    assert [dict(one.parameters) for one in found] == [
        {"temperature": 0, "max_tokens": 1024, "seed": 7},
        {"max_tokens": 1024, "seed": 7},
        {"temperature": 0, "seed": 7, "max_completion_tokens": 50},
    ]
    assert [one.model.name for one in load_judges(["x", "y"]).models] == ["x", "y"]


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ([], "no judge is named"),
        (
            JudgeSpec.model_validate({"models": [{"name": "b", "base_url_env": "NOT_SET_URL"}]}),
            "NOT_SET_URL says, which is not set",
        ),
    ],
)
def test_judges_that_cannot_be_made_are_refused(spec: Any, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_judges(spec)

    assert sentence in str(caught.value)


# What it adds up to.


def summed(scores: list[Any], folder: Path, *, panel: int = 1, repeats: int = 1) -> Any:
    """The summary of one dimension over these replies, in order; seats of a case one by one."""
    count = len(scores) // (panel * repeats)
    run = make_judged_run(
        folder, [talk(f"c{case}", answer=f"{case}.{repeat}", repeat=repeat)
                 for case in range(count) for repeat in range(repeats)]
    )  # fmt: skip
    with ScriptedServer([say(said(score)) for score in scores]) as server:
        model = served(server, max_concurrency=1)
        return judge_run(run, rubric(dimension(panel=panel)), model).summary["goal"]


def test_the_mean_has_an_interval_over_the_levels_and_says_what_could_not_be_told(
    tmp_path: Path,
) -> None:
    goal = summed([4] * 18 + [7, 7], tmp_path)

    assert (goal.n, goal.unscored, goal.missing) == (18, 2, 0)
    assert goal.estimate.value == 4
    assert goal.estimate.high == 4
    assert 3.5 < goal.estimate.low < 3.8
    assert goal.estimate.diag == "2 unscored"
    # (18 x 4 + 2 x 1) / 20
    assert goal.worst == pytest.approx(3.7)
    assert goal.distribution == {1: 0, 2: 0, 3: 0, 4: 18}
    assert goal.reasons == {"7 is no level of 1 to 4": 2}
    assert goal.unscored_share == pytest.approx(0.1)
    assert goal.disagreement is None


def test_repeats_of_a_case_are_averaged_before_the_mean(tmp_path: Path) -> None:
    goal = summed([1, 3, 4, 4, 2, 4], tmp_path, repeats=2)

    # Cases 2, 4 and 3.
    assert goal.estimate.value == pytest.approx(3)
    assert goal.estimate.n == 3
    assert (goal.n, goal.estimate.method) == (6, "anchored Bayesian bootstrap, by scenario")


def test_disagreement_of_a_panel_is_a_rate_with_wilsons_interval(tmp_path: Path) -> None:
    goal = summed([3, 3, 3] * 6 + [3, 3, 2] * 2 + [1, 2, 3] + [7, 7, 7], tmp_path, panel=3)

    # Of the nine panels in which two seats or more scored, three disagree.
    assert goal.disagreement.value == pytest.approx(3 / 9)
    assert (goal.disagreement.n, goal.disagreement.method) == (9, "Wilson")
    assert goal.splits == 1
    assert (goal.n, goal.unscored) == (8, 2)
    assert goal.flags == {"panel_disagreement": 3, "panel_split": 1, "seat_missing": 1}
    assert goal.diag == "2 unscored; seats not independent"


def test_disagreement_over_repeats_has_an_interval_by_case(tmp_path: Path) -> None:
    # Ten cases whose three repeats are alike tell no more than ten.
    panels = [[3, 3, 2] * 3] * 2 + [[3, 3, 3] * 3] * 8
    goal = summed([score for one in panels for score in one], tmp_path, panel=3, repeats=3)

    once = wilson(6, 30)
    assert goal.disagreement.value == pytest.approx(0.2)
    assert goal.disagreement.n == 10
    assert goal.disagreement.half_width > 1.5 * once.half_width


def test_all_unscored_is_no_mean_and_no_zero(tmp_path: Path) -> None:
    goal = summed([7, 7, 7], tmp_path)

    assert goal.estimate.value is None
    assert goal.estimate.reason == "all unscored"
    assert goal.worst == 1


def test_one_verdict_is_shown_with_its_doubt(tmp_path: Path) -> None:
    goal = summed([3], tmp_path)

    assert goal.estimate.value == 3
    assert "n = 1" in goal.estimate.diag


def test_a_run_without_verdicts_has_an_empty_summary(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, talks(1))

    summary = judged_summary(run)

    assert summary.dimensions == ()
    assert summary.frame().empty
    assert run.verdicts_frame().empty


def test_a_judge_that_never_judged_this_run_is_refused_by_name(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, talks(1))

    with pytest.raises(ConfigError, match='was not judged on "goal" by judge abc'):
        judged_summary(run, judges={"goal": "abc"})


def test_frames_have_one_row_a_verdict_and_one_a_dimension(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, talks(3))
    with ScriptedServer([said(3), said(7), said(1)]) as server:
        result = judge_run(run, rubric(), served(server, max_concurrency=1))

    frame = run.verdicts_frame()
    summary = result.summary.frame()

    assert list(frame["score"].isna()) == [False, True, False]
    assert str(frame["score"].dtype) == "Int64"
    assert list(summary["name"]) == ["goal"]
    assert summary.loc[0, "n"] == 2
    assert summary.loc[0, "distribution"] == "1: 1, 2: 0, 3: 1, 4: 0"


def test_the_table_for_a_notebook_is_escaped(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, talks(1))
    with ScriptedServer([say(said(3), model="<script>")]) as server:
        result = judge_run(run, rubric(), served(server, "<b>judge</b>"))

    shown = result._repr_html_()

    assert "&lt;b&gt;judge" in shown
    assert "<b>" not in shown
    assert "a trend over a suite, not a verdict on one transcript" in shown


GOOD = {
    "case_id": "c", "dimension": "goal", "layer": "outcome", "score": 3, "status": "scored",
    "levels": [1, 2, 3, 4], "judge": "j", "judge_digest": "d", "rubric": "r 1",
    "rubric_digest": "r", "dimension_digest": "e",
}  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        '{"case_id": 1}',
        '{"case_id": "c", "colour": "red"}',
        json.dumps({**GOOD, "score": 7}),
        json.dumps({**GOOD, "score": None}),
        json.dumps({**GOOD, "status": "unscored"}),
    ],
)
def test_a_row_that_is_no_verdict_is_told_with_file_and_line(line: str, tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, talks(1))
    (run.path / "verdicts.jsonl").write_text(line + "\n", encoding="utf-8")

    with pytest.raises(ConfigError) as caught:
        list(run.verdict_rows())

    assert str(caught.value).startswith(f"{run.path / 'verdicts.jsonl'}:1: is not a verdict: ")


def test_a_torn_last_verdict_is_dropped_and_made_again_from_the_tape(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, talks(3))
    with ScriptedServer([said(3)]) as server:
        judge_run(run, rubric(), served(server))
        rows = rows_of(run)
        path = run.path / "verdicts.jsonl"
        path.write_bytes(path.read_bytes()[:-40])

        again = judge_run(run, rubric(), served(server))

    assert len(server.asked) == 3
    assert (again.kept, again.made) == (2, 1)
    assert rows_of(run) == rows


def test_a_withdrawn_case_takes_its_verdicts_along(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, talks(3))
    with ScriptedServer([said(3)]) as server:
        judge_run(run, rubric(), served(server))

    run.withdraw("c1", by="me", reason="asked to")

    assert [row["case_id"] for row in rows_of(run)] == ["c0", "c2"]


def test_a_planted_key_appears_in_no_file_of_the_run(tmp_path: Path) -> None:
    run = make_judged_run(tmp_path, talks(2))
    key = "sk-planted-0123456789"

    def answer(asked: Asked) -> Any:
        return say(said(3)) if asked.n else fail(400, f"bad request with {key}")

    with ScriptedServer(answer) as server:
        judge_run(run, rubric(), served(server, api_key=key, max_concurrency=1))

    assert {row["score"] for row in rows_of(run)} == {None, 3}
    for file in run.path.iterdir():
        assert key not in file.read_text(encoding="utf-8"), file.name
