"""label, calibrate and review from the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import nbformat
import pytest
from builders import make_run
from label_runs import talk_run
from people import label, labelled
from verdicts import judge, spread

from agenteval_kit.cli import main
from agenteval_kit.demo import shipped_data
from agenteval_kit.label import keep_sample
from agenteval_kit.labels import read_labels
from agenteval_kit.records.calibrations import Calibration
from agenteval_kit.render.opened import copy_with_parameters
from agenteval_kit.render.parameters import read_parameters
from agenteval_kit.runs import Run

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    cases = spread({4: 20, 3: 20})
    made = make_run(tmp_path, {case_id: {} for case_id in cases}, judge_only=cases)
    return judge(made, cases)


def give(run: Run, *raters: str) -> None:
    """Labels of every transcript, as the judge scored it."""
    rows = [
        label(run, case_id, score, rater=rater, sample="all", design="uniform", inclusion=1.0)
        for rater in raters
        for case_id, score in spread({4: 20, 3: 20}).items()
        if isinstance(score, int)
    ]
    labelled(Path("labels"), rows)


# calibrate


def test_calibrate_says_the_ceiling_first_and_writes_the_file(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    give(run, "ana", "ben")

    code = main(["calibrate", "run", "--labels", "labels", "--out", "found.json"])

    told = capsys.readouterr().out
    assert code == 0
    people, judged = told.index("people"), told.index("judge judge-x with people")
    assert people < judged < told.index("provisional: ")
    assert told.endswith("written: found.json\n")
    found = Calibration.model_validate_json(Path("found.json").read_text())
    assert [(one.dimension, one.state) for one in found.dimensions] == [("tone", "provisional")]


def test_calibrate_again_on_the_same_labels_is_the_same_look(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    give(run, "ana", "ben")
    Path("bar.yaml").write_text("mean: {tone: 3}\ntrust: {min_labels: 10}\n", encoding="utf-8")

    command = ["calibrate", "run", "--labels", "labels", "--bar", "bar.yaml", "--out", "found.json"]
    codes = [main([*command, "--json"]) for _ in range(2)]

    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert codes == [0, 0]
    assert first["dimensions"][0]["looks"] == second["dimensions"][0]["looks"] == 1
    assert first["dimensions"][0]["rule"]["min_labels"] == 10
    assert first["dimensions"][0]["raters"] == ["ana", "ben"]
    assert first["stamps"] == run.info.stamps() | {"selection": first["stamps"]["selection"]}
    assert len(json.loads(Path("found.json").read_text())["dimensions"]) == 1


def test_a_misspelt_label_is_told_with_its_line_and_stops_no_other_dimension(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    give(run, "ana", "ben")
    wrong = label(run, "case-000", 4, rater="ben", dimension="tonne", levels=())
    labelled(Path("labels"), [wrong])

    code = main(["calibrate", "run", "--labels", "labels", "--out", "found.json"])

    told = capsys.readouterr().out
    assert code == 0
    assert (
        '"tonne" is in no rubric here and was not judged, so its scale is not known: '
        'ben.jsonl:41 gives case "case-000" a 4, and nobody gives another level; its labels are '
        'left out. Did you mean "tone"?'
    ) in told
    found = Calibration.model_validate_json(Path("found.json").read_text())
    assert [(one.dimension, one.raters) for one in found.dimensions] == [("tone", ("ana", "ben"))]


def test_no_name_that_somebody_wrote_steers_the_terminal(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    give(run, "ana", "ben")
    labelled(Path("labels"), [label(run, "case-000", 4, dimension="\x1b[31m\u202etone", levels=())])

    main(["calibrate", "run", "--labels", "labels", "--out", "found.json"])
    main(["label", "run", "--import", "\x1b[31m.csv", "--labels", "labels"])

    told = "".join(capsys.readouterr())
    assert "\\x1b[31m\\u202etone" in told
    assert "\x1b" not in told and "\u202e" not in told


def test_a_rubric_without_a_scale_is_refused_by_calibrate(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    give(run, "ana")
    Path("pairs.yaml").write_text(
        'name: pairs\nversion: "1"\ndimensions:\n  - {name: better, kind: pairwise, layer: '
        "outcome, definition: Which helps more.}\n",
        encoding="utf-8",
    )

    code = main(["calibrate", "run", "--labels", "labels", "--rubric", "pairs.yaml"])

    assert (code, capsys.readouterr().err) == (
        2,
        "pairs.yaml: has pairwise criteria only, and labels are levels; name a rubric with "
        "anchors\n",
    )


def test_a_folder_among_the_labels_is_named(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    give(run, "ana")
    Path("labels/old.jsonl").mkdir()

    code = main(["calibrate", "run", "--labels", "labels", "--out", "found.json"])

    assert (code, capsys.readouterr().err) == (
        2,
        "labels/old.jsonl: is a folder; a file of labels was wanted: rename it\n",
    )


@pytest.mark.parametrize(
    "command",
    [
        ["calibrate", "run", "--labels", "labels", "--out", "taken/found.json"],
        ["review", "run", "case-000", "tone", "--labels", "taken/labels", "--rater", "ana",
         "--score", "4", "--reason", "so it is"],
        ["label", "run", "--import", "said.csv", "--labels", "taken/labels", "--rubric",
         "rubric.yaml"],
    ],
)  # fmt: skip
def test_a_place_that_cannot_be_written_is_exit_code_three(
    run: Run, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    give(run, "ana")
    Path("taken").write_text("a file where a folder was wanted", encoding="utf-8")
    Path("said.csv").write_text("case_id,dimension,rater,score\ncase-000,tone,ana,4\n", "utf-8")
    Path("rubric.yaml").write_text(
        'name: made\nversion: "1"\ndimensions:\n  - name: tone\n    layer: conversation\n'
        "    definition: How it sounds.\n    anchors:\n"
        + "".join(f"      {level}: It sounds like {level}.\n" for level in (4, 3, 2, 1)),
        encoding="utf-8",
    )

    code = main(command)

    assert (code, "cannot be written" in capsys.readouterr().err) == (3, True)


def test_labels_are_not_brought_in_without_a_rubric_to_hold_them_against(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("said.csv").write_text("case_id,dimension,rater,score\ncase-000,tome,ana,9\n", "utf-8")

    code = main(["label", "run", "--import", "said.csv", "--labels", "labels"])

    assert (code, capsys.readouterr().err) == (
        2,
        "run: its suite (not noted) is not here or names no rubric, so that no dimension and no "
        "level could be checked; name the rubric with --rubric\n",
    )
    assert not Path("labels").exists()


def test_calibrate_without_labels_says_what_to_do(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", "run"]) == 2
    assert capsys.readouterr().err == (
        f"{Path('data/labels/made')}: nobody has labelled yet; `agenteval label RUN --rater NAME` "
        "first, or name the folder with --labels\n"
    )


def test_calibrate_knows_the_judges_of_the_run(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    give(run, "ana")
    judge(run, spread({4: 40}), digest="judge-2")

    command = ["calibrate", "run", "--labels", "labels", "--out", "found.json"]
    codes = [main([*command, "--judge", name]) for name in ("judge-1", "judge-9")]

    assert codes == [0, 2]
    assert capsys.readouterr().err == (
        'run: no judge judge-9 scored this run. Did you mean "judge-2"?\n'
    )
    found = Calibration.model_validate_json(Path("found.json").read_text())
    assert [one.judge_digest for one in found.dimensions] == ["judge-1"]


def test_what_calibrate_wrote_is_what_the_gate_reads(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    give(run, "ana", "ben")
    Path("bar.yaml").write_text(
        "mean: {tone: 3}\ntrust: {min_labels: 10, on: estimate, gap_margin: 1}\n", encoding="utf-8"
    )
    here = ["--labels", "labels", "--bar", "bar.yaml"]

    before = main(["gate", "run", *here])
    main(["calibrate", "run", *here, "--out", "found.json"])
    after = main(["gate", "run", *here, "--calibration", "found.json"])

    assert (before, after) == (1, 0)


# review


def test_a_review_is_a_line_with_author_and_reason(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    case = ["review", "run", "case-000", "tone", "--rater", "ana", "--labels", "labels"]

    codes = [
        main([*case, "--score", "2", "--reason", "It orders about."]),
        main([*case, "--score", "4", "--reason", "No: it does not."]),
    ]

    rows = read_labels(Path("labels")).rows
    assert codes == [0, 0]
    assert capsys.readouterr().out.splitlines() == [
        "ana overrules case-000 on tone: 4 by the judge",
        "ana confirms case-000 on tone: 4 by the judge",
    ]
    assert [(row.kind, row.score, row.note) for row in rows] == [
        ("review", 2, "It orders about."),
        ("review", 4, "No: it does not."),
    ]


def test_a_review_of_what_nobody_judged_is_refused(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(
        ["review", "run", "case-000", "tune", "--rater", "ana", "--score", "2", "--reason", "x"]
    )

    assert code == 2
    assert capsys.readouterr().err == (
        'run: case "case-000", repeat 0 has no verdict on "tune"; judged dimensions: tone\n'
    )


# label


def test_a_copy_of_a_notebook_holds_the_parameters_and_their_comments(tmp_path: Path) -> None:
    values = {"run": Path("data/runs/x"), "rubric": None, "n": 12, "dimensions": ["a", "b'c"]}

    copy = copy_with_parameters("5_label", values, out=tmp_path / "reports" / "copy.ipynb")

    found = read_parameters(copy)
    assert {name: found[name] for name in values} == {**values, "run": "data/runs/x"}
    notebook = nbformat.read(copy, as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    source = next(c.source for c in notebook.cells if "parameters" in c.metadata.get("tags", []))
    shipped = nbformat.read(ROOT / "notebooks" / "5_label.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    before = next(c.source for c in shipped.cells if "parameters" in c.metadata.get("tags", []))
    assert [line.partition("#")[2] for line in source.splitlines()] == [
        line.partition("#")[2] for line in before.splitlines()
    ]


@pytest.mark.parametrize(
    ("missing", "more", "told"),
    [
        ("jupyterlab", [], 'jupyterlab is not installed; `pip install "agenteval-kit[label]"` '
         "(JupyterLab: [lab]), or give --voila"),
        ("voila", ["--voila"], 'voila is not installed; `pip install "agenteval-kit[label]"`, or '
         "leave out --voila"),
        ("anywidget", [], 'anywidget is not installed; `pip install "agenteval-kit[label]"`'),
    ],
)  # fmt: skip
def test_what_is_not_installed_is_said_before_anything_opens(
    run: Run,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    missing: str,
    more: list[str],
    told: str,
) -> None:
    # None in sys.modules is how Python itself says that a module cannot be imported.
    monkeypatch.setitem(sys.modules, missing, None)  # type: ignore[arg-type]

    code = main(["label", "run", "--rater", "ana", *more])

    assert code == 2
    assert capsys.readouterr().err == f"{told}\n"


def test_a_rater_whose_name_names_no_file_is_refused(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["label", "run", "--rater", "../ana"]) == 2
    assert 'rater "../ana": a name starts with' in capsys.readouterr().err
    assert not Path("data").exists()


def test_a_sample_that_stands_is_gone_on_with_for_what_it_was_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = talk_run(tmp_path, 8)
    keep_sample(Path("labels"), run, name="calib", n=5, purpose="calibration")
    opened: list[Path] = []
    monkeypatch.setattr(
        "agenteval_kit.render.opened.serve_notebook", lambda path, **_: opened.append(path)
    )

    code = main(["label", str(run.path), "--rater", "ana", "--sample", "calib",
                 "--labels", "labels"])  # fmt: skip

    assert code == 0
    assert f"5 transcripts of {run.path} in the sample calib" in capsys.readouterr().out
    assert 'purpose = "calibration"' in opened[0].read_text().replace("'", '"').replace('\\"', '"')


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_a_label_command_that_is_ended_leaves_no_server_behind(
    tmp_path: Path, how: signal.Signals
) -> None:
    data = shipped_data()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    agenteval = [sys.executable, "-m", "agenteval_kit"]
    made = [*agenteval, "run", str(data / "suites" / "support.yaml"), "--out", "run"]
    subprocess.run(made, cwd=tmp_path, env=environment, check=True, stdout=subprocess.DEVNULL)

    with subprocess.Popen(
        [*agenteval, "label", "run", "--rater", "ana", "--n", "5", "--no-open", "--voila",
         "--rubric", str(data / "rubrics" / "support.yaml")],
        cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True,
    ) as command:  # fmt: skip
        assert command.stdout is not None
        _, address, _ = (command.stdout.readline().strip() for _ in range(3))
        command.send_signal(how)
        code = command.wait(timeout=60)

    assert code == 128 + how
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address, timeout=5)


@pytest.mark.parametrize("more", [[], ["--voila"]])
def test_label_opens_a_server_and_ends_with_it(tmp_path: Path, more: list[str]) -> None:
    data = shipped_data()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    agenteval = [sys.executable, "-m", "agenteval_kit"]
    made = [*agenteval, "run", str(data / "suites" / "support.yaml"), "--out", "run"]
    subprocess.run(made, cwd=tmp_path, env=environment, check=True, stdout=subprocess.DEVNULL)

    with subprocess.Popen(
        [*agenteval, "label", "run", "--rater", "ana", "--n", "5", "--no-open",
         "--rubric", str(data / "rubrics" / "support.yaml"), *more],
        cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True,
    ) as server:  # fmt: skip
        try:
            assert server.stdout is not None
            first, address, _ = (server.stdout.readline().strip() for _ in range(3))
            with urllib.request.urlopen(address, timeout=120) as answer:
                page = answer.read().decode()
        finally:
            server.send_signal(signal.SIGINT)
            code = server.wait(timeout=60)

    assert first == (
        "5 transcripts of run in the sample first-look; 0 lines in data/labels/support"
    )
    assert address.startswith("http://127.0.0.1:")
    # A rater's page is the screen alone.
    assert ("application/vnd.jupyter.widget-view+json" in page) == bool(more)
    assert "What do people say?" not in page
    assert "There was an error" not in page
    assert code == 0
