"""The tables and the notebook that lay out disagreements: what they say, escaped and whole."""

from __future__ import annotations

import doctest
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from judged import dimension, make_judged_run, rubric, talk
from judged import said as reply
from verdicts import prefer

from agenteval_kit import report
from agenteval_kit.calibrate.again import recalibration
from agenteval_kit.calibrate.compared import Disagreements
from agenteval_kit.calibrate.disagreements import disagreements
from agenteval_kit.calibrate.signs import judge_signs, lengths_frame
from agenteval_kit.errors import ConfigError
from agenteval_kit.judge import judge_run
from agenteval_kit.labels import LabelSet, LabelWriter
from agenteval_kit.models.openai_model import OpenAIModel
from agenteval_kit.plots import plot_lengths
from agenteval_kit.records import Transcript
from agenteval_kit.records.labels import LabelRow, Review
from agenteval_kit.render import execute_notebook
from agenteval_kit.report import Html
from agenteval_kit.runs import Run
from agenteval_kit.suite.judged import open_judged
from agenteval_kit.testing import ScriptedServer, say

HOSTILE = "<script>window.owned=1</script><img src=x onerror=alert(1)> \u202eevil"
AT = "2026-03-02T10:00:00Z"


def words(shown: Html) -> str:
    """What a person reads, without the markup."""
    text = re.sub(r"<svg.*?</svg>", " ", shown.markup, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


def row(rater: str, case_id: str, score: int | None, **more: Any) -> LabelRow:
    fields = {"run": "run", "dimension": "goal", "at": AT, **more}
    return LabelRow(rater=rater, case_id=case_id, score=score, **fields)


def served_run(folder: Path, replies: dict[str, str], answers: dict[str, str]) -> Run:
    """Transcripts judged over HTTP: the reply to each is found by its answer."""
    run = make_judged_run(folder, [talk(case_id, answer=said) for case_id, said in answers.items()])

    def answer(asked: Any) -> Any:
        prompt = json.dumps(asked.body, ensure_ascii=False)
        found = next(case_id for case_id, said in answers.items() if said in prompt)
        return say(replies[found])

    with ScriptedServer(answer) as server:
        judge_run(
            run,
            rubric(dimension("goal", evidence={"kind": "quote"})),
            OpenAIModel("judge-1", base_url=server.base_url),
        )
    return run


@pytest.fixture
def found(tmp_path: Path) -> Disagreements:
    answers = {
        "mild": "Your refund of 79.00 GBP was sent.",
        "same": "The parcel left on Monday.",
        "sure": "A voucher over 20.00 GBP is yours.",
    }
    replies = {
        "mild": reply(4, quote="refund of 79.00 GBP"),
        "same": reply(2, quote="left on Monday"),
        "sure": reply(4, quote="voucher over 20.00 GBP"),
    }
    run = served_run(tmp_path, replies, answers)
    labels = (
        row("anna", "mild", 1, note="No refund was booked"),
        row("anna", "same", 2),
        row("anna", "sure", 2, note="The voucher, not the refund"),
        row("ben", "mild", 1),
        row("ben", "sure", 4),
        LabelRow(rater="ben", case_id="mild", run="run", at=AT, kind="failure",
                 failure="promise without a booking"),
    )  # fmt: skip
    return disagreements(run, LabelSet(None, labels))


def test_people_stand_before_the_judge(found: Disagreements) -> None:
    shown = words(report.show_disagreements(found))

    heads = [
        "people differ from each other",
        "the judge differs from a person",
        "milder",
        "harsher",
    ]
    places = [shown.index(head) for head in heads]
    assert places == sorted(places)
    # Of two transcripts that both read, they part on one; the judge is milder on mild, and on one
    # of two labels of sure: (1 + 0 + 1/2) / 3.
    assert "goal 50 % (9 to 91 %) ceiling low, not settled 50 % " in shown
    assert "Some labelled transcripts were not drawn from the run: shares leave them out" in shown


def test_a_cell_names_both_anchors_and_whose_fault_it_is(found: Disagreements) -> None:
    shown = words(report.show_anchors(found, "goal"))

    assert "goal: the judge gives 4 where people give 1" in shown
    assert "2 labels on 1 transcript" in shown
    assert "1 people The customer has 1 of 4 things. 4 the judge The customer has 4 of 4" in shown
    assert "mild, ben: promise without a booking" in shown
    assert "mild, anna: No refund was booked" in shown
    # On the other one the second reader said 4, as the judge does.
    assert "goal: people too are of two minds between 2 and 4" in shown


def test_cells_and_pairs_of_people_have_captions_and_scopes(found: Disagreements) -> None:
    shown = report.show_cells(found, "goal")

    assert shown.markup.count("<caption>") == 2
    assert 'scope="col"' in shown.markup
    assert 'scope="row"' in shown.markup
    said = words(shown)
    assert "goal: 2 cells in which the judge's level is not the person's" in said
    assert "1, 4 2 33 % (6 to 79 %) judge misreads" in said or "1, 4 2" in said
    assert "2, 4 1 50 % (9 to 91 %) sure" in said


def test_a_cell_is_read_side_by_side_with_its_evidence_marked(found: Disagreements) -> None:
    shown = report.show_cell(found, "goal")
    other = report.show_cell(found, "goal", human=2, judge=4)

    assert "<mark>refund of 79.00 GBP</mark>" in shown.markup
    assert "People: anna 1, ben 1. Judge: 4 (+3 from their mean)." in words(shown)
    assert "anna: No refund was booked" in words(shown)
    assert "judge: It says so." in words(shown)
    assert "<mark>voucher over 20.00 GBP</mark>" in other.markup
    assert "left on Monday" not in shown.markup + other.markup
    with pytest.raises(ConfigError) as error:
        report.show_cell(found, "goal", human=3)
    assert str(error.value) == (
        "goal: no label lies at person 3, judge None; cells are 1 and 4, 2 and 4."
    )


def test_shared_notes_are_shown_and_their_absence_is_said(found: Disagreements) -> None:
    shown = words(report.show_shared_notes(found))
    silent = Disagreements(found.run, "", found.scales, found.compared[1:2])

    assert "refund a word 2" in shown
    assert "mild, sure" in shown
    assert "No rater wrote a note" in words(report.show_shared_notes(silent))
    assert "goal: the judge agrees with every person." in words(report.show_cell(silent, "goal"))
    assert "nobody differs on any transcript" in words(report.show_anchors(silent, "goal"))
    with pytest.raises(ConfigError, match='nobody labelled "gaol"'):
        report.show_shared_notes(found, "gaol")


def test_everything_that_others_wrote_is_escaped(tmp_path: Path) -> None:
    said = {"c0": f"An answer. {HOSTILE}", "c1": "Another one."}
    run = served_run(
        tmp_path,
        {
            "c0": reply(4, quote="An answer.", justification=HOSTILE),
            "c1": reply(4, quote="Another"),
        },
        said,
    )
    labels = (
        row("anna", "c0", 1, note=HOSTILE),
        row("anna", "c1", 1, note=HOSTILE),
        row("anna", "c1", 1, kind="review", note=HOSTILE,
            review=Review(judge_digest=run.judge_stamps()[0].judge_digest, verdict=4,
                          answer="overrule")),
        LabelRow(rater="anna", case_id="c0", run="run", at=AT, kind="failure", failure=HOSTILE),
    )  # fmt: skip
    found = disagreements(run, LabelSet(None, labels))

    shown = [
        report.show_disagreements(found), report.show_cells(found, "goal"),
        report.show_anchors(found, "goal"), report.show_shared_notes(found),
        report.show_cell(found, "goal"), report.show_overruled(found),
    ]  # fmt: skip

    whole = "".join(one.markup for one in shown)
    assert "evil" in whole
    assert "<script" not in whole
    assert "<img" not in whole
    assert "\u202e" not in whole
    assert len(found.overruled) == 1
    assert "Another one." not in words(shown[5])


def test_signs_name_the_one_seat_and_the_lengths(found: Disagreements) -> None:
    signs = judge_signs(found.run, found)

    assert "one seat only" in words(report.show_signs(signs))
    shown = words(report.show_length(signs))
    assert "goal n = 3 n = 3 n = 3 n = 3 3 labelled, 3 judged" in shown
    figure = plot_lengths(lengths_frame(found), signs)
    assert figure.layout.title.text == "goal: n = 3"
    assert [len(trace.x) for trace in figure.data] == [3, 3]
    with pytest.raises(ConfigError) as error:
        plot_lengths(lengths_frame(found).drop(columns="words"), signs)
    assert str(error.value) == (
        "plot_lengths: the frame has no column words; it wants case_id, repeat, dimension, words, "
        "judge, people"
    )


def test_a_judge_that_rewards_length_is_said_in_the_title(tmp_path: Path) -> None:
    answers = {f"c{at:02d}": f"Number {at:02d}. " + "word " * at for at in range(12)}
    replies = {
        case_id: reply(1 + at // 3, quote=f"Number {at:02d}.")
        for at, case_id in enumerate(answers)
    }  # fmt: skip
    run = served_run(tmp_path, replies, answers)
    labels = tuple(row("anna", case_id, 3 - at % 2) for at, case_id in enumerate(answers))
    found = disagreements(run, LabelSet(None, labels))

    figure = plot_lengths(lengths_frame(found), judge_signs(run, found))

    assert figure.layout.title.text.startswith(
        "goal: the judge is milder than people where more is said (rank correlation 0.90 ("
    )


def test_pairs_show_the_flips_and_the_lengths(tmp_path: Path) -> None:
    def made(name: str, longer: int) -> Run:
        transcripts: list[Transcript] = [
            talk(f"case-{at:03d}", answer="word " * (5 + longer * at)) for at in range(6)
        ]
        return make_judged_run(tmp_path, transcripts, name=name)

    old, new = made("old", 0), made("new", 1)
    prefer(
        new,
        {f"case-{at:03d}": "new" if at > 2 else "tie" for at in range(6)},
        flipped=["case-000", "case-001"],
    )

    alone, both = words(report.show_pairs(new)), words(report.show_pairs(new, old))

    assert "outcome against old judge-x 6 33 % (10 to 70 %)" in alone
    assert "name the run that it was compared with" in alone
    assert "outcome by judge-x 6 50 % (" in both
    assert "6 pairs, below 100: the thirds only describe" in both
    assert words(report.show_pairs(old)) == (
        "This run was compared with none in pairs: no order of showing to look at."
    )


def test_what_measuring_again_takes_is_shown(found: Disagreements) -> None:
    shown = words(report.show_recalibration(recalibration(found, "goal", replicates=20)))

    assert "what was looked at here counts as tuning: 3 labelled transcripts" in shown
    assert "two people agree on 50 % of 2 transcripts" in shown


# the notebook


def test_the_notebook_reads_the_recipes(root: Path, tmp_path: Path) -> None:
    started = time.perf_counter()

    page = execute_notebook(
        "8_disagreements",
        parameters={"run": tmp_path / "recipes"},
        out_html=tmp_path / "page.html",
    )

    text = page.read_text(encoding="utf-8")
    assert time.perf_counter() - started < 60
    assert "SmolLM2-135M-Instruct.Q4_1; gave 1 to every one of them" in text
    assert "75.0 % (72.2 to 77.6 %)" in text
    assert "grammar: the judge gives 1 where people give 5" in text
    assert "grammar: the judge gave 1 to all 52" in text
    assert 'class="plot"' in text
    assert "Traceback" not in text
    assert str(tmp_path) not in text


def test_the_notebook_reads_a_run_with_panels_and_evidence(root: Path, tmp_path: Path) -> None:
    run = open_judged(
        tmp_path / "judged", suite="data/suites/support.yaml", tape="data/tapes/support.jsonl"
    )
    verdicts = [one for one in run.verdict_rows() if one.dimension == "safety_and_scope"]
    quoted = [one for one in verdicts if any(item.quote for item in one.seats[0].evidence)]
    writer = LabelWriter(tmp_path / "labels", "anna")
    writer.append(
        LabelRow(run="judged", case_id=one.case_id, dimension="safety_and_scope", rater="anna",
                 at=AT, score=2 if one in quoted else 4, note="Money was promised")
        for one in verdicts
    )  # fmt: skip
    writer.close()

    page = execute_notebook(
        "8_disagreements",
        parameters={
            "run": run.path, "labels": tmp_path / "labels", "dimension": "safety_and_scope",
        },
        out_html=tmp_path / "page.html",
    )  # fmt: skip

    text = page.read_text(encoding="utf-8")
    assert quoted
    assert "These judges are SCRIPTED" in text
    assert "<mark>" in text
    assert "safety_and_scope: 2 by a person, 4 by the judge" in text
    assert f"looked at here counts as tuning: {len(verdicts)} labelled transcripts" in text
    assert "Traceback" not in text


# opening a judged run


def test_a_judged_run_is_made_once_and_opened_after(tmp_path: Path) -> None:
    made = open_judged(
        tmp_path / "recipes", suite="data/suites/recipes.yaml", tape="data/tapes/recipes.jsonl"
    )
    rows = sum(1 for _ in made.verdict_rows())

    again = open_judged(tmp_path / "recipes")

    assert sum(1 for _ in again.verdict_rows()) == rows == 104
    assert again.path == made.path


def test_a_run_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as missing:
        open_judged(tmp_path / "none")
    with pytest.raises(ConfigError) as rubric_less:
        open_judged(
            tmp_path / "triage", suite="data/suites/triage.yaml", tape="data/tapes/recipes.jsonl"
        )

    assert "is not a run folder" in str(missing.value)
    assert "names no rubric, so nothing can be judged; add rubric:" in str(rubric_less.value)


# the page


def test_the_page_on_disagreements_prints_what_comes_out(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The run of the page is made below the working directory; the shipped data are found anyway.
    monkeypatch.chdir(tmp_path)

    found = doctest.testfile(
        str(root / "docs" / "disagreements.md"),
        module_relative=False,
        optionflags=doctest.NORMALIZE_WHITESPACE,
    )

    assert found.attempted > 15
    assert found.failed == 0
