"""One decision, many readers: exit code, --json, JUnit, Markdown and the page say the same."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import mistune
import pytest
from builders import make_run, passes
from hypothesis import given
from hypothesis import strategies as st
from releases_ordered import ANSWERS, FAIL, PASS, UNTOLD, Made, alone, make_release, orders
from verdicts import judge, prefer, results, spread

from agenteval_kit import report
from agenteval_kit.ci import LONGEST, check_markdown, decision_markdown
from agenteval_kit.ci.plain import clipped, code, plain
from agenteval_kit.cli import main
from agenteval_kit.console import check_lines
from agenteval_kit.gate import decide
from agenteval_kit.records import AgentStamps, Bar
from agenteval_kit.release import read_release
from agenteval_kit.runs import Run
from agenteval_kit.stats.mean import anchored_mean
from agenteval_kit.suite import RunResult
from agenteval_kit.summary import summarise

CODES = {"SHIP": 0, "HOLD": 1, "REVIEW": 4}
ORDERS = [
    *orders(26, seed=0), alone(PASS), alone(FAIL), alone(UNTOLD), alone(FAIL, in_part=True),
]  # fmt: skip
BY_NAME = {order.name: order for order in ORDERS}
WHOLE_PAGES = ("16", "23", "09", "alone-cannot-tell", "10", "alone-fail-in-part")
"""Two of each verdict, one of them with clauses that are reported, one judged only."""
HOSTILE = "</td><script>x</script><img src=x onerror=y> | `a` [l](http://evil.example) @team #1 $x$"

Told = tuple[int, dict[str, Any]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Made]:
    root = tmp_path_factory.mktemp("releases")
    return {order.name: make_release(root, order) for order in ORDERS}


@pytest.fixture
def gate(capsys: pytest.CaptureFixture[str]) -> Callable[..., Told]:
    """The exit code of a call of the gate, and what it printed for machines."""

    def run(*words: str) -> Told:
        code = main(["gate", *words, "--review-exit", str(CODES["REVIEW"]), "--json"])
        return code, json.loads(capsys.readouterr().out)

    return run


def bar_of(**clauses: Any) -> Bar:
    return Bar.model_validate(clauses)


def on_the_page(markup: str) -> list[str]:
    """The verdict of the first screen, as it stands in large letters."""
    return re.findall(r'aria-label="the verdict"[^>]*>\s*<b>([A-Z ]+)</b>', markup)


def rendered(text: str) -> str:
    """Markdown as a page shows it: tables, and bare addresses made into links as on GitHub."""
    return str(
        mistune.create_markdown(escape=False, plugins=["table", "strikethrough", "url"])(text)
    )


def bare(markup: str) -> str:
    """The text of a piece of a page, as a person copies it."""
    return html.unescape(re.sub(r"<[^>]+>", "", markup)).replace("\u200b", "").strip()


def words(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", " ", markup)).replace("\u200b", "")


# one verdict


@pytest.mark.parametrize("name", BY_NAME)
def test_exit_code_json_junit_markdown_and_page_say_one_verdict(
    made: dict[str, Made],
    gate: Callable[..., Told],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    name: str,
) -> None:
    one = made[name]
    out = ["--junit", str(tmp_path / "gate.xml"), "--markdown", str(tmp_path / "gate.md")]

    code, told = gate(*one.words, *out)
    plain_code = main(["gate", *one.words])
    said = capsys.readouterr().out
    page = read_release(
        one.run.path, baseline=one.baseline.path, bar=one.bar, calibration=one.calibration,
        labels=one.labels,
    )  # fmt: skip

    verdict = told["verdict"]
    assert code == CODES[verdict]
    assert plain_code == (0 if verdict == "SHIP" else 1)
    assert said.startswith(f"{verdict}\n")
    assert on_the_page(report.show_verdict(page).markup) == [verdict]
    assert (tmp_path / "gate.md").read_text(encoding="utf-8").startswith(f"## {verdict}: made 1, ")
    suite = ElementTree.parse(tmp_path / "gate.xml").getroot()[0]
    assert bool(int(suite.attrib["failures"])) == (verdict == "HOLD")
    red = int(suite.attrib["failures"]) + int(suite.attrib["errors"])
    assert bool(red) == (verdict != "SHIP")
    # Each clause came to what the release was made for; the rest is there to be read with it.
    rest = {("mean", "care"), *(("max_unscored", name) for name in ("tone", "ground", "care"))}
    assert [
        (row["name"], row["status"])
        for row in ({**row, "name": (row["clause"], row["target"])} for row in told["rows"])
        if row["name"] not in rest and row["status"] != one.order.wishes.get(row["clause"], PASS)
    ] == []


def test_the_releases_above_hold_every_clause_and_every_mixture_of_answers(
    made: dict[str, Made], gate: Callable[..., Told]
) -> None:
    answers: set[tuple[str, str]] = set()
    mixtures: set[frozenset[str]] = set()
    verdicts: dict[str, int] = {}
    effects: set[tuple[str, str]] = set()
    for one in made.values():
        _, told = gate(*one.words)
        answers |= {(row["clause"], row["status"]) for row in told["rows"]}
        mixtures.add(frozenset(row["status"] for row in told["rows"]))
        effects |= {(row["status"], row["effect"]) for row in told["rows"]}
        verdicts[told["verdict"]] = verdicts.get(told["verdict"], 0) + 1

    assert len(made) == 30
    assert answers == {(clause, one) for clause, each in ANSWERS.items() for one in each}
    assert mixtures == {
        frozenset(each)
        for each in (
            {PASS}, {FAIL}, {UNTOLD}, {PASS, FAIL}, {PASS, UNTOLD}, {FAIL, UNTOLD},
            {PASS, FAIL, UNTOLD},
        )
    }  # fmt: skip
    # What cannot be told is waited for, reported, or holds, as the bar says.
    assert {effect for status, effect in effects if status == UNTOLD} == {"none", "REVIEW", "HOLD"}
    assert min(verdicts[verdict] for verdict in CODES) >= 6


@pytest.mark.slow
@pytest.mark.parametrize("name", WHOLE_PAGES)
def test_the_whole_page_and_its_exit_code_say_what_the_gate_says(
    made: dict[str, Made],
    gate: Callable[..., Told],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    name: str,
) -> None:
    one = made[name]
    page = tmp_path / "page.html"

    code, told = gate(*one.words)
    page_code = main(["report", *one.words, "--review-exit", "4", "--out", str(page)])

    assert page_code == code
    assert capsys.readouterr().out.splitlines()[0] == told["verdict"]
    assert on_the_page(page.read_text(encoding="utf-8")) == [told["verdict"]]
    assert json.loads(page.with_suffix(".verdict.json").read_text(encoding="utf-8")) == told


# --json


def test_the_json_names_what_broke_and_who_judged(
    tmp_path: Path, gate: Callable[..., Told]
) -> None:
    make_run(tmp_path, passes(20, 18), name="old")
    cases = passes(20, 20) | {"case-003": {"outcome": False}}
    new = judge(make_run(tmp_path, cases, name="new"), spread({4: 20}), model="scripted-j")
    prefer(new, results(0, 20, 0), model="judge-p")
    bar = tmp_path / "bar.yaml"
    bar.write_text("mean: {tone: 3}\nwin_rate: {outcome: {}}\n", encoding="utf-8")

    _, told = gate(str(new.path), "--bar", str(bar), "--baseline", str(tmp_path / "old"))

    (layer, every) = told["changes"]
    assert (layer["layer"], layer["broken"], layer["fixed"]) == (
        "outcome", ["case-003"], ["case-018", "case-019"],
    )  # fmt: skip
    assert (layer["n"], round(layer["difference"], 9), layer["level"]) == (20, 0.05, 0.95)
    assert layer["low"] < 0 < layer["high"]
    assert every["broken"] == ["case-003"]
    assert told["run"]["judges"] == [
        {
            "of": "tone", "judge": "scripted-j", "judge_digest": "judge-1", "rubric": "made 1",
            "dimension_digest": "dimension-1", "scripted": True,
        },
        {"of": "outcome", "judge": "judge-p", "judge_digest": "pair-1", "scripted": False},
    ]  # fmt: skip


def test_a_baseline_of_another_suite_has_no_changes_and_says_why(tmp_path: Path) -> None:
    old = make_run(tmp_path, passes(4, 4), name="old", digest="older")
    new = make_run(tmp_path, passes(4, 3))

    decision = decide(new, bar_of(pass_rate={"outcome": 0.9}), baseline=old)

    told = decision.as_dict()
    assert told["changes"] == []
    assert told["refused"].startswith("the suites differ (digest suite-digest here, older in")
    text = decision_markdown(decision)
    assert "- **Not compared:** the suites differ (digest suite-digest here, older in" in text
    assert "against the baseline" not in text


# JUnit


def test_junit_has_a_testcase_a_clause_and_one_for_the_verdict(tmp_path: Path) -> None:
    cases = passes(10, 10) | {"bad": {"outcome": True, "policy": False}}
    run = judge(make_run(tmp_path, cases), dict.fromkeys(cases, 4))
    bar = tmp_path / "bar.yaml"
    bar.write_text(
        "hard_layers: [policy]\npass_rate: {outcome: 0.7, speed: 0.9}\nmean: {tone: 3}\n"
        "untrusted: report\n",
        encoding="utf-8",
    )
    file = tmp_path / "out" / "gate.xml"

    code = main(["gate", str(run.path), "--bar", str(bar), "--junit", str(file)])

    suite = ElementTree.parse(file).getroot()[0]
    found = {case.attrib["name"]: case for case in suite.iter("testcase")}
    assert code == 1
    assert {name: case[0].tag for name, case in found.items()} == {
        "hard_layers policy": "failure",
        "pass_rate outcome": "system-out",
        "pass_rate speed": "error",
        "mean tone": "skipped",
        "max_unscored": "system-out",
        "max_unscored tone": "system-out",
        "open_flags": "system-out",
        "verdict": "failure",
    }
    assert suite.attrib == {
        "name": "gate made 1 (rules, v1)", "tests": "8", "failures": "2", "errors": "1",
        "skipped": "1",
    }  # fmt: skip
    held = found["hard_layers policy"][0]
    assert held.attrib["message"] == "a check failed in 1 of 1 transcript"
    assert held.text is not None and held.text.splitlines()[-4:] == [
        "cases: bad", "bad #0: policy check: not this", "  expected: this", "  received: that",
    ]  # fmt: skip
    rate = found["pass_rate outcome"][0].text
    assert rate is not None and "n = 11, Wilson" in rate
    properties = {one.attrib["name"]: one.attrib["value"] for one in suite.iter("property")}
    assert properties["suite_digest"] == "suite-digest"
    assert properties["bar"] == "bar"
    assert '"judge_digest":"judge-1"' in properties["judges"]


def test_what_agents_say_cannot_break_the_junit_of_a_decision(tmp_path: Path) -> None:
    name = "\x1b[31m\ufffe]]><x>"
    run = make_run(tmp_path, {name: {"policy": False}}, agent=AgentStamps(model=name, prompt=name))
    bar = tmp_path / "bar.yaml"
    bar.write_text("hard_layers: [policy]\n", encoding="utf-8")
    file = tmp_path / "gate.xml"

    main(["gate", str(run.path), "--bar", str(bar), "--junit", str(file)])

    case = next(ElementTree.parse(file).getroot().iter("testcase"))
    assert case[0].text is not None and "\\x1b[31m" in case[0].text


# Markdown


def test_the_first_twenty_lines_hold_what_a_reviewer_needs(tmp_path: Path) -> None:
    layers = ("outcome", "trajectory", "grounding", "policy", "conversation")
    before = {f"c{at:02d}": dict.fromkeys(layers, True) for at in range(30)}
    before["c07"]["outcome"] = False
    after = {name: dict.fromkeys(layers, True) for name in before}
    after["c01"]["policy"] = after["c02"]["trajectory"] = False
    old = make_run(tmp_path, before, name="old")
    new = judge(make_run(tmp_path, after, name="new"), dict.fromkeys(after, 4))
    bar = bar_of(hard_layers=["policy"], pass_rate={"outcome": 0.9, "speed": 0.9}, mean={"tone": 3})

    text = decision_markdown(decide(new, bar, baseline=old), link="https://ci.example/1?a=(b)")

    top = text.splitlines()[:20]
    share = "97 % (83 to 99 %)"
    mean = anchored_mean([4] * 30, levels=(1, 2, 3, 4)).text()
    assert top[0] == "## HOLD: made 1, rules v1"
    assert top[2] == (
        "On 30 cases: 1 clause fails, 2 cannot be told, 4 pass. "
        "[The report](<https://ci.example/1?a=(b)>)"
    )
    assert top[6] == (
        "| outcome | ✓ pass | 30 of 30 | 100 % (89 to 100 %) "
        "| +3 points (-8 to +17), n = 30 | 0 | 1 |"
    )
    assert top[9].startswith(f"| policy | ✗ fail | 29 of 30 | {share} | -3 points (")
    assert top[11].startswith("| *every check* | – | 28 of 30 | ")
    assert top[13:19] == [
        "- **Hard fails (1):** `c01` policy check: not this",
        "- **Broken (2):** `c01`, `c02`",
        "- **Fixed (1):** `c07`",
        "- ✗ fail **hard_layers policy**: a check failed in 1 of 30 transcripts; n = 30; "
        "cases: `c01`",
        '- ? cannot tell **pass_rate speed**: no check of layer "speed" ran. '
        "Known: conversation, grounding, outcome, policy, trajectory",
        f"- ? cannot tell **mean tone**: judge never calibrated; it would pass: {mean}, "
        "at or over 3; n = 30",
    ]
    stamps = text.splitlines()[20]
    for stamp in (
        "suite made 1 · suite-digest", "agent rules", "prompt v1", "run new", "bar unnamed",
        "judge judge-x · judge-1 (tone, rubric made 1)", "agenteval-kit 0",
    ):  # fmt: skip
        assert stamp in stamps
    assert "<summary>All 7 clauses</summary>" in text


def test_nothing_that_an_agent_or_a_case_says_acts_in_the_comment(tmp_path: Path) -> None:
    agent = AgentStamps(model=HOSTILE, prompt="a\nb\u202e\x1b[31m")
    ids = [f"{HOSTILE} {at}" for at in range(3)]
    rows = {ids[0]: {"policy": False}, ids[1]: {HOSTILE: True}, ids[2]: {"policy": True}}
    run = make_run(tmp_path, rows, agent=agent)
    old = make_run(tmp_path, {name: dict.fromkeys(each, True) for name, each in rows.items()},
                   name="old", agent=agent)  # fmt: skip
    bar = bar_of(hard_layers=["policy", HOSTILE], name=HOSTILE)

    text = decision_markdown(decide(run, bar, baseline=old), link="https://ci.example/1")

    page = rendered(text)
    assert "script" not in re.findall(r"<(\w+)", page)
    assert "img" not in re.findall(r"<(\w+)", page)
    assert re.findall(r'href="([^"]*)"', page) == ["https://ci.example/1"]
    assert (
        re.findall(r"(?<!&)[@#](?=\w)", re.sub(r"<code>.*?</code>", "", page, flags=re.DOTALL))
        == []
    )
    assert "\u202e" not in text and "\x1b" not in text
    assert text.splitlines()[0].startswith("## HOLD: made 1, ")
    # All tables are whole: no row has more cells than its head.
    for table in re.findall(r"<table>.*?</table>", page, re.DOTALL):
        head, *rows_of = re.findall(r"<tr>.*?</tr>", table, re.DOTALL)
        cells = {len(re.findall(r"<td[ >]", one)) for one in rows_of}
        assert cells == {len(re.findall(r"<th[ >]", head))}
    # What was said can still be read.
    assert words(page).count("<script>x</script>") >= 3


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("plain words", "plain words"),
        ("snake_case and _this_", r"snake_case and \_this\_"),
        ("a|b", "a&#124;b"),
        ("`x` *y* [z](u)", r"\`x\` \*y\* \[z\](u)"),
        ("<b>&amp;", "&lt;b&gt;&amp;&#8203;amp;"),
        ("@team !12 #3", "@&#8203;team !&#8203;12 #&#8203;3"),
        ("two\nlines\r\n\there", "two lines here"),
        ("http://x www.y", "http:&#8203;//x www&#8203;.y"),
        ("\u202eevil\x1b[0m", r"\\u202eevil\\x1b\[0m"),
        ("", ""),
    ],
)
def test_words_are_words_in_markdown(text: str, markdown: str) -> None:
    assert plain(text) == markdown
    # Read back as a page shows it, it is the text again, its hidden signs made visible.
    shown = " ".join(text.replace("\u202e", r"\u202e").replace("\x1b", r"\x1b").split())
    assert words(rendered(f"x {markdown}")).strip() == f"x {shown}".strip()


@pytest.mark.parametrize(
    "name", ["case-1", "a b", "with`tick", "a|b", "back\\slash", "@team", "x" * 90, ""]
)
def test_a_name_is_code_in_which_nothing_acts(name: str) -> None:
    page = rendered(f"| a | b |\n|---|---|\n| {code(name)} | 2 |\n")

    (shown,) = re.findall(r"<code>(.*?)</code>", page)
    wanted = name if len(name) <= 80 else f"{name[:79]}…"
    assert html.unescape(shown) == wanted
    assert len(re.findall(r"<td[ >]", page)) == 2


@given(st.text(st.sampled_from("ab1 _*`[]()<>|\\&#@!~$^:/.-+=\n\t;w{}\"'%\u202e"), max_size=24))
def test_no_text_acts_wherever_it_stands(text: str) -> None:
    in_line = rendered(f"- **x** {plain(text)} y\n")
    table = rendered(f"| a | b |\n|---|---|\n| {plain(text)} | {code(text)} |\n")

    assert set(re.findall(r"<(\w+)", in_line)) == {"ul", "li", "strong"}
    assert set(re.findall(r"<(\w+)", table)) == {
        "table", "thead", "tbody", "tr", "th", "td", "code",
    }  # fmt: skip
    cells = re.findall(r"<td[^>]*>(.*?)</td>", table, re.DOTALL)
    assert [bare(cell) for cell in (in_line, *cells)] == [
        f"x {clipped(text, 300)} y", clipped(text, 300), clipped(text, 80),
    ]  # fmt: skip


def test_a_comment_never_grows_over_what_a_comment_may_hold(tmp_path: Path) -> None:
    ids = [f"{'@|<日`' * 30}{at}" for at in range(200)]
    layers = [f"{'*_|日' * 40}{at}" for at in range(200)]
    rows = {name: dict.fromkeys(layers, at % 3 > 0) for at, name in enumerate(ids)}
    run = make_run(tmp_path, rows, critical=ids)
    bar = bar_of(hard_layers=layers, critical="all", pass_rate=dict.fromkeys(layers, 0.9))
    decision = decide(run, bar)

    text = decision_markdown(decision, link="https://ci.example/1")
    checked = check_markdown(run.info, summarise(run))

    for one in (text, checked):
        assert len(one.encode()) <= LONGEST
        assert one.rstrip().endswith("</details>")
        assert re.search(r"\n[\d,]+ more do not fit here; the report has all of them\.\n", one)
    assert text.startswith("## HOLD: ")
    assert "180 more layers" in text
    assert "more clauses, below" in text


def test_a_run_that_no_agent_ran_says_so_beside_its_numbers(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(4, 4))
    info = run.info.model_copy(update={"kind": "simulated", "data_note": "Made up, all of it."})
    (run.path / "run.json").write_text(info.model_dump_json(), encoding="utf-8")
    run = Run.open(run.path)

    text = decision_markdown(decide(run, bar_of(pass_rate={"outcome": 0.5})))

    assert "On 4 cases (simulated): 2 clauses pass." in text
    assert "note: Made up, all of it." in text


def test_a_review_that_no_clause_made_says_why(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(4, 4))

    text = decision_markdown(decide(run, bar_of(mean={"tone": 3}, untrusted="report")))

    assert text.startswith("## REVIEW: ")
    assert "- no clause that a release could rest on was told" in text


# check


@pytest.mark.parametrize(
    ("rows", "verdict", "line"),
    [
        ({"a": {"outcome": True}}, "PASS", None),
        ({"a": {"outcome": False}}, "FAIL", "- **failed** `a`: outcome · outcome check: not this"),
        ({"a": {"outcome": None}}, "UNSCORED", "- **unscored** `a`: outcome check: unknown cost"),
    ],
)
def test_a_check_says_what_failed(
    tmp_path: Path, rows: dict[str, Any], verdict: str, line: str | None
) -> None:
    run = make_run(tmp_path, rows)

    text = check_markdown(run.info, summarise(run))

    assert text.startswith(f"## {verdict}: made 1, rules v1\n")
    listed = [one for one in text.splitlines() if one.startswith("- ")]
    assert listed == ([] if line is None else [line])
    assert "<sub>suite made 1 · suite-digest, agent rules, prompt v1" in text


REPEATED = {
    "a": [{"policy": False, "policy/no": False}, {"policy": False, "policy/no": True}],
    "b": [{"policy": False}, {"policy": True}],
    "c": [{"policy": False}, {"policy": False}],
    "z": [{"policy": False}, {"policy": False}],
}  # fmt: skip


def test_repeats_of_a_case_are_one_entry_and_what_is_critical_comes_first(tmp_path: Path) -> None:
    run = make_run(tmp_path, REPEATED, critical=["z"])

    gate = decision_markdown(decide(run, bar_of(hard_layers=["policy"], critical="all")))
    check = check_markdown(run.info, summarise(run))

    assert [one for one in gate.splitlines() if "Hard fails" in one] == [
        "- **Hard fails (4):** `z` (2 of 2 repeats) policy check: not this; "
        "`a` (2 of 2 repeats) policy check: not this and 1 more check; "
        "`b` (1 of 2 repeats) policy check: not this; and `c`"
    ]
    assert [one for one in check.splitlines() if one.startswith("- ")] == [
        "- **failed** `z` (2 of 2 repeats): policy · policy check: not this",
        "- **failed** `a` (2 of 2 repeats): policy · policy check: not this and 1 more check",
        "- **failed** `b` (1 of 2 repeats): policy · policy check: not this",
        "- **failed** `c` (2 of 2 repeats): policy · policy check: not this",
    ]


def test_an_incomplete_check_is_called_so(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(4, 4), missing=[("case-001", 0)])

    text = check_markdown(run.info, summarise(run), complete=False)

    assert text.startswith("## INCOMPLETE: ")
    assert "- **missing** `case-001`: no transcript yet" in text


def test_the_check_command_writes_its_summary(root: Path, tmp_path: Path) -> None:
    file = tmp_path / "out" / "check.md"

    code = main(
        ["check", str(root / "data/suites/helpdesk.yaml"),
         "--agent", str(root / "data/agents/helpdesk_v2.yaml"), "--runs", str(tmp_path),
         "--markdown", str(file), "--link", "https://ci.example/2"]
    )  # fmt: skip

    text = file.read_text(encoding="utf-8")
    assert code == 1
    assert text.startswith("## FAIL: helpdesk 2026.06, rules v2\n")
    assert "3 of 35 cases failed, 0 unscored. [The report](<https://ci.example/2>)" in text
    assert (
        "- **failed** `other-salary`: trajectory · forbidden_tools: raise_ticket was called" in text
    )


# mistakes


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--link", "javascript:alert(1)"], 'argument --link: "javascript:alert(1)" wants an'),
        (["--link", "https://x/>)"], 'argument --link: "https://x/>)" wants an address'),
        (["--markdown", "."], "--markdown .: is a folder; name a file"),
        (["--junit", "."], "--junit .: is a folder; name a file"),
    ],
)
def test_a_place_that_cannot_be_is_a_configuration_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], complaint: str
) -> None:
    run = make_run(tmp_path, passes(4, 4))
    bar = tmp_path / "bar.yaml"
    bar.write_text("pass_rate: {outcome: 0.5}\n", encoding="utf-8")

    code = main(["gate", str(run.path), "--bar", str(bar), *more])

    assert code == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize("command", ["check nowhere.yaml", "gate nowhere"])
def test_what_an_earlier_call_left_does_not_speak_for_one_that_breaks_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    left = [Path("gate.md"), Path("gate.xml")]
    left[0].write_text("## SHIP: it", encoding="utf-8")
    left[1].write_text("<?xml version='1.0'?>", encoding="utf-8")

    code = main([*command.split(), "--markdown", "gate.md", "--junit", "gate.xml"])

    assert code == 2
    assert not any(file.exists() for file in left)


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("gate {run} --bar bar.yaml --junit {run}/checks.jsonl", "is in a run folder"),
        ("gate {run} --bar bar.yaml --junit {run}/verdicts.jsonl", "is in a run folder"),
        ("gate {run} --bar bar.yaml --markdown bar.yaml", "is there and is not a summary"),
        ("gate {run} --bar bar.yaml --markdown gate.xml", "is there and is not a summary"),
        ("gate {run} --bar bar.yaml --junit link.md", "is there and is not JUnit XML"),
        ("gate {run} --bar bar.yaml --junit new --markdown new", "--junit names it too"),
        ("check suite.yaml --junit prompt.md --markdown x.md", "is there and is not JUnit XML"),
        ("check suite.yaml --out new --junit new/a.xml", "is in a run folder"),
        ("report {run} --bar bar.yaml --out {run}/run.json", "is in a run folder"),
        ("report {run} --bar bar.yaml --out bar.yaml", "is there and is not a page"),
        ("calibrate {run} --out {run}/judges.jsonl", "is in a run folder"),
        ("import log.jsonl --out {run}/verdicts.jsonl", "is in a run folder"),
    ],
)
def test_no_output_takes_the_place_of_what_is_read(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    complaint: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    run = make_run(tmp_path, passes(4, 4))
    Path("bar.yaml").write_text("pass_rate: {outcome: 0.5}\n", encoding="utf-8")
    Path("gate.xml").write_text("<?xml version='1.0'?>", encoding="utf-8")
    Path("prompt.md").write_text("# Say yes.\n", encoding="utf-8")
    Path("link.md").symlink_to("prompt.md")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    code = main(command.format(run=run.path.relative_to(tmp_path)).split())

    assert code == 2
    assert complaint in capsys.readouterr().err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_mean_over_cases_is_not_told_as_the_share_of_the_transcripts_beside_it(
    tmp_path: Path,
) -> None:
    # 2 of 4 transcripts passed, and the mean over cases is that of 1 and 1/3.
    run = make_run(
        tmp_path,
        {
            "a": [{"outcome": True}, {"outcome": None}, {"outcome": None}],
            "b": [{"outcome": True}, {"outcome": False}, {"outcome": False}],
        },
    )
    summary = summarise(run)

    shown = "\n".join(check_lines(RunResult(run, 6, 0, 0), summary))

    assert "outcome      2 of 4 passed, 2 unscored  mean over 2 cases 67 % (" in shown
    assert "2 of 4, 2 unscored | mean over 2 cases 67 % (" in check_markdown(run.info, summary)
