"""People with each other: against other implementations, and in any order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled import AFTER, people_and_judge
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

from agenteval_kit.calibrate import CeilingRule, human_ceiling
from agenteval_kit.records.labels import LabelRow

SCALE = (1, 2, 3, 4)


def rows(said: dict[str, dict[str, int]], **changed: object) -> list[LabelRow]:
    return [
        LabelRow(
            run="r",
            case_id=case_id,
            dimension="tone",
            score=score,
            rater=rater,
            at=AFTER,
            **changed,
        )
        for rater, scores in said.items()
        for case_id, score in scores.items()
    ]


def test_two_raters_are_cohens_kappa_of_statsmodels_and_wilson_shares() -> None:
    _, people = people_and_judge(80, seed=3)

    found = human_ceiling(rows(people), SCALE)

    one, other = (pd.Series(people[name]) for name in ("rater-1", "rater-2"))
    table = pd.crosstab(one, other).reindex(index=SCALE, columns=SCALE, fill_value=0)
    assert found.agreement.kappa_quadratic.value == pytest.approx(
        cohens_kappa(table.to_numpy(), wt="quadratic").kappa
    )
    assert found.agreement.exact.value == pytest.approx((one == other).mean())
    assert found.agreement.within_one.value == pytest.approx(((one - other).abs() <= 1).mean())
    assert (found.labelled, found.doubly, found.raters) == (80, 80, ("rater-1", "rater-2"))


def test_three_raters_are_fleiss_kappa_of_statsmodels() -> None:
    _, people = people_and_judge(60, raters=3, seed=5)

    found = human_ceiling(rows(people), SCALE)

    counts, _ = aggregate_raters(pd.DataFrame(people).to_numpy(), n_cat=5)
    assert found.agreement.kappa.value == pytest.approx(fleiss_kappa(counts[:, 1:]))
    assert found.agreement.n == 60 * 3 * 2
    assert found.agreement.exact.n == 60
    one, two, three = (pd.Series(own) for own in people.values())
    pairs = [(one == two).mean(), (one == three).mean(), (two == three).mean()]
    assert found.agreement.exact.value == pytest.approx(np.mean(pairs))


def test_alpha_is_that_of_evalica_with_labels_missing() -> None:
    evalica = pytest.importorskip("evalica")
    _, people = people_and_judge(40, raters=3, seed=6)
    said = {
        rater: {case: score for at, (case, score) in enumerate(own.items()) if (at + number) % 4}
        for number, (rater, own) in enumerate(people.items())
    }

    found = human_ceiling(rows(said), SCALE)

    table = pd.DataFrame(said).reindex(sorted(set().union(*said.values())))
    wanted = evalica.alpha(table.T, distance="ordinal").alpha
    assert found.alpha.value == pytest.approx(wanted, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.permutations(["anna", "ben", "carl"]), st.integers(0, 99))
def test_the_ceiling_is_the_same_however_the_raters_are_called(names: list[str], seed: int) -> None:
    _, people = people_and_judge(20, raters=3, seed=seed)
    named = dict(zip(names, people.values(), strict=True))
    straight = dict(zip(("anna", "ben", "carl"), people.values(), strict=True))

    one, other = human_ceiling(rows(named), SCALE), human_ceiling(rows(straight), SCALE)

    for name in ("exact", "within_one", "kappa", "kappa_quadratic", "ac2_quadratic"):
        assert getattr(one.agreement, name).value == pytest.approx(
            getattr(other.agreement, name).value
        )
    assert one.alpha.value == pytest.approx(other.alpha.value)
    assert one.state == other.state


def test_a_case_that_was_drawn_with_half_the_chance_counts_twice() -> None:
    # Agree on a (drawn with 1/2) and on b; differ on c: (2 + 1) / (2 + 1 + 1).
    said = {"anna": {"a": 4, "b": 3, "c": 1}, "ben": {"a": 4, "b": 3, "c": 2}}
    made = [
        row.model_copy(update={"inclusion": 0.5 if row.case_id == "a" else 1.0})
        for row in rows(said, design="by_judge")
    ]

    found = human_ceiling(made, SCALE)

    assert found.agreement.exact.value == pytest.approx(3 / 4)
    assert not any("weights" in note for note in found.notes)


def test_transcripts_picked_by_what_people_said_are_left_out_beside_drawn_ones() -> None:
    # Drawn evenly: people agree on 75 of 80. Picked because a person failed them: on 27 of 80.
    drawn = {f"u{i:03d}": 4 if i % 4 else 2 for i in range(80)}
    apart = {case: 3 if at < 5 else score for at, (case, score) in enumerate(drawn.items())}
    picked = {f"h{i:03d}": 1 if i % 3 == 0 else 3 for i in range(80)}
    fair = rows({"anna": drawn, "ben": apart}, design="uniform", inclusion=0.1)
    failed = rows({"anna": dict.fromkeys(picked, 1), "ben": picked}, design="by_human")

    alone, both = human_ceiling(fair, SCALE), human_ceiling([*fair, *failed], SCALE)
    other = human_ceiling(failed, SCALE)

    assert both.agreement.exact == alone.agreement.exact
    assert both.alpha == alone.alpha
    assert both.agreement.exact.value == pytest.approx(75 / 80)
    assert (both.labelled, both.doubly) == (160, 80)
    assert both.notes[0] == (
        "people with each other: 80 transcripts were not drawn from the run and left out beside "
        "those that were"
    )
    assert other.agreement.exact.value == pytest.approx(27 / 80)


def test_each_score_of_the_judge_gets_its_share_of_the_run_whatever_its_labels() -> None:
    # 90 of 100 transcripts have a 4. Of the 4s people agree on 9 of 10, of the 1s on 2 of 10.
    scores: dict[tuple[str, int], int | None] = {
        (f"c{i:03d}", 0): 1 if i < 10 else 4 for i in range(100)
    }
    anna = {f"c{i:03d}": 4 for i in range(20)}
    ben = {case: 3 if i < 8 or i == 19 else 4 for i, case in enumerate(anna)}
    made = rows({"anna": anna, "ben": ben}, design="by_judge", inclusion=1.0)

    found = human_ceiling(made, SCALE, scores=scores)
    some = human_ceiling([row for row in made if row.case_id < "c010"], SCALE, scores=scores)

    assert found.agreement.exact.value == pytest.approx(0.9 * 0.9 + 0.1 * 0.2)
    assert some.agreement.exact.value == pytest.approx(0.2)
    assert (
        "people with each other: 90% of the run has a judge score without such a transcript"
        in some.notes
    )


def test_the_ceiling_of_a_first_sample_and_of_a_later_one_holds_the_truth() -> None:
    # 100 of 1,000 drawn evenly, then 40 of the judge's 1s that are left: two frames.
    rng = np.random.default_rng(4)
    held, off = 0, []
    for seed in range(120):
        judge = np.where(rng.random(1000) < 0.08, 1, 4)
        alike = np.where(judge == 1, rng.random(1000) < 0.4, rng.random(1000) < 0.95)
        first = rng.permutation(1000)[:100]
        left = np.setdiff1d(np.flatnonzero(judge == 1), first)
        second = rng.permutation(left)[:40]
        made = []
        for drawn, chance in ((first, 0.1), (second, len(second) / len(left))):
            anna = {f"c{i}": 4 for i in drawn}
            ben = {f"c{i}": 4 if alike[i] else 3 for i in drawn}
            made += rows({"anna": anna, "ben": ben}, design="by_judge", inclusion=chance)
        scores = {(f"c{i}", 0): int(one) for i, one in enumerate(judge)}
        exact = human_ceiling(made, SCALE, scores=scores, seed=seed).agreement.exact
        assert exact.value is not None and exact.low is not None and exact.high is not None
        off.append(exact.value - alike.mean())
        held += exact.low <= alike.mean() <= exact.high

    # One frame of both covered 0.70.
    assert abs(np.mean(off)) < 0.01
    assert held / 120 >= 0.9


def test_repeats_of_a_scenario_are_one_unit() -> None:
    made = [
        LabelRow(run="r", case_id=f"c{case}", repeat=repeat, dimension="tone", score=score,
                 rater=rater, at=AFTER)
        for case in range(6)
        for repeat in range(3)
        for rater, score in (("anna", 1 + case % 4), ("ben", 1 + (case + case // 3) % 4))
    ]  # fmt: skip

    found = human_ceiling(made, SCALE)

    assert found.doubly == 18
    assert found.agreement.exact.n == found.alpha.n == 6


def test_a_rubric_is_ambiguous_when_even_the_upper_bound_is_low() -> None:
    low = {"anna": {f"c{i}": 1 + i % 4 for i in range(80)}}
    low["ben"] = {f"c{i}": 1 + (i + (i % 8 < 4)) % 4 for i in range(80)}
    few = {rater: dict(list(own.items())[:16]) for rater, own in low.items()}

    settled, open_ = human_ceiling(rows(low), SCALE), human_ceiling(rows(few), SCALE)

    assert settled.state == "rubric ambiguous"
    assert settled.sentence().startswith("RUBRIC AMBIGUOUS: people agree exactly on 0.5")
    assert open_.state == "ceiling low, not settled"
    lenient = human_ceiling(rows(low), SCALE, rule=CeilingRule(exact=0.3, kappa=-1))
    assert lenient.state == ""


def test_low_kappa_alone_makes_a_rubric_ambiguous() -> None:
    # 90 of 100 alike, but the failures of the one are never those of the other.
    anna = {f"c{i:03d}": 1 if i < 20 else 4 for i in range(400)}
    ben = {f"c{i:03d}": 1 if 20 <= i < 40 else 4 for i in range(400)}

    found = human_ceiling(rows({"anna": anna, "ben": ben}), SCALE)

    assert found.agreement.exact.value == pytest.approx(0.9)
    assert found.state == "rubric ambiguous"
    assert "kappa of people" in found.reason and "exactly" not in found.reason


@pytest.mark.parametrize(
    ("said", "doubly", "reason"),
    [
        ({}, 0, "nobody labelled"),
        ({"anna": {"a": 1, "b": 2}}, 0, "one person labelled"),
        ({"anna": {"a": 1}, "ben": {"b": 2}}, 0, "no transcript has labels of two people"),
    ],
)
def test_without_two_people_the_ceiling_is_unknown(
    said: dict[str, dict[str, int]], doubly: int, reason: str
) -> None:
    found = human_ceiling(rows(said), SCALE)

    assert (found.doubly, found.reason, found.state) == (doubly, reason, "")
    assert found.sentence() == f"ceiling unknown: {reason}"
    assert found.agreement.exact.value is None
    assert found.alpha.value is None


def test_one_transcript_and_one_score_throughout_are_said_not_computed() -> None:
    single = human_ceiling(rows({"anna": {"a": 3}, "ben": {"a": 3}}), SCALE)
    same = {f"c{i}": 4 for i in range(30)}
    alike = human_ceiling(rows({"anna": same, "ben": same}), SCALE)

    assert single.agreement.exact.value == 1.0
    assert single.agreement.kappa_quadratic.value is None
    assert alike.agreement.exact.value == 1.0
    assert "no variation" in alike.agreement.kappa_quadratic.reason
    assert alike.alpha.diag == "exact agreement 100 %"
    assert alike.state == ""
