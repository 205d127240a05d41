"""Figures: intervals, n in the label, a title that says the finding, no line through a break."""

from __future__ import annotations

import pandas as pd
import pytest

from agenteval_kit.errors import ConfigError
from agenteval_kit.plots import plot_differences, plot_layers, plot_repeats, plot_trend
from agenteval_kit.plots.parts import share

LAYERS = pd.DataFrame(
    {
        "layer": ["outcome", "policy", "grounding"],
        "score": [0.73, 0.95, None],
        "low": [0.61, 0.86, None],
        "high": [0.83, 0.98, None],
        "n": [60, 60, 0],
    }
)
CHANGES = pd.DataFrame(
    {
        "layer": ["outcome", "policy"],
        "difference": [0.0, -0.15],
        "low": [-0.12, -0.25],
        "high": [0.12, -0.06],
        "n": [60, 60],
    }
)
TREND = pd.DataFrame(
    {
        "layer": ["outcome"] * 4,
        "run": ["v1", "v2", "v3", "v4"],
        "run_id": ["a", "b", "c", "d"],
        "score": [0.5, 0.6, 0.7, 0.8],
        "low": [0.4, 0.5, 0.6, 0.7],
        "high": [0.6, 0.7, 0.8, 0.9],
        "n": [40] * 4,
        "series": [0, 0, 1, 1],
        "what": ["", "", "suite changed", ""],
    }
)


def title(figure: object) -> str:
    return str(figure.layout.title.text)  # type: ignore[attr-defined]


def test_layers_are_drawn_with_their_intervals_and_n() -> None:
    figure = plot_layers(LAYERS, bars={"policy": 0.9})

    dots = figure.data[0]
    assert title(figure) == "Lowest is outcome: 73 % (61 to 83) passed (n = 60 cases)"
    # The undefined layer keeps its place and gets no dot.
    assert list(dots.x) == [0.73, 0.95]
    assert dots.error_x.array == pytest.approx([0.10, 0.03])
    assert dots.error_x.arrayminus == pytest.approx([0.12, 0.09])
    assert list(figure.layout.yaxis.ticktext) == [
        "outcome<br><i>n = 60</i>",
        "policy<br><i>n = 60</i>",
        "grounding<br><i>n = 0</i>",
    ]
    assert [shape.x0 for shape in figure.layout.shapes] == [0.9]


def test_the_baseline_has_another_shape_not_only_another_colour() -> None:
    figure = plot_layers(LAYERS, LAYERS)

    assert [trace.marker.symbol for trace in figure.data] == ["diamond", "circle"]
    assert [trace.name for trace in figure.data] == ["baseline", "this release"]


def test_n_counts_cases_where_the_frame_knows_them() -> None:
    frame = LAYERS.assign(n=240, cases=60)

    assert "(n = 60 cases)" in title(plot_layers(frame))


def test_all_checks_together_are_never_called_the_lowest() -> None:
    frame = pd.concat([LAYERS, LAYERS.iloc[[0]].assign(layer="all checks", score=0.2, low=0.1)])

    assert title(plot_layers(frame)).startswith("Lowest is outcome")


@pytest.mark.parametrize(
    ("scores", "finding"),
    [
        ([None, None], "No layer could be scored"),
        ([1.0, 1.0], "All layers stand at 100 % (90 to 100)"),
    ],
)
def test_titles_of_what_has_no_lowest(scores: list[float | None], finding: str) -> None:
    frame = pd.DataFrame(
        {
            "layer": ["a", "b"],
            "score": scores,
            "low": [score and 0.9 for score in scores],
            "high": scores,
            "n": [10, 10],
        }
    )

    assert title(plot_layers(frame)) == finding


def test_differences_name_the_layer_that_fell_and_draw_the_margin() -> None:
    figure = plot_differences(CHANGES, margin=0.05)

    assert title(figure) == "policy fell by 15 points (6 to 25)"
    lines = [shape.x0 for shape in figure.layout.shapes if shape.x0 == shape.x1]
    assert lines.count(-0.05) == 2
    assert [item.text for item in figure.layout.annotations] == ["bar −5"]


