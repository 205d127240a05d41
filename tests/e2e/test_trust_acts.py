"""Trust acts: run, judge, label, calibrate, ship; and one letter of an anchor brings people back.

The judge is a script behind the real client; the labels are lines that two raters' sessions wrote.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from agenteval_kit.cli import main
from agenteval_kit.label import Session, keep_sample
from agenteval_kit.rubrics import load_rubric
from agenteval_kit.runs import Run
from agenteval_kit.testing import Asked, ScriptedServer, say

N = 120

SUITE = """\
name: tone
version: "1"
cases: cases.jsonl
agent: {model: rules, prompt: v1, call: "agent:answer"}
rubric: rubric.yaml
judge: {models: [judge-2026]}
bar: bar.yaml
labels: labels
calibration: calibration.json
"""
AGENT = """\
def answer(messages):
    return "It is level " + messages[-1]["content"].split()[-1] + "."
"""
RUBRIC = """\
name: tone
dimensions:
  - name: tone
    layer: conversation
    definition: How the answer sounds.
    anchors:
      1: The answer holds an insult.
      2: The answer orders the customer about.
      3: The answer names what happens next.
      4: The answer names what happens next and when.
    evidence: {kind: turns, required_at: all}
"""
BAR = "mean: {tone: 2}\nnever: {tone: 1}\n"


def level(case_id: str) -> int:
    """What is true of a case: 2, 3 and 4 in turn."""
    return 2 + int(case_id.removeprefix("c")) % 3


def answered(asked: Asked) -> object:
    """The judge reads the level off the answer."""
    text = json.dumps(asked.body["messages"])
    (said,) = set(re.findall(r"It is level (\d)\.", text))
    verdict = {"evidence": [{"turn": 1}], "justification": "So.", "score": int(said)}
    return say(json.dumps(verdict))


def label_all(run: Run, rater: str, *, slips: int) -> None:
    """A rater reads the whole sample and gives what is true, but for a slip in so many."""
    folder = Path("labels")
    sample = keep_sample(folder, run, name="fresh", n=N, purpose="calibration")
    session = Session(run, load_rubric("rubric.yaml"), folder, rater, sample=sample)
    while not session.finished:
        case_id = session.view()["item"]["case_id"]
        number = int(case_id.removeprefix("c"))
        true = level(case_id)
        slipped = (number + len(rater)) % slips == 0
        session.label((3 if true != 3 else 4) if slipped else true)
    session.close()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    cases = [
        json.dumps({"id": f"c{n}", "input": f"Say level {level(f'c{n}')}", "rubric": "It is said."})
        for n in range(N)
    ]
    files = {
        "suite.yaml": SUITE,
        "agent.py": AGENT,
        "rubric.yaml": RUBRIC,
        "bar.yaml": BAR,
        "cases.jsonl": "\n".join(cases) + "\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_one_letter_of_an_anchor_turns_ship_into_review_and_back(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def gate(*more: str) -> tuple[int, str]:
        capsys.readouterr()
        code = main(["gate", "run", *more])
        return code, capsys.readouterr().out

    def edit(old: str, new: str) -> None:
        path = project / "rubric.yaml"
        path.write_text(path.read_text().replace(old, new), encoding="utf-8")

    with ScriptedServer(answered) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert main(["run", "suite.yaml", "--out", "run"]) == 0
        assert main(["judge", "run"]) == 0
        asked = len(server.asked)

        code, said = gate()
        assert (code, said.splitlines()[0]) == (1, "REVIEW")
        assert "judge never calibrated (calibration.json is not there yet)" in said
        assert main(["calibrate", "run"]) == 2
        assert "labels: nobody has labelled yet; " in capsys.readouterr().err

        run = Run.open(Path("run"))
        label_all(run, "ana", slips=20)
        label_all(run, "benno", slips=25)
        assert main(["calibrate", "run"]) == 0
        told = capsys.readouterr().out
        lines = told.splitlines()
        assert lines[0].startswith("tone: ")
        assert "judge" not in lines[0].split(";")[0]
        assert f"on {N} held-out transcripts" in told
        assert any(line.strip().startswith("trusted: ") for line in lines)

        code, said = gate()
        assert (code, said.splitlines()[0]) == (0, "SHIP")

        # Edited, and not judged again: the verdicts are of another wording.
        edit("and when.", "and when!")
        code, said = gate()
        assert (code, said.splitlines()[0]) == (1, "REVIEW")
        assert "the wording of tone changed since it was judged; judge again" in said
        edit("and when!", "and when.")
        assert gate()[0] == 0

        # Edited and judged again: another judge, whom nobody calibrated.
        edit("and when.", "and when!")
        assert main(["judge", "run"]) == 0
        assert len(server.asked) == 2 * asked
        code, said = gate()
        assert (code, said.splitlines()[0]) == (1, "REVIEW")
        assert "judge stale (the wording of tone changed since it was calibrated" in said

        # Restored: the verdicts are there, nothing is asked for, and so is the calibration.
        edit("and when!", "and when.")
        assert "changed since it was judged; judge again" in gate()[1]
        assert main(["judge", "run"]) == 0
        assert len(server.asked) == 2 * asked
        assert gate()[0] == 0

    # Another rule of trust than the one that was calibrated under.
    (project / "strict.yaml").write_text(f"{BAR}trust: {{at_least: 0.6}}\n", encoding="utf-8")
    code, said = gate("--bar", "strict.yaml")
    assert (code, said.splitlines()[0]) == (1, "REVIEW")
    assert "judge provisional (calibrated under another rule; " in said
    assert main(["calibrate", "run", "--bar", "strict.yaml", "--out", "strict.json"]) == 0
    assert gate("--bar", "strict.yaml", "--calibration", "strict.json")[0] == 0

    # A person says that one of them is at the level that is never allowed.
    reason = ["--reason", "insults the customer"]
    assert main(["review", "run", "c1", "tone", "--rater", "cleo", "--score", "1", *reason]) == 0
    code, said = gate()
    assert (code, said.splitlines()[0]) == (1, "REVIEW")
    assert "people give 1 to 1 transcript (cleo to 1)" in said

    # Named by hand, a missing file is a mistake; a lost one that the suite names is not.
    assert main(["gate", "run", "--calibration", "none.json"]) == 2
    assert "none.json: there is no such calibration" in capsys.readouterr().err
    (project / "calibration.json").unlink()
    assert gate()[0] == 1


@pytest.mark.slow
def test_the_report_shows_people_before_the_judge(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(answered) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert main(["run", "suite.yaml", "--out", "run"]) == 0
        assert main(["judge", "run"]) == 0
        run = Run.open(Path("run"))
        label_all(run, "ana", slips=20)
        label_all(run, "benno", slips=25)
        assert main(["calibrate", "run", "--json"]) == 0
        (found,) = json.loads(capsys.readouterr().out.splitlines()[-1])["dimensions"]
        assert main(["judge", "run", "--json"]) == 0
        (judged,) = json.loads(capsys.readouterr().out.splitlines()[-1])["dimensions"]

    assert main(["report", "run", "--out", "page.html"]) == 0
    page = (project / "page.html").read_text(encoding="utf-8")

    assert found["trust"] == judged["trust"] == "trusted"
    assert found["ceiling"]["exact"]["value"] < found["agreement"]["exact"]["value"]
    text = re.sub(r"<[^>]+>", " ", page)
    assert re.search(r"120 of \d+ transcripts labelled\s+corrected 3\.\d+ \(", text)
    assert text.index("people with each other") < text.index("judge with people")
    assert "never calibrated" not in text
