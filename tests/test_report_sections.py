"""The sections of a release: each says what is known, and that something is not where it is not."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders import Rows, make_run, passes
from judged import make_judged_run, talk

from agenteval_kit import report
from agenteval_kit.compare import compare_checks
from agenteval_kit.errors import ConfigError
from agenteval_kit.gate import decide
from agenteval_kit.records import AgentStamps, Transcript, Turn
from agenteval_kit.records.bars import Bar
from agenteval_kit.records.transcripts import Finding, Usage
from agenteval_kit.release import draw_changes, draw_repeats, draw_trends
from agenteval_kit.report.answers import show_answers
from agenteval_kit.report.changes import _lowered
from agenteval_kit.report.facts import read_facts, spent
from agenteval_kit.report.reading import reading_list
from agenteval_kit.report.release import STATES
from agenteval_kit.report.wording import minus
from agenteval_kit.runs import Run, publish_run
from agenteval_kit.summary import summarise

RATE = Bar(pass_rate={"outcome": 0.5})


def release(
    new: Run,
    old: Run | None = None,
    *,
    bar: Bar | None = RATE,
    **more: Any,
) -> report.Release:
    summary = summarise(new)
    before = summarise(old) if old is not None else None
    return report.gather_release(
        new,
        summary,
        decision=decide(new, bar, baseline=old) if bar is not None else None,
        baseline=old,
        before=before,
        comparison=compare_checks(old, new) if old is not None else None,
        **more,
    )


def words(made: report.Html) -> str:
    """What a reader reads: tags become spaces, and spaces one."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", str(made))).split())


def with_info(run: Run, **changed: Any) -> Run:
    """The same run under changed stamps, written to its folder."""
    run.info = run.info.model_copy(update=changed)
    (run.path / "run.json").write_text(run.info.model_dump_json(), encoding="utf-8")
    return Run.open(run.path)


def with_transcripts(run: Run, changes: dict[str, dict[str, Any]]) -> Run:
    """The same run with fields of some transcripts changed."""
    every = [item.model_copy(update=changes.get(item.case_id, {})) for item in run.transcripts()]
    lines = (Transcript.model_validate(item.model_dump()).model_dump_json() for item in every)
    (run.path / "transcripts.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return Run.open(run.path)


TALK = (Turn(role="user", text="Refund me."), Turn(role="assistant", text="I have refunded you."))


# The verdict.


@pytest.mark.parametrize(
    ("passed", "bar", "verdict", "sentence"),
    [
        (9, RATE, "SHIP", "all two clauses pass."),
        (2, RATE, "HOLD", "one clause fails, one passes."),
        (9, Bar(pass_rate={"grounding": 0.5}), "REVIEW", "one clause cannot be told, one passes."),
        (2, Bar(pass_rate={"outcome": 0.5, "policy": 0.5}), "HOLD",
         "one clause fails, one cannot be told, one passes."),
    ],
)  # fmt: skip
def test_the_verdict_comes_with_the_clauses_that_made_it(
    tmp_path: Path, passed: int, bar: Bar, verdict: str, sentence: str
) -> None:
    page = release(make_run(tmp_path, passes(10, passed)), bar=bar)

    said = words(report.show_verdict(page))

    assert said.startswith(f"{verdict} Run run on 10 cases: {sentence}")


def test_a_verdict_names_the_release_where_the_run_is_one(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(10, 9))
    publish_run(run, by="Kim", verdict="SHIP", bar_digest="bar-1", name="2026.03")

    assert "Release 2026.03 on 10 cases: " in words(report.show_verdict(release(run)))


@pytest.mark.parametrize(
    ("cases", "bar", "told"),
    [
        # 1 - 0.05 ** (1 / 3) = 0.632: the exact bound, by the arithmetic
        (passes(3, 3), RATE, "A true failure rate of up to 63 % in outcome is not ruled out "
         "(one-sided 95 %, as none failed). Each case ran once"),
        # Wilson's lower end at 9 of 10 is 0.596 (scipy binomtest)
        (passes(10, 9), RATE, "up to 40 % in outcome is not ruled out."),
        (passes(10, 10, layer="policy"), Bar(hard_layers=["policy"]), "up to 26 % in policy is"),
        # The weakest of the layers that a clause reads, on the cases that it stands on
        ({f"c{at}": {"outcome": True, **({"policy": True} if at < 2 else {})} for at in range(20)},
         Bar(pass_rate={"outcome": 0.5}, hard_layers=["policy"]),
         "up to 78 % in policy (2 cases) is not ruled out (one-sided"),
        ({f"c{at}": {"outcome": True, "policy": True} for at in range(16)},
         Bar(hard_layers=["outcome", "policy"]), "up to 17 % in outcome and in policy is not"),
        ({f"c{at}": [{"outcome": True}] * 5 for at in range(3)}, RATE,
         "on 3 cases × 5: all two clauses pass."),
    ],
)  # fmt: skip
def test_a_ship_says_what_so_few_cases_do_not_rule_out(
    tmp_path: Path, cases: dict[str, Any], bar: Bar, told: str
) -> None:
    page = release(make_run(tmp_path, cases), bar=bar)

    said = words(report.show_verdict(page))

    assert said.startswith("SHIP Run ")
    assert told in said


def test_a_ship_on_critical_cases_alone_says_what_those_do_not_rule_out(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(20, 20), critical=["case-000", "case-001", "case-002"])

    said = words(report.show_verdict(release(run, bar=Bar(critical="all"))))

    assert "up to 63 % in critical cases (3 cases) is not ruled out (one-sided 95 %" in said


def test_only_a_ship_speaks_of_what_is_not_ruled_out(tmp_path: Path) -> None:
    page = release(make_run(tmp_path, passes(10, 2)))

    assert "failure rate" not in words(report.show_verdict(page))


def test_signs_of_clauses_are_true_minus_signs_and_names_keep_their_hyphens(tmp_path: Path) -> None:
    bar = Bar.model_validate({"no_worse": {"outcome": {"against": "baseline", "margin": 0.05}}})
    old = make_run(tmp_path, passes(60, 44), name="old")
    page = release(make_run(tmp_path, passes(60, 35)), old, bar=bar)

    for shown in (report.show_verdict(page), report.show_clauses(page)):
        said = words(shown)
        assert "difference −15 points (−26 to −8, two-sided 95 %)" in said
        assert "the drop is larger than 5 points (one-sided 95 %)" in said
        assert "case-035" in said


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("(-13 to +13)", "(−13 to +13)"),
        ("-0.5 and 0.5 - 0.03", "−0.5 and 0.5 − 0.03"),
        ("2026-03-02 in case-007, pass-2", "2026-03-02 in case-007, pass-2"),
    ],
)
def test_only_signs_of_numbers_become_minus_signs(text: str, shown: str) -> None:
    assert minus(text) == shown


