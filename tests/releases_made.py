"""Releases of each verdict, made from nothing but what decides them: for the protocol of the page.

May not know how the page looks.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from builders import Rows, make_run, passes
from verdicts import judge, spread

from agenteval_kit.records import Turn
from agenteval_kit.runs import Run

Made = tuple[Run, Run | None, str, str]
"""The run, its baseline, the text of the bar, and the verdict that follows."""

TALK = {("case-007", 0): (Turn(role="user", text="Hello."), Turn(role="assistant", text="Done."))}


def hard(fails: set[str]) -> dict[str, Rows]:
    return {
        f"case-{n:03d}": {"outcome": True, "policy": f"case-{n:03d}" not in fails}
        for n in range(20)
    }


def ship_alone(root: Path) -> Made:
    return make_run(root, passes(35, 35)), None, "pass_rate: {outcome: 0.9}\n", "SHIP"


def ship_beside(root: Path) -> Made:
    old, new = make_run(root, passes(40, 38), name="old"), make_run(root, passes(40, 39))
    return new, old, "pass_rate: {outcome: 0.8}\n", "SHIP"


def hold_hard(root: Path) -> Made:
    old = make_run(root, hard(set()), name="old")
    new = make_run(root, hard({"case-007", "case-011"}), turns=TALK)
    return new, old, "hard_layers: [policy]\n", "HOLD"


def hold_rate(root: Path) -> Made:
    old, new = make_run(root, passes(20, 18), name="old"), make_run(root, passes(20, 8))
    return new, old, "pass_rate: {outcome: 0.9}\n", "HOLD"


def hold_alone(root: Path) -> Made:
    return make_run(root, passes(20, 8)), None, "pass_rate: {outcome: 0.9}\n", "HOLD"


def review_judge(root: Path) -> Made:
    old = judge(make_run(root, passes(20, 20), name="old"), spread({4: 20}))
    new = judge(make_run(root, passes(20, 20)), spread({4: 18, 1: 2}))
    return new, old, "mean: {tone: 3}\n", "REVIEW"


def review_flags(root: Path) -> Made:
    said = {f"case-{n:03d}": [4, 4, 2] if n == 3 else [4, 4, 4] for n in range(20)}
    return judge(make_run(root, passes(20, 20)), said), None, "mean: {tone: 2.5}\n", "REVIEW"


def review_other_suite(root: Path) -> Made:
    old = make_run(root, passes(20, 20), name="old", suite="other")
    return (
        make_run(root, passes(20, 19)), old, "no_worse: {outcome: {margin: 0.05}}\n", "REVIEW",
    )  # fmt: skip


def crowded(root: Path) -> Made:
    """Long ids, four layers, a clause of every kind: as much as a first screen ever has to hold."""
    names = [f"customer-asks-for-a-refund-of-a-damaged-parcel-{n:03d}" for n in range(60)]
    layers = ("outcome", "trajectory", "grounding", "policy")
    old: dict[str, Rows] = {name: dict.fromkeys(layers, True) for name in names}
    new: dict[str, Rows] = {
        name: {layer: (n + at) % 4 > 0 or n > 40 for at, layer in enumerate(layers)}
        for n, name in enumerate(names)
    }
    scores = {name: 2 + n % 3 for n, name in enumerate(names)}
    pair = [make_run(root, cases, name=name) for name, cases in (("old", old), ("new", new))]
    for run in pair:
        for name in ("tone", "care", "depth"):
            judge(run, scores, name=name, digest=f"judge-{name}", dimension_digest=f"{name}-1")
    bar = (
        "hard_layers: [policy]\n"
        "pass_rate: {outcome: 0.7, trajectory: 0.8, grounding: 0.9}\n"
        "mean: {tone: 3, care: 3.3, depth: 3.5}\n"
        "never: {tone: 1}\n"
        "no_worse: {outcome: {margin: 0.05}, trajectory: {margin: 0.05}}\n"
    )
    return pair[1], pair[0], bar, "HOLD"


PAGES: tuple[Callable[[Path], Made], ...] = (
    ship_alone,
    ship_beside,
    hold_hard,
    hold_rate,
    hold_alone,
    review_judge,
    review_flags,
    review_other_suite,
    crowded,
)
