"""The interval bar: 95% thin, 50% thick, the estimate a dot; and its column's scale.

Places are percentages, so that a bar fills its cell at any size. Simulated bars look
different (class `sim`: hollow, in a different color) and are labeled as simulated.
"""

from typing import Protocol

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from leaderboard.charts.axis import Axis, label
from leaderboard.charts.estimate import Estimate

GRID_ID = "iv"
_ON_GRID = SafeString(f'<use href="#{GRID_ID}"/>')
_RULE = SafeString('<line class="grid-line" x2="100%" y1="50%" y2="50%"/>')
_SIMULATED = SafeString(' class="sim"')


class Spread(Estimate, Protocol):
    """An estimate with its 95% and 50% intervals."""

    @property
    def low_50(self) -> float: ...
    @property
    def high_50(self) -> float: ...


def sentence(score: Spread, *, simulated: bool = False) -> str:
    interval = f"{score.mean:.1f}, 95 % interval {score.low:.1f} to {score.high:.1f}"
    return f"{interval}; simulated, not rated by people" if simulated else interval


def bar(
    axis: Axis, score: Spread, *, simulated: bool = False, on_grid: bool = True
) -> SafeString:
    return format_html(
        '<svg role="img" aria-label="{}"{}>{}'
        '<line class="ci" x1="{}" x2="{}" y1="50%" y2="50%"/>'
        '<line class="ci-50" x1="{}" x2="{}" y1="50%" y2="50%"/>'
        '<circle class="dot" cx="{}" cy="50%" r="4"/></svg>',
        sentence(score, simulated=simulated),
        _SIMULATED if simulated else "",
        _ON_GRID if on_grid else _RULE,
        axis.at(score.low),
        axis.at(score.high),
        axis.at(score.low_50),
        axis.at(score.high_50),
        axis.at(score.mean),
    )


def grid(axis: Axis, leader_low: float | None = None) -> SafeString:
    lines = format_html_join(
        "",
        '<line class="grid-line" x1="{0}" x2="{0}" y1="0" y2="100%"/>',
        ((axis.at(tick),) for tick in axis.ticks),
    )
    leader = (
        SafeString("")
        if leader_low is None
        else format_html(
            '<line class="leader-line" x1="{0}" x2="{0}" y1="0" y2="100%"/>',
            axis.at(leader_low),
        )
    )
    return format_html(
        '<svg class="defs" aria-hidden="true" focusable="false"><defs><g id="{}">{}{}'
        "</g></defs></svg>",
        GRID_ID,
        lines,
        leader,
    )


def scale(axis: Axis) -> SafeString:
    texts = format_html_join(
        "",
        '<text x="{}" y="100%" dy="-4" text-anchor="middle">{}</text>',
        ((axis.at(tick), label(tick)) for tick in axis.ticks),
    )
    return format_html('<svg aria-hidden="true" focusable="false">{}</svg>', texts)