def test_a_clause_leads_to_its_cases(tmp_path: Path) -> None:
    page = release(make_run(tmp_path, passes(10, 1)))

    made = str(report.show_verdict(page))

    assert '<a href="#record-case-001">case-001</a>' in made
    assert "and 3 more" in made


def test_without_a_bar_nothing_is_decided(tmp_path: Path) -> None:
    page = release(make_run(tmp_path, passes(4, 4)), bar=None)

    assert words(report.show_verdict(page)).startswith(
        "NO BAR No bar was given, so nothing is decided. May it ship: That is not decided"
    )
    assert words(report.show_clauses(page)) == "No bar was given."


def test_recorded_and_simulated_runs_say_what_they_are(tmp_path: Path) -> None:
    note = "Real transcripts. Made by others."
    new = with_info(make_run(tmp_path, passes(4, 4)), kind="simulated", data_note=note)
    old = with_info(
        make_run(tmp_path, passes(4, 4), name="old"),
        kind="recorded",
        data_note="Real transcripts. The baseline agent.",
    )

    said = words(report.show_verdict(release(new, old)))

    assert (
        "This release: simulated for a demonstration; the baseline: recorded transcripts, "
        "not a live agent. Real transcripts. This release: Made by others. The baseline: The "
        "baseline agent." in said
    )
    assert said.count("Real transcripts.") == 1


def test_runs_of_different_suites_are_shown_but_not_compared(tmp_path: Path) -> None:
    new = make_run(tmp_path, passes(4, 4))
    old = make_run(tmp_path, passes(4, 4), name="old", digest="another")

    page = release(new, old)

    assert "Not compared with the baseline: the suites differ" in words(report.show_verdict(page))
    assert "baseline" not in words(report.show_layers(page))
    assert set(page.states.values()) == {"passing"}


def test_stamps_say_who_and_which_version(tmp_path: Path) -> None:
    agent = AgentStamps(
        model="model-x", model_served="model-x-2026-10-01", prompt="v6", prompt_digest="9f31c2"
    )
    page = release(make_run(tmp_path, passes(4, 4), agent=agent))

    said = words(report.show_stamps(page))

    assert "agent model-x (served as model-x-2026-10-01)" in said
    assert "prompt v6 · 9f31c2" in said
    assert "judge not judged in this run" in said
    assert "suite made 1 · suite-digest" in said
    assert "clock none" in said
    assert "size 4 cases × 1" in said
    assert "cost not known" in said


# Hard fails.


def test_a_hard_fail_stands_open_at_its_turn(tmp_path: Path) -> None:
    cases = {"late": {"policy": False}, "fine": {"policy": True}}
    run = make_run(tmp_path, cases, turns={("late", 0): TALK})

    made = report.show_hard_fails(release(run, bar=Bar(hard_layers=["policy"])))

    assert "1 of 2 cases fail hard They come first: no score buys a hard fail back." in words(made)
    assert "✗ policy: policy check" in words(made)
    assert 'class="turn by-agent here"' in str(made)
    assert "I have refunded you." in words(made)


def test_a_case_that_fails_in_each_repeat_is_shown_once(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"late": [{"policy": True}, {"policy": False}, {"policy": False}]})

    said = words(report.show_hard_fails(release(run, bar=Bar(hard_layers=["policy"]))))

    assert "Failed in 2 of 3 repeats; this is repeat 1." in said


def test_many_hard_fails_are_listed_after_the_first_ten(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(14, 1, layer="policy"))

    made = report.show_hard_fails(release(run, bar=Bar(hard_layers=["policy"])))

    assert str(made).count("<article") == 10
    assert "The other 3 cases." in words(made)
    assert "13 of 14 cases" in words(made)


