"""The worked calibrations: what is shipped is what was published, and the page's numbers hold.

The judge's replies are a recording of a real model; nothing is asked of a server.
"""

from __future__ import annotations

import doctest
import filecmp
import json
import re
import shutil
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agenteval_kit.calibrate import (
    CalibrationResult,
    calibrate_run,
    pair_agreement,
    read_calibration,
)
from agenteval_kit.cli import main
from agenteval_kit.labels import LabelSet, read_labels, read_sample
from agenteval_kit.pairwise import import_preferences
from agenteval_kit.records.bars import TrustRule
from agenteval_kit.runs import Run
from agenteval_kit.targets import load_target

NOW = "2026-03-02T09:00:00Z"
COPIED = ("agents", "labels", "published", "rubrics", "suites", "tapes")
LISTS = (18, 17, 15, 18, 20)


@pytest.fixture(scope="module")
def project(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in which the commands of the page were run."""
    folder = tmp_path_factory.mktemp("worked")
    for name in COPIED:
        shutil.copytree(root / "data" / name, folder / "data" / name)
    page = (root / "docs" / "worked-calibrations.md").read_text(encoding="utf-8")
    lines = "".join(re.findall(r"```sh\n(.*?)```", page, re.DOTALL)).splitlines()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert [main(line.split()[1:]) for line in lines] == [0, 0, 0]
        yield folder


@pytest.fixture(scope="module")
def run(project: Path) -> Run:
    return Run.open(project / "data" / "runs" / "recipes")


@pytest.fixture(scope="module")
def labels(project: Path) -> LabelSet:
    return read_labels(project / "data" / "labels" / "recipes")


@pytest.fixture(scope="module")
def found(run: Run, labels: LabelSet) -> CalibrationResult:
    return calibrate_run(run, labels, now=NOW)


def test_the_shipped_calibration_is_what_the_command_finds(
    root: Path, found: CalibrationResult
) -> None:
    shipped = read_calibration(root / "data" / "calibrations" / "recipes.json")
    # When and of which folder it was made, whatever goes over that, and how the doubts are worded.
    moment = {"at", "seal", "run", "agent_digest", "notes"}

    again = [one.model_dump(exclude=moment) for one in found.calibration.dimensions]

    assert [one.model_dump(exclude=moment) for one in shipped.dimensions] == again
    assert {one.state for one in shipped.trust()} == {"provisional"}
    assert [one.at for one in shipped.dimensions] != [NOW, NOW]


def test_what_is_counted_is_named_labels_transcripts_and_raters(found: CalibrationResult) -> None:
    told = found.of("overall").lines()

    assert "on 26 held-out transcripts (609 labels by 88 raters): exact" in told[1]
    assert told[3].startswith("provisional: 26 labelled transcripts, below 100; ")


@pytest.fixture(scope="module")
def published(root: Path) -> dict[str, dict[str, list[int]]]:
    """The scores as they were published, by recipe and statement."""
    path = root / "data" / "published" / "recipes_6point" / "meta_evaluation_recipes.json"
    read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return {
        one["id"]: {
            name: said["individual_human_scores"] for name, said in one["annotations"].items()
        }
        for one in read["instances"]
    }


# The page.


def test_the_numbers_of_the_page_are_those_that_its_code_gives(root: Path, project: Path) -> None:
    page = root / "docs" / "worked-calibrations.md"

    result = doctest.testfile(str(page), module_relative=False)

    assert result.attempted > 20
    assert result.failed == 0


def test_the_numbers_in_the_prose_of_the_page_are_right(
    root: Path, found: CalibrationResult
) -> None:
    text = " ".join((root / "docs" / "worked-calibrations.md").read_text("utf-8").split())
    file = root / "data" / "published" / "pandalm" / "verdicts.csv"
    votes, rows = import_preferences(file, judge="annotator*"), import_preferences(file)
    gpt, panda = (
        pair_agreement(votes, judge=import_preferences(file, judge=name), draws=200)
        for name in ("gpt-3.5-turbo", "pandalm-7b")
    )
    mt_bench = root / "data" / "published" / "mt_bench"
    experts = import_preferences(mt_bench / "human.jsonl", judge="expert_*")
    bench = pair_agreement(experts, judge=import_preferences(mt_bench / "gpt4_pair.jsonl"))

    recipes = found.of("overall")
    assert gpt.votes and panda.votes and gpt.majority and bench.votes and bench.majority
    people = [one.exact.value for one in (recipes.ceiling.agreement, gpt.ceiling, bench.ceiling)]
    assert "| people with each other | " + " | ".join(f"exact {one:.2f}" for one in people) in text
    judged = [one.exact.value for one in (recipes.agreement, gpt.votes, panda.votes, bench.votes)]
    told = "exact {:.2f}, kappa 0 | exact {:.2f} and {:.2f} | exact {:.2f} |".format(*judged)
    assert f"| judge with people | {told}" in text
    ties = {who: sum(one.outcome == "tie" for one in rows if one.judge == who)
            for who in ("gpt-3.5-turbo", "pandalm-7b")}  # fmt: skip
    table = gpt.majority.table
    seen = sum(count for (most, _), count in table.items() if most == "tie")
    assert f"sees a tie in {ties['gpt-3.5-turbo']} pairs, people in {seen}." in text
    assert (table["tie", "unscored"], gpt.majority.unscored) == (8, 15)
    assert "eight of the fifteen are then right" in text
    share = bench.majority.accuracy.text(percent=True)
    assert f"says it too in {share} of {bench.majority.pairs} pairs" in text


# What is shipped.


def test_the_recording_made_anew_is_the_shipped_one(root: Path) -> None:
    folder = root / "data" / "published" / "recipes_6point"

    text = load_target("make_recipes.py:make_recipes", folder=folder, fresh=True)()

    assert text == (folder / "recipes.jsonl").read_text(encoding="utf-8")


def test_the_labels_made_anew_are_the_shipped_ones(root: Path, tmp_path: Path) -> None:
    make = load_target(
        "make_labels.py:main", folder=root / "data" / "published" / "recipes_6point", fresh=True
    )

    assert make([str(tmp_path)]) == 0

    shipped = root / "data" / "labels" / "recipes"
    files = sorted(path.relative_to(shipped) for path in shipped.rglob("*.json*"))
    same, differ, missing = filecmp.cmpfiles(shipped, tmp_path, files, shallow=False)
    assert (len(same), differ, missing) == (89, [], [])


def test_every_published_score_is_a_label_and_nothing_else_is(
    labels: LabelSet, published: dict[str, dict[str, list[int]]]
) -> None:
    said: dict[tuple[str, str], list[int]] = {}
    for row in sorted(labels.labels(), key=lambda one: one.rater):
        assert row.score is not None
        said.setdefault((row.case_id, row.dimension), []).append(row.score)

    assert said == {
        (recipe, name): scores[name]
        for recipe, scores in published.items()
        for name in ("grammar", "overall")
    }
    assert len(labels.raters) == 88
    assert {len([row for row in labels.labels() if row.rater == who]) for who in labels.raters} == {
        24
    }


@pytest.mark.parametrize(
    ("rater", "recipe", "grammar", "overall"),
    [
        ("participant-00", "baked_ziti_5_dependency", 3, 2),
        ("participant-17", "garam_masala_3_original", 6, 6),
        ("participant-41", "grammaticality_peanut_butter_bars_8_grammaticality", 4, 4),
        ("participant-50", "coherence_homemade_graham_crackers_8_coherence", 5, 1),
        ("participant-61", "coherence_homemade_graham_crackers_8_coherence", 4, 3),
        ("participant-87", "grammaticality_peanut_butter_bars_8_grammaticality", 4, 3),
    ],
)
def test_a_rater_is_the_participant_of_the_study_s_own_table(
    labels: LabelSet, rater: str, recipe: str, grammar: int, overall: int
) -> None:
    # Rows of cleaned_data_anonymized.csv, interactive-cookbook/recipe-generation e7e08c12.
    mine = {row.dimension: row.score for row in labels.labels()
            if (row.rater, row.case_id) == (rater, recipe)}  # fmt: skip

    assert mine == {"grammar": grammar, "overall": overall}


def test_one_position_is_one_person_people_differ_in_how_strict_they_are(
    published: dict[str, dict[str, list[int]]],
) -> None:
    recipes = list(published.values())
    rng = np.random.default_rng(0)
    for number, size in enumerate(LISTS):
        own = np.array([one["overall"] for one in recipes[10 * number : 10 * number + 10]], float)
        assert own.shape == (10, size)
        own -= own.mean(axis=1, keepdims=True)

        seen = own.mean(axis=0).var()
        shuffled = [
            np.mean([rng.permutation(row) for row in own], axis=0).var() for _ in range(500)
        ]

        # Were positions no persons, their means over ten recipes would spread no wider than these.
        assert seen > np.quantile(shuffled, 0.99)


def test_the_sample_holds_every_recipe_so_that_none_was_chosen(project: Path, run: Run) -> None:
    sample = read_sample(project / "data" / "labels" / "recipes" / "samples" / "recipes.json")

    assert {one.case_id for one in sample.items} == {one.case_id for one in run.transcripts()}
    assert {one.inclusion for one in sample.items} == {1.0}
    assert [(one.total, one.drawn) for one in sample.strata] == [(52, 52)]


def test_the_tape_is_what_a_real_model_said_and_names_no_machine(root: Path) -> None:
    text = (root / "data" / "tapes" / "recipes.jsonl").read_text(encoding="utf-8")

    rows = [json.loads(line) for line in text.splitlines()]
    assert len(rows) == 104
    assert {row["reply"]["model"] for row in rows} == {"SmolLM2-135M-Instruct.Q4_1"}
    # Of a script there would be no seconds and no tokens.
    assert all(row["seconds"] > 0 and row["usage"]["input_tokens"] > 300 for row in rows)
    assert re.search(r"/(?:home|Users|tmp)/", text) is None


# The calibration.


def test_the_alpha_of_people_is_the_one_that_judge_bench_prints(found: CalibrationResult) -> None:
    # dmg-illc/JUDGE-BENCH 41b2b999, results/regular/recipe-crowd-sourcing-data.json.
    assert found.of("grammar").ceiling.alpha.value == pytest.approx(0.41512699786609375, rel=1e-12)
    assert found.of("overall").ceiling.alpha.value == pytest.approx(0.4351007794425691, rel=1e-12)


@pytest.mark.parametrize("dimension", ["grammar", "overall"])
def test_people_agree_as_often_as_their_scores_say(
    dimension: str, found: CalibrationResult, published: dict[str, dict[str, list[int]]]
) -> None:
    ceiling = found.of(dimension).ceiling

    same, close = [], []
    for scores in published.values():
        twos = list(combinations(scores[dimension], 2))
        same.append(sum(one == two for one, two in twos) / len(twos))
        close.append(sum(abs(one - two) <= 1 for one, two in twos) / len(twos))
    assert ceiling.agreement.exact.value == pytest.approx(sum(same) / 52)
    assert ceiling.agreement.within_one.value == pytest.approx(sum(close) / 52)
    assert ceiling.state == "rubric ambiguous"
    assert ceiling.sentence().startswith("RUBRIC AMBIGUOUS: people agree exactly on")


@pytest.mark.parametrize("dimension", ["grammar", "overall"])
def test_a_constant_judge_agrees_as_often_as_people_say_its_level_and_has_kappa_0(
    dimension: str, found: CalibrationResult, published: dict[str, dict[str, list[int]]]
) -> None:
    one = found.of(dimension)

    held_out = {pair.case_id for pair in one.pairs if pair.half == "held out"}
    shares = [published[case][dimension].count(1) / len(published[case][dimension])
              for case in sorted(held_out)]  # fmt: skip
    assert len(held_out) == one.held_out == 26
    assert {pair.judge for pair in one.pairs} == {1}
    assert one.agreement.exact.value == pytest.approx(sum(shares) / 26)
    assert one.agreement.kappa_quadratic.value == pytest.approx(0)
    high = one.agreement.kappa_quadratic.high
    assert high is not None and high < TrustRule().at_least


def test_thirty_recipes_leave_the_judge_provisional_and_say_why(run: Run, labels: LabelSet) -> None:
    kept = [one.case_id for one in run.transcripts()][::-1][:30]
    few = LabelSet(labels.folder, tuple(row for row in labels.rows if row.case_id in kept))

    one = calibrate_run(run, few, dimensions=["overall"], now=NOW).of("overall")

    assert len(kept) == 30
    assert (one.state, one.held_out) == ("provisional", 15)
    assert one.reason.startswith("15 labelled transcripts, below 100; kappa_quadratic 0.00 (")
    assert one.lines()[0].startswith("overall: RUBRIC AMBIGUOUS")
