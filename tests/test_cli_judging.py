"""Commands that ask judges, through the real client against the scripted server."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from agenteval_kit.cli import main
from agenteval_kit.demo import shipped_data
from agenteval_kit.runs import Run
from agenteval_kit.testing import Asked, ScriptedServer, fail, say

DATA = shipped_data()
SUPPORT = str(DATA / "suites" / "support.yaml")
RUBRIC = str(DATA / "rubrics" / "support.yaml")
PAIRWISE = str(DATA / "rubrics" / "outcome_pairwise.yaml")
WORSE = str(DATA / "agents" / "support_v2.yaml")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    assert main(["run", SUPPORT, "--out", "run", "--only", "refund-approved,refund-denied"]) == 0
    return "run"


def verdict(score: int) -> str:
    # A clean top score has nothing to quote: it names the turns that were looked at.
    return json.dumps({"evidence": [{"turn": 0}], "justification": "So.", "score": score})


def judge(*more: str) -> list[str]:
    return [
        "judge",
        "run",
        "--suite",
        SUPPORT,
        "--rubric",
        RUBRIC,
        "--judge",
        "j-2026-01-01",
        *more,
    ]


def test_judging_prints_means_with_intervals_and_resumes_for_nothing(
    run: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(lambda asked: say(verdict(4))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        first = main(judge("--dimensions", "groundedness"))
        told = capsys.readouterr()
        asked = len(server.asked)
        second = main(judge("--dimensions", "groundedness", "--json"))
        again = json.loads(capsys.readouterr().out)

    assert (first, second) == (0, 0)
    assert asked == len(server.asked) == 6
    assert "groundedness" in told.out
    assert "never calibrated" in told.out
    assert "A trend over the suite" in told.out
    assert "  2 cases, 2 verdicts [" in told.out
    assert "2 verdicts: 6 calls" in told.err
    dimension = again["dimensions"][0]
    assert dimension["low"] < dimension["mean"] <= dimension["high"]
    assert (again["made"], again["kept"], dimension["n"]) == (0, 2, 2)
    assert (dimension["trust"], dimension["more_labels"]) == ("never calibrated", None)


def test_what_has_no_score_is_told_with_its_reasons(
    run: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(lambda asked: say("I would say four.")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        main(judge("--dimensions", "groundedness"))

    assert re.search(r"2 unscored \([a-z ]+ 2\)", capsys.readouterr().out)


def test_fresh_samples_are_asked_for_and_the_last_verdict_counts(
    run: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    score = 4
    means = []
    with ScriptedServer(lambda asked: say(verdict(score))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        for more in ([], [], ["--fresh"], ["--max-age", "1"], []):
            main(judge("--dimensions", "goal_completion", "--json", *more))
            means.append(json.loads(capsys.readouterr().out.splitlines()[-1])["dimensions"][0])
            score = 3

    assert [one["mean"] for one in means] == [4, 4, 3, 3, 3]
    assert [one["n"] for one in means] == [1] * 5
    # One reply at first, one fresh one; a day has not passed since.
    assert len(server.asked) == 2


def test_a_judge_that_is_down_is_exit_3_and_resumable(
    run: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    well = False

    def answer(asked: Asked) -> object:
        return say(verdict(3)) if well else fail(500)

    with ScriptedServer(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        down = main(judge("--dimensions", "groundedness"))
        told = capsys.readouterr().err
        well = True
        up = main(judge("--dimensions", "groundedness"))

    assert (down, up) == (3, 0)
    assert "run the same command to resume" in told
    assert "Traceback" not in told


def test_a_limit_on_calls_stops_resumably(
    run: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(lambda asked: say(verdict(4))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        stopped = main(judge("--dimensions", "groundedness", "--max-calls", "1"))
        told = capsys.readouterr().err
        ended = main(judge("--dimensions", "groundedness"))

    assert (stopped, ended) == (3, 0)
    assert "limit of 1 call is reached (1 spent)" in told
    assert len(server.asked) == 6


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--rubric", "nowhere.yaml", "--judge", "j"], "nowhere.yaml"),
        (["--rubric", RUBRIC, "--judge", "j", "--dimensions", "goal_compltion"],
         'no dimension "goal_compltion". Did you mean "goal_completion"?'),
    ],
)  # fmt: skip
def test_a_judging_that_cannot_begin_is_exit_2_before_anything_is_asked(
    run: str, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["judge", "run", "--suite", SUPPORT, *arguments])

    assert code == 2
    assert said in capsys.readouterr().err


def test_no_more_requests_are_in_flight_than_were_allowed(
    run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer(lambda asked: say(verdict(4)), latency=0.02) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code = main(judge("--dimensions", "groundedness", "--max-concurrency", "1"))

    assert code == 0
    assert server.most_in_flight == 1


def test_a_request_that_lasts_longer_than_its_time_is_given_up_and_the_judging_resumes(
    run: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(lambda asked: say(verdict(4)), latency=1.0) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code = main(judge("--dimensions", "goal_completion", "--timeout", "0.05"))

    assert code == 3
    assert "run the same command to resume" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["judge", "run"], ["compare", "run", "run", "--judge", "j"]])
@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--max-concurrency", "0", '"0" wants a whole number from 1'),
        ("--max-concurrency", "201", "max_concurrency is 201; it wants to be 1 to 200"),
        ("--timeout", "-1", '"-1" wants seconds above 0, up to a day'),
    ],
)
def test_a_pace_that_cannot_be_kept_is_exit_2(
    run: str,
    command: list[str],
    option: str,
    value: str,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rubric = PAIRWISE if command[0] == "compare" else RUBRIC
    code = main([*command, "--suite", SUPPORT, "--rubric", rubric, "--judge", "j", option, value])

    assert code == 2
    assert said in capsys.readouterr().err


def test_another_suite_than_the_runs_is_refused(
    run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(
        ["judge", "run", "--suite", str(DATA / "suites" / "triage.yaml"), "--rubric", RUBRIC,
         "--judge", "j"]
    )  # fmt: skip

    assert code == 2
    assert "is not the suite that run was made of" in capsys.readouterr().err


def test_compare_tells_checks_always_and_preferences_with_a_judge(
    run: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", SUPPORT, "--agent", WORSE, "--out", "worse", "--only",
          "refund-approved,refund-denied"])  # fmt: skip
    capsys.readouterr()
    plain = main(["compare", "run", "worse"])
    checks = capsys.readouterr().out
    with ScriptedServer(
        lambda asked: say('{"because": "The first one answers.", "preferred": "A"}')
    ) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        judged = main(["compare", "run", "worse", "--suite", SUPPORT, "--rubric", PAIRWISE,
                       "--judge", "j-2026-01-01", "--json"])  # fmt: skip
        found = json.loads(capsys.readouterr().out)

    assert (plain, judged) == (0, 0)
    assert "policy" in checks
    # A judge that always says A has no preference: every pair is a tie that flipped.
    one = found["preferences"][0]
    assert (one["wins"], one["losses"]) == (0, 0)
    assert one["win_rate"] == 0.5
    assert len(Run.open(Path("worse")).info.cases) == 2


def test_plan_says_sizes_assumptions_and_the_chance_to_ship(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    main(["demo", "--no-report"])
    capsys.readouterr()

    code = main(["plan", str(DATA / "suites" / "retail.yaml")])

    text = capsys.readouterr().out
    assert code == 0
    assert "about 587" in text
    assert "P(SHIP | nothing changed)" in text
    assert "assuming:" in text