def test_no_hard_fail_and_no_hard_clause_are_two_things(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(4, 4, layer="policy"))

    assert words(report.show_hard_fails(release(run))) == (
        "No hard clause: The bar names no hard layer and no critical case, so nothing can be a "
        "hard fail."
    )
    assert words(report.show_hard_fails(release(run, bar=Bar(hard_layers=["policy"])))) == (
        "No hard fail: None in 4 cases."
    )


# Layers and repeats.


def test_the_heading_names_the_layer_that_fails_and_the_one_that_fell(tmp_path: Path) -> None:
    old = make_run(tmp_path, passes(40, 40), name="old")
    new = make_run(tmp_path, passes(40, 8))

    said = words(report.show_layers(release(new, old)))

    assert said.startswith("Outcome fails the bar; outcome fell")
    assert "8 of 40" in said
    assert "beyond noise" in said
    assert "Where fixes usually lie. Outcome: seldom in the outcome itself" in said


def test_no_difference_is_told_with_the_drop_that_is_not_ruled_out(tmp_path: Path) -> None:
    # 44 of 60 both times, 7 broken and 7 fixed: the shipped A/B in small.
    rows = passes(60, 44)
    swapped: dict[str, Rows] = {
        name: {"outcome": index >= 7 and (index < 44 or index < 51)}
        for index, name in enumerate(rows)
    }
    old = make_run(tmp_path, rows, name="old")
    new = make_run(tmp_path, swapped)

    said = words(report.show_layers(release(new, old)))

    assert "No layer moved beyond noise" in said
    assert re.search(r"within noise; a drop of up to \d+ points is not ruled out; 7 broken", said)


def test_the_table_says_the_drop_in_the_unit_that_the_bar_reads_the_layer_in(
    tmp_path: Path,
) -> None:
    bar = Bar(no_worse={"outcome": {"margin": 0.05, "unit": "win_rate"}})
    old = make_run(tmp_path, passes(60, 44), name="old")
    page = release(make_run(tmp_path, passes(60, 38)), old, bar=bar)

    said = words(report.show_layers(page))

    assert page.decision is not None
    drop = re.search(r"a drop of up to \S+ points of win rate", page.decision.rows[0].reason)
    assert drop is not None
    assert f"; {drop[0]} is not ruled out; 6 broken" in said


def test_a_layer_with_critical_failures_points_to_them_though_its_rate_passes(
    tmp_path: Path,
) -> None:
    rows = {f"c{at}": {"outcome": True, "trajectory": at > 2} for at in range(40)}
    bar = Bar(pass_rate={"outcome": 0.9, "trajectory": 0.9}, critical="all")
    old = make_run(tmp_path, rows, name="old")
    page = release(make_run(tmp_path, rows, critical=["c0", "c1", "c5"]), old, bar=bar)

    made = report.show_layers(page)

    said = words(made)
    assert said.startswith("Critical cases failed in trajectory; no layer moved beyond noise")
    assert "trajectory ✓ pass ✗ critical 2 cases failed, see above" in said
    assert said.count("✗ critical") == 1
    assert '<a href="#hard">see above</a>' in str(made)


def test_the_two_kinds_of_bounds_are_told_apart_once_under_the_heading(tmp_path: Path) -> None:
    old = make_run(tmp_path, passes(60, 44), name="old")

    said = words(report.show_layers(release(make_run(tmp_path, passes(60, 44)), old)))

    assert said.count("two-sided 95 %") == 1
    assert said.count("one-sided 95 %") == 1
    assert "one-sided 95 % (anchored bound; Gaffke's where few cases moved)." in said


def test_a_layer_without_a_score_says_why(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"a": {"outcome": True, "policy": None}})

    said = words(report.show_layers(release(run)))

    assert "policy no clause 0 of 0 not computable" in said
    assert "1 unscored; nothing was scored" in said


def test_repeats_show_pass_k_and_the_flaky(tmp_path: Path) -> None:
    flaky = {f"c{i}": [{"outcome": True}, {"outcome": i % 2 == 0}] for i in range(6)}
    page = release(make_run(tmp_path, flaky))

    said = words(report.show_repeats(page))

    assert said.startswith("3 of 6 cases do not agree with themselves")
    assert "pass^1 pass^2 flaky cases" in said
    assert "Flaky: c1 , c3 , c5" in said


def test_repeats_that_no_check_scored_agree_with_nothing(tmp_path: Path) -> None:
    judged = {f"c{i}": [{}, {}] for i in range(3)}

    said = words(report.show_repeats(release(make_run(tmp_path, judged, name="judged"))))
    half = {**judged, **{f"d{i}": [{"outcome": True}] * 2 for i in range(2)}}
    some = words(report.show_repeats(release(make_run(tmp_path, half, name="half"))))

    assert said == (
        "Repeats: Each case ran 2 times, but none has two repeats that checks scored: nothing is "
        "known of how steady the agent is by its checks."
    )
    assert some.startswith("Every case that was checked twice or more (2 of 5) agrees with itself")
    assert "outcome 100 %" in some


