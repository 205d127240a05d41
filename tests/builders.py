"""Small runs made by hand: a folder with transcripts and check rows, through the real writer.

May not replace anything of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from agenteval_kit.records import AgentStamps, CheckRow, Failure, Transcript, Turn
from agenteval_kit.runs import CasePlan, Run, RunInfo, Selection

Rows = Mapping[str, bool | None]
"""Layer, or ``layer/name of the check`` -> what the check found."""

STAMPS = AgentStamps(model="rules", prompt="v1")


def make_run(
    root: Path,
    cases: Mapping[str, Sequence[Rows] | Rows],
    *,
    name: str = "run",
    critical: Iterable[str] = (),
    critical_checks: Iterable[str] = (),
    judge_only: Iterable[str] = (),
    repeats: int | None = None,
    failures: Mapping[tuple[str, int], str] | None = None,
    missing: Iterable[tuple[str, int]] = (),
    no_rows: Iterable[tuple[str, int]] = (),
    digest: str = "suite-digest",
    suite: str = "made",
    agent: AgentStamps = STAMPS,
    turns: Mapping[tuple[str, int], Sequence[Turn]] | None = None,
    selection: Selection | None = None,
) -> Run:
    """A run folder `root/name` with one row per case, repeat and entry of `cases`.

    `failures` maps (case, repeat) to the kind of failure of its transcript; `missing` transcripts
    and the rows of `no_rows` are left out.
    """
    by_case = {
        case_id: [rows] if isinstance(rows, Mapping) else list(rows)
        for case_id, rows in cases.items()
    }
    hard = set(critical)
    plans = tuple(
        CasePlan(
            id=case_id,
            critical=case_id in hard,
            judge_only=case_id in set(judge_only),
            layers=tuple(dict.fromkeys(key.partition("/")[0] for rows in each for key in rows)),
        )
        for case_id, each in by_case.items()
    )
    info = RunInfo(
        id=f"{suite}-{name}",
        created="2026-03-02T09:00:00Z",
        suite=suite,
        suite_version="1",
        suite_digest=digest,
        agent=agent,
        repeats=repeats or max((len(each) for each in by_case.values()), default=1),
        selection=selection or Selection(),
        cases=plans,
        package="0",
    )
    run = Run.create(root, info, at=root / name)
    kinds = failures or {}
    gone = set(missing)
    writer = run.writer()
    keys = [(case_id, repeat) for case_id, each in by_case.items() for repeat in range(len(each))]
    writer.add_transcripts(
        Transcript(
            case_id=case_id,
            repeat=repeat,
            turns=tuple((turns or {}).get((case_id, repeat), ())),
            failure=_failure(kinds.get((case_id, repeat))),
        )
        for case_id, repeat in keys
        if (case_id, repeat) not in gone
    )
    writer.add_checks(
        _row(
            case_id, repeat, key, passed, critical_checks=set(critical_checks) | (hard & {case_id})
        )
        for case_id, repeat in keys
        if (case_id, repeat) not in gone | set(no_rows)
        for key, passed in by_case[case_id][repeat].items()
    )
    writer.close()
    return run


def passes(n: int, k: int, *, layer: str = "outcome") -> dict[str, Rows]:
    """`n` cases in one layer, of which the first `k` pass."""
    return {f"case-{index:03d}": {layer: index < k} for index in range(n)}


def _failure(kind: str | None) -> Failure | None:
    if kind is None:
        return None
    return Failure(kind=kind, type="RuntimeError", message="it broke")  # type: ignore[arg-type]


def _row(
    case_id: str, repeat: int, key: str, passed: bool | None, *, critical_checks: set[str]
) -> CheckRow:
    layer, _, name = key.partition("/")
    return CheckRow(
        case_id=case_id,
        repeat=repeat,
        layer=layer,
        name=key if name else f"{layer} check",
        passed=passed,
        expected="this",
        received="this" if passed else "that",
        why="" if passed else "unknown cost" if passed is None else "not this",
        critical=case_id in critical_checks or key in critical_checks,
    )
