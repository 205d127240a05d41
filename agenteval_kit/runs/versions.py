"""What two runs of one suite have in common, where the suite or the model changed in between.

May not compare what was found: only what was asked.
"""

from __future__ import annotations

from agenteval_kit.runs.info import RunInfo

__all__ = ["break_between", "only_in_part", "unchanged_cases"]


def break_between(old: RunInfo | None, new: RunInfo) -> str:
    """Why a line may not be drawn from one run to the next; empty where it may."""
    if old is None:
        return ""
    if old.suite_digest != new.suite_digest:
        return "suite changed"
    before, after = old.agent, new.agent
    same_name = before.model == after.model
    if same_name and before.model_served and after.model_served != before.model_served:
        return "served model changed"
    return ""


def unchanged_cases(old: RunInfo, new: RunInfo) -> frozenset[str] | None:
    """Ids of the cases that two versions of a suite ask alike; None for one and the same version.

    Alike is what has the same digest: every word of the case, and everything that the suite asks
    of each case. Runs of older packages note no digest by case, so they share none.
    """
    if old.suite_digest == new.suite_digest:
        return None
    before = {case.id: case.digest for case in old.cases}
    return frozenset(
        case.id
        for case in new.cases
        if case.digest is not None and before.get(case.id) == case.digest
    )


def only_in_part(old: RunInfo, new: RunInfo) -> str:
    """On which cases two versions of a suite are compared; empty for one and the same version."""
    shared = unchanged_cases(old, new)
    if shared is None:
        return ""
    before, after = {case.id for case in old.cases}, {case.id for case in new.cases}
    rest = [
        f"{count:,} {word}"
        for count, word in (
            (len(before & after) - len(shared), "changed"),
            (len(after - before), "new"),
            (len(before - after), "gone"),
        )
        if count
    ]
    n = len(shared)
    return (
        f"the suite was edited in between ({old.suite_digest} then, {new.suite_digest} now), so "
        f"only the {'case' if n == 1 else f'{n:,} cases'} that both versions ask alike "
        f"{'is' if n == 1 else 'are'} compared" + (f"; left out: {', '.join(rest)}" if rest else "")
    )
