"""What a calibration found: per dimension the ceiling first, then the judge, then trust.

May not compute anything.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agenteval_kit.calibrate.beside import Beside
from agenteval_kit.calibrate.ceiling import Ceiling
from agenteval_kit.errors import ConfigError, did_you_mean
from agenteval_kit.records.bars import TrustRule
from agenteval_kit.records.calibrations import Calibration, DimensionCalibration, LabelPair
from agenteval_kit.records.trust import TrustState
from agenteval_kit.records.verdicts import JudgeStamp
from agenteval_kit.text import counted

if TYPE_CHECKING:
    import pandas as pd

    from agenteval_kit.stats.agreement import Agreement
    from agenteval_kit.stats.estimate import Estimate

__all__ = ["STATISTICS", "CalibrationResult", "DimensionResult"]

STATISTICS: dict[str, str] = {
    "exact": "exact",
    "within_one": "within one",
    "kappa_quadratic": "quadratic kappa",
    "ac2_quadratic": "Gwet's AC2",
}
"""Statistics of agreement as a result names them, and as people read them."""


@dataclass(frozen=True, slots=True)
class DimensionResult:
    """One dimension under the judge that speaks for it.

    Attributes
    ----------
    stamp : JudgeStamp or None
        The judge; None where nobody has judged the dimension, and then only the ceiling stands.
    ceiling : Ceiling
        People with each other.
    beside : Beside
        The judge with people on held-out transcripts, and the gap to a second person.
    chance : Estimate
        The chance that a judge as good as a person would be found trusted on so many labels.
    state, reason, more_labels
        Trust, why, and the further labelled transcripts that could settle it.
    looks : int
        Looks at these held-out scenarios so far, this one included.
    pairs : tuple of LabelPair
        What it was computed from.
    notes : tuple of str
        Doubts in plain words.
    entry : DimensionCalibration or None
        What goes into the file; None where nothing was labelled or judged.
    """

    dimension: str
    layer: str
    levels: tuple[int, ...]
    stamp: JudgeStamp | None
    ceiling: Ceiling
    beside: Beside
    chance: Estimate
    state: TrustState
    reason: str
    more_labels: int | None
    looks: int
    pairs: tuple[LabelPair, ...]
    notes: tuple[str, ...]
    entry: DimensionCalibration | None

    @property
    def agreement(self) -> Agreement:
        """Judge (rows) with people (columns) on held-out transcripts."""
        return self.beside.agreement

    @property
    def alpha(self) -> Estimate:
        """Krippendorff's alpha with the judge as one more rater."""
        return self.beside.alpha

    @property
    def gap(self) -> Estimate:
        """Exact agreement of the judge with people minus that of people with each other."""
        return self.beside.gap

    @property
    def dominated(self) -> str:
        """That high exact agreement may be the work of one common level, in words; or empty."""
        return self.beside.dominated(self.entry.rule if self.entry else TrustRule())

    @property
    def held_out(self) -> int:
        """Labelled and judged transcripts that trust rests on."""
        return self.beside.transcripts

    @property
    def _unit(self) -> str:
        if self.beside.scenarios < self.beside.transcripts:
            return "further scenario"
        return "further labelled transcript"

    def lines(self) -> tuple[str, ...]:
        """The findings in words: the ceiling, then the judge, then trust, then doubts."""
        told = [f"{self.dimension}: {self.ceiling.sentence()}"]
        if self.held_out:
            found, chance = self.agreement, self.agreement.within_one_chance
            told.append(
                f"judge {self.stamp.judge if self.stamp else ''} with people on "
                f"{counted(self.held_out, 'held-out transcript')} "
                f"({counted(self.beside.labels, 'label')} by "
                f"{counted(self.beside.raters, 'rater')}): exact {found.exact.text()}, "
                f"within one {found.within_one.text()}"
                f"{'' if chance is None else f' (by chance {chance:.2f})'}, "
                f"quadratic kappa {found.kappa_quadratic.text()}"
            )
            told.append(f"gap to a second person: {self.gap.text()}")
        more = f"; about {counted(self.more_labels, self._unit)}" if self.more_labels else ""
        told.append(f"{self.state}: {self.reason}{more}")
        if self.chance.value is not None:
            told.append(
                f"a judge as good as a person would be found trusted in "
                f"{self.chance.text(percent=True)} of calibrations like this ({self.chance.diag})"
            )
        return (*told, *self.notes)