def test_a_margin_stands_at_the_layer_that_it_binds() -> None:
    figure = plot_differences(CHANGES, margin={"policy": 0.02, "elsewhere": 0.9})

    bars = [shape for shape in figure.layout.shapes if shape.x0 == shape.x1 != 0]
    assert [(bar.x0, bar.y0, bar.y1) for bar in bars] == [(-0.02, 0.5, 1.5)]
    assert [item.text for item in figure.layout.annotations] == ["bar −2"]


def test_a_change_lies_in_its_band_just_where_it_is_within_noise() -> None:
    figure = plot_differences(CHANGES)

    bands = [shape for shape in figure.layout.shapes if shape.type == "rect"]
    # outcome: 0.00 (-0.12 to 0.12); policy: -0.15 (-0.25 to -0.06), so from -0.09 to 0.10.
    assert [(band.x0, band.x1) for band in bands] == [
        pytest.approx((-0.12, 0.12)), pytest.approx((-0.09, 0.10))
    ]  # fmt: skip
    within = [band.x0 <= x <= band.x1 for band, x in zip(bands, (0.0, -0.15), strict=True)]
    assert within == [True, False]


def test_no_difference_is_said_as_such() -> None:
    assert title(plot_differences(CHANGES.iloc[[0]])) == "No difference shown in any layer"
    assert title(plot_differences(CHANGES.iloc[[]])) == "Nothing to compare"
    worse = CHANGES.iloc[[0, 0]].assign(broken=2, layer=["outcome", "all checks"])
    said = "Cases got worse (outcome 2); no difference shown in any layer"
    assert title(plot_differences(worse)) == said
    risen = CHANGES.iloc[[1]].assign(difference=0.15, low=0.06, high=0.25)
    assert title(plot_differences(risen)) == "policy rose by 15 points (6 to 25)"


def test_differences_are_read_in_points() -> None:
    axis = plot_differences(CHANGES).layout.xaxis

    assert "−10" in axis.ticktext
    assert "0" in axis.ticktext
    assert axis.range[0] == -axis.range[1]


def test_repeats_say_what_one_and_what_all_do() -> None:
    frame = pd.DataFrame(
        {
            "layer": ["outcome"] * 3,
            "k": [1, 2, 3],
            "score": [0.46, 0.3, 0.2],
            "low": [0.3, 0.2, 0.1],
            "high": [0.6, 0.5, 0.4],
            "n": [30] * 3,
        }
    )

    figure = plot_repeats(frame, layer="outcome")

    assert title(figure) == (
        "outcome: one repeat passes in 46 % (30 to 60), all 3 in 20 % (10 to 40) (n = 30 cases)"
    )
    assert list(figure.data[0].x) == [1, 2, 3]


def test_a_trend_breaks_where_values_are_not_comparable() -> None:
    figure = plot_trend(TREND, bars={"outcome": 0.75})

    assert [list(trace.x) for trace in figure.data] == [[0, 1], [2, 3]]
    said = [item.text for item in figure.layout.annotations]
    assert "suite changed" in said
    assert "bar 75 %" in said
    assert title(figure) == "4 runs, 1 break: lowest now is outcome, 80 % (70 to 90)"


def test_a_value_across_a_break_is_not_set_against_the_one_before() -> None:
    figure = plot_trend(TREND.iloc[:3])

    said = " ".join(str(item.text) for item in figure.layout.annotations)
    assert "not comparable with before" in said


def test_a_trend_shows_the_noise_behind_its_latest_value_and_the_part_of_the_scale_in_use() -> None:
    figure = plot_trend(TREND.assign(score=[0.9] * 4, low=[0.88] * 4, high=[0.92] * 4),
                        bars={"outcome": 0.85}, noise={"outcome": (0.87, 0.93)})  # fmt: skip

    (band,) = [shape for shape in figure.layout.shapes if shape.type == "rect"]
    assert (band.x0, band.x1, band.y0, band.y1) == pytest.approx(
        (3 - 4 / 30, 3 + 4 / 30, 0.87, 0.93)
    )
    low, high = figure.layout.yaxis.range
    assert 0.5 < low < 0.85 < 0.93 < high < 1.05


