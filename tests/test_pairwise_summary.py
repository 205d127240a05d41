"""What preferences come to: rate, flips, noise, the measured margin, and what a gate reads."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pairs_made import BETTER, longer, new_run, old_run, prefers, run_of, says
from statsmodels.stats.contingency_tables import mcnemar

from agenteval_kit.errors import ConfigError
from agenteval_kit.models.scripted import ScriptedModel
from agenteval_kit.pairwise import (
    compare_runs,
    flips_of,
    measure,
    measured_margin,
    preference_summary,
    rank_rows,
    rank_runs,
)
from agenteval_kit.pairwise.pending import settle_orders
from agenteval_kit.records import ComparisonStamp, OrderRecord, PreferenceRow
from agenteval_kit.records.preferences import Outcome
from agenteval_kit.runs import Run

OUTCOMES: tuple[Outcome, ...] = ("old", "tie", "new")


def row(
    case: str,
    old_first: Outcome | None,
    new_first: Outcome | None,
    *,
    repeat: int = 0,
    **more: object,
) -> PreferenceRow:
    """A judged pair: what was preferred with the old side first, and with the new one first."""
    orders = tuple(
        OrderRecord(first=first, preferred=said, reason="" if said else "unread")  # type: ignore[arg-type]
        for first, said in (("old", old_first), ("new", new_first))
    )
    outcome, reason, flipped = settle_orders(orders)
    fields = {
        "case_id": case, "repeat": repeat, "criterion": "outcome", "layer": "outcome",
        "old": "old", "new": "new", "outcome": outcome, "reason": reason, "orders": orders,
        "flipped": flipped, "judge": "j", "judge_digest": "d", **more,
    }  # fmt: skip
    return PreferenceRow(**fields)  # type: ignore[arg-type]


def rows_of(wins: int, ties: int, losses: int, **more: object) -> list[PreferenceRow]:
    """One pair a case, judged alike in both orders."""
    said: list[Outcome] = [*["new"] * wins, *["tie"] * ties, *["old"] * losses]  # type: ignore[list-item]
    return [row(f"case-{at:03d}", one, one, **more) for at, one in enumerate(said)]


orders = st.lists(
    st.tuples(st.sampled_from([*OUTCOMES, None]), st.sampled_from([*OUTCOMES, None])),
    min_size=1,
    max_size=20,
)


# The rate.


def test_the_interval_decides_and_its_p_is_mcnemars_z() -> None:
    one = measure(rows_of(14, 6, 4))

    table = [[0, 14], [4, 0]]
    assert (one.wins, one.ties, one.losses, one.n, one.cases) == (14, 6, 4, 24, 24)
    assert one.win_rate.value == pytest.approx((14 + 3) / 24)
    assert one.p == pytest.approx(mcnemar(table, exact=False, correction=False).pvalue)
    assert one.p_exact == pytest.approx(mcnemar(table, exact=True).pvalue)
    # The exact p is conservative and does not decide: here z says 0.018 and the exact test 0.031.
    assert one.shown is True and one.p < 0.05
    assert one.finding == "new preferred: win rate 0.71 (0.54 to 0.83), 14 won, 6 tied, 4 lost"


def test_where_an_exact_p_is_above_five_percent_the_interval_still_decides() -> None:
    one = measure(rows_of(4, 0, 0))

    assert one.p_exact == 0.125
    assert one.p == pytest.approx(0.0455, abs=1e-4)
    assert one.shown is True


def test_ties_only_are_half_with_an_interval_that_has_a_width() -> None:
    one = measure(rows_of(0, 20, 0))

    assert one.win_rate.text() == "0.50 (0.42 to 0.58)"
    assert (one.p, one.p_exact, one.shown) == (1.0, 1.0, False)


def test_nothing_scored_is_cannot_tell_with_the_reasons_counted() -> None:
    one = measure([row("a", None, "new"), row("b", "old", None), row("c", None, None)])

    assert one.win_rate.value is None
    assert one.finding == "cannot tell: every pair is unscored"
    assert (one.p, one.p_exact, one.shown, one.worst) == (None, None, None, 0.0)
    assert one.reasons == {"unread": 3}
    assert one.noise.margin is None and measured_margin(one).value is None
    assert measured_margin(one).reason == "every pair is unscored"


def test_no_rows_need_a_stamp_that_says_what_was_wanted() -> None:
    stamp = ComparisonStamp(
        old="old", new="new", criterion="outcome", layer="outcome", definition="x",
        criterion_digest="c", judge="j", judge_digest="d", wanted=7, at="2026-03-02T09:00:00Z",
    )  # fmt: skip

    one = measure([], stamp=stamp)

    assert (one.n, one.missing, one.unscored_share, one.worst) == (0, 7, 1.0, 0.0)
    assert one.finding == "cannot tell: no pairs"
    with pytest.raises(ConfigError, match="nothing was compared: there is no preference row"):
        measure([])


def test_rows_of_two_comparisons_are_not_mixed() -> None:
    rows = [*rows_of(1, 0, 0), *rows_of(1, 0, 0, judge_digest="other")]

    with pytest.raises(ConfigError) as raised:
        measure(rows)

    assert str(raised.value) == (
        "2 comparisons are not mixed into one: outcome by j (d), new against old; outcome by j "
        "(other), new against old. Measure each by itself; more than two versions are ranked by "
        "rank_rows"
    )


@given(orders)
def test_the_rate_of_new_against_old_is_one_minus_that_of_old_against_new(
    said: list[tuple[Outcome | None, Outcome | None]],
) -> None:
    swap = {"old": "new", "new": "old", "tie": "tie", None: None}
    there = measure([row(str(at), one, two) for at, (one, two) in enumerate(said)])
    back = measure([row(str(at), swap[two], swap[one]) for at, (one, two) in enumerate(said)])  # type: ignore[arg-type]

    assert (there.wins, there.ties, there.losses) == (back.losses, back.ties, back.wins)
    assert there.flips.flips == back.flips.flips
    if there.win_rate.value is not None:
        assert there.win_rate.value == pytest.approx(1 - back.win_rate.value)
        assert there.win_rate.low == pytest.approx(1 - back.win_rate.high)
        # Which slot was first stays what it was.
        assert there.flips.toward_first.value == back.flips.toward_first.value


@given(orders)
def test_no_order_of_rows_changes_what_they_come_to(
    said: list[tuple[Outcome | None, Outcome | None]],
) -> None:
    rows = [row(str(at % 5), one, two, repeat=at // 5) for at, (one, two) in enumerate(said)]

    assert measure(rows) == measure(rows[::-1])


def test_repeats_are_averaged_within_the_scenario() -> None:
    rows = [
        *(row("a", "new", "new", repeat=at) for at in range(4)),
        row("b", "old", "old"), row("c", "tie", "tie"),
    ]  # fmt: skip

    one = measure(rows)

    # (1 + 0 + 1/2) / 3, not (4 + 1/2) / 6.
    assert one.win_rate.value == pytest.approx(0.5)
    assert (one.n, one.cases, one.win_rate.n) == (6, 3, 3)
    assert one.win_rate.method.startswith("anchored Bayesian bootstrap")


# Flips.


def test_flips_are_counted_with_their_direction_and_what_code_decided_is_left_out() -> None:
    rows = [
        row("a", "old", "new"),  # first, whichever it is
        row("b", "old", "tie"),  # better when it was first
        row("c", "new", "old"),  # second, whichever it is
        row("d", "new", "new"),
        row("e", None, "new"),
        PreferenceRow(
            case_id="f", criterion="outcome", layer="outcome", old="old", new="new",
            outcome="tie", reason="identical outputs", by="code", judge="j", judge_digest="d",
        ),
    ]  # fmt: skip

    found = flips_of(rows)

    assert (found.n, found.flips, found.dropped) == (4, 3, 1)
    assert found.rate.value == 0.75
    assert found.toward_first.value == pytest.approx(2 / 3)
    assert found.p_first == 1.0


def test_without_a_flip_the_rate_that_is_not_ruled_out_is_said() -> None:
    found = measure(rows_of(10, 5, 15)).flips

    assert (found.flips, found.p_first) == (0, None)
    assert "no flips: a rate up to 0.095 is not ruled out" in found.diag


def test_flips_of_repeats_are_by_case_and_their_p_is_said_to_be_too_small() -> None:
    rows = [row(case, "old", "new", repeat=at) for case in "ab" for at in range(10)]
    steady = [row(case, "old", "old", repeat=at) for case in "cdefghij" for at in range(10)]

    found = flips_of([*rows, *steady])

    assert (found.n, found.flips, found.rate.n) == (100, 20, 10)
    assert found.rate.value == 0.2
    assert "pairs of one case are not independent: p_first is too small" in found.diag
    assert found.rate.half_width is not None and found.rate.half_width > 0.15


def test_sources_that_only_say_that_a_pair_flipped_are_not_mixed_with_orders() -> None:
    told = PreferenceRow(
        case_id="a", criterion="outcome", layer="outcome", old="old", new="new", outcome="tie",
        by="source", flipped=True, judge="j", judge_digest="d",
    )  # fmt: skip

    alone = flips_of([told, told.model_copy(update={"case_id": "b", "flipped": False})])

    assert (alone.rate.value, alone.toward_first.value) == (0.5, None)
    assert "not toward which slot" in alone.toward_first.reason
    with pytest.raises(ConfigError, match="measure the two kinds apart"):
        flips_of([told, row("c", "old", "new")])


# Noise.


def test_the_margin_is_the_half_width_of_the_bootstrap_interval_over_cases() -> None:
    one = measure(rows_of(30, 40, 30), seed=5)

    # The same by numpy: resample cases, take the middle 95 % of the rates.
    rng = np.random.default_rng(1)
    scores = np.repeat([1.0, 0.5, 0.0], [30, 40, 30])
    rates = rng.choice(scores, size=(20_000, 100)).mean(axis=1)
    low, high = np.quantile(rates, [0.025, 0.975])
    margin = measured_margin(one)
    assert margin.value == pytest.approx((high - low) / 2, abs=0.006)
    assert (margin.source, margin.cases) == ("bootstrap", 100)
    assert (margin.draws, margin.seed, margin.level) == (10_000, 5, 0.95)
    assert one.noise.tango.value == one.win_rate.value


def test_where_all_pairs_tie_the_margin_is_tangos() -> None:
    margin = measured_margin(measure(rows_of(0, 20, 0)))

    # Half of 0.42 to 0.58, the width of Tango's interval at n = 20 with nothing but ties.
    assert margin.source == "tango"
    assert margin.value == pytest.approx(0.0806, abs=1e-3)


def test_the_wider_of_this_comparison_and_a_against_a_is_the_margin() -> None:
    here = measure(rows_of(5, 90, 5))
    noisy = measure(rows_of(20, 5, 15, same_agent=True))
    quiet = measure(rows_of(0, 100, 0, same_agent=True))

    wide, narrow = measured_margin(here, again=noisy), measured_margin(here, again=quiet)

    assert wide.source == "a against a"
    assert wide.value == noisy.noise.margin and wide.here == here.noise.margin
    assert wide.cases == 40
    assert narrow.source == "bootstrap" and narrow.value == here.noise.margin


def test_a_against_a_by_another_instrument_is_not_used() -> None:
    here = measure(rows_of(5, 90, 5))
    other = measure(rows_of(20, 5, 15, same_agent=True, judge_digest="other"))

    margin = measured_margin(here, again=other)

    assert margin.source == "bootstrap" and margin.a_against_a is None
    assert margin.diag == "A against A was judged otherwise and is not used"


def test_a_against_a_that_is_not_even_is_said() -> None:
    again = measure(rows_of(30, 0, 5, same_agent=True))

    margin = measured_margin(measure(rows_of(5, 25, 5)), again=again)

    assert again.finding.startswith("A against A is not even: new preferred: win rate 0.86")
    assert again.finding in margin.diag


def test_how_many_cases_a_narrower_margin_takes_goes_with_the_square() -> None:
    margin = measured_margin(measure(rows_of(30, 40, 30)))
    assert margin.value is not None

    assert margin.cases_for(margin.value) == 100
    assert margin.cases_for(margin.value / 2) == 400
    assert margin.cases_for(0.0) is None


def test_within_the_noise_is_not_the_claim_that_nothing_was_lost() -> None:
    one = measure(rows_of(12, 26, 22))
    margin = measured_margin(one).value
    assert margin is not None and one.win_rate.value is not None

    # The point is within the margin, and a drop of ten points is not ruled out.
    assert one.win_rate.value > 0.5 - margin
    assert one.claim(0.05).answer == "undecided"
    assert measure(rows_of(0, 400, 0)).claim(0.05).answer == "pass"
    assert measure(rows_of(0, 20, 40)).claim(0.05).answer == "fail"


# What a gate reads.


def compared(tmp_path: Path) -> tuple[object, object, object]:
    old = old_run(tmp_path, {"a": "one", "b": "same", "c": "long one"})
    again = run_of(tmp_path, {"a": "other", "b": "same", "c": "short"}, name="old-again")
    new = new_run(tmp_path, {"a": "two two", "b": "same", "c": "two two two"})
    likes_length = ScriptedModel(lambda asked: prefers(longer)(_Asked(asked.messages)))  # type: ignore[arg-type]
    compare_runs(old, again, BETTER, likes_length)
    compare_runs(old, new, BETTER, likes_length)
    return old, again, new


class _Asked:
    def __init__(self, messages: tuple[dict[str, str], ...]) -> None:
        self.text = messages[-1]["content"]


def test_a_clause_finds_its_comparison_by_criterion_or_layer(tmp_path: Path) -> None:
    _, again, new = compared(tmp_path)

    summary = preference_summary(new, "old", again=again)  # type: ignore[arg-type]

    one = summary.find("outcome")
    assert one is not None and (one.wins, one.ties, one.losses) == (2, 1, 0)
    margin = summary.margin("outcome")
    assert margin is not None
    assert margin.a_against_a == summary.again["outcome"].noise.margin
    assert margin.value == max(margin.here or 0, margin.a_against_a or 0)
    assert summary.why_not("outcome") == ""
    assert summary.why_not("policy") == 'nothing was compared by "policy". Known: outcome.'
    assert summary.margin("policy") is None


def test_a_against_a_is_found_in_the_baselines_own_folder_too(tmp_path: Path) -> None:
    old, again, new = compared(tmp_path)
    model = ScriptedModel(says("TIE"), name="ties")
    compare_runs(again, old, BETTER, model)  # type: ignore[arg-type]
    compare_runs(old, new, BETTER, model)  # type: ignore[arg-type]

    summary = preference_summary(new, "old", again=[old, new])  # type: ignore[arg-type, list-item]

    assert summary.comparisons[0].judge == "ties"
    assert (summary.again["outcome"].old, summary.again["outcome"].new) == ("old-again", "old")
    assert len(summary.others["outcome"]) == 1


def test_a_judge_that_never_answered_does_not_speak_and_is_not_named(tmp_path: Path) -> None:
    _, _, new = compared(tmp_path)
    assert isinstance(new, Run)
    (stamp,) = new.comparison_stamps()
    writer = new.writer()
    writer.add_comparisons([stamp.model_copy(update={"judge_digest": "in-vain", "judge": "mute"})])
    writer.close()

    summary = preference_summary(new, "old")

    assert [one.judge_digest for one in summary.comparisons] == [stamp.judge_digest]
    assert summary.others == {}


def test_a_run_that_was_not_compared_says_what_to_run(tmp_path: Path) -> None:
    new = new_run(tmp_path, {"a": "two"})

    summary = preference_summary(new, "old")

    assert summary.comparisons == () and summary.find("outcome") is None
    assert summary.why_not("outcome") == (
        "run new was not compared with old; `agenteval compare OLD NEW --judge MODEL` first"
    )


def test_a_layer_with_two_criteria_wants_one_named(tmp_path: Path) -> None:
    old, new = old_run(tmp_path, {"a": "one"}), new_run(tmp_path, {"a": "two"})
    first, second = (BETTER.model_copy(update={"name": name}) for name in ("short", "deep"))
    compare_runs(old, new, [first, second], ScriptedModel(says("TIE")))

    summary = preference_summary(new, "old")

    assert summary.find("outcome") is None
    assert summary.why_not("outcome") == (
        '2 criteria lie in layer "outcome" (short, deep); name one of them in the bar'
    )
    assert summary.find("deep") is not None


# More than two versions.


def test_three_runs_are_ranked_by_what_they_were_compared_by(tmp_path: Path) -> None:
    cases = [f"case-{number}" for number in range(12)]
    runs = [
        run_of(
            tmp_path,
            {case: "x" * (size + (3 if at % 4 == size else 0)) for at, case in enumerate(cases)},
            name=f"run-{size}",
        )
        for size in (1, 2, 3)
    ]
    model = ScriptedModel(lambda asked: prefers(longer)(_Asked(asked.messages)))  # type: ignore[arg-type]
    for old, new in ((0, 1), (1, 2), (0, 2)):
        compare_runs(runs[old], runs[new], BETTER, model)

    ranking = rank_runs(runs, reference="run-1", draws=200)

    strength = {name: one.value for name, one in ranking.log_strength.items()}
    assert strength["run-1"] == 0
    assert strength["run-3"] > strength["run-2"] > 0  # type: ignore[operator]
    assert ranking.n == 36
    with pytest.raises(ConfigError, match="2 versions: a ranking wants three or more"):
        rank_runs(runs[:2], reference="run-1")


def test_rows_of_two_judges_are_not_ranked_together() -> None:
    rows = [*rows_of(2, 1, 1), *rows_of(1, 1, 1, new="third", judge_digest="other")]

    with pytest.raises(ConfigError, match="several criteria or judges are not mixed"):
        rank_rows(rows, reference="old")


def test_a_version_that_met_none_of_the_others_is_named() -> None:
    rows = [*rows_of(2, 1, 1), *rows_of(1, 1, 1, new="third")]

    with pytest.raises(ConfigError, match="fourth: compared with none of the others"):
        rank_rows(rows, reference="old", names=["old", "new", "third", "fourth"])


def test_a_version_that_won_everything_has_no_strength_and_the_reason() -> None:
    rows = [*rows_of(5, 0, 0), *rows_of(2, 0, 3, new="third")]

    ranking = rank_rows(rows, reference="old", draws=50)

    assert ranking.log_strength["new"].value is None
    assert "not identifiable" in ranking.log_strength["new"].reason
    helped = rank_rows(rows, reference="old", draws=50, add_half=True)
    assert helped.log_strength["new"].value is not None
    assert math.isfinite(helped.log_strength["new"].value)
