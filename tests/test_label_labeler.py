"""The labelling screen without a browser: what it sends, what it hands on, what it stands for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from builders import make_run
from verdicts import judge

from agenteval_kit.label import Session, sample_run
from agenteval_kit.label.labeler import Labeler
from agenteval_kit.records import Dimension, Rubric, Turn
from agenteval_kit.records.transcripts import ToolCall
from agenteval_kit.runs import Run

NAMES = [f"case-{at}" for at in range(4)]
RUBRIC = Rubric(
    name="made",
    dimensions=[
        Dimension(name="tone", definition="How it is said.", anchors={1: "Blames.", 2: "Asks."}),
        Dimension(name="outcome", definition="What came of it.", anchors={0: "No.", 1: "Done."}),
    ],
)
SECRET = "the judge's own sentence"


def talk(*said: str) -> tuple[Turn, ...]:
    return tuple(
        Turn(role="assistant" if at % 2 else "user", text=text) for at, text in enumerate(said)
    )


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Four judged cases, of which one has all that can make trouble in a browser."""
    call = ToolCall(
        id="c", name="find", arguments={"id": 12345678901234567890}, result="y" * 21_000
    )
    hostile = Turn(role="assistant", text="\x1b[31m red \u202e txt.exe", calls=(call,))
    turns = {(name, 0): talk("Hello", f"This is {name}.") for name in NAMES}
    turns["case-0", 0] = (*talk("Hello"), hostile)
    made = make_run(
        tmp_path, {name: {"conversation": name != "case-3"} for name in NAMES}, turns=turns
    )
    said = {name: [1 if name == "case-1" else 4] for name in NAMES}
    judge(made, said, digest="judge-digest", model="judge-model", justification=SECRET)
    return made


def screen(run: Run, folder: Path, **options: object) -> Labeler:
    return Labeler(Session(run, RUBRIC, folder, "rater-a", **options))  # type: ignore[arg-type]


def press(labeler: Labeler, **message: object) -> None:
    """What the browser sends for a key, by the way that it takes."""
    labeler._handle_custom_msg({"seen": labeler.item["position"], **message, "ack": [1, 7]}, [])


def open_case(labeler: Labeler, case_id: str) -> None:
    for position in range(labeler.session.total):
        press(labeler, op="go", position=position)
        if labeler.item["item"]["case_id"] == case_id:
            return
    raise AssertionError(f"{case_id} is not there")


def test_nothing_of_a_judge_reaches_the_browser(run: Run, tmp_path: Path) -> None:
    drawn = sample_run(run, 4, name="s", dimension=next(iter(run.verdict_rows())).dimension)
    labeler = screen(run, tmp_path / "labels", sample=drawn)

    sent = json.dumps(labeler.get_state(["item", "state"]))

    assert drawn.design == "by_judge"
    for word in (SECRET, "judge-digest", "judge-model", "stratum", "inclusion", "verdict",
                 drawn.by, *(one.name for one in drawn.strata)):  # fmt: skip
        assert word not in sent
    # All that the widget has beside its own script and style.
    assert {name for name in labeler.get_state() if not name.startswith("_")} == {
        "item", "state", "layout", "tabbable", "tooltip",
    }  # fmt: skip


def test_nothing_of_another_rater_reaches_the_browser(run: Run, tmp_path: Path) -> None:
    with Session(run, RUBRIC, tmp_path, "somebody-else") as other:
        other.note("a note of somebody else")
        other.label(2)

    sent = json.dumps(screen(run, tmp_path).get_state(["item", "state"]))

    assert "somebody" not in sent


def test_a_key_is_on_the_disk_before_the_screen_moves(run: Run, tmp_path: Path) -> None:
    labeler = screen(run, tmp_path)
    file = tmp_path / "rater-a.jsonl"
    seen: list[int] = []
    labeler.observe(lambda _: seen.append(len(file.read_text().splitlines())), "state")

    press(labeler, op="label", score=2)
    press(labeler, op="label", score=0)

    assert seen == [1, 2]
    assert labeler.state["ack"] == [1, 7]
    assert labeler.item["position"] == 1
    assert [json.loads(line)["score"] for line in file.read_text().splitlines()] == [2, 0]


