"""The chart of a comparison: the running estimate within its confidence sequence."""

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from leaderboard.stats.stopping.outlook import Course

WIDTH, HEIGHT = 640, 240
LEFT, RIGHT, TOP, BOTTOM = 44, 8, 10, 26
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


def course(
    series: Course,
    *,
    first: str,
    second: str,
    description: str,
    decided: int | None = None,
) -> SafeString:
    """Draw estimate and interval; labels after the `decided` one were not used."""
    if not len(series.n):
        return SafeString("")
    last = int(series.n[-1])
    return format_html(
        '<svg class="course" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        '{}<polygon class="band" points="{}"/>{}<polyline class="line" points="{}"/>{}'
        '<text class="axis" x="{}" y="{}" text-anchor="end">{} labels</text>'
        '<text class="axis" x="{}" y="{}">{} better</text>'
        '<text class="axis" x="{}" y="{}">{} better</text></svg>',
        WIDTH,
        HEIGHT,
        description,
        _grid(),
        _points(
            [
                *zip(series.n, series.low, strict=True),
                # one polygon: along the lower ends and back along the upper ones
                *zip(series.n[::-1], series.high[::-1], strict=True),
            ],
            last,
        ),
        format_html(
            '<line class="half" x1="{}" x2="{}" y1="{}" y2="{}"/>',
            LEFT,
            WIDTH - RIGHT,
            _y(0.5),
            _y(0.5),
        ),
        _points([*zip(series.n, series.estimate, strict=True)], last),
        _decision_line(decided, last),
        WIDTH - RIGHT,
        HEIGHT - 6,
        f"{last:,}",
        LEFT + 6,
        TOP + 14,
        first,
        LEFT + 6,
        HEIGHT - BOTTOM - 6,
        second,
    )


def _grid() -> SafeString:
    return format_html_join(
        "",
        '<line class="{}" x1="{}" x2="{}" y1="{}" y2="{}"/>'
        '<text class="axis" x="{}" y="{}" text-anchor="end">{}%</text>',
        (
            (
                "grid-line",
                LEFT,
                WIDTH - RIGHT,
                _y(share),
                _y(share),
                LEFT - 6,
                f"{float(_y(share)) + 4:g}",
                f"{100 * share:g}",
            )
            for share in SHARES
        ),
    )


def _decision_line(n: int | None, last: int) -> SafeString:
    if n is None or not 1 <= n <= last:
        return SafeString("")
    x = _x(float(n), last)
    line = format_html(
        '<line class="decided" x1="{}" x2="{}" y1="{}" y2="{}"/>',
        x,
        x,
        TOP,
        HEIGHT - BOTTOM,
    )
    if float(x) > WIDTH - 180:
        return line  # no room for words beside the number of labels
    return line + format_html(
        '<text class="axis" x="{}" y="{}">decided at {}</text>', x, HEIGHT - 6, f"{n:,}"
    )


def _points(pairs: list[tuple[float, float]], last: int) -> str:
    return " ".join(f"{_x(float(n), last)},{_y(float(share))}" for n, share in pairs)


def _x(n: float, last: int) -> str:
    part = (n - 1) / (last - 1) if last > 1 else 0.0
    return f"{LEFT + part * (WIDTH - LEFT - RIGHT):.1f}"


def _y(share: float) -> str:
    return f"{TOP + (1 - share) * (HEIGHT - TOP - BOTTOM):.1f}"
