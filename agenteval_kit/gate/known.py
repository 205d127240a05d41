"""What people have said of a run's judges: the calibration, the labels, the rubric as it is now.

May not decide whether a judge is trusted: a calibration did, for one judge and one wording.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agenteval_kit.errors import ConfigError, Problem
from agenteval_kit.files import read_yaml
from agenteval_kit.records.bars import TrustRule
from agenteval_kit.records.trust import DimensionTrust, TrustState
from agenteval_kit.runs import Run
from agenteval_kit.runs.suites import find_suite_file

if TYPE_CHECKING:
    from agenteval_kit.labels import LabelSet
    from agenteval_kit.records import JudgeStamp
    from agenteval_kit.records.calibrations import Calibration, DimensionCalibration

__all__ = ["Known", "calibration_place", "labels_place", "read_known", "suite_key"]


@dataclass(frozen=True)
class Known:
    """What is known of the judges of a run.

    Attributes
    ----------
    calibration : Calibration or None
        None where there is none yet; `missing` then says where it was looked for.
    labels : LabelSet or None
        What people said, of this run and of others.
    rubric : str
        The name of the suite's rubric as it stands now; empty where the suite is not here.
    wording : mapping of str to str
        The digest of each of its dimensions.
    """

    calibration: Calibration | None = None
    labels: LabelSet | None = None
    rubric: str = ""
    wording: Mapping[str, str] = field(default_factory=dict)
    missing: str = ""

    def trust(self, run: Run, rule: TrustRule | None = None) -> list[DimensionTrust]:
        """Whether each judge of a run is trusted, one entry a judge and dimension.

        Parameters
        ----------
        run : Run
            With verdicts or without.
        rule : TrustRule, optional
            The bar's. What was found under another rule is provisional.
        """
        return [self._of(stamp, rule, run.info.id) for stamp in run.judge_stamps()]

    def entries(self, dimension: str) -> list[DimensionCalibration]:
        """What was calibrated on a dimension, the newest last."""
        every = self.calibration.dimensions if self.calibration is not None else ()
        return [one for one in every if one.dimension == dimension]

    def _of(self, stamp: JudgeStamp, rule: TrustRule | None, run: str) -> DimensionTrust:
        every = self.entries(stamp.dimension)
        mine = [one for one in every if one.judge_digest == stamp.judge_digest]
        # What people are to each other does not depend on the judge, only on the wording.
        same = [one for one in every if one.dimension_digest == stamp.dimension_digest]
        ceiling = same[-1].rubric_state if same else ""

        def told(state: TrustState, why: str) -> DimensionTrust:
            return DimensionTrust(
                dimension=stamp.dimension, judge_digest=stamp.judge_digest, state=state,
                reason=why, rubric_state=ceiling,
            )  # fmt: skip

        changed = self._changed(stamp)
        if not every:
            return told("never calibrated", "; ".join(filter(None, (self.missing, changed))))
        if changed:
            return told("stale", changed)
        # What was found on this very run comes before what was found later on another.
        entry = next(reversed([one for one in mine if one.is_of(run)] or mine), None)
        if entry is None:
            return told("stale", _what_changed(every[-1], stamp))
        if rule is not None and entry.rule != rule:
            why = "calibrated under another rule; run `agenteval calibrate` with this bar"
            return told("provisional", why)
        found, other = entry.trust(), _otherwise(entry, mine)
        if not found.trusted:
            why = "; ".join(filter(None, (found.reason, other, entry.on_what_text)))
            return found.model_copy(update={"reason": why})
        unseen = f"rubric {stamp.rubric} is not here: nobody could see whether it has changed"
        notes = (other, entry.on_what_text, "" if self._compared(stamp) else unseen)
        return found.model_copy(update={"note": "; ".join(filter(None, notes))})

    def _compared(self, stamp: JudgeStamp) -> bool:
        """Whether the words that were judged by could be told from those that stand here."""
        # The stamp carries "name version", and a version may move while a dimension stays. Under
        # another name the same dimension is held against the words: a name is soon edited.
        return bool(self.rubric) and (
            stamp.rubric.rpartition(" ")[0] == self.rubric or stamp.dimension in self.wording
        )

    def _changed(self, stamp: JudgeStamp) -> str:
        """Why the verdicts are not of the rubric as it stands now; empty where they are."""
        if not self._compared(stamp):
            return ""
        now = self.wording.get(stamp.dimension)
        if now is None:
            return f"the rubric has no {stamp.dimension} any more"
        if now != stamp.dimension_digest:
            if stamp.rubric.rpartition(" ")[0] != self.rubric:
                return (
                    f"the suite's rubric is {self.rubric} now, with other words for "
                    f"{stamp.dimension}; judge again, or name {stamp.rubric} in the suite"
                )
            return f"the wording of {stamp.dimension} changed since it was judged; judge again"
        return ""


def read_known(
    run: Run,
    *,
    calibration: Path | None = None,
    labels: Path | None = None,
    suite: Path | None = None,
) -> Known:
    """What people have said that bears on a run.

    Parameters
    ----------
    run : Run
        Its suite, where it still stands, names the files that are not given; a suite that names
        none has them under its name in data/calibrations and data/labels of its project, wherever
        this was started. What is not there yet is no error: then nothing was ever calibrated, or
        labelled.
    calibration, labels : Path, optional
        A calibration file, and a folder of labels, that have to be there.
    suite : Path, optional
        The run's suite, where it lies elsewhere now.

    Raises
    ------
    ConfigError
        If one that was given is missing or holds no label, or a file is broken.
    """
    file = calibration or calibration_place(run, suite=suite)
    folder = labels or labels_place(run, suite=suite)
    found = None
    if file.is_file():
        # Late: a bar of checks alone has no use for what reads these.
        from agenteval_kit.calibrate import read_calibration

        found = read_calibration(file)
    elif calibration is not None:
        raise ConfigError(
            Problem(
                "there is no such calibration; `agenteval calibrate RUN` writes one",
                str(calibration),
            )
        )
    said = None
    if folder.is_dir() or labels is not None:
        from agenteval_kit.labels import read_labels  # late, see above

        said = read_labels(folder)
    if labels is not None and said is not None and not said.rows:
        raise ConfigError(Problem("holds no label; name the folder that holds them", str(labels)))
    missing = ""
    if found is None and suite_key(run, "calibration", suite=suite) is not None:
        missing = f"{file.name} is not there yet"
    rubric, wording = _wording(run, suite)
    return Known(found, said, rubric, wording, missing)


def calibration_place(run: Run, *, suite: Path | None = None) -> Path:
    """The calibration of a run's suite: what the suite names, or its name in data/calibrations."""
    named = suite_key(run, "calibration", suite=suite)
    return named or _data(run, suite) / "calibrations" / f"{run.info.suite}.json"


