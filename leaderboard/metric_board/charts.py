import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from genie.lib.interval import Interval
from leaderboard.metric_board.selectors.snapshot import Cell


# Round ticks for any range, and places along it.
@dataclass(frozen=True)
class Scale:
    """A range from `low` to `high` (metric units), drawn from `start` to `end` (SVG units)."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]

    def position(self, value: float) -> str:
        """Return the place of a value; values outside are drawn at the nearer end."""
        inside = min(max(value, self.low), self.high)
        part = (inside - self.low) / (self.high - self.low)
        return f"{self.start + part * (self.end - self.start):.1f}"


def scale_over(values: list[float], start: float, end: float) -> Scale:
    """Return a scale with about five round ticks around all values.

    Examples
    --------
    >>> scale_over([0.31, 0.48], 0, 100).ticks
    (0.3, 0.35, 0.4, 0.45, 0.5)
    >>> scale_over([7.0], 0, 100).position(7.0)
    '50.0'
    """
    low, high = min(values), max(values)
    if high - low < 1e-9 * max(1.0, abs(high)):
        low, high = low - 1, high + 1
    step = _step((high - low) / 5)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    # rounded as decimal text, because 3 * 0.1 is 0.30000000000000004
    ticks = tuple(float(f"{step * k:.10g}") for k in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], start, end, ticks)


def _step(rough: float) -> float:
    power: float = 10.0 ** math.floor(math.log10(rough))
    for part in (1.0, 2.0, 2.5, 5.0):
        if part * power >= rough * (1 - 1e-9):
            return part * power
    return 10 * power


# Small chart of one statistic of a metric with its interval.
def statistic_bar(
    value: float | None, low: float | None, high: float | None, *, lowest: float
) -> SafeString:
    """Return an SVG of one interval on the statistic's whole range; the middle is marked."""
    if value is None:
        return SafeString("")
    scale = Scale(lowest, 1.0, 4.0, 156.0, ())
    ends = (lowest if low is None else low, 1.0 if high is None else high)
    return format_html(
        '<svg class="mbar" viewBox="0 0 160 20" role="img" '
        'aria-label="{}, 95% interval {} to {}"><line class="rule" x1="4" x2="156" '
        'y1="10" y2="10"/><line class="mark" x1="{}" x2="{}" y1="3" y2="17"/>'
        '<line class="ci" x1="{}" x2="{}" y1="10" y2="10"/>'
        '<circle class="dot" cx="{}" cy="10" r="4"/></svg>',
        f"{value:.3f}",
        "unknown" if low is None else f"{low:.3f}",
        "unknown" if high is None else f"{high:.3f}",
        # the middle of the range: one half of an accuracy, zero of a correlation
        scale.position((lowest + 1) / 2),
        scale.position((lowest + 1) / 2),
        scale.position(ends[0]),
        scale.position(ends[1]),
        scale.position(value),
    )


# Chart of all metrics' intervals on one axis, with a single person and chance.
WIDTH, LEFT, RIGHT, TOP, STEP, FOOT = 520, 150, 14, 6, 20, 24
_LONGEST = 20


@dataclass(frozen=True)
class Bar:
    label: str
    cell: Cell
    person: bool = False


def overview(
    bars: Sequence[Bar], *, lowest: float, chance: float | None, description: str
) -> SafeString:
    if not bars:
        return SafeString("")
    ends = [end for b in bars for end in vars(b.cell).values() if end is not None]
    around = scale_over([*ends, *([] if chance is None else [chance])], LEFT, 0)
    low, high = max(around.low, lowest), min(around.high, 1.0)
    ticks = tuple(tick for tick in around.ticks if low <= tick <= high)
    x = Scale(low, high, LEFT, WIDTH - RIGHT, ticks)
    bottom = TOP + STEP * len(bars)
    return format_html(
        '<svg class="moverview" viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}{}</svg>',
        WIDTH,
        bottom + FOOT,
        description,
        _axis(x, bottom),
        _chance(x, chance, bottom),
        format_html_join(
            "", "{}", ((_row(bar, x, TOP + STEP * n),) for n, bar in enumerate(bars))
        ),
    )


def _axis(x: Scale, bottom: int) -> SafeString:
    return format_html_join(
        "",
        '<line class="grid-line" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>'
        '<text class="axis" x="{0}" y="{3}" text-anchor="middle">{4}</text>',
        ((x.position(tick), TOP, bottom, bottom + 16, f"{tick:g}") for tick in x.ticks),
    )