def test_repeats_count_the_same_cases_wherever_they_are_named(tmp_path: Path) -> None:
    rows: dict[str, list[Rows]] = {f"c{at}": [{"outcome": True}] * 3 for at in range(5)}
    rows["c0"] = [{"outcome": True}, {"outcome": False}, {"outcome": None}]
    rows["c1"] = [{"outcome": True}, {"outcome": None}, {"outcome": None}]
    page = release(make_run(tmp_path, rows))

    said = words(report.show_repeats(page))

    assert said.startswith("1 of 4 cases do not agree with themselves")
    # pass^1 over five, pass^2 over four, pass^3 over the three with three scored repeats
    assert re.search(r"outcome .*?n = 5 .*?n = 4 .*?n = 3 1 of 4 ", said)
    assert draw_repeats(page).layout.title.text.endswith(
        "(n = 5 cases; 3 cases with 3 scored repeats)"
    )


def test_a_layer_that_fell_in_some_repeats_says_of_how_many(tmp_path: Path) -> None:
    was: list[Rows] = [{"outcome": True}, {"outcome": True}, {"outcome": False}]
    now: list[Rows] = [{"outcome": True}, {"outcome": False}, {"outcome": False}]
    old, new = make_run(tmp_path, {"c0": was}, name="old"), make_run(tmp_path, {"c0": now})

    (reason,) = [one for one in reading_list(release(new, old)) if "fell" in one.why]

    assert reason.why == "outcome fell: 2 of 3 repeats passed in the baseline, 1 of 3 now"


def test_one_repeat_says_nothing_of_steadiness(tmp_path: Path) -> None:
    page = release(make_run(tmp_path, passes(4, 4)))

    assert words(report.show_repeats(page)).startswith("Repeats: Each case ran once")


# Records.


def pair(
    tmp_path: Path, old: dict[str, Sequence[Rows]], new: dict[str, Sequence[Rows]]
) -> report.Release:
    return release(make_run(tmp_path, new), make_run(tmp_path, old, name="old"))


YES, NO, GAP = {"outcome": True}, {"outcome": False}, {"outcome": None}


@pytest.mark.parametrize(
    ("old", "new", "state"),
    [
        ([YES], [NO], "broken"),
        ([NO], [YES], "fixed"),
        ([YES], [YES], "unchanged"),
        ([NO], [NO], "steadily low"),
        (
            [{"outcome": True, "policy": False}],
            [{"outcome": False, "policy": False}],
            "fell further",
        ),
        (
            [{"outcome": False, "policy": True}],
            [{"outcome": False, "policy": False}],
            "fell further",
        ),
        (
            [{"outcome": False, "policy": False}],
            [{"outcome": True, "policy": False}],
            "steadily low",
        ),
        ([YES], [GAP], "unscored"),
        ([GAP], [YES], "unscored"),
        ([YES, YES], [YES, NO], "flaky"),
        ([YES, NO], [YES, YES], "flaky"),
        ([YES, YES], [NO, NO], "broken"),
        ([NO, NO], [YES, YES], "fixed"),
    ],
)
def test_states_of_a_record(
    tmp_path: Path, old: Sequence[Rows], new: Sequence[Rows], state: str
) -> None:
    page = pair(tmp_path, {"a": old}, {"a": new})

    assert page.states == {"a": state}
    assert state in STATES


def test_what_broke_names_the_cases_that_failed_before_and_fell_in_a_layer_too(
    tmp_path: Path,
) -> None:
    fails, both = {"outcome": True, "policy": False}, {"outcome": False, "policy": False}
    page = pair(tmp_path, {"a": [YES], "b": [fails]}, {"a": [NO], "b": [both]})

    said = words(report.show_verdict(page)).replace("( ", "(").replace(" )", ")")

    assert "One case broke (a), passing before and failing now; one that failed before" in said
    assert "failed before too fell in a layer (b); none is mended." in said
    assert page.comparison is not None
    assert page.comparison.sentence.startswith(
        "1 case broke (a), 1 more that failed before too fell in a layer (b); "
    )


def test_the_layer_that_leaves_the_verdict_open_is_read_before_one_that_no_clause_reads(
    tmp_path: Path,
) -> None:
    old = {f"c{at}": [{"outcome": True, "policy": True}] for at in range(12)}
    new = {**old, "c1": [{"outcome": True, "policy": False}],
           "c7": [{"outcome": False, "policy": True}]}  # fmt: skip
    bar = Bar.model_validate({"no_worse": {"outcome": {"against": "baseline", "margin": 0.05}}})
    runs = make_run(tmp_path, new), make_run(tmp_path, old, name="old")
    page = release(*runs, bar=bar)

    said = words(report.show_verdict(page)).replace(" :", ":")

    assert page.decision is not None
    assert page.decision.verdict == "REVIEW"
    assert (
        "Read first: c7: outcome fell: it passed in the baseline. First because it broke "
        "since the baseline and fell in outcome, where the bar is undecided."
    ) in said
    assert "Could be a larger drop than is allowed: outcome −8 points (" in said
    assert "; 5 allowed)." in said


def test_a_mean_without_a_value_is_not_said_to_lie_over_its_bar(tmp_path: Path) -> None:
    bar = Bar(pass_rate={"outcome": 0.5}, mean={"tone": 3})

    said = words(report.show_verdict(release(make_run(tmp_path, passes(20, 20)), bar=bar)))

    assert "Each rate that was measured lies with its whole interval over its bar." in said
    assert "No value yet: mean tone." in said


def test_on_paper_a_record_that_did_nothing_new_is_a_name(tmp_path: Path) -> None:
    cases = ({"a": [YES], "b": [NO], "c": [YES]}, {"a": [YES], "b": [NO], "c": [NO]})

    made = str(report.show_records(pair(tmp_path, *cases)))

    assert re.findall(r'data-name="(\w)" class="quiet"', made) == ["a"]


