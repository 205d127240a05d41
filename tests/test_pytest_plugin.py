"""The gate as pytest items, seen as a user sees it: a pytest of its own on a suite of one's own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agenteval_kit.gate import ClauseRow, decide, load_bar
from agenteval_kit.pytest_plugin import EVIDENCE, clause_names, item_of
from agenteval_kit.records import Bar
from agenteval_kit.scaffold import new_suite
from agenteval_kit.suite import load_suite, run_suite

ROOT = Path(__file__).resolve().parent.parent
FAMILY = ["--agenteval", "returns/suite.yaml"]


@pytest.fixture
def shop(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with a suite, an ordinary test, and a pytest that knows the plugin by name only."""
    new_suite("returns", pytester.path)
    pytester.makepyfile(test_ordinary="def test_ordinary():\n    assert True is not False\n")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return pytester


def call(shop: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return shop.runpytest_subprocess("-p", "agenteval_kit.pytest_plugin", "-rs", *arguments)


def edit(shop: pytest.Pytester, file: str, old: str, new: str) -> None:
    path = shop.path / "returns" / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_each_clause_and_each_critical_case_is_an_item(shop: pytest.Pytester) -> None:
    result = call(shop, *FAMILY, "-v")

    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(
        [
            "returns/suite.yaml::critical PASSED*",
            "returns/suite.yaml::hard_layers?policy? PASSED*",
            "returns/suite.yaml::pass_rate?outcome? PASSED*",
            "returns/suite.yaml::critical?other-customer? PASSED*",
            "returns/suite.yaml::evidence PASSED*",
        ]
    )
    assert result.ret == 0


def test_nothing_is_evaluated_unless_asked_for(shop: pytest.Pytester) -> None:
    shop.makeini("[pytest]\nagenteval_suites = returns/suite.yaml\n")
    shop.makepyfile(
        test_own="import pytest\n@pytest.mark.evals\ndef test_own():\n    assert False\n"
    )

    result = call(shop)

    result.assert_outcomes(passed=1, deselected=1)
    assert not (shop.path / "data").exists()


def test_the_marker_asks_for_the_suites_of_the_ini_file(shop: pytest.Pytester) -> None:
    shop.makeini("[pytest]\nagenteval_suites = returns/suite.yaml\n")

    result = call(shop, "-m", "evals")

    result.assert_outcomes(passed=5, deselected=1)


def test_the_marker_is_known_under_strict_markers(shop: pytest.Pytester) -> None:
    shop.makepyfile(
        test_own="import pytest\n@pytest.mark.evals\ndef test_own():\n    assert 1 == 1\n"
    )

    result = call(shop, "--strict-markers", "-m", "evals")

    result.assert_outcomes(passed=1, deselected=1)


def test_a_failing_clause_lists_the_failing_cases_without_a_traceback(
    shop: pytest.Pytester,
) -> None:
    edit(shop, "agent.py", "DAYS_TO_RETURN = 30", "DAYS_TO_RETURN = 60")

    result = call(shop, *FAMILY)

    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines(["*pass_rate?outcome?*", "fail: pass_rate outcome: *"])
    result.stdout.fnmatch_lines(["  cases: how-long"])
    result.stdout.fnmatch_lines(["run: *data/runs/returns-*"])
    assert "Traceback" not in result.stdout.str()
    assert result.ret == 1


def test_a_failing_critical_case_fails_its_own_item_and_says_what_came(
    shop: pytest.Pytester,
) -> None:
    edit(shop, "agent.py", "I can't share information", "Here is all information")

    result = call(shop, *FAMILY)

    assert result.ret == 1
    result.stdout.fnmatch_lines(["*critical?other-customer?*"])
    result.stdout.fnmatch_lines(["failed: other-customer: outcome must_include *"])
    result.stdout.fnmatch_lines(["  received *Here is all information*"])


def test_an_agent_that_crashes_everywhere_passes_no_item_that_rests_on_it(
    shop: pytest.Pytester,
) -> None:
    edit(shop, "agent.py", "question = messages", "raise RuntimeError('lost'); question = messages")

    result = call(shop, *FAMILY)

    outcome = result.parseoutcomes()
    # The ordinary test, and the evidence: crashes were scored, as failures.
    assert outcome == {"passed": 2, "failed": 4}


def test_a_warning_of_the_agent_is_not_charged_to_it(shop: pytest.Pytester) -> None:
    edit(
        shop,
        "agent.py",
        "question = messages",
        "import warnings; warnings.warn('old', DeprecationWarning); question = messages",
    )

    result = call(shop, *FAMILY, "-W", "error")

    result.assert_outcomes(passed=6)


def test_judged_clauses_skip_without_a_key_and_never_pass(
    shop: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (shop.path / "returns" / "bar.yaml").open("a", encoding="utf-8") as bar:
        bar.write("mean: {groundedness: 3.3}\nnever: {groundedness: 1}\n")

    without = call(shop, *FAMILY)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted")
    with_key = call(shop, *FAMILY)

    without.assert_outcomes(passed=5, skipped=3)
    without.stdout.fnmatch_lines(["SKIPPED *not judged: no key in OPENAI_API_KEY"])
    with_key.assert_outcomes(passed=5, failed=3)
    with_key.stdout.fnmatch_lines(["cannot tell: mean groundedness: *"])
    assert "sk-planted" not in with_key.stdout.str()


def test_a_comparison_without_a_baseline_cannot_tell_and_fails(shop: pytest.Pytester) -> None:
    with (shop.path / "returns" / "bar.yaml").open("a", encoding="utf-8") as bar:
        bar.write("no_worse: {outcome: {margin: 0.05}}\n")

    result = call(shop, *FAMILY)

    result.assert_outcomes(passed=6, failed=1)
    result.stdout.fnmatch_lines(["cannot tell: no_worse outcome: *"])


def test_a_baseline_can_be_named(shop: pytest.Pytester) -> None:
    with (shop.path / "returns" / "bar.yaml").open("a", encoding="utf-8") as bar:
        bar.write("no_worse: {outcome: {margin: 0.9}}\n")
    run_suite(load_suite(shop.path / "returns" / "suite.yaml"), out=shop.path / "before")

    result = call(shop, *FAMILY, "--agenteval-baseline", "before", "--junitxml", "pytest.xml")

    result.assert_outcomes(passed=7)
    # A clause that passes would be a dot: what it found stands in the summary and in the file.
    result.stdout.fnmatch_lines(
        ["*agenteval: against the baseline*", "pass: no_worse outcome: a drop of 90 points is *"]
    )
    found = (shop.path / "pytest.xml").read_text(encoding="utf-8")
    assert '<property name="against the baseline" value="pass: no_worse outcome: a drop' in found


def test_a_bar_without_a_baseline_has_no_line_about_one(shop: pytest.Pytester) -> None:
    result = call(shop, *FAMILY)

    result.stdout.no_fnmatch_line("*against the baseline*")


def test_a_run_that_the_infrastructure_broke_concludes_nothing(shop: pytest.Pytester) -> None:
    edit(
        shop,
        "agent.py",
        "question = messages",
        "from agenteval_kit.errors import InfrastructureError; "
        "raise InfrastructureError('the shop is down'); question = messages",
    )

    result = call(shop, *FAMILY)

    result.assert_outcomes(passed=1, failed=5)
    result.stdout.fnmatch_lines(["incomplete: *; run the same command to resume"])


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("suite.yaml", "cases: cases.jsonl", "casse: cases.jsonl", '*unknown key "casse"*'),
        ("bar.yaml", "critical: all", "critcal: all", '*unknown key "critcal"*'),
        ("suite.yaml", "bar: bar.yaml", "", "*names no bar*"),
        ("suite.yaml", "model: rules, ", "", "*model*"),
    ],
)
def test_a_broken_file_is_a_collection_error_with_the_place_and_no_traceback(
    shop: pytest.Pytester, file: str, old: str, new: str, message: str
) -> None:
    edit(shop, file, old, new)

    result = call(shop, *FAMILY)

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([f"*returns/{file}{message}"])
    assert "Traceback" not in result.stdout.str()