def _chance(x: Scale, chance: float | None, bottom: int) -> SafeString:
    if chance is None:
        return SafeString("")
    return format_html(
        '<line class="chance" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>',
        x.position(chance),
        TOP,
        bottom,
    )


def _row(bar: Bar, x: Scale, top: int) -> SafeString:
    shown = bar.label if len(bar.label) <= _LONGEST else f"{bar.label[:_LONGEST]}…"
    return format_html(
        '<g class="{}"><text class="name" x="{}" y="{}" text-anchor="end">{}</text>'
        '<line class="ci" x1="{}" x2="{}" y1="{y}" y2="{y}"/>'
        '<circle class="dot" cx="{}" cy="{y}" r="4.5"/></g>',
        "person" if bar.person else "metric",
        LEFT - 12,
        top + STEP / 2 + 4,
        shown,
        x.position(x.low if bar.cell.low is None else bar.cell.low),
        x.position(x.high if bar.cell.high is None else bar.cell.high),
        x.position(bar.cell.value or 0.0),
        y=top + STEP / 2,
    )


# Chart of a metric against people: one point per system, with intervals on both sides.
SCATTER_WIDTH, HEIGHT = 640, 420
SCATTER_LEFT, SCATTER_RIGHT, SCATTER_TOP, BOTTOM = 52, 16, 16, 46


@dataclass(frozen=True)
class Point:
    name: str
    human: Interval
    metric: float
    half: float


def scatter(
    points: Sequence[Point], *, metric: str, judges: str, description: str
) -> SafeString:
    if not points:
        return SafeString("")
    x = scale_over(
        [v for p in points for v in (p.metric - p.half, p.metric + p.half)],
        SCATTER_LEFT,
        SCATTER_WIDTH - SCATTER_RIGHT,
    )
    y = scale_over(
        [v for p in points for v in (p.human.low, p.human.high)],
        HEIGHT - BOTTOM,
        SCATTER_TOP,
    )
    return format_html(
        '<svg class="scatter" viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}'
        '<text class="axis" x="{}" y="{}" text-anchor="end">{} →</text>'
        '<text class="axis people" x="{}" y="{}">↑ {}</text></svg>',
        SCATTER_WIDTH,
        HEIGHT,
        description,
        _grid(x, y),
        format_html_join("", "{}", ((_draw_point(p, x, y, judges),) for p in points)),
        SCATTER_WIDTH - SCATTER_RIGHT,
        HEIGHT - 6,
        metric,
        SCATTER_LEFT + 6,
        SCATTER_TOP + 8,
        judges,
    )


def _grid(x: Scale, y: Scale) -> SafeString:
    down = format_html_join(
        "",
        '<line class="grid-line" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>'
        '<text class="axis" x="{0}" y="{3}" text-anchor="middle">{4}</text>',
        (
            (
                x.position(tick),
                SCATTER_TOP,
                HEIGHT - BOTTOM,
                HEIGHT - BOTTOM + 16,
                f"{tick:g}",
            )
            for tick in x.ticks
        ),
    )
    across = format_html_join(
        "",
        '<line class="grid-line" x1="{1}" x2="{2}" y1="{0}" y2="{0}"/>'
        '<text class="axis" x="{3}" y="{0}" dy="4" text-anchor="end">{4}</text>',
        (
            (
                y.position(tick),
                SCATTER_LEFT,
                SCATTER_WIDTH - SCATTER_RIGHT,
                SCATTER_LEFT - 6,
                f"{tick:g}",
            )
            for tick in y.ticks
        ),
    )
    return format_html("{}{}", down, across)


def _draw_point(point: Point, x: Scale, y: Scale, judges: str) -> SafeString:
    cx, cy = x.position(point.metric), y.position(point.human.estimate)
    return format_html(
        "<g><title>{}: {} {}, metric {}</title>"
        '<line class="spread" x1="{}" x2="{}" y1="{}" y2="{}"/>'
        '<line class="spread" x1="{}" x2="{}" y1="{}" y2="{}"/>'
        '<circle class="point" cx="{}" cy="{}" r="4.5"/></g>',
        point.name,
        judges,
        f"{point.human.estimate:.1f}",
        f"{point.metric:.4g}",
        cx,
        cx,
        y.position(point.human.low),
        y.position(point.human.high),
        x.position(point.metric - point.half),
        x.position(point.metric + point.half),
        cy,
        cy,
        cx,
        cy,
    )