def test_what_no_transcript_says_of_its_cost_is_said_once(tmp_path: Path) -> None:
    page = pair(tmp_path, {"a": [YES]}, {"a": [YES]})

    said = words(report.show_cost(page))

    assert (
        "Not known at all: cost; tokens; seconds, median; seconds, 90th percentile. of the agent "
        "this release baseline turns, mean"
    ) in said


def test_states_without_a_baseline_and_of_new_cases(tmp_path: Path) -> None:
    alone = release(make_run(tmp_path, {"a": [YES], "b": [NO], "c": [GAP]}, name="alone"))
    grown = pair(tmp_path, {"a": [YES], "gone": [YES]}, {"a": [YES], "b": [YES]})

    assert alone.states == {"a": "passing", "b": "failing", "c": "unscored"}
    assert grown.states == {"a": "unchanged", "b": "new"}
    assert "In the baseline only: gone." in words(report.show_records(grown))


def test_records_are_sorted_by_state_and_can_be_filtered(tmp_path: Path) -> None:
    page = pair(tmp_path, {"a": [YES], "b": [YES], "c": [NO]}, {"a": [YES], "b": [NO], "c": [YES]})

    made = str(report.show_records(page))

    assert re.findall(r'data-name="(\w)"', made) == ["b", "c", "a"]
    assert "Records: 1 broken, 1 fixed, 1 unchanged, of 3" in made
    for choice in ("broken (1)", "outcome fails (1)", "outcome fell (1)"):
        (name,) = re.findall(rf'value="(\w+)"[^>]*>{re.escape(choice)}<', made)
        (found_under,) = re.findall(r'<li data-in="([^"]*)" data-name="b">', made)
        assert name in found_under.split()
        assert f'~.records>li:not([data-in~="{name}"])' in made


def test_a_layer_that_fell_is_seen_in_a_record_that_failed_before_too(tmp_path: Path) -> None:
    old = {"a": [{"outcome": True, "policy": False}]}
    new = {"a": [{"outcome": False, "policy": False}]}

    made = report.show_records(pair(tmp_path, old, new))

    assert 'aria-label="outcome: passed before, failed now"' in str(made)
    assert "✓ → ✗" in words(made)
    assert "Records: 1 fell further, of 1" in words(made)


def test_who_sends_a_page_of_excerpts_is_told_to_send_its_folder_along(tmp_path: Path) -> None:
    page = release(make_run(tmp_path, {"a": [YES]}))

    made = words(report.show_records(replace(page, files=tmp_path / "run_transcripts")))

    assert "lie in run_transcripts/: send that folder along with the page." in made
    assert "send that folder" not in words(report.show_records(page))


def test_a_record_says_where_its_case_comes_from_and_what_the_star_means(tmp_path: Path) -> None:
    page = release(make_run(tmp_path, {"a": [YES], "b": [YES]}, critical=["a"]))
    cases = page.summary.cases
    plan = cases[0].plan.model_copy(update={"origin": "conv-3140", "broke": "policy"})
    summary = replace(page.summary, cases=(replace(cases[0], plan=plan), *cases[1:]))

    made = words(report.show_records(replace(page, summary=summary)))

    assert "comes from conv-3140, where policy broke" in made
    assert "★ marks a critical case" in made
    assert "★" not in words(
        report.show_records(release(make_run(tmp_path, {"b": [YES]}, name="b")))
    )


def test_a_broken_record_shows_both_transcripts_and_where_they_part(tmp_path: Path) -> None:
    old = make_run(tmp_path, {"a": [YES]}, name="old", turns={("a", 0): TALK})
    other = (TALK[0], Turn(role="assistant", text="No."))
    new = make_run(tmp_path, {"a": [NO]}, turns={("a", 0): other})

    made = report.show_records(release(new, old))

    assert "Where it parts from the baseline First at turn 1 , text." in words(made)
    assert "this release ✗ failed" in words(made)
    assert "baseline ✓ passed" in words(made)
    assert 'href="#t-a-0-turn-1"' in str(made)
    assert 'id="t-a-0-turn-1"' in str(made)


def test_every_place_that_is_linked_to_is_on_the_page(tmp_path: Path) -> None:
    old = make_run(tmp_path, passes(12, 12), name="old", turns={("case-001", 0): TALK})
    new = make_run(tmp_path, passes(12, 1), turns={("case-001", 0): TALK})
    page = release(new, old, bar=Bar(hard_layers=["outcome"], pass_rate={"outcome": 0.9}))

    made = "".join(
        str(show(page))
        for show in (
            report.show_verdict,
            report.show_clauses,
            report.show_hard_fails,
            report.show_layers,
            report.show_records,
            report.show_reading_list,
            report.show_coverage,
        )
    )

    places = re.findall(r'id="([^"]+)"', made)
    assert len(places) == len(set(places))
    assert set(re.findall(r'href="#([^"]+)"', made)) <= set(places)


# The reading list.


