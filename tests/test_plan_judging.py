"""How many labels a trust decision takes, and what judging would cost."""

from __future__ import annotations

import pytest
from judged import dimension, rubric, talk

from agenteval_kit.errors import ConfigError
from agenteval_kit.models.prices import Price
from agenteval_kit.plan import (
    labels_table,
    plan_costs,
    plan_labels,
)
from agenteval_kit.records import Case, Dimension, JudgeSpec
from agenteval_kit.stats.trust import TrustRule

# how many labels


def test_failures_are_what_is_missing_on_a_very_skewed_dimension() -> None:
    skewed, rare = (
        plan_labels(shape, labels=(100, 200), replicates=80) for shape in ("skewed", "very skewed")
    )

    # statistics.md 4b: .72 / .93 on a skewed dimension, .07 / .14 on a very skewed one
    assert skewed.labels == 200
    assert rare.labels is None
    assert "failures are missing, not labels" in rare.sentence
    assert [(one.trusted.value or 0) < 0.35 for one in rare.chances] == [True, True]


def test_fewer_labels_than_the_bar_asks_are_never_enough() -> None:
    found = plan_labels(
        "balanced", labels=(60,), accuracy=1.0, rule=TrustRule(min_labels=100), replicates=20
    )

    assert found.chances[0].trusted.value == 1.0
    assert found.labels is None
    assert "fewer than 100 labels provisional" in found.assumption


def test_the_three_chances_add_up() -> None:
    found = plan_labels((0.2, 0.3, 0.5), labels=(40, 80), accuracy=0.7, replicates=40)

    for one in found.chances:
        assert (one.trusted.value or 0) + one.not_trusted + one.provisional == pytest.approx(1)
    assert found.frame()["labels"].tolist() == [40, 80]
    assert found.shape == "observed"


@pytest.mark.parametrize(
    ("shares", "how", "told"),
    [
        ("lopsided", {}, 'no shape "lopsided"; known are balanced, skewed, very skewed.'),
        ((1.0,), {}, "are no shares of two levels or more"),
        ((0.5, -0.5), {}, "are no shares of two levels or more"),
        ("balanced", {"labels": ()}, "holds no number of labels of 2 or more"),
        ("balanced", {"accuracy": 1.2, "labels": (10,)}, "accuracy: above 0 and up to 1"),
    ],
)
def test_labels_that_cannot_be_planned_are_refused(
    shares: object, how: dict[str, object], told: str
) -> None:
    with pytest.raises(ConfigError, match=told):
        plan_labels(shares, **how)  # type: ignore[arg-type]


def test_the_table_says_what_an_amount_of_labels_is_enough_for() -> None:
    table = labels_table()

    assert table.columns.tolist() == ["evidence", "enough_for"]
    assert "no trust decision on kappa" in table["enough_for"][0]


# what it would cost


def panel(name: str, seats: int, **more: object) -> Dimension:
    return dimension(name, panel=seats, **more)


def test_calls_are_cases_by_repeats_by_dimensions_by_seats() -> None:
    found = plan_costs(rubric(panel("goal", 1), panel("safety", 3)), cases=12, repeats=2)

    # 12 * 2 * (1 + 3)
    assert found.calls == 96
    assert [(one.dimension, one.transcripts, one.calls) for one in found.dimensions] == [
        ("goal", 24, 24),
        ("safety", 24, 72),
    ]
    assert found.lines()[0] == "96 judge calls for 12 cases × 2 repeats"


def test_an_unknown_price_stays_unknown() -> None:
    found = plan_costs(
        rubric(), cases=10, judges=["gpt-4.1", "nobody-knows-me"], transcripts=[talk()]
    )

    assert found.usd == pytest.approx(found.dimensions[0].usd or 0)  # one seat: the first model
    three = plan_costs(
        rubric(panel("goal", 3)), cases=10, judges=["gpt-4.1", "nobody-knows-me"],
        transcripts=[talk()],
    )  # fmt: skip
    assert three.usd is None
    assert three.as_dict()["usd"] is None
    assert three.lines()[-1].endswith("cost unknown (no price is known for nobody-knows-me)")


def test_money_is_tokens_by_price() -> None:
    prices = {"a": Price(1.0, 10.0, "2026-01-01"), "b": Price(2.0, 20.0, "2026-01-01")}

    found = plan_costs(
        rubric(panel("goal", 3)), cases=5, repeats=2, judges=["a", "b"], transcripts=[talk()],
        prices=prices,
    )  # fmt: skip

    # seats a, b, a; 10 transcripts each; 200 tokens a reply
    (one,) = found.dimensions
    assert one.input_tokens is not None
    a_seat = one.input_tokens / 3
    wanted = (2 * 1.0 + 2.0) * a_seat / 1e6 + (2 * 10.0 + 20.0) * 10 * 200 / 1e6
    assert found.usd == pytest.approx(wanted, rel=1e-4)
    assert found.output_tokens == 6000


def test_without_transcripts_tokens_are_unknown_and_never_0() -> None:
    found = plan_costs(rubric(), cases=5, judges=["gpt-4.1"])

    assert (found.input_tokens, found.usd) == (None, None)
    assert "the length of the prompts is not known for goal" in found.unknown


def test_a_server_named_by_a_variable_has_no_known_price() -> None:
    spec = JudgeSpec.model_validate(
        {"models": [{"name": "gpt-4.1", "base_url_env": "SOME_SERVER"}]}
    )

    found = plan_costs(rubric(), cases=5, judges=spec, transcripts=[talk()])

    assert found.usd is None


def test_a_dimension_counts_the_cases_that_it_is_asked_of() -> None:
    items = [
        Case(id="a", input="x", dimensions=("goal",)),
        Case(id="b", input="x", dimensions=("goal", "other")),
        Case(id="c", input="x", rubric="Says up to 30 days."),
        Case(id="d", input="x"),
    ]
    own = dimension("own", inputs=["answer", "rubric"])

    found = plan_costs(rubric(dimension("goal"), dimension("other"), own), cases=4, items=items)

    assert {one.dimension: one.calls for one in found.dimensions} == {
        "goal": 4,  # a and b by name, c and d by default
        "other": 3,
        "own": 1,
    }


def test_pairs_are_judged_in_both_orders() -> None:
    criterion = Dimension(
        name="better", kind="pairwise", definition="Which one does what was asked."
    )

    alone = plan_costs(rubric(dimension(), criterion), cases=6)
    both = plan_costs(rubric(dimension(), criterion), cases=6, pairwise=True)

    assert (alone.calls, both.calls) == (6, 6 + 12)
    assert both.frame()["orders"].tolist() == [1, 2]


@pytest.mark.parametrize("how", [{"cases": 0}, {"cases": 3, "repeats": 0}])
def test_nothing_costs_nothing_is_refused(how: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="1 case and 1 repeat or more"):
        plan_costs(rubric(), **how)
