"""Chart of all metrics' intervals on one axis, with a single person and chance."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from leaderboard.metric_board.charts.axis import Scale, scale_over

WIDTH, LEFT, RIGHT, TOP, STEP, FOOT = 520, 150, 14, 6, 20, 24
_LONGEST = 20


@dataclass(frozen=True)
class Bar:
    """One interval; unknown ends are None."""

    label: str
    value: float
    low: float | None
    high: float | None
    person: bool = False


def overview(
    bars: Sequence[Bar], *, lowest: float, chance: float | None, description: str
) -> SafeString:
    if not bars:
        return SafeString("")
    ends = [end for b in bars for end in (b.value, b.low, b.high) if end is not None]
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
        ((x.at(tick), TOP, bottom, bottom + 16, f"{tick:g}") for tick in x.ticks),
    )


def _chance(x: Scale, chance: float | None, bottom: int) -> SafeString:
    if chance is None:
        return SafeString("")
    return format_html(
        '<line class="chance" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>',
        x.at(chance),
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
        x.at(x.low if bar.low is None else bar.low),
        x.at(x.high if bar.high is None else bar.high),
        x.at(bar.value),
        y=top + STEP / 2,
    )
