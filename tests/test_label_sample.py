"""What is drawn to be labelled: half where failures are expected, with chances that are true."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from label_runs import talk_run
from verdicts import judge

from agenteval_kit.errors import ConfigError
from agenteval_kit.label import keep_sample, sample_run
from agenteval_kit.label.strata import quotas
from agenteval_kit.labels import LabelSet, list_samples, read_sample, write_sample
from agenteval_kit.records.labels import LabelRow, Sample
from agenteval_kit.runs import Run

NOW = "2026-03-02T09:00:00Z"


def draw(run: Run, n: int | None = None, **how: object) -> Sample:
    """A sample drawn at a fixed time."""
    return sample_run(run, n, now=lambda: NOW, **how)  # type: ignore[arg-type]


def judged(root: Path, scores: list[int | None], *, name: str = "tone") -> Run:
    """A run of as many cases as there are scores."""
    run = talk_run(root, len(scores))
    return judge(run, {f"case-{at:03d}": one for at, one in enumerate(scores)}, name=name)


def strata(sample: Sample) -> dict[str, tuple[int, int]]:
    """Drawn and total of each stratum."""
    return {one.name: (one.drawn, one.total) for one in sample.strata}


def keys(sample: Sample) -> list[tuple[str, int]]:
    """What was drawn."""
    return [(one.case_id, one.repeat) for one in sample.items]


def test_half_of_the_labels_go_to_the_low_half_of_the_scale(tmp_path: Path) -> None:
    run = judged(tmp_path, [1, 2] * 20 + [3, 4] * 80)

    sample = draw(run, 30)

    assert strata(sample) == {"1-2": (15, 40), "3-4": (15, 160)}
    assert (sample.design, sample.by) == ("by_judge", "verdicts on tone")
    assert sample.judge_digest == "judge-1"
    chances = {one.stratum: one.inclusion for one in sample.items}
    assert chances == {"1-2": 15 / 40, "3-4": 15 / 160}


def test_unscored_verdicts_are_a_stratum_of_their_own(tmp_path: Path) -> None:
    run = judged(tmp_path, [1] * 10 + [None] * 2 + [4] * 88)

    sample = draw(run, 20)

    assert strata(sample) == {"1-2": (10, 10), "3-4": (9, 88), "no score": (1, 2)}


def test_what_a_stratum_lacks_goes_to_the_others(tmp_path: Path) -> None:
    run = judged(tmp_path, [1] * 3 + [4] * 97)

    sample = draw(run, 30)

    assert strata(sample) == {"1-2": (3, 3), "3-4": (27, 97)}


def test_the_middle_of_an_odd_scale_belongs_to_the_upper_half(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 10)
    judge(run, {f"case-{at:03d}": 1 + at % 5 for at in range(10)}, levels=(1, 2, 3, 4, 5))

    sample = draw(run, 6)

    assert strata(sample) == {"1-2": (3, 4), "3-5": (3, 6)}


def test_over_several_dimensions_the_lowest_verdict_decides(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 4)
    names = [f"case-{at:03d}" for at in range(4)]
    judge(run, dict(zip(names, [1, 4, 4, 4], strict=True)), name="tone")
    judge(run, dict(zip(names, [4, 2, None, 4], strict=True)), name="facts", digest="judge-2")

    sample = draw(run, 4)

    assert strata(sample) == {"1-2": (2, 2), "3-4": (1, 1), "no score": (1, 1)}
    assert sample.by == "the lowest of the verdicts on tone, facts"
    assert sample.judge_digest == "judge-1 judge-2"


def test_one_dimension_can_be_named_and_a_wrong_name_is_told(tmp_path: Path) -> None:
    run = judged(tmp_path, [1] * 5 + [4] * 5)

    assert strata(draw(run, 4, dimension="tone")) == {"1-2": (2, 5), "3-4": (2, 5)}
    with pytest.raises(ConfigError, match='has no verdict on "tome". Did you mean "tone"'):
        draw(run, 4, dimension="tome")


def test_before_there_is_a_judge_failed_checks_are_drawn_first(tmp_path: Path) -> None:
    cases = {f"case-{at:03d}": {"outcome": at >= 8} for at in range(60)}

    sample = draw(talk_run(tmp_path, cases))

    assert strata(sample) == {"a check failed": (8, 8), "no check failed": (22, 52)}
    assert (sample.design, sample.by, sample.judge_digest) == ("by_judge", "failed checks", "")


def test_without_verdicts_and_checks_each_has_the_same_chance(tmp_path: Path) -> None:
    sample = draw(talk_run(tmp_path, 200), purpose="calibration")

    assert (sample.design, sample.by, sample.name) == ("uniform", "", "run-calibration")
    assert {one.inclusion for one in sample.items} == {0.5}
    assert len(sample.items) == 100


def test_a_judged_run_can_be_drawn_at_random_all_the_same(tmp_path: Path) -> None:
    sample = draw(judged(tmp_path, [1] * 5 + [4] * 95), 20, by="uniform")

    assert (sample.design, sample.judge_digest, strata(sample)) == (
        "uniform",
        "",
        {"all": (20, 100)},
    )


def test_asking_for_more_than_there_are_draws_all(tmp_path: Path) -> None:
    sample = draw(judged(tmp_path, [1, 1, 4]), 30)

    assert len(sample.items) == 3
    assert {one.inclusion for one in sample.items} == {1.0}


def test_the_draw_hangs_on_the_seed_and_not_on_the_order_of_the_file(tmp_path: Path) -> None:
    run = judged(tmp_path / "a", [1 + at % 4 for at in range(60)])
    other = judged(tmp_path / "b", [1 + at % 4 for at in range(60)])
    file = other.path / "transcripts.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    random.Random(5).shuffle(lines)
    file.write_text("".join(lines), encoding="utf-8")

    same = draw(run, 20)

    assert keys(draw(other, 20)) == keys(same)
    assert keys(draw(run, 20, seed=1)) != keys(same)


def test_over_seeds_each_transcript_is_drawn_as_often_as_its_chance_says(tmp_path: Path) -> None:
    run = judged(tmp_path, [1, 2] * 4 + [3, 4] * 12)
    drawn: Counter[tuple[str, int]] = Counter()
    for seed in range(300):
        drawn.update(keys(draw(run, 8, seed=seed)))

    # 4 of 8 and 4 of 24: binomial with 300 draws, four standard errors wide.
    for at in range(32):
        chance = 4 / 8 if at < 8 else 4 / 24
        wide = 4 * (chance * (1 - chance) / 300) ** 0.5
        assert abs(drawn[f"case-{at:03d}", 0] / 300 - chance) < wide


def test_transcripts_without_a_turn_are_left_out_and_counted(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 10, silent=("case-003", "case-004"))

    sample = draw(run, 10)

    assert len(sample.items) == 8
    assert sample.left_out == {"nothing to read: infrastructure failure": 2}
    assert strata(sample) == {"all": (8, 8)}


def test_fresh_labels_leave_out_every_repeat_of_a_case_that_was_read(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 10, repeats=2)
    row = LabelRow(kind="note", run=run.id, case_id="case-000", rater="ana", at=NOW, note="seen")
    elsewhere = row.model_copy(update={"run": "another", "case_id": "case-001"})

    sample = draw(run, 100, skip=LabelSet(None, (row, elsewhere)))

    assert "case-000" not in {case_id for case_id, _ in keys(sample)}
    assert strata(sample) == {"all": (18, 18)}
    assert sample.left_out == {"asked to be left out: labelled before": 2}
    assert sample.apart == ("case-000",)
    assert draw(run, 100, skip=[("case-000", 1)]).left_out == {
        "asked to be left out: labelled before": 1
    }


def test_what_was_tuned_on_in_another_run_is_not_drawn_to_measure_the_judge(
    tmp_path: Path,
) -> None:
    # Such a case is tuning data in every run: labels of it would be spent before they are given.
    tuned = LabelRow(
        kind="label", run="the run before", case_id="case-002", rater="ana", at=NOW,
        dimension="tone", score=1, purpose="tuning",
    )  # fmt: skip
    measured = tuned.model_copy(update={"case_id": "case-003", "purpose": "calibration"})

    sample = draw(talk_run(tmp_path, 10), 100, skip=LabelSet(None, (tuned, measured)))

    assert len(sample.items) == 9
    assert sample.apart == ("case-002",)
    assert strata(sample) == {"all": (9, 9)}


def test_a_case_is_set_apart_only_when_no_repeat_of_it_can_be_drawn(tmp_path: Path) -> None:
    run = talk_run(tmp_path, 4, repeats=2)
    skip = [("case-000", 0), ("case-001", 0), ("case-001", 1)]

    assert draw(run, 100, skip=skip).apart == ("case-001",)


def test_repeats_are_drawn_like_any_other_transcript(tmp_path: Path) -> None:
    sample = draw(talk_run(tmp_path, 10, repeats=3), 12)

    assert strata(sample) == {"all": (12, 30)}
    assert len({case_id for case_id, _ in keys(sample)}) < 12


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"n": 0}, "n is 0; draw one transcript at least"),
        ({"by": "verdicts"}, "was not judged"),
        ({"by": "checks"}, "has no check rows"),
        ({"by": "chance"}, 'by is "chance"; it wants verdicts, checks or uniform'),
        ({"by": "checks", "dimension": "tone"}, "goes with verdicts"),
        ({"skip": [("case-000", 0), ("case-001", 0)]}, "has no transcript left to be labelled"),
    ],
)
def test_what_cannot_be_drawn_is_said(tmp_path: Path, how: dict[str, object], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        draw(talk_run(tmp_path, 2), **how)  # type: ignore[arg-type]


def test_a_sample_goes_to_disk_and_comes_back(tmp_path: Path) -> None:
    sample = draw(judged(tmp_path, [1, None, 4, 4]), 3)

    path = write_sample(tmp_path / "labels", sample)

    assert read_sample(path) == sample
    assert json.loads(path.read_text(encoding="utf-8"))["strata"][0]["name"] == "1-2"


def test_the_same_cell_tomorrow_goes_on_with_the_same_sample(tmp_path: Path) -> None:
    run, folder = judged(tmp_path, [1, 4] * 10), tmp_path / "labels"
    first = keep_sample(folder, run, name="first", n=6, now=lambda: NOW)
    judge(run, {f"case-{at:03d}": 3 for at in range(20)}, digest="judge-9")

    again = keep_sample(folder, run, name="first", n=6, now=lambda: "2026-03-03T09:00:00Z")

    assert again == first
    assert list_samples(folder) == [first]


def test_another_size_or_purpose_under_the_same_name_is_refused(tmp_path: Path) -> None:
    run, folder = judged(tmp_path, [1, 4] * 10), tmp_path / "labels"
    keep_sample(folder, run, name="first", n=6)

    with pytest.raises(ConfigError, match="has n 6, and 8 was asked for"):
        keep_sample(folder, run, name="first", n=8)
    with pytest.raises(ConfigError, match="has purpose tuning, and calibration was asked for"):
        keep_sample(folder, run, name="first", n=6, purpose="calibration")


@given(
    n=st.integers(1, 60),
    totals=st.dictionaries(st.sampled_from("abcde"), st.integers(1, 40), min_size=1),
)
def test_quotas_add_up_and_never_ask_for_more_than_there_is(n: int, totals: dict[str, int]) -> None:
    found = quotas(n, totals, low="a")

    assert sum(found.values()) == min(n, sum(totals.values()))
    assert all(0 <= found[name] <= total for name, total in totals.items())
    if n >= 2 * len(totals):
        assert all(found.values())
