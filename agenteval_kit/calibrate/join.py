"""The labels of a run beside the verdicts of its judges, with everything that is left out counted.

May not weigh or compare them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from agenteval_kit.errors import ConfigError, did_you_mean
from agenteval_kit.labels import LabelSet, SaidOfRun, one_each, said_of_run
from agenteval_kit.records import JudgeStamp, Rubric
from agenteval_kit.records.labels import LabelRow
from agenteval_kit.rubrics import dimension_digest
from agenteval_kit.runs import Run, choose_judge, wordings_of

__all__ = ["Joined", "Key", "join_labels", "read_scores", "speaking", "times"]

Key = tuple[str, int]
"""Case and repeat: a transcript of the run."""


@dataclass(frozen=True, slots=True)
class Joined:
    """One dimension: who judged it, what the judge said, and what people said.

    Attributes
    ----------
    stamp : JudgeStamp or None
        The judge that speaks for it; None where nobody judged it.
    rows : tuple of LabelRow
        Labels of this run that are levels of the scale, one a rater and transcript.
    scores : mapping of (case, repeat) to int or None
        The judge's; None is unscored.
    agent_digest : str
        Of the verdicts.
    wordings : frozenset of str
        Digests of the dimension under which people read the same definition and anchors as the
        judge; a change of the panel or the prompt changes the digest and not the wording.
    notes : tuple of str
        What was left out, and why.
    """

    dimension: str
    layer: str
    levels: tuple[int, ...]
    stamp: JudgeStamp | None
    rows: tuple[LabelRow, ...]
    scores: Mapping[Key, int | None]
    agent_digest: str
    wordings: frozenset[str]
    notes: tuple[str, ...]

    def reads_as_judged(self, row: LabelRow) -> bool:
        """Whether a label was given under the wording that the judge reads, as far as is known."""
        given = row.dimension_digest
        return not given or not self.wordings or given in self.wordings


def join_labels(
    run: Run,
    labels: LabelSet,
    *,
    rubric: Rubric | None = None,
    judges: Mapping[str, str] | None = None,
    dimensions: Sequence[str] | None = None,
) -> tuple[list[Joined], tuple[str, ...]]:
    """Each dimension that was judged or labelled, and what was left out of all of them.

    Raises
    ------
    ConfigError
        If a named dimension or judge is not there.
    """
    stamps = run.judge_stamps()
    scores, agents = read_scores(run)
    chosen = speaking(stamps, {digest: len(own) for digest, own in scores.items()}, judges=judges)
    said = said_of_run(labels, (run.id, run.info.id), transcripts=run.transcripts())
    mine = [row for row in said.rows if row.kind == "label"]
    names = _names(stamps, mine, rubric)
    for name in dimensions or ():
        if name not in names:
            raise ConfigError(
                f'dimension "{name}" was neither judged nor labelled in run {run.id}; known are '
                f"{', '.join(names) or 'none'}.{did_you_mean(name, names)}"
            )
    made = []
    for name in dimensions or names:
        stamp = chosen.get(name)
        digest = stamp.judge_digest if stamp else ""
        one = _joined(
            name,
            stamp,
            [row for row in mine if row.dimension == name],
            scores.get(digest, {}),
            agents.get(digest, ""),
            stamps=stamps,
            rubric=rubric,
        )
        # One misspelt label must not stand in the way of every other dimension.
        made.append(_without_scale(one, labels, names) if len(one.levels) == 1 else one)
    return made, _left_out(labels, said)


def read_scores(run: Run) -> tuple[dict[str, dict[Key, int | None]], dict[str, str]]:
    """The scores of each judge by transcript, and the agent whose transcripts it judged."""
    scores: dict[str, dict[Key, int | None]] = {}
    agents: dict[str, str] = {}
    for verdict in run.verdict_rows():
        own = scores.setdefault(verdict.judge_digest, {})
        own[verdict.case_id, verdict.repeat] = verdict.score
        agents.setdefault(verdict.judge_digest, verdict.agent_digest)
    return scores, agents


def speaking(
    stamps: Sequence[JudgeStamp],
    counts: Mapping[str, int],
    *,
    judges: Mapping[str, str] | None = None,
) -> dict[str, JudgeStamp]:
    """The judge that speaks for each dimension, or the one that is named for it.

    Raises
    ------
    ConfigError
        If a named one did not judge that dimension.
    """
    found: dict[str, JudgeStamp] = {}
    by_name: dict[str, list[JudgeStamp]] = {}
    for stamp in stamps:
        by_name.setdefault(stamp.dimension, []).append(stamp)
    seen = Counter(counts)
    for name, own in by_name.items():
        found[name] = choose_judge(own, seen)
    for name, digest in (judges or {}).items():
        known = [one for one in by_name.get(name, ()) if one.judge_digest == digest]
        if not known:
            there = [one.judge_digest for one in by_name.get(name, ())]
            raise ConfigError(
                f'no judge {digest} on "{name}"; '
                + (f"there is {', '.join(there)}" if there else "nobody has judged it")
                + f".{did_you_mean(digest, there)}"
            )
        found[name] = known[-1]
    return found


def _names(
    stamps: Sequence[JudgeStamp], rows: Iterable[LabelRow], rubric: Rubric | None
) -> list[str]:
    order = [one.name for one in rubric.absolute()] if rubric else []
    order += [name for stamp in stamps for name in stamp.scales]
    known = {stamp.dimension for stamp in stamps} | {row.dimension for row in rows}
    known |= {one.name for one in rubric.absolute()} if rubric else set()
    order += sorted(known)
    return [name for name in dict.fromkeys(order) if name in known]


def _joined(
    name: str,
    stamp: JudgeStamp | None,
    rows: Sequence[LabelRow],
    scores: Mapping[Key, int | None],
    agent_digest: str,
    *,
    stamps: Sequence[JudgeStamp],
    rubric: Rubric | None,
) -> Joined:
    written = next((one for one in rubric.absolute() if one.name == name), None) if rubric else None
    levels = stamp.levels if stamp else written.levels if written else _levels(rows)
    layer = stamp.layer if stamp else written.layer if written else ""
    wordings = wordings_of(stamp, stamps) if stamp is not None else frozenset[str]()
    rows = one_each(rows, wordings=wordings)
    told = [row for row in rows if row.score is not None]
    kept = tuple(row for row in told if row.score in levels)
    notes = [
        times(len(rows) - len(told), "label says", "labels say", "that it cannot be told"),
        times(len(told) - len(kept), "label is", "labels are", f"no level of {list(levels)}"),
    ]
    made = Joined(name, layer, levels, stamp, kept, scores, agent_digest, wordings, ())
    if stamp is not None:
        other = sum(not made.reads_as_judged(row) for row in kept)
        keys = dict.fromkeys((row.case_id, row.repeat) for row in kept)
        notes += [
            times(
                other,
                "label was given",
                "labels were given",
                "under another wording than the judge reads: tuning data, no evidence of trust",
            ),
            times(
                sum(not row.dimension_digest for row in kept),
                "label does not say its wording and is",
                "labels do not say their wording and are",
                "taken to be of the one that the judge reads",
            ),
            times(
                sum(key in scores and scores[key] is None for key in keys),
                "labelled transcript is",
                "labelled transcripts are",
                "unscored by the judge and left out of its agreement",
            ),
            times(
                sum(key not in scores for key in keys),
                "labelled transcript was",
                "labelled transcripts were",
                "not judged",
            ),
        ]
        if written is not None and dimension_digest(written) != stamp.dimension_digest:
            notes.append(f"{name} reads otherwise in the rubric now than when it was judged")
    return Joined(
        name, layer, levels, stamp, kept, scores, agent_digest, wordings,
        tuple(note for note in notes if note),
    )  # fmt: skip


def _without_scale(one: Joined, labels: LabelSet, names: Sequence[str]) -> Joined:
    first = one.rows[0]
    # A rater's lines stand in one file, one a line.
    line = [row for row in labels.rows if row.rater == first.rater].index(first) + 1
    near = did_you_mean(one.dimension, [name for name in names if name != one.dimension])
    note = (
        f'"{one.dimension}" is in no rubric here and was not judged, so its scale is not known: '
        f'{first.rater}.jsonl:{line} gives case "{first.case_id}" a {first.score}, and nobody '
        f"gives another level; its labels are left out.{near}"
    )
    return replace(one, levels=(), rows=(), notes=(*one.notes, note))


def _levels(rows: Iterable[LabelRow]) -> tuple[int, ...]:
    # What the raters had before them; where that was not kept, the levels that they used.
    levels = {level for row in rows for level in row.levels}
    return tuple(sorted(levels or {row.score for row in rows if row.score is not None}))


def _left_out(labels: LabelSet, said: SaidOfRun) -> tuple[str, ...]:
    notes = (
        times(said.other_runs, "label is", "labels are", "of other runs"),
        times(
            said.twice, "label was", "labels were", "given again under the other name of the run"
        ),
        times(
            said.other_text,
            "label is",
            "labels are",
            "of a transcript that reads otherwise, or is not there",
        ),
        times(
            sum(row.run in said.names for row in labels.reviews()),
            "review is",
            "reviews are",
            "left out: who reviews has seen the verdict",
        ),
    )
    return tuple(note for note in (*notes, *labels.warnings) if note)


def times(count: int, one: str, many: str, rest: str) -> str:
    """A count in words, empty where it is 0: "1 label is of other runs"."""
    return f"{count:,} {one if count == 1 else many} {rest}" if count else ""