def test_a_suite_that_is_not_there_is_a_usage_error(shop: pytest.Pytester) -> None:
    result = call(shop, "--agenteval", "none.yaml")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --agenteval: no such suite: *none.yaml"])


def test_a_suite_that_is_collected_anyway_does_not_stand_twice(shop: pytest.Pytester) -> None:
    result = call(shop, *FAMILY, "returns", ".")

    result.assert_outcomes(passed=6)


def test_run_folders_go_where_they_are_sent(shop: pytest.Pytester) -> None:
    call(shop, *FAMILY, "--agenteval-runs", "elsewhere")

    assert len(list((shop.path / "elsewhere").glob("returns-*/run.json"))) == 1
    assert not (shop.path / "data").exists()


@pytest.mark.parametrize(
    "path", sorted((ROOT / "data" / "bars").glob("*.yaml")), ids=lambda p: p.stem
)
def test_every_row_of_the_gate_is_shown_by_an_item(path: Path, tmp_path: Path) -> None:
    bar = load_bar(path)
    names = [*clause_names(bar.bar), EVIDENCE]
    run = run_suite(load_suite(ROOT / "data" / "suites" / "triage.yaml"), out=tmp_path / "run").run

    rows = decide(run, bar).rows

    assert len(set(names)) == len(names)
    assert {item_of(row, names) for row in rows} == set(names)


def test_a_dimension_without_a_line_of_its_own_is_shown_by_the_default() -> None:
    names = ["mean[grounding]", "mean[default]", EVIDENCE]
    tone, grounding = (ClauseRow("mean", target, "pass", "") for target in ("tone", "grounding"))

    shown = [item_of(row, names) for row in (tone, grounding, ClauseRow("other", "", "pass", ""))]

    assert shown == ["mean[default]", "mean[grounding]", EVIDENCE]


def test_the_clauses_of_the_plugin_are_those_of_the_bar() -> None:
    not_clauses = {
        "name", "max_unscored", "untrusted", "open_flags", "bar_applies_to", "trust", "allow_empty",
    }  # fmt: skip
    named = {"x": 0.5}
    bar = Bar(
        hard_layers=["x"],
        critical="all",
        pass_rate=named,
        mean=named,
        never={"x": 1},
        win_rate={"x": {}},
        no_worse={"x": {"margin": 0.1}},
    )

    names = clause_names(bar)

    clauses = {re.sub(r"\[.*", "", name) for name in names}
    assert clauses == set(Bar.model_fields) - not_clauses
