"""What a judge points at is looked up: the turn exists, and the words stand in it."""

from __future__ import annotations

from typing import Any

import pytest
from judged import dimension

from agenteval_kit.judge.evidence import check_evidence
from agenteval_kit.records import ToolCall, Transcript, Turn
from agenteval_kit.records.verdicts import Evidence

QUOTE = dimension(evidence={"kind": "quote", "required_at": [1, 2, 3]})
TURNS = dimension()
NONE = dimension(evidence="none")
CLAIM = dimension(output=["score", "reason", "offending_claim"])

TALK = Transcript(
    case_id="c",
    turns=(
        Turn(role="user", text="I paid INR 1,20,734.00 — twice!"),
        Turn(
            role="assistant",
            text="It\u2019s 30 days &\nno more <sorry>.",
            calls=(ToolCall(id="1", name="find", arguments={"id": "OR-7"}, result="r",
                            result_turn=2),),
        ),
        Turn(role="tool", name="find", text="{'days': 30}"),
        Turn(role="assistant", text="", refusal="I can\u2019t share that."),
    ),
)  # fmt: skip


def problem(evidence: Any, score: int = 2, *, of: Any = QUOTE) -> str:
    return check_evidence(evidence, score, dimension=of, transcript=TALK).problem


@pytest.mark.parametrize(
    ("turn", "quote"),
    [
        (0, "I paid INR 1,20,734.00"),
        (0, "inr 120734"),
        (0, "\u201cI paid\u201d"),
        (0, "- twice!"),
        (1, "It's 30 days & no more"),
        (1, "It's 30 days &amp; no more &lt;sorry&gt;"),
        (1, "| It's 30 days &\n| no more"),
        (1, "...30 days..."),
        (1, "find"),
        (1, '{"id": "OR-7"}'),
        (2, "'days': 30"),
        (3, "I can't share that"),
    ],
)
def test_a_quotation_is_found_after_folding_both_sides(turn: int, quote: str) -> None:
    assert problem([{"turn": turn, "quote": quote}]) == ""


@pytest.mark.parametrize(
    ("turn", "quote", "sentence"),
    [
        (0, "I paid 12", '"I paid 12" does not stand in turn 0'),
        (0, "20734", '"20734" does not stand in turn 0'),
        (1, "30 days and no more", '"30 days and no more" does not stand in turn 1'),
        (0, "no more", '"no more" stands in turn 1, not in 0'),
        (4, "I paid", "there is no turn 4; the last one is 3"),
        (-1, "I paid", "there is no turn -1; the last one is 3"),
        (1, "It's 30 ... more", '"It\'s 30 ... more" does not stand in turn 1'),
        (1, "...", '"..." does not stand in turn 1'),
    ],
)
def test_a_quotation_that_does_not_stand_there_is_told(
    turn: int, quote: str, sentence: str
) -> None:
    assert problem([{"turn": turn, "quote": quote}]) == sentence


@pytest.mark.parametrize(
    "item",
    [3, "3", "turn 3", "[turn 3]", {"turn": 3}, {"turn": "3"}, {"turn": 3.0}, {"turn": "turn 3"}],
)
def test_a_turn_is_read_in_any_way_that_has_one_reading(item: Any) -> None:
    checked = check_evidence([item], 1, dimension=TURNS, transcript=TALK)

    assert checked.problem == ""
    assert checked.evidence == (Evidence(turn=3),)


def test_one_piece_of_evidence_without_a_list_is_one() -> None:
    assert problem({"turn": 1, "quote": "30 days"}) == ""
    assert problem(3, of=TURNS) == ""
    assert problem({"turn": 9}) == "there is no turn 9; the last one is 3"


@pytest.mark.parametrize(
    "item", [True, None, [], {}, 1.5, {"turn": True}, {"turn": "the last"}, {"turn": 0, "quote": 7},
             {"turn": "the last", "quote": "30 days"},
             {"turn": 10**400}, {"quote": ""}],
)  # fmt: skip
def test_what_is_neither_a_turn_nor_a_quotation_is_told(item: Any) -> None:
    assert problem([item], of=TURNS).startswith(
        "an item of the evidence is neither a turn nor a quotation"
    )


def test_a_quotation_without_a_turn_may_stand_anywhere() -> None:
    assert problem([{"quote": "30 days"}]) == ""
    assert problem(["30 days"]) == ""
    assert problem([{"quote": "40 days"}]) == '"40 days" stands in no turn'


@pytest.mark.parametrize("empty", [[], None])
def test_evidence_is_required_only_where_the_dimension_says_so(empty: Any) -> None:
    assert problem(empty, 4) == ""
    assert problem(empty, 3) == "there is no quote in the evidence, and at 3 one is required"
    assert (
        problem([{"turn": 0}], 3) == "there is no quote in the evidence, and at 3 one is required"
    )
    assert problem(empty, 4, of=TURNS) == (
        "there is no turn in the evidence, and at 4 one is required"
    )
    assert problem(empty, 1, of=NONE) == ""
    assert problem([{"turn": 99}], 1, of=NONE) == ""


def test_what_is_given_where_nothing_is_required_is_looked_up_all_the_same() -> None:
    assert problem([{"turn": 9}], 4) == "there is no turn 9; the last one is 3"


def test_one_item_that_fails_among_good_ones_is_a_failure() -> None:
    assert problem([{"turn": 0, "quote": "I paid"}, {"turn": 0, "quote": "nothing"}]) == (
        '"nothing" does not stand in turn 0'
    )


def test_a_claim_stands_in_a_turn_of_the_agent_or_is_null_at_the_top() -> None:
    found = check_evidence("30 days", 1, dimension=CLAIM, transcript=TALK)

    assert found.evidence == (Evidence(turn=1, quote="30 days"),)
    assert problem(None, 4, of=CLAIM) == ""
    assert problem("", 4, of=CLAIM) == ""
    assert problem(None, 1, of=CLAIM) == (
        '"offending_claim" is null, and at this level one is required'
    )
    assert problem("I paid", 1, of=CLAIM) == "the claim stands in no turn of the agent"
    assert problem(["30 days"], 1, of=CLAIM) == '"offending_claim" is neither a text nor null'


def test_a_transcript_without_turns_has_nothing_to_point_at() -> None:
    empty = Transcript(case_id="c")

    checked = check_evidence([{"turn": 0}], 1, dimension=TURNS, transcript=empty)

    assert checked.problem == "there is no turn 0; there is none"


def test_half_a_character_is_looked_up_and_kept_as_what_a_file_can_hold() -> None:
    checked = check_evidence(
        [{"turn": 0, "quote": "paid\ud800"}], 1, dimension=QUOTE, transcript=TALK
    )

    assert checked.evidence == (Evidence(turn=0, quote="paid?"),)
    assert checked.problem == '"paid?" does not stand in turn 0'
