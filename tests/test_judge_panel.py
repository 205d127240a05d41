"""A panel decides by majority, or says that it cannot; it never averages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged import dimension, said, talk

from agenteval_kit.judge import Judge, Judges, judge_transcript
from agenteval_kit.judge.judges import judge_name, panel_of, seats_independent
from agenteval_kit.judge.panel import decide
from agenteval_kit.models.openai_model import OpenAIModel
from agenteval_kit.models.scripted import ScriptedModel
from agenteval_kit.models.tape import Tape
from agenteval_kit.records import SeatRecord, VerdictRow
from agenteval_kit.testing import Asked, ScriptedServer, refuse, say

PANEL = dimension(panel=3)


def seats(scores: Sequence[int | None], *, reason: str = "the reply is empty") -> list[SeatRecord]:
    return [
        SeatRecord(
            seat=seat,
            model="m",
            score=score,
            status="unscored" if score is None else "scored",
            reason=reason if score is None else "",
        )
        for seat, score in enumerate(scores)
    ]


@pytest.mark.parametrize(
    ("scores", "score", "flags"),
    [
        ((4,), 4, ()),
        ((3, 3, 3), 3, ()),
        ((3, 3, 2), 3, ("panel_disagreement",)),
        ((1, 4, 1), 1, ("panel_disagreement",)),
        ((3, 3, None), 3, ("seat_missing",)),
        ((0, 0, None), 0, ("seat_missing",)),
        ((1, 1, 1, 2, 3), 1, ("panel_disagreement",)),
        ((1, 1, 2, None, None), 1, ("panel_disagreement", "seat_missing")),
    ],
)
def test_the_majority_of_the_seats_is_the_score(
    scores: tuple[int | None, ...], score: int, flags: tuple[str, ...]
) -> None:
    decided = decide(seats(scores))

    assert (decided.score, decided.reason, decided.flags) == (score, "", flags)


@pytest.mark.parametrize(
    ("scores", "reason", "flags"),
    [
        ((1, 2, 3), "panel split: 1, 2, 3", ("panel_disagreement", "panel_split")),
        (
            (2, 3, None),
            "panel split: 2, 3",
            ("panel_disagreement", "seat_missing", "panel_split"),
        ),
        (
            (1, 1, 2, 2, 3),
            "panel split: 1, 1, 2, 2, 3",
            ("panel_disagreement", "panel_split"),
        ),
        ((3, None, None), "only 1 of 3 seats gave a score: the reply is empty", ("seat_missing",)),
        (
            (3, 3, None, None, None),
            "only 2 of 5 seats gave a score: the reply is empty",
            ("seat_missing",),
        ),
        ((None, None, None), "no seat gave a score: the reply is empty", ("seat_missing",)),
        ((None,), "the reply is empty", ()),
    ],
)
def test_without_a_majority_there_is_no_score(
    scores: tuple[int | None, ...], reason: str, flags: tuple[str, ...]
) -> None:
    decided = decide(seats(scores))

    assert (decided.score, decided.reason, decided.flags) == (None, reason, flags)


@given(st.lists(st.sampled_from([None, 1, 2, 3, 4]), min_size=3, max_size=3))
def test_the_order_of_the_seats_does_not_matter(scores: list[int | None]) -> None:
    decided = {decide(seats(order)) for order in permutations(scores)}

    assert len(decided) == 1


@given(st.lists(st.sampled_from([None, 1, 2, 3, 4]), min_size=1, max_size=9))
def test_a_score_was_given_by_more_than_half_of_the_seats_that_scored(
    scores: list[int | None],
) -> None:
    score = decide(seats(scores)).score

    given_scores = [one for one in scores if one is not None]
    if score is not None:
        assert 2 * given_scores.count(score) > len(given_scores)
        assert 2 * len(given_scores) > len(scores)


def ask_panel(replies: dict[str, object], tmp_path: Path) -> VerdictRow:
    with ScriptedServer(lambda asked: replies[asked.body["model"]]) as server:
        models = [OpenAIModel(name, base_url=server.base_url) for name in replies]
        return judge_transcript(talk(), PANEL, models, tape=Tape(tmp_path / "calls.jsonl"))


def test_three_models_on_one_server_sit_on_one_panel(tmp_path: Path) -> None:
    row = ask_panel({"a": said(3), "b": said(2), "c": said(3)}, tmp_path)

    assert (row.score, row.flags) == (3, ("panel_disagreement",))
    assert row.judge == "a + b + c"
    assert [(seat.seat, seat.model, seat.score) for seat in row.seats] == [
        (0, "a", 3), (1, "b", 2), (2, "c", 3),
    ]  # fmt: skip
    assert row.independent


def test_a_seat_that_refuses_is_missing_and_those_present_decide(tmp_path: Path) -> None:
    row = ask_panel({"a": said(2), "b": refuse("No."), "c": said(2)}, tmp_path)

    assert (row.score, row.flags) == (2, ("seat_missing",))
    assert row.seats[1].reason == "the judge refused: No."


def test_one_model_on_three_seats_is_asked_three_times_with_three_requests(
    tmp_path: Path,
) -> None:
    def answer(asked: Asked) -> object:
        return say(said([2, 2, 4][asked.times]))

    with ScriptedServer(answer) as server:
        model = OpenAIModel("a", base_url=server.base_url, max_concurrency=1)
        row = judge_transcript(talk(), PANEL, model, tape=Tape(tmp_path / "calls.jsonl"))

    # The seat is in the tape's digest, not in what is sent.
    assert len({asked.digest for asked in server.asked}) == 1
    assert len(server.asked) == 3
    assert sorted(seat.score for seat in row.seats if seat.score) == [2, 2, 4]
    assert not row.independent
    assert row.diag == "seats not independent"
    assert row.judge == "a ×3"


def test_seats_of_one_model_are_independent_only_above_temperature_0() -> None:
    one, other = ScriptedModel([], name="a"), ScriptedModel([], name="b")
    warm = Judge(one, {"temperature": 0.7})

    assert not seats_independent([Judge(one), Judge(one), Judge(other)])
    assert seats_independent([Judge(one), Judge(other)])
    assert seats_independent([warm, warm, warm])
    assert seats_independent([Judge(one), warm, Judge(other)])
    assert judge_name([Judge(one), Judge(other), Judge(one)]) == "a ×2 + b"


def test_fewer_models_than_seats_sit_again_from_the_first() -> None:
    models = [Judge(ScriptedModel([], name=name)) for name in ("a", "b")]

    panel = panel_of(PANEL, Judges(tuple(models)))

    assert [judge.model.name for judge in panel] == ["a", "b", "a"]
