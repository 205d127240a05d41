"""Labels stand for what they could be drawn from: what was read for tuning is counted by itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from labelled import AFTER, BEFORE, NOW, label
from verdicts import scored_run

from agenteval_kit.calibrate import CalibrationResult, calibrate_run, corrected_run
from agenteval_kit.calibrate.apart import set_apart, used_up
from agenteval_kit.calibrate.corrected import CorrectedDimension
from agenteval_kit.labels import LabelSet, write_sample
from agenteval_kit.records.calibrations import Look
from agenteval_kit.records.labels import LABELLED_BEFORE, LabelRow, Sample, SampledItem
from agenteval_kit.runs import Run

FAILED = [f"f{i:02d}" for i in range(20)]
GOOD = [f"g{i:02d}" for i in range(80)]


def tuned_run(root: Path, tuned: int = 16) -> tuple[Run, LabelSet]:
    """The judge gave 20 a 2 and 80 a 4; most of the 20 are read for tuning, and people say 1.

    Fresh labels: the other failures, that were none (3), and 20 of 80 that are good (4).
    """
    run = scored_run(root, dict.fromkeys(FAILED, 2) | dict.fromkeys(GOOD, 4))
    folder = root / "labels"
    label(
        folder, run, {"anna": dict.fromkeys(FAILED[:tuned], 1)}, at=BEFORE, purpose="tuning",
        sample="first", wording="dimension-0", design="by_judge",
    )  # fmt: skip
    fresh = dict.fromkeys(FAILED[tuned:], 3) | dict.fromkeys(GOOD[:20], 4)
    chance = {case: 1.0 if case in FAILED else 0.25 for case in fresh}
    return run, label(
        folder, run, {"anna": fresh}, at=AFTER, sample="fresh", inclusion=chance, design="by_judge"
    )


def corrected(run: Run, result: CalibrationResult) -> CorrectedDimension:
    """The one dimension, passing at 3."""
    return corrected_run(run, result, pass_at=3).dimensions["tone"]


def test_failures_that_were_read_for_tuning_stay_failures(tmp_path: Path) -> None:
    run, labels = tuned_run(tmp_path)

    one = corrected(run, calibrate_run(run, labels, now=NOW))

    assert one.found is not None
    # 16 x 1 + 4 x 3 + 80 x 4 of 100; the fresh labels alone would say 3.8, and that all pass.
    assert one.found.mean.value == pytest.approx(3.48)
    assert one.found.pass_rate.value == pytest.approx(0.84)
    for estimate in (one.found.mean, one.found.pass_rate):
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low < (estimate.value or 0) <= estimate.high
    # The judge's own figures are of the whole run, as ever.
    assert one.found.raw_mean.value == pytest.approx(3.6)
    assert one.found.raw_pass_rate.value == pytest.approx(0.8)
    assert (one.found.suite, one.found.labels) == (100, 24)
    assert one.notes == (
        "16 of 100 judged transcripts were read for tuning and count as people said, under "
        "whatever anchors they read; agreement is of the other 84",
    )


def test_agreement_says_which_part_of_the_run_it_is_of(tmp_path: Path) -> None:
    run, labels = tuned_run(tmp_path)

    found = calibrate_run(run, labels, now=NOW).of("tone")

    part = "of the 84 of 100 judged transcripts that were not read for tuning"
    assert found.notes[0] == f"agreement, kappa and the gap are {part}"
    assert found.reason.endswith(part)
    # 4 of 84, not 20 of 100, at judge score 2: each is off by one.
    assert found.agreement.exact.value == pytest.approx(80 / 84)
    assert found.entry is not None
    assert found.entry.apart == tuple(FAILED[:16])


def test_a_score_that_tuning_has_used_up_settles_nothing(tmp_path: Path) -> None:
    run, labels = tuned_run(tmp_path, tuned=17)

    found = calibrate_run(run, labels, now=NOW).of("tone")

    assert found.state == "provisional"
    assert found.reason.startswith(
        "20% of the run has judge score 2, and all but 3 of these transcripts were read for tuning"
    )
    scores: Mapping[tuple[str, int], int | None] = {("a", 0): 1, ("b", 0): 4, ("c", 0): None}
    assert used_up(scores, ()) == ""
    assert used_up(scores, ("c",)) == ""


def test_what_was_tuned_on_and_has_no_label_here_may_be_anything(tmp_path: Path) -> None:
    run, labels = tuned_run(tmp_path)
    moved = [
        row.model_copy(update={"run": "the run before"}) if row.case_id in FAILED[:10] else row
        for row in labels.rows
    ]

    one = corrected(run, calibrate_run(run, LabelSet(None, tuple(moved)), now=NOW))

    whole = corrected(run, calibrate_run(run, labels, now=NOW))
    assert one.found is not None
    assert whole.found is not None
    # Taken by the judge's score for the point; the interval holds 3.48, where they are.
    assert one.found.mean.value == pytest.approx(3.68)
    assert (one.found.mean.low or 9) < (whole.found.mean.low or 0) + 0.01
    assert (one.found.pass_rate.low or 9) < 0.84
    assert one.found.mean.high == pytest.approx(4.0, abs=0.25)
    assert (
        "10 of 100 judged transcripts are of scenarios read for tuning and have no label: the "
        "interval holds whatever they may be, 1 to 4; label them to narrow it" in one.notes
    )


def test_a_file_that_did_not_keep_what_was_apart_is_read_by_its_tuning_half(
    tmp_path: Path,
) -> None:
    run, labels = tuned_run(tmp_path)
    known = calibrate_run(run, labels, now=NOW).calibration
    old = known.model_copy(
        update={
            "dimensions": tuple(one.model_copy(update={"apart": None}) for one in known.dimensions)
        }
    )

    found = corrected_run(run, old).dimensions["tone"].found

    assert found is not None
    assert found.mean.value == pytest.approx(3.48)


def sample(name: str, *, apart: tuple[str, ...] | None, old: bool = False) -> Sample:
    """A draw that left cases out, and says which; or, as older ones, only that it did."""
    return Sample(
        name=name, run="r", design="uniform", items=(SampledItem(case_id="drawn"),), at=AFTER,
        apart=apart, left_out={LABELLED_BEFORE: 2} if old else {},
    )  # fmt: skip


def line(case_id: str, at: str) -> LabelRow:
    """Something that was said of a case."""
    return LabelRow(kind="note", run="r", case_id=case_id, rater="ana", at=at, note="seen")


def test_only_what_no_draw_could_reach_is_apart() -> None:
    def found(
        *drawn: Sample | None, held: tuple[str, ...] = (), tuned: tuple[str, ...] = ()
    ) -> set[str]:
        looks = [
            Look(at=NOW, dimension="tone", judge_digest="j", dimension_digest=digest, cases=(case,))
            for case, digest in (("a", "before"), ("b", "now"), ("b", "before"))
        ]
        lines = [line("c", BEFORE), line("d", NOW), line("drawn", BEFORE)]
        return set(
            set_apart(
                held, tuned_on=tuned, looks=looks, dimension_digest="now", drawn=drawn, lines=lines
            )
        )

    # Looked at under another wording first: nobody can hold it out again.
    assert found() == {"a"}
    assert found(tuned=("t", "h"), held=("h",)) == {"a", "t"}
    # The second draw left out what the first had drawn; that had its chance in the first.
    assert found(sample("one", apart=("c",)), sample("two", apart=("c", "drawn"))) == {"a", "c"}
    assert found(sample("one", apart=("c",)), None) == {"a"}
    # An older sample left out what had been said something of until then.
    assert found(sample("one", apart=None, old=True)) == {"a", "c"}
    assert found(sample("one", apart=None)) == {"a"}


def test_a_case_of_another_dimension_that_the_draw_left_out_is_apart(tmp_path: Path) -> None:
    run, labels = tuned_run(tmp_path)
    rows = tuple(row for row in labels.rows if row.purpose != "tuning")
    folder = labels.folder
    assert folder is not None
    items = tuple(SampledItem(case_id=row.case_id) for row in rows)
    write_sample(folder, sample("fresh", apart=("g79",)).model_copy(update={"items": items}))

    found = calibrate_run(run, LabelSet(folder, rows), now=NOW).of("tone")

    assert found.entry is not None
    assert found.entry.apart == ("g79",)