@dataclass(frozen=True, slots=True)
class CalibrationResult:
    """What labels say of the judges of a run.

    Attributes
    ----------
    calibration : Calibration
        To be written: what was known, and what was found now.
    dimensions : tuple of DimensionResult
        In the order of the rubric.
    notes : tuple of str
        Labels that were left out, in plain words.
    """

    calibration: Calibration
    dimensions: tuple[DimensionResult, ...]
    notes: tuple[str, ...] = ()

    def of(self, dimension: str) -> DimensionResult:
        """One dimension.

        Raises
        ------
        ConfigError
            If it was neither judged nor labelled.
        """
        for one in self.dimensions:
            if one.dimension == dimension:
                return one
        names = [one.dimension for one in self.dimensions]
        raise ConfigError(
            f'dimension "{dimension}" was neither judged nor labelled.'
            f"{did_you_mean(dimension, names)}"
        )

    def frame(self) -> pd.DataFrame:
        """One row a dimension.

        Columns: dimension, layer (str), rubric_state (str: empty, or what people's agreement with
        each other says against the rubric), people, judge (quadratic kappa with its interval, as
        text), gap (text), held_out (int, transcripts), state, reason (str), more_labels (int, or
        <NA>: none are missing, or labels are not what is missing), looks (int), judge_digest.
        """
        import pandas as pd  # heavy: only who wants a frame pays for it

        rows = [
            {
                "dimension": one.dimension,
                "layer": one.layer,
                "rubric_state": one.ceiling.state,
                "people": one.ceiling.agreement.kappa_quadratic.text(),
                "judge": one.agreement.kappa_quadratic.text(),
                "gap": one.gap.text(),
                "held_out": one.held_out,
                "state": one.state,
                "reason": one.reason,
                "more_labels": one.more_labels,
                "looks": one.looks,
                "judge_digest": one.stamp.judge_digest if one.stamp else "",
            }
            for one in self.dimensions
        ]
        names = ["dimension", "layer", "rubric_state", "people", "judge", "gap", "held_out",
                 "state", "reason", "more_labels", "looks", "judge_digest"]  # fmt: skip
        return pd.DataFrame.from_records(rows, columns=names).astype({"more_labels": "Int64"})

    def ceiling_frame(self) -> pd.DataFrame:
        """One row a dimension and statistic, people with each other.

        Columns: dimension, statistic (str), value, low, high (missing where undefined), n (int),
        rubric_state, diag (str).
        """
        return self._estimates(
            {
                "dimension": one.dimension,
                "statistic": name,
                **_numbers(estimate),
                "rubric_state": one.ceiling.state,
                "diag": _doubt(estimate),
            }
            for one in self.dimensions
            for name, estimate in _named(one.ceiling.agreement, one.ceiling.alpha)
        )

    def agreement_frame(self) -> pd.DataFrame:
        """One row a dimension and statistic, people with each other beside judge with people.

        Columns: dimension, statistic (str), people, people_low, people_high, judge, judge_low,
        judge_high (missing where undefined), level (of the judge's interval), n (int, the
        judge's), diag (str).
        """
        rows = []
        for one in self.dimensions:
            people = dict(_named(one.ceiling.agreement, one.ceiling.alpha))
            for name, estimate in _named(one.agreement, one.alpha):
                other = people[name]
                rows.append(
                    {
                        "dimension": one.dimension,
                        "statistic": name,
                        "people": other.value,
                        "people_low": other.low,
                        "people_high": other.high,
                        "judge": estimate.value,
                        "judge_low": estimate.low,
                        "judge_high": estimate.high,
                        "level": estimate.level,
                        "n": estimate.n,
                        "diag": _doubt(estimate),
                    }
                )
        return self._estimates(rows)

    def confusion_frame(self, dimension: str) -> pd.DataFrame:
        """Held-out labels, one row a level of the judge and one column a level of people.

        Counts of labels as they are, without weights; a transcript with two labels counts twice.
        """
        import pandas as pd  # heavy: only who wants a frame pays for it

        one = self.of(dimension)
        cells = {judge: dict.fromkeys(one.levels, 0) for judge in one.levels}
        for pair in one.pairs:
            if pair.half == "held out" and pair.judge is not None:
                cells[pair.judge][pair.human] += 1
        made = pd.DataFrame.from_dict(cells, orient="index", columns=list(one.levels))
        return made.rename_axis(index="judge", columns="people")

    def lines(self) -> tuple[str, ...]:
        """The findings in words, the ceiling of each dimension before its judge."""
        return (*(line for one in self.dimensions for line in one.lines()), *self.notes)

    def _repr_html_(self) -> str:
        parts = []
        for one in self.dimensions:
            first, *rest = one.lines()
            items = "".join(f"<li>{html.escape(line)}</li>" for line in rest)
            parts.append(f"<p><strong>{html.escape(first)}</strong></p><ul>{items}</ul>")
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        return "".join(parts) + (f"<ul>{notes}</ul>" if notes else "")

    @staticmethod
    def _estimates(rows: Any) -> pd.DataFrame:
        import pandas as pd  # heavy: only who wants a frame pays for it

        return pd.DataFrame.from_records(list(rows))


def _named(found: Agreement, alpha: Estimate) -> Iterator[tuple[str, Estimate]]:
    chance = found.within_one_chance
    for name, words in STATISTICS.items():
        one: Estimate = getattr(found, name)
        if name == "within_one" and chance is not None:
            one = one.noted(f"by chance {chance:.2f}")
        yield words, one
    yield "Krippendorff's alpha", alpha


def _numbers(one: Estimate) -> dict[str, Any]:
    return {"value": one.value, "low": one.low, "high": one.high, "n": one.n}


def _doubt(one: Estimate) -> str:
    return "; ".join(part for part in (one.reason, one.diag) if part)
