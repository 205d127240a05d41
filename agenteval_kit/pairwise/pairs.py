"""Pairs to compare: the transcripts of two runs by case and repeat, or the rows of a file.

May not ask a judge. Only the places of the old run's transcripts are held in memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from agenteval_kit.errors import ConfigError, Problem
from agenteval_kit.pairwise.shown import ShownPair, show_pair
from agenteval_kit.records import Dimension, Transcript
from agenteval_kit.records.preferences import Outcome
from agenteval_kit.runs import Run
from agenteval_kit.shown import Item, reads_like_an_order, turn_text
from agenteval_kit.text import counted

__all__ = ["Pair", "RunPairs", "require_comparable"]

Key = tuple[str, int]

_CRASHES = ("agent", "timeout")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two outputs for one input, or what code can say of them without a judge.

    Attributes
    ----------
    shown : ShownPair or None
        What a judge is shown; None where it is decided, or cannot be.
    texts : tuple of str
        All that stands in the two candidates, unescaped.
    outcome : str or None
        What code decided.
    reason : str
        Why code decided, or why nobody can.
    flags : tuple of str
        See `PREFERENCE_FLAGS`.
    """

    case_id: str
    repeat: int
    shown: ShownPair | None = None
    texts: tuple[str, ...] = ()
    outcome: Outcome | None = None
    reason: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunPairs:
    """The pairs of two runs: every case and repeat that both plan.

    Attributes
    ----------
    warnings : tuple of str
        What is left out: cases of one run only, repeats without a partner.
    """

    old: Run
    new: Run
    items: Mapping[str, Item]

    def wanted(self) -> list[Key]:
        """Every case and repeat that both runs plan."""
        partner = set(self.old.wanted())
        return [key for key in self.new.wanted() if key in partner]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What stands in one run only."""
        told = []
        cases = [{case.id for case in run.info.cases} for run in (self.old, self.new)]
        alone = len(cases[0] ^ cases[1])
        if alone:
            told.append(f"not compared, in one of the two runs only: {counted(alone, 'case')}")
        if self.old.repeats != self.new.repeats:
            fewer = min(self.old.repeats, self.new.repeats)
            told.append(
                f"the runs have {self.old.repeats} and {self.new.repeats} repeats: repeats from "
                f"{fewer} on have no partner and are not compared"
            )
        return tuple(told)

    def transcripts(self) -> Iterator[tuple[Key, Transcript | None, Transcript | None]]:
        """Each wanted pair once, in the order of the new run's file; what is missing comes last."""
        left = dict.fromkeys(self.wanted())
        path = self.old.path / "transcripts.jsonl"
        places = _places(path)
        stream = path.open("rb") if places else None
        try:

            def of_old(key: Key) -> Transcript | None:
                if key not in places or stream is None:
                    return None
                stream.seek(places[key])
                return Transcript.model_validate_json(stream.readline())

            for transcript in self.new.transcripts():
                key = (transcript.case_id, transcript.repeat)
                if key in left:
                    del left[key]
                    yield key, of_old(key), transcript
            for key in left:
                yield key, of_old(key), None
        finally:
            if stream is not None:
                stream.close()

    def pair(
        self, criterion: Dimension, key: Key, old: Transcript | None, new: Transcript | None
    ) -> Pair:
        """One pair as a criterion shows it."""
        return pair_of(criterion, key, old, new, self.items.get(key[0]))


def pair_of(
    criterion: Dimension,
    key: Key,
    old: Transcript | None,
    new: Transcript | None,
    item: Item | None,
) -> Pair:
    """What there is to compare of one case and repeat, or why there is nothing."""
    case_id, repeat = key
    if old is None or new is None:
        gone = "both runs" if old is new else "the old run" if old is None else "the new run"
        return Pair(case_id, repeat, reason=f"missing in {gone}", flags=("missing",))
    for side, transcript in (("old", old), ("new", new)):
        failure = transcript.failure
        if failure is not None and failure.kind not in _CRASHES:
            return Pair(
                case_id, repeat, reason=f"{failure.kind} failure in the {side} run: {failure.type}"
            )
    crashed = [side for side, one in (("old", old), ("new", new)) if one.failure is not None]
    if crashed:
        return _crashed(case_id, repeat, crashed)
    shown = show_pair(criterion, old, new, item)
    if shown is None:
        return Pair(case_id, repeat, reason="the two runs were given different inputs")
    flags = ("instruction_in_candidate",) if _orders(old) or _orders(new) else ()
    if shown.identical:
        return Pair(
            case_id, repeat, outcome="tie", reason="identical outputs",
            flags=("identical", *flags),
        )  # fmt: skip
    return Pair(case_id, repeat, shown, (_all_text(old), _all_text(new)), flags=flags)


def _crashed(case_id: str, repeat: int, crashed: list[str]) -> Pair:
    # A crash left out would lift the win rate: ten cases of which eight crash are not two wins.
    if len(crashed) == 2:
        return Pair(case_id, repeat, outcome="tie", reason="both agents crashed", flags=("crash",))
    return Pair(
        case_id, repeat,
        outcome="new" if crashed == ["old"] else "old",
        reason=f"the agent of the {crashed[0]} run crashed",
        flags=("crash",),
    )  # fmt: skip


def _orders(transcript: Transcript) -> bool:
    return any(
        reads_like_an_order(turn_text(transcript, number), by_user=turn.role == "user")
        for number, turn in enumerate(transcript.turns)
    )


def _all_text(transcript: Transcript) -> str:
    return "\n".join(turn_text(transcript, number) for number in range(len(transcript.turns)))


def require_comparable(old: Run, new: Run) -> None:
    """Refuse two runs whose outputs are no answers to the same question.

    Raises
    ------
    ConfigError
        If it is one run, or the suites differ.
    """
    where = str(new.path)
    if old.path.resolve() == new.path.resolve():
        raise ConfigError(
            Problem(
                "a run is not compared with itself; to measure the noise, run the same agent twice "
                "and compare the two runs",
                where,
            )
        )
    if old.id == new.id:
        raise ConfigError(
            Problem(
                f'both runs are called "{old.id}", and rows are kept by the run\'s name; rename '
                "one of the folders",
                where,
            )
        )
    if (old.info.suite, old.info.suite_digest) != (new.info.suite, new.info.suite_digest):
        raise ConfigError(
            Problem(
                f"was made with suite {new.info.suite} ({new.info.suite_digest}), the old run with "
                f"{old.info.suite} ({old.info.suite_digest}): cases or expectations differ; run "
                "the old agent on the suite as it is now",
                where,
            )
        )


def _places(path: Path) -> dict[Key, int]:
    """Where each transcript of a file begins; of one that stands twice the first counts."""
    found: dict[Key, int] = {}
    if not path.exists():
        return found
    at = 0
    with path.open("rb") as stream:
        for raw in stream:
            start, at = at, at + len(raw)
            if not raw.endswith(b"\n"):
                break  # torn; whoever resumes that run cuts it off
            value = json.loads(raw)
            found.setdefault((str(value["case_id"]), int(value.get("repeat", 0))), start)
    return found
