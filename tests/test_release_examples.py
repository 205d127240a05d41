"""Releases as people meet them, through the command line: what holds one, and what a person opens.

Each bar that is shipped is tried on both sides of each of its thresholds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import make_run, passes
from labelled import label, people_and_judge
from people import calibrated
from verdicts import Said, judge, prefer, results, scored_run, spread

from agenteval_kit import report
from agenteval_kit.calibrate import write_calibration
from agenteval_kit.cli import main
from agenteval_kit.labels import read_labels
from agenteval_kit.records.calibrations import Calibration
from agenteval_kit.release import read_release
from agenteval_kit.runs import Run

BARS = Path(__file__).resolve().parent.parent / "data" / "bars"
SHIPPED = ("support", "four_layer", "helpdesk", "pull_request")
VERDICTS = {0: "SHIP", 1: "HOLD", 4: "REVIEW"}


def gate(run: Run, *words: object) -> str:
    """The verdict by the exit code of the command."""
    told = main(["gate", str(run.path), "--review-exit", "4", *map(str, words)])
    return VERDICTS[told]


def bar_file(folder: Path, text: str) -> Path:
    file = folder / "bar.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def trusting(folder: Path, *names: str) -> Path:
    """A calibration that trusts the judges of these dimensions, each by its own digest."""
    found = [calibrated(name, digest=f"by-{name}").dimensions[0] for name in names]
    return write_calibration(
        folder / "calibration.json", Calibration(name="made", dimensions=tuple(found))
    )


# What a shipped bar decides on, changed by one step at a time.


@dataclass
class Facts:
    """What checks, judges and a comparison found; each step changes a copy."""

    rows: dict[str, dict[str, bool | None]]
    said: dict[str, dict[str, Said]] = field(default_factory=dict)
    preferred: dict[str, str | None] = field(default_factory=dict)
    again: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    trusted: bool = True
    critical: bool = True


LAYER_OF = {"goal_completion": "outcome", "groundedness": "grounding", "grounding": "grounding",
            "meets_rubric": "outcome"}  # fmt: skip
LEVELS_OF = {"grounding": (0, 1, 2, 3), "meets_rubric": (1, 2, 3, 4, 5)}
HUNDRED = [f"case-{at:03d}" for at in range(100)]


def all_pass(*layers: str) -> dict[str, dict[str, bool | None]]:
    return {case_id: dict.fromkeys(layers, True) for case_id in HUNDRED}


def scores(counts: Mapping[int | None, int]) -> dict[str, Said]:
    assert sum(counts.values()) == len(HUNDRED)
    return spread(counts)


def good(bar: str) -> Facts:
    """What each bar ships."""
    if bar == "support":
        return Facts(
            all_pass("outcome", "trajectory", "grounding", "policy", "conversation"),
            {"goal_completion": scores({4: 100}), "groundedness": scores({4: 100})},
        )
    if bar == "four_layer":
        # 280 pairs: the measured margin is narrow enough, see the steps below.
        cases = {name: dict.fromkeys(("outcome", "trajectory", "policy"), True)
                 for name in results(100, 80, 100)}  # fmt: skip
        return Facts(cases, {"grounding": scores({3: 100})}, results(100, 80, 100))
    if bar == "helpdesk":
        return Facts(all_pass("outcome", "trajectory"), {"meets_rubric": scores({5: 100})})
    return Facts(all_pass("outcome", "trajectory", "grounding", "policy", "conversation"))


Step = Callable[[Facts], None]


def failing(layer: str, many: int) -> Step:
    def step(facts: Facts) -> None:
        for case_id in HUNDRED[1 : 1 + many]:  # the first is the critical one
            facts.rows[case_id][layer] = False

    return step


def unscored(many: int) -> Step:
    def step(facts: Facts) -> None:
        for case_id in list(facts.rows)[-many:] if many else ():
            facts.rows[case_id]["cost"] = None

    return step


def critical_fails(facts: Facts) -> None:
    facts.rows[HUNDRED[0]]["conversation"] = False


def no_critical(facts: Facts) -> None:
    facts.critical = False


def scored(name: str, counts: Mapping[int | None, int]) -> Step:
    def step(facts: Facts) -> None:
        facts.said[name] = scores(counts)

    return step


def preferred(won: int, tied: int, lost: int) -> Step:
    def step(facts: Facts) -> None:
        facts.preferred = results(won, tied, lost)

    return step


def one_says(name: str, said: Said, *again: int) -> Step:
    def step(facts: Facts) -> None:
        facts.said[name] = {**facts.said[name], HUNDRED[5]: said}
        facts.again = {HUNDRED[5]: again}

    return step


def nobody_calibrated(facts: Facts) -> None:
    facts.trusted = False


def judged_badly(facts: Facts) -> None:
    facts.said["tone"] = {**scores({1: 100}), HUNDRED[0]: [1, 4, 4]}
    facts.trusted = False


def as_it_is(_: Facts) -> None:
    """Nothing changes."""


def hard(layer: str) -> tuple[str, list[tuple[Step, str]]]:
    return f"hard_layers {layer}", [(as_it_is, "SHIP"), (failing(layer, 1), "HOLD")]


CRITICAL = (
    "critical", [(as_it_is, "SHIP"), (critical_fails, "HOLD"), (no_critical, "REVIEW")],
)  # fmt: skip
UNSCORED = ("max_unscored", [(unscored(2), "SHIP"), (unscored(3), "REVIEW")])


def rate(layer: str) -> tuple[str, list[tuple[Step, str]]]:
    return f"pass_rate {layer}", [(failing(layer, 10), "SHIP"), (failing(layer, 11), "HOLD")]


STEPS: dict[str, list[tuple[str, list[tuple[Step, str]]]]] = {
    "support": [
        hard("outcome"), hard("trajectory"), hard("grounding"), hard("policy"), CRITICAL,
        ("mean default", [
            (scored("goal_completion", {4: 30, 3: 70}), "SHIP"),  # 3.30
            (scored("goal_completion", {4: 29, 3: 71}), "HOLD"),  # 3.29
            (scored("groundedness", {4: 30, 3: 70}), "SHIP"),
            (scored("groundedness", {4: 29, 3: 71}), "HOLD"),
        ]),
        ("never groundedness", [
            (one_says("groundedness", 2), "SHIP"),
            (one_says("groundedness", 1, 1, 4), "HOLD"),  # two of three askings
            (one_says("groundedness", 1, 2, 4), "REVIEW"),
            (one_says("groundedness", 1), "REVIEW"),
        ]),
        UNSCORED,
        ("max_unscored of verdicts", [
            (scored("goal_completion", {4: 98, None: 2}), "SHIP"),
            (scored("goal_completion", {4: 97, None: 3}), "REVIEW"),
        ]),
        ("untrusted", [(as_it_is, "SHIP"), (nobody_calibrated, "REVIEW")]),
    ],
    "four_layer": [
        hard("policy"), hard("trajectory"),
        ("mean grounding", [
            (scored("grounding", {3: 50, 2: 50}), "SHIP"),  # 2.50
            (scored("grounding", {3: 49, 2: 51}), "HOLD"),  # 2.49
        ]),
        ("never grounding", [
            (one_says("grounding", 1), "SHIP"),
            (one_says("grounding", 0, 0, 3), "HOLD"),
            (one_says("grounding", 0), "REVIEW"),
        ]),
        ("win_rate outcome margin", [
            (preferred(100, 51, 129), "SHIP"),  # (100 + 51 / 2) / 280 = 0.448
            (preferred(100, 50, 130), "HOLD"),  # 0.446, under 0.5 less the margin of 0.052
        ]),
        ("win_rate outcome max_margin", [
            (preferred(20, 20, 20), "SHIP"),  # a margin of 0.10
            (preferred(19, 21, 19), "REVIEW"),  # a pair less: wider
        ]),
        ("max_unscored", [(unscored(5), "SHIP"), (unscored(6), "REVIEW")]),  # of 280
        ("untrusted", [(as_it_is, "SHIP"), (nobody_calibrated, "REVIEW")]),
    ],
    "helpdesk": [
        CRITICAL, rate("outcome"), rate("trajectory"),
        ("mean default", [
            (scored("meets_rubric", {4: 100}), "SHIP"),
            (scored("meets_rubric", {4: 99, 3: 1}), "HOLD"),  # 3.99
        ]),
        UNSCORED,
        ("untrusted", [(as_it_is, "SHIP"), (nobody_calibrated, "REVIEW")]),
    ],
    "pull_request": [
        hard("policy"), hard("trajectory"), hard("grounding"), CRITICAL, rate("outcome"), UNSCORED,
        # Judges and their flags are shown and hold nobody up.
        ("untrusted", [(judged_badly, "SHIP")]),
        ("open_flags", [(judged_badly, "SHIP")]),
    ],
}  # fmt: skip
TRIED = [
    pytest.param(bar, step, verdict, id=f"{bar}: {threshold} {at}")
    for bar, thresholds in STEPS.items()
    for threshold, steps in thresholds
    for at, (step, verdict) in enumerate(steps)
]


def release(root: Path, facts: Facts) -> tuple[Run, Run, Path]:
    """The runs and the calibration of these facts."""
    if facts.preferred:
        facts.rows = {name: facts.rows[name] for name in facts.preferred}
    critical = HUNDRED[:1] if facts.critical else []
    before = {name: dict.fromkeys(rows, True) for name, rows in facts.rows.items()}
    old = make_run(root, before, name="old", critical=critical)
    new = make_run(root, facts.rows, name="new", critical=critical)
    for name, said in facts.said.items():
        judge(
            new, said, name=name, layer=LAYER_OF.get(name, "conversation"), digest=f"by-{name}",
            levels=LEVELS_OF.get(name, (1, 2, 3, 4)), again=facts.again,
        )  # fmt: skip
    if facts.preferred:
        prefer(new, facts.preferred)
    return old, new, trusting(root, *(facts.said if facts.trusted else ()))


@pytest.mark.parametrize(("bar", "step", "verdict"), TRIED)
def test_a_shipped_bar_on_both_sides_of_each_threshold(
    tmp_path: Path, bar: str, step: Step, verdict: str
) -> None:
    facts = deepcopy(good(bar))
    step(facts)
    old, new, calibration = release(tmp_path, facts)

    found = gate(
        new, "--bar", BARS / f"{bar}.yaml", "--baseline", old.path, "--calibration", calibration
    )

    assert found == verdict


def thresholds(bar: str) -> set[str]:
    """Every place of a bar that says what passes."""
    found = set()
    for key, value in yaml.safe_load((BARS / f"{bar}.yaml").read_text(encoding="utf-8")).items():
        if isinstance(value, list):
            found |= {f"{key} {one}" for one in value}
        elif not isinstance(value, dict):
            found |= {key} - {"name"}
        else:
            for name, inner in value.items():
                leaves = inner if isinstance(inner, dict) else {"": inner}
                found |= {f"{key} {name} {leaf}".strip() for leaf in leaves if leaf != "against"}
    return found


@pytest.mark.parametrize("bar", SHIPPED)
def test_no_threshold_of_a_shipped_bar_is_left_out_above(bar: str) -> None:
    tried = {threshold for threshold, _ in STEPS[bar]}

    assert tried - {"max_unscored of verdicts"} == thresholds(bar)


# A lowered threshold.


def lowered(bar: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Each threshold of a bar let down by a little, one at a time, by its name on the page."""
    found: list[tuple[str, dict[str, Any]]] = []

    def add(name: str, change: Callable[[dict[str, Any]], object]) -> None:
        copy = deepcopy(dict(bar))
        change(copy)
        found.append((name, copy))

    for layer in bar.get("hard_layers", ()):
        add(f"hard_layers {layer}", lambda each, layer=layer: each["hard_layers"].remove(layer))
    if bar.get("critical"):
        add("critical", lambda each: each.pop("critical"))
    for name, least in bar.get("pass_rate", {}).items():
        add(
            f"pass_rate {name} at_least",
            lambda each, name=name, least=least: each["pass_rate"].update({name: least - 0.01}),
        )
    for name, least in bar.get("mean", {}).items():
        add(
            f"mean {name}",
            lambda each, name=name, least=least: each["mean"].update({name: least - 0.1}),
        )
    for name in bar.get("never", {}):
        add(f"never {name}", lambda each, name=name: each["never"].pop(name))
    for name in bar.get("win_rate", {}):
        add(
            f"win_rate {name} max_margin",
            lambda each, name=name: each["win_rate"][name].update(max_margin=0.2),
        )
    add("max_unscored", lambda each: each.update(max_unscored=0.05))
    if bar.get("untrusted") == "review":
        add("untrusted", lambda each: each.update(untrusted="report"))
        add("open_flags", lambda each: each.update(open_flags="report"))
    return found  # fmt: skip


