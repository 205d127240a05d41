"""The calibration file: what was edited by hand is not believed, and nobody's entries are lost."""

from __future__ import annotations

import json
import multiprocessing
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from labelled import NOW, label, labelled_run, people_and_judge
from people import calibrated

from agenteval_kit.calibrate import (
    calibrate_run,
    hold_calibration,
    read_calibration,
    write_calibration,
)
from agenteval_kit.errors import ConfigError, InfrastructureError
from agenteval_kit.records.bars import TrustRule
from agenteval_kit.records.calibrations import Calibration, Look
from agenteval_kit.runs import Run


def test_what_is_written_is_read_back_as_it_was(tmp_path: Path) -> None:
    path = write_calibration(tmp_path / "found.json", calibrated())

    (found,) = read_calibration(path).dimensions

    assert found.model_copy(update={"seal": ""}) == calibrated().dimensions[0]


def test_a_rule_whose_number_is_the_default_is_read_back(tmp_path: Path) -> None:
    # The file leaves out what is its default; a bar may not, with this statistic.
    made = calibrated()
    rule = TrustRule(statistic="ac2", at_least=0.4)
    entries = tuple(one.model_copy(update={"rule": rule}) for one in made.dimensions)
    path = write_calibration(
        tmp_path / "found.json", made.model_copy(update={"dimensions": entries})
    )

    (found,) = read_calibration(path).dimensions

    assert (found.state, found.rule) == ("trusted", rule)


@pytest.mark.parametrize("sealed", [True, False])
def test_an_entry_that_was_set_to_trusted_by_hand_is_stale(tmp_path: Path, sealed: bool) -> None:
    path = write_calibration(tmp_path / "found.json", calibrated(state="provisional"))
    value = json.loads(path.read_text(encoding="utf-8"))
    value["dimensions"][0]["state"] = "trusted"
    if not sealed:
        del value["dimensions"][0]["seal"]
    path.write_text(json.dumps(value), encoding="utf-8")

    (found,) = read_calibration(path).trust()

    assert (found.state, found.reason) == (
        "stale",
        "its entry was edited since it was written; run `agenteval calibrate` again",
    )


def test_an_edited_figure_breaks_the_seal_too_and_layout_does_not(tmp_path: Path) -> None:
    path = write_calibration(tmp_path / "found.json", calibrated(held_out=40))
    value = json.loads(path.read_text(encoding="utf-8"))

    path.write_text(json.dumps(value, sort_keys=True), encoding="utf-8")
    laid_out = read_calibration(path).trust()[0].state
    value["dimensions"][0]["held_out"] = 400
    path.write_text(json.dumps(value), encoding="utf-8")

    assert (laid_out, read_calibration(path).trust()[0].state) == ("trusted", "stale")


@pytest.mark.parametrize(("scenarios", "state"), [(20, "stale"), (100, "trusted")])
def test_trust_of_an_older_file_that_rests_on_repeats_is_found_anew(
    tmp_path: Path, scenarios: int, state: str
) -> None:
    pairs = [
        {"case_id": f"c{at % scenarios}", "repeat": at // scenarios, "rater": "anna", "human": 3,
         "judge": 3}
        for at in range(100)
    ]  # fmt: skip
    path = write_calibration(tmp_path / "found.json", calibrated(held_out=100, pairs=pairs))

    (found,) = read_calibration(path).trust()

    assert found.state == state
    if state == "stale":
        assert found.reason == (
            "found on 20 scenarios with repeats; 100 scenarios wanted: run `agenteval calibrate` "
            "again"
        )


@pytest.mark.parametrize(
    "edit",
    [
        lambda value: value["dimensions"].pop(),
        lambda value: value["dimensions"][1].update(judge_digest="another"),
        lambda value: value.pop("looks"),
        lambda value: value.pop("seal"),
    ],
)
def test_nothing_of_a_file_is_trusted_that_an_entry_or_a_look_was_taken_out_of(
    tmp_path: Path, edit: Callable[[dict[str, Any]], object]
) -> None:
    made = calibrated(run="a")
    later = calibrated(run="b", state="not trusted").dimensions
    look = Look(at="now", dimension="tone", judge_digest="j", dimension_digest="d", cases=("a",))
    path = write_calibration(
        tmp_path / "found.json",
        made.model_copy(update={"dimensions": (*made.dimensions, *later), "looks": (look,)}),
    )
    value = json.loads(path.read_text(encoding="utf-8"))
    whole = read_calibration(path).trust()[0]

    edit(value)
    path.write_text(json.dumps(value), encoding="utf-8")

    found = read_calibration(path).trust()[0]
    assert whole.state == "trusted"
    assert (found.state, found.reason) == (
        "stale",
        "other entries or looks of the file were edited since it was written; run "
        "`agenteval calibrate` again",
    )