def labels_place(run: Run, *, suite: Path | None = None) -> Path:
    """The labels of a run's suite: the folder it names, or its name in data/labels."""
    named = suite_key(run, "labels", suite=suite)
    return named or _data(run, suite) / "labels" / run.info.suite


def suite_key(run: Run, key: str, *, suite: Path | None = None) -> Path | None:
    """The file that a run's suite names under a key; None where it names none or is not here."""
    file = suite or find_suite_file(run)
    named = None if file is None else _suite_values(file).get(key)
    return file.parent / named if file is not None and isinstance(named, str) else None


def _suite_values(file: Path) -> Mapping[str, Any]:
    value = read_yaml(file).value
    return value if isinstance(value, dict) else {}


def _data(run: Run, suite: Path | None) -> Path:
    """The data folder of the project: of the suite, else of the run; never of who happens to ask.

    Seen from the working directory where one lies in the other.
    """
    file = suite or find_suite_file(run)
    if file is not None:
        project = Path(os.path.abspath(file)).parent
        for folder in ("suites", "data"):
            project = project.parent if project.name == folder else project
    else:
        above = run.path.resolve().parents
        near = (one for one in above[:3] if one != one.parent and (one / "data").is_dir())
        project = next(near, above[0])
    here = Path.cwd()
    if project.is_relative_to(here) or here.is_relative_to(project):
        project = Path(os.path.relpath(project, here))
    return project / "data"


def _wording(run: Run, suite: Path | None) -> tuple[str, Mapping[str, str]]:
    """The name and the digests of the suite's rubric as it stands now."""
    path = suite_key(run, "rubric", suite=suite)
    if path is None or not run.judge_stamps():
        return "", {}
    from agenteval_kit.rubrics import dimension_digest, load_rubric

    rubric = load_rubric(path)
    return rubric.name, {one.name: dimension_digest(one) for one in rubric.dimensions}


def _otherwise(entry: DimensionCalibration, mine: Iterable[DimensionCalibration]) -> str:
    """Where labels of other runs settle the opposite of the same judge; empty where none do."""
    last = {one.run: one.state for one in mine} | {entry.run: entry.state}
    other = {"trusted": "not trusted", "not trusted": "trusted"}.get(entry.state)
    runs = [run for run, state in last.items() if state == other]
    return f"by labels of run {', '.join(runs)} the same judge is {other}" if runs else ""


def _what_changed(last: DimensionCalibration, stamp: JudgeStamp) -> str:
    """What parts a judge from the one that was calibrated, the anchors before the model."""
    who = f"calibrated as judge {last.judge_digest}; this one is {stamp.judge_digest}"
    if last.dimension_digest != stamp.dimension_digest:
        return f"the wording of {stamp.dimension} changed since it was calibrated; {who}"
    if [seat.model for seat in last.seats] != [seat.model for seat in stamp.seats]:
        return f"the judge was {last.judge} when it was calibrated, and is {stamp.judge}; {who}"
    if [seat.endpoint for seat in last.seats] != [seat.endpoint for seat in stamp.seats]:
        was, now = (", ".join(seat.endpoint or "not noted" for seat in one.seats)
                    for one in (last, stamp))  # fmt: skip
        return f"the judge's server was {was} when it was calibrated, and is {now}; {who}"
    if [seat.parameters for seat in last.seats] != [seat.parameters for seat in stamp.seats]:
        return f"the judge's parameters changed since it was calibrated; {who}"
    return f"the prompt, its clock or its evidence changed since; {who}"