def test_the_reading_list_names_what_is_odd(tmp_path: Path) -> None:
    cases = {name: {"outcome": True} for name in ("crash", "odd", "extra", "gap", "plain")}
    run = make_run(tmp_path, {**cases, "gap": {"outcome": None}}, failures={("crash", 0): "agent"})
    called = parse_call("delete_account")
    run = with_transcripts(
        run,
        {
            "odd": {"findings": (Finding(state="malformed_arguments", turn=0),)},
            "extra": {"turns": called},
            "plain": {"findings": (Finding(state="content_parts", turn=0),), "turns": called},
        },
    )
    plans = tuple(
        plan.model_copy(update={"tools": ("search",) if plan.id == "extra" else None})
        for plan in run.info.cases
    )

    page = release(with_info(run, cases=plans))

    assert [(one.case_id, one.why) for one in reading_list(page)] == [
        ("crash", "the agent crashed: RuntimeError: it broke"),
        ("gap", "unscored: outcome check: unknown cost"),
        ("odd", "a tool call's arguments are not one JSON object"),
        ("extra", "passed, but called delete_account, which the case does not list"),
    ]


def parse_call(name: str) -> tuple[Turn, ...]:
    from agenteval_kit.records.messages import parse_messages

    function = {"name": name, "arguments": "{}"}
    message = {"role": "assistant", "tool_calls": [{"id": "1", "function": function}]}
    return parse_messages([message]).turns


def test_a_reason_stands_once_with_all_its_transcripts(tmp_path: Path) -> None:
    run = make_run(tmp_path, {f"c{at:02d}": {"outcome": None} for at in range(20)})

    said = words(report.show_reading_list(release(run)))

    assert "One reason to read a transcript" in said
    assert "and 8 more" in said


def test_nothing_to_read_is_said(tmp_path: Path) -> None:
    page = release(make_run(tmp_path, passes(4, 4)))

    assert "Nothing stands out" in words(report.show_reading_list(page))


# Cost and changes.


def test_unknown_cost_stays_unknown(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(2, 2))
    half = with_transcripts(run, {"case-000": {"cost_usd": 0.5}})

    said = words(report.show_cost(release(half)))

    assert said.startswith("Cost is not known")
    assert "cost not known (1 of 2 say)" in said


def test_known_cost_is_summed_and_compared(tmp_path: Path) -> None:
    usage = Usage(calls=2, input_tokens=100, output_tokens=20, from_tape=1)
    new = with_transcripts(
        make_run(tmp_path, passes(1, 1)),
        {"case-000": {"cost_usd": 3.0, "usage": usage, "seconds": 2.5}},
    )
    old = with_transcripts(
        make_run(tmp_path, passes(1, 1), name="old"), {"case-000": {"cost_usd": 2.0}}
    )

    said = words(report.show_cost(release(new, old)))

    assert said.startswith("Cost 3.00 USD, +50 % against the baseline")
    assert "tokens 120 not known seconds" in said
    assert "seconds, median 2.5 not known" in said
    assert "agent's model replies 2 (1 from the tape) none" in said


def test_nothing_spent_is_not_known_of_an_empty_run() -> None:
    took = spent(read_facts([]))

    assert took.cost_usd is None
    assert took.tokens is None
    assert took.turns is None


def test_without_a_baseline_one_line_says_what_would_show_a_change(tmp_path: Path) -> None:
    made = report.show_changes(release(make_run(tmp_path, passes(1, 1))))

    assert "<h2" not in str(made)
    assert words(made).startswith("What changed: there is no baseline; name a run with baseline")


def test_the_prompt_is_compared_line_by_line(tmp_path: Path) -> None:
    old = with_info(
        make_run(tmp_path, passes(2, 2), name="old"), prompt_text="Be kind.\nBe <brief>."
    )
    new = with_info(make_run(tmp_path, passes(2, 2)), prompt_text="Be kind.\nBe <long>.")

    made = str(report.show_changes(release(new, old)))

    assert "<del>-Be &lt;brief&gt;.</del>" in made
    assert "<ins>+Be &lt;long&gt;.</ins>" in made


def test_a_prompt_that_is_not_known_is_not_called_unchanged(tmp_path: Path) -> None:
    old = make_run(tmp_path, passes(2, 2), name="old")
    new = with_info(make_run(tmp_path, passes(2, 2)), prompt_text="Be kind.")

    said = words(report.show_changes(release(new, old)))

    assert "The text of the prompt is not known for the baseline" in said


def test_a_bar_that_is_not_known_is_asked_for_by_the_word_of_each_surface(tmp_path: Path) -> None:
    old = make_run(tmp_path, passes(4, 4), name="old")
    page = release(make_run(tmp_path, passes(4, 4)), old, bar=Bar(pass_rate={"outcome": 0.4}))

    said = words(report.show_changes(page))

    assert "give it with --baseline-bar (in a notebook: baseline_bar )" in said


def test_every_lowered_threshold_is_marked(tmp_path: Path) -> None:
    old = make_run(tmp_path, passes(4, 4), name="old")
    page = release(
        make_run(tmp_path, passes(4, 4)),
        old,
        bar=Bar(pass_rate={"outcome": 0.4}, max_unscored=0.02),
        old_bar=Bar(pass_rate={"outcome": 0.9}, hard_layers=["policy"], max_unscored=0.05),
    )

    said = words(report.show_changes(page))

    assert "pass_rate outcome at_least 0.9 0.4 ✗ lowered" in said
    assert "hard_layers policy asked not asked ✗ lowered" in said
    assert "max_unscored 0.05 0.02 changed" in said


