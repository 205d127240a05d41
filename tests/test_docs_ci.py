"""The workflows of the docs are well formed, call commands that exist, and do what is said."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from judged import said

from agenteval_kit.cli import main
from agenteval_kit.cli.options import make_parser
from agenteval_kit.runs import Run
from agenteval_kit.testing import Asked, ScriptedServer, say

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = ROOT / "docs" / "workflows"
COPIED = ("agents", "bars", "cases", "handbook", "rubrics", "suites")
GITHUB: dict[str, Any] = yaml.safe_load((WORKFLOWS / "github.yml").read_text(encoding="utf-8"))
GITLAB: dict[str, Any] = yaml.safe_load((WORKFLOWS / "gitlab.yml").read_text(encoding="utf-8"))
JOBS: dict[str, dict[str, Any]] = GITHUB["jobs"]
LAB_JOBS = {
    name: job
    for name, job in GITLAB.items()
    if name not in ("stages", "workflow", "variables", "default")
}
# YAML 1.1 reads the key `on` as true.
EVENTS: dict[str, Any] = GITHUB[True]  # type: ignore[index]
KEPT_OUT = ("install", "comment")
"""Steps that need a network."""


def steps(job: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(job["steps"])


def scripts() -> Iterator[tuple[str, str]]:
    """Every line of shell of both workflows, with the name of its job."""
    for name, job in JOBS.items():
        for step in steps(job):
            yield from ((name, line) for line in step.get("run", "").splitlines())
    for name, job in {**LAB_JOBS, "default": GITLAB["default"]}.items():
        for text in (*job.get("script", ()), *job.get("before_script", ())):
            yield from ((name, line) for line in text.splitlines())


def commands() -> list[list[str]]:
    """Every call of agenteval, as words, with the variables of the workflow put in."""
    given = {**GITHUB["env"], **GITLAB["variables"], "PAGE": "https://ci.example/1"}
    found = []
    for _, line in scripts():
        for part in re.split(r";|\|\||&&|\bthen\b", line):
            words = shlex.split(part, comments=True)
            if words[:1] == ["agenteval"]:
                put_in = [
                    re.sub(r"\$(\w+)", lambda name: str(given.get(name[1], "x")), word)
                    for word in words[1:]
                    if word != "$against"
                ]
                found.append([re.sub("^x$", "https://ci.example/1", word) for word in put_in])
                if "$against" in words:
                    found.append([*found[-1], "--baseline", "latest"])
    return found


def expressions(value: Any) -> Iterator[str]:
    """Every text of a workflow."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from expressions(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from expressions(inner)


# the shape


def test_the_jobs_run_when_the_issue_asks_for_them() -> None:
    assert set(EVENTS) == {"pull_request", "push", "schedule", "workflow_dispatch"}
    assert EVENTS["push"] == {"branches": ["main"]}
    assert re.fullmatch(r"[\d*,/-]+( [\d*,/-]+){4}", EVENTS["schedule"][0]["cron"])
    assert list(JOBS) == list(LAB_JOBS) == ["offline", "evals", "judges"]
    assert "if" not in JOBS["offline"]
    assert JOBS["evals"]["needs"] == JOBS["judges"]["needs"] == "offline"
    assert "github.event_name == 'schedule'" in JOBS["judges"]["if"]
    assert "github.event_name != 'schedule'" in JOBS["evals"]["if"]


def test_no_condition_reads_a_secret_and_each_output_exists() -> None:
    conditions = [job["if"] for job in JOBS.values() if "if" in job]
    conditions += [step["if"] for job in JOBS.values() for step in steps(job) if "if" in step]

    assert not [one for one in conditions if "secrets" in one]
    for job in JOBS.values():
        for needed, output in re.findall(r"needs\.(\w+)\.outputs\.(\w+)", job.get("if", "")):
            assert needed == job["needs"]
            assert output in JOBS[needed]["outputs"]
    for job in JOBS.values():
        ids = {step["id"]: step for step in steps(job) if "id" in step}
        for text in job.get("outputs", {}).values():
            step, output = re.findall(r"steps\.(\w+)\.outputs\.(\w+)", text)[0]
            assert f"{output}=" in ids[step]["run"]


def test_a_job_has_a_limit_and_a_step_is_either_an_action_or_a_command() -> None:
    for job in JOBS.values():
        assert job["runs-on"] and job["timeout-minutes"] <= 90
        for step in steps(job):
            assert ("uses" in step) != ("run" in step)
            if "uses" in step:
                assert re.fullmatch(r"actions/[\w/-]+@v\d+", step["uses"])
    for job in LAB_JOBS.values():
        assert job["timeout"] and job["stage"] in GITLAB["stages"]


