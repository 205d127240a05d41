"""Two runs side by side: what moved, what broke, where the transcripts part."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest
from builders import Rows, make_run, passes
from hypothesis import given
from hypothesis import strategies as st

from agenteval_kit.compare import CheckChange, Comparison, Parting, compare_checks
from agenteval_kit.compare.parting import part_calls, part_turns
from agenteval_kit.records import AgentStamps, ToolCall, Transcript, Turn


def compared(
    folder: Path,
    old: dict[str, Sequence[Rows] | Rows],
    new: dict[str, Sequence[Rows] | Rows],
    **margin: float,
) -> Comparison:
    return compare_checks(
        make_run(folder, old, name="old"), make_run(folder, new, name="new"), **margin
    )


def swapped(broken: int, fixed: int) -> dict[str, Rows]:
    """60 cases of which 44 passed before: the first few fail now, the last few pass now."""
    made = passes(60, 44)
    made.update({f"case-{index:03d}": {"outcome": False} for index in range(broken)})
    made.update({f"case-{59 - index:03d}": {"outcome": True} for index in range(fixed)})
    return made


def test_a_real_a_b_without_a_difference_says_what_it_does_not_rule_out(tmp_path: Path) -> None:
    found = compared(tmp_path, passes(60, 44), swapped(6, 6))

    # Tango at b = c = 6, n = 60: +-0.1222; sd of the differences 0.4510, (2.4865 sd / 0.05)^2 = 503
    assert found.sentence == (
        "6 cases broke (case-000, case-001, case-002, case-003, case-004, case-005); "
        "no difference shown: 44 of 60 against 44 of 60, difference 0 points (-12 to +12, "
        "two-sided 95 %); a drop of up to 11 points is not ruled out (one-sided 95 %); to rule "
        "out 5 would take about 503 cases"
    )
    assert found.moved == ()


def test_nine_broken_of_sixty_is_worse_and_names_them(tmp_path: Path) -> None:
    found = compared(tmp_path, passes(60, 44), swapped(9, 0))

    assert found.sentence == (
        "9 cases broke (case-000, case-001, case-002, case-003, case-004, case-005 and 3 more); "
        "worse: 35 of 60 against 44 of 60, difference -15 points (-26 to -8, two-sided 95 %); "
        "the drop is larger than 5 points (one-sided 95 %)"
    )
    assert found.broken == tuple(f"case-{index:03d}" for index in range(9))
    assert found.moved == ("outcome",)


def test_a_gain_is_better_and_rules_a_drop_out(tmp_path: Path) -> None:
    found = compared(tmp_path, passes(60, 44), swapped(0, 12))

    assert found.sentence.startswith("better: 56 of 60 against 44 of 60, difference +20 points (")
    assert found.sentence.endswith("a drop of 5 points is ruled out (one-sided 95 %)")
    assert len(found.fixed) == 12


def test_a_drop_just_over_the_margin_is_not_rounded_down_to_it(tmp_path: Path) -> None:
    old = make_run(tmp_path, passes(60, 60), name="old")
    new = make_run(tmp_path, passes(60, 60), name="new")

    found = compare_checks(old, new, margin=0.0486)

    # Gaffke's bound with 60 equal differences: 1 - 0.05^(1/60) = 0.0487, a hair over 0.0486
    assert "a drop of up to 5.0 points is not ruled out (one-sided 95 %)" in found.sentence


def test_a_large_open_drop_is_told_in_whole_points(tmp_path: Path) -> None:
    found = compared(tmp_path, passes(20, 10), passes(20, 10))

    # Gaffke's bound with 20 equal differences: 1 - 0.05^(1/20) = 0.139
    assert "a drop of up to 14 points is not ruled out (one-sided 95 %)" in found.sentence


def test_several_layers_name_the_one_that_moved(tmp_path: Path) -> None:
    old = {f"c{index:02d}": {"outcome": True, "policy": True} for index in range(30)}
    new = {f"c{index:02d}": {"outcome": index > 1, "policy": index > 9} for index in range(30)}

    found = compared(tmp_path, old, new)

    assert found.moved == ("policy",)
    names = "c00, c01, c02, c03, c04, c05 and 4 more"
    assert found.sentence.startswith(
        f"10 cases broke ({names}); policy: worse: 20 of 30 against 30 of 30, "
    )


def test_what_broke_is_told_before_what_no_share_shows(tmp_path: Path) -> None:
    yes, no = {"outcome": True, "policy": True}, {"outcome": False, "policy": True}
    old = {name: [yes, yes] for name in "abcd"}

    found = compared(tmp_path, old, {**old, "a": [yes, no], "b": [no, no]})

    assert found.sentence.startswith(
        "1 case broke (b), 1 passes less often (a); no difference shown in any of 2 layers; "
    )


def test_where_no_layer_moved_the_first_one_is_told(tmp_path: Path) -> None:
    same = {f"c{index:02d}": {"outcome": True, "policy": True} for index in range(20)}

    found = compared(tmp_path, same, same)

    assert found.sentence.startswith(
        "no difference shown in any of 2 layers; outcome: 20 of 20 against 20 of 20, "
        "difference 0 points (-16 to +16, two-sided 95 %)"
    )


def test_p_values_are_adjusted_over_the_layers(tmp_path: Path) -> None:
    old = {f"c{index:02d}": {"outcome": True, "policy": True} for index in range(30)}
    new = {f"c{index:02d}": {"outcome": index > 3, "policy": index > 8} for index in range(30)}

    found = compared(tmp_path, old, new)

    # McNemar's z: 2 (1 - Phi(sqrt(4))) and 2 (1 - Phi(sqrt(9))); Holm doubles the smaller
    assert [pair.p for pair in found.layers] == pytest.approx([0.0455003, 0.0026998], abs=1e-7)
    assert found.p_holm == pytest.approx((0.0455003, 0.0053996), abs=1e-7)
    # exact sign test, 2 * 0.5^4 and 2 * 0.5^9: conservative, shown, never deciding
    assert [pair.p_exact for pair in found.layers] == [0.125, 0.00390625]


def test_records_are_broken_fixed_flaky_unchanged_or_unscored(tmp_path: Path) -> None:
    yes, no, untold = {"outcome": True}, {"outcome": False}, {"outcome": None}
    found = compared(
        tmp_path,
        {
            "broke": [yes, yes], "mended": [no, no], "wavers": [yes, yes], "waved": [yes, no],
            "good": [yes, yes], "low": [no, no], "lost": [yes, yes],
        },
        {
            "broke": [no, no], "mended": [yes, yes], "wavers": [yes, no], "waved": [yes, yes],
            "good": [yes, yes], "low": [no, no], "lost": [untold, untold],
        },
    )  # fmt: skip

    assert {record.case_id: record.change for record in found.records} == {
        "broke": "broken",
        "mended": "fixed",
        "wavers": "flaky",
        "waved": "flaky",
        "good": "unchanged",
        "low": "unchanged",
        "lost": "unscored",
    }
    assert [(r.old, r.new, r.repeat) for r in found.records if r.case_id == "wavers"] == [
        (1.0, 0.5, 1)
    ]


def test_repeats_get_the_anchored_interval_over_cases(tmp_path: Path) -> None:
    yes, no = {"outcome": True}, {"outcome": False}
    found = compared(
        tmp_path,
        {f"c{index:02d}": [yes, yes] for index in range(12)},
        {f"c{index:02d}": [yes, no] for index in range(12)},
    )

    difference = found.layers[0].difference
    assert (difference.value, difference.n) == (pytest.approx(-0.5), 12)
    assert "anchored" in difference.method
    assert "50.0 % against 100.0 % (mean over 12 cases)" in found.sentence


def test_a_record_tells_which_checks_changed_and_where(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        {"a": {"outcome/x": True, "policy/y": False, "policy/z": True, "policy/gone": True}},
        {"a": {"outcome/x": False, "policy/y": False, "policy/z": None, "policy/new": False}},
    )

    assert found.records[0].checks == (
        CheckChange("outcome", "outcome/x", "passed", "failed", None, "not this"),
        CheckChange("policy", "policy/z", "passed", "unscored", None, "unknown cost"),
        CheckChange("policy", "policy/new", "not due", "failed", None, "not this"),
        CheckChange("policy", "policy/gone", "passed", "not due", None, ""),
    )


def test_a_case_that_fails_for_another_reason_is_unchanged_and_shows_its_checks(
    tmp_path: Path,
) -> None:
    found = compared(
        tmp_path,
        {"a": {"outcome/x": False, "policy/y": True}},
        {"a": {"outcome/x": True, "policy/y": False}},
    )

    record = found.records[0]
    assert record.change == "unchanged"
    assert [(one.name, one.old, one.new) for one in record.checks] == [
        ("outcome/x", "failed", "passed"),
        ("policy/y", "passed", "failed"),
    ]


def test_cases_of_one_run_only_are_listed_and_not_paired(tmp_path: Path) -> None:
    found = compared(
        tmp_path,
        {"both": {"outcome": True}, "dropped": {"outcome": True}},
        {"both": {"outcome": True}, "added": {"outcome": False}},
    )

    assert (found.only_old, found.only_new) == (("dropped",), ("added",))
    assert found.layers[0].ids == ("both",)
    assert found.sentence.endswith("2 cases in one run only")


def test_cases_for_the_judge_alone_are_no_records_here(tmp_path: Path) -> None:
    old = make_run(tmp_path, {"a": {"outcome": True}, "j": {}}, judge_only=["j"], name="old")
    new = make_run(tmp_path, {"a": {"outcome": True}, "j": {}}, judge_only=["j"], name="new")

    found = compare_checks(old, new)

    assert [record.case_id for record in found.records] == ["a"]


def test_an_edited_suite_is_not_compared_and_says_so(tmp_path: Path) -> None:
    old = make_run(tmp_path, passes(5, 5), name="old", digest="before")
    new = make_run(tmp_path, passes(5, 5), name="new", digest="after")

    found = compare_checks(old, new)

    assert found.sentence.startswith("cannot tell: the suites differ (digest after here, before in")
    assert (found.layers, found.records) == ((), ())
    assert found.stamps["suite_digest"] == ("before", "after")
    assert found.frame().empty


def test_stamps_that_differ_are_listed(tmp_path: Path) -> None:
    old = make_run(tmp_path, passes(2, 2), name="old")
    new = make_run(
        tmp_path,
        passes(2, 2),
        name="new",
        agent=AgentStamps(model="rules", prompt="v2", parameters={"temperature": 0}),
    )

    found = compare_checks(old, new)

    assert dict(found.stamps) == {
        "agent prompt": ("v1", "v2"),
        "agent parameters": ("none", '{"temperature":0}'),
    }


def test_without_any_check_there_is_nothing_to_tell(tmp_path: Path) -> None:
    old = make_run(tmp_path, {"j": {}}, judge_only=["j"], name="old")
    new = make_run(tmp_path, {"j": {}}, judge_only=["j"], name="new")

    assert compare_checks(old, new).sentence == "cannot tell: no check ran in both runs"


# where transcripts part


def user(text: str) -> Turn:
    return Turn(role="user", text=text)


def agent(text: str = "", *calls: tuple[str, dict[str, object]]) -> Turn:
    return Turn(
        role="assistant",
        text=text,
        calls=tuple(
            ToolCall(id=f"call-{index}", name=name, arguments=arguments)
            for index, (name, arguments) in enumerate(calls)
        ),
    )


def said(*turns: Turn) -> Transcript:
    return Transcript(case_id="a", turns=turns)


@pytest.mark.parametrize(
    ("old", "new", "parting"),
    [
        ([user("hi"), agent("yes")], [user("hi"), agent("yes\n")], None),
        (
            [user("hi"), agent("yes")],
            [user("hi"), agent("no")],
            Parting(1, "assistant", "text", "yes", "no"),
        ),
        (
            [user("hi"), agent("", ("find", {"id": 1}))],
            [user("hi"), agent("", ("find", {"id": 2}))],
            Parting(1, "assistant", "tool call", 'find({"id":1})', 'find({"id":2})'),
        ),
        (
            [user("hi"), agent("", ("find", {"id": 1, "all": True}))],
            [user("hi"), agent("", ("find", {"all": True, "id": 1}))],
            None,
        ),
        (
            [agent("", ("find", {})), Turn(role="tool", text="none")],
            [agent("", ("find", {})), Turn(role="tool", text="one")],
            Parting(1, "tool", "tool result", "none", "one"),
        ),
        (
            [user("hi"), agent("yes")],
            [user("hi"), Turn(role="assistant", refusal="I cannot")],
            Parting(1, "assistant", "refusal", "yes", "I cannot"),
        ),
        (
            [user("hi"), agent("yes")],
            [user("hi"), user("hello?")],
            Parting(1, "user", "role", "assistant: yes", "user: hello?"),
        ),
        (
            [user("hi")],
            [user("hi"), agent("yes", ("find", {}))],
            Parting(1, "assistant", "end", "", "assistant: yes; find({})"),
        ),
        (
            [user("hi"), agent("yes")],
            [user("hi")],
            Parting(1, "assistant", "end", "assistant: yes", ""),
        ),
        ([], [], None),
    ],
)  # fmt: skip
def test_the_first_turn_that_differs_is_named(
    old: list[Turn], new: list[Turn], parting: Parting | None
) -> None:
    assert part_turns(said(*old), said(*new)) == parting


@pytest.mark.parametrize(
    ("old", "new", "parting"),
    [
        (
            [agent("a", ("find", {})), agent("b", ("pay", {}))],
            [agent("other words", ("find", {})), user("?"), agent("", ("refund", {}))],
            Parting(2, "assistant", "tool call", "pay({})", "refund({})"),
        ),
        (
            [agent("", ("find", {}))],
            [agent("", ("find", {}), ("pay", {}))],
            Parting(0, "assistant", "end", "", "pay({})"),
        ),
        (
            [agent("", ("find", {}), ("pay", {}))],
            [agent("", ("find", {})), user("bye")],
            Parting(2, "assistant", "end", "pay({})", ""),
        ),
        ([agent("a")], [agent("b")], None),
    ],
)
def test_the_first_call_that_differs_is_named_whatever_was_said(
    old: list[Turn], new: list[Turn], parting: Parting | None
) -> None:
    assert part_calls(said(*old), said(*new)) == parting


def test_malformed_arguments_are_compared_as_they_came() -> None:
    one, two = (
        said(Turn(role="assistant", calls=(ToolCall(id="1", name="find", raw=raw, malformed="x"),)))
        for raw in ('{"id": 7', '{"id": 8')
    )

    assert part_calls(one, two) == Parting(
        0, "assistant", "tool call", 'find({"id": 7)', 'find({"id": 8)'
    )


def test_a_broken_record_names_where_the_versions_part(tmp_path: Path) -> None:
    old_turns = [user("refund please"), agent("", ("ask_approval", {}))]
    new_turns = [user("refund please"), agent("", ("refund", {"order": "7"}))]
    old = make_run(tmp_path, {"a": {"policy": True}}, name="old", turns={("a", 0): old_turns})
    new = make_run(tmp_path, {"a": {"policy": False}}, name="new", turns={("a", 0): new_turns})

    record = compare_checks(old, new).records[0]

    assert record.turn_parting == record.call_parting
    assert record.turn_parting == Parting(
        1, "assistant", "tool call", "ask_approval({})", 'refund({"order":"7"})'
    )


# laws and frames


OUTCOMES = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=25)


@given(OUTCOMES)
def test_the_mirrored_comparison_mirrors_every_number(outcomes: list[tuple[bool, bool]]) -> None:
    left = {f"c{index}": {"outcome": one} for index, (one, _) in enumerate(outcomes)}
    right = {f"c{index}": {"outcome": two} for index, (_, two) in enumerate(outcomes)}
    with tempfile.TemporaryDirectory() as folder:
        one = make_run(Path(folder), left, name="one")
        two = make_run(Path(folder), right, name="two")
        there, back = compare_checks(one, two), compare_checks(two, one)

    forth, mirror = there.layers[0], back.layers[0]
    assert forth.difference.value == pytest.approx(-(mirror.difference.value or 0))
    assert forth.difference.low == pytest.approx(-(mirror.difference.high or 0), abs=1e-9)
    assert forth.difference.high == pytest.approx(-(mirror.difference.low or 0), abs=1e-9)
    assert (forth.p, forth.p_exact) == (mirror.p, mirror.p_exact)
    assert (there.broken, there.fixed) == (back.fixed, back.broken)
    assert (forth.worse, forth.better) == (mirror.better, mirror.worse)


@given(OUTCOMES)
def test_the_interval_and_mcnemars_test_never_disagree(outcomes: list[tuple[bool, bool]]) -> None:
    left = {f"c{index}": {"outcome": one} for index, (one, _) in enumerate(outcomes)}
    right = {f"c{index}": {"outcome": two} for index, (_, two) in enumerate(outcomes)}
    with tempfile.TemporaryDirectory() as folder:
        pair = compared(Path(folder), left, right).layers[0]

    assert pair.p is not None
    assert pair.shown == (pair.p < 0.05)


def test_the_layer_frame_is_whole(tmp_path: Path) -> None:
    frame = compared(tmp_path, passes(60, 44), swapped(6, 6)).frame()

    row = {
        "n": 60, "old": 44 / 60, "new": 44 / 60, "difference": 0.0, "low": -0.122192,
        "high": 0.122192, "broken": 6, "fixed": 6, "p": 1.0, "p_holm": 1.0, "p_exact": 1.0,
        "shown": False, "dropped": 0, "method": "Tango", "diag": "",
    }  # fmt: skip
    wanted = pd.DataFrame(
        [{"layer": "outcome", **row}, {"layer": "all checks", **row, "p_holm": None}]
    )
    pd.testing.assert_frame_equal(frame, wanted, atol=1e-6)


def test_hostile_ids_are_escaped_on_the_page(tmp_path: Path) -> None:
    page = compared(
        tmp_path, {"<script>": {"outcome": True}}, {"<script>": {"outcome": False}}
    )._repr_html_()

    assert "<script>" not in page


def test_within_noise_and_the_drop_that_is_not_ruled_out_stand_side_by_side(
    tmp_path: Path,
) -> None:
    found = compared(tmp_path, passes(60, 44), swapped(6, 6)).claims_frame()
    worse = compared(tmp_path / "w", passes(60, 44), swapped(9, 0)).claims_frame()

    assert found[["layer", "reading", "margin", "answer", "n"]].to_dict("records") == [
        {"layer": "outcome", "reading": "within noise", "margin": 0.05, "answer": "undecided",
         "n": 60}
    ]  # fmt: skip
    # as the sentence of the same pair says above
    assert found["drop_not_ruled_out"][0] == pytest.approx(0.105, abs=1e-3)
    assert found["n_needed"][0] == 503
    assert worse[["reading", "answer"]].to_dict("records") == [
        {"reading": "worse", "answer": "fail"}
    ]


def test_a_layer_that_cannot_be_paired_has_no_reading(tmp_path: Path) -> None:
    untold = {"a": {"outcome": None}}

    found = compared(tmp_path, untold, untold).claims_frame()

    assert found["reading"].tolist() == [None]
    assert found["answer"].tolist() == ["undecided"]
