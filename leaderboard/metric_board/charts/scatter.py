"""Chart of a metric against people: one point per system, with intervals on both sides."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from leaderboard.metric_board.charts.axis import Scale, scale_over

WIDTH, HEIGHT = 640, 420
LEFT, RIGHT, TOP, BOTTOM = 52, 16, 16, 46


@dataclass(frozen=True)
class Point:
    name: str
    human: float
    human_low: float
    human_high: float
    metric: float
    half: float


def scatter(
    points: Sequence[Point], *, metric: str, judges: str, description: str
) -> SafeString:
    if not points:
        return SafeString("")
    x = scale_over(
        [v for p in points for v in (p.metric - p.half, p.metric + p.half)],
        LEFT,
        WIDTH - RIGHT,
    )
    y = scale_over(
        [v for p in points for v in (p.human_low, p.human_high)], HEIGHT - BOTTOM, TOP
    )
    return format_html(
        '<svg class="scatter" viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}'
        '<text class="axis" x="{}" y="{}" text-anchor="end">{} →</text>'
        '<text class="axis people" x="{}" y="{}">↑ {}</text></svg>',
        WIDTH,
        HEIGHT,
        description,
        _grid(x, y),
        format_html_join("", "{}", ((_drawn(p, x, y, judges),) for p in points)),
        WIDTH - RIGHT,
        HEIGHT - 6,
        metric,
        LEFT + 6,
        TOP + 8,
        judges,
    )


def _grid(x: Scale, y: Scale) -> SafeString:
    down = format_html_join(
        "",
        '<line class="grid-line" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>'
        '<text class="axis" x="{0}" y="{3}" text-anchor="middle">{4}</text>',
        (
            (x.at(tick), TOP, HEIGHT - BOTTOM, HEIGHT - BOTTOM + 16, f"{tick:g}")
            for tick in x.ticks
        ),
    )
    across = format_html_join(
        "",
        '<line class="grid-line" x1="{1}" x2="{2}" y1="{0}" y2="{0}"/>'
        '<text class="axis" x="{3}" y="{0}" dy="4" text-anchor="end">{4}</text>',
        ((y.at(tick), LEFT, WIDTH - RIGHT, LEFT - 6, f"{tick:g}") for tick in y.ticks),
    )
    return format_html("{}{}", down, across)


def _drawn(point: Point, x: Scale, y: Scale, judges: str) -> SafeString:
    cx, cy = x.at(point.metric), y.at(point.human)
    return format_html(
        "<g><title>{}: {} {}, metric {}</title>"
        '<line class="spread" x1="{}" x2="{}" y1="{}" y2="{}"/>'
        '<line class="spread" x1="{}" x2="{}" y1="{}" y2="{}"/>'
        '<circle class="point" cx="{}" cy="{}" r="4.5"/></g>',
        point.name,
        judges,
        f"{point.human:.1f}",
        f"{point.metric:.4g}",
        cx,
        cx,
        y.at(point.human_low),
        y.at(point.human_high),
        x.at(point.metric - point.half),
        x.at(point.metric + point.half),
        cy,
        cy,
        cx,
        cy,
    )
