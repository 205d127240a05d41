"""Releases made to order: two runs, a bar, a calibration and labels, with the answers wished for.

May not decide anything: whether a wish came true is what the gate says.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from builders import Rows, make_run
from people import calibrated, label, labelled
from verdicts import Said, judge, prefer

from agenteval_kit.calibrate import write_calibration
from agenteval_kit.records.calibrations import Calibration
from agenteval_kit.runs import Run, Selection

PASS, FAIL, UNTOLD = "pass", "fail", "cannot tell"
SUBSTANCE = ("hard_layers", "critical", "pass_rate", "mean", "never", "win_rate", "no_worse")
ANSWERS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(SUBSTANCE, (PASS, FAIL, UNTOLD)),
    "max_unscored": (PASS, UNTOLD),
    "open_flags": (PASS, UNTOLD),
    # Said of a part of a suite alone.
    "whole_suite": (UNTOLD,),
}
"""Every clause, and what it can come to."""

KINDS = ((PASS,), (PASS, UNTOLD), (PASS, FAIL), (PASS, FAIL, UNTOLD))
IDS = [f"case-{at:03d}" for at in range(60)]
JUDGED = {"tone": "conversation", "ground": "grounding", "care": "conversation"}


@dataclass(frozen=True)
class Order:
    """What each clause of a release is to come to; a clause that is not named is not in the bar."""

    name: str
    wishes: Mapping[str, str]
    untrusted: str = "review"
    why: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Made:
    """The files of a release, and the words of the command line that name them."""

    order: Order
    run: Run
    baseline: Run
    bar: Path
    calibration: Path
    labels: Path

    @property
    def words(self) -> list[str]:
        """RUN and the options of `gate` and `report`."""
        return [
            str(self.run.path), "--bar", str(self.bar), "--baseline", str(self.baseline.path),
            "--calibration", str(self.calibration), "--labels", str(self.labels),
        ]  # fmt: skip


def orders(n: int, *, seed: int) -> list[Order]:
    """Releases by chance: all passes, nothing fails, nothing is untold, or all mixed, in turn."""
    rng = random.Random(seed)
    found = []
    for at in range(n):
        kind = at % 4
        wishes = {}
        for clause in rng.sample(SUBSTANCE, rng.randint(1, len(SUBSTANCE))):
            answers = [one for one in ANSWERS[clause] if one in KINDS[kind]]
            wishes[clause] = rng.choice(answers)
        for clause in ("max_unscored", "open_flags", "whole_suite"):
            if UNTOLD in KINDS[kind] and rng.random() < 0.2:
                wishes[clause] = UNTOLD
        why = {clause: rng.choice(("absent", "unsure")) for clause in SUBSTANCE}
        found.append(Order(f"{at:02d}", wishes, rng.choice(("review", "report", "hold")), why))
    return found


def alone(answer: str, *, in_part: bool = False) -> Order:
    """A release of which nothing passes but what is wished for: judges alone looked at it."""
    wishes = {"win_rate": answer, "judged only": PASS}
    if in_part:
        wishes["whole_suite"] = UNTOLD
    return Order(f"alone-{answer.replace(' ', '-')}{'-in-part' * in_part}", wishes)


def make_release(root: Path, order: Order) -> Made:
    """Write everything that a release is decided on."""
    folder = root / order.name
    wish = order.wishes.get
    rows = {case_id: _rows(at, order) for at, case_id in enumerate(IDS)}
    before = {case_id: dict.fromkeys(each, True) for case_id, each in rows.items()}
    judged_only = IDS if "judged only" in order.wishes else ()
    absent = wish("critical") == UNTOLD and order.why.get("critical") == "absent"
    critical = [] if absent else [IDS[0]]
    selection = Selection(tag="common") if wish("whole_suite") else None
    how: dict[str, Any] = {"critical": critical, "judge_only": judged_only}
    old = make_run(folder, before, name="old", **how)
    new = make_run(folder, rows, name="new", selection=selection, **how)
    trusted = []
    for name, layer in JUDGED.items():
        said, again = _said(name, order)
        if said:
            judge(new, said, name=name, layer=layer, digest=f"by-{name}", again=again)
        if name != "tone" or wish("mean") != UNTOLD:
            trusted.append(name)
    if wish("win_rate") and (wish("win_rate") != UNTOLD or order.why.get("win_rate") == "unsure"):
        prefer(new, _preferred(wish("win_rate")), old="old")
    bar = folder / "bar.yaml"
    bar.write_text(yaml.safe_dump(_bar(order)), encoding="utf-8")
    made = [calibrated(name, digest=f"by-{name}").dimensions[0] for name in trusted]
    calibration = write_calibration(
        folder / "calibration.json", Calibration(name="made", dimensions=tuple(made))
    )
    # A label of somebody on a transcript that no flag waits for: it is read, and changes nothing.
    labelled(folder / "labels", [label(new, IDS[-1], 4)])
    return Made(order, new, old, bar, calibration, folder / "labels")


def _rows(at: int, order: Order) -> Rows:
    """What the checks of one case find: each clause has a layer and cases of its own."""
    wish = order.wishes.get
    if "judged only" in order.wishes:
        return {}
    found: dict[str, bool | None] = {"conversation": True}
    if wish("hard_layers"):
        found["policy"] = {FAIL: at != 3, UNTOLD: None if at == 3 else True}.get(
            wish("hard_layers"), True
        )
    if wish("critical"):
        found["identity"] = {FAIL: at != 0, UNTOLD: None if at == 0 else True}.get(
            wish("critical"), True
        )
    if wish("pass_rate") in (PASS, FAIL):
        found["outcome"] = not 30 <= at < (42 if wish("pass_rate") == FAIL else 31)
    if wish("no_worse"):
        lost = {FAIL: 9, UNTOLD: 2}.get(wish("no_worse"), 0)
        found["trajectory"] = not 10 <= at < 10 + lost
    if wish("max_unscored") == UNTOLD:
        found["cost"] = None if 20 <= at < 23 else True
    return found


def _said(
    name: str, order: Order
) -> tuple[dict[str, Said], Mapping[str, Sequence[int | None]] | None]:
    """What the judge says of one dimension, and what it said when it was asked again."""
    wish, flat = order.wishes.get, dict.fromkeys(IDS, 4)
    said: dict[str, Said] = dict(flat)
    if name == "tone":
        if not wish("mean") or (wish("mean") == UNTOLD and order.why.get("mean") == "absent"):
            return {}, None
        return dict.fromkeys(IDS, 3 if wish("mean") == FAIL else 4), None
    if name == "ground":
        if not wish("never"):
            return {}, None
        if wish("never") == PASS:
            return said, None
        said[IDS[5]] = 1
        return said, {IDS[5]: (1, 1)} if wish("never") == FAIL else None
    if "judged only" in order.wishes:
        return said, None  # read by no clause
    if not wish("open_flags"):
        return {}, None
    return {**{case_id: [4, 4, 4] for case_id in IDS}, IDS[9]: [4, 4, 2]}, None


def _preferred(answer: str | None) -> dict[str, str | None]:
    if answer == UNTOLD:
        return dict.fromkeys(IDS)  # the judge refused each
    lost = 25 if answer == FAIL else 3
    return {case_id: "old" if at < lost else "tie" for at, case_id in enumerate(IDS)}


def _bar(order: Order) -> dict[str, Any]:
    wish = order.wishes.get
    clauses: dict[str, Any] = {"name": f"made-{order.name}", "untrusted": order.untrusted}
    if wish("hard_layers"):
        clauses["hard_layers"] = ["policy"]
    if wish("critical"):
        clauses["critical"] = "all"
    if wish("pass_rate"):
        # A layer that nobody checks: no evidence, so no pass.
        clauses["pass_rate"] = {"speed" if wish("pass_rate") == UNTOLD else "outcome": 0.9}
    mean = {"tone": 3.3} if wish("mean") else {}
    if wish("open_flags"):
        mean["care"] = 2.5
    if mean:
        clauses["mean"] = mean
    if wish("never"):
        clauses["never"] = {"ground": 1}
    if wish("win_rate"):
        clauses["win_rate"] = {"outcome": {"margin": 0.1}}
    if wish("no_worse"):
        clauses["no_worse"] = {"trajectory": {"margin": 0.05}}
    return clauses
