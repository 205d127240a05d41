"""A release is a run that was marked as one; baselines are found by name, by id, by path."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from builders import make_run

from agenteval_kit.cli import main
from agenteval_kit.errors import ConfigError
from agenteval_kit.release import read_release
from agenteval_kit.runs import (
    Run,
    Selection,
    choose_baseline,
    find_baseline,
    publish_run,
    published,
    read_published,
    release_of,
)
from agenteval_kit.suite import load_suite

BAR = "no_worse: {outcome: {margin: 0.5, unit: pass_share}}\n"
SUITE = """\
name: leave
version: "1"
cases: cases.jsonl
agent: {call: "agent:answer", model: m, prompt: p}
clock: "2026-03-02T09:00:00+00:00"
bar: bar.yaml
baseline: latest
"""


def passing(n: int = 30) -> dict:
    return {f"c{number}": {"outcome": True} for number in range(n)}


def publish(run: Run, **more: str) -> None:
    publish_run(run, **{"by": "Kim", "verdict": "SHIP", "bar_digest": "b" * 12, **more})


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A suite whose baseline is the latest release, and its agent."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "bar.yaml").write_text(BAR)
    (tmp_path / "agent.py").write_text(
        "def answer(messages, *, now, case):\n    return 'Leave is 30 days.'\n"
    )
    rows = [{"id": f"c{n}", "input": "?", "must_include": ["30"]} for n in range(30)]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def test_the_first_release_has_no_baseline_and_the_next_one_has(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two"):
        assert main(["check", "suite.yaml", "--out", f"runs/{name}"]) == 0

    first = main(["publish", "runs/one", "--by", "Kim", "--name", "2026.11"])
    told = capsys.readouterr()
    gated = main(["gate", "runs/two"])
    shown = capsys.readouterr().out
    second = main(["publish", "runs/two", "--by", "Kim", "--name", "2026.12"])

    assert (first, gated, second) == (0, 0, 0)
    assert "no other run of leave is published yet" in told.err
    assert "the gate says REVIEW" in told.out  # the claim had nothing to be held against
    assert "a drop of 50 points is ruled out" in shown
    listed = [json.loads(line) for line in Path("runs/published.jsonl").read_text().splitlines()]
    assert [(row["run"], row["name"], row["verdict"], row.get("baseline")) for row in listed] == [
        ("one", "2026.11", "REVIEW", None),
        ("two", "2026.12", "SHIP", "one"),
    ]


@pytest.mark.parametrize("named", ["latest", "latest published", "2026.11", "one", "runs/one"])
def test_a_baseline_is_found_by_whatever_names_it(project: Path, named: str) -> None:
    for name in ("one", "two"):
        main(["check", "suite.yaml", "--out", f"runs/{name}"])
    main(["publish", "runs/one", "--by", "Kim", "--name", "2026.11"])

    codes = [
        main(["gate", "runs/two", "--baseline", named]),
        main(["compare", named, "runs/two"]),
    ]

    assert codes == [0, 0]
    assert read_release("runs/two", baseline=named).baseline.id == "one"


def test_who_names_a_release_that_is_none_is_told_so(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["check", "suite.yaml", "--out", "runs/one"])
    main(["publish", "runs/one", "--by", "Kim", "--name", "2026.11"])
    capsys.readouterr()

    codes = [
        main(["gate", "runs/one", "--baseline", "2026.1"]),
        main(["gate", "runs/one", "--baseline", "latest"]),
    ]

    assert codes == [2, 2]
    told = capsys.readouterr().err
    assert 'baseline "2026.1": is no run folder, no published name of suite leave and no' in told
    assert 'Did you mean "2026.11"?' in told
    assert "no other run of suite leave is published here" in told


def test_the_latest_release_is_of_the_same_suite_and_another_run(tmp_path: Path) -> None:
    runs = [make_run(tmp_path, passing(), name=name) for name in ("a", "b")]
    other = make_run(tmp_path, passing(), name="c", suite="other")
    for run in (*runs, other):
        publish(run)

    found = [find_baseline("latest", run).id for run in runs]

    assert found == ["b", "a"]
    assert choose_baseline(other, written="latest") is None


def test_a_baseline_published_on_hold_is_told_wherever_it_is_read(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("good", "bad", "new"):
        main(["check", "suite.yaml", "--out", f"runs/{name}"])
    root = Path("runs")
    publish(Run.open(root / "good"), name="2026.10")
    publish(Run.open(root / "bad"), name="2026.11", verdict="HOLD")
    doubt = (
        "the baseline is the release 2026.11, which Kim published on HOLD: not to be worse than it "
        "may not be enough"
    )
    capsys.readouterr()

    main(["gate", "runs/new", "--markdown", "said.md"])
    text = capsys.readouterr().out
    main(["gate", "runs/new", "--json"])
    told = json.loads(capsys.readouterr().out)
    main(["compare", "latest", "runs/new"])
    compared = capsys.readouterr().err
    main(["report", "runs/new", "--out", "page.html"])
    page = Path("page.html").read_text(encoding="utf-8")

    assert "  baseline 2026.11, published on HOLD  run bad\n" in text
    assert f"  note: {doubt}\n" in text
    assert (told["baseline"]["release"], told["baseline"]["verdict"]) == ("2026.11", "HOLD")
    assert told["notes"][0] == doubt
    said = Path("said.md").read_text(encoding="utf-8")
    assert "published as 2026.11 on HOLD" in said and doubt in said
    assert f"note: {doubt}\n" in compared
    assert doubt in page and "published as 2026.11 on HOLD" in page


def test_an_earlier_release_published_again_is_the_baseline_again(tmp_path: Path) -> None:
    good, bad, new = (make_run(tmp_path, passing(), name=name) for name in ("a", "b", "c"))
    publish(good, name="1")
    publish(bad, name="2", verdict="HOLD")
    publish(good, name="1-again")

    found = find_baseline("latest", new)
    release = release_of(found)

    assert found.id == "a"
    assert release is not None and (release.name, release.doubt) == ("1-again", "")


def test_of_two_who_publish_at_once_under_one_name_one_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [make_run(tmp_path, passing(), name=name) for name in ("a", "b")]
    real = published.Appender

    def slow(*given: Any, **more: Any) -> Any:
        time.sleep(0.3)  # enough for the other to have read which names are taken
        return real(*given, **more)

    monkeypatch.setattr(published, "Appender", slow)

    def one(run: Run) -> str:
        try:
            publish(run, name="2026.11")
        except ConfigError:
            return "told"
        return "published"

    with ThreadPoolExecutor() as people:
        assert sorted(people.map(one, runs)) == ["published", "told"]

    assert len(read_published(tmp_path)) == 1


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"missing": [("c0", 0)]}, "is incomplete: 1 of 30 transcripts missing"),
        ({"selection": Selection(tag="x")}, "covers a part of its suite"),
    ],
)
def test_half_a_run_is_no_release(tmp_path: Path, more: dict, why: str) -> None:
    run = make_run(tmp_path, passing(), **more)

    with pytest.raises(ConfigError, match=why):
        publish(run)

    assert read_published(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("2026.11", '"2026.11" is published already: a, by Kim'),
        ("latest", "means the last one"),
        ("runs/a", r'published.jsonl: "name" in release: .* would be taken for a path'),
        (" ", "is empty"),
        ("", "is empty"),
        ("a", '"a" is the id of another run'),
    ],
)
def test_a_name_means_one_release(tmp_path: Path, name: str, why: str) -> None:
    publish(make_run(tmp_path, passing(), name="a"), name="2026.11")

    with pytest.raises(ConfigError, match=why):
        publish(make_run(tmp_path, passing(), name="b"), name=name)

    assert len(read_published(tmp_path)) == 1


def test_a_release_whose_folder_is_gone_is_said_to_be_gone(tmp_path: Path) -> None:
    old, new = (make_run(tmp_path, passing(), name=name) for name in ("a", "b"))
    publish(old, name="2026.11")
    (old.path / "run.json").unlink()

    with pytest.raises(ConfigError, match=r'release "2026\.11" was run a, and that folder is not'):
        find_baseline("latest", new)


def test_a_suite_names_a_folder_or_a_release(project: Path) -> None:
    main(["check", "suite.yaml", "--out", "runs/one"])
    latest = load_suite("suite.yaml").baseline
    Path("suite.yaml").write_text(SUITE.replace("latest", "runs/one"))

    assert (latest, load_suite("suite.yaml").baseline) == ("latest", Path("runs/one"))


@pytest.mark.parametrize("here", [".", "sub/..", ".."])
def test_a_run_has_its_name_from_within_its_folder_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: str
) -> None:
    folder = make_run(tmp_path, passing(), name="first").path
    (folder / "sub").mkdir()
    monkeypatch.chdir(folder / "sub" if here == ".." else folder)

    run = Run.open(Path(here))
    publish(run)

    assert run.id == "first"
    assert run.path.samefile(folder)
    (release,) = read_published(tmp_path)
    assert release.run == "first"


def test_a_run_behind_a_link_has_the_name_of_the_link(tmp_path: Path) -> None:
    folder = make_run(tmp_path, passing(), name="first").path
    (tmp_path / "current").symlink_to(folder)

    assert Run.open(tmp_path / "current").id == "current"
