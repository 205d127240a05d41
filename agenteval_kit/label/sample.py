"""Draws the transcripts that are to be labelled, and says how likely each was to be drawn.

May not read what a label says: whom people have failed must not decide what is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

from agenteval_kit.errors import ConfigError, Problem
from agenteval_kit.files import digest
from agenteval_kit.label.opening import hash_order, is_of_run
from agenteval_kit.label.shelf import Key, Shelf
from agenteval_kit.label.strata import Strata, by_checks, by_verdicts, quotas
from agenteval_kit.labels import (
    LabelSet,
    names_of_run,
    read_sample,
    transcript_digest,
    write_sample,
)
from agenteval_kit.labels.folder import sample_file
from agenteval_kit.records.labels import (
    LABELLED_BEFORE,
    Purpose,
    Sample,
    SampledItem,
    Stratum,
)
from agenteval_kit.runs import Run, now_text

__all__ = ["SIZES", "keep_sample", "sample_run"]

SIZES: dict[Purpose, int] = {"tuning": 30, "calibration": 100}
"""Transcripts for a first look, and for a calibration."""


def sample_run(
    run: Run,
    n: int | None = None,
    *,
    name: str | None = None,
    purpose: Purpose = "tuning",
    by: Literal["verdicts", "checks", "uniform"] | None = None,
    dimension: str | None = None,
    seed: int = 0,
    skip: LabelSet | Iterable[Key] = (),
    now: Callable[[], str] = now_text,
) -> Sample:
    """Transcripts of a run to be labelled: half of them where failures are to be expected.

    Where the run was judged, half are drawn from the low half of the scale (1 and 2 of 1 to 4)
    and the rest at random from the others; those without a score are a stratum of their own.
    Where it was only checked, half are drawn from those with a failed check. Else all have the
    same chance. Within a stratum each transcript has the same chance, whatever its case: repeats
    of a case are drawn like any other, and estimators keep them together.

    Parameters
    ----------
    run : Run
        What is drawn from. Transcripts without a turn or an output cannot be read and are left
        out; the sample says how many.
    n : int, optional
        How many; 30 for tuning, 100 for a calibration. All of them where there are fewer.
    name : str, optional
        Of the sample; the run's name and the purpose where none is given.
    purpose : {"tuning", "calibration"}
        Read to mend the rubric, or to measure the judge.
    by : {"verdicts", "checks", "uniform"}, optional
        What strata are made of, in place of the best there is.
    dimension : str, optional
        Whose verdicts; without one a transcript stands where its lowest verdict stands.
    seed : int
        The same seed draws the same transcripts, in whatever order the files hold them.
    skip : LabelSet, or iterable of (case_id, repeat)
        Left out: for fresh labels. Of labels, every repeat of a case that anybody has said
        something of in this run, or read for tuning in any: such a case can never be held out.
        Totals and chances then speak of what was left, and the sample keeps the cases in `apart`.
    now : callable
        Gives the time of the draw.

    Raises
    ------
    ConfigError
        If nothing can be drawn, or the run has no such verdicts or checks.
    """
    if n is not None and n < 1:
        raise ConfigError(f"n is {n}; draw one transcript at least")
    shelf = Shelf(run)
    left_out = Counter(_why_empty(kind) for kind in shelf.empty.values())
    gone = _skipped(skip, run, shelf.keys)
    keys = [key for key in shelf.keys if key not in gone]
    if gone:
        left_out[LABELLED_BEFORE] += len(shelf.keys) - len(keys)
    if not keys:
        raise ConfigError(Problem("has no transcript left to be labelled", str(run.path)))
    strata = _strata(run, keys, by, dimension)
    drawn, parts = _draw(strata, keys, n or SIZES[purpose], seed=seed)
    uniform = len(parts) == 1
    return Sample(
        name=name or f"{run.id}-{purpose}",
        run=run.id,
        run_path=run.path.as_posix(),
        suite=run.info.suite,
        suite_digest=run.info.suite_digest,
        agent_digest=digest(run.info.agent.model_dump(exclude={"model_served"})),
        design="uniform" if uniform else "by_judge",
        purpose=purpose,
        by="" if uniform else strata.by,
        judge_digest="" if uniform else strata.judge_digest,
        strata=parts,
        items=tuple(
            SampledItem(
                case_id=key[0],
                repeat=key[1],
                stratum=part.name,
                inclusion=part.drawn / part.total,
                transcript_digest=transcript_digest(shelf.fetch(key)),
            )
            for key, part in drawn
        ),
        seed=seed,
        left_out=dict(left_out),
        apart=tuple(sorted({case for case, _ in gone} - {case for case, _ in keys})),
        at=now(),
    )


def keep_sample(
    folder: str | Path,
    run: Run,
    *,
    name: str,
    n: int | None = None,
    purpose: Purpose = "tuning",
    by: Literal["verdicts", "checks", "uniform"] | None = None,
    dimension: str | None = None,
    seed: int = 0,
    skip: LabelSet | Iterable[Key] = (),
    now: Callable[[], str] = now_text,
) -> Sample:
    """The sample of that name beside the labels; drawn as `sample_run` does where none stands.

    A cell that is run again tomorrow goes on with today's sample. Nothing is drawn anew because
    the run was judged meanwhile.

    Raises
    ------
    ConfigError
        If the sample that stands is of another run, purpose or size, or nothing can be drawn.
    """
    path = sample_file(Path(folder), name)
    if not path.exists():
        made = sample_run(run, n, name=name, purpose=purpose, by=by, dimension=dimension,
                          seed=seed, skip=skip, now=now)  # fmt: skip
        write_sample(Path(folder), made)
        return made
    found = read_sample(path)
    there = sum(one.total for one in found.strata)
    same = is_of_run(found, run, Shelf(run))
    asked = {"run": run.id, "purpose": purpose}
    stands = {"run": run.id if same else found.run, "purpose": found.purpose}
    if n is not None and len(found.items) != min(n, there):
        asked["n"], stands["n"] = str(n), str(len(found.items))
    for key, wanted in asked.items():
        if stands[key] != wanted:
            raise ConfigError(
                Problem(
                    f"the sample that stands there has {key} {stands[key]}, and {wanted} was "
                    "asked for; give the new one another name (and leave out with skip= what is "
                    "labelled)",
                    str(path),
                )
            )
    return found


def _why_empty(kind: str) -> str:
    return f"nothing to read: {kind} failure" if kind else "nothing to read"


def _skipped(skip: LabelSet | Iterable[Key], run: Run, keys: tuple[Key, ...]) -> set[Key]:
    if not isinstance(skip, LabelSet):
        return set(skip)
    # Who has read one repeat of a case knows the case, and whoever took a label back has read it.
    # What was read for tuning in another run mended the same anchors.
    names = names_of_run(skip.rows, (run.id, run.info.id), transcripts=run.transcripts())
    cases = {
        row.case_id
        for row in skip.rows
        if row.kind != "review" and (row.run in names or row.purpose == "tuning")
    }
    return {key for key in keys if key[0] in cases}


def _strata(run: Run, keys: list[Key], by: str | None, dimension: str | None) -> Strata:
    if dimension is not None and by not in (None, "verdicts"):
        raise ConfigError(f'dimension "{dimension}" goes with verdicts, but by is "{by}"')
    if by in (None, "verdicts"):
        found = by_verdicts(run, keys, dimension=dimension)
        if found is not None:
            return found
        if by is not None or dimension is not None:
            raise ConfigError(Problem("was not judged; see `agenteval judge`", str(run.path)))
    if by in (None, "checks"):
        found = by_checks(run, keys)
        if found is not None:
            return found
        if by is not None:
            raise ConfigError(Problem("has no check rows; see `agenteval check`", str(run.path)))
    if by not in (None, "uniform"):
        raise ConfigError(f'by is "{by}"; it wants verdicts, checks or uniform')
    return Strata(dict.fromkeys(keys, "all"), "all", "", "")


def _draw(
    strata: Strata, keys: list[Key], n: int, *, seed: int
) -> tuple[list[tuple[Key, Stratum]], tuple[Stratum, ...]]:
    members: dict[str, list[Key]] = {}
    for key in hash_order(keys, seed=str(seed)):
        members.setdefault(strata.of[key], []).append(key)
    names = sorted(members)
    share = quotas(n, {one: len(members[one]) for one in names}, low=strata.low)
    parts = {one: Stratum(name=one, total=len(members[one]), drawn=share[one]) for one in names}
    drawn = [(key, parts[one]) for one in names for key in members[one][: share[one]]]
    return drawn, tuple(parts.values())
