"""Where the parts of the drawings of judged numbers stand: what is drawn is what is said."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pandas as pd
import pytest

from agenteval_kit.plots import plot_verdicts
from agenteval_kit.report.judged_marks import distribution_mark, preference_mark
from agenteval_kit.report.markup import Html
from agenteval_kit.stats import Estimate

HALF = 60
"""Half of the widest text of a win rate, in units of the drawing."""


def parts(mark: Html, name: str, kind: str | None = None) -> list[dict[str, str]]:
    """The elements of a drawing of one name and class, with what stands in them."""
    return [
        {**one.attrib, "said": one.text or ""}
        for one in ElementTree.fromstring(mark.markup).iter(name)
        if kind is None or one.get("class") == kind
    ]


def test_columns_are_as_tall_as_their_counts_and_stand_on_one_line_apart() -> None:
    mark = distribution_mark({1: 2, 2: 0, 3: 8}, unscored=4)

    drawn = parts(mark, "rect")
    tall = [float(one["height"]) for one in drawn]
    floor = {float(one["y"]) + float(one["height"]) for one in drawn}
    ends = [(float(one["x"]), float(one["x"]) + float(one["width"])) for one in drawn]

    assert tall == [tall[2] * share for share in (0.25, 0, 1, 0.5)]
    assert len(floor) == 1
    assert all(right < left for (_, right), (left, _) in pairwise(ends))
    assert [one["class"] for one in drawn] == ["part", "part", "part", "none"]


def test_under_each_column_in_its_middle_stands_its_level() -> None:
    mark = distribution_mark({1: 2, 2: 1}, unscored=1)

    named = {one["said"]: float(one["x"]) for one in parts(mark, "text")}
    middles = [float(one["x"]) + float(one["width"]) / 2 for one in parts(mark, "rect")]

    assert list(named) == ["1", "2", "?"]
    assert list(named.values()) == pytest.approx(middles, abs=1)


def test_no_verdict_draws_columns_of_no_height() -> None:
    drawn = parts(distribution_mark({1: 0, 2: 0}), "rect")

    assert {float(one["height"]) for one in drawn} == {0.0}


@pytest.mark.parametrize("value", [0.0, 0.03, 0.5, 0.97, 1.0])
def test_a_win_rate_is_written_whole_over_its_point(value: float) -> None:
    rate = Estimate(value, max(value - 0.1, 0.0), min(value + 0.1, 1.0), 60)

    mark = preference_mark(rate, margin=0.12, old="old", new="new", bar=0.4)

    (label,), (point,) = parts(mark, "text", "told"), parts(mark, "circle", "new")
    drawing = ElementTree.fromstring(mark.markup).attrib
    at = float(label["x"])
    assert label["said"] == rate.text()
    assert at - HALF > 0
    assert at + HALF < float(drawing["width"])
    # Over its point, but where that would cut it off.
    assert at == float(point["cx"]) or value in (0.0, 0.03, 0.97, 1.0)
    # Above the band, the bar and the half, none of which crosses it.
    lines = [float(one["y1"]) for kind in ("half", "bar") for one in parts(mark, "line", kind)]
    tops = [*lines, *(float(one["y"]) for one in parts(mark, "rect", "whole"))]
    assert len(tops) == 3
    assert all(float(label["y"]) < top for top in tops)


def test_a_win_rate_without_a_value_has_no_point_and_no_figure() -> None:
    mark = preference_mark(Estimate.undefined("no pairs"), margin=None, old="a", new="b")

    assert not parts(mark, "text", "told")
    assert not parts(mark, "circle")


def test_each_piece_of_a_bar_of_verdicts_says_its_level_and_count_upright_inside() -> None:
    frame = pd.DataFrame({"dimension": "tone", "judge_digest": "j", "score": [1, 1, 4, None]})

    drawn = plot_verdicts(frame).data

    assert [list(bar.text) for bar in drawn] == [["1: 2"], ["4: 1"], ["unscored: 1"]]
    assert {(bar.textposition, bar.textangle) for bar in drawn} == {("inside", 0)}
    # The lowest level and the highest are told apart by colour, the unscored is paler than both.
    assert len({bar.marker.color for bar in drawn}) == 3
    assert re.fullmatch(r"rgba\(.*, ?0\.\d+\)", drawn[2].marker.color)
