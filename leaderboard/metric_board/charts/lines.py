"""Small chart of one statistic of a metric with its interval."""

from django.utils.html import format_html
from django.utils.safestring import SafeString

from leaderboard.metric_board.charts.axis import Scale


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
