"""What people would have scored: the estimator by the design, and the truth inside its interval."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from labelled import AFTER, NOW, SCALE, label, labelled_run, people_and_judge
from verdicts import scored_run

from agenteval_kit.calibrate import calibrate_run, corrected_run
from agenteval_kit.calibrate.corrected import one_design
from agenteval_kit.errors import ConfigError
from agenteval_kit.records.calibrations import Calibration, DimensionCalibration, LabelPair
from agenteval_kit.runs import Run


def test_the_corrected_mean_is_the_post_stratified_one(tmp_path: Path) -> None:
    # The run: 20 scored 1 and 80 scored 4. People on 10 of each: mean 1.5 and 3.9.
    # 0.2 x 1.5 + 0.8 x 3.9 = 3.42; the judge gave 3.4.
    verdicts = {f"f{i:02d}": 1 for i in range(20)} | {f"g{i:02d}": 4 for i in range(80)}
    run = scored_run(tmp_path, verdicts)
    said = {f"f{i:02d}": 1 if i < 5 else 2 for i in range(10)}
    said |= {f"g{i:02d}": 4 if i < 9 else 3 for i in range(10)}
    chance = {case: 0.5 if case[0] == "f" else 0.125 for case in said}
    labels = label(tmp_path / "labels", run, {"anna": said}, inclusion=chance, design="by_judge")
    result = calibrate_run(run, labels, now=NOW)

    found = corrected_run(run, result, pass_at=4)

    one = found.dimensions["tone"]
    assert one.found is not None
    assert one.found.mean.value == pytest.approx(3.42)
    assert one.found.raw_mean.value == pytest.approx(3.4)
    # At 4: none of the judged failures, 9 of 10 of the others.
    assert one.found.pass_rate.value == pytest.approx(0.8 * 0.9)
    assert one.found.provisional
    assert "miss mostly low" in one.sentence()
    frame = found.frame()
    assert frame.loc[0, "corrected"] == pytest.approx(3.42)
    assert (frame.loc[0, "labels"], frame.loc[0, "suite"]) == (20, 100)
    assert corrected_run(run, result.calibration, pass_at={"tone": 4}).frame().equals(frame)


@pytest.mark.parametrize(("design", "many"), [("by_human", 1), ("external", 0)])
def test_labels_that_people_picked_correct_a_pass_rate_and_no_mean(
    tmp_path: Path, design: str, many: int
) -> None:
    run, labels = labelled_run(tmp_path, 100, raters=1, accuracy=0.95, judge_accuracy=0.9)
    rows = {row.case_id: row.score for row in labels.labels()}
    picked = label(tmp_path / "picked", run, {"anna": rows}, design=design, inclusion=None)

    one = corrected_run(run, calibrate_run(run, picked, now=NOW), pass_at=3).dimensions["tone"]

    assert one.found is not None
    assert one.found.design == design
    assert one.found.mean.value is None
    assert one.found.mean.reason.startswith(f"labels are {design}")
    assert one.found.pass_rate.value is not None
    assert one.found.pass_rate.method.startswith("Rogan-Gladen")


def test_by_judge_labels_without_their_chances_are_refused_not_guessed(tmp_path: Path) -> None:
    said, people = people_and_judge(60, raters=1)
    run = scored_run(tmp_path, said)
    labels = label(tmp_path / "labels", run, people, design="by_judge", inclusion=None)
    result = calibrate_run(run, labels, now=NOW)

    one = corrected_run(run, result).dimensions["tone"]

    assert one.found is None
    assert "need their inclusion probabilities" in one.reason
    assert "60 labels were drawn by a verdict without its inclusion probability" in " ".join(
        result.of("tone").notes
    )


def pair(case_id: str, design: str, inclusion: float | None = 0.5) -> LabelPair:
    return LabelPair(
        case_id=case_id, rater="anna", human=3, judge=3, design=design, inclusion=inclusion
    )


def test_mixed_designs_keep_what_was_drawn_and_say_what_was_left() -> None:
    mixed = [pair("a", "uniform"), pair("b", "by_judge"), pair("c", "external", None)]

    kept, design, notes = one_design(mixed)
    picked, other, silent = one_design([pair("c", "external", None), pair("d", "by_human", None)])

    assert [one.case_id for one in kept] == ["a", "b"]
    assert design == "by_judge"
    assert notes == ("1 label not drawn from the run left out of the correction",)
    assert (len(picked), other, silent) == (2, "by_human", ())
    assert one_design([pair("a", "uniform")])[1] == "uniform"


def with_agent(run: Run, root: Path, name: str, digest: str) -> Run:
    said = {row.case_id: row.score for row in run.verdict_rows()}
    made = scored_run(root, said, name=name)
    path = made.path / "verdicts.jsonl"
    path.write_text(path.read_text().replace('"agent_digest":""', f'"agent_digest":"{digest}"'))
    if digest not in path.read_text():
        lines = path.read_text().splitlines()
        path.write_text("".join(line[:-1] + f',"agent_digest":"{digest}"}}\n' for line in lines))
    return Run.open(made.path)


def test_another_agent_is_corrected_and_marked_until_it_has_20_labels(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 60)
    first = calibrate_run(run, labels, now=NOW)
    new = with_agent(run, tmp_path, "new", "agent-2")
    new = Run(new.path, new.info.model_copy(update={"id": "new-run"}))
    people = {"anna": {row.case_id: row.score for row in labels.labels()}}

    far = corrected_run(new, first).dimensions["tone"]

    assert far.transported
    assert far.notes[0].startswith("transported: labels of run ")
    assert corrected_run(run, first).dimensions["tone"].transported is False
    for count, transported in ((19, True), (20, False)):
        few = {"anna": dict(list(people["anna"].items())[:count])}
        own = label(tmp_path / f"own-{count}", new, few)
        known = calibrate_run(new, own, now=NOW, known=first.calibration).calibration
        found = corrected_run(new, known).dimensions["tone"]
        assert found.transported is transported
        assert found.found is not None
        assert found.found.labels == (60 if transported else 20)


def test_own_labels_go_before_fewer_and_newer_ones_of_another_run(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 15)
    own = calibrate_run(run, labels, now=NOW).calibration.dimensions[0]

    def used(*others: DimensionCalibration) -> str:
        known = Calibration(name="x", dimensions=(own, *others))
        return corrected_run(run, known).dimensions["tone"].labelled_run

    other = own.model_copy(update={"run": "other", "held_out": 10, "agent_digest": "agent-2"})
    assert used(other) == own.run
    # Twenty of another agent say more than 15 of one's own; those of one's own agent come first.
    assert used(other.model_copy(update={"held_out": 20})) == "other"
    alike = own.model_copy(update={"run": "same-agent", "held_out": 20})
    assert used(alike, other.model_copy(update={"held_out": 40})) == "same-agent"


def test_labels_of_the_same_agent_on_other_scenarios_say_so(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 60)
    known = calibrate_run(run, labels, now=NOW).calibration
    cases = {row.case_id: row.score for row in run.verdict_rows()}
    apart = scored_run(tmp_path, {f"other-{case}": score for case, score in cases.items()},
                       name="apart")  # fmt: skip
    apart = Run(apart.path, apart.info.model_copy(update={"id": "apart"}))
    alike = Run(run.path, run.info.model_copy(update={"id": "again"}))

    far = corrected_run(apart, known).dimensions["tone"]
    near = corrected_run(alike, known).dimensions["tone"]

    assert far.transported is False
    assert far.notes == (
        f"labels of run {run.info.id} of the same agent, 60 of 60 scenarios are not in this run: "
        "taken for granted that the judge errs alike on both",
    )
    assert near.notes == (f"labels of run {run.info.id} of the same agent",)


def test_without_a_calibration_or_held_out_labels_there_is_no_corrected_mean(
    tmp_path: Path,
) -> None:
    run, labels = labelled_run(tmp_path, 30)
    result = calibrate_run(run, labels, now=NOW)
    entry = result.calibration.dimensions[0]
    read = tuple(one.model_copy(update={"half": "tuning"}) for one in entry.pairs)

    def reason(*entries: DimensionCalibration) -> str:
        known = Calibration(name="x", dimensions=entries)
        return corrected_run(run, known).dimensions["tone"].reason

    assert reason() == "never calibrated"
    assert reason(entry.model_copy(update={"judge_digest": "j"})) == "calibrated for another judge"
    assert reason(entry.model_copy(update={"pairs": read})).startswith("no held-out labels")
    with pytest.raises(ConfigError, match='nobody has judged "tonne"'):
        corrected_run(run, result, dimensions=["tonne"])


@pytest.mark.parametrize(
    ("design", "least"),
    # 60 simulated suites, 60 labels each: the study's coverage is .926 to .952, and below 2 Monte
    # Carlo errors of that a cell would be wrong. The judge alone covers .63 there.
    [("uniform", 0.87), ("by_judge", 0.87)],
)
def test_the_corrected_interval_covers_what_people_would_have_said(
    design: str, least: float, tmp_path: Path
) -> None:
    covered = raw_covered = 0
    replicates = 60
    for seed in range(replicates):
        rng = np.random.default_rng(seed)
        said, people = people_and_judge(
            300, shares=(0.03, 0.07, 0.25, 0.65), accuracy=0.92, judge_accuracy=0.75, raters=1,
            seed=seed,
        )  # fmt: skip
        truth = people["rater-1"]
        low = [case for case, score in said.items() if score <= 2]
        high = [case for case in said if said[case] > 2]
        if design == "uniform":
            drawn = dict.fromkeys(rng.permutation(list(said))[:60], 60 / 300)
        else:
            many = min(30, len(low))
            drawn = {case: many / len(low) for case in rng.permutation(low)[:many]}
            rest = 60 - many
            drawn |= {case: rest / len(high) for case in rng.permutation(high)[:rest]}
        entry = DimensionCalibration(
            dimension="tone", levels=SCALE, judge="judge-x", judge_digest="judge-1", at=AFTER,
            state="provisional", held_out=60,
            pairs=tuple(
                LabelPair(case_id=str(case), rater="anna", human=truth[case], judge=said[case],
                          inclusion=chance, design=design)
                for case, chance in drawn.items()
            ),
        )  # fmt: skip
        run = scored_run(tmp_path, said, name=f"{design}-{seed}")
        found = corrected_run(run, Calibration(name="x", dimensions=(entry,))).dimensions["tone"]
        assert found.found is not None
        mean = float(np.mean(list(truth.values())))
        for estimate, hit in ((found.found.mean, 1), (found.found.raw_mean, 0)):
            assert estimate.low is not None and estimate.high is not None
            inside = estimate.low <= mean <= estimate.high
            covered += hit * inside
            raw_covered += (1 - hit) * inside

    assert covered / replicates >= least
    assert raw_covered / replicates < least