def test_a_key_that_stays_on_a_transcript_does_not_send_it_again(run: Run, tmp_path: Path) -> None:
    labeler = screen(run, tmp_path)
    sent: list[str] = []
    labeler.observe(lambda change: sent.append(change["name"]), ["item", "state"])

    press(labeler, op="label", score=2)
    press(labeler, op="label", score=0)

    assert sent == ["state", "item", "state"]


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ({"op": "label", "score": 9}, "no level 9"),
        ({"op": "erase"}, "wants one of"),
        ({"op": "label", "score": 2, "seen": 3}, "nothing was saved"),
        ({}, "wants one of"),
    ],
)
def test_an_error_is_shown_on_the_screen(
    run: Run, tmp_path: Path, message: dict[str, object], told: str
) -> None:
    labeler = screen(run, tmp_path)

    press(labeler, **message)

    assert told in labeler.state["error"]
    assert labeler.state["ack"] == [1, 7]
    assert labeler.state["progress"]["labels"] == 0


def test_a_transcript_that_cannot_be_read_any_more_is_told_and_not_swallowed(
    run: Run, tmp_path: Path
) -> None:
    labeler = screen(run, tmp_path)
    (run.path / "transcripts.jsonl").write_text("")

    press(labeler, op="next")

    assert "changed meanwhile" in labeler.state["error"]
    assert labeler.state["ack"] == [1, 7]


def test_what_acts_or_hides_is_sent_as_a_sign(run: Run, tmp_path: Path) -> None:
    labeler = screen(run, tmp_path)

    open_case(labeler, "case-0")

    text = labeler.item["turns"][1]["text"]
    assert text == "␛[31m red ⟦U+202E⟧ txt.exe"
    # A number of twenty digits would come out otherwise in a browser, so it goes as text.
    assert "12345678901234567890" in labeler.item["turns"][1]["calls"][0]["arguments"]


def test_a_long_result_is_cut_and_sent_whole_when_asked_for(run: Run, tmp_path: Path) -> None:
    labeler = screen(run, tmp_path)
    open_case(labeler, "case-0")
    (cut,) = labeler.item["cut"]
    sent: list[object] = []
    labeler.send = lambda content, buffers=None: sent.append(content)  # type: ignore[method-assign]

    press(labeler, op="whole", place=cut["place"])

    assert cut["left_out"] == 1_000
    assert sent == [{"place": cut["place"], "text": "y" * 21_000}]


def test_where_nobody_can_press_a_key_it_says_how_far_the_rater_is(
    run: Run, tmp_path: Path
) -> None:
    labeler = screen(run, tmp_path)
    press(labeler, op="label", score=2)

    bundle = labeler._repr_mimebundle_()
    assert bundle is not None
    data = bundle[0]

    assert "application/vnd.jupyter.widget-view+json" in data
    assert "rater-a: 0 of 4 transcripts done, 0 skipped, 1 label saved" in data["text/html"]
    assert "Asked for: tone, outcome." in data["text/html"]


OTHER_WINDOW = """
import sys
from pathlib import Path
from agenteval_kit.errors import ConfigError
from agenteval_kit.labels import LabelWriter
try:
    held = LabelWriter(Path(sys.argv[1]), "rater-a")
except ConfigError as error:
    sys.exit(str(error))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_page_that_is_left_gives_the_name_free_though_its_kernel_lives_on(
    run: Run, tmp_path: Path
) -> None:
    labeler = screen(run, tmp_path)
    other = [sys.executable, "-c", OTHER_WINDOW, str(tmp_path)]

    refused = subprocess.run(other, capture_output=True, text=True, input="", check=False)
    press(labeler, op="leave")
    with subprocess.Popen(other, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        press(labeler, op="label", score=2)
        told = labeler.state["error"]
        holder.communicate(b"")
    press(labeler, op="label", score=2)

    assert 'somebody is labelling as "rater-a" already' in refused.stderr
    assert 'somebody is labelling as "rater-a" already' in told
    # Free again, the first window goes on.
    assert labeler.state["error"] == ""
    assert labeler.state["progress"]["labels"] == 1


def test_script_and_style_are_shipped_and_ask_for_nothing_from_elsewhere() -> None:
    folder = Path(__file__).resolve().parent.parent / "agenteval_kit" / "label"
    script = (folder / "labeler.js").read_text(encoding="utf-8")
    style = (folder / "labeler.css").read_text(encoding="utf-8")

    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "http",
                "import "):  # fmt: skip
        assert way not in script
    assert "url(" not in style
    assert "@import" not in style
