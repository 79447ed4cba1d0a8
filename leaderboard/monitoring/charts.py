"""Charts of a running campaign: money, agreement, test questions, speed."""

from dataclasses import dataclass
from itertools import accumulate

from django.utils.html import format_html
from django.utils.safestring import SafeString

from leaderboard.monitoring.over_time import OverTime, Point
from leaderboard.monitoring.selectors import Period, Watched

WIDTH, HEIGHT = 100, 30
_SVG = (
    '<svg class="spending" viewBox="0 0 {} {}" preserveAspectRatio="none" '
    'aria-hidden="true" focusable="false">'
    '<polyline class="plan" points="{}"/><polyline class="spent" points="{}"/></svg>'
)


def draw_spending(row: Watched) -> SafeString:
    if len(row.periods) < 2 or not row.progress.n_hits:
        return SafeString("")
    spent = list(accumulate(period.cents for period in row.periods))
    # with repeated HITs, more come in than the plan has
    plan = [
        row.progress.budget_cents * min(n, row.progress.n_hits) / row.progress.n_hits
        for n in accumulate(period.n_hits for period in row.periods)
    ]
    top = max(*spent, *plan, 1)
    return format_html(
        _SVG,
        WIDTH,
        HEIGHT,
        _points(row.periods, plan, top),
        _points(row.periods, [float(cents) for cents in spent], top),
    )


def _points(periods: list[Period], values: list[float], top: float) -> str:
    first, last = periods[0].start, periods[-1].start
    whole = (last - first).total_seconds()
    return " ".join(
        f"{WIDTH * (period.start - first).total_seconds() / whole:.4g},"
        f"{HEIGHT * (1 - value / top):.4g}"
        for period, value in zip(periods, values, strict=True)
    )


@dataclass(frozen=True)
class Line:
    title: str
    first: str
    last: str
    drawing: SafeString
    alarm: str = ""


def lines(course: OverTime) -> list[Line]:
    bound = course.least_seconds
    reading = f", reading takes at least {bound:.1f} s" if bound else ""
    alarm = "Faster than the texts can be read." if course.too_fast else ""
    drawn = [
        (f"Median seconds{reading}", course.seconds, "{:.1f} s", 0.0, bound, alarm),
        ("Test questions answered right", course.tests, "{:.0%}", 0.0, 1.0, ""),
        ("Agreement (Krippendorff’s α)", course.agreement, "{:.2f}", 0.0, 1.0, ""),
    ]
    return [
        Line(
            title,
            form.format(points[0].value),
            form.format(points[-1].value),
            _line(points, low, bound),
            alarm,
        )
        for title, points, form, low, bound, alarm in drawn
        if points
    ]


def _line(points: list[Point], low: float, bound: float | None) -> SafeString:
    if len(points) < 2:
        return SafeString("")
    values = [point.value for point in points]
    low, top = min(low, *values), max(bound or 0.0, *values) or 1.0
    step = WIDTH / (len(points) - 1)

    def height(value: float) -> str:
        return f"{HEIGHT * (top - value) / (top - low):.4g}"

    drawn = " ".join(f"{step * i:.4g},{height(v)}" for i, v in enumerate(values))
    at = height(bound) if bound else None
    plan = f"0,{at} {WIDTH},{at}" if at else ""
    return format_html(_SVG, WIDTH, HEIGHT, plan, drawn)