def test_a_run_without_a_name_stands_under_a_trend_with_its_day_and_minute() -> None:
    names = ["2026.03", "library-20261130-205057-243-2521", "a-name-that-is-rather-long", "v2"]

    figure = plot_trend(TREND.assign(run=names))

    assert figure.layout.xaxis.ticktext == ("2026.03", "11-30 20:50", "a-name-that-i…", "v2")


def test_each_layer_has_a_panel_on_one_axis_of_runs() -> None:
    two = pd.concat([TREND, TREND.iloc[1:].assign(layer="policy")])

    figure = plot_trend(two)

    assert [trace.yaxis or "y" for trace in figure.data] == ["y", "y", "y2", "y2"]
    # The run that has no policy score leaves its place empty: the others stay under their run.
    assert [list(trace.x) for trace in figure.data[2:]] == [[1], [2, 3]]


def test_a_long_trend_names_some_runs_only() -> None:
    long = pd.concat([TREND.iloc[[0]].assign(run_id=str(at), run=f"v{at}") for at in range(200)])

    axis = plot_trend(long).layout.xaxis

    assert len(axis.tickvals) <= 9
    assert axis.ticktext[-1] == "v199"


def test_a_trend_of_nothing_says_that_nothing_was_scored() -> None:
    assert title(plot_trend(TREND.iloc[:0])) == "0 runs, no break: nothing scored in the latest"


def test_a_name_is_never_read_as_markup() -> None:
    hostile = "<a href='javascript:alert(1)'>x</a>"

    figure = plot_layers(LAYERS.iloc[[0]].assign(layer=hostile))

    assert "<a" not in title(figure)
    assert "<a" not in figure.layout.yaxis.ticktext[0]
    assert "<a" not in figure.data[0].customdata[0]


def test_figures_are_transparent_for_both_themes() -> None:
    for figure in (plot_layers(LAYERS), plot_differences(CHANGES), plot_trend(TREND)):
        assert figure.layout.paper_bgcolor == "rgba(0,0,0,0)"
        assert figure.layout.plot_bgcolor == "rgba(0,0,0,0)"


@pytest.mark.parametrize("draw", [plot_layers, plot_differences])
def test_a_frame_without_a_column_is_refused(draw: object) -> None:
    frame = pd.DataFrame({"layer": ["outcome"], "n": [1]})

    with pytest.raises(ConfigError, match="the frame has no column .*, low, high"):
        draw(frame)  # type: ignore[operator]


def test_an_unknown_layer_is_refused_with_the_nearest() -> None:
    frame = pd.DataFrame({"layer": ["outcome"], "k": [1], "score": [1.0], "low": [0.5],
                          "high": [1.0], "n": [1]})  # fmt: skip

    with pytest.raises(ConfigError, match='no layer "outcom".* Did you mean "outcome"?'):
        plot_repeats(frame, layer="outcom")
    with pytest.raises(ConfigError, match='no layer "outcom".* Did you mean "outcome"?'):
        plot_trend(TREND, layers=["outcom"])


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"score": 0.73, "low": 0.61, "high": 0.83}, "73 % (61 to 83)"),
        ({"score": 0.999, "low": 0.9944, "high": 0.9998}, "99.90 % (99.44 to 99.98)"),
        ({"score": 1.0, "low": 0.9962, "high": 1.0}, "100.00 % (99.62 to 100.00)"),
        ({"score": 0.001, "low": 0.0, "high": 0.03}, "0.1 % (0.0 to 3.0)"),
        ({"score": 0.985, "low": 0.975, "high": 0.991}, "98.5 % (97.5 to 99.1)"),
        ({"score": 1.0, "low": 0.7, "high": 1.0}, "100 % (70 to 100)"),
    ],
)
def test_a_share_is_called_all_or_none_only_where_it_is(row: dict[str, float], said: str) -> None:
    assert share(row) == said


def test_what_the_marks_of_a_trend_mean_moves_with_the_names_under_it() -> None:
    two = pd.concat([TREND, TREND.assign(layer="policy")])

    figure = plot_trend(two, bars={"outcome": 0.9}, noise={"outcome": (0.8, 0.9)})

    assert figure.layout.xaxis2.title.text == "dotted: bar · grey: within noise of the baseline"
    assert figure.layout.xaxis.title.text is None