@pytest.mark.parametrize(
    ("name", "old", "new", "lowered"),
    [
        ("mean default", "3.3", "3", True),
        ("mean default", "3", "3.3", False),
        ("no_worse outcome margin", "0.05", "0.1", True),
        ("no_worse outcome margin", "0.1", "0.05", False),
        ("max_unscored", "0.02", "0.1", True),
        ("untrusted", "review", "report", True),
        ("untrusted", "report", "hold", False),
        ("bar_applies_to", "bound", "estimate", True),
        ("critical", "all", None, True),
        ("critical", None, "all", False),
    ],
)
def test_what_counts_as_lowered(name: str, old: str | None, new: str | None, lowered: bool) -> None:
    before = {} if old is None else {name: old}
    after = {} if new is None else {name: new}

    assert _lowered(name, before, after) is lowered


# Coverage.


def test_coverage_names_tools_that_were_never_called(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(4, 3))
    run = with_info(
        with_transcripts(run, {"case-000": {"turns": parse_call("search")}}),
        tools=("search", "refund"),
        cases=tuple(plan.model_copy(update={"tags": ("common",)}) for plan in run.info.cases),
    )

    said = words(report.show_coverage(release(run)))

    assert "4 cases reach 1 layer and 1 tool; 1 tool never exercised" in said
    assert "Listed by the suite or a case, and never called: refund." in said
    assert "common 4" in said
    assert "3 cases failed no check in this run" in said


def test_without_a_list_of_tools_nothing_is_claimed(tmp_path: Path) -> None:
    said = words(report.show_coverage(release(make_run(tmp_path, passes(2, 2)))))

    assert "The suite lists no tools, so tools that were never exercised cannot be told" in said


# Trends.


def history(tmp_path: Path) -> list[Run]:
    made = []
    for at in range(4):
        run = make_run(
            tmp_path / "runs",
            passes(10, 5 + at),
            name=f"r{at}",
            digest="first" if at < 2 else "second",
        )
        made.append(with_info(run, created=f"2026-03-0{at + 1}T09:00:00Z"))
    return made


def test_trends_are_in_order_and_break_where_the_suite_changed(tmp_path: Path) -> None:
    runs = history(tmp_path)
    make_run(tmp_path / "runs", passes(10, 5), name="other", suite="another")
    cut = make_run(tmp_path / "runs", passes(10, 5), name="cut", missing=[("case-000", 0)])
    with_info(cut, created="2026-03-01T00:00:00Z")

    points, left_out = report.read_trends(tmp_path / "runs", runs[3])

    assert [(point.run_id, point.series, point.broke) for point in points] == [
        ("r0", 0, ""),
        ("r1", 0, ""),
        ("r2", 1, "suite changed"),
        ("r3", 1, ""),
    ]
    assert left_out == ("cut: is incomplete",)


def test_trends_end_with_the_run_that_is_released(tmp_path: Path) -> None:
    runs = history(tmp_path)

    points, _ = report.read_trends(tmp_path / "runs", runs[1])

    assert [point.run_id for point in points] == ["r0", "r1"]


def test_trends_break_where_another_model_answers_to_the_name(tmp_path: Path) -> None:
    runs = []
    for at, served in enumerate(("x-1", "x-1", "x-2")):
        agent = AgentStamps(model="x", model_served=served, prompt="v1")
        run = make_run(tmp_path / "runs", passes(4, 4), name=f"r{at}", agent=agent)
        runs.append(with_info(run, created=f"2026-03-0{at + 1}T09:00:00Z"))

    points, _ = report.read_trends(tmp_path / "runs", runs[2])

    assert [point.broke for point in points] == ["", "", "served model changed"]


def test_trends_of_no_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere: is not a folder of runs"):
        report.read_trends(tmp_path / "nowhere", make_run(tmp_path, passes(1, 1)))


def test_trends_are_told_in_a_table(tmp_path: Path) -> None:
    runs = history(tmp_path)
    points, left_out = report.read_trends(tmp_path / "runs", runs[3])
    page = release(runs[3], trends=points, left_out=left_out)

    said = words(report.show_trends(page))

    assert said.startswith("4 runs of this suite; the line breaks once")
    assert str(report.show_trends(page)).count('<details class="numbers"><summary>') == 1
    frame = report.trends_frame(points)
    assert frame["score"].tolist() == [0.5, 0.6, 0.7, 0.8]
    assert frame["series"].tolist() == [0, 0, 1, 1]


def test_a_run_of_a_trend_has_its_published_name_or_its_id(tmp_path: Path) -> None:
    runs = history(tmp_path)
    publish_run(runs[1], by="Kim", verdict="SHIP", bar_digest="bar-1", name="2026.03")
    points, _ = report.read_trends(tmp_path / "runs", runs[3])

    said = words(report.show_trends(release(runs[3], trends=points)))

    ids = [run.id for run in runs]
    assert report.trends_frame(points)["run"].tolist() == [ids[0], "2026.03", *ids[2:]]
    assert f"2026.03 published prompt {runs[1].info.agent.prompt}" in said
    assert said.count("published") == 1


# Method, and what is not there.


def test_method_notes_speak_of_what_is_on_the_page_only(tmp_path: Path) -> None:
    once = release(make_run(tmp_path, passes(2, 2), name="once"))
    twice = release(make_run(tmp_path, {"a": [YES, YES]}, name="twice"))

    assert "pass^k" not in words(report.show_method(once))
    assert "pass^k" in words(report.show_method(twice))
    assert "Change" not in words(report.show_method(once))


