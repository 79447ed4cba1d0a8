"""Small charts of a metric board: a statistic's interval, and its course."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from leaderboard.metric_board.charts.axis import Scale

WIDTH, HEIGHT = 480, 150
LEFT, RIGHT, TOP, BOTTOM = 40, 10, 10, 24
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


def statistic_bar(
    value: float | None, low: float | None, high: float | None, *, lowest: float
) -> SafeString:
    """Draw one interval on the statistic's whole range, chance or zero marked."""
    if value is None:
        return SafeString("")
    scale = Scale(lowest, 1.0, 4.0, 156.0, ())
    ends = (lowest if low is None else low, 1.0 if high is None else high)
    return format_html(
        '<svg class="mbar" viewBox="0 0 160 20" role="img" '
        'aria-label="{}, 95 % interval {} to {}"><line class="rule" x1="4" x2="156" '
        'y1="10" y2="10"/><line class="mark" x1="{}" x2="{}" y1="3" y2="17"/>'
        '<line class="ci" x1="{}" x2="{}" y1="10" y2="10"/>'
        '<circle class="dot" cx="{}" cy="10" r="4"/></svg>',
        f"{value:.3f}",
        "unknown" if low is None else f"{low:.3f}",
        "unknown" if high is None else f"{high:.3f}",
        # the middle of the range: one half of an accuracy, zero of a correlation
        scale.at((lowest + 1) / 2),
        scale.at((lowest + 1) / 2),
        scale.at(ends[0]),
        scale.at(ends[1]),
        scale.at(value),
    )


def course(
    values: Sequence[float | None], *, description: str, first: str, last: str
) -> SafeString:
    """Draw a share over successive sets of systems; gaps where it is undefined."""
    known = [(k, value) for k, value in enumerate(values) if value is not None]
    if not known:
        return SafeString("")
    x = Scale(0, max(len(values) - 1, 1), LEFT, WIDTH - RIGHT, ())
    y = Scale(0, 1, HEIGHT - BOTTOM, TOP, ())
    points = [(x.at(k), y.at(value)) for k, value in known]
    return format_html(
        '<svg class="mcourse" viewBox="0 0 {} {}" role="img" aria-label="{}">{}'
        '<polyline class="line" points="{}"/>{}'
        '<text class="axis" x="{}" y="{}">{}</text>'
        '<text class="axis" x="{}" y="{}" text-anchor="end">{}</text></svg>',
        WIDTH,
        HEIGHT,
        description,
        _grid(y),
        " ".join(f"{a},{b}" for a, b in points),
        format_html_join("", '<circle class="dot" cx="{}" cy="{}" r="3"/>', points),
        LEFT,
        HEIGHT - 6,
        first,
        WIDTH - RIGHT,
        HEIGHT - 6,
        last,
    )


def _grid(y: Scale) -> SafeString:
    return format_html_join(
        "",
        '<line class="{0}" x1="{1}" x2="{2}" y1="{3}" y2="{3}"/>'
        '<text class="axis" x="{4}" y="{3}" dy="4" text-anchor="end">{5}</text>',
        (
            (
                "half" if share == 0.5 else "grid-line",
                LEFT,
                WIDTH - RIGHT,
                y.at(share),
                LEFT - 6,
                f"{share:g}",
            )
            for share in _SHARES
        ),
    )
