"""What is held out: one side a scenario, by rules that a person can follow."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from labelled import AFTER, BEFORE, JUDGED

from agenteval_kit.calibrate.split import Split, count_looks, split_scenarios
from agenteval_kit.records.calibrations import Look
from agenteval_kit.records.labels import LabelRow


def given_label(
    case_id: str, *, at: str = BEFORE, stratum: str = "", repeat: int = 0, rater: str = "anna"
) -> LabelRow:
    return LabelRow(
        run="r", case_id=case_id, repeat=repeat, dimension="tone", score=3, rater=rater, at=at,
        sample="first", stratum=stratum,
    )  # fmt: skip


def look(
    *cases: str, wording: str = "w1", judge: str = "j1", held: int | None = 100, labels: str = ""
) -> Look:
    return Look(
        at=JUDGED, dimension="tone", judge_digest=judge, dimension_digest=wording, cases=cases,
        transcripts=held, labels=labels,
    )  # fmt: skip


def split(rows: list[LabelRow], **changed: object) -> Split:
    fields: dict[str, object] = {
        "tuned_on": (), "read_before": (), "looks": (), "dimension_digest": "w1",
        "judge_since": JUDGED, **changed,
    }  # fmt: skip
    return split_scenarios(rows, **fields)  # type: ignore[arg-type]


def test_labels_given_after_the_judge_last_changed_are_all_held_out() -> None:
    found = split([given_label(f"c{i}", at=AFTER) for i in range(7)])

    assert len(found.held_out) == 7
    assert found.lines() == ("7 scenarios held out: labelled after the judge last changed",)


def test_a_label_brought_in_again_with_its_time_has_that_time() -> None:
    timed = [given_label(f"c{i}", at=AFTER) for i in range(6)]
    undated = [row.model_copy(update={"undated": True}) for row in timed]

    found = split(timed, lines=[*undated, *timed])

    assert len(split(undated, lines=undated).held_out) == 3
    assert len(found.held_out) == 6


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from(["low", "high", ""]), min_size=1, max_size=40),
    st.randoms(use_true_random=False),
)
def test_older_labels_are_halved_within_each_stratum_whatever_their_order(
    strata: list[str], random: object
) -> None:
    rows = [
        given_label(f"c{i:02d}", stratum=stratum, repeat=repeat)
        for i, stratum in enumerate(strata)
        for repeat in range(2)
    ]
    mixed = list(rows)
    random.shuffle(mixed)  # type: ignore[attr-defined]

    found, again = split(rows), split(mixed)

    assert found == again
    assert len(found.held_out) == (len(strata) + 1) // 2
    for name in set(strata):
        cases = {f"c{i:02d}" for i, stratum in enumerate(strata) if stratum == name}
        assert abs(2 * len(found.held_out & cases) - len(cases)) <= 1
    assert found.held_out | found.tuning == {row.case_id for row in rows}
    assert not found.held_out & found.tuning


def test_what_was_labelled_for_tuning_stays_tuning() -> None:
    found = split([given_label("a", at=AFTER), given_label("b", at=AFTER)], tuned_on={"a"})

    assert found.tuning == {"a"}
    assert found.held_out == {"b"}


def test_calling_a_scenario_tuning_after_a_look_does_not_take_it_out() -> None:
    rows = [given_label("a", at=AFTER), given_label("b", at=AFTER)]

    found = split(rows, tuned_on={"a"}, looks=[look("a", "b")])

    assert found.held_out == {"a", "b"}


def test_a_label_is_as_old_as_its_first_line() -> None:
    rows = [given_label("a", at=AFTER), given_label("b", at=AFTER)]

    found = split(rows, lines=[given_label("a", at=BEFORE), *rows])

    assert found.why["a"] == "half of the labels given before the judge last changed"
    assert found.why["b"] == "labelled after the judge last changed"


def test_a_held_out_scenario_belongs_to_the_wording_it_was_looked_at_under_first() -> None:
    looks = [look("a", "b", wording="w1"), look("c", wording="w2")]
    rows = [given_label(case, at=AFTER) for case in "abcd"]

    old = split(rows, looks=looks, dimension_digest="w1")
    new = split(rows, looks=looks, dimension_digest="w2")

    assert old.held_out == {"a", "b", "d"}
    assert new.held_out == {"c", "d"}
    assert new.why["a"] == "looked at under another wording or prompt"


def test_a_tuning_half_is_not_held_out_later() -> None:
    rows = [given_label(case, at=AFTER) for case in "ab"]

    found = split(rows, read_before={"a"})

    assert found.held_out == {"b"}
    assert split(rows, read_before={"a"}, looks=[look("a")]).held_out == {"a", "b"}


def test_a_time_without_a_zone_proves_no_order() -> None:
    rows = [given_label(case, at=AFTER) for case in "ab"]

    found = split(rows, judge_since=JUDGED[:19])

    assert len(found.held_out) == 1


def test_the_time_of_an_import_is_not_the_time_of_its_labels() -> None:
    rows = [given_label(case, at=AFTER).model_copy(update={"undated": True}) for case in "ab"]

    found = split(rows)

    assert len(found.held_out) == 1


def test_looks_are_counted_by_judge_and_set_and_only_where_they_held_enough() -> None:
    looks = [
        look("a", "b", judge="j1"),
        look("b", "a", judge="j1"),
        look("a", judge="j1", held=99),
        look("x", judge="j3"),
        look("a", "b", judge="j4", wording="w9"),
    ]

    def count(judge: str, *cases: str, labels: str = "l1") -> int:
        return count_looks(
            looks, cases=cases, judge_digest=judge, dimension_digest="w1", labels=labels,
            min_labels=100,
        )  # fmt: skip

    assert count("j1", "a", "b") == 1
    assert count("j2", "a", "b") == 2
    assert count("j1", "a", "b", "c") == 2
    assert count("j2", "c") == 1


def test_judges_that_were_only_watched_are_paid_for_by_the_one_that_is_taken() -> None:
    looks = [
        look("a", judge="j1", held=99),
        look("a", "b", judge="j1", held=99),
        look("a", judge="j2", held=99),
        look("a", judge="j3", held=99),
    ]

    found = count_looks(
        looks, cases=["a", "b"], judge_digest="j1", dimension_digest="w1", labels="l1",
        min_labels=100,
    )  # fmt: skip

    assert found == 3


def test_the_same_judge_on_other_labels_of_the_same_scenarios_is_another_look() -> None:
    looks = [look("a", "b", labels="l1"), look("a", "b", labels="l2")]

    def count(labels: str) -> int:
        return count_looks(
            looks, cases=["a", "b"], judge_digest="j1", dimension_digest="w1", labels=labels,
            min_labels=100,
        )  # fmt: skip

    assert (count("l1"), count("l2"), count("l3")) == (2, 2, 3)


def test_whether_a_look_was_free_is_judged_by_the_rule_of_now() -> None:
    # Four looks under a rule that asked for 1,000 labels, and then the usual one.
    looks = [look(*"abcdef"[:many], held=50 * many) for many in range(2, 6)]

    def count(min_labels: int) -> int:
        return count_looks(
            looks, cases="abcdef", judge_digest="j1", dimension_digest="w1", labels="l",
            min_labels=min_labels,
        )  # fmt: skip

    assert count(1000) == 1
    assert count(100) == 5
    assert count(200) == 3


def test_a_look_of_a_file_that_did_not_keep_its_labels_is_paid_for() -> None:
    old = look("a", held=None).model_copy(update={"could_decide": False})

    found = count_looks(
        [old], cases=["a", "b"], judge_digest="j1", dimension_digest="w1", labels="l",
        min_labels=100,
    )  # fmt: skip

    assert found == 2


def test_a_judge_pays_for_its_looks_at_other_scenarios() -> None:
    looks = [look("a"), look("b"), look("c", judge="j2"), look("d", wording="w2")]

    def count(judge: str) -> int:
        return count_looks(
            looks, cases=["x"], judge_digest=judge, dimension_digest="w1", labels="l",
            min_labels=100,
        )  # fmt: skip

    assert (count("j1"), count("j2"), count("j3")) == (3, 2, 1)
