"""The judge digest of a dimension: one letter changes it, and another dimension's never does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from judged import CLOCK, dimension, rubric, talk

import agenteval_kit
from agenteval_kit.judge import Judge, Judges, judge_digest
from agenteval_kit.judge.judges import panel_of
from agenteval_kit.judge.question import Pending, make_question
from agenteval_kit.models.bench import DEFAULTS
from agenteval_kit.models.scripted import ScriptedModel
from agenteval_kit.records import AgentStamps, Case, Dimension, Rubric


class Served(ScriptedModel):
    """A scripted model that says that it is served somewhere."""

    def __init__(self, name: str, endpoint: str) -> None:
        super().__init__([], name=name)
        self.endpoint = endpoint


def judges(
    *names: str, endpoint: str = "host/v1", parameters: dict[str, Any] | None = None
) -> Judges:
    return Judges(
        tuple(
            Judge(Served(name, endpoint), {**DEFAULTS, **(parameters or {})})
            for name in names or ("judge-a",)
        )
    )


def digest_of(
    one: Dimension | None = None, by: Judges | None = None, clock: str | None = CLOCK
) -> str:
    one = one or dimension()
    return judge_digest(one, panel_of(one, by or judges()), clock=clock)


BASE = {level: f"The customer has {level} of 4 things." for level in (1, 2, 3, 4)}


@pytest.mark.parametrize(
    "changed",
    [
        {"anchors": {**BASE, 3: "The customer has 3 of 4 thing."}},
        {"anchors": {**BASE, 5: "The customer has more."}},
        {"definition": "Whether the customer has what was asked for!"},
        {"name": "goals"},
        {"not_rewarded": ["length"]},
        {"inputs": ["transcript", "expected_outcome"]},
        {"inputs": ["answer"]},
        {"evidence": {"kind": "turns", "required_at": [1, 2, 3]}},
        {"evidence": "quote"},
        {"evidence": "none"},
        {"panel": 3},
        {"prompt": "{{anchors}}{{reply}}{{inputs}}"},
        {"output": ["score", "why"]},
        {"output": ["score", "offending_claim"]},
    ],
    ids=str,
)
def test_what_a_dimension_says_changes_its_digest(changed: dict[str, Any]) -> None:
    assert digest_of(dimension(**changed)) != digest_of()


@pytest.mark.parametrize(
    "by",
    [
        judges("judge-b"),
        judges(endpoint="other/v1"),
        judges(parameters={"temperature": 0.1}),
        judges(parameters={"max_tokens": 99}),
        judges(parameters={"seed": 1}),
    ],
    ids=range(5),
)
def test_the_model_its_endpoint_and_its_parameters_change_it(by: Judges) -> None:
    assert digest_of(by=by) != digest_of()


def test_who_sits_on_the_panel_and_in_which_order_changes_it() -> None:
    one = dimension(panel=3)

    digests = {
        digest_of(one, judges(*names))
        for names in (("a",), ("a", "b"), ("a", "b", "c"), ("b", "a", "c"))
    }

    assert len(digests) == 4


def test_a_model_that_does_not_sit_there_changes_nothing() -> None:
    assert digest_of(by=judges("judge-a", "judge-b")) == digest_of()


def test_the_clock_changes_it() -> None:
    assert digest_of(clock=None) != digest_of()
    assert digest_of(clock="2026-03-02T09:00:01+00:00") != digest_of()


def test_a_letter_of_the_prompt_changes_it() -> None:
    shipped = (Path(agenteval_kit.__file__).parent / "prompts" / "judge.md").read_text("utf-8")
    other = shipped.replace("nothing else", "nothing Else", 1)

    assert other != shipped
    assert digest_of(dimension(prompt=shipped)) == digest_of()
    assert digest_of(dimension(prompt=other)) != digest_of()


def test_the_layer_and_the_order_of_keys_change_nothing() -> None:
    turned = {level: BASE[level] for level in (4, 2, 1, 3)}

    assert digest_of(dimension(anchors=turned)) == digest_of()
    assert digest_of(dimension(layer="policy")) == digest_of()


def test_another_dimensions_text_changes_nothing() -> None:
    def question(of: Rubric) -> Any:
        return make_question(of, of.dimensions[0], judges(), clock=CLOCK)

    one = question(rubric(dimension(), dimension("other")))
    two = question(rubric(dimension(), dimension("other", definition="Something else.")))

    assert one.judge_digest == two.judge_digest
    assert one.dimension_digest == two.dimension_digest
    assert one.rubric_digest != two.rubric_digest


def test_without_the_cases_a_judge_sees_no_expected_outcome_which_is_another_judge() -> None:
    with_outcome = rubric(dimension(inputs=["transcript", "expected_outcome"]))
    plain = rubric(dimension())

    def digests(of: Rubric) -> list[str]:
        return [
            make_question(of, of.dimensions[0], judges(), clock=None, with_cases=given).judge_digest
            for given in (True, False)
        ]

    assert len(set(digests(with_outcome))) == 2
    assert len(set(digests(plain))) == 1


# The request digest, which is the key of the tape (trap 18).


def request_digest(
    one: Dimension | None = None,
    by: Judges | None = None,
    item: Case | None = None,
    **changed: Any,
) -> list[str]:
    made = rubric(one or dimension(panel=3))
    question = make_question(made, made.dimensions[0], by or judges(), clock=CLOCK)
    agent = AgentStamps(model="agent-1", prompt="v1")
    pending = Pending(question, talk(**changed), item, agent)
    return [seat.request().digest() for seat in pending.seats]


def test_a_pure_replay_asks_the_very_same_requests() -> None:
    assert request_digest() == request_digest()


def test_what_the_agent_was_stamped_does_not_change_what_the_judge_is_asked() -> None:
    assert request_digest(stamps=AgentStamps(model="x", prompt="y")) == request_digest()


@pytest.mark.parametrize(
    "changed",
    [
        {"one": dimension(panel=3, anchors={**BASE, 4: "All."})},
        {"by": judges("judge-b")},
        {"by": judges(parameters={"temperature": 1})},
        {"one": dimension(panel=3, prompt="{{anchors}}{{reply}}{{inputs}}")},
        {"answer": "Your order OR-70233 was refunded: 79.01 GBP."},
        {"repeat": 1},
        {"now": "2026-03-03T09:00:00+00:00"},
        {
            "one": dimension(panel=3, inputs=["transcript", "expected_outcome"]),
            "item": Case(id="c0", input="?", expected_outcome="A refund."),
        },
    ],
    ids=range(8),
)
def test_one_change_makes_every_seat_a_new_request(changed: dict[str, Any]) -> None:
    before, after = request_digest(), request_digest(**changed)

    assert set(before).isdisjoint(after)


def test_every_seat_is_a_request_of_its_own() -> None:
    assert len(set(request_digest())) == 3