def test_what_was_not_judged_is_one_honest_line(tmp_path: Path) -> None:
    page = release(make_run(tmp_path, passes(2, 2)))

    said = words(report.show_dimensions(page))

    assert said == "Dimensions and win rate: not judged in this run."
    assert words(report.show_preferences(page)) == ""


# Figures of a release: drawn where there is something to draw.


def test_figures_are_drawn_where_there_is_something_to_draw(tmp_path: Path) -> None:
    runs = history(tmp_path)
    points, _ = report.read_trends(tmp_path / "runs", runs[3])
    alone = release(runs[3])
    full = release(
        make_run(tmp_path, {f"c{at}": [YES, NO] for at in range(6)}),
        make_run(tmp_path, {f"c{at}": [YES, YES] for at in range(6)}, name="old"),
        bar=Bar(no_worse={"outcome": {"margin": 0.05}}),
        trends=points,
    )

    drawn = [draw(full) for draw in (draw_changes, draw_repeats, draw_trends)]
    nothing = [draw(alone) for draw in (draw_changes, draw_repeats, draw_trends)]

    titles = [str(figure.layout.title.text) for figure in drawn]  # type: ignore[union-attr]
    assert re.match("outcome fell by 50 points|No difference shown", titles[0])
    assert titles[1].startswith("all checks: one repeat passes in 50 %")
    # 8 of 10: Wilson's interval by hand, 0.490 to 0.943.
    assert titles[2] == "4 runs, 1 break: lowest now is outcome, 80 % (49 to 94)"
    assert nothing == [report.Html("")] * 3


def test_runs_that_code_checks_nothing_in_have_no_figure(tmp_path: Path) -> None:
    talks = [talk(repeat=at) for at in range(2)]
    old, new = (make_judged_run(tmp_path, talks, name=name) for name in ("v1", "v2"))
    points, _ = report.read_trends(tmp_path, new)
    page = release(new, old, bar=None, trends=points)

    assert len(page.trends) == 2
    assert [draw(page) for draw in (draw_changes, draw_repeats, draw_trends)] == [
        report.Html("")
    ] * 3
    assert "v1" in words(report.show_trends(page))


# Size.


def test_a_large_run_has_excerpts_and_whole_transcripts_beside_it(tmp_path: Path) -> None:
    turns = tuple(
        Turn(role="user" if at % 2 == 0 else "assistant", text=f"{at} " + "x" * 2_000)
        for at in range(20)
    )
    names = [f"c{at}" for at in range(8)]
    run = make_run(
        tmp_path,
        {name: [NO if name == "c3" else YES] for name in names},
        turns={(name, 0): turns for name in names},
    )

    page = release(run, files=tmp_path / "files", characters=20_000)

    made = str(report.show_records(page))
    assert len(made) < 60_000
    assert sorted(item.name for item in (tmp_path / "files").iterdir()) == [
        f"t-{name}-0.html" for name in names
    ]
    assert 'href="files/t-c3-0.html"' in made
    assert "whole transcripts lie in files/" in made


def test_what_fits_is_whole_and_writes_no_file(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"a": [YES]}, turns={("a", 0): TALK})

    page = release(run, files=tmp_path / "files")

    assert not (tmp_path / "files").exists()
    assert page.files is None
    assert "I have refunded you." in str(report.show_records(page))


def test_so_many_that_an_excerpt_says_nothing_leave_a_link(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"a": [YES], "b": [YES]}, turns={("a", 0): TALK, ("b", 0): TALK})

    page = release(run, files=tmp_path / "files", characters=50)

    made = str(report.show_records(page))
    assert "I have refunded you." not in made
    assert '<a href="files/t-a-0.html">The whole transcript</a>' in made
    assert "I have refunded you." in (tmp_path / "files" / "t-a-0.html").read_text()


# A run seen on its own.


def test_failed_checks_are_listed_with_what_was_wanted(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"a": {"outcome": False, "policy": False}, "b": {"outcome": True}})

    said = words(report.show_failing(summarise(run), layer="policy"))

    assert said.startswith("1 failed check of layer policy in 2 transcripts.")
    assert "a policy: policy check this that not this" in said


def test_one_transcript_of_a_run_is_shown_with_its_checks(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"a": {"outcome": False}}, turns={("a", 0): TALK})

    said = words(report.show_transcript(run, "a"))

    assert "✗ outcome: outcome check" in said
    assert "I have refunded you." in said


def test_a_style_sheet_is_one_element() -> None:
    sheet = str(report.style())

    assert sheet.startswith("<style data-sheet>")
    assert sheet.count("<") == 2


def test_a_rate_just_under_its_bar_is_not_shown_as_the_bar(tmp_path: Path) -> None:
    # 43 of 48 are 89.6 %, which rounds to the bar of 90 %.
    page = release(make_run(tmp_path, passes(48, 43)), bar=Bar(pass_rate={"outcome": 0.9}))

    near = [one.why for one in reading_list(page) if "near its bar" in one.why]

    assert "outcome 89.6 % (bar 90 %)" in words(show_answers(page))
    assert near[0].startswith("outcome: near its bar of 90 % (90 % (78 to 95 %) (more exactly 89.6")
