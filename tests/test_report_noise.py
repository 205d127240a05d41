"""The band behind a trend's latest value: it is in it where the paired change is within noise."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import make_run, passes
from verdicts import judge, spread

from agenteval_kit import report
from agenteval_kit.release import read_release
from agenteval_kit.report import Release


def page_of(folder: Path, *, now: int, before: int, low: int = 6) -> Release:
    """Two judged runs of 40 cases: how many pass, and how many score 2 instead of 4 now."""
    old = make_run(folder / "runs", passes(40, before), name="old")
    new = make_run(folder / "runs", passes(40, now), name="new")
    judge(old, spread({4: 40}))
    judge(new, spread({2: low, 4: 40 - low}))
    return read_release(new.path, baseline=old.path, history=folder / "runs")


@pytest.mark.parametrize(("now", "within"), [(38, True), (20, False)])
def test_a_value_lies_in_its_band_just_where_the_change_reaches_no_change(
    tmp_path: Path, now: int, within: bool
) -> None:
    page = page_of(tmp_path, now=now, before=40)

    low, high = report.trend_noise(page)["outcome"]

    change = page.pairs["outcome"].difference
    assert change.low is not None and change.high is not None
    assert (low <= now / 40 <= high) is within
    assert (change.low <= 0 <= change.high) is within
    # What the baseline had, 1, moved by the change's interval: (now - high, now - low).
    assert (low, high) == pytest.approx((now / 40 - change.high, now / 40 - change.low))


def test_a_judged_dimension_has_its_band_on_its_own_scale(tmp_path: Path) -> None:
    page = page_of(tmp_path, now=40, before=40, low=20)

    low, high = report.judged_noise(page)["tone"]

    # 20 of 40 fell from 4 to 2, so the mean is 3 and the baseline's 4 is far from it.
    assert low > 3.0
    assert low < 4.0 < high


def test_without_a_history_there_is_no_band(tmp_path: Path) -> None:
    run = make_run(tmp_path, passes(4, 4))

    page = read_release(run.path)

    assert report.trend_noise(page) == {}
    assert report.judged_noise(page) == {}