def test_no_more_is_allowed_than_is_needed() -> None:
    assert GITHUB["permissions"] == {"contents": "read"}
    assert JOBS["evals"]["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert "permissions" not in JOBS["judges"]
    # What a pull request says is never put into a line of shell.
    assert not [line for _, line in scripts() if "${{" in line]
    # The key is there for the steps that ask a model, and for the one that says whether it is.
    keyed = [
        step["name"]
        for job in JOBS.values()
        for step in steps(job)
        if "OPENAI_API_KEY" in step.get("env", {})
    ]
    assert keyed == ["key", "run", "run", "judge"]
    assert sum("secrets." in text for text in expressions(GITHUB)) == len(keyed)


def test_gitlab_jobs_of_a_fork_are_left_out_and_not_red() -> None:
    for name in ("evals", "judges"):
        job = LAB_JOBS[name]
        assert job["needs"] == ["offline"]
        assert all(rule["if"].startswith("$OPENAI_API_KEY && ") for rule in job["rules"])
    assert "rules" not in LAB_JOBS["offline"]
    sources = " ".join(rule["if"] for rule in GITLAB["workflow"]["rules"])
    assert all(one in sources for one in ("merge_request_event", "schedule", "$CI_DEFAULT_BRANCH"))


# the commands


def test_every_command_exists_and_names_files_that_are_shipped() -> None:
    parser = make_parser()
    found = commands()

    for words in found:
        given = parser.parse_args(words)
        for path in (getattr(given, name, None) for name in ("suite", "agent", "bar")):
            assert path is None or (ROOT / path).is_file()

    assert len(found) >= 14
    assert {words[0] for words in found} == {"check", "run", "judge", "gate", "report", "publish"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A checkout with the shipped suites."""
    for name in COPIED:
        shutil.copytree(ROOT / "data" / name, tmp_path / "data" / name)
    return tmp_path


def shell(project: Path, script: str, env: Mapping[str, str]) -> int:
    """Run a piece of shell as the CI does, with this package's command on the path."""
    done = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=project,
        env={
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(project), "PYTHONUTF8": "1", **env,
        },
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    print(done.stdout, done.stderr)
    return done.returncode


def play(project: Path, name: str, event: str, **env: str) -> dict[str, int]:
    """Run the steps of a job in order, as its conditions say; the exit code of each by its name."""
    summary, output = project / "step_summary", project / "output"
    given = {
        **{key: value for key, value in GITHUB["env"].items() if "${{" not in value},
        "PAGE": "https://ci.example/1", "GITHUB_ACTOR": "kim", "GITHUB_SHA": "a1",
        "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(output), **env,
    }  # fmt: skip
    codes: dict[str, int] = {}
    failed = False
    for step in steps(JOBS[name]):
        condition = step.get("if", "")
        needs = re.findall(r"hashFiles\('([^']+)'\)", condition)
        if (
            "run" not in step
            or step["name"] in KEPT_OUT
            or (failed and "cancelled()" not in condition)
            or ("event_name == 'push'" in condition and event != "push")
            or not all((project / file).exists() for file in needs)
        ):
            continue
        codes[step["name"]] = shell(project, step["run"], given)
        failed = failed or (codes[step["name"]] != 0 and not step.get("continue-on-error"))
    return codes


@pytest.mark.parametrize(
    ("agent", "codes"),
    [("v1", {"check": 0, "summary": 0, "key": 0}), ("v2", {"check": 1, "summary": 0})],
)
def test_the_offline_job_without_a_key(project: Path, agent: str, codes: dict[str, int]) -> None:
    suite = project / "data/suites/helpdesk.yaml"
    suite.write_text(suite.read_text().replace("helpdesk_v1.yaml   ", f"helpdesk_{agent}.yaml   "))

    assert play(project, "offline", "pull_request", OPENAI_API_KEY="") == codes
    assert not (project / "output").exists() or (project / "output").read_text() == ""
    assert (project / "step_summary").read_text().startswith("## PASS" if agent == "v1" else "## F")
    cases = list(ElementTree.parse(project / "junit.xml").getroot().iter("testcase"))
    assert len(cases) == 35


def test_the_offline_job_says_that_there_is_a_key(project: Path) -> None:
    play(project, "offline", "push", OPENAI_API_KEY="sk-planted")

    assert (project / "output").read_text() == "present=true\n"


def test_main_is_the_baseline_of_a_pull_request(project: Path) -> None:
    good, worse = (f"data/agents/helpdesk_{name}.yaml" for name in ("v1", "v2"))

    on_main = play(project, "evals", "push", AGENT=good, GITHUB_SHA="main1")
    once_more = play(project, "evals", "push", AGENT=good, GITHUB_SHA="main1")
    on_branch = play(project, "evals", "pull_request", AGENT=worse, GITHUB_SHA="branch1")

    assert on_main == once_more == {"run": 0, "gate": 0, "publish": 0, "summary": 0}
    assert len((project / "data/runs/published.jsonl").read_text().splitlines()) == 1
    assert on_branch == {"run": 0, "gate": 1, "summary": 0}
    told = (project / "gate.md").read_text(encoding="utf-8")
    assert told.startswith("## HOLD: helpdesk 2026.06, rules v2\n")
    assert "**Broken (3):** `other-salary`, `other-leave`, `manager-asks`" in told
    assert "<https://ci.example/1>" in told
    failed = ElementTree.parse(project / "gate.xml").getroot()[0].attrib
    assert int(failed["failures"]) >= 2


def judge_or_agent(asked: Asked) -> object:
    """The judge gives a top score; the agent, asked by the name of its model, cannot help."""
    if asked.body["model"].startswith("gpt-4.1-2025"):
        return say(said(5))
    return say("I am afraid I cannot help with that.")


@pytest.mark.slow
def test_the_judges_ask_a_model_and_the_report_is_there_whatever_they_say(project: Path) -> None:
    with ScriptedServer(judge_or_agent) as server:
        codes = play(
            project, "judges", "schedule", AGENT="data/agents/helpdesk_chat.yaml",
            OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY="sk-planted-0123456789",
        )  # fmt: skip

    assert codes == {"run": 0, "judge": 0, "gate": 1, "report": 1, "summary": 0}
    run = Run.open(project / "data/runs/judged-a1")
    assert (len(run.done()), run.repeats) == (105, 3)
    assert [stamp.judge for stamp in run.judge_stamps()] == ["gpt-4.1-2025-04-14"]
    page = (project / "reports/judged.html").read_text(encoding="utf-8")
    assert (project / "gate.md").read_text(encoding="utf-8").startswith("## HOLD: ")
    assert "<b>HOLD</b>" in page
    assert "sk-planted" not in page


@pytest.mark.slow
def test_the_gitlab_jobs_do_the_same(project: Path) -> None:
    given = {
        **GITLAB["variables"], "CI_JOB_URL": "https://ci.example/1", "CI_COMMIT_SHA": "main1",
        "CI_COMMIT_BRANCH": "main", "CI_DEFAULT_BRANCH": "main", "GITLAB_USER_LOGIN": "kim",
        "AGENT": "data/agents/helpdesk_v1.yaml",
    }  # fmt: skip
    script = {name: "\n".join(job["script"]) for name, job in LAB_JOBS.items()}
    on_branch = {
        "AGENT": "data/agents/helpdesk_v2.yaml", "CI_COMMIT_SHA": "b1", "CI_COMMIT_BRANCH": "",
    }  # fmt: skip

    offline = shell(project, script["offline"], given)
    on_main = [shell(project, script["evals"], given) for _ in range(2)]
    branch = shell(project, script["evals"], {**given, **on_branch})
    with ScriptedServer(judge_or_agent) as server:
        judges = shell(
            project, script["judges"],
            {**given, "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-planted"},
        )  # fmt: skip

    assert (offline, on_main, branch, judges) == (0, [0, 0], 1, 1)
    assert (project / "summary.md").read_text(encoding="utf-8").startswith("## PASS: ")
    # Judged for real, by a judge that nobody calibrated.
    assert (project / "gate.md").read_text(encoding="utf-8").startswith("## REVIEW: ")
    assert (project / "reports/judged.html").is_file()
    assert len((project / "data/runs/published.jsonl").read_text().splitlines()) == 1


# the page


def test_the_commands_of_the_page_run_and_write_what_it_says(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    lines = "".join(re.findall(r"```sh\n(.*?)```", page, re.DOTALL)).splitlines()

    codes = [main(shlex.split(line)[1:]) for line in lines]

    assert codes == [0, 0]
    for file in ("junit.xml", "summary.md", "gate.xml", "gate.md"):
        assert Path(file).stat().st_size > 500
    named = {name for line in lines for name in re.findall(r"--[a-z-]+", line)}
    told = set(re.findall(r"`(?:gate )?(--[a-z-]+)", page))
    assert told == named - {"--out", "--bar"} | {"--json", "--review-exit"}


def test_the_table_of_the_page_is_drawn(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    for name in ("a", "b"):
        main(["run", "data/suites/helpdesk.yaml", "--out", f"data/runs/{name}"])
    found: dict[str, Any] = {}

    exec(code, found)

    assert list(found["frame"]["run_id"].unique()) == ["a", "b"]
    assert found["frame"]["series"].nunique() == 1


@pytest.mark.parametrize("name", ["github.yml", "gitlab.yml"])
def test_the_docs_link_the_workflows(name: str) -> None:
    assert f"(workflows/{name})" in (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    assert "](ci.md)" in (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