@pytest.mark.parametrize("name", SHIPPED)
def test_each_lowered_threshold_of_a_shipped_bar_is_marked_on_the_page(
    tmp_path: Path, name: str
) -> None:
    old, new, _ = release(tmp_path, good(name))
    shipped = yaml.safe_load((BARS / f"{name}.yaml").read_text(encoding="utf-8"))
    changes = lowered(shipped)

    for threshold, changed in changes:
        bar = bar_file(tmp_path, yaml.safe_dump(changed))
        page = read_release(
            new.path, baseline=old.path, bar=bar, baseline_bar=BARS / f"{name}.yaml"
        )
        said = " ".join(re.sub(r"<[^>]+>", " ", report.show_changes(page).markup).split())
        assert re.search(rf"(?<!\w){threshold} [^✗]* ✗ lowered", said), threshold
        assert said.count("lowered") == 1

    assert len(changes) >= 5


@pytest.mark.slow
def test_the_report_command_marks_a_lowered_threshold(tmp_path: Path) -> None:
    old, new = (make_run(tmp_path, passes(40, 36), name=name) for name in ("old", "new"))
    strict, lax = tmp_path / "strict.yaml", tmp_path / "lax.yaml"
    strict.write_text("pass_rate: {outcome: 0.95}\n", encoding="utf-8")
    lax.write_text("pass_rate: {outcome: 0.85}\n", encoding="utf-8")
    page = tmp_path / "page.html"

    codes = [gate(new, "--bar", strict), gate(new, "--bar", lax)]
    code = main(
        ["report", str(new.path), "--baseline", str(old.path), "--bar", str(lax),
         "--baseline-bar", str(strict), "--out", str(page)]
    )  # fmt: skip

    said = " ".join(re.sub(r"<[^>]+>", " ", page.read_text(encoding="utf-8")).split())
    assert codes == ["HOLD", "SHIP"]
    assert code == 0
    assert "pass_rate outcome at_least 0.95 0.85 ✗ lowered" in said


