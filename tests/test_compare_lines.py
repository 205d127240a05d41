"""`agenteval compare` for people and for machines: what moved, what was left out, and every p."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from builders import Rows, make_run, passes
from verdicts import judge

from agenteval_kit.cli import main
from agenteval_kit.runs import Run

ROOT = Path(__file__).parents[1]


def told(capsys: pytest.CaptureFixture[str], old: Run, new: Run) -> str:
    assert main(["compare", str(old.path), str(new.path)]) == 0
    return capsys.readouterr().out


def read(capsys: pytest.CaptureFixture[str], old: Run, new: Run) -> dict[str, Any]:
    assert main(["compare", str(old.path), str(new.path), "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def repeated(*shares: int) -> dict[str, list[Rows]]:
    """A case each, of which so many of two repeats pass."""
    return {
        f"case-{index:03d}": [{"outcome": repeat < share} for repeat in range(2)]
        for index, share in enumerate(shares)
    }


@pytest.fixture
def judged(tmp_path: Path) -> tuple[Run, Run]:
    """Two runs of 20 cases; of the tone five are unscored in one run or in both."""
    old, new = (make_run(tmp_path, passes(20, 20), name=name) for name in ("old", "new"))
    names = [f"case-{index:03d}" for index in range(20)]
    before = dict.fromkeys(names, 4) | dict.fromkeys(names[:2])
    after = dict.fromkeys(names, 4) | dict.fromkeys(names[1:5]) | dict.fromkeys(names[8:], 3)
    judge(old, before)
    judge(new, after)
    return old, new


def test_a_small_change_of_many_cases_is_told_with_its_digits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = make_run(tmp_path, passes(4000, 4000), name="old")
    new = make_run(tmp_path, passes(4000, 3988))

    said = told(capsys, old, new)

    assert "difference -0.30 points (-0.52 to -0.17, two-sided 95 %)" in said
    assert "  -0.30 points (-0.52 to -0.17, Tango)  p < 0.001\n" in said
    assert not re.search(r"-0\b(?!\.)", said.partition("outcome ")[2])


def test_of_repeats_a_case_that_broke_stands_apart_from_one_that_passes_less_often(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = make_run(tmp_path, repeated(2, 2, 1, 0, 0, 1, 2), name="old")
    new = make_run(tmp_path, repeated(0, 1, 0, 1, 2, 2, 2))

    said = told(capsys, old, new)
    (layer,) = read(capsys, old, new)["layers"]

    for line in ("broken: case-000, case-002\n", "less often: case-001\n",
                 "fixed: case-004, case-005\n", "more often: case-003\n"):  # fmt: skip
        assert f"                {line}" in said
    assert layer["broken"] == ["case-000", "case-001", "case-002"]
    assert layer["less_often"] == ["case-001"]
    assert layer["fixed"] == ["case-003", "case-004", "case-005"]
    assert layer["more_often"] == ["case-003"]


def test_cases_that_a_layer_could_not_pair_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lost: dict[str, Rows] = {"case-001": {"outcome": None}, "more": {"outcome": True}}
    old = make_run(tmp_path, passes(9, 9), name="old")
    new = make_run(tmp_path, passes(9, 9) | lost)

    said = told(capsys, old, new)
    found = read(capsys, old, new)

    assert "                not scored in both runs: case-001\n" in said
    (layer,) = found["layers"]
    assert (layer["n"], layer["dropped"], layer["shown"]) == (8, ["case-001"], False)
    assert layer["diag"].endswith("too few changes to tell")
    assert (found["only_old"], found["only_new"]) == ([], ["more"])


def test_a_dimension_names_its_cases_and_those_that_were_left_out(
    judged: tuple[Run, Run], capsys: pytest.CaptureFixture[str]
) -> None:
    said = told(capsys, *judged)
    (tone,) = read(capsys, *judged)["dimensions"]

    lost = [f"case-{index:03d}" for index in range(5)]
    lower = [f"case-{index:03d}" for index in range(8, 20)]
    assert ", 5 cases not scored in both runs" in said.splitlines()[2]
    assert f"                not scored in both runs: {', '.join(lost)}\n" in said
    assert f"                lower: {', '.join(lower)}\n" in said
    assert (tone["n"], tone["dropped"]) == (15, lost)
    assert (tone["lower"], tone["higher"], tone["shown"]) == (lower, [], True)
    assert tone["p_exact"] == pytest.approx(2 / 2**12)


def test_every_p_of_the_family_is_told_with_its_adjusted_one(
    judged: tuple[Run, Run], capsys: pytest.CaptureFixture[str]
) -> None:
    said = told(capsys, *judged)
    found = read(capsys, *judged)

    assert said.count("(Holm over all 2: p ") == found["tested"] == 2
    assert "  p < 0.001 (Holm over all 2: p < 0.001); judge never calibrated" in said
    rows = [*found["layers"], *found["dimensions"]]
    assert [row["p_holm"] for row in rows] == pytest.approx([1, 2 * rows[1]["p"]])


def test_a_dimension_that_is_not_compared_is_not_counted_among_the_tests(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    each = {f"case-{index:03d}": 4 for index in range(4)}
    old = judge(make_run(tmp_path, passes(4, 4), name="old"), each, digest="judge-0")
    new = judge(make_run(tmp_path, passes(4, 4)), each)

    said = told(capsys, old, new)
    found = read(capsys, old, new)

    assert "Holm" not in said
    assert found["tested"] == 1
    (tone,) = found["dimensions"]
    assert (tone["p"], tone["p_holm"], tone["shown"]) == (None, None, None)
    assert tone["diag"] == tone["refused"]


def test_the_page_names_every_key(
    judged: tuple[Run, Run], capsys: pytest.CaptureFixture[str]
) -> None:
    found = read(capsys, *judged)
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    table = page.partition("| key | of | what |\n")[2].partition("\n\n")[0].splitlines()[1:]
    said: dict[str, set[str]] = {"layers": {"layer"}, "dimensions": {"layer", "dimension"}}
    for line in table[1:]:
        keys, of = line.split(" | ")[:2]
        for name in said if of == "both" else (of,):
            said[name] |= set(re.findall(r"`(\w+)`", keys))

    assert {name: set(found[name][0]) for name in said} == said
    assert all(f"`{name}`" in page for name in ("only_old", "only_new", "tested", "refused"))
