"""Charts draw the numbers that stand beside them."""

import re
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie.lib.interval import Interval
from leaderboard.charts import (
    axis_over,
    bar,
    grid,
    histogram,
    label,
    progress,
    scale,
    sentence,
)
from leaderboard.metric_board.charts import Point, scatter, statistic_bar

scores = st.floats(0, 100)


def to_the_thousandth(number):
    return round(number, 3)


@given(scores, scores)
def test_an_axis_holds_what_it_was_made_for_on_round_ticks(a, b):
    low, high = sorted((a, b))

    axis = axis_over(low, high)

    assert axis.low <= low <= high <= axis.high
    assert 0 <= axis.low < axis.high <= 100
    assert 2 <= len(axis.ticks) <= 7
    gaps = {round(y - x, 6) for x, y in zip(axis.ticks, axis.ticks[1:], strict=False)}
    assert len(gaps) == 1
    assert all(len(label(tick)) <= 5 for tick in axis.ticks)


@given(
    st.floats(-1e6, 1e6).map(to_the_thousandth),
    st.floats(0, 1e6).map(to_the_thousandth),
)
def test_an_axis_holds_scores_of_any_scale(low, width):
    axis = axis_over(low, low + width)

    assert axis.low <= low <= low + width <= axis.high


def test_places_on_an_axis_are_shares_of_its_width():
    axis = axis_over(0, 100)

    assert [axis.at(v) for v in (0, 25, 100)] == ["0%", "25%", "100%"]
    assert [axis.at(v) for v in (-5, 105)] == ["0%", "100%"]


def drawn(**changes):
    values = {"mean": 50, "low": 40, "high": 70, "low_50": 45, "high_50": 60}
    return SimpleNamespace(**{**values, **changes})


def test_a_bar_puts_every_line_where_its_number_is():
    svg = bar(axis_over(0, 100), drawn())

    assert re.findall(r'class="(ci|ci-50)" x1="([^"]+)" x2="([^"]+)"', svg) == [
        ("ci", "40%", "70%"),
        ("ci-50", "45%", "60%"),
    ]
    assert 'cx="50%"' in svg
    assert 'aria-label="50.0, 95% interval 40.0 to 70.0"' in svg


def test_a_simulated_bar_looks_and_sounds_different():
    plain = bar(axis_over(0, 100), drawn())
    simulated = bar(axis_over(0, 100), drawn(), simulated=True)

    assert 'class="sim"' in simulated
    assert 'class="sim"' not in plain
    assert "not rated by people" in sentence(drawn(), simulated=True)


def test_the_grid_has_a_line_for_each_tick_and_the_leader():
    axis = axis_over(0, 100)

    assert grid(axis, 62).count("<line") == len(axis.ticks) + 1
    assert 'x1="62%"' in grid(axis, 62)
    assert "leader-line" not in grid(axis)
    assert scale(axis).count("<text") == len(axis.ticks)


def test_a_histogram_draws_shares_of_all():
    lines = histogram([("Good", 30), ("Bad", 10), ("Neither", 0)])

    assert [(line.label, line.n, line.share) for line in lines] == [
        ("Good", 30, 75.0),
        ("Bad", 10, 25.0),
        ("Neither", 0, 0.0),
    ]
    widths = [re.search(r'width="([\d.]+)%" height', line.bar)[1] for line in lines]
    assert widths == ["75", "25", "0"]


def test_a_histogram_of_nothing_has_empty_bars():
    assert histogram([]) == []
    assert [line.share for line in histogram([("Good", 0)])] == [0.0]


@pytest.mark.parametrize(
    ("n", "of", "width"),
    [(0, 800, "0"), (412, 800, "51.5"), (800, 800, "100"), (5, 0, "0"), (9, 8, "100")],
)
def test_progress_is_a_share_between_none_and_all(n, of, width):
    assert f'class="fill" width="{width}%"' in progress(n, of)


def test_points_of_a_scatter_stand_where_its_ticks_put_them():
    points = [
        Point("A", Interval(41.3, 39, 44), metric=0.317, half=0.02),
        Point("B", Interval(77.9, 70, 81), metric=0.488, half=0.01),
    ]
    svg = scatter(points, metric="chrF", judges="people", description="")
    across = ticks(svg, r'x="([\d.]+)" y="[\d.]+" text-anchor="middle"')
    up = ticks(svg, r'x="[\d.]+" y="([\d.]+)" dy="4" text-anchor="end"')
    dots = re.findall(r'class="point" cx="([\d.]+)" cy="([\d.]+)"', svg)

    for point, (x, y) in zip(points, dots, strict=True):
        assert float(x) == pytest.approx(on(across, point.metric), abs=0.2)
        assert float(y) == pytest.approx(on(up, point.human.estimate), abs=0.2)


def ticks(svg, place):
    return {
        float(value): float(at)
        for at, value in re.findall(rf'class="axis" {place}>([\d.]+)<', svg)
    }


def on(scale_, value):
    (low, at_low), *_, (high, at_high) = sorted(scale_.items())
    return at_low + (at_high - at_low) * (value - low) / (high - low)


@pytest.mark.parametrize("lowest", [-1.0, 0.0])
def test_a_statistics_bar_marks_the_middle_of_its_range(lowest):
    svg = statistic_bar((lowest + 1) / 2, lowest, 1.0, lowest=lowest)

    assert 'class="mark" x1="80.0"' in svg
    assert 'cx="80.0"' in svg
    assert 'class="ci" x1="4.0" x2="156.0"' in svg