# What holds a release.


def test_a_hard_fail_holds_although_every_mean_is_at_the_top(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = good("support")
    failing("policy", 1)(facts)
    _, new, calibration = release(tmp_path, facts)

    found = gate(new, "--bar", BARS / "support.yaml", "--calibration", calibration, "--json")

    told = json.loads(capsys.readouterr().out)
    means = [row for row in told["rows"] if row["clause"] == "mean"]
    assert found == "HOLD"
    assert [(row["estimate"]["value"], row["status"]) for row in means] == [(4.0, "pass")] * 2
    assert [(row["case_id"], row["layer"]) for row in told["hard_fails"]] == [
        ("case-001", "policy")
    ]
    assert [row["clause"] for row in told["rows"] if row["status"] != "pass"] == ["hard_layers"]


def test_a_mean_of_329_is_not_33_and_the_row_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = good("support")
    scored("goal_completion", {4: 29, 3: 71})(facts)
    _, new, calibration = release(tmp_path, facts)

    found = gate(new, "--bar", BARS / "support.yaml", "--calibration", calibration)

    said = capsys.readouterr().out
    assert found == "HOLD"
    assert re.search(r"fail +mean goal_completion: 3\.29 \(3\.\d+ to 3\.\d+\), under 3\.3", said)


def test_a_single_lowest_level_on_groundedness_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = good("support")
    one_says("groundedness", [1, 1, 4])(facts)
    _, new, calibration = release(tmp_path, facts)

    found = gate(new, "--bar", BARS / "support.yaml", "--calibration", calibration)

    said = capsys.readouterr().out
    assert found == "HOLD"
    assert "fail         never groundedness: 1 of 100 verdicts say 1, each by the majority" in said
    assert "pass         mean groundedness: 3.97" in said


def test_a_win_rate_under_its_margin_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = good("four_layer")
    preferred(60, 80, 140)(facts)
    old, new, calibration = release(tmp_path, facts)

    found = gate(
        new, "--bar", BARS / "four_layer.yaml", "--baseline", old.path,
        "--calibration", calibration,
    )  # fmt: skip

    assert found == "HOLD"
    assert "fail         win_rate outcome: 0.36 (" in capsys.readouterr().out


# What a person opens.


def test_a_dimension_that_nobody_calibrated_waits_and_calibrating_it_ships(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verdicts, people = people_and_judge(
        260, shares=(0.02, 0.08, 0.20, 0.70), accuracy=0.95, judge_accuracy=0.95
    )
    run = scored_run(tmp_path, verdicts)
    label(tmp_path / "labels", run, people)
    bar = bar_file(tmp_path, "mean: {tone: 3.3}\n")
    words = ("--bar", bar, "--labels", tmp_path / "labels")
    file = tmp_path / "calibration.json"

    before = gate(run, *words)
    waiting = capsys.readouterr().out
    code = main(["calibrate", str(run.path), *map(str, words), "--out", str(file)])
    after = gate(run, *words, "--calibration", file)

    assert (before, code, after) == ("REVIEW", 0, "SHIP")
    assert "cannot tell  mean tone: judge never calibrated; it would pass: 3." in waiting


def test_an_open_flag_waits_and_a_label_on_it_ships(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = good("support")
    one_says("groundedness", [4, 4, 3])(facts)
    _, new, calibration = release(tmp_path, facts)
    words = ("--bar", BARS / "support.yaml", "--calibration", calibration)
    labels = tmp_path / "labels"
    flagged = HUNDRED[5]

    before = gate(new, *words)
    waiting = capsys.readouterr().out
    code = main(
        ["review", str(new.path), flagged, "groundedness", "--rater", "ana", "--score", "4",
         "--reason", "Each figure is in the policy.", "--labels", str(labels)]
    )  # fmt: skip
    after = gate(new, *words, "--labels", labels)

    assert (before, code, after) == ("REVIEW", 0, "SHIP")
    assert "1 with seats on both sides of 3.3 (groundedness): a person has to read these" in waiting
    assert "1 flagged verdict was resolved by a label (ana 1)" in capsys.readouterr().out
    assert [row.case_id for row in read_labels(labels).rows] == [flagged]
