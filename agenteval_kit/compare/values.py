"""The values that a comparison of two runs is made of, with their frames.

May not read a run.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from agenteval_kit.compare.parting import Parting
from agenteval_kit.records.trust import DimensionTrust, trust_in
from agenteval_kit.summary import PairedLayer
from agenteval_kit.text import counted

if TYPE_CHECKING:
    import pandas as pd

    from agenteval_kit.judge.pairing import PairedDimension

__all__ = ["Change", "CheckChange", "Comparison", "RecordChange"]

Change = Literal["broken", "fixed", "flaky", "unchanged", "unscored"]


@dataclass(frozen=True, slots=True)
class CheckChange:
    """One check of a record that found something else than before.

    `old` and `new` are passed, failed, unscored, or "not due" where no row was written; `turn` and
    `why` are those of the new row.
    """

    layer: str
    name: str
    old: str
    new: str
    turn: int | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class RecordChange:
    """One case of both runs.

    Attributes
    ----------
    case_id : str
        The case.
    change : str
        "flaky" if the repeats of either run disagree; "broken" if it passed and fails now;
        "fixed" if it failed and passes now; "unscored" if a side has no score; else "unchanged".
    old, new : float or None
        Share of the scored repeats in which every check passed.
    repeat : int
        The repeat that `checks` and `parting` are about: the first that changed.
    checks : tuple of CheckChange
        Checks of that repeat that changed.
    turn_parting, call_parting : Parting or None
        The first turn, and the first tool call, where the two transcripts of that repeat part.
        None where they do not, and for a case in which the same checks fail as before.
    """

    case_id: str
    change: Change
    old: float | None
    new: float | None
    repeat: int = 0
    checks: tuple[CheckChange, ...] = ()
    turn_parting: Parting | None = None
    call_parting: Parting | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs of one suite.

    Attributes
    ----------
    old_id, new_id : str
        The runs.
    layers : tuple of PairedLayer
        A layer each, in the order of the summaries.
    overall : PairedLayer
        Over cases, each passed if every check passed.
    records : tuple of RecordChange
        Every case of both runs.
    only_old, only_new : tuple of str
        Cases of one run only.
    stamps : mapping of str to (old, new)
        Stamps that differ.
    refused : str
        Why nothing was paired; empty where it was.
    margin : float
        The drop that `sentence` speaks of, as a share.
    dimensions : tuple of PairedDimension
        What the new run's judges scored in both runs, a dimension each; empty without verdicts.
    trust : tuple of DimensionTrust
        Which judges are trusted; empty where nobody was calibrated.
    in_part : str
        On which cases alone two versions of a suite are compared; empty for one version.
    """

    old_id: str
    new_id: str
    layers: tuple[PairedLayer, ...]
    overall: PairedLayer | None
    records: tuple[RecordChange, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    stamps: Mapping[str, tuple[str, str]]
    refused: str
    margin: float
    dimensions: tuple[PairedDimension, ...] = ()
    in_part: str = ""
    trust: tuple[DimensionTrust, ...] = ()

    def ids(self, change: Change) -> tuple[str, ...]:
        """Cases that changed in this way."""
        return tuple(record.case_id for record in self.records if record.change == change)

    @property
    def broken(self) -> tuple[str, ...]:
        """Cases that passed and fail now."""
        return self.ids("broken")

    @property
    def fixed(self) -> tuple[str, ...]:
        """Cases that failed and pass now."""
        return self.ids("fixed")

    @property
    def moved(self) -> tuple[str, ...]:
        """Layers in which a difference is shown."""
        return tuple(pair.layer for pair in self.layers if pair.shown)

    @property
    def p_holm(self) -> tuple[float | None, ...]:
        """The p of layers and dimensions adjusted for their number together (Holm).

        In the order of `layers`, then of `dimensions`.
        """
        from agenteval_kit.stats.multiple import holm  # only tables show these

        return tuple(holm(self._tests))

    @property
    def sentence(self) -> str:
        """Which cases got worse, then which layer moved; where none did, what the first one shows.

        What that does not rule out is told with it.
        """
        if self.refused:
            return f"cannot tell: {self.refused}"
        if not self.layers:
            return "cannot tell: no check ran in both runs"
        if len(self.layers) == 1:
            text = self.layers[0].sentence(margin=self.margin)
        elif self.moved:
            text = ". ".join(
                f"{pair.layer}: {pair.sentence(margin=self.margin)}"
                for pair in self.layers
                if pair.shown
            )
        else:
            first = self.layers[0]
            told = first.sentence(margin=self.margin).removeprefix("no difference shown: ")
            text = f"no difference shown in any of {counted(len(self.layers), 'layer')}; "
            text += f"{first.layer}: {told}"
        fallen = "" if self.overall is None else self.overall.all_fallen(self.layers)
        if fallen:
            # First: what broke is broken, whatever so few cases show of a share.
            text = f"{fallen}; {text}"
        if self.dimensions:
            text = f"{text}; {self._judged()}"
        if self.in_part:
            return f"{text}; {self.in_part}"
        one_sided = len(self.only_old) + len(self.only_new)
        return f"{text}; {counted(one_sided, 'case')} in one run only" if one_sided else text

    def _judged(self) -> str:
        moved = [pair for pair in self.dimensions if pair.shown]
        refused = sum(bool(pair.refused) for pair in self.dimensions)
        told = [f"judged {pair.dimension} {pair.finding}{_dropped(pair)}" for pair in moved]
        if refused:
            told.append(f"not compared, the judge changed: {counted(refused, 'judged dimension')}")
        rest = len(self.dimensions) - len(moved) - refused
        if rest:
            told.append(f"no difference shown in {counted(rest, 'judged dimension')}")
        return "; ".join(told)

    @property
    def tested(self) -> int:
        """How many p of layers and dimensions there are, over which `p_holm` is adjusted."""
        return sum(p is not None for p in self._tests)

    @property
    def _tests(self) -> list[float | None]:
        return [pair.p for pair in self.layers] + [pair.p for pair in self.dimensions]

    def dimensions_frame(self) -> pd.DataFrame:
        """One row per judged dimension; see `dimensions.dimensions_frame`."""
        from agenteval_kit.compare.dimensions import dimensions_frame

        return dimensions_frame(
            self.dimensions,
            self.p_holm[len(self.layers) :],
            trust=[self.trust_of(pair) for pair in self.dimensions],
        )

    def trust_of(self, pair: PairedDimension) -> DimensionTrust:
        """Whether the judge of a dimension is trusted."""
        return trust_in(pair.dimension, pair.judge_digest, self.trust)

    def frame(self) -> pd.DataFrame:
        """One row per layer, `ALL_CHECKS` last.

        Columns: layer (str); n (pairs); old, new (mean share passed in [0, 1]); difference, low,
        high (new minus old); broken, fixed (cases whose share fell, rose); p, p_holm, p_exact
        (the last is conservative and never decides; p_holm counts the judged dimensions along and
        is missing for `ALL_CHECKS`); shown
        (whether the interval excludes 0); dropped (cases not scored in both); method, diag (str).
        """
        import pandas as pd  # heavy: half a second that the check command must not pay

        adjusted_layers = self.p_holm[: len(self.layers)]
        pairs = [*zip(self.layers, adjusted_layers, strict=True)]
        if self.overall is not None:
            pairs.append((self.overall, None))
        return pd.DataFrame.from_records(
            [
                {
                    "layer": pair.layer,
                    "n": pair.n,
                    "old": sum(pair.old) / pair.n if pair.n else None,
                    "new": sum(pair.new) / pair.n if pair.n else None,
                    "difference": pair.difference.value,
                    "low": pair.difference.low,
                    "high": pair.difference.high,
                    "broken": len(pair.worse),
                    "fixed": len(pair.better),
                    "p": pair.p,
                    "p_holm": adjusted,
                    "p_exact": pair.p_exact,
                    "shown": pair.shown,
                    "dropped": len(pair.dropped),
                    "method": pair.difference.method,
                    "diag": pair.difference.diag or pair.difference.reason,
                }
                for pair, adjusted in pairs
            ],
            columns=[
                "layer", "n", "old", "new", "difference", "low", "high", "broken", "fixed", "p",
                "p_holm", "p_exact", "shown", "dropped", "method", "diag",
            ],
        )  # fmt: skip

    def claims_frame(self) -> pd.DataFrame:
        """One row per layer: the two readings of a change, side by side.

        Columns: layer (str); reading ("within noise" where the interval of the difference holds 0,
        else "worse" or "better"; missing where there is none): it does not rule a drop out;
        drop_not_ruled_out (share, the end of a one-sided 95 % bound); margin (share); answer (pass,
        fail, undecided: whether a drop of the margin is ruled out); n_needed (cases for 80 % power
        if nothing changed, or missing); n (pairs).
        """
        import pandas as pd  # heavy, see frame

        from agenteval_kit.stats.noninferiority import non_inferiority  # numpy: checks need none

        rows = []
        for pair in self.layers:
            found = non_inferiority(pair.changes, self.margin, low=-1, high=1)
            reading = None
            if pair.shown is not None:
                word = "better" if (pair.difference.value or 0) > 0 else "worse"
                reading = word if pair.shown else "within noise"
            rows.append(
                (pair.layer, reading, found.drop_not_ruled_out, self.margin, found.answer,
                 found.n_needed, pair.n)
            )  # fmt: skip
        columns = ["layer", "reading", "drop_not_ruled_out", "margin", "answer", "n_needed", "n"]
        frame = pd.DataFrame.from_records(rows, columns=columns)
        return frame.astype({"n_needed": "Int64"})

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th scope='row'>{html.escape(pair.layer)}</th>"
            f"<td>{html.escape(pair.finding)}</td><td>{pair.n:,}</td>"
            f"<td>{html.escape(', '.join(pair.worse))}</td>"
            f"<td>{html.escape(', '.join(pair.better))}</td></tr>"
            for pair in self.layers
        )
        heads = ("layer", "difference (95 %)", "n", "broken", "fixed")
        head = "".join(f"<th scope='col'>{name}</th>" for name in heads)
        return (
            f"<table><caption>{html.escape(self.sentence)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        )


def _dropped(pair: PairedDimension) -> str:
    lost = len(pair.dropped)
    return f", {counted(lost, 'case')} not scored in both runs" if lost else ""