def look_again(path: Path, name: str) -> None:
    """What `agenteval calibrate` does: read, find something, write."""
    with hold_calibration(path) as known:
        before = known or Calibration(name="made")
        entry = calibrated(name).dimensions[0]
        look = Look(at=name, dimension=name, judge_digest="j", dimension_digest="d", cases=("a",))
        write_calibration(
            path,
            before.model_copy(
                update={
                    "dimensions": (*before.dimensions, entry),
                    "looks": (*before.looks, look),
                }
            ),
        )


def test_of_many_that_calibrate_at_once_every_entry_and_look_is_kept(tmp_path: Path) -> None:
    path, names = tmp_path / "found.json", [f"d{number}" for number in range(6)]
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=look_again, args=(path, name)) for name in names]

    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    found = read_calibration(path)
    assert sorted(one.dimension for one in found.dimensions) == names
    assert sorted(look.at for look in found.looks) == names


def test_who_would_drop_what_was_found_meanwhile_is_refused(tmp_path: Path) -> None:
    path = write_calibration(tmp_path / "found.json", calibrated("tone"))

    with pytest.raises(ConfigError) as refused:
        write_calibration(path, calibrated("care"))

    assert str(refused.value) == (
        f"{path}: holds entries or looks that would be lost: somebody has calibrated since it was "
        "read; read it again and calibrate anew"
    )
    assert [one.dimension for one in read_calibration(path).dimensions] == ["tone"]


def test_a_place_that_cannot_be_written_is_no_fault_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file", encoding="utf-8")

    with pytest.raises(InfrastructureError, match=r"found\.json: cannot be written"):
        write_calibration(tmp_path / "taken" / "found.json", calibrated())


def test_a_run_under_another_id_makes_no_second_entry_and_is_known_by_both(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 40)
    copy = _under_another_id(run, tmp_path / "copy")
    first = calibrate_run(run, labels, now=NOW).calibration

    both = calibrate_run(copy, labels, now=NOW, known=first).calibration
    again = calibrate_run(run, labels, now=NOW, known=both).calibration
    read = read_calibration(write_calibration(tmp_path / "found.json", again))

    (entry,) = read.dimensions
    assert (entry.run, entry.also, len(read.looks)) == (run.info.id, (copy.info.id,), 1)
    assert read.of("tone", "judge-1", run=copy.info.id) == entry


def test_a_run_that_is_found_otherwise_leaves_its_copy_what_was_found_of_it(
    tmp_path: Path,
) -> None:
    run, labels = labelled_run(tmp_path, 40)
    copy = _under_another_id(run, tmp_path / "copy")
    known = calibrate_run(run, labels, now=NOW).calibration
    known = calibrate_run(copy, labels, now=NOW, known=known).calibration
    easy = TrustRule(min_labels=20)

    found = calibrate_run(run, labels, now=NOW, known=known, rule=easy).calibration

    rules = {one.run: one.rule for one in found.dimensions}
    assert rules == {copy.info.id: TrustRule(), run.info.id: easy}


def test_other_labels_of_the_copy_are_an_entry_of_their_own(tmp_path: Path) -> None:
    run, labels = labelled_run(tmp_path, 40)
    copy = _under_another_id(run, tmp_path / "copy")
    _, people = people_and_judge(40, raters=3, seed=1)
    known = calibrate_run(run, labels, now=NOW).calibration
    more = label(tmp_path / "labels", run, {"rater-3": people["rater-3"]})

    found = calibrate_run(copy, more, now=NOW, known=known).calibration

    assert [one.run for one in found.dimensions] == [run.info.id, copy.info.id]


def _under_another_id(run: Run, place: Path) -> Run:
    # Labels name the run by its id, and find a folder of that name.
    made = place / run.info.id
    shutil.copytree(run.path, made)
    info = json.loads((made / "run.json").read_text(encoding="utf-8"))
    (made / "run.json").write_text(json.dumps({**info, "id": "another"}), encoding="utf-8")
    return Run.open(made)
